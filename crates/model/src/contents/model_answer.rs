//! Makes a model's answer a summary or a title, or refuses it.
//!
//! Invariant: a model's answer is a stranger's text. What leaves here is one plain line of the right length.

use crate::one_line;
use crate::text::plain_text;

use super::boilerplate::is_follow_up;
use super::cut::{summary_length, title_length};
use super::inline::plain_line;

/// So much of an answer is looked at.
const LOOK_CHARS: usize = 8_000;

/// A model's summary as it is kept; nothing if it is empty or no sentence at all.
pub fn clean_summary(answer: &str) -> Option<String> {
    cleaned(answer, &["summary", "one-line summary"]).map(|line| summary_length(&line))
}

/// A model's title as it is kept; nothing if it is empty or no title at all.
pub fn clean_title(answer: &str) -> Option<String> {
    cleaned(answer, &["title", "session title", "new title"]).map(|line| title_length(&line))
}

fn cleaned(answer: &str, labels: &[&str]) -> Option<String> {
    let head: String = answer.chars().take(LOOK_CHARS).collect();
    let text = plain_text(&head);
    let text = without_thoughts(&text)?;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("```"))?;
    if is_data(text.trim()) {
        return None;
    }
    let line = without_tags(line);
    let mut line = one_line(&plain_line(&line), LOOK_CHARS);
    if let Some((label, rest)) = line.split_once(':')
        && labels.contains(&label.trim().to_lowercase().as_str())
    {
        line = rest.to_owned();
    }
    let line = unquoted(&line);
    let says_something = line.chars().any(char::is_alphanumeric) && !is_follow_up(line);
    says_something.then(|| line.to_owned())
}

/// Some models think aloud before they answer. One that was cut while thinking answered nothing.
fn without_thoughts(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let opened = ["<think>", "<thinking>"].iter().any(|tag| text.starts_with(tag));
    match text.find("</think") {
        Some(end) => text[end..].split_once('>').map(|(_, answer)| answer),
        None => (!opened).then_some(text),
    }
}

/// A whole answer of JSON or markup.
fn is_data(text: &str) -> bool {
    let text = text.trim_start_matches("```json").trim_start_matches("```").trim_end_matches("```").trim();
    let is_json =
        text.starts_with('{') || text.starts_with('[') && serde_json::from_str::<serde_json::Value>(text).is_ok();
    let lower: String = text.chars().take(20).flat_map(char::to_lowercase).collect();
    let is_page =
        ["<!doctype", "<html", "<?xml", "<head", "<body", "<svg", "<script"].iter().any(|tag| lower.starts_with(tag));
    is_json || is_page
}

/// Without HTML. `Vec<String>` is none.
fn without_tags(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        kept.push_str(before);
        match tag_length(from) {
            Some(length) => {
                rest = &from[length..];
                // Two words that only a tag kept apart.
                if !kept.ends_with(char::is_whitespace) && from.starts_with("<br") {
                    kept.push(' ');
                }
            }
            None => {
                kept.push('<');
                rest = &from[1..];
            }
        }
    }
    kept.push_str(rest);
    kept
}

fn tag_length(from: &str) -> Option<usize> {
    const TAGS: &[&str] = &[
        "a", "b", "br", "body", "button", "center", "code", "div", "em", "font", "form", "h1", "h2", "h3", "h4", "h5",
        "h6", "head", "hr", "html", "i", "iframe", "img", "input", "kbd", "li", "link", "mark", "meta", "object", "ol",
        "p", "pre", "q", "s", "script", "small", "span", "strong", "style", "sub", "summary", "sup", "svg", "table",
        "tbody", "td", "th", "title", "tr", "u", "ul", "video",
    ];
    let inner = &from[1..from.char_indices().take(400).find(|(_, c)| *c == '>')?.0];
    let name = inner.trim_start_matches('/');
    let name: String = name.chars().take_while(char::is_ascii_alphanumeric).collect();
    let is_tag = TAGS.contains(&name.to_ascii_lowercase().as_str()) || inner.starts_with("!--");
    is_tag.then_some(inner.len() + 2)
}

/// Without quotes around it and without closing punctuation, however they are nested.
fn unquoted(line: &str) -> &str {
    let mut line = line.trim();
    loop {
        let mut shorter = line.trim_end_matches(|c: char| {
            c.is_whitespace() || matches!(c, '.' | ',' | ';' | ':' | '!' | '。' | '，' | '；' | '：' | '！' | '、')
        });
        for (open, close) in [
            ('"', '"'),
            ('\'', '\''),
            ('`', '`'),
            ('“', '”'),
            ('„', '“'),
            ('‘', '’'),
            ('«', '»'),
            ('»', '«'),
            ('「', '」'),
            ('『', '』'),
            ('《', '》'),
            ('*', '*'),
        ] {
            let inner = shorter.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
            // `"a" and "b"` is not quoted as a whole.
            if let Some(inner) = inner.filter(|inner| !inner.contains([open, close])) {
                shorter = inner.trim();
            }
        }
        // A quote that a length limit left open.
        if let Some(rest) =
            shorter.strip_prefix(['"', '“', '「', '`']).filter(|rest| !rest.contains(['"', '”', '」', '`']))
        {
            shorter = rest.trim_start();
        }
        if shorter.len() == line.len() {
            return line;
        }
        line = shorter;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_becomes_a_summary() {
        for (answer, expected) in [
            ("  \"Added OAuth login to the API.\"\nMore words", Some("Added OAuth login to the API")),
            ("Summary: **Fix** `parse()` in Vec<String>!", Some("Fix parse() in Vec<String>")),
            ("<p>Fix the <b>login</b></p>", Some("Fix the login")),
            ("\u{1b}[31mFix\u{1b}[0m\u{202e} it all\u{7}", Some("Fix it all")),
            ("“修复登录页面。”", Some("修复登录页面")),
            ("<think>\nThe user wants\n</think>\n\nFix the parser", Some("Fix the parser")),
            ("<think>\nThe user wants", None),
            ("{\"summary\": \"x\"}", None),
            ("```json\n{\"summary\": \"x\"}\n```", None),
            ("<!DOCTYPE html><html><body>502</body></html>", None),
            ("<div></div>", None),
            ("", None),
            (" \n\"...\"", None),
            ("'Compare \"a\" and \"b\"'", Some("Compare \"a\" and \"b\"")),
        ] {
            assert_eq!(clean_summary(answer).as_deref(), expected, "{answer}");
        }
        let long = clean_summary(&"word ".repeat(100)).unwrap();
        assert!(long.chars().count() <= 100 && long.ends_with("word..."), "{long}");
    }

    #[test]
    fn an_answer_becomes_a_title() {
        assert_eq!(clean_title("Title: \"OAuth login\"").as_deref(), Some("OAuth login"));
        assert_eq!(clean_title(&"word ".repeat(100)).unwrap(), "word ".repeat(12).trim_end());
        assert_eq!(clean_title(&"x".repeat(70)).unwrap(), format!("{}...", "x".repeat(57)));
        assert_eq!(clean_title("\"\""), None);
    }
}
