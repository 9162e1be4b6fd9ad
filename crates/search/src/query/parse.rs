//! From what was typed to a query: chunks between spaces, quotes around phrases, a minus before what is not wanted.

use super::filter::Read;
use super::{Clause, Filter, FilterField, Mode, Query};

/// How much of what was typed is looked at.
const MAX_BYTES: usize = 4 << 10;
/// How many words and filters.
const MAX_CLAUSES: usize = 48;

/// What stands between two spaces, or in quotes.
struct Chunk<'a> {
    excluded: bool,
    key: Option<&'a str>,
    text: &'a str,
    quoted: bool,
    /// Nothing ended it: neither a space nor a quote.
    open: bool,
    source: &'a str,
}

pub(super) fn parse(typed: &str) -> Query {
    let (text, mut notes) = bounded(typed);
    // Cut in the middle, its last word is not one that somebody is still typing.
    let cut = !notes.is_empty();
    let (mut clauses, mut filters, mut raw) = (Vec::new(), Vec::new(), Vec::new());
    let mut rest = text.as_str();
    while let Some(chunk) = next_chunk(&mut rest) {
        if clauses.len() + filters.len() >= MAX_CLAUSES {
            notes.push(format!("only the first {MAX_CLAUSES} words were used"));
            break;
        }
        let Chunk { excluded, key, text, quoted, open, source } = chunk;
        let read = key.map(|key| FilterField::read(key, text));
        if let (Some(Read::Nearly(nearest)), Some(key), false) = (&read, key, open) {
            notes.push(format!("{key}: is no filter, so it is looked for as words; did you mean {nearest}:?"));
        }
        match read {
            Some(Read::FilterField(field)) => filters.push(Filter { excluded, field }),
            Some(Read::Senseless(note)) => notes.push(note),
            Some(Read::NoFilter | Read::Nearly(_)) | None => {
                let words = if key.is_some() { source } else { text };
                let (words, starred) = match words.strip_suffix('*').filter(|_| !quoted) {
                    Some(words) => (words, true),
                    None => (words, false),
                };
                if words == "AND" || words.is_empty() {
                    continue;
                }
                let clause = Clause::new(words, excluded, quoted, starred || (open && !cut && !excluded));
                if clause.patterns.is_empty() && !excluded {
                    notes.push(format!("{} has no letters or digits", model::first_line(words, 40)));
                }
                if !excluded {
                    raw.push(source);
                }
                clauses.push(clause);
            }
        }
    }
    let everything = clauses.iter().all(|clause| !clause.excluded) && filters.is_empty();
    let raw = if everything { text.trim().to_owned() } else { raw.join(" ") };
    Query { mode: Mode::Words, clauses, filters, notes, raw }
}

/// What is looked at of what was typed, without control characters.
pub(super) fn bounded(typed: &str) -> (String, Vec<String>) {
    let (text, notes) = match typed.len() {
        ..=MAX_BYTES => (typed, Vec::new()),
        _ => {
            let end = typed.floor_char_boundary(MAX_BYTES);
            (&typed[..end], vec![format!("only the first {MAX_BYTES} bytes were used")])
        }
    };
    (text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(), notes)
}

fn next_chunk<'a>(rest: &mut &'a str) -> Option<Chunk<'a>> {
    let text = rest.trim_start();
    if text.is_empty() {
        return None;
    }
    let (excluded, body) = match text.strip_prefix('-') {
        Some(body) if body.starts_with('"') || body.starts_with(char::is_alphanumeric) => (true, body),
        _ => (false, text),
    };
    let word = &body[..body.find(char::is_whitespace).unwrap_or(body.len())];
    let (key, value) = match word.split_once(':') {
        Some((key, _)) if !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            (Some(key), &body[key.len() + 1..])
        }
        _ => (None, body),
    };
    if let Some(quoted) = value.strip_prefix('"') {
        let (phrase, after, open) = match quoted.split_once('"') {
            Some((phrase, after)) => (phrase, after, false),
            None => (quoted, "", !quoted.ends_with(char::is_whitespace)),
        };
        *rest = after;
        let source = &body[..body.len() - after.len()];
        return Some(Chunk { excluded, key, text: phrase, quoted: true, open, source });
    }
    *rest = &body[word.len()..];
    let text = key.map_or(word, |key| &word[key.len() + 1..]);
    Some(Chunk { excluded, key, text, quoted: false, open: rest.is_empty(), source: word })
}
