//! Patterns of parts, found in the tokens of a text in one pass.
//!
//! Invariant: memory does not grow with the text. Each pattern is a row of bits, one for each of its parts: the bit is
//! set while the parts up to it are the last ones that were seen.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

use crate::query::{MAX_PARTS, Pattern};
use crate::tokenizer::{Span, Spans, TokenShape, fold_token};

#[derive(Debug)]
pub(super) struct Machine {
    rows: Vec<Row>,
    /// Which parts of which rows a token is.
    parts: HashMap<String, Vec<Bit>>,
    /// The parts that may go on.
    beginnings: Vec<(String, Bit)>,
    /// With which bytes parts begin: most tokens begin with another, and need not be looked at.
    firsts: [bool; 256],
}

#[derive(Debug)]
struct Row {
    clause: usize,
    length: usize,
}

#[derive(Debug, Clone, Copy)]
struct Bit {
    row: usize,
    number: usize,
}

impl Machine {
    pub(super) fn new<'a>(clauses: impl Iterator<Item = &'a [Pattern]>) -> Self {
        let mut machine =
            Self { rows: Vec::new(), parts: HashMap::new(), beginnings: Vec::new(), firsts: [false; 256] };
        for (clause, patterns) in clauses.enumerate() {
            for pattern in patterns {
                let (row, length) = (machine.rows.len(), pattern.parts.len());
                for (number, part) in pattern.parts.iter().enumerate() {
                    let bit = Bit { row, number };
                    if let Some(first) = part.bytes().next() {
                        machine.firsts[usize::from(first)] = true;
                    }
                    if pattern.prefix && number + 1 == length {
                        machine.beginnings.push((part.clone(), bit));
                    } else {
                        machine.parts.entry(part.clone()).or_default().push(bit);
                    }
                }
                machine.rows.push(Row { clause, length });
            }
        }
        machine
    }

    /// Tells each place of each pattern, with its clause, in the order in which they end.
    pub(super) fn walk(&self, text: &str, mut tell: impl FnMut(usize, Range<usize>) -> ControlFlow<()>) {
        if self.rows.is_empty() {
            return;
        }
        let mut before = vec![0_u64; self.rows.len()];
        let mut now = vec![0_u64; self.rows.len()];
        let mut position = 0;
        let mut any = false;
        let mut starts = [0; MAX_PARTS];
        let mut folded = String::new();
        let mut spans = Spans::new(text);
        while let Some(Span { range, position: at, kind }) = spans.next() {
            if at != position {
                position = at;
                if any {
                    any = now.iter().any(|bits| *bits != 0);
                    std::mem::swap(&mut before, &mut now);
                    now.fill(0);
                }
            }
            starts[at as usize % MAX_PARTS] = range.start;
            let first = text.as_bytes()[range.start];
            // What is not ASCII may fold to anything.
            if first.is_ascii() && !self.firsts[usize::from(first.to_ascii_lowercase())] && !follows_mark(text, &range)
            {
                continue;
            }
            fold_token(&text[range.clone()], kind, &mut folded);
            let exact = self.parts.get(folded.as_str()).into_iter().flatten();
            let begun = self.beginnings.iter().filter(|(part, _)| folded.starts_with(part.as_str()));
            // Of a whole identifier that only begins so, the beginning is what was found.
            let partly = kind == TokenShape::Whole && text[range.clone()].is_ascii();
            let end_of = |part: &str| if partly { range.start + part.len() } else { range.end };
            let exact = exact.map(|bit| (bit, range.end));
            for (Bit { row, number }, end) in exact.chain(begun.map(|(part, bit)| (bit, end_of(part)))) {
                let follows = *number == 0 || before[*row] & (1 << (number - 1)) != 0;
                if !follows {
                    continue;
                }
                now[*row] |= 1 << number;
                any = true;
                let Row { clause, length } = self.rows[*row];
                if number + 1 == length {
                    let start = starts[(at as usize + MAX_PARTS - number) % MAX_PARTS];
                    if tell(clause, start.min(range.start)..end).is_break() {
                        return;
                    }
                }
            }
        }
    }
}

/// A mark after the first letter makes it another one.
fn follows_mark(text: &str, token: &Range<usize>) -> bool {
    text.as_bytes()[token.clone()].get(1).is_some_and(|byte| !byte.is_ascii())
}
