//! A line outside all fences, and whether it opens one.
//!
//! Invariant: a line opens at most one fence, the last run of signs in it, and no more of it is kept than the beginning
//! of that run's info string.

use super::fences::{is_space, next_column};

/// No info string of ours is as long, in bytes.
const MAX_INFO_BYTES: usize = 32;

#[derive(Debug, Clone)]
pub(super) struct Line {
    start: u32,
    column: u32,
    is_quoted: bool,
    is_table_row: bool,
    /// Nothing but space so far.
    is_blank: bool,
    part: Part,
}

/// What a line is read as.
#[derive(Debug, Clone)]
enum Part {
    /// Space, marks of lists and of quotations.
    Lead(Marker),
    Words {
        is_escaped: bool,
    },
    /// Signs, three or more of which may open a fence.
    Run(Opening),
    /// What follows them.
    Info {
        opening: Opening,
        is_whole: bool,
    },
}

/// A list's mark as far as it was read.
#[derive(Debug, Clone, Copy)]
enum Marker {
    None,
    Digits,
    /// It needs a space behind it.
    Whole,
}

/// Signs that may open a fence.
#[derive(Debug, Clone)]
pub(super) struct Opening {
    pub(super) sign: char,
    pub(super) length: u32,
    /// The character that it begins with; the line's first if only space stands before it.
    pub(super) start: u32,
    pub(super) column: u32,
    /// Words stand before it.
    pub(super) is_glued: bool,
    pub(super) is_quoted: bool,
    /// The first word behind it, or its beginning.
    pub(super) info: String,
}

impl Line {
    pub(super) fn at(start: u32) -> Self {
        Self::indented(start, 0)
    }

    /// One of which only space was read, up to that column.
    pub(super) fn indented(start: u32, column: u32) -> Self {
        let part = Part::Lead(Marker::None);
        Self { start, column, is_quoted: false, is_table_row: false, is_blank: true, part }
    }

    /// Reads on, up to the line's end.
    pub(super) fn read(&mut self, here: u32, c: char) {
        let part = std::mem::replace(&mut self.part, Part::Words { is_escaped: false });
        self.part = match part {
            Part::Lead(marker) => self.lead(marker, here, c),
            Part::Words { is_escaped } => self.words(is_escaped, here, c),
            Part::Run(mut opening) if c == opening.sign => {
                opening.length = opening.length.saturating_add(1);
                Part::Run(opening)
            }
            Part::Run(opening) if opening.length >= 3 => self.info(opening, false, here, c),
            Part::Run(_) => self.words(false, here, c),
            Part::Info { opening, is_whole } => self.info(opening, is_whole, here, c),
        };
        self.is_blank &= is_space(c);
        self.column = next_column(self.column, c);
    }

    /// What it opens, now that it is over.
    pub(super) fn opening(&mut self) -> Option<Opening> {
        match std::mem::replace(&mut self.part, Part::Lead(Marker::None)) {
            Part::Run(opening) | Part::Info { opening, .. } => {
                let is_code = opening.length >= 3;
                (is_code && !(opening.is_glued && self.is_table_row)).then_some(opening)
            }
            Part::Lead(_) | Part::Words { .. } => None,
        }
    }

    /// What it may come to open, and whether the info string behind it is over.
    pub(super) fn opening_so_far(&self) -> Option<(&Opening, bool)> {
        match &self.part {
            Part::Run(opening) => Some((opening, false)),
            Part::Info { opening, is_whole } => Some((opening, *is_whole)),
            Part::Lead(_) | Part::Words { .. } => None,
        }
    }

    fn lead(&mut self, marker: Marker, here: u32, c: char) -> Part {
        match (marker, c) {
            (Marker::None | Marker::Whole, _) if is_space(c) => Part::Lead(Marker::None),
            (Marker::None, '>') => {
                self.is_quoted = true;
                Part::Lead(Marker::None)
            }
            (Marker::None, '-' | '*' | '+') | (Marker::Digits, '.' | ')') => Part::Lead(Marker::Whole),
            (Marker::None | Marker::Digits, '0'..='9') => Part::Lead(Marker::Digits),
            (Marker::None, '`' | '~') => Part::Run(self.run(here, c, false)),
            (Marker::None, '|') => {
                self.is_table_row = true;
                Part::Words { is_escaped: false }
            }
            (Marker::None | Marker::Digits | Marker::Whole, _) => self.words(false, here, c),
        }
    }

    fn words(&self, is_escaped: bool, here: u32, c: char) -> Part {
        match c {
            '`' | '~' if !is_escaped => Part::Run(self.run(here, c, true)),
            _ => Part::Words { is_escaped: c == '\\' && !is_escaped },
        }
    }

    fn run(&self, here: u32, sign: char, is_glued: bool) -> Opening {
        let start = if self.is_blank { self.start } else { here };
        let (column, is_quoted) = (self.column, self.is_quoted);
        Opening { sign, length: 1, start, column, is_glued, is_quoted, info: String::new() }
    }

    fn info(&mut self, mut opening: Opening, is_whole: bool, here: u32, c: char) -> Part {
        match c {
            // Then it opened nothing, or code inside the line, and these are other signs.
            '`' if opening.sign == '`' => return Part::Run(self.run(here, c, true)),
            '`' | '~' if opening.is_glued => return Part::Run(self.run(here, c, true)),
            '|' if opening.is_glued => {
                self.is_table_row = true;
                return Part::Words { is_escaped: false };
            }
            _ => (),
        }
        let is_whole = is_whole || c.is_whitespace() && !opening.info.is_empty();
        if !is_whole && !c.is_whitespace() && opening.info.len() < MAX_INFO_BYTES {
            opening.info.push(c);
        }
        Part::Info { opening, is_whole }
    }
}
