//! Cuts lines to a length, by characters.
//!
//! Invariant: what comes out has at most the asked number of characters, the dots included.

use super::{MAX_SUMMARY_CHARS, MAX_TITLE_CHARS};

const DOTS: &str = "...";

/// At a word's end past the middle, else in the middle of a word; both with dots.
pub(super) fn summary_length(line: &str) -> String {
    let Some(head) = head(line, MAX_SUMMARY_CHARS) else { return line.to_owned() };
    let room = byte_of(head, MAX_SUMMARY_CHARS - DOTS.len());
    let cut = word_end(head, room, MAX_SUMMARY_CHARS / 2).unwrap_or(room);
    format!("{}{DOTS}", head[..cut].trim_end_matches(is_loose_end))
}

/// At a word's end past the middle without dots, else in the middle of a word with them.
pub(super) fn title_length(line: &str) -> String {
    let Some(head) = head(line, MAX_TITLE_CHARS) else { return line.to_owned() };
    // The word that ends right at the limit is whole.
    let limit = if line[head.len()..].starts_with(' ') { head.len() } else { word_start(head) };
    match word_end(head, limit, MAX_TITLE_CHARS / 2) {
        Some(cut) => head[..cut].trim_end_matches(is_loose_end).to_owned(),
        None => format!("{}{DOTS}", head[..byte_of(head, MAX_TITLE_CHARS - DOTS.len())].trim_end()),
    }
}

/// The first `chars` characters, if there are more.
pub(super) fn head(line: &str, chars: usize) -> Option<&str> {
    line.char_indices().nth(chars).map(|(end, _)| &line[..end])
}

/// The end of the last whole word before `limit`, if it lies past `least` characters.
fn word_end(line: &str, limit: usize, least: usize) -> Option<usize> {
    let at_space = if line[limit..].starts_with(' ') { Some(limit) } else { None };
    let end = at_space.or_else(|| if limit == line.len() { Some(limit) } else { line[..limit].rfind(' ') })?;
    (line[..end].chars().count() > least).then_some(end)
}

/// Where the last, perhaps unfinished word begins.
fn word_start(line: &str) -> usize {
    line.rfind(' ').unwrap_or(0)
}

fn byte_of(line: &str, chars: usize) -> usize {
    line.char_indices().nth(chars).map_or(line.len(), |(at, _)| at)
}

/// What looks odd before dots or at the end of a title.
fn is_loose_end(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';' | ':' | '-' | '–' | '—' | '(' | '[' | '.' | '，' | '、' | '；' | '：')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_cut_at_a_word_past_the_middle() {
        let words = "word ".repeat(30);
        let cut = summary_length(&words);
        assert_eq!(cut, format!("{}word...", "word ".repeat(18)));
        assert_eq!(summary_length(&"x".repeat(101)), format!("{}...", "x".repeat(97)));
        let early = format!("{} {}", "a".repeat(40), "b".repeat(80));
        assert_eq!(summary_length(&early), format!("{} {}...", "a".repeat(40), "b".repeat(56)));
        assert_eq!(summary_length(&"ä".repeat(100)), "ä".repeat(100));
    }

    #[test]
    fn a_title_is_cut_without_dots_where_a_word_ends() {
        assert_eq!(title_length(&"word ".repeat(30)), "word ".repeat(12).trim_end());
        let exact = format!("{} more", "x".repeat(60));
        assert_eq!(title_length(&exact), "x".repeat(60));
        assert_eq!(title_length(&"x".repeat(61)), format!("{}...", "x".repeat(57)));
        let early = format!("{} {}", "a".repeat(20), "b".repeat(80));
        assert_eq!(title_length(&early), format!("{} {}...", "a".repeat(20), "b".repeat(36)));
        assert_eq!(title_length(&format!("{} and more words", "a".repeat(50))), format!("{} and more", "a".repeat(50)));
    }
}
