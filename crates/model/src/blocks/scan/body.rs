//! Collects what stands between the fences of a block, as far as it can be understood.
//!
//! Invariant: no more than [`MAX_BLOCK_BYTES`] are kept, and nothing once it is sure that there are more.

use crate::blocks::MAX_BLOCK_BYTES;

#[derive(Debug, Clone, Default)]
pub(super) struct Body {
    /// Its first bytes.
    kept: String,
    /// How many there were in all.
    bytes: usize,
    /// Where its last word ends; space and what may be its closing fence stand behind.
    end: usize,
}

impl Body {
    pub(super) fn push(&mut self, c: char) {
        self.bytes = self.bytes.saturating_add(c.len_utf8());
        if self.bytes <= MAX_BLOCK_BYTES {
            self.kept.push(c);
        }
    }

    /// All that came until now belongs to it.
    pub(super) fn mean(&mut self) {
        self.end = self.bytes;
        if self.end > MAX_BLOCK_BYTES {
            self.kept = String::new();
        }
    }

    /// Nothing if it is too long.
    pub(super) fn into_text(mut self) -> Option<String> {
        if self.end > MAX_BLOCK_BYTES {
            return None;
        }
        self.kept.truncate(self.end);
        Some(self.kept)
    }
}
