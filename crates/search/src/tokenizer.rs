//! How words are told apart, in texts and in queries alike. It understands code: an identifier is a token as it stands,
//! and so are its parts, so that `retry` finds `max_retry_count` and `http response` finds `parseHttpResponse`.
//!
//! Invariant: spans are byte offsets into the text as it came, on borders of characters; positions never fall, and the
//! parts of everything that is written without a gap stand at positions that follow each other, so that adjacent
//! parts are a phrase. Tokens are bounded, whatever the text is.

mod fold;
mod split;

use std::collections::VecDeque;
use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

pub(crate) use fold::{fold_char, fold_into};
use split::split_component;

/// A longer part is cut to so many bytes before it is folded; it is then found by its beginning.
const MAX_PART_BYTES: usize = 64;
/// A longer identifier is only its parts.
const MAX_WHOLE_BYTES: usize = 96;
/// An identifier that goes on for longer is taken for several.
const MAX_RUN_BYTES: usize = 256;

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Folded: composed, and in small letters.
    pub text: String,
    /// Where it is in the text, in bytes.
    pub span: Range<usize>,
    /// Its place among the parts.
    pub position: u32,
    /// What it is of its identifier.
    pub kind: TokenShape,
}

/// What a token is of its identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenShape {
    /// An identifier that has no parts.
    Word,
    /// An identifier that has parts, which follow.
    Whole,
    /// An identifier with a sign that belongs to it, such as `c++`; it follows without.
    Signed,
    /// A part of the identifier before it.
    Part,
}

/// All tokens of a text.
pub fn tokens(text: &str) -> impl Iterator<Item = Token> {
    let mut spans = Spans::new(text);
    std::iter::from_fn(move || {
        let Span { range, position, kind } = spans.next()?;
        let mut folded = String::new();
        fold_token(&text[range.clone()], kind, &mut folded);
        Some(Token { text: folded, span: range, position, kind })
    })
}

/// Writes a token's text in its folded form, in place of what `folded` held.
pub(crate) fn fold_token(text: &str, kind: TokenShape, folded: &mut String) {
    folded.clear();
    let text = match kind {
        TokenShape::Word | TokenShape::Part => &text[..text.floor_char_boundary(MAX_PART_BYTES)],
        TokenShape::Whole | TokenShape::Signed => text,
    };
    fold_into(text, folded);
}

/// A token that has not been folded yet.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub(crate) range: Range<usize>,
    pub(crate) position: u32,
    pub(crate) kind: TokenShape,
}

/// The tokens of a text, one after the other, without an allocation for each.
pub(crate) struct Spans<'t> {
    text: &'t str,
    at: usize,
    position: u32,
    ready: VecDeque<Span>,
    parts: Vec<Range<usize>>,
}

impl<'t> Spans<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0, position: 0, ready: VecDeque::new(), parts: Vec::new() }
    }

    pub(crate) fn next(&mut self) -> Option<Span> {
        loop {
            if let Some(span) = self.ready.pop_front() {
                return Some(span);
            }
            let (start, first) = self.next_letter()?;
            if stands_alone(first) {
                self.alone(start, first);
            } else if let Some(word) = self.plain_word(start) {
                return Some(word);
            } else {
                self.identifier(start);
            }
        }
    }

    /// The next letter or digit, and where it is.
    fn next_letter(&self) -> Option<(usize, char)> {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        loop {
            match *bytes.get(at)? {
                byte if byte.is_ascii_alphanumeric() => return Some((at, char::from(byte))),
                byte if byte.is_ascii() => at += 1,
                _ => {
                    let c = self.text[at..].chars().next()?;
                    if c.is_alphanumeric() {
                        return Some((at, c));
                    }
                    at += c.len_utf8();
                }
            }
        }
    }

    /// Most of a text are words of small letters between spaces, which need no closer look.
    fn plain_word(&mut self, start: usize) -> Option<Span> {
        let bytes = &self.text.as_bytes()[start..];
        let length = bytes.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        let ends = match bytes.get(length) {
            None => true,
            Some(b'_' | b'-' | b'.' | b'+' | b'#') => false,
            Some(byte) => byte.is_ascii() && !byte.is_ascii_alphanumeric(),
        };
        if length == 0 || !ends {
            return None;
        }
        self.at = start + length;
        self.position += 1;
        Some(Span { range: start..self.at, position: self.position - 1, kind: TokenShape::Word })
    }

    /// A character of a script without spaces is a token by itself, together with the marks on it.
    fn alone(&mut self, start: usize, first: char) {
        let after = start + first.len_utf8();
        let marks = self.text[after..].chars().take_while(|&c| is_combining_mark(c) || completes_syllable(c));
        let end = after + marks.map(char::len_utf8).sum::<usize>();
        self.at = end;
        self.emit(start..end, TokenShape::Word);
        self.position += 1;
    }

    fn identifier(&mut self, start: usize) {
        let end = self.end_of_run(start);
        self.at = end;
        self.parts.clear();
        let run = &self.text[start..end];
        let mut from = start;
        for (at, byte) in run.bytes().enumerate() {
            if matches!(byte, b'_' | b'-' | b'.') {
                split_component(self.text, from..start + at, &mut self.parts);
                from = start + at + 1;
            }
        }
        split_component(self.text, from..end, &mut self.parts);
        let whole = start..start + run.trim_end_matches('_').len();
        if let [_] = self.parts[..] {
            if let Some(sign) = sign_after(&self.text[end..]).filter(|_| whole.end == end) {
                self.at = end + sign;
                self.emit(start..end + sign, TokenShape::Signed);
                self.emit(whole, TokenShape::Part);
            } else {
                self.emit(whole, TokenShape::Word);
            }
            self.position += 1;
            return;
        }
        if whole.len() <= MAX_WHOLE_BYTES {
            self.emit(whole, TokenShape::Whole);
        }
        let mut parts = std::mem::take(&mut self.parts);
        for part in parts.drain(..) {
            self.emit(part, TokenShape::Part);
            self.position += 1;
        }
        // With the room that it has.
        self.parts = parts;
    }

    fn emit(&mut self, range: Range<usize>, kind: TokenShape) {
        self.ready.push_back(Span { range, position: self.position, kind });
    }

    /// Letters, digits and `_`, and single `-` and `.` between them.
    fn end_of_run(&self, start: usize) -> usize {
        let plain = self.text.as_bytes()[start..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let mut chars = self.text[start + plain..].char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let at = plain + at;
            let goes_on = match c {
                '_' => at < MAX_RUN_BYTES,
                '-' | '.' => {
                    let next = chars.peek().map(|(_, next)| *next);
                    at < MAX_RUN_BYTES && next.is_some_and(|next| next.is_alphanumeric() && !stands_alone(next))
                }
                c if c.is_ascii() => c.is_ascii_alphanumeric(),
                c => is_combining_mark(c) || (c.is_alphanumeric() && !stands_alone(c)),
            };
            if !goes_on {
                return start + at;
            }
        }
        self.text.len()
    }
}

/// How long the sign is that belongs to the word before it: `c++`, `c#`.
fn sign_after(rest: &str) -> Option<usize> {
    let sign = if rest.starts_with("++") {
        2
    } else if rest.starts_with('#') {
        1
    } else {
        return None;
    };
    let next = rest[sign..].chars().next();
    next.is_none_or(|next| !matches!(next, '+' | '#' | '_') && (sign == 2 || !next.is_alphanumeric())).then_some(sign)
}

/// Is it of a script that puts no spaces between words?
fn stands_alone(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF       // Thai, Lao
        | 0x1000..=0x109F     // Myanmar
        | 0x1100..=0x11FF     // Hangul in single letters
        | 0x1780..=0x17FF     // Khmer
        | 0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3021..=0x312F | 0x31A0..=0x31FF
        | 0x3130..=0x318F     // Hangul in single letters, for old computers
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF
        | 0xAC00..=0xD7AF)
}

/// A vowel or a final of a syllable that is written in single letters.
fn completes_syllable(c: char) -> bool {
    matches!(u32::from(c), 0x1160..=0x11FF)
}

#[cfg(test)]
mod tests;
