//! Removes what people and agents say before they come to the point.
//!
//! Invariant: the result is the end of what came in; nothing but an opening is taken off.

use std::collections::BTreeSet;

use super::terms::bare_words;
use super::vocabulary::{
    ANSWER_ASIDES, ANSWER_OPENINGS, FOLLOW_UP_WORDS, LOOKING_VERBS, OUTCOME_WORDS, PROMPT_ASIDES, PROMPT_OPENINGS,
    REQUEST_OPENINGS, UNSPACED_OPENINGS,
};

/// Who wrote a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    Person,
    Agent,
}

/// What may close a prompt.
const CLOSINGS: [&str; 9] = ["please", "pls", "plz", "thanks", "thank you", "thx", "bitte", "danke", "por favor"];
/// More openings than this in a row are somebody's joke.
const MAX_OPENINGS: usize = 10;

/// A line from its first word that says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Point<'a> {
    /// Empty if there is no such word.
    pub(super) words: &'a str,
    /// An opening that was taken off asked for something.
    pub(super) is_request: bool,
}

pub(super) fn without_openings(line: &str, speaker: Speaker) -> &str {
    point(line, speaker).words
}

pub(super) fn point(line: &str, speaker: Speaker) -> Point<'_> {
    let none = BTreeSet::new();
    let (openings, asides, requests, unspaced) = match speaker {
        Speaker::Person => (&*PROMPT_OPENINGS, &*PROMPT_ASIDES, &*REQUEST_OPENINGS, &*UNSPACED_OPENINGS),
        Speaker::Agent => (&*ANSWER_OPENINGS, &*ANSWER_ASIDES, &none, &none),
    };
    let mut point = Point { words: line.trim(), is_request: false };
    for _ in 0..MAX_OPENINGS {
        let words = point.words.trim_start_matches(['¿', '¡']);
        let other = asides
            .iter()
            .filter_map(|phrase| after_aside(words, phrase))
            .chain(openings.iter().filter_map(|phrase| after_opening(words, phrase)))
            .chain(unspaced.iter().filter_map(|phrase| words.strip_prefix(*phrase)))
            .chain(own_deed(words, speaker))
            .chain(after_marks(words))
            .min_by_key(|rest| rest.len());
        let request = requests.iter().filter_map(|phrase| after_opening(words, phrase)).min_by_key(|rest| rest.len());
        point = match (request, other) {
            (Some(request), other) if other.is_none_or(|other| request.len() <= other.len()) => {
                Point { words: request.trim_start(), is_request: true }
            }
            (_, Some(other)) => Point { words: other.trim_start(), ..point },
            (_, None) => break,
        };
    }
    point
}

/// Dashes, commas and pictures before the first word.
fn after_marks(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(is_separator);
    (rest.len() < line.len()).then_some(rest)
}

/// "go on", "yes please", "2": it says nothing without what was said before.
pub(super) fn is_follow_up(line: &str) -> bool {
    bare_words(line).all(|word| {
        FOLLOW_UP_WORDS.contains(word.as_str()) || is_number(&word) || !word.chars().any(char::is_alphanumeric)
    })
}

/// "It ended with exit code 0", "The changes were applied": it says how something ended, and not what.
pub(super) fn is_outcome(line: &str) -> bool {
    // "3s" is a number with its unit.
    bare_words(line).all(|word| OUTCOME_WORDS.contains(word.trim_start_matches(char::is_numeric)) || is_number(&word))
}

fn is_number(word: &str) -> bool {
    word.chars().all(char::is_numeric)
}

/// "Let me look at the file first": the agent tells what it does, not what it found.
pub(super) fn is_looking(line: &str, without_openings: &str) -> bool {
    let lower = lowered(line, 24);
    let announces = ["let me", "i'll", "i will", "now let me", "now i'll", "i'm going to", "let's", "first"]
        .iter()
        .any(|opening| lower.starts_with(opening));
    let verb = without_openings.split_whitespace().next().unwrap_or_default().to_lowercase();
    announces && LOOKING_VERBS.contains(verb.trim_end_matches(|c: char| !c.is_alphanumeric()))
}

/// "I fixed the test" → "fixed the test".
fn own_deed(line: &str, speaker: Speaker) -> Option<&str> {
    let rest = line.strip_prefix("I ").filter(|_| speaker == Speaker::Agent)?;
    let verb = rest.split(' ').next()?;
    let is_deed = verb.ends_with("ed")
        || ["found", "ran", "wrote", "made", "built", "set", "read", "split", "put"].contains(&verb);
    is_deed.then_some(rest)
}

/// Without the "please" and "thanks" that close a line.
pub(super) fn without_closings(line: &str) -> &str {
    let mut line = line.trim_end();
    loop {
        let bare = line.trim_end_matches(is_separator);
        let shorter = CLOSINGS.iter().find_map(|closing| {
            let start = bare.len().checked_sub(closing.len())?;
            let found = bare.get(start..)?.eq_ignore_ascii_case(closing) && bare[..start].ends_with([' ', ',']);
            found.then(|| bare[..start].trim_end_matches([' ', ',']))
        });
        match shorter {
            Some(shorter) if shorter.trim_start().contains(' ') => line = shorter,
            Some(_) | None => return line,
        }
    }
}

/// What follows the phrase, if a word ends there.
fn after_opening<'a>(line: &'a str, phrase: &str) -> Option<&'a str> {
    let rest = after_phrase(line, phrase)?;
    // `Next.js`, `so-called`, `now()` are names.
    let ends = rest.is_empty() || rest.starts_with(char::is_whitespace) || starts_with_stop(rest);
    ends.then_some(rest)
}

/// What follows the phrase, if the phrase stands for itself.
fn after_aside<'a>(line: &'a str, phrase: &str) -> Option<&'a str> {
    let rest = after_phrase(line, phrase)?;
    let dashed = rest.trim_start().starts_with(['-', '–', '—']);
    (rest.is_empty() || starts_with_stop(rest) || dashed).then(|| rest.trim_start_matches(is_separator))
}

fn starts_with_stop(rest: &str) -> bool {
    let mut chars = rest.chars();
    match chars.next() {
        Some('，' | '。' | '！' | '？' | '、' | '：' | '；' | '～' | '…') => true,
        Some('.' | ',' | '!' | ':' | ';' | '?' | ')') => chars.next().is_none_or(|c| !c.is_alphanumeric()),
        Some(_) | None => false,
    }
}

fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '.' | ','
                | '!'
                | ':'
                | ';'
                | '?'
                | ')'
                | '-'
                | '–'
                | '—'
                | '…'
                | '，'
                | '。'
                | '！'
                | '？'
                | '、'
                | '：'
                | '；'
                | '～'
        )
        || is_pictograph(c)
}

/// Smileys and ticks that begin or end a line.
pub(super) fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}' | '\u{2b00}'..='\u{2bff}' | '\u{fe0f}' | '\u{fe0e}')
}

fn after_phrase<'a>(line: &'a str, phrase: &str) -> Option<&'a str> {
    let mut rest = line.chars();
    for expected in phrase.chars() {
        let c = rest.next()?;
        let same = match c {
            '’' => expected == '\'',
            _ => c.to_lowercase().eq(expected.to_lowercase()),
        };
        if !same {
            return None;
        }
    }
    Some(rest.as_str())
}

/// The beginning of a line for comparing.
fn lowered(line: &str, chars: usize) -> String {
    line.chars().take(chars).map(|c| if c == '’' { '\'' } else { c }).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_come_to_the_point() {
        for (line, expected) in [
            ("Hi there! Could you please fix the login page?", "fix the login page?"),
            ("ok so now let's add a cache", "add a cache"),
            ("Great, thanks! Next: rename it", "rename it"),
            ("Next.js build fails", "Next.js build fails"),
            ("Great Expectations suite is red", "Great Expectations suite is red"),
            ("no, use a Vec", "use a Vec"),
            ("So-called users are bots", "So-called users are bots"),
            ("Kannst du bitte die Tests reparieren?", "die Tests reparieren?"),
            ("请帮我修复登录页面", "修复登录页面"),
            ("hello", ""),
            ("I’d like you to explain monads", "explain monads"),
        ] {
            assert_eq!(without_openings(line, Speaker::Person), expected, "{line}");
        }
    }

    #[test]
    fn agents_come_to_the_point() {
        for (line, expected) in [
            ("Sure! I'll add a retry.", "add a retry."),
            ("Great question! The cache is cold.", "The cache is cold."),
            ("✅ Done. I've added two tests.", "added two tests."),
            ("I fixed the parser", "fixed the parser"),
            ("You're absolutely right — the index is off", "the index is off"),
            ("好的，我修复了登录", "我修复了登录"),
        ] {
            assert_eq!(without_openings(line, Speaker::Agent), expected, "{line}");
        }
    }

    #[test]
    fn a_closing_please_goes() {
        assert_eq!(without_closings("convert to a set, please."), "convert to a set");
        assert_eq!(without_closings("fix it pls, thanks!"), "fix it");
        assert_eq!(without_closings("say thanks"), "say thanks");
        assert_eq!(without_closings("why?"), "why?");
    }

    #[test]
    fn an_outcome_does_not_say_of_what() {
        for line in [
            "It ended with exit code 0.",
            "Exit code: 137",
            "The command completed successfully in 0.4s.",
            "That did not run.",
            "All changes have been applied.",
        ] {
            assert!(is_outcome(line), "{line}");
        }
        for line in ["cargo test ended with exit code 0.", "All 12 tests pass now.", "The parser failed."] {
            assert!(!is_outcome(line), "{line}");
        }
    }

    #[test]
    fn follow_ups_say_nothing_by_themselves() {
        for line in
            ["yes", "2", "ok do it", "continue", "Sounds good, go ahead!", "好的，继续", "ja, mach weiter", "👍", "..."]
        {
            assert!(is_follow_up(line), "{line}");
        }
        for line in ["yes, and add tests", "2 more columns", "修复登录", "why?"] {
            assert!(!is_follow_up(line), "{line}");
        }
    }
}
