//! The embedded page. It holds no data: everything it shows comes through the API.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::applet_frame;
use crate::error::ApiError;

/// Nothing inline, nothing from elsewhere, and no string ever becomes script. Each of the two rules that may make an address
/// of a script knows a single one: `web/src/session/items/useCodeTokens.ts` and `web/src/app/notifications.ts`.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                           font-src 'self'; connect-src 'self'; manifest-src 'self'; \
                           base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                           require-trusted-types-for 'script'; trusted-types throughline-highlighter throughline-notifications";

/// Whether this build has the page; without it, every address of the page says how to get it.
pub const HAS_PAGE: bool = matches!(env!("THROUGHLINE_HAS_PAGE").as_bytes(), b"true");

#[derive(RustEmbed)]
#[folder = "$THROUGHLINE_WEB_DIR"]
struct Page;

/// A file of the page, or the page itself for the addresses it draws.
pub(crate) async fn serve(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path().trim_start_matches('/');
    let reserved = ["api", "applet-frame", "mcp", "metrics", "healthz"];
    if reserved.contains(&path.split('/').next().unwrap_or_default()) {
        return ApiError::RouteNotFound.into_response();
    }
    if method != Method::GET && method != Method::HEAD {
        let mut refusal = ApiError::MethodNotAllowed.into_response();
        refusal.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refusal;
    }
    if let Some(file) = Page::get(path).filter(|_| path != "index.html") {
        return answer(path, file, &headers);
    }
    // A file that is not there is not there; any other address is the page's to draw.
    let names_a_file = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    match Page::get("index.html").filter(|_| !names_a_file) {
        Some(index) => answer("index.html", index, &headers),
        None => ApiError::RouteNotFound.into_response(),
    }
}

fn answer(path: &str, file: EmbeddedFile, request: &HeaderMap) -> Response {
    // Vite puts a hash of the content into these names.
    let cache = if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let mime = file.metadata.mimetype();
    let mut response = (StatusCode::OK, Body::from(file.data)).into_response();
    let headers = response.headers_mut();
    if let Ok(mime) = HeaderValue::from_str(mime) {
        headers.insert(header::CONTENT_TYPE, mime);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(header::CONTENT_SECURITY_POLICY, policy(request.get(header::HOST)));
    response
}

/// The page's policy. Frames show the documents of applets and nothing else. A source with a path needs a host, which is the one
/// that the request names; without a plain one there are no frames.
fn policy(host: Option<&HeaderValue>) -> HeaderValue {
    let is_plain = |host: &&str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:-[]".contains(&byte));
    let frames = match host.and_then(|host| host.to_str().ok()).filter(is_plain) {
        Some(host) => format!("{host}{}", applet_frame::ROUTE_PREFIX),
        None => "'none'".to_owned(),
    };
    HeaderValue::try_from(format!("{PAGE_POLICY}; frame-src {frames}")).expect("it is plain text")
}
