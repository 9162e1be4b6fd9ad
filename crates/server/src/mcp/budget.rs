//! How much an answer may hold.
//!
//! Invariant: a line is in an answer whole or not at all, and no answer is longer than hosts are known to pass on: lengths
//! are counted as they count them.

use std::ops::RangeInclusive;

/// How many characters make about one token.
const CHARS_PER_TOKEN: usize = 4;
const DEFAULT_TOKENS: usize = 2_000;
/// What our own words around a page may take.
const FRAME: usize = 1_400;

/// What the caller is ready to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget {
    tokens: Option<usize>,
}

impl Budget {
    /// The most are 40,000 characters; hosts are known to refuse or cut what has 50,000.
    pub(super) const RANGE: RangeInclusive<u64> = 1_000..=10_000;

    pub(super) fn of(tokens: Option<usize>) -> Self {
        Self { tokens }
    }

    /// What was asked for, if anything was: the next call says it again.
    pub(super) fn given(self) -> Option<usize> {
        self.tokens
    }

    /// How long all lines together may be.
    pub(super) fn room(self) -> usize {
        self.tokens.unwrap_or(DEFAULT_TOKENS) * CHARS_PER_TOKEN - FRAME
    }
}

/// Lines, as many as there is room for.
pub(super) struct Page {
    lines: Vec<String>,
    room: usize,
}

impl Page {
    pub(super) fn new(budget: Budget) -> Self {
        Self { lines: Vec::new(), room: budget.room() }
    }

    /// Takes lines that belong together, if there is room for them.
    pub(super) fn take(&mut self, lines: Vec<String>) -> bool {
        let size: usize = lines.iter().map(|line| size(line) + 1).sum();
        let fits = size <= self.room;
        if fits {
            self.room -= size;
            self.lines.extend(lines);
        }
        fits
    }

    /// Takes as many of the lines as there is room for.
    pub(super) fn take_some(&mut self, lines: Vec<String>) {
        for line in lines {
            if !self.take(vec![line]) {
                return;
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        self.lines
    }
}

/// How long hosts take a text to be.
pub(super) fn size(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}
