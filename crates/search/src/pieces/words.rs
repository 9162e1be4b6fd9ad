//! Words that stream in, and leave in chunks of a bounded size.

use model::Seq;

/// How much is gathered before it leaves.
pub(super) const CHUNK_BYTES: usize = 32 << 10;

/// What was gathered of a turn's answer, or of its thoughts.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    text: String,
    block: Option<u32>,
    first: Seq,
    last: Seq,
    /// How many chunks have left.
    number: u32,
}

impl Words {
    pub(super) fn push(&mut self, block: u32, text: &str, seq: Seq) {
        if self.text.is_empty() {
            self.first = seq;
        } else if self.block != Some(block) {
            self.text.push_str("\n\n");
        }
        self.block = Some(block);
        self.last = seq;
        self.text.push_str(text);
    }

    /// A chunk, if one is full: its number, the entry in which it begins, its text.
    pub(super) fn take_full(&mut self, seq: Seq) -> Option<(u32, Seq, String)> {
        if self.text.len() < CHUNK_BYTES {
            return None;
        }
        let rest = self.text.split_off(cut(&self.text));
        let chunk = std::mem::replace(&mut self.text, rest);
        let first = std::mem::replace(&mut self.first, seq);
        self.number += 1;
        Some((self.number - 1, first, chunk))
    }

    /// What has not left yet: its number, its first and last entry, its text.
    pub(super) fn so_far(&self) -> Option<(u32, Seq, Seq, &str)> {
        (!self.text.is_empty()).then_some((self.number, self.first, self.last, self.text.as_str()))
    }
}

/// A whole text in the same chunks.
pub(super) fn chunks(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let (chunk, rest) = text.split_at(if text.len() < CHUNK_BYTES { text.len() } else { cut(text) });
        text = rest;
        Some(chunk)
    })
}

/// Where a chunk of a text that is long enough ends: after a line, else after a word, else after a character.
fn cut(text: &str) -> usize {
    let end = text.floor_char_boundary(CHUNK_BYTES);
    let half = text.floor_char_boundary(CHUNK_BYTES / 2);
    let late = &text[half..end];
    late.rfind('\n').or_else(|| late.rfind(' ')).map_or(end, |at| half + at + 1)
}
