//! An exact text, found by the words that the index knows: every word of the dictionary that could hold a piece of it.
//! What is found has to be verified by whoever has the text.
//!
//! Invariant: no pattern language is involved, and the work is bounded by the deadline and a number of words.

use std::collections::BTreeSet;
use std::time::Instant;

use memchr::memmem::Finder;
use tantivy::query::TermSetQuery;
use tantivy::{Searcher, Term};

use super::Index;
use super::compile::{Boxed, unscored};
use crate::tokenizer::{TokenShape, tokens};

/// A piece of the text that is in more words than this tells nothing.
const MAX_WORDS: usize = 2_000;
/// How many words go by between two looks at the clock.
const LOOK_EVERY: usize = 4_096;

/// A piece of the text without a gap, and on which sides it is known to end.
struct Run {
    text: String,
    begins: bool,
    ends: bool,
}

impl Index {
    /// What a text must have to hold this one; `true` if the deadline or the number of words left something out.
    pub(super) fn exact(
        &self,
        searcher: &Searcher,
        text: &str,
        deadline: Instant,
    ) -> tantivy::Result<(Vec<Boxed>, bool)> {
        let mut queries: Vec<Boxed> = Vec::new();
        let mut truncated = false;
        let mut left_over: Option<BTreeSet<Vec<u8>>> = None;
        for run in runs(text) {
            let (words, all) = self.words_with(searcher, &run, deadline)?;
            if all {
                queries.push(self.any_of(words));
            } else {
                left_over = Some(words);
            }
            truncated |= Instant::now() >= deadline;
        }
        if queries.is_empty()
            && let Some(words) = left_over
        {
            queries.push(self.any_of(words));
            truncated = true;
        }
        Ok((queries, truncated))
    }

    fn any_of(&self, words: BTreeSet<Vec<u8>>) -> Boxed {
        let text = |word: Vec<u8>| String::from_utf8(word).unwrap_or_default();
        let terms = words.into_iter().map(|word| Term::from_field_text(self.fields.text, &text(word)));
        // Every hit is as good as any other until its text is looked at.
        unscored(Box::new(TermSetQuery::new(terms.collect::<Vec<_>>())))
    }

    /// The words that could hold the run, and whether these are all.
    fn words_with(
        &self,
        searcher: &Searcher,
        run: &Run,
        deadline: Instant,
    ) -> tantivy::Result<(BTreeSet<Vec<u8>>, bool)> {
        let finder = Finder::new(&run.text);
        let needle = run.text.as_bytes();
        let mut words = BTreeSet::new();
        let mut seen = 0_usize;
        for reader in searcher.segment_readers() {
            let inverted = reader.inverted_index(self.fields.text)?;
            let dictionary = inverted.terms();
            let mut stream = match run.begins {
                true => dictionary.range().ge(needle).into_stream()?,
                false => dictionary.stream()?,
            };
            while stream.advance() {
                seen += 1;
                if seen.is_multiple_of(LOOK_EVERY) && Instant::now() >= deadline {
                    return Ok((words, false));
                }
                let word = stream.key();
                if run.begins && !word.starts_with(needle) {
                    break;
                }
                let fits = match (run.begins, run.ends) {
                    (true, true) => word == needle,
                    (true, false) => true,
                    (false, true) => word.ends_with(needle),
                    (false, false) => finder.find(word).is_some(),
                };
                if fits && words.insert(word.to_vec()) && words.len() >= MAX_WORDS {
                    return Ok((words, false));
                }
            }
        }
        Ok((words, true))
    }
}

fn runs(text: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut whole_end = 0;
    for token in tokens(text) {
        match token.kind {
            TokenShape::Word | TokenShape::Whole | TokenShape::Signed => whole_end = token.span.end,
            // The parts of a whole that is too long to be kept stand for it.
            TokenShape::Part if token.span.end <= whole_end => continue,
            TokenShape::Part => (),
        }
        // What joins the parts of an identifier, or may belong to it, is no border.
        let border = |c: char| !matches!(c, '_' | '-' | '.' | '+' | '#');
        let begins = text[..token.span.start].ends_with(border);
        let ends = text[token.span.end..].starts_with(border);
        runs.push(Run { text: token.text, begins, ends });
    }
    runs
}
