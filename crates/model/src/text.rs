//! Small pure functions over text that several folds share.

use std::iter::Peekable;
use std::str::Chars;

use crate::limits::MAX_PART_BYTES;

/// The first line of `text` that says something, cut to `max_chars` characters.
pub fn first_line(text: &str, max_chars: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(max_chars) {
        None => line.to_owned(),
        Some(_) => {
            let kept: String = line.chars().take(max_chars - 1).collect();
            format!("{}…", kept.trim_end())
        }
    }
}

/// Whether a prompt is a command of the agent's own, such as `/review`: as it was typed, it begins with a slash. A path at
/// the beginning counts too, since only the agent knows its commands.
pub fn is_slash_command(prompt: &str) -> bool {
    prompt.starts_with('/')
}

/// A text in parts of at most [`MAX_PART_BYTES`], cut between characters.
pub fn parts(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (part, rest) = text.split_at(text.floor_char_boundary(MAX_PART_BYTES));
        text = rest;
        (!part.is_empty()).then_some(part)
    })
}

/// One line of at most so many characters, without what breaks lines, turns their direction or hides.
pub fn one_line(text: &str, max_chars: usize) -> String {
    let spaced = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !is_hidden(*c));
    let line: String = spaced.collect();
    let words = line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    first_line(&words, max_chars)
}

/// Control characters, marks that turn the direction of text, and what shows nothing.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// `text` without terminal escape sequences and without what hides or turns the direction of text. Line breaks and tabs
/// stay.
pub fn plain_text(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => match rest.peek().copied() {
                Some('[') => {
                    rest.next();
                    skip_control_sequence(&mut rest);
                }
                Some(']' | 'P' | '_' | '^' | 'X') => skip_control_string(&mut rest),
                Some('(' | ')' | '#' | '%') => {
                    rest.next();
                    rest.next();
                }
                Some('0'..='~') => {
                    rest.next();
                }
                Some(_) | None => {}
            },
            '\u{9b}' => skip_control_sequence(&mut rest),
            '\r' if rest.peek() == Some(&'\n') => {}
            '\r' | '\u{2028}' | '\u{2029}' | '\u{85}' | '\u{b}' | '\u{c}' => plain.push('\n'),
            '\n' | '\t' => plain.push(c),
            _ if is_hidden(c) => {}
            _ => plain.push(c),
        }
    }
    plain
}

/// Parameters, then the one letter that ends them. A line break ends a sequence that somebody cut.
fn skip_control_sequence(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    rest.next_if(|c| matches!(c, '@'..='~'));
}

/// A title or the like: up to a bell, an escape or the end of the line.
fn skip_control_string(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|c| !matches!(c, '\u{7}' | '\u{1b}' | '\u{9c}' | '\n')).is_some() {}
    if rest.next_if_eq(&'\u{1b}').is_some() {
        rest.next_if_eq(&'\\');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_with_words_is_taken_and_cut_by_characters() {
        assert_eq!(first_line("\n  \n  fix the tests \nnow", 60), "fix the tests");
        assert_eq!(first_line("äöüäöü", 4), "äöü…");
        assert_eq!(first_line("äöüä", 4), "äöüä");
        assert_eq!(first_line("", 4), "");
    }

    #[test]
    fn one_line_hides_nothing() {
        assert_eq!(one_line("a\n\nb\u{1b}[31m\u{202e}c\u{e0041}  d", 100), "a b[31mc d");
        assert_eq!(one_line(&"x".repeat(20), 5), "xxxx…");
    }

    #[test]
    fn plain_text_has_no_escapes_and_nothing_hidden() {
        let evil =
            "say \u{1b}[1;31mred\u{1b}[0m\u{1b}]0;title\u{7} now\u{9b}2J\u{202e}back\r\n\tend\u{200b}\u{1b}(B!\u{1b}";
        assert_eq!(plain_text(evil), "say red nowback\n\tend!");
        assert_eq!(plain_text("cut \u{1b}[3\nnext"), "cut \nnext");
    }
}
