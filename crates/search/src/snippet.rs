//! What is shown of a text that was found: one line around the best place, with the found words marked.
//!
//! Invariant: a snippet is one line without control characters and marks that change the direction of writing; it is
//! never longer than was asked for, and its marks are on the words that the query found.

use std::collections::HashSet;
use std::ops::Range;

use crate::query::Query;
use crate::scan::Scanner;

/// How many places are compared.
const MAX_PLACES: usize = 2_000;
/// How much of a text is looked through.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// How far a cut is moved to fall between words, in characters.
const MAX_SHIFT: usize = 24;

/// One line of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snippet {
    /// The line; `…` stands for what is left out at its ends.
    pub text: String,
    /// What was found, in characters (Unicode scalar values) of `text`, in order, without overlaps.
    pub highlights: Vec<Range<usize>>,
}

/// The part of a text that shows best why it was found, in at most `max_chars` characters.
pub fn snippet(text: &str, query: &Query, max_chars: usize) -> Snippet {
    let text = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
    let places = Scanner::new(query).places(text, MAX_PLACES);
    let mut line = Line::new(text, max_chars.max(8));
    line.aim(&places);
    line.write(places.into_iter().map(|(_, place)| place).collect())
}

struct Line<'t> {
    text: &'t str,
    room: usize,
    window: Range<usize>,
}

impl<'t> Line<'t> {
    fn new(text: &'t str, max_chars: usize) -> Self {
        // Two characters may go for what is left out.
        Self { text, room: max_chars - 2, window: 0..0 }
    }

    /// Chooses the window with the most clauses in it, then with the most places.
    fn aim(&mut self, places: &[(usize, Range<usize>)]) {
        let mut sorted: Vec<&(usize, Range<usize>)> = places.iter().collect();
        sorted.sort_by_key(|(_, place)| place.start);
        let mut best = ((0, 0), 0..0);
        for (number, (_, first)) in sorted.iter().enumerate() {
            let mut clauses = HashSet::new();
            let mut last = first.clone();
            let mut count = 0;
            // A character may be several bytes; a window of bytes is near enough for choosing.
            for (clause, place) in sorted[number..].iter().take_while(|(_, p)| p.end <= first.start + self.room) {
                clauses.insert(*clause);
                count += 1;
                last = last.start..place.end.max(last.end);
            }
            let score = (clauses.len().max(1), count.clamp(1, 8));
            if score > best.0 {
                best = (score, last);
            }
        }
        let found = best.1;
        let used = self.text[found.clone()].chars().count().min(self.room);
        let lead = (self.room - used) / 3;
        let mut start = back(self.text, found.start, lead);
        start = self.to_word_start(start, found.start);
        let mut end = forth(self.text, start, self.room);
        if end == self.text.len() {
            start = back(self.text, end, self.room).min(start);
            start = self.to_word_start(start, found.start);
            end = forth(self.text, start, self.room);
        }
        self.window = start..self.to_word_end(end, found.end.min(end));
    }

    fn to_word_start(&self, start: usize, limit: usize) -> usize {
        if start == 0 || self.text[..start].ends_with(char::is_whitespace) {
            return start;
        }
        let near = &self.text[start..limit.min(forth(self.text, start, MAX_SHIFT)).max(start)];
        near.find(char::is_whitespace).map_or(start, |at| start + at)
    }

    fn to_word_end(&self, end: usize, limit: usize) -> usize {
        if end == self.text.len() || self.text[end..].starts_with(char::is_whitespace) {
            return end;
        }
        let from = back(self.text, end, MAX_SHIFT).max(limit);
        self.text[from..end].rfind(char::is_whitespace).map_or(end, |at| from + at)
    }

    fn write(&self, mut places: Vec<Range<usize>>) -> Snippet {
        places.sort_by_key(|place| place.start);
        let mut places = places.into_iter().peekable();
        let mut snippet = Snippet::default();
        let mut length = 0;
        let mut push = |snippet: &mut Snippet, c: char| {
            snippet.text.push(c);
            length += 1;
            length
        };
        if !self.text[..self.window.start].trim().is_empty() {
            push(&mut snippet, '…');
        }
        for (at, c) in self.text[self.window.clone()].char_indices() {
            let at = self.window.start + at;
            let shown = match c {
                c if c.is_whitespace() => {
                    (!snippet.text.is_empty() && !snippet.text.ends_with([' ', '…'])).then_some(' ')
                }
                c if c.is_control() || is_invisible(c) => None,
                c => Some(c),
            };
            let Some(shown) = shown else { continue };
            let length = push(&mut snippet, shown);
            while places.next_if(|place| place.end <= at).is_some() {}
            if places.peek().is_some_and(|place| place.start <= at) {
                match snippet.highlights.last_mut() {
                    Some(last) if last.end == length - 1 => last.end = length,
                    _ => snippet.highlights.push(length - 1..length),
                }
            }
        }
        let kept = snippet.text.trim_end().len();
        snippet.text.truncate(kept);
        if !self.text[self.window.end..].trim().is_empty() {
            snippet.text.push('…');
        }
        snippet
    }
}

/// So many characters before `from`.
fn back(text: &str, from: usize, chars: usize) -> usize {
    text[..from].char_indices().rev().take(chars).last().map_or(from, |(at, _)| at)
}

/// So many characters after `from`.
fn forth(text: &str, from: usize, chars: usize) -> usize {
    text[from..].char_indices().nth(chars).map_or(text.len(), |(at, _)| from + at)
}

/// Marks of direction, joiners and other signs without a shape, which could make a line read as another.
fn is_invisible(c: char) -> bool {
    matches!(u32::from(c),
        0x00AD | 0x061C | 0x180E | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB
        | 0xE0000..=0xE007F)
}

#[cfg(test)]
mod tests;
