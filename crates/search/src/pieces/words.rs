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
    /// Takes in words of an entry and hands out each chunk that is full by them: its number, the entry in which it
    /// begins, its text. What is held is never more than a chunk, however long the words are, and none of them is
    /// copied more often than twice.
    pub(super) fn push(&mut self, block: u32, text: &str, seq: Seq, mut full: impl FnMut(u32, Seq, String)) {
        if self.text.is_empty() {
            self.first = seq;
        } else if self.block != Some(block) {
            self.fill("\n\n", seq, &mut full);
        }
        self.block = Some(block);
        self.last = seq;
        self.fill(text, seq, &mut full);
    }

    fn fill(&mut self, mut text: &str, seq: Seq, full: &mut impl FnMut(u32, Seq, String)) {
        while self.text.len() + text.len() >= CHUNK_BYTES {
            let (now, later) = text.split_at(text.floor_char_boundary(CHUNK_BYTES - self.text.len()));
            self.text.push_str(now);
            text = later;
            let end = cut(&self.text);
            // A text of its own: what stays here keeps the room, and a chunk takes no more than its words do.
            let chunk = self.text[..end].to_owned();
            self.text.drain(..end);
            full(self.number, std::mem::replace(&mut self.first, seq), chunk);
            self.number += 1;
        }
        self.text.push_str(text);
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
