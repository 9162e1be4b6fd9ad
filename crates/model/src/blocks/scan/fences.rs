//! Finds fenced code in a text that comes character by character, and which of it is one of our blocks.
//!
//! Invariant: each character is looked at once, and what is kept of a text is bounded: where its line stands, and of a
//! body no more than [`crate::MAX_BLOCK_BYTES`]. Inside a fence there is no other.

use super::body::Body;
use super::line::{Line, Opening};

/// What a block says, by its info string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::blocks) enum Sort {
    Next,
    UseCase,
    EventModel,
    Tasks,
}

/// A block of ours that has closed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) sort: Sort,
    /// The character that it begins with.
    pub(super) start: u32,
    /// The character after its last.
    pub(super) end: u32,
    /// What stands between its fences; nothing if that is too long.
    pub(super) body: Option<String>,
}

/// Reads one text.
#[derive(Debug, Clone, Default)]
pub(super) struct FenceReader {
    /// How many characters were read.
    at: u32,
    place: Place,
}

#[derive(Debug, Clone)]
enum Place {
    Outside(Line),
    Inside(CodeFence),
}

/// A fence that is open.
#[derive(Debug, Clone)]
struct CodeFence {
    opening: Opening,
    /// Where the line stands that is being read.
    line: Within,
    line_start: u32,
    own: Option<Own>,
}

/// What only a fence of ours has.
#[derive(Debug, Clone)]
struct Own {
    sort: Sort,
    body: Body,
}

/// Where a line inside a fence stands.
#[derive(Debug, Clone, Copy)]
enum Within {
    /// Nothing but space so far, and the mark of a quotation if the fence stands in one.
    Lead { column: u32, is_quoted: bool },
    /// Something else, and this was the last of it that is no space.
    Words { last: char },
    /// Signs that may close the fence.
    Run { length: u32 },
    /// Only space since such signs, which ended there.
    Closed { end: u32 },
}

const MAKERS: [&str; 2] = ["throughline", "conclave"];
const SORTS: [(&str, Sort); 4] =
    [("next", Sort::Next), ("usecase", Sort::UseCase), ("eventmodel", Sort::EventModel), ("tasks", Sort::Tasks)];

impl Sort {
    /// `throughline:next`, `conclave:tasks`, in any case.
    pub(super) fn named(info: &str) -> Option<Self> {
        let (maker, name) = info.split_once(':')?;
        if !MAKERS.iter().any(|known| known.eq_ignore_ascii_case(maker)) {
            return None;
        }
        SORTS.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, sort)| sort)
    }

    /// Whether an info string names one, or may once the rest of it is read.
    fn may_be_named(info: &str, is_whole: bool) -> bool {
        let begins = |name: &str| name.get(..info.len()).is_some_and(|begins| begins.eq_ignore_ascii_case(info));
        let mut names = MAKERS.iter().flat_map(|maker| SORTS.iter().map(move |(name, _)| format!("{maker}:{name}")));
        if is_whole { Self::named(info).is_some() } else { names.any(|name| begins(&name)) }
    }
}

impl FenceReader {
    /// Reads on. What is closed by a line is known at the line's end.
    pub(super) fn read(&mut self, c: char) -> Option<Found> {
        let here = self.at;
        self.at = self.at.saturating_add(1);
        match &mut self.place {
            Place::Outside(line) if c == '\n' => {
                if let Some(fence) = line.opening().and_then(|opening| CodeFence::open(opening, self.at)) {
                    self.place = Place::Inside(fence);
                } else {
                    *line = Line::at(self.at);
                }
                None
            }
            Place::Outside(line) => {
                line.read(here, c);
                None
            }
            Place::Inside(fence) => {
                if fence.leaves_quotation(c) {
                    // The quotation is over, and with it the fence; the line is one like any other.
                    self.place = Place::Outside(if c == '\n' { Line::at(self.at) } else { fence.line_left(here, c) });
                    return None;
                }
                if c != '\n' {
                    fence.read(here, c);
                    return None;
                }
                let Some(end) = fence.closed_at(here) else {
                    fence.next_line(self.at);
                    return None;
                };
                let found = fence.found(end);
                self.place = Place::Outside(Line::at(self.at));
                found
            }
        }
    }

    /// The text is over: its last line ends without a line break.
    pub(super) fn end(&mut self) -> Option<Found> {
        self.read('\n')
    }

    /// Where the fence of ours begins that is open.
    pub(super) fn open_since(&self) -> Option<u32> {
        match &self.place {
            Place::Inside(CodeFence { opening, own: Some(_), .. }) => Some(opening.start),
            Place::Inside(_) | Place::Outside(_) => None,
        }
    }

    /// Likewise, or where a line may come to open one.
    pub(super) fn may_be_open_since(&self) -> Option<u32> {
        match &self.place {
            Place::Inside(_) => self.open_since(),
            Place::Outside(line) => {
                let (opening, is_whole) = line.opening_so_far()?;
                let may_be = !opening.is_quoted && Sort::may_be_named(&opening.info, is_whole);
                may_be.then_some(opening.start)
            }
        }
    }
}

impl Default for Place {
    fn default() -> Self {
        Self::Outside(Line::at(0))
    }
}

impl CodeFence {
    /// The fence that a line opens at its end. Behind other words, or in a row of a table, only ours is one; in a
    /// quotation none is ours: what is quoted is not offered.
    fn open(opening: Opening, line_start: u32) -> Option<Self> {
        let sort = Sort::named(&opening.info).filter(|_| !opening.is_quoted);
        if opening.is_glued && sort.is_none() {
            return None;
        }
        let own = sort.map(|sort| Own { sort, body: Body::default() });
        Some(Self { opening, line: Within::LINE_START, line_start, own })
    }

    fn next_line(&mut self, start: u32) {
        if let Some(own) = &mut self.own {
            if let Within::Run { .. } = self.line {
                own.body.mean();
            }
            own.body.push('\n');
        }
        self.line = Within::LINE_START;
        self.line_start = start;
    }

    fn leaves_quotation(&self, c: char) -> bool {
        let is_bare = matches!(self.line, Within::Lead { is_quoted: false, .. });
        self.opening.is_quoted && is_bare && c != '>' && !is_space(c)
    }

    /// The line that left the quotation with this character.
    fn line_left(&self, here: u32, c: char) -> Line {
        let mut line = Line::indented(self.line_start, here - self.line_start);
        line.read(here, c);
        line
    }

    fn read(&mut self, here: u32, c: char) {
        let before = self.line;
        self.line = self.after(before, here, c);
        let Some(own) = &mut self.own else { return };
        // Signs too few to close it were words after all.
        if matches!((before, self.line), (Within::Run { .. }, Within::Words { .. })) {
            own.body.mean();
        }
        own.body.push(c);
        if matches!(self.line, Within::Words { .. }) && !is_space(c) {
            own.body.mean();
        }
    }

    fn after(&self, line: Within, here: u32, c: char) -> Within {
        let is_sign = c == self.opening.sign;
        match line {
            Within::Lead { column, is_quoted } => match c {
                _ if is_space(c) => Within::Lead { column: next_column(column, c), is_quoted },
                '>' if self.opening.is_quoted && !is_quoted => Within::Lead { column: column + 1, is_quoted: true },
                // What is indented deeper than its fence belongs to what the fence holds; ours holds nothing of the kind.
                _ if is_sign && (self.own.is_some() || column <= self.opening.column + 3) => Within::Run { length: 1 },
                _ => Within::Words { last: c },
            },
            Within::Words { last } => match c {
                _ if is_space(c) => Within::Words { last },
                _ if is_sign && self.own.is_some() && matches!(last, '}' | ']') => Within::Run { length: 1 },
                _ => Within::Words { last: c },
            },
            Within::Run { length } => match c {
                _ if is_sign => Within::Run { length: length.saturating_add(1) },
                _ if is_space(c) && length >= self.opening.length => Within::Closed { end: here },
                _ => Within::Words { last: c },
            },
            Within::Closed { end } => match c {
                _ if is_space(c) => Within::Closed { end },
                _ => Within::Words { last: c },
            },
        }
    }

    /// Where the signs end that close it, at the end of a line.
    fn closed_at(&self, here: u32) -> Option<u32> {
        match self.line {
            Within::Closed { end } => Some(end),
            Within::Run { length } => (length >= self.opening.length).then_some(here),
            Within::Lead { .. } | Within::Words { .. } => None,
        }
    }

    fn found(&mut self, end: u32) -> Option<Found> {
        let own = self.own.take()?;
        Some(Found { sort: own.sort, start: self.opening.start, end, body: own.body.into_text() })
    }
}

impl Within {
    const LINE_START: Self = Self::Lead { column: 0, is_quoted: false };
}

/// Space inside a line; the half of a line break that is none by itself is such.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r')
}

/// A tab goes to the next column that four divides.
pub(super) fn next_column(column: u32, c: char) -> u32 {
    let width = if c == '\t' { 4 - column % 4 } else { 1 };
    column.saturating_add(width)
}
