//! A session's title without a model: what its newest turns are about, by the words that they share.
//!
//! Invariant: a title stays until several turns in a row share words with each other and none with what the title stands
//! for. So one stray question renames nothing, and neither does "go on".

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::one_line;
use crate::text::plain_text;

use super::boilerplate::is_follow_up;
use super::cut::head;
use super::sentence::is_wide;
use super::short_title::as_title;
use super::summary::is_slash_command;
use super::terms::topic_terms;
use super::{EMPTY_SUMMARY, MAX_SUMMARY_CHARS, TITLE_TURNS, TurnLine, newest_lines};

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
    let mut topics = Topics::default();
    for line in newest_lines(turns) {
        topics.push(&line.summary);
    }
    topics.title(current)
}

/// The newest turns of a session, for whoever asks for its title after each of them: every line is looked at once.
#[derive(Debug, Clone, Default)]
pub struct Topics(VecDeque<Option<Arc<Topical>>>);

impl Topics {
    /// Takes in the summary of the turn after those that were taken in.
    pub fn push(&mut self, summary: &str) {
        if self.0.len() == TITLE_TURNS {
            self.0.pop_front();
        }
        self.0.push_back(Topical::of(summary).map(Arc::new));
    }

    /// Nothing was taken in.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The title for these turns; nothing if the current one still fits.
    pub fn title(&self, current: Option<&str>) -> Option<String> {
        let topical: Vec<&Topical> = self.0.iter().flatten().map(Arc::as_ref).collect();
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
}

/// A turn that has a topic.
#[derive(Debug)]
struct Topical {
    summary: String,
    terms: BTreeSet<String>,
    /// Some of them are pairs of signs.
    is_wide: bool,
}

impl Topical {
    fn of(summary: &str) -> Option<Self> {
        let summary = one_line(&plain_text(head(summary, LOOK_CHARS).unwrap_or(summary)), MAX_SUMMARY_CHARS);
        if summary == EMPTY_SUMMARY || is_follow_up(&summary) || is_slash_command(&summary) {
            return None;
        }
        let terms: BTreeSet<String> = topic_terms(&summary).into_keys().collect();
        let is_wide = terms.iter().any(|term| term.chars().any(is_wide));
        (!terms.is_empty()).then_some(Self { summary, terms, is_wide })
    }

    /// A fair part of its words are among the terms. A long line has some word of every topic; pairs of signs are many.
    fn returns_to(&self, terms: &BTreeSet<&str>, part: usize) -> bool {
        let part = if self.is_wide { part * 2 } else { part };
        let shared = self.shared_with(terms);
        shared > 0 && shared * part >= self.terms.len()
    }

    fn shared_with(&self, terms: &BTreeSet<&str>) -> usize {
        self.terms.iter().filter(|term| terms.contains(term.as_str())).count()
    }
}

/// The line that stands best for the newest turns, if they have a topic that the title does not cover.
fn new_topic<'a>(title: &str, topical: &[&'a Topical]) -> Option<&'a str> {
    let title_terms = topic_terms(title);
    let title_terms: BTreeSet<&str> = title_terms.keys().map(String::as_str).collect();
    let titled = titled_turn(&title_terms, topical).unwrap_or(0);
    let earliest = (titled + 1).max(topical.len().saturating_sub(MAX_STRETCH));
    let latest = topical.len().checked_sub(MIN_STRETCH)?;
    // The longest stretch that holds together tells most about its topic.
    (earliest..=latest).find_map(|start| {
        let (before, turns) = topical.split_at(start);
        let stretch = Stretch { turns, title: &title_terms, covered: covered_terms(&title_terms, titled, before) };
        let least = if start < titled + TITLE_GRACE { MANY_JOINED } else { FEW_JOINED };
        if !stretch.is_away(least) {
            return None;
        }
        let shared = stretch.shared_terms();
        stretch.is_joined(&shared, least).then(|| stretch.most_typical(&shared)).flatten()
    })
}

/// The newest turn that the title could have come from.
fn titled_turn(title: &BTreeSet<&str>, topical: &[&Topical]) -> Option<usize> {
    topical.iter().rposition(|line| {
        let shared = line.shared_with(title);
        shared > 0 && shared * 10 >= title.len() * 6
    })
}

/// What the title stands for: its own words, those of its turn, of all after it, and of the few before it that share some.
fn covered_terms<'a>(title: &BTreeSet<&'a str>, titled: usize, before: &[&'a Topical]) -> BTreeSet<&'a str> {
    let mut covered = title.clone();
    for line in &before[titled..] {
        covered.extend(line.terms.iter().map(String::as_str));
    }
    for line in before[titled.saturating_sub(TITLE_GRACE)..titled].iter().rev() {
        if line.returns_to(&covered, COVERED_PART) {
            covered.extend(line.terms.iter().map(String::as_str));
        }
    }
    covered
}

/// New words that more than one turn of a stretch has, with the number of turns.
type Shared<'a> = BTreeMap<&'a str, usize>;

/// The newest turns, and what the title covers.
struct Stretch<'t, 'a> {
    turns: &'t [&'a Topical],
    title: &'t BTreeSet<&'t str>,
    covered: BTreeSet<&'t str>,
}

impl<'a> Stretch<'_, 'a> {
    fn shared_terms(&self) -> Shared<'a> {
        let mut shared = Shared::new();
        for line in self.turns {
            for term in line.terms.iter().filter(|term| !self.covered.contains(term.as_str())) {
                *shared.entry(term.as_str()).or_default() += 1;
            }
        }
        shared.retain(|_, times| *times > 1);
        shared
    }

    /// It begins and ends away from what is covered, and returns hardly ever between.
    fn is_away(&self, least_joined: usize) -> bool {
        let returns =
            |line: &Topical| line.returns_to(&self.covered, COVERED_PART) || line.returns_to(self.title, TITLE_PART);
        let may_return = match self.turns.len() {
            _ if least_joined >= MANY_JOINED => 0,
            0..5 => 0,
            turns => turns * 2 / 5,
        };
        let at_an_end = [self.turns.first(), self.turns.last()].into_iter().flatten().any(|line| returns(line));
        !at_an_end && self.turns.iter().filter(|line| returns(line)).count() <= may_return
    }

    /// Most of its turns share words.
    fn is_joined(&self, shared: &Shared<'_>, least_joined: usize) -> bool {
        let groups = self.groups(shared);
        let all: usize = groups.iter().map(Vec::len).sum();
        let from_end_to_end = groups.iter().any(|group| group.contains(&0) && group.contains(&(self.turns.len() - 1)));
        let in_pairs = from_end_to_end && all >= least_joined.max(MORE_JOINED) && all * 4 >= self.turns.len() * 3;
        let in_one = groups.iter().any(|group| {
            let several = self.shared_words(shared, group) >= SEVERAL_WORDS;
            let least = if several { least_joined } else { least_joined.max(MORE_JOINED) };
            group.len() >= least && group.len() * 2 >= self.turns.len()
        });
        in_one || in_pairs
    }

    /// The turns that are joined to each other by shared words; those that share none are in no group.
    fn groups(&self, shared: &Shared<'_>) -> Vec<Vec<usize>> {
        let mut names: Vec<usize> = (0..self.turns.len()).collect();
        for term in shared.keys() {
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
    fn shared_words(&self, shared: &Shared<'_>, group: &[usize]) -> usize {
        let joins = |term: &str| group.iter().any(|at| self.turns[*at].terms.contains(term));
        shared.keys().filter(|term| joins(term)).map(|term| weight(term)).sum()
    }

    /// The turn that has most of what the others share; of equals the first, which usually names the topic.
    fn most_typical(&self, shared: &Shared<'_>) -> Option<&'a str> {
        let score = |line: &Topical| -> usize {
            line.terms.iter().filter_map(|term| shared.get(term.as_str()).map(|times| times * weight(term))).sum()
        };
        let best = self.turns.iter().map(|line| score(line)).max()?;
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
