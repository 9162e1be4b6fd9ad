//! A text within a text, capitals apart, in one pass and without a copy of it all.

use std::ops::Range;

use memchr::memmem::Finder;

use crate::tokenizer::fold_char;

/// How much of a text is folded at a time.
const WINDOW_BYTES: usize = 64 << 10;
/// How much of it is tried for being plain ASCII.
const RUN_BYTES: usize = 256;

/// What is looked for.
#[derive(Debug)]
pub(crate) struct Needle {
    finder: Finder<'static>,
    folds: bool,
}

impl Needle {
    /// Capitals or not; `None` for nothing.
    pub(crate) fn folded(text: &str) -> Option<Self> {
        let mut folded = String::new();
        fold_window(text, &mut folded);
        (!folded.is_empty()).then(|| Self { finder: Finder::new(&folded).into_owned(), folds: true })
    }

    /// Capitals matter if there are any.
    pub(crate) fn smart(text: &str) -> Option<Self> {
        if !text.chars().any(char::is_uppercase) {
            return Self::folded(text);
        }
        Some(Self { finder: Finder::new(text).into_owned(), folds: false })
    }

    /// The first place of it.
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        let length = self.finder.needle().len();
        if !self.folds {
            return self.finder.find(text.as_bytes()).map(|at| at..at + length);
        }
        // A folded letter has at least a third of the bytes it had.
        let overlap = 3 * length + 4;
        let mut folded = String::new();
        let mut start = 0;
        loop {
            let end = text.floor_char_boundary(start + WINDOW_BYTES + overlap);
            folded.clear();
            fold_window(&text[start..end], &mut folded);
            if let Some(at) = self.finder.find(folded.as_bytes()) {
                let place = unfold(&text[start..end], at..at + length);
                return Some(start + place.start..start + place.end);
            }
            if end == text.len() {
                return None;
            }
            start = text.floor_char_boundary(end - overlap);
        }
    }
}

fn fold_window(mut text: &str, folded: &mut String) {
    while !text.is_empty() {
        let (run, rest) = text.split_at(text.floor_char_boundary(RUN_BYTES));
        if run.is_ascii() {
            let from = folded.len();
            folded.push_str(run);
            folded[from..].make_ascii_lowercase();
        } else {
            run.chars().for_each(|c| fold_char(c, folded));
        }
        text = rest;
    }
}

/// The characters whose folded form has the place.
fn unfold(text: &str, place: Range<usize>) -> Range<usize> {
    let mut buffer = String::new();
    let (mut start, mut at) = (None, 0);
    for (offset, c) in text.char_indices() {
        buffer.clear();
        fold_char(c, &mut buffer);
        at += buffer.len();
        if start.is_none() && at > place.start {
            start = Some(offset);
        }
        if at >= place.end {
            return start.unwrap_or(offset)..offset + c.len_utf8();
        }
    }
    start.unwrap_or(text.len())..text.len()
}
