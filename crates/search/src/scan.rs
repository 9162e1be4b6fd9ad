//! The scanner: does a text have what a query wants, and where? It serves what no index is kept for: a single session,
//! and what was said since the index was committed last.
//!
//! Invariant: a text matches if it contains the words as they were typed, but for capitals, or if it has every clause
//! by its tokens; and it has no clause that is excluded.

mod machine;
mod needle;

use std::ops::{ControlFlow, Range};

use crate::pieces::{Piece, SessionAttributes};
use crate::query::{Mode, Pattern, Query};

use machine::Machine;
pub(crate) use needle::Needle;

/// A shorter text is walked at once.
const WORTH_A_LOOK_BYTES: usize = 512;

/// Where a text has what was wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The first place, in bytes; empty if the query wants no words.
    pub at: Range<usize>,
}

/// A query made ready for many texts.
#[derive(Debug)]
pub struct Scanner<'q> {
    query: &'q Query,
    raw: Option<Needle>,
    machine: Machine,
    /// For each wanted clause: a text without any of these can not have it.
    hints: Vec<Vec<Needle>>,
    wants_words: bool,
}

impl<'q> Scanner<'q> {
    /// Makes a query ready.
    pub fn new(query: &'q Query) -> Self {
        let raw = match query.mode {
            Mode::Words => Needle::folded(&query.raw),
            Mode::Exact => Needle::smart(&query.raw),
        };
        let hints = query.wanted().filter(|clause| !clause.patterns.is_empty()).map(|clause| {
            let longest = |pattern: &Pattern| pattern.parts.iter().max_by_key(|part| part.len()).cloned();
            clause.patterns.iter().filter_map(longest).filter_map(|part| Needle::folded(&part)).collect()
        });
        Self {
            raw,
            machine: Machine::new(query.clauses.iter().map(|clause| clause.patterns.as_slice())),
            hints: hints.collect(),
            wants_words: query.mode == Mode::Exact || query.wanted().next().is_some(),
            query,
        }
    }

    /// Looks through a text.
    pub fn find(&self, text: &str) -> Option<Match> {
        let raw = || self.raw.as_ref()?.find(text);
        let excludes = self.query.clauses.iter().any(|clause| clause.excluded);
        if !excludes {
            if !self.wants_words {
                return Some(Match { at: 0..0 });
            }
            if let Some(at) = raw() {
                return Some(Match { at });
            }
            if self.query.mode == Mode::Exact || self.hints.is_empty() || !self.may_have_all(text) {
                return None;
            }
        }
        let mut first: Vec<Option<Range<usize>>> = vec![None; self.query.clauses.len()];
        let mut missing = first.len();
        let mut spoiled = false;
        self.machine.walk(text, |clause, at| {
            spoiled |= self.query.clauses[clause].excluded;
            if first[clause].is_none() {
                first[clause] = Some(at);
                missing -= 1;
            }
            // With exclusions only the whole text tells.
            if spoiled || missing == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if spoiled {
            return None;
        }
        let found = |(clause, at): (usize, Option<Range<usize>>)| {
            let clause = &self.query.clauses[clause];
            (!clause.excluded && !clause.patterns.is_empty()).then_some(at)
        };
        let wanted: Vec<Option<Range<usize>>> = first.into_iter().enumerate().filter_map(found).collect();
        if !self.wants_words {
            return Some(Match { at: 0..0 });
        }
        let by_tokens = wanted.iter().all(Option::is_some).then(|| wanted.into_iter().flatten());
        let earliest = by_tokens.and_then(|places| places.min_by_key(|place| place.start));
        earliest.or_else(raw).map(|at| Match { at })
    }

    /// Does the piece have what is wanted, filters included?
    pub fn find_in(&self, piece: &Piece, about: &SessionAttributes) -> Option<Match> {
        self.query.admits(piece, about).then(|| self.find(&piece.text))?
    }

    /// Every place in the beginning of a text that belongs to what is wanted, with the number of its clause: at most
    /// `max` of them.
    pub(crate) fn places(&self, text: &str, max: usize) -> Vec<(usize, Range<usize>)> {
        let mut places = Vec::new();
        self.machine.walk(text, |clause, at| {
            if !self.query.clauses[clause].excluded {
                places.push((clause, at));
            }
            if places.len() < max { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if let Some(at) = self.raw.as_ref().and_then(|raw| raw.find(text)) {
            places.push((self.query.clauses.len(), at));
        }
        places
    }

    fn may_have_all(&self, text: &str) -> bool {
        // Letters that are composed of several characters are only known to the tokenizer.
        text.len() < WORTH_A_LOOK_BYTES
            || !text.is_ascii()
            || self.hints.iter().all(|hints| hints.iter().any(|hint| hint.find(text).is_some()))
    }
}

impl Query {
    /// Does a text have what is wanted? For many texts make a [`Scanner`].
    pub fn matches(&self, text: &str) -> Option<Match> {
        Scanner::new(self).find(text)
    }

    /// Do the filters let the piece through?
    pub fn admits(&self, piece: &Piece, about: &SessionAttributes) -> bool {
        self.filters.iter().all(|filter| {
            let has = |field: &crate::FilterField| field.admits(piece, about);
            if filter.excluded {
                return !has(&filter.field);
            }
            has(&filter.field)
                || (filter.field.is_alternative()
                    && self
                        .filters
                        .iter()
                        .any(|other| !other.excluded && other.field.key() == filter.field.key() && has(&other.field)))
        })
    }
}

/// Does a text have one of the patterns?
pub(crate) fn has_patterns(text: &str, patterns: &[Pattern]) -> bool {
    let mut found = false;
    Machine::new([patterns].into_iter()).walk(text, |_, _| {
        found = true;
        ControlFlow::Break(())
    });
    found
}

#[cfg(test)]
mod tests;
