//! A session's title without a model: what its newest turns are about, by the words that they share.
//!
//! Invariant: a title stays until several turns in a row share words with each other and none with what the title stands
//! for. So one stray question renames nothing, and neither does "go on".

use std::collections::{BTreeMap, BTreeSet};

use crate::one_line;
use crate::text::plain_text;

use super::boilerplate::{Speaker, is_follow_up, without_openings};
use super::cut::title_length;
use super::inline::plain_line;
use super::sentence::sentences;
use super::summary::capitalised;
use super::terms::{content_count, topic_terms};
use super::{EMPTY_SUMMARY, MAX_SUMMARY_CHARS, MAX_TITLE_CHARS, TurnLine, newest_lines};

/// A new topic has lasted for so many turns that have one.
const NEW_TOPIC_TURNS: usize = 3;
/// A longer stretch is not one topic's beginning any more.
const MAX_NEW_TOPIC_TURNS: usize = 8;
/// How often the turns of a new topic repeat its words, all repetitions counted.
const LEAST_REPEATS: usize = 2;

/// The title for a session whose newest turns are these; nothing if the current one still fits.
pub fn topic_title(current: Option<&str>, turns: &[TurnLine]) -> Option<String> {
    let lines = newest_lines(turns);
    let topical: Vec<Topical> = lines.iter().filter_map(|line| Topical::of(&line.summary)).collect();
    let current =
        current.map(|title| one_line(&plain_text(title), MAX_SUMMARY_CHARS)).filter(|title| !title.is_empty());
    let Some(current) = current else {
        return topical.first().map(|line| as_title(&line.summary));
    };
    let found = new_topic(&current, &topical)?;
    let title = as_title(found);
    (!is_nearly(&title, &current)).then_some(title)
}

/// A turn that has a topic.
struct Topical {
    summary: String,
    terms: BTreeSet<String>,
}

impl Topical {
    fn of(summary: &str) -> Option<Self> {
        let summary = one_line(&plain_text(summary), MAX_SUMMARY_CHARS);
        if summary == EMPTY_SUMMARY || is_follow_up(&summary) {
            return None;
        }
        let terms: BTreeSet<String> = topic_terms(&summary).into_keys().collect();
        (!terms.is_empty()).then_some(Self { summary, terms })
    }

    fn shares_with(&self, terms: &BTreeSet<String>) -> bool {
        !self.terms.is_disjoint(terms)
    }
}

/// The line that stands best for the newest turns, if they have a topic that the title does not cover.
fn new_topic<'a>(title: &str, topical: &'a [Topical]) -> Option<&'a str> {
    let title_terms: BTreeSet<String> = topic_terms(title).into_keys().collect();
    let titled = titled_turn(&title_terms, topical);
    let earliest = titled.map_or(1, |at| at + 1).max(topical.len().saturating_sub(MAX_NEW_TOPIC_TURNS));
    let latest = topical.len().checked_sub(NEW_TOPIC_TURNS)?;
    // The longest stretch that holds together tells most about its topic.
    (earliest..=latest).find_map(|start| {
        let (before, stretch) = topical.split_at(start);
        let known = covered_terms(&title_terms, titled, before);
        is_new(stretch, &known).then(|| most_typical(stretch)).flatten()
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
fn covered_terms(title: &BTreeSet<String>, titled: Option<usize>, before: &[Topical]) -> BTreeSet<String> {
    let mut covered = title.clone();
    let from = titled.unwrap_or(0);
    for line in &before[from..] {
        covered.extend(line.terms.iter().cloned());
    }
    for line in before[from.saturating_sub(NEW_TOPIC_TURNS)..from].iter().rev() {
        if line.shares_with(&covered) {
            covered.extend(line.terms.iter().cloned());
        }
    }
    covered
}

fn is_new(stretch: &[Topical], known: &BTreeSet<String>) -> bool {
    let returning = stretch.iter().filter(|line| line.shares_with(known)).count();
    let newest_returns = stretch.last().is_some_and(|line| line.shares_with(known));
    let repeats: usize = repeated(stretch).values().map(|times| times - 1).sum();
    !newest_returns && returning * 4 <= stretch.len() && repeats >= LEAST_REPEATS
}

/// The terms that more than one of the turns has, with the number of turns.
fn repeated(stretch: &[Topical]) -> BTreeMap<&str, usize> {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for term in stretch.iter().flat_map(|line| &line.terms) {
        *times.entry(term).or_default() += 1;
    }
    times.retain(|_, times| *times > 1);
    times
}

/// The turn that has most of what the others share; of equals the first, which usually names the topic.
fn most_typical(stretch: &[Topical]) -> Option<&str> {
    let repeated = repeated(stretch);
    let score = |line: &Topical| -> usize { line.terms.iter().filter_map(|term| repeated.get(term.as_str())).sum() };
    let best = stretch.iter().map(score).max()?;
    stretch.iter().find(|line| score(line) == best).map(|line| line.summary.as_str())
}

/// A summary made short: one clause, no closing marks, no question's opening.
fn as_title(summary: &str) -> String {
    let line = plain_line(summary);
    let dotless = line.trim_end_matches("...");
    let was_cut = dotless.len() < line.len();
    let parts = sentences(dotless);
    let first = parts.iter().copied().find(|part| content_count(part) >= 2).unwrap_or(dotless);
    let point = without_openings(first, Speaker::Person);
    let point = if point.is_empty() { first } else { point };
    let point = without_question(point);
    let point = if was_cut || point.chars().count() > MAX_TITLE_CHARS { first_clause(point) } else { point };
    let title = title_length(&capitalised(closed(point)));
    if title.ends_with("...") { title } else { closed(&title).to_owned() }
}

/// "How do I set up X" → "set up X".
fn without_question(line: &str) -> &str {
    const OPENINGS: &[&str] = &[
        "how do i ",
        "how do we ",
        "how can i ",
        "how can we ",
        "how should i ",
        "how should we ",
        "how would i ",
        "how to ",
        "what's the best way to ",
        "what is the best way to ",
        "i'm getting ",
        "i am getting ",
        "i get ",
        "we get ",
        "there's ",
        "there is ",
        "wie kann ich ",
        "cómo puedo ",
        "¿cómo puedo ",
        "comment ",
    ];
    let lower = line.to_lowercase();
    let found = OPENINGS.iter().find(|opening| lower.starts_with(**opening));
    // Lower case may be longer than what it came from.
    found.and_then(|opening| line.get(opening.len()..)).filter(|rest| content_count(rest) > 0).unwrap_or(line)
}

/// Up to where a reader would breathe, if enough comes before it.
fn first_clause(line: &str) -> &str {
    const BREATHS: &[&str] = &[
        ", ",
        "; ",
        ": ",
        " - ",
        " – ",
        " — ",
        " (",
        " so that ",
        " because ",
        " such that ",
        " which ",
        " but ",
        " and then ",
        " in order to ",
        " when ",
        " if ",
        " while ",
        " after ",
        " before ",
        "，",
        "；",
        "：",
        "、",
        ", damit ",
        " para que ",
    ];
    let ends = BREATHS.iter().flat_map(|breath| line.match_indices(breath).map(|(at, _)| at));
    let fitting = ends.filter(|at| {
        let clause = &line[..*at];
        let chars = clause.chars().count();
        chars <= MAX_TITLE_CHARS
            && content_count(clause) >= 3
            && (chars >= 24 || clause.chars().any(super::sentence::is_wide))
    });
    fitting.max().map_or(line, |at| &line[..at])
}

fn closed(line: &str) -> &str {
    line.trim_end_matches(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '.' | ','
                    | ';'
                    | ':'
                    | '!'
                    | '?'
                    | '…'
                    | '-'
                    | '–'
                    | '—'
                    | '。'
                    | '，'
                    | '；'
                    | '：'
                    | '！'
                    | '？'
                    | '、'
            )
    })
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
