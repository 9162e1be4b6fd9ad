//! Turns in the page: a knot each on the one line, the prompt, and what the agent said and did.

use std::mem;

use crate::held_turns::{HeldPart, WrittenPart};
use crate::html::prose::push_prose;
use crate::html::{LINE_CHARS, escaped, link_target, picture, push_escaped, time};
use crate::transcript::{HandOver, Item, Permission, TranscriptTurn};
use crate::{Answerer, Outcome, PermissionKind, StepStatus, ToolCall, ToolContent, line_diff, one_line, plain_text};

/// How many bytes of what a call shows are kept.
const MAX_TEXT_BYTES: usize = 64 << 10;
/// How many bytes of base64 a call's picture may have.
const MAX_PICTURE_BYTES: usize = 16 << 20;

pub(super) fn write(held: Vec<HeldPart>) -> Vec<WrittenPart> {
    let mut page = Page::default();
    for part in held {
        match part {
            HeldPart::Turn(turn) => page.turn(&turn),
            HeldPart::Aside(aside) => {
                page.html.push_str("<section class=\"between\">\n");
                page.permission(&aside.permission);
                page.html.push_str("</section>\n");
            }
            HeldPart::HandOver(HandOver { from, to, .. }) => {
                let (from, to) = (escaped(&from), escaped(&to));
                page.html.push_str(&format!(
                    "<section class=\"between\"><p class=\"note\">Handed over from {from} to {to}.</p></section>\n"
                ));
            }
        }
    }
    page.end_text();
    page.parts
}

#[derive(Default)]
struct Page {
    parts: Vec<WrittenPart>,
    html: String,
}

impl Page {
    fn end_text(&mut self) {
        if !self.html.is_empty() {
            self.parts.push(WrittenPart::Text(mem::take(&mut self.html)));
        }
    }

    fn turn(&mut self, turn: &TranscriptTurn) {
        let number = turn.turn.0;
        let knot = match turn.outcome {
            Some(Outcome::Completed) => "solid",
            Some(Outcome::Failed) => "crossed",
            Some(Outcome::Cancelled | Outcome::Interrupted) => "hollow",
            None => "running",
        };
        let started = time(&turn.started_at.to_string());
        let by = turn.by.other().map(|by| format!(" · {}", escaped(&one_line(&by, LINE_CHARS)))).unwrap_or_default();
        self.html.push_str(&format!(
            "<section class=\"turn {knot}\" id=\"t{number}\">\n\
             <h2><a href=\"#t{number}\">Turn {number}</a> <span class=\"detail\">{started}{by}</span></h2>\n\
             <div class=\"prompt\">\n"
        ));
        push_prose(&mut self.html, &turn.prompt);
        for image in &turn.images {
            self.picture(&image.mime_type, &image.data, "A picture of the prompt");
        }
        self.html.push_str("</div>\n");
        for item in &turn.items {
            self.item(turn, item);
        }
        if let Some(note) = turn.outcome.map_or(Some("still running"), Outcome::note) {
            let reason = turn.reason.as_deref().map(|reason| format!(": {}", one_line(reason, LINE_CHARS)));
            self.note(&format!("This turn: {note}{}.", reason.unwrap_or_default()));
        }
        self.html.push_str("</section>\n");
    }

    fn item(&mut self, turn: &TranscriptTurn, item: &Item) {
        match item {
            Item::Text { text, .. } => {
                self.html.push_str("<div class=\"answer\">\n");
                push_prose(&mut self.html, text);
                self.html.push_str("</div>\n");
            }
            // Thoughts are the agent's own way to its answer.
            Item::Thought { .. } => (),
            Item::Tool(call) => self.call(turn, call),
            Item::Plan { steps } => {
                self.html.push_str("<ul class=\"plan\">\n");
                for step in steps {
                    let mark = if step.status == StepStatus::Completed { '☑' } else { '☐' };
                    let text = escaped(&one_line(&step.text, LINE_CHARS));
                    self.html.push_str(&format!("<li>{mark} {text}</li>\n"));
                }
                self.html.push_str("</ul>\n");
            }
            Item::Permission(asked) => self.permission(asked),
            Item::Notice(notice) => {
                let more = notice.description.as_deref().unwrap_or_default();
                self.note(one_line(&format!("{} {more}", notice.title), LINE_CHARS).trim());
            }
            Item::Output { output, removed: None } => {
                self.end_text();
                self.parts.push(WrittenPart::Output(Box::new(output.clone())));
            }
            Item::Output { output, removed: Some(_) } => {
                self.note(&format!("Shown, and removed since: {}", one_line(output.label(), LINE_CHARS)));
            }
            Item::Compaction { .. } => self.note("The agent compacted its context."),
        }
    }

    fn call(&mut self, turn: &TranscriptTurn, call: &ToolCall) {
        let label = escaped(&one_line(call.label(), LINE_CHARS));
        let note = turn.fate(call).note();
        let note = note.map(|note| format!(" <span class=\"detail\">{}</span>", escaped(&note))).unwrap_or_default();
        let is_shown = |content: &ToolContent| !matches!(content, ToolContent::Raw { .. });
        if !call.content.iter().any(is_shown) {
            self.html.push_str(&format!("<p class=\"call\"><code>{label}</code>{note}</p>\n"));
            return;
        }
        self.html.push_str(&format!("<details class=\"call\"><summary><code>{label}</code>{note}</summary>\n"));
        for content in &call.content {
            self.content(content);
        }
        self.html.push_str("</details>\n");
    }

    fn content(&mut self, content: &ToolContent) {
        match content {
            ToolContent::Text { text } => self.verbatim(text),
            ToolContent::Terminal { command, output, .. } => self.verbatim(&format!("$ {command}\n{output}")),
            ToolContent::Diff { path, old_text, new_text } => {
                self.diff(&line_diff(path, old_text.as_deref(), new_text));
            }
            ToolContent::Image { mime_type, data } => self.picture(mime_type, data, "A picture of the call"),
            ToolContent::Link { uri, name } => {
                let name = escaped(&one_line(name, LINE_CHARS));
                self.html.push_str(&match link_target(uri) {
                    Some(target) => format!(
                        "<p><a href=\"{target}\" rel=\"noopener noreferrer\" target=\"_blank\">{name}</a></p>\n"
                    ),
                    None => format!("<p>{name} <code>{}</code></p>\n", escaped(&one_line(uri, LINE_CHARS))),
                });
            }
            ToolContent::Omitted { bytes } => self.note(&format!("{bytes} bytes were too large to keep.")),
            ToolContent::Raw { .. } => (),
        }
    }

    fn verbatim(&mut self, text: &str) {
        let kept = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
        self.html.push_str("<pre><code>");
        push_escaped(&mut self.html, plain_text(kept).trim_end());
        self.html.push_str("</code></pre>\n");
        if kept.len() < text.len() {
            self.note(&format!("{} more bytes are not written here.", text.len() - kept.len()));
        }
    }

    fn diff(&mut self, diff: &str) {
        let kept = &diff[..diff.floor_char_boundary(MAX_TEXT_BYTES)];
        self.html.push_str("<pre class=\"diff\"><code>");
        for line in kept.lines() {
            let class = match line.as_bytes() {
                [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "file",
                [b'@', b'@', ..] => "place",
                [b'+', ..] => "added",
                [b'-', ..] => "removed",
                _ => "same",
            };
            self.html.push_str(&format!("<span class=\"{class}\">"));
            push_escaped(&mut self.html, line);
            self.html.push_str("\n</span>");
        }
        self.html.push_str("</code></pre>\n");
        if kept.len() < diff.len() {
            self.note("There is more of this change than is written here.");
        }
    }

    fn picture(&mut self, mime_type: &str, base64: &str, label: &str) {
        match picture(mime_type, base64, label).filter(|_| base64.len() <= MAX_PICTURE_BYTES) {
            Some(html) => self.html.push_str(&html),
            None => self.note(&format!("{label} ({}).", one_line(mime_type, LINE_CHARS))),
        }
    }

    fn permission(&mut self, asked: &Permission) {
        let subject = asked.question.subject.as_ref().unwrap_or(&asked.question.title);
        let answer = match &asked.answer {
            None => "not answered".to_owned(),
            Some(answer) => {
                let word = answer.kind.map_or("answered", PermissionKind::note);
                let kept = if answer.remembered.is_some() { ", and remembered" } else { "" };
                match &answer.by {
                    Answerer::Person { name, .. } => format!("{word} by {name}{kept}"),
                    Answerer::Remembered { .. } => format!("{word}, as remembered"),
                    Answerer::Policy { rule } => format!("{word} by the rule {rule}"),
                    Answerer::Nobody => "withdrawn".to_owned(),
                }
            }
        };
        let (subject, answer) = (one_line(subject, LINE_CHARS), one_line(&answer, LINE_CHARS));
        self.html.push_str(&format!(
            "<p class=\"asked\">Asked: <code>{}</code> <span class=\"detail\">{}</span></p>\n",
            escaped(&subject),
            escaped(&answer)
        ));
    }

    fn note(&mut self, text: &str) {
        self.html.push_str(&format!("<p class=\"note\">{}</p>\n", escaped(text)));
    }
}
