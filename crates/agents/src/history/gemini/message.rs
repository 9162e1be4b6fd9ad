//! The messages of Gemini CLI.

use std::borrow::Cow;
use std::collections::HashSet;

use model::{Image, Notice, Outcome, Severity, Timestamp, TokenCount, ToolKind, ToolStatus, Usage, UsedTokens};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::part::Part;
use crate::acp::cut_chars;
use crate::history::bookmark::RecordPosition;
use crate::history::builder::{Counted, TurnBuilder};
use crate::history::calls::{self, CallOutput};
use crate::history::json::{self, Text, as_a, items, keep_first};
use crate::history::user_text::{self, UserText};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    timestamp: Cow<'a, str>,
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    /// What the person saw of the message.
    #[serde(borrow)]
    display_content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    thoughts: Vec<Thought<'a>>,
    #[serde(borrow, default)]
    tool_calls: Vec<CallRecord<'a>>,
    tokens: Option<AnswerTokens>,
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Thought<'a> {
    #[serde(borrow)]
    subject: Option<Cow<'a, str>>,
    #[serde(borrow)]
    description: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct AnswerTokens {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
    /// What its tools put into the prompt, beside `input`.
    #[serde(default)]
    tool: u64,
    thoughts: Option<u64>,
    cached: Option<u64>,
    total: Option<u64>,
}

impl AnswerTokens {
    fn by_kind(&self) -> UsedTokens {
        let input = self.input.saturating_add(self.tool);
        let total = self.total.unwrap_or_else(|| input.saturating_add(self.output));
        let (thought, cached_read) = (self.thoughts, self.cached);
        TokenCount { total, input, output: self.output, thought, cached_read, cached_write: None }.into()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallRecord<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    args: Option<Value>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    result_display: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Edited<'a> {
    #[serde(borrow)]
    file_path: Cow<'a, str>,
    #[serde(borrow)]
    original_content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    new_content: Cow<'a, str>,
    is_new_file: Option<bool>,
}

/// The messages of the open turn, with what was emitted of each.
#[derive(Default)]
pub(super) struct Messages {
    emitted: HashSet<String>,
    has_prompt: bool,
}

impl Messages {
    /// Whether no prompt has come yet.
    pub(super) fn has_no_prompt(&self) -> bool {
        !self.has_prompt
    }

    pub(super) fn emit(
        &mut self,
        message: &Message<'_>,
        position: impl FnOnce() -> RecordPosition,
        builder: &mut TurnBuilder<'_>,
    ) {
        let Some(at) = json::instant(&message.timestamp) else { return builder.skip("a message without its time") };
        match message.kind.as_ref() {
            "user" => {
                let (said, images) = message.said(builder);
                if said.is_empty() && images.is_empty() {
                    return builder.skip("a message of the program's own");
                }
                self.emitted.clear();
                self.has_prompt = true;
                builder.prompt(at, said, images, position());
            }
            "gemini" => {
                keep_first(&mut builder.header().model, message.model.as_deref());
                message.emit(at, self.emitted.insert(message.id.to_string()), builder);
            }
            "error" | "warning" | "info" => {
                let severity = match message.kind.as_ref() {
                    "error" => Severity::Error,
                    "warning" => Severity::Warning,
                    _ => Severity::Info,
                };
                let (texts, _) = message.texts();
                let title = cut_chars(texts.join("\n"), 2_000);
                builder.notice(at, Notice { severity, title, description: None });
            }
            _ => builder.skip("a message of an unknown kind"),
        }
    }
}

impl Message<'_> {
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The texts of the content and, separately, those that are thoughts.
    fn texts(&self) -> (Vec<String>, Vec<String>) {
        let Some(content) = self.content else { return Default::default() };
        if let Some(text) = as_a::<Text<'_>>(content) {
            return (vec![text.0.into_owned()], Vec::new());
        }
        let parts = items(content).into_iter().filter_map(as_a::<Part<'_>>);
        let (mut texts, mut thoughts) = (Vec::new(), Vec::new());
        for part in parts {
            let list = if part.thought == Some(true) { &mut thoughts } else { &mut texts };
            list.extend(part.text.map(Cow::into_owned));
        }
        (texts, thoughts)
    }

    fn said(&self, builder: &TurnBuilder<'_>) -> (String, Vec<Image>) {
        let (mut said, mut images): (Vec<String>, Vec<Image>) = (Vec::new(), Vec::new());
        let Some(content) = self.display_content.or(self.content) else { return (String::new(), images) };
        let mut hear = |text: &str| {
            if let UserText::Own(own) = user_text::classify(text) {
                said.push(own.to_owned());
            }
        };
        if let Some(text) = as_a::<Text<'_>>(content) {
            hear(&text.0);
        }
        for part in items(content).into_iter().filter_map(as_a::<Part<'_>>) {
            hear(part.text.as_deref().unwrap_or_default());
        }
        let sent = self.content.map(items).unwrap_or_default().into_iter().filter_map(as_a::<Part<'_>>);
        for picture in sent.filter_map(|part| part.inline_data) {
            picture.join(&mut said, &mut images, builder.limits());
        }
        (said.join("\n\n"), images)
    }

    fn emit(&self, at: Timestamp, is_first: bool, builder: &mut TurnBuilder<'_>) {
        let (texts, thoughts) = self.texts();
        if is_first {
            for Thought { subject, description } in &self.thoughts {
                let parts = [subject, description].into_iter().flatten().map(AsRef::as_ref);
                builder.thought(at, parts.collect::<Vec<&str>>().join("\n\n"));
            }
            if self.thoughts.is_empty() {
                thoughts.into_iter().for_each(|thought| builder.thought(at, thought));
            }
            texts.iter().for_each(|text| builder.text(at, text.clone()));
        }
        for call in &self.tool_calls {
            call.emit(at, builder);
        }
        if let Some(tokens) = self.tokens.as_ref().map(AnswerTokens::by_kind) {
            builder.usage(Usage::window(tokens.total(), 0));
            let model = self.model.as_deref().map(str::to_owned);
            builder.count(Some(&self.id), Counted { model, tokens, cost: 0.0 });
        }
        let has_text = texts.iter().any(|text| !text.trim().is_empty());
        if self.tool_calls.is_empty() && has_text && is_first {
            builder.stopped(at, Outcome::Completed, None);
        }
    }
}

impl CallRecord<'_> {
    fn emit(&self, at: Timestamp, builder: &mut TurnBuilder<'_>) {
        let ended_at = self.timestamp.as_deref().and_then(json::instant).unwrap_or(at);
        let steps = self.args.as_ref().filter(|_| self.name == "write_todos").and_then(calls::plan);
        if let Some(steps) = steps {
            return builder.plan(at, steps);
        }
        if !builder.knows_call(&self.id) {
            builder.call(at, &self.id, calls::start(&self.name, self.args.clone()));
        }
        let status = match self.status.as_ref() {
            "success" => ToolStatus::Completed,
            "error" => ToolStatus::Failed,
            "cancelled" => ToolStatus::Cancelled,
            _ => return,
        };
        if builder.find_call(&self.id).is_none() {
            return;
        }
        let output = self.output();
        let mut shown = CallOutput::default();
        match (calls::kind(&self.name), &self.args) {
            (ToolKind::Execute, Some(args)) => {
                let (exit_code, output) = split_exit_code(&output);
                shown.terminal(&calls::command(args).unwrap_or_default(), output, exit_code);
            }
            (ToolKind::Edit, _) if status == ToolStatus::Completed => {
                if let Some(edited) = self.result_display.and_then(as_a::<Edited<'_>>) {
                    let old = edited.original_content.as_deref().unwrap_or_default();
                    let is_new = edited.is_new_file == Some(true);
                    shown.diff(&edited.file_path, (!is_new).then_some(old), &edited.new_content);
                }
            }
            _ => (),
        }
        if shown.is_empty() {
            shown.text(&output);
        }
        builder.change_call(ended_at, &self.id, calls::end(status, shown));
    }

    fn output(&self) -> String {
        let parts = self.result.map(items).unwrap_or_default().into_iter().filter_map(as_a::<Part<'_>>);
        let outputs = parts.filter_map(|part| {
            let response = part.function_response.and_then(|response| response.response);
            response.and_then(|response| response.output.or(response.error)).or(part.text)
        });
        outputs.collect::<Vec<_>>().join("\n")
    }
}

/// The exit code and the output of a command, without the program's header.
pub(in crate::history) fn split_exit_code(output: &str) -> (Option<i32>, &str) {
    let inner = output.trim().strip_prefix("<untrusted_context>").unwrap_or(output);
    let inner = inner.trim().strip_suffix("</untrusted_context>").unwrap_or(inner).trim();
    let code = inner.lines().rev().find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok());
    let body = inner.split_once("Output: ").map_or(inner, |(_, body)| body);
    let end = ["\nError: ", "\nExit Code: ", "\nSignal: ", "\nBackground PIDs: ", "\nProcess Group PGID: "];
    let end = end.iter().filter_map(|mark| body.rfind(mark)).min().unwrap_or(body.len());
    (code, &body[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_says_of_an_output_is_none_of_it() {
        let output =
            "<untrusted_context>\nOutput: no\nway\nExit Code: 2\nProcess Group PGID: 456\n</untrusted_context>";
        assert_eq!(split_exit_code(output), (Some(2), "no\nway"));
        assert_eq!(split_exit_code("Command: ls\nOutput: a\nError: (none)\nExit Code: 0"), (Some(0), "a"));
        assert_eq!(split_exit_code("plain"), (None, "plain"));
    }
}
