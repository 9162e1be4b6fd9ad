//! What people type into a search box, understood. Nothing that can be typed is an error: what makes no sense is told
//! in the notes, and the rest is searched.
//!
//! Invariant: a query is bounded, whatever was typed. The scanner and the index look for the same patterns.

mod filter;
mod parse;

use std::fmt;

use crate::tokenizer::{TokenShape, tokens};

pub(crate) use filter::folded;
pub use filter::{Filter, FilterField};

/// How many parts one pattern has; a longer phrase is found by its beginning.
pub(crate) const MAX_PARTS: usize = 64;

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// By words, or as it stands.
    pub mode: Mode,
    /// The words and phrases, in the order in which they were typed; all of them are wanted. None with [`Mode::Exact`].
    pub clauses: Vec<Clause>,
    /// What narrows it. Those of one kind are alternatives, those of several kinds hold together.
    pub filters: Vec<Filter>,
    /// What was not understood, in words for whoever typed it.
    pub notes: Vec<String>,
    /// The words as they were typed, without filters and exclusions.
    pub(crate) raw: String,
}

/// How a text is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// By the tokens of [`crate::tokens`].
    Words,
    /// Character by character; capitals matter if there are any.
    Exact,
}

/// A word or a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clause {
    /// As it was typed, without quotes and star.
    pub text: String,
    /// What has it is not wanted.
    pub excluded: bool,
    /// It was typed in quotes.
    pub quoted: bool,
    /// Its last part may go on.
    pub prefix: bool,
    /// Any of them will do.
    pub(crate) patterns: Vec<Pattern>,
}

/// Parts that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) parts: Vec<String>,
    /// The last part may go on.
    pub(crate) prefix: bool,
}

impl Query {
    /// Understands what was typed. The last word may go on, unless a space or a quote ended it.
    pub fn parse(typed: &str) -> Self {
        parse::parse(typed)
    }

    /// Looks for exactly this text. Filters can be put into `filters`.
    pub fn exact(text: &str) -> Self {
        let (raw, notes) = parse::bounded(text);
        Self { mode: Mode::Exact, clauses: Vec::new(), filters: Vec::new(), notes, raw }
    }

    /// There are no words in it that could be found.
    pub fn is_blank(&self) -> bool {
        match self.mode {
            Mode::Words => !self.wanted().any(|clause| !clause.patterns.is_empty()),
            Mode::Exact => self.raw.is_empty(),
        }
    }

    /// The clauses that a text has to have.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = &Clause> {
        self.clauses.iter().filter(|clause| !clause.excluded)
    }
}

impl Clause {
    pub(crate) fn new(text: &str, excluded: bool, quoted: bool, prefix: bool) -> Self {
        let patterns = patterns(text, prefix);
        let prefix = patterns.iter().any(|pattern| pattern.prefix);
        Self { text: text.to_owned(), excluded, quoted, prefix, patterns }
    }
}

impl Clause {
    /// One word as it stands.
    pub(crate) fn is_bare(&self) -> bool {
        matches!(&self.patterns[..], [Pattern { parts, prefix: false }] if parts.len() == 1)
    }
}

/// How the tokens of a clause may stand in a text: one part after the other, or as the whole identifier.
pub(crate) fn patterns(text: &str, prefix: bool) -> Vec<Pattern> {
    let mut parts: Vec<String> = Vec::new();
    let mut whole = None;
    let mut identifiers = 0;
    let mut signed = false;
    for token in tokens(text) {
        let follows_its_sign = std::mem::replace(&mut signed, token.kind == TokenShape::Signed);
        match token.kind {
            TokenShape::Whole => {
                identifiers += 1;
                whole = Some(token.text);
            }
            TokenShape::Word | TokenShape::Signed => {
                identifiers += 1;
                parts.push(token.text);
            }
            // Who asks for `C++` does not want every `c`.
            TokenShape::Part if follows_its_sign => (),
            TokenShape::Part => parts.push(token.text),
        }
        if parts.len() > MAX_PARTS {
            parts.truncate(MAX_PARTS);
            return vec![Pattern { parts, prefix: false }];
        }
    }
    let Some(last) = parts.last() else { return Vec::new() };
    let goes_on = |text: &str| prefix && text.chars().nth(1).is_some() && !text.ends_with(['+', '#']);
    let mut patterns = vec![Pattern { prefix: goes_on(last), parts }];
    if let Some(whole) = whole.filter(|_| identifiers == 1) {
        patterns.push(Pattern { prefix: goes_on(&whole), parts: vec![whole] });
    }
    patterns
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = match self.mode {
            Mode::Words => self.clauses.iter().map(ToString::to_string).collect(),
            Mode::Exact => vec![format!("={:?}", self.raw)],
        };
        parts.extend(self.filters.iter().map(ToString::to_string));
        f.write_str(&parts.join(" "))
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minus = if self.excluded { "-" } else { "" };
        let quote = if self.quoted { "\"" } else { "" };
        let star = if self.prefix { "*" } else { "" };
        write!(f, "{minus}{quote}{}{quote}{star}", self.text)
    }
}

#[cfg(test)]
mod tests;
