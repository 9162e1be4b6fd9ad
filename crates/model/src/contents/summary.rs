//! One line that says what a turn was about, taken from its own words.
//!
//! Invariant: one line of at most [`MAX_SUMMARY_CHARS`](super::MAX_SUMMARY_CHARS) characters, never empty.
//!
//! The person's first line that means something wins. If it is shorter than [`SHORT`], or only goes on with what was said
//! before, the answer's first line that means something is used where it is longer. An answer that only says how
//! something ended does not say of what: the prompt does, or the command or edit of the turn. What is shown as more than words, such
//! as a next block, says nothing here, nor does what was written for the system's own use.

use crate::blocks::without_blocks;
use crate::text::plain_text;

use super::blocks::{Kind, Line, lines};
use super::boilerplate::{
    Speaker, is_follow_up, is_looking, is_outcome, is_pictograph, point, without_closings, without_openings,
};
use super::cut::summary_length;
use super::inline::{plain_line, without_line_marks};
use super::scaffolding::without_scaffolding;
use super::sentence::{sentences, weight};
use super::terms::{bare_words, content_count, topic_terms};
use super::vocabulary::COMMON_HEADINGS;
use super::{EMPTY_SUMMARY, MAX_SUMMARY_CHARS};

/// A line of fewer characters leaves the word to the answer. A sign of a script without spaces counts twice.
const SHORT: usize = 20;
/// So much of a text is looked at from its beginning, and from its end: people write around what they paste.
const HEAD_BYTES: usize = 48 * 1024;
const TAIL_BYTES: usize = 8 * 1024;
/// So many lines of an answer may announce what it is going to do.
const ANSWER_LINES: usize = 12;

/// What a turn was about, in one line of at most [`MAX_SUMMARY_CHARS`] characters; [`EMPTY_SUMMARY`] if it says nothing.
pub fn extract_summary(prompt: &str, response: &str) -> String {
    summary_with_call(prompt, response, "")
}

/// The same for a turn that also ran a command or edited a file: the call's title, or nothing.
pub(crate) fn summary_with_call(prompt: &str, response: &str, call_title: &str) -> String {
    let prompt = plain_text(&without_blocks(&without_scaffolding(&looked_at(prompt))));
    let prompt_lines = lines(&prompt);
    let asked = asked(&prompt_lines);
    if let Some(asked) = &asked
        && (asked.stands_alone || weight(&asked.as_written) >= SHORT && !asked.is_follow_up)
    {
        return finished(&asked.line);
    }
    let response = plain_text(&without_blocks(&without_scaffolding(&looked_at(response))));
    let response_lines = lines(&response);
    let answered = answered(&response_lines);
    let called = || Some(plain_line(&plain_text(call_title))).filter(|line| content_count(line) > 0);
    let line = match (asked, answered) {
        (Some(asked), Some(answered)) if asked.is_follow_up || weight(&answered) > weight(&asked.as_written) => {
            answered
        }
        (Some(asked), _) if !asked.is_follow_up => asked.line,
        (Some(asked), _) => called().or_else(|| outcome(&response_lines)).unwrap_or(asked.line),
        (None, Some(answered)) => answered,
        (None, None) => {
            first_words(&prompt_lines).or_else(called).or_else(|| first_words(&response_lines)).unwrap_or_default()
        }
    };
    finished(&line)
}

/// The beginning, and the end if the text is long.
fn looked_at(text: &str) -> String {
    if text.len() <= HEAD_BYTES + TAIL_BYTES {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(HEAD_BYTES)];
    let tail = &text[text.ceil_char_boundary(text.len() - TAIL_BYTES)..];
    // The line that the cut goes through is in neither half.
    let tail = tail.split_once('\n').map_or("", |(_, whole)| whole);
    format!("{head}\n\n{tail}")
}

/// What the person asked for.
struct Asked {
    /// The line from its first word that says something.
    line: String,
    /// The same before its openings were taken off: its length decides whether it is short.
    as_written: String,
    /// It needs no answer beside it: a slash command, a pasted error.
    stands_alone: bool,
    is_follow_up: bool,
}

fn asked(lines: &[Line<'_>]) -> Option<Asked> {
    let mut prose: Vec<(usize, &Line<'_>)> =
        lines.iter().enumerate().filter(|(_, line)| line.kind == Kind::Prose).collect();
    // Below a paste stands what to do with it.
    let begins_with_paste = lines.first().is_some_and(|line| line.kind != Kind::Prose);
    let last_paragraph = lines.last().map(|line| line.paragraph);
    if begins_with_paste {
        let last = prose.iter().position(|(_, line)| Some(line.paragraph) == last_paragraph);
        prose.rotate_left(last.unwrap_or(0));
    }
    let mut lead_in: Option<(usize, Asked)> = None;
    let mut follow_up = None;
    for (at, line) in prose {
        let Some(asked) = meaning(line.text) else { continue };
        if asked.stands_alone {
            return Some(asked);
        }
        let leads_in = lines.get(at + 1).is_some_and(|next| next.kind != Kind::Prose) && is_lead_in(&asked.line);
        if leads_in {
            lead_in.get_or_insert((at, asked));
        } else if asked.is_follow_up {
            follow_up.get_or_insert(asked);
        } else {
            return Some(asked);
        }
    }
    if let Some((at, asked)) = lead_in {
        let error = error_line(&lines[at..]).or_else(|| error_line(lines));
        return Some(match error {
            Some(error) => {
                let line = format!("{}: {error}", asked.line.trim_end_matches(is_closing));
                Asked { as_written: line.clone(), line, stands_alone: true, is_follow_up: false }
            }
            None => asked,
        });
    }
    let error =
        error_line(lines).map(|line| Asked { as_written: line.clone(), line, stands_alone: true, is_follow_up: false });
    error.or(follow_up)
}

fn meaning(text: &str) -> Option<Asked> {
    let as_written = plain_line(text);
    if is_slash_command(&as_written) {
        return Some(Asked { line: as_written.clone(), as_written, stands_alone: true, is_follow_up: false });
    }
    if is_common_heading(text) {
        return None;
    }
    let point = without_closings(without_openings(after_thanks(&as_written), Speaker::Person));
    let is_follow_up = is_follow_up(&as_written) || points_back(point);
    if is_follow_up && !as_written.chars().any(char::is_alphanumeric) {
        return None;
    }
    if point.is_empty() || is_follow_up {
        // A bare greeting says less than the line below it; a bare "2" may be all there is.
        return Some(Asked { line: as_written.clone(), as_written, stands_alone: false, is_follow_up: true });
    }
    let line = best_sentence(point, Speaker::Person);
    let line = if line.len() < as_written.len() { capitalised(line) } else { line.to_owned() };
    Some(Asked { line, as_written, stands_alone: false, is_follow_up: false })
}

/// The line without sentences at its beginning that only say "thank you, good".
fn after_thanks(line: &str) -> &str {
    let mut rest = line;
    for sentence in sentences(line) {
        let after = rest.trim_start().get(sentence.len()..).unwrap_or_default();
        if !is_follow_up(sentence) || !after.chars().any(char::is_alphanumeric) {
            break;
        }
        rest = after;
    }
    rest.trim_start()
}

/// "Make that change for me": words of any work, and a word that points at what was said.
fn points_back(point: &str) -> bool {
    let points = bare_words(point)
        .any(|word| matches!(word.as_str(), "it" | "that" | "this" | "them" | "those" | "these" | "das"));
    points && content_count(point) < 3 && topic_terms(point).is_empty()
}

/// "Here is the log:": it leads to a paste and says nothing about it.
fn is_lead_in(line: &str) -> bool {
    line.ends_with([':', '：']) && topic_terms(line).len() < 2 || content_count(line) < 2
}

/// The person's whole line if it fits; else the first sentence that asks for something, or else the first.
fn best_sentence(line: &str, speaker: Speaker) -> &str {
    if line.chars().count() <= MAX_SUMMARY_CHARS {
        return line;
    }
    let sentences = sentences(line);
    let mut first = None;
    for sentence in sentences.into_iter().take(8) {
        let point = point(sentence, speaker);
        if point.is_request && topic_terms(point.words).len() >= 2 && !(first.is_some() && names_it(point.words)) {
            return without_closings(point.words);
        }
        if first.is_none() && content_count(point.words) >= 2 && !is_follow_up(sentence) {
            first = Some(point.words);
        }
    }
    first.unwrap_or(line)
}

/// "Split it by duty": only the sentence before says what it is.
fn names_it(point: &str) -> bool {
    bare_words(point)
        .nth(1)
        .is_some_and(|word| matches!(word.as_str(), "it" | "this" | "that" | "them" | "these" | "those"))
}

/// The first line of an answer that tells what it is about rather than what it is going to look at.
fn answered(lines: &[Line<'_>]) -> Option<String> {
    let mut announced = None;
    for line in lines.iter().filter(|line| line.kind == Kind::Prose).take(ANSWER_LINES) {
        if is_common_heading(line.text) {
            continue;
        }
        for sentence in sentences(&plain_line(line.text)) {
            let point = without_openings(sentence, Speaker::Agent);
            if point.is_empty() || content_count(point) == 0 || is_follow_up(point) || is_outcome(point) {
                continue;
            }
            let found = if point.len() < sentence.len() { capitalised(point) } else { point.to_owned() };
            if is_looking(sentence, point)
                || content_count(point) < 2
                || point.ends_with([':', '：']) && content_count(point) < 3
            {
                announced.get_or_insert(found);
            } else {
                return Some(found);
            }
        }
    }
    announced.or_else(|| error_line(lines))
}

/// The first line that says how something ended, for a turn in which nothing says what.
fn outcome(lines: &[Line<'_>]) -> Option<String> {
    let mut prose = lines.iter().filter(|line| line.kind == Kind::Prose).map(|line| plain_line(line.text));
    prose.find(|line| is_outcome(line) && content_count(line) > 0)
}

fn error_line(lines: &[Line<'_>]) -> Option<String> {
    let at = lines.iter().position(|line| line.kind == Kind::Error)?;
    let text = lines[at].text.trim().trim_start_matches("E   ").trim();
    let text = text.split_once("panicked at").map_or(text, |(thread, _)| &text[thread.len()..]);
    // A panic tells the place first and the reason below.
    let reason =
        lines.get(at + 1).map(|next| next.text.trim()).filter(|_| text.starts_with("panicked") && text.ends_with(':'));
    let line = plain_line(text);
    Some(match reason {
        Some(reason) => format!("{line} {}", plain_line(reason)),
        None => line,
    })
}

/// Nobody's own words: the first that are there at all.
fn first_words(lines: &[Line<'_>]) -> Option<String> {
    lines
        .iter()
        .map(|line| plain_line(line.text))
        .find(|line| line.chars().any(char::is_alphanumeric))
        .or_else(|| lines.first().map(|line| plain_line(line.text)))
}

pub(super) fn is_slash_command(line: &str) -> bool {
    let name = line.strip_prefix('/').and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
}

fn is_common_heading(text: &str) -> bool {
    let marked = without_line_marks(text);
    let bare = plain_line(marked).to_lowercase();
    let bare = bare.trim_matches(|c: char| !c.is_alphanumeric());
    COMMON_HEADINGS.contains(bare)
}

/// Closing marks that a line of contents does not need. A question stays one.
fn is_closing(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '.' | ',' | ':' | ';' | '!' | '。' | '，' | '：' | '；' | '！' | '、')
        || is_pictograph(c)
}

fn finished(line: &str) -> String {
    let line = line.trim_matches(|c: char| c.is_whitespace() || is_pictograph(c));
    let closed = line.trim_end_matches(is_closing);
    let line = if closed.is_empty() { line } else { closed };
    if line.is_empty() { EMPTY_SUMMARY.to_owned() } else { summary_length(line) }
}

/// With a large first letter, unless the first word is a name.
pub(super) fn capitalised(line: &str) -> String {
    let first_word = line.split_whitespace().next().unwrap_or_default();
    let is_plain =
        first_word.trim_end_matches(|c: char| !c.is_alphanumeric()).chars().all(|c| c.is_lowercase() || c == '\'');
    let mut chars = line.chars();
    match chars.next() {
        Some(first) if is_plain => first.to_uppercase().chain(chars).collect(),
        Some(_) | None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests;
