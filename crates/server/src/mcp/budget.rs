//! Limits how long an answer is.
//!
//! Invariant: a line is in an answer whole or not at all, and no answer is longer than hosts are known to pass on: lengths
//! are counted as they count them.

use std::ops::RangeInclusive;

use super::arguments::MaxTokens;

/// How many characters make about one token.
const CHARS_PER_TOKEN: usize = 4;
const DEFAULT_TOKENS: usize = 2_000;
/// The most are 40,000 characters; hosts are known to refuse or cut what has 50,000.
const MAX_TOKENS: usize = 10_000;
/// Stands at the end of an answer that was cut.
const CUT: &str = "The rest was left out: it is longer than an answer may be.";
/// What our own words around a page may take.
const FRAME: usize = 1_400;

/// How long the answers of a tool may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerBudget {
    /// As the caller asks with `max_tokens`.
    AskedFor,
    /// So many tokens.
    Fixed(usize),
}

impl AnswerBudget {
    /// As long as hosts are known to pass on.
    pub(super) const LONGEST: Self = Self::Fixed(MAX_TOKENS);
    pub(super) const DEFAULT: Self = Self::Fixed(DEFAULT_TOKENS);

    /// How many characters an answer may have, with room for our own words.
    pub(super) fn chars(self) -> usize {
        let tokens = match self {
            Self::AskedFor => MAX_TOKENS,
            Self::Fixed(tokens) => tokens,
        };
        (tokens * CHARS_PER_TOKEN).saturating_sub(FRAME)
    }

    /// Cuts an answer between lines, where a tool did not keep to its budget by itself.
    pub(super) fn cut(self, answer: String) -> String {
        let tokens = match self {
            Self::AskedFor => MAX_TOKENS,
            Self::Fixed(tokens) => tokens,
        };
        let most = tokens * CHARS_PER_TOKEN;
        if size(&answer) <= most {
            return answer;
        }
        let mut page = Page { lines: Vec::new(), room: most - CUT.len() };
        page.take_some(answer.lines().map(str::to_owned).collect());
        page.lines.push(CUT.to_owned());
        page.lines.join("\n")
    }
}

/// What the caller is ready to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget {
    tokens: Option<usize>,
}

impl Budget {
    pub(super) const RANGE: RangeInclusive<u64> = 1_000..=MAX_TOKENS as u64;

    pub(super) fn of(asked: Option<MaxTokens>) -> Self {
        Self { tokens: asked.map(|MaxTokens(tokens)| tokens) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_too_long_is_cut_between_lines_and_says_so() {
        let line = "ä".repeat(99);
        let whole = vec![line.as_str(); 80].join("\n");
        assert_eq!(AnswerBudget::DEFAULT.cut(whole.clone()), whole);
        for lines in [81, 1_000] {
            let cut = AnswerBudget::DEFAULT.cut(vec![line.as_str(); lines].join("\n"));
            assert!(size(&cut) <= 8_000 && cut.ends_with(CUT), "{}", size(&cut));
            assert!(cut.lines().rev().skip(1).all(|kept| kept == line) && cut.lines().count() == 80, "{cut}");
        }
        assert_eq!(AnswerBudget::Fixed(100).cut("x".repeat(401)), CUT);
    }
}
