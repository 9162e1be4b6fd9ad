//! Finds the blocks in words as they come.
//!
//! Invariant: which blocks are found does not depend on where the words are cut into pieces. Time is linear in them, and memory
//! bounded: that is why no parser of whole documents is used. `tests/markdown.rs` compares what is found with one.

mod body;
mod fences;
mod line;

use std::borrow::Cow;

use crate::{SessionEvent, Shown, Span, Turn};

use super::MAX_BLOCKS;
use super::parse::parse;
use fences::{FenceReader, Found};

pub(super) use fences::Sort;

/// Reads a turn's words, piece by piece, and finds the blocks in them.
#[derive(Debug, Clone, Default)]
pub struct BlockScanner {
    turn: Option<Turn>,
    /// The text that is being read.
    text: Option<(u32, FenceReader)>,
    /// The last text of the turn that is over; those of lower numbers are, too.
    ended: Option<u32>,
    nexts: u32,
    cards: u32,
}

impl BlockScanner {
    /// Reads on, in this turn's text of that number; gives `next.offered` and `block.shown` of what ended with it. The
    /// texts of a turn come in the order of their numbers: what comes late of an earlier one is not read.
    pub fn read(&mut self, turn: Turn, block: u32, text: &str) -> Vec<SessionEvent> {
        let mut events = Vec::new();
        if self.turn != Some(turn) {
            events = self.end();
            *self = Self { turn: Some(turn), ..Self::default() };
        }
        if self.text.as_ref().is_some_and(|(open, _)| *open < block) {
            events = self.end();
        }
        if self.ended.is_some_and(|ended| block <= ended) {
            return events;
        }
        let (open, mut reader) = self.text.take().unwrap_or_else(|| (block, FenceReader::default()));
        if open == block {
            let found = text.chars().filter_map(|c| reader.read(c));
            events.extend(found.filter_map(|found| self.event_of(block, found)));
        }
        self.text = Some((open, reader));
        events
    }

    /// The turn is over, or another text began: what was still open ends here.
    pub fn end(&mut self) -> Vec<SessionEvent> {
        let Some((block, mut reader)) = self.text.take() else { return Vec::new() };
        self.ended = Some(block);
        reader.end().and_then(|found| self.event_of(block, found)).into_iter().collect()
    }

    /// Where the block begins that is open in the text that is being read.
    pub(super) fn is_block_since(&self) -> Option<u32> {
        self.text.as_ref().and_then(|(_, reader)| reader.open_since())
    }

    /// Likewise, or where its line may come to open one.
    pub(super) fn may_be_block_since(&self) -> Option<u32> {
        self.text.as_ref().and_then(|(_, reader)| reader.may_be_open_since())
    }

    fn event_of(&mut self, block: u32, found: Found) -> Option<SessionEvent> {
        let turn = self.turn.filter(|_| self.nexts + self.cards < MAX_BLOCKS)?;
        let span = Span { block, start: found.start, end: found.end };
        Some(match parse(found.sort, &found.body?)? {
            Shown::Next(next) => {
                self.nexts += 1;
                SessionEvent::NextOffered { turn, nth: self.nexts, span, next }
            }
            Shown::Card(card) => {
                self.cards += 1;
                SessionEvent::BlockShown { turn, nth: self.cards, span, card }
            }
        })
    }
}

/// `text` without the blocks in it, understood or not, and without one that it breaks off in.
pub(crate) fn without_blocks(text: &str) -> Cow<'_, str> {
    let mut reader = FenceReader::default();
    let mut found: Vec<(u32, u32)> =
        text.chars().filter_map(|c| reader.read(c)).map(|found| (found.start, found.end)).collect();
    found.extend(reader.end().map(|found| (found.start, found.end)));
    found.extend(reader.open_since().map(|start| (start, u32::MAX)));
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut found = found.into_iter().peekable();
    let words = text.chars().zip(0_u32..).filter(|(_, at)| {
        found.next_if(|(_, end)| end <= at);
        found.peek().is_none_or(|(start, _)| at < start)
    });
    Cow::Owned(words.map(|(c, _)| c).collect())
}

#[cfg(test)]
mod tests;
