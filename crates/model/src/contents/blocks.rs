//! Separates what somebody wrote from what they pasted: code, traces, logs, data, diffs.
//!
//! Invariant: every line gets exactly one kind, in one pass over the lines and one over the paragraphs.

use super::fence::CodeFence;

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Somebody's own words.
    Prose,
    /// Pasted.
    Pasted,
    /// Pasted, and it says what went wrong.
    Error,
}

/// A line that is not empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) kind: Kind,
    /// Lines of one paragraph have the same number.
    pub(super) paragraph: usize,
}

pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut reader = Reader::default();
    for text in text.lines() {
        if text.trim().is_empty() {
            reader.end_paragraph();
            continue;
        }
        let kind = reader.kind(text);
        lines.push(Line { text, kind, paragraph: reader.paragraph });
    }
    for paragraph in lines.chunk_by_mut(|a, b| a.paragraph == b.paragraph) {
        settle(paragraph);
    }
    lines
}

/// A paragraph of mostly pasted lines is pasted as a whole, but for a first or last line that is somebody's sentence.
fn settle(paragraph: &mut [Line<'_>]) {
    let pasted = paragraph.iter().filter(|line| line.kind != Kind::Prose).count();
    if pasted == 0 || pasted * 2 < paragraph.len() {
        return;
    }
    let last = paragraph.len() - 1;
    for (at, line) in paragraph.iter_mut().enumerate() {
        let is_outside = at == 0 || at == last;
        if line.kind == Kind::Prose && !(is_outside && is_sentence(line.text)) {
            line.kind = Kind::Pasted;
        }
    }
}

fn is_sentence(text: &str) -> bool {
    let is_comment =
        ["//", "#", "/*", "*", "--", "\"\"\"", "'''", "<!--"].iter().any(|mark| text.trim().starts_with(mark));
    let words = text.split_whitespace().count();
    !is_comment && !text.starts_with([' ', '\t']) && (words >= 3 || text.chars().any(super::sentence::is_wide))
}

#[derive(Debug, Default)]
struct Reader {
    paragraph: usize,
    fence: Option<CodeFence>,
    /// The hidden block of a tool that wrapped the prompt, until its closing tag.
    wrapper: Option<String>,
    in_diff: bool,
    in_trace: bool,
}

impl Reader {
    fn end_paragraph(&mut self) {
        self.paragraph += 1;
        self.in_diff = false;
        self.in_trace = false;
    }

    fn kind(&mut self, line: &str) -> Kind {
        let text = line.trim();
        if let Some(closing) = &self.wrapper {
            if text.contains(closing.as_str()) {
                self.wrapper = None;
                self.end_paragraph();
            }
            return Kind::Pasted;
        }
        let fence = CodeFence::after(self.fence, text);
        match (std::mem::replace(&mut self.fence, fence), fence) {
            (Some(_), Some(_)) => return if is_error(text) { Kind::Error } else { Kind::Pasted },
            (Some(_), None) | (None, Some(_)) => {
                self.end_paragraph();
                return Kind::Pasted;
            }
            (None, None) if text.starts_with("```") => return Kind::Pasted,
            (None, None) => {}
        }
        if let Some(closing) = wrapper(text) {
            if !text.contains(&closing) {
                self.end_paragraph();
                self.wrapper = Some(closing);
            }
            return Kind::Pasted;
        }
        if is_diff_header(text) {
            self.in_diff = true;
        }
        if self.in_diff && (is_diff_header(text) || line.starts_with(['+', '-', ' ', '@', '\\'])) {
            return Kind::Pasted;
        }
        self.in_diff = false;
        if is_trace_header(text) {
            self.in_trace = true;
        }
        if is_error(text) {
            return Kind::Error;
        }
        if self.in_trace && (line.starts_with([' ', '\t']) || is_trace_line(text)) || is_trace_line(text) {
            return Kind::Pasted;
        }
        if is_log(text) || is_data(text) || is_shell(text) || is_code(line) { Kind::Pasted } else { Kind::Prose }
    }
}

/// `<system-reminder>`, `<environment_details>`: names with a joint are no HTML; what they hold nobody typed.
fn wrapper(text: &str) -> Option<String> {
    let (name, _) = text.strip_prefix('<')?.split_once('>')?;
    let is_name = name.contains(['-', '_']) && name.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '-' | '_'));
    is_name.then(|| format!("</{name}>"))
}

fn is_diff_header(text: &str) -> bool {
    [
        "diff --git ",
        "--- a/",
        "+++ b/",
        "@@ -",
        "index ",
        "new file mode",
        "deleted file mode",
        "rename from ",
        "rename to ",
    ]
    .iter()
    .any(|header| text.starts_with(header))
        && (!text.starts_with("index ") || text.contains(".."))
}

fn is_trace_header(text: &str) -> bool {
    text.starts_with("Traceback (most recent call last)")
        || text.starts_with("stack backtrace:")
        || text.starts_with("goroutine ") && text.contains('[')
        || text.starts_with("thread '") && text.contains("panicked at")
}

fn is_trace_line(text: &str) -> bool {
    is_trace_header(text)
        || text.starts_with("File \"") && text.contains(", line ")
        || text.starts_with("at ") && (text.contains('(') || text.contains(':') && text.contains('/'))
        || text.starts_with("... ") && text.ends_with("more")
        || text.starts_with("--> ")
        || text.starts_with("= note:")
        || text.starts_with("= help:")
        || text.starts_with("note: run with `RUST_BACKTRACE")
        || text.starts_with('|') && text.contains('^')
        || text.starts_with("^~")
        || text.starts_with("^^")
        || text
            .split_once(" | ")
            .is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
        || text.split_once(": ").is_some_and(|(n, rest)| {
            n.len() <= 3 && n.bytes().all(|b| b.is_ascii_digit()) && rest.contains("::") && !rest.contains(' ')
        })
}

/// Says what went wrong: `TypeError: …`, `error[E0382]: …`, `npm ERR! …`, `panic: …`.
pub(super) fn is_error(text: &str) -> bool {
    let text = text.trim_start_matches("E   ").trim_start();
    let first = text.split_whitespace().next().unwrap_or_default();
    let name = first.strip_suffix(':').unwrap_or(first);
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$' | ':'));
    let named = is_name
        && (first.ends_with(':')
            && (name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Warning"))
            || name.contains('.') && (name.ends_with("Exception") || name.ends_with("Error")) && name.len() > 12);
    named
        || text.starts_with("error[")
        || [
            "error:",
            "fatal:",
            "panic:",
            "npm ERR!",
            "npm error ",
            "Caused by:",
            "Segmentation fault",
            "ERROR:",
            "FATAL:",
            "Uncaught ",
        ]
        .iter()
        .any(|opening| text.starts_with(opening) && text.len() > opening.len() + 3)
        || text.starts_with("thread '") && text.contains("panicked at")
        || text.starts_with("FAILED ") && text.contains("::")
        || text.contains(": error: ")
        || text.contains(": fatal error: ")
        || text.contains(": error TS")
}

fn is_log(text: &str) -> bool {
    let text = text.trim_start_matches(['[', '(', '"']);
    let level = text.split(|c: char| c.is_whitespace() || matches!(c, ']' | ':' | '|')).next().unwrap_or_default();
    is_time(text)
        || matches!(level, "INFO" | "WARN" | "WARNING" | "DEBUG" | "TRACE" | "ERROR" | "FATAL" | "NOTICE")
        || is_syslog(text)
}

/// `2026-01-31T…`, `2026-01-31 12:…`, `2026/01/31 …`, `12:30:59`.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has_digits = |places: &[usize]| places.iter().all(|at| bytes.get(*at).is_some_and(u8::is_ascii_digit));
    let has_date = has_digits(&[0, 1, 2, 3, 5, 6, 8, 9])
        && matches!(bytes.get(4), Some(b'-' | b'/'))
        && bytes.get(7) == bytes.get(4)
        && matches!(bytes.get(10), Some(b'T' | b' '))
        && has_digits(&[11, 12]);
    let has_time = has_digits(&[0, 1, 3, 4, 6, 7]) && bytes.get(2) == Some(&b':') && bytes.get(5) == Some(&b':');
    has_date || has_time
}

fn is_syslog(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let month = words.next().unwrap_or_default();
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"].contains(&month)
        && words.next().is_some_and(|day| day.bytes().all(|byte| byte.is_ascii_digit()))
        && words.next().is_some_and(is_time)
}

/// JSON, markup, tables, separated values, rules.
fn is_data(text: &str) -> bool {
    let is_json = text.starts_with('{')
        || matches!(text, "[" | "]" | "}" | "}," | "]," | "})" | "});")
        || text.starts_with("[{")
        || text.starts_with("[[")
        || text.starts_with("[\"")
        || text.starts_with('"')
            && text.contains("\": ")
            && (text.ends_with([',', '{', '[', '"', '}', ']']) || text.len() < 80)
        || text.starts_with('}');
    let is_markup = text.starts_with('<') && text.ends_with('>') && !text.starts_with("<http");
    let is_table = text.starts_with('|') && text.ends_with('|') && text.len() > 1;
    let is_columns = text.split("  ").filter(|part| !part.trim().is_empty()).count() >= 3;
    let is_rule = !text.chars().any(char::is_alphanumeric) && text.chars().any(|c| c.is_ascii_punctuation());
    let is_separated = text.matches(',').count() >= 3
        && !text.contains(", ")
        && text.split_whitespace().count() <= text.matches(',').count();
    is_json || is_markup || is_table || is_columns || is_rule && text.len() > 1 || is_separated
}

fn is_shell(text: &str) -> bool {
    text.starts_with("$ ")
        || text.starts_with("➜ ")
        || text.starts_with("❯ ")
        || text.starts_with("PS C:\\")
        || text.starts_with(">>> ")
        || text
            .split_once("$ ")
            .is_some_and(|(prompt, _)| prompt.contains('@') && prompt.contains(':') && !prompt.contains(' '))
}

fn is_code(line: &str) -> bool {
    let text = line.trim();
    let words: Vec<&str> = text.split_whitespace().take(4).collect();
    let second = words.get(1).copied().unwrap_or_default();
    let begins_as_code = match words.first().copied().unwrap_or_default() {
        "import" => {
            words.len() <= 2 && !text.ends_with('.') && text.is_ascii()
                || text.contains(" from '")
                || text.contains(" from \"")
                || text.contains(" as ") && words.len() == 4
        }
        "from" => words.get(2) == Some(&"import"),
        "use" => text.ends_with(';') || second.contains("::"),
        "package" => words.len() == 2,
        "#include" | "#define" | "#!/bin/bash" | "#!/bin/sh" | "#!/usr/bin/env" | "@Override" | "pub" | "#[derive" => {
            true
        }
        "const" | "let" | "var" | "val" | "auto" | "static" => text.contains('='),
        "def" | "fn" | "func" | "function" | "class" | "struct" | "enum" | "interface" | "impl" | "trait" | "async"
        | "public" | "private" | "protected" | "export" | "type" | "namespace" | "module" => {
            text.ends_with(['{', ':', ';', '}', ',']) && !text.ends_with("::") && text.contains(['(', '{', '=', '<'])
                || text.ends_with("):")
                || text.ends_with('{')
                || text.starts_with("class ") && text.ends_with(':') && words.len() == 2
        }
        "if" | "for" | "while" | "elif" | "switch" | "match" | "return" | "else" | "}" | "try" | "with" | "raise"
        | "throw" | "await" => {
            text.ends_with(['{', ';'])
                || (text.ends_with("):") || text.ends_with(':') && line.starts_with([' ', '\t']))
                || line.starts_with([' ', '\t'])
                    && text.contains(['(', '=', '[', '.'])
                    && !text.ends_with(['.', '?', '!'])
        }
        "SELECT" | "INSERT" | "UPDATE" | "DELETE" | "CREATE" | "ALTER" | "FROM" | "WHERE" | "JOIN" | "LEFT"
        | "INNER" | "GROUP" | "ORDER" => true,
        "FROM:" | "RUN" | "COPY" | "WORKDIR" | "ENTRYPOINT" | "CMD" | "EXPOSE" | "ENV" => words.len() > 1,
        first => {
            first.starts_with("//")
                || first.starts_with("/*")
                || first.starts_with("#[")
                || first.starts_with("<?php")
                || first == "*/"
                || first.starts_with("\"\"\"")
        }
    };
    if begins_as_code {
        return true;
    }
    let ends_as_code = text.ends_with(';') && !text.contains(". ")
        || text.ends_with('{')
        || text.ends_with("=>")
        || text.ends_with("({")
        || text.ends_with("</div>");
    let is_setting = is_assignment(text);
    let signs = text
        .chars()
        .filter(|c| {
            matches!(c, '{' | '}' | '(' | ')' | ';' | '=' | '<' | '>' | '[' | ']' | '|' | '&' | '$' | '\\' | '_' | '"')
        })
        .count();
    let dense = signs * 6 > text.chars().filter(|c| !c.is_whitespace()).count() && signs >= 3 && !text.contains("](");
    let indented = (line.starts_with("    ") || line.starts_with('\t')) && signs >= 2;
    ends_as_code || is_setting || dense || indented
}

/// `name = value`, `NAME=value`, `  key: value` with nothing that reads like a sentence.
fn is_assignment(text: &str) -> bool {
    let Some((name, value)) = text.split_once('=') else { return false };
    let name = name.trim();
    !name.is_empty()
        && !value.starts_with('=')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '[' | ']' | '-' | '"' | '\''))
        && value.split_whitespace().count() <= 8
}

#[cfg(test)]
mod tests;
