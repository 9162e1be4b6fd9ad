//! What an applet is made of, and the hash that names it.
//!
//! Invariant: two contents have the same hash only if their HTML, script and style are each the same.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::AppletError;
use crate::id_source::hex;

/// How many bytes an applet has at most: HTML, script and style together.
pub const MAX_APPLET_BYTES: usize = 1 << 20;

/// An applet's HTML, script and style.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppletContent {
    /// A fragment, which stands in the body.
    pub html: String,
    /// What runs behind it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub js: String,
    /// How it looks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub css: String,
}

impl AppletContent {
    /// SHA-256 of all of it, in hex. Each part is hashed with its length, so that text moved to another part gives another hash.
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        for part in [&self.html, &self.js, &self.css] {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
        hex(&hasher.finalize())
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> usize {
        self.html.len() + self.js.len() + self.css.len()
    }

    pub(super) fn check(&self) -> Result<(), AppletError> {
        self.check_size()?;
        if self.html.trim().is_empty() && self.js.trim().is_empty() { Err(AppletError::Empty) } else { Ok(()) }
    }

    pub(super) fn check_size(&self) -> Result<(), AppletError> {
        let bytes = self.bytes();
        if bytes > MAX_APPLET_BYTES { Err(too_large(bytes as u64)) } else { Ok(()) }
    }

    /// As it is kept with the session that showed it.
    pub(super) fn as_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("it holds only texts")
    }
}

pub(super) fn too_large(bytes: u64) -> AppletError {
    AppletError::TooLarge { bytes, max: MAX_APPLET_BYTES }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_another_part_is_another_content() {
        let content = |html: &str, js: &str, css: &str| AppletContent {
            html: html.to_owned(),
            js: js.to_owned(),
            css: css.to_owned(),
        };
        let hashes: std::collections::BTreeSet<_> =
            [content("ab", "", ""), content("a", "b", ""), content("a", "", "b"), content("", "ab", "")]
                .iter()
                .map(AppletContent::hash)
                .collect();
        assert_eq!(hashes.len(), 4);
        assert!(matches!(content(" ", "", "b").check(), Err(AppletError::Empty)));
        let long = content(&"x".repeat(MAX_APPLET_BYTES), "y", "");
        assert!(matches!(long.check(), Err(AppletError::TooLarge { .. })));
    }
}
