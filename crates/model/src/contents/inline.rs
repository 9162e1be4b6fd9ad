//! Renders a line of Markdown as plain text: no marks, no link targets, short addresses and paths.
//!
//! Invariant: only marks are taken away, and what stands in backticks is kept as it is.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

/// A line longer than this is not read to its end.
const MAX_LINE_CHARS: usize = 2_000;
/// Of a longer path the end is shown.
const MAX_PATH_CHARS: usize = 40;

/// Put before a line, it lets only marks inside of lines be marks: no definition, no rule, no block of HTML.
const BEFORE: &str = "x ";

/// The line without its markdown, whitespace folded.
pub(super) fn plain_line(line: &str) -> String {
    let line = without_line_marks(line);
    let end = line.char_indices().nth(MAX_LINE_CHARS).map_or(line.len(), |(end, _)| end);
    words(&line[..end]).iter().map(short_word).collect::<Vec<_>>().join(" ")
}

/// A heading's hashes, a bullet, a number, a checkbox, a quote's mark.
pub(super) fn without_line_marks(line: &str) -> &str {
    let mut line = line.trim();
    loop {
        let shorter = without_line_mark(line).trim_start();
        if shorter.len() == line.len() || shorter.is_empty() {
            return line;
        }
        line = shorter;
    }
}

fn without_line_mark(line: &str) -> &str {
    let without_hashes = line.trim_start_matches('#');
    let hashes = line.len() - without_hashes.len();
    if (2..=6).contains(&hashes) || hashes == 1 && without_hashes.starts_with(char::is_whitespace) {
        // Some close a heading as they opened it.
        return without_hashes.trim_end().trim_end_matches('#');
    }
    for mark in ["- ", "* ", "+ ", "• ", "· ", "– ", "> ", "[ ] ", "[x] ", "[X] "] {
        if let Some(rest) = line.strip_prefix(mark) {
            return rest;
        }
    }
    let without_digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if (1..=3).contains(&(line.len() - without_digits.len())) {
        for mark in [". ", ") "] {
            if let Some(rest) = without_digits.strip_prefix(mark) {
                return rest;
            }
        }
    }
    line
}

/// What a byte of a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Text,
    Code,
    Mark,
}

/// A word, and whether it has code in it: then it is not shortened.
#[derive(Debug, Default)]
struct Word {
    text: String,
    has_code: bool,
}

/// The words, without marks. Escapes and entities stay as they are: most lines are typed, and mean what they say.
fn words(line: &str) -> Vec<Word> {
    let source = format!("{BEFORE}{line}");
    let sorts = sorts(&source);
    let mut words = vec![Word::default()];
    for (at, c) in source.char_indices().skip(BEFORE.len()) {
        match (sorts[at], c) {
            // A tick that is no mark has no partner.
            (Sort::Mark, _) | (Sort::Text, '`') => {}
            (Sort::Text | Sort::Code, _) if c.is_whitespace() => words.push(Word::default()),
            (sort @ (Sort::Text | Sort::Code), _) => {
                if let Some(word) = words.last_mut() {
                    word.text.push(c);
                    word.has_code |= sort == Sort::Code;
                }
            }
        }
    }
    words.retain(|word| !word.text.is_empty());
    words
}

fn sorts(source: &str) -> Vec<Sort> {
    let mut sorts = vec![Sort::Text; source.len()];
    // Where the text of a link ends: its target and what is around that follow.
    let mut text_end = 0;
    for (event, range) in Parser::new_ext(source, Options::ENABLE_STRIKETHROUGH).into_offset_iter() {
        let whole = &source[range.clone()];
        let (opening, closing) = match event {
            Event::Code(_) => {
                sorts[range.clone()].fill(Sort::Code);
                let ticks = whole.len() - whole.trim_start_matches('`').len();
                (ticks, ticks)
            }
            Event::Start(Tag::Emphasis) if !is_literal(source, &range, 1) => (1, 1),
            Event::Start(Tag::Strong | Tag::Strikethrough) if !is_literal(source, &range, 2) => (2, 2),
            Event::Start(Tag::Link { link_type: LinkType::Inline, .. } | Tag::Image { .. }) => {
                let opening = if whole.starts_with('!') { 2 } else { 1 };
                text_end = range.start + opening;
                (opening, 0)
            }
            Event::End(TagEnd::Link | TagEnd::Image) if !whole.starts_with('<') => (0, range.end - text_end),
            _ => (0, 0),
        };
        if !matches!(event, Event::Start(_)) {
            text_end = range.end;
        }
        sorts[range.start..range.start + opening].fill(Sort::Mark);
        sorts[range.end - closing..range.end].fill(Sort::Mark);
    }
    sorts
}

/// What Markdown takes for emphasis and people do not mean as such: `2*3*4`, `*.rs, src/*`, `o.*, count(*)`, `Vec<_>, Vec<_>`,
/// `__init__`, `~5 or 6~7`.
fn is_literal(source: &str, range: &Range<usize>, width: usize) -> bool {
    let Some(inner) = source.get(range.start + width..range.end - width) else { return true };
    let (before, after) = (source[..range.start].chars().next_back(), source[range.end..].chars().next());
    let is_in_word = [before, after].into_iter().flatten().any(|c| c.is_ascii_alphanumeric());
    match &source[range.start..range.start + width] {
        "*" | "_" | "**" | "~~" => is_in_word || !inner.starts_with(starts_word),
        "__" => is_in_word || !inner.contains(' '),
        // A single tilde, which some take for two.
        _ => true,
    }
}

fn starts_word(c: char) -> bool {
    !c.is_ascii_punctuation() || matches!(c, '"' | '\'' | '(' | '[' | '/' | '@' | '<' | '*' | '_' | '~' | '`' | '!')
}

fn short_word(word: &Word) -> String {
    let text = word.text.as_str();
    if let Some(short) = short_address(text) {
        return short;
    }
    if word.has_code {
        return word.text.clone();
    }
    short_mention(text).or_else(|| short_path(text)).unwrap_or_else(|| word.text.clone())
}

/// `https://user@www.host/a/b/last?query#part` → `host/…/last`.
fn short_address(word: &str) -> Option<String> {
    let at = word.find("http://").or_else(|| word.find("https://"))?;
    let (before, address) = word.split_at(at);
    let (_, rest) = address.split_once("://")?;
    let end = rest.find(['<', '>', '"', '）', '。', '，', '、']).unwrap_or(rest.len());
    let (inner, tail) = rest.split_at(end);
    let trimmed = inner.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '\'']);
    let tail = tail.trim_start_matches('>');
    let punctuation = &inner[trimmed.len()..];
    let place = trimmed.split(['?', '#']).next().unwrap_or_default();
    let mut parts = place.split('/').filter(|part| !part.is_empty());
    let host = parts.next()?;
    let host = host.rsplit('@').next().filter(|host| !host.is_empty())?;
    let host = host.strip_prefix("www.").unwrap_or(host);
    let path: Vec<&str> = parts.collect();
    let short = match path.as_slice() {
        [] => host.to_owned(),
        [only] => format!("{host}/{only}"),
        [.., last] => format!("{host}/…/{last}"),
    };
    Some(format!("{}{short}{punctuation}{tail}", before.trim_end_matches('<')))
}

/// `@src/parse/lexer.rs` → `lexer.rs`. `@alice` and `@angular/core` are no files.
fn short_mention(word: &str) -> Option<String> {
    let start = word.find('@')?;
    let before = &word[..start];
    if !before.chars().all(|c| matches!(c, '(' | '"' | '\'' | '[')) {
        return None;
    }
    let mention = &word[start + 1..];
    let path = mention.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '"', '\'', ']']);
    let tail = &mention[path.len()..];
    let is_folder = path.ends_with('/');
    let base = path.trim_end_matches('/').rsplit('/').next()?;
    let has_ending = base.rsplit_once('.').is_some_and(|(_, ending)| {
        !ending.is_empty() && ending.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '#'))
    });
    let is_file = is_folder || has_ending || path.starts_with(['/', '.', '~']);
    (is_file && !base.is_empty()).then(|| format!("{before}{base}{tail}"))
}

/// A long path → `…/folder/file`.
fn short_path(word: &str) -> Option<String> {
    if word.chars().count() <= MAX_PATH_CHARS || word.contains("://") {
        return None;
    }
    let parts: Vec<&str> = word.split('/').collect();
    match parts.as_slice() {
        [.., folder, file] if parts.len() >= 4 && !file.is_empty() => Some(format!("…/{folder}/{file}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_read_aloud() {
        for (line, expected) in [
            ("## Fix the **login** page ##", "Fix the login page"),
            ("- [ ] call `parse_all()` *twice*", "call parse_all() twice"),
            ("3. see [the docs](https://example.org/a/b) now", "see the docs now"),
            ("![a picture](x.png) of it", "a picture of it"),
            ("#123 is open", "#123 is open"),
            ("2 * 3 * 4 and *.rs and my_var_name", "2 * 3 * 4 and *.rs and my_var_name"),
            ("__init__ and __really important__", "__init__ and really important"),
            ("**`Vec<T>`** grows", "Vec<T> grows"),
            ("~~old~~ new ~ 5", "old new ~ 5"),
            ("a `lone tick stays read", "a lone tick stays read"),
            ("_yes_, (*this*) one", "yes, (this) one"),
            ("***all* of** it", "all of it"),
            ("``a ` b`` and ```c```", "a ` b and c"),
            ("[`f(x)`](a_(b).md \"a title\"), [*b*](<c d>) [](e)", "f(x), b"),
            ("在**重点**之后", "在重点之后"),
            // Nothing but marks goes.
            (
                "2*3*4, delete *.log in build/*, **/*.rs and **/*.ts",
                "2*3*4, delete *.log in build/*, **/*.rs and **/*.ts",
            ),
            ("SELECT o.*, c.name, count(*)", "SELECT o.*, c.name, count(*)"),
            ("a Vec<_> of Vec<_>", "a Vec<_> of Vec<_>"),
            ("~5 or 6~7 in ~/a ~.~", "~5 or 6~7 in ~/a ~.~"),
            ("[note]: important, [1] and [x](", "[note]: important, [1] and [x]("),
            (r"match \d+\.\d+ &amp; C:\_a\*", r"match \d+\.\d+ &amp; C:\_a\*"),
            ("<b>bold</b> | a | b", "<b>bold</b> | a | b"),
            ("***", "***"),
            ("2026. A year", "2026. A year"),
        ] {
            assert_eq!(plain_line(line), expected, "{line}");
        }
    }

    #[test]
    fn addresses_mentions_and_paths_are_short() {
        for (line, expected) in [
            ("look at https://www.github.com/org/repo/issues/12?x=secret#c.", "look at github.com/…/12."),
            ("(https://user:pw@example.org/)", "(example.org)"),
            ("see <http://localhost:8080/health>", "see localhost:8080/health"),
            ("fix @src/parse/lexer.rs, and @docs/", "fix lexer.rs, and docs"),
            ("ask @alice about @angular/core", "ask @alice about @angular/core"),
            ("a@b.example is no file", "a@b.example is no file"),
            ("http://@#no is no address", "http://@#no is no address"),
            ("open src/a/very/long/folder/that/goes/on/and/on/lexer.rs", "open …/on/lexer.rs"),
        ] {
            assert_eq!(plain_line(line), expected, "{line}");
        }
    }
}
