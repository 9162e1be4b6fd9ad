//! A session as Markdown, to keep or to paste elsewhere.
//!
//! Invariant: a turn's heading is a heading, whatever stands before it. Prompts are quotes, output stands in code fences that
//! are longer than any inside, and a code fence that an answer leaves open is closed. Inline HTML and link definitions of an
//! answer stay as they were written, so an open `<details>` or a `[1]: …` may reach further.

use std::borrow::Cow;
use std::mem;

use pulldown_cmark::{Event, HeadingLevel, Parser, TagEnd};

use crate::contents::CodeFence;
use crate::held_turns::{HeldPart, HeldTurns, WrittenPart};
use crate::transcript::{HandOver, Item, Permission, TranscriptTurn};
use crate::{
    Answerer, Entry, Output, PermissionKind, SessionRow, StepStatus, ToolCall, ToolContent, line_diff, one_line,
    plain_text,
};

/// How many lines of a tool's output are kept.
const OUTPUT_LINES: usize = 60;
/// How many characters of a call's title or a question are kept.
const LINE_CHARS: usize = 400;

/// Writes a session down as Markdown, from its entries in order.
#[derive(Debug, Default)]
pub struct MarkdownWriter {
    held: HeldTurns,
}

impl MarkdownWriter {
    /// The title, and what the session is.
    pub fn head(row: &SessionRow) -> String {
        let title = row.label().map_or_else(|| "Untitled session".to_owned(), |title| one_line(title, LINE_CHARS));
        let code = |text: &str| inline_code(&one_line(text, LINE_CHARS));
        let (agent, cwd) = (code(&row.agent), code(&row.cwd));
        format!("# {}\n\nSession {} with {agent} in {cwd}, begun {}.\n", escaped(&title), row.id, row.created_at)
    }

    /// Applies entries, and returns the Markdown of the turns that are now complete.
    pub fn apply<'a>(&mut self, entries: impl IntoIterator<Item = &'a Entry>) -> Vec<WrittenPart> {
        write_parts(self.held.apply(entries))
    }

    /// Returns the Markdown of the last turn, and of questions that no turn has.
    pub fn end(self) -> Vec<WrittenPart> {
        write_parts(self.held.end())
    }

    /// An output with its text, as far as it is text and was read; `note` says what became of its bytes.
    pub fn output(output: &Output, text: Option<&str>, note: Option<&str>) -> String {
        let label = inline_code(&one_line(output.label(), LINE_CHARS));
        let note = note.map(|note| format!(", {note}")).unwrap_or_default();
        let about = format!("*Shown:* {label} *({}, {}, {}{note})*", output.kind.word(), output.extent(), output.id);
        let language = output.about.highlight.as_deref().unwrap_or_default();
        let is_language = language.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-_#.".contains(&byte));
        let mut part = String::new();
        write_part(&mut part, &about);
        if let Some(text) = text {
            write_part(&mut part, &fenced(if is_language { language } else { "" }, &plain_text(text)));
        }
        part
    }
}

/// Text, and outputs between it.
#[derive(Default)]
struct Parts {
    done: Vec<WrittenPart>,
    text: String,
}

impl Parts {
    fn output(&mut self, output: &Output) {
        self.end_text();
        self.done.push(WrittenPart::Output(Box::new(output.clone())));
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.done.push(WrittenPart::Text(mem::take(&mut self.text)));
        }
    }
}

fn write_parts(held: Vec<HeldPart>) -> Vec<WrittenPart> {
    let mut parts = Parts::default();
    for part in held {
        match part {
            HeldPart::Turn(turn) => write_turn(&mut parts, &turn),
            HeldPart::Aside(aside) => write_part(&mut parts.text, &permission(&aside.permission)),
            HeldPart::HandOver(HandOver { from, to, .. }) => {
                write_part(&mut parts.text, &format!("*Handed over from {} to {}.*", escaped(&from), escaped(&to)));
            }
        }
    }
    parts.end_text();
    parts.done
}

fn write_turn(parts: &mut Parts, turn: &TranscriptTurn) {
    let text = &mut parts.text;
    write_part(text, &format!("## {}", turn.turn.0));
    let by = turn.by.other().map(|by| format!("({by}) ")).unwrap_or_default();
    write_part(text, &quote(&format!("{by}{}", turn.prompt)));
    if !turn.images.is_empty() {
        write_part(text, &format!("*Pictures attached: {}.*", turn.images.len()));
    }
    for item in &turn.items {
        let text = &mut parts.text;
        match item {
            Item::Text { text: words, .. } => write_part(text, &closed(&with_line_feeds(words.trim()))),
            // Thoughts are the agent's own way to its answer.
            Item::Thought { .. } => (),
            Item::Tool(call) => write_part(text, &tool(turn, call)),
            Item::Plan { steps } => {
                let steps = steps.iter().map(|step| {
                    let mark = if step.status == StepStatus::Completed { 'x' } else { ' ' };
                    format!("- [{mark}] {}", escaped(&one_line(&step.text, LINE_CHARS)))
                });
                write_part(text, &steps.collect::<Vec<_>>().join("\n"));
            }
            Item::Permission(asked) => write_part(text, &permission(asked)),
            Item::Notice(notice) => {
                let more = notice.description.as_deref().unwrap_or_default();
                let words = one_line(&format!("{} {more}", notice.title), LINE_CHARS);
                write_part(text, &format!("*{}*", escaped(words.trim())));
            }
            Item::Output { output, removed: None } => parts.output(output),
            Item::Output { output, removed: Some(_) } => write_part(text, &removed_output(output)),
            Item::Compaction { .. } => write_part(text, "*The agent compacted its context.*"),
        }
    }
    if let Some(note) = turn.outcome.map_or(Some("still running"), crate::Outcome::note) {
        let reason = turn.reason.as_deref().map(|reason| format!(": {}", escaped(&one_line(reason, LINE_CHARS))));
        write_part(&mut parts.text, &format!("*This turn: {note}{}.*", reason.unwrap_or_default()));
    }
}

/// Adds a part, with an empty line before it.
fn write_part(text: &mut String, part: &str) {
    if !part.is_empty() {
        text.push('\n');
        text.push_str(part);
        text.push('\n');
    }
}

fn tool(turn: &TranscriptTurn, call: &ToolCall) -> String {
    let note = turn.fate(call).note().map(|note| format!(" ({note})")).unwrap_or_default();
    let mut lines = vec![format!("- {}{note}", inline_code(&one_line(call.label(), LINE_CHARS)))];
    for content in &call.content {
        let part = match content {
            ToolContent::Text { text } => fenced("", &first_lines(text)),
            ToolContent::Terminal { command, output, .. } => {
                fenced("console", &format!("$ {command}\n{}", first_lines(output)))
            }
            ToolContent::Diff { path, old_text, new_text } => {
                fenced("diff", &line_diff(path, old_text.as_deref(), new_text))
            }
            ToolContent::Image { mime_type, .. } => {
                format!("*A picture ({}).*", escaped(&one_line(mime_type, LINE_CHARS)))
            }
            ToolContent::Link { uri, name } => {
                let code = |text: &str| inline_code(&one_line(text, LINE_CHARS));
                format!("{} {}", code(name), code(uri))
            }
            ToolContent::Omitted { bytes } => format!("*{bytes} bytes were too large to keep.*"),
            ToolContent::Raw { .. } => continue,
        };
        // Indented, so that it belongs to the call.
        lines.push(String::new());
        lines.extend(part.lines().map(|line| format!("  {line}")));
    }
    lines.join("\n")
}

/// An output that is not kept any more.
fn removed_output(output: &Output) -> String {
    let label = inline_code(&one_line(output.label(), LINE_CHARS));
    format!("*Shown:* {label} *({}, {}, {}, removed since)*", output.kind.word(), output.extent(), output.id)
}

fn permission(asked: &Permission) -> String {
    let subject = asked.question.subject.as_ref().unwrap_or(&asked.question.title);
    let answer = match &asked.answer {
        None => "not answered".to_owned(),
        Some(answer) => {
            let word = answer.kind.map_or("answered", PermissionKind::note);
            let kept = if answer.remembered.is_some() { ", and remembered" } else { "" };
            match &answer.by {
                Answerer::Person { name, .. } => format!("{word} by {}{kept}", escaped(name)),
                Answerer::Remembered { .. } => format!("{word}, as remembered"),
                Answerer::Policy { rule } => format!("{word} by the rule {}", inline_code(rule)),
                Answerer::Nobody => "withdrawn".to_owned(),
            }
        }
    };
    format!("- Asked: {} ({answer})", inline_code(&one_line(subject, LINE_CHARS)))
}

/// The text as a quote.
fn quote(text: &str) -> String {
    let lines = closed(&with_line_feeds(text.trim_end()));
    lines.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// The text, so that what follows it is read by itself: a code fence that is left open is closed, and a text that leaves
/// something else open, such as an HTML comment, is shown as its source.
fn closed(text: &str) -> String {
    if ends_by_itself(text) {
        return text.to_owned();
    }
    let open = text.lines().fold(None, CodeFence::after);
    let closed = open.map(|fence| format!("{text}\n{}", fence.closing()));
    closed.filter(|closed| ends_by_itself(closed)).unwrap_or_else(|| fenced("markdown", text))
}

/// Whether a heading that is appended to the text is still parsed as one.
fn ends_by_itself(text: &str) -> bool {
    let heading = Event::End(TagEnd::Heading(HeadingLevel::H2));
    Parser::new(&format!("{text}\n\n## end")).last() == Some(heading)
}

/// The text with every line ended by a line feed: Markdown takes a carriage return for the end of a line too, and what
/// follows would stand outside of the quote or the list that it belongs to.
fn with_line_feeds(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(text) }
}

/// The text in a code fence that is longer than any in it.
fn fenced(language: &str, text: &str) -> String {
    let text = with_line_feeds(text.trim_end());
    let fence = "`".repeat(longest_run(&text, '`').max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

/// A line as code inside of a line.
fn inline_code(text: &str) -> String {
    let marks = "`".repeat(longest_run(text, '`') + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{marks}{space}{text}{space}{marks}")
}

fn longest_run(text: &str, sign: char) -> usize {
    text.split(|c| c != sign).map(str::len).max().unwrap_or_default()
}

/// Escapes the characters that Markdown would interpret.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// The beginning of an output, and how many lines are left out.
fn first_lines(text: &str) -> String {
    let mut lines: Vec<&str> = text.trim_end().lines().collect();
    let more = lines.len().saturating_sub(OUTPUT_LINES);
    lines.truncate(OUTPUT_LINES);
    let mut text = lines.join("\n");
    if more > 0 {
        text.push_str(&format!("\n[{more} more {}]", if more == 1 { "line" } else { "lines" }));
    }
    text
}

#[cfg(test)]
mod tests;
