//! Images: small ones are kept, larger ones are only mentioned; no other Base64 is kept.

use model::{Image, ToolContent};

use super::HistoryLimits;

/// The image types that prompts may carry.
const KEPT_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Splits `data:image/png;base64,…` into type and data.
pub(super) fn from_data_url(url: &str) -> Option<(&str, &str)> {
    url.strip_prefix("data:")?.split_once(";base64,")
}

/// An image of a prompt, or the text that mentions it.
pub(super) fn of_prompt(mime_type: &str, data: &str, limits: &HistoryLimits) -> Result<Image, String> {
    let is_kept = KEPT_TYPES.contains(&mime_type) && !data.is_empty() && data.len() <= limits.image_bytes;
    if is_kept && data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)) {
        return Ok(Image { mime_type: mime_type.to_owned(), data: data.to_owned(), body: None });
    }
    Err(format!("[{mime_type}, {} bytes, not kept]", bytes_of(data)))
}

/// An image in a tool's output.
pub(super) fn of_call(mime_type: &str, data: &str, limits: &HistoryLimits) -> ToolContent {
    match of_prompt(mime_type, data, limits) {
        Ok(image) => ToolContent::Image { mime_type: image.mime_type, data: image.data },
        Err(_) => ToolContent::Omitted { bytes: bytes_of(data) },
    }
}

fn bytes_of(base64: &str) -> u64 {
    (base64.trim_end_matches('=').len() as u64) * 3 / 4
}
