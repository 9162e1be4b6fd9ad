//! A session's title without a model: what its newest turns are about, by the words that they share.
//!
//! Invariant: a title stays until several turns in a row share words with each other and none with what the title stands
//! for. So one stray question renames nothing, and neither does "go on".

use std::collections::{BTreeMap, BTreeSet};

use crate::one_line;
use crate::text::plain_text;

use super::boilerplate::is_follow_up;
use super::cut::head;
use super::sentence::is_wide;
use super::short_title::as_title;
use super::summary::is_slash_command;
use super::terms::topic_terms;
use super::{EMPTY_SUMMARY, MAX_SUMMARY_CHARS, TurnLine, newest_lines};

/// So many turns, the one that the title came from included, belong to it whatever their words: people begin a topic in
/// words that they do not repeat.
const TITLE_GRACE: usize = 3;
/// A stretch of turns that is looked at has from three
const MIN_STRETCH: usize = 3;
/// to so many turns.
const MAX_STRETCH: usize = 8;
/// So many joined turns make a topic if they share several words;
const FEW_JOINED: usize = 3;
/// so many if they share one, or are joined in pairs of which one goes from end to end;
const MORE_JOINED: usize = 4;
/// so many if the title is so young that they could be its own.
const MANY_JOINED: usize = 5;
/// A turn returns to the title's topic if one in so many of its words is one of the topic's,
const COVERED_PART: usize = 5;
/// or one in so many is the title's own.
const TITLE_PART: usize = 7;
/// Several words, by weight.
const SEVERAL_WORDS: usize = 4;
/// So much of a summary or a title that is not ours is looked at.
const LOOK_CHARS: usize = 1_000;

/// The title for a session whose newest turns are these; nothing if the current one still fits.
pub fn topic_title(current: Option<&str>, turns: &[TurnLine]) -> Option<String> {
    let lines = newest_lines(turns);
    let topical: Vec<Topical> = lines.iter().filter_map(|line| Topical::of(&line.summary)).collect();
    let current = current
        .map(|title| one_line(&plain_text(head(title, LOOK_CHARS).unwrap_or(title)), MAX_SUMMARY_CHARS))
        .filter(|title| !title.is_empty());
    let Some(current) = current else {
        return topical.iter().map(|line| as_title(&line.summary)).find(|title| !title.is_empty());
    };
    let found = new_topic(&current, &topical)?;
    let title = as_title(found);
    (!title.is_empty() && !is_nearly(&title, &current)).then_some(title)
}

/// A turn that has a topic.
struct Topical {
    summary: String,
    terms: BTreeSet<String>,
}

impl Topical {
    fn of(summary: &str) -> Option<Self> {
        let summary = one_line(&plain_text(head(summary, LOOK_CHARS).unwrap_or(summary)), MAX_SUMMARY_CHARS);
        if summary == EMPTY_SUMMARY || is_follow_up(&summary) || is_slash_command(&summary) {
            return None;
        }
        let terms: BTreeSet<String> = topic_terms(&summary).into_keys().collect();
        (!terms.is_empty()).then_some(Self { summary, terms })
    }

    /// A fair part of its words are among the terms. A long line has some word of every topic; pairs of signs are many.
    fn returns_to(&self, terms: &BTreeSet<String>, part: usize) -> bool {
        let part = if self.terms.iter().any(|term| term.chars().any(is_wide)) { part * 2 } else { part };
        let shared = self.terms.intersection(terms).count();
        shared > 0 && shared * part >= self.terms.len()
    }
}

/// The line that stands best for the newest turns, if they have a topic that the title does not cover.
fn new_topic<'a>(title: &str, topical: &'a [Topical]) -> Option<&'a str> {
    let title_terms: BTreeSet<String> = topic_terms(title).into_keys().collect();
    let titled = titled_turn(&title_terms, topical).unwrap_or(0);
    let earliest = (titled + 1).max(topical.len().saturating_sub(MAX_STRETCH));
    let latest = topical.len().checked_sub(MIN_STRETCH)?;
    // The longest stretch that holds together tells most about its topic.
    (earliest..=latest).find_map(|start| {
        let (before, turns) = topical.split_at(start);
        let stretch = Stretch::new(turns, &title_terms, covered_terms(&title_terms, titled, before));
        let least = if start < titled + TITLE_GRACE { MANY_JOINED } else { FEW_JOINED };
        stretch.is_new_topic(least).then(|| stretch.most_typical()).flatten()
    })
}

/// The newest turn that the title could have come from.
fn titled_turn(title: &BTreeSet<String>, topical: &[Topical]) -> Option<usize> {
    topical.iter().rposition(|line| {
        let shared = line.terms.intersection(title).count();
        shared > 0 && shared * 10 >= title.len() * 6
    })
}

/// What the title stands for: its own words, those of its turn, of all after it, and of the few before it that share some.
fn covered_terms(title: &BTreeSet<String>, titled: usize, before: &[Topical]) -> BTreeSet<String> {
    let mut covered = title.clone();
    for line in &before[titled..] {
        covered.extend(line.terms.iter().cloned());
    }
    for line in before[titled.saturating_sub(TITLE_GRACE)..titled].iter().rev() {
        if line.returns_to(&covered, COVERED_PART) {
            covered.extend(line.terms.iter().cloned());
        }
    }
    covered
}

/// The newest turns, and what the title covers.
struct Stretch<'t, 'a> {
    turns: &'t [Topical],
    title: &'a BTreeSet<String>,
    covered: BTreeSet<String>,
    /// New words that more than one of the turns has, with the number of turns.
    shared: BTreeMap<&'t str, usize>,
}

impl<'t, 'a> Stretch<'t, 'a> {
    fn new(turns: &'t [Topical], title: &'a BTreeSet<String>, covered: BTreeSet<String>) -> Self {
        let mut shared: BTreeMap<&'t str, usize> = BTreeMap::new();
        for term in turns.iter().flat_map(|line| &line.terms).filter(|term| !covered.contains(*term)) {
            *shared.entry(term).or_default() += 1;
        }
        shared.retain(|_, times| *times > 1);
        Self { turns, title, covered, shared }
    }

    /// It begins and ends away from what is covered, returns hardly ever between, and most of its turns share words.
    fn is_new_topic(&self, least_joined: usize) -> bool {
        let returns =
            |line: &Topical| line.returns_to(&self.covered, COVERED_PART) || line.returns_to(self.title, TITLE_PART);
        let returning = self.turns.iter().filter(|line| returns(line)).count();
        let at_an_end = [self.turns.first(), self.turns.last()].into_iter().flatten().any(returns);
        let may_return = match self.turns.len() {
            _ if least_joined >= MANY_JOINED => 0,
            0..5 => 0,
            turns => turns * 2 / 5,
        };
        if at_an_end || returning > may_return {
            return false;
        }
        let groups = self.groups();
        let all: usize = groups.iter().map(Vec::len).sum();
        let from_end_to_end = groups.iter().any(|group| group.contains(&0) && group.contains(&(self.turns.len() - 1)));
        let in_pairs = from_end_to_end && all >= least_joined.max(MORE_JOINED) && all * 4 >= self.turns.len() * 3;
        let in_one = groups.iter().any(|group| {
            let several = self.shared_words(group) >= SEVERAL_WORDS;
            let least = if several { least_joined } else { least_joined.max(MORE_JOINED) };
            group.len() >= least && group.len() * 2 >= self.turns.len()
        });
        in_one || in_pairs
    }

    /// The turns that are joined to each other by shared words; those that share none are in no group.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut names: Vec<usize> = (0..self.turns.len()).collect();
        for term in self.shared.keys() {
            let having = (0..self.turns.len()).filter(|at| self.turns[*at].terms.contains(*term));
            let joined: Vec<usize> = having.map(|at| names[at]).collect();
            for name in &mut names {
                if joined.contains(name) {
                    *name = joined[0];
                }
            }
        }
        let group = |name: usize| -> Vec<usize> { (0..names.len()).filter(|at| names[*at] == name).collect() };
        (0..names.len()).map(group).filter(|group| group.len() > 1).collect()
    }

    /// The weight of the words that join a group.
    fn shared_words(&self, group: &[usize]) -> usize {
        let joins = |term: &str| group.iter().any(|at| self.turns[*at].terms.contains(term));
        self.shared.keys().filter(|term| joins(term)).map(|term| weight(term)).sum()
    }

    /// The turn that has most of what the others share; of equals the first, which usually names the topic.
    fn most_typical(&self) -> Option<&'t str> {
        let score = |line: &Topical| -> usize {
            line.terms.iter().filter_map(|term| self.shared.get(term.as_str()).map(|times| times * weight(term))).sum()
        };
        let best = self.turns.iter().map(score).max()?;
        self.turns.iter().find(|line| score(line) == best).map(|line| line.summary.as_str())
    }
}

/// A pair of signs is less than a word: a word of three signs is two pairs.
fn weight(term: &str) -> usize {
    if term.chars().any(is_wide) { 1 } else { 2 }
}

/// Two titles that a reader would not tell apart.
fn is_nearly(one: &str, other: &str) -> bool {
    let terms = |title: &str| topic_terms(title).into_keys().collect::<BTreeSet<_>>();
    let (one_terms, other_terms) = (terms(one), terms(other));
    let shared = one_terms.intersection(&other_terms).count();
    let all = one_terms.union(&other_terms).count();
    one.to_lowercase() == other.to_lowercase() || all > 0 && shared * 10 >= all * 7
}

#[cfg(test)]
mod tests;
