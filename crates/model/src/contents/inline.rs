//! A line of markdown as a person would read it aloud: no marks, no link targets, short addresses and paths.
//!
//! Invariant: what stands in backticks is kept as it is.

/// A line longer than this is not read to its end.
const MAX_LINE_CHARS: usize = 2_000;
/// A longer path is told by its end.
const MAX_PATH_CHARS: usize = 40;

/// The line without its markdown, whitespace folded.
pub(super) fn plain_line(line: &str) -> String {
    let marked: Vec<Marked> = marked(without_line_marks(line));
    let marked = without_emphasis(without_links(&marked));
    words(&marked).iter().map(short_word).collect::<Vec<_>>().join(" ")
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

/// A character, and whether it stood in backticks.
#[derive(Debug, Clone, Copy)]
struct Marked {
    c: char,
    in_code: bool,
}

fn marked(line: &str) -> Vec<Marked> {
    let mut in_code = false;
    let mut marked = Vec::new();
    // An unpaired backtick quotes nothing.
    let mut ticks = line.chars().take(MAX_LINE_CHARS).filter(|c| *c == '`').count();
    for c in line.chars().take(MAX_LINE_CHARS) {
        if c == '`' {
            ticks -= 1;
            in_code = if in_code { false } else { ticks > 0 };
        } else {
            marked.push(Marked { c, in_code });
        }
    }
    marked
}

/// `[text](target)` and `![text](target)` become their text.
fn without_links(line: &[Marked]) -> Vec<Marked> {
    let mut kept: Vec<Marked> = Vec::with_capacity(line.len());
    let mut opened: Option<usize> = None;
    let mut at = 0;
    while at < line.len() {
        let one = line[at];
        match one.c {
            _ if one.in_code => kept.push(one),
            '[' => {
                opened = Some(kept.len());
                kept.push(one);
            }
            ']' if line.get(at + 1).is_some_and(|next| next.c == '(' && !next.in_code) && opened.is_some() => {
                let end = (at + 2..line.len()).find(|end| line[*end].c == ')' || line[*end].c == ' ');
                match (end, opened.take()) {
                    (Some(end), Some(open)) if line[end].c == ')' => {
                        kept.remove(open);
                        if open > 0 && kept[open - 1].c == '!' {
                            kept.remove(open - 1);
                        }
                        at = end;
                    }
                    (Some(_) | None, _) => kept.push(one),
                }
            }
            _ => kept.push(one),
        }
        at += 1;
    }
    kept
}

/// `*` and `_` that open at a word's start and close at a word's end go; those in `2 * 3`, `*.rs` and `a_b` stay.
fn without_emphasis(line: Vec<Marked>) -> Vec<Marked> {
    let mut gone = vec![false; line.len()];
    for mark in ['*', '_', '~'] {
        let mut opened: Option<(usize, usize)> = None;
        let mut at = 0;
        while at < line.len() {
            if line[at].c != mark || line[at].in_code {
                at += 1;
                continue;
            }
            let end = (at..line.len()).find(|end| line[*end].c != mark || line[*end].in_code).unwrap_or(line.len());
            let before = at.checked_sub(1).map(|before| line[before]);
            let after = line.get(end).copied();
            let opens = !before.is_some_and(|b| b.c.is_alphanumeric() || b.in_code) && after.is_some_and(starts_word);
            let closes = !after.is_some_and(|a| a.c.is_alphanumeric() || a.in_code)
                && before.is_some_and(|b| !b.c.is_whitespace());
            match opened {
                Some((from, until)) if closes && until - from == end - at => {
                    let is_name = mark == '_' && end - at == 2 && line[until..at].iter().all(|one| one.c != ' ');
                    if !is_name && (mark != '~' || end - at == 2) {
                        gone[from..until].fill(true);
                        gone[at..end].fill(true);
                    }
                    opened = None;
                }
                Some(_) | None if opens && end - at <= 3 => opened = Some((at, end)),
                Some(_) | None => {}
            }
            at = end;
        }
    }
    line.into_iter().zip(gone).filter(|(_, gone)| !gone).map(|(one, _)| one).collect()
}

fn starts_word(one: Marked) -> bool {
    one.in_code
        || one.c.is_alphanumeric()
        || matches!(one.c, '"' | '\'' | '(' | '[' | '/' | '@' | '<' | '“' | '*' | '_')
}

/// The words; one with code in it is not shortened, so it is told apart.
fn words(line: &[Marked]) -> Vec<Word> {
    line.split(|one| one.c.is_whitespace())
        .filter(|word| !word.is_empty())
        .map(|word| Word { text: word.iter().map(|one| one.c).collect(), has_code: word.iter().any(|one| one.in_code) })
        .collect()
}

struct Word {
    text: String,
    has_code: bool,
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
