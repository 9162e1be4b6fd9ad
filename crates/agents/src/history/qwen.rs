//! Qwen Code: one file of lines for each session, in a folder for each directory below `projects/`.
//!
//! A line is a message (`user`, `assistant`, `tool_result`) or the program's own (`system`). Messages have the parts
//! of Gemini's API, because it is a fork of Gemini CLI. A result has what the person was shown beside what the model
//! was sent.

use std::borrow::Cow;
use std::path::Path;

use model::{Image, Outcome, Timestamp, TokenCount, ToolKind, ToolStatus, Usage, UsedTokens};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::builder::{Counted, TurnBuilder};
use super::calls::{self, CallOutput};
use super::gemini::{FunctionResponse, Part, split_exit_code};
use super::json::{self, as_a, items, keep_first};
use super::lines::{self, LineStart};
use super::user_text::{self, UserText};
use super::{HistoryError, LastTurn};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    timestamp: Cow<'a, str>,
    /// Who wrote a user message; older versions do not say.
    #[serde(borrow)]
    provenance: Option<Cow<'a, str>>,
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    version: Option<Cow<'a, str>>,
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
    usage_metadata: Option<AnswerTokens>,
    #[serde(borrow)]
    tool_call_result: Option<CallResult<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    parts: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnswerTokens {
    #[serde(default)]
    prompt_token_count: u64,
    #[serde(default)]
    candidates_token_count: u64,
    thoughts_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
    total_token_count: Option<u64>,
}

impl AnswerTokens {
    fn by_kind(&self) -> UsedTokens {
        let (input, output) = (self.prompt_token_count, self.candidates_token_count);
        let total = self.total_token_count.unwrap_or_else(|| input.saturating_add(output));
        let (thought, cached_read) = (self.thoughts_token_count, self.cached_content_token_count);
        TokenCount { total, input, output, thought, cached_read, cached_write: None }.into()
    }
}

#[derive(Deserialize)]
struct CallRecord<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    args: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(borrow)]
    result_display: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShellDisplay<'a> {
    exit_code: Option<i32>,
    #[serde(borrow)]
    output: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileDisplay<'a> {
    #[serde(borrow)]
    file_path: Cow<'a, str>,
    #[serde(borrow)]
    file_diff: Option<Cow<'a, str>>,
    #[serde(borrow)]
    original_content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    new_content: Cow<'a, str>,
}

/// How the diff of a new file begins.
const OF_A_NEW_FILE: &str = "\n@@ -0,0 ";

pub(super) fn read(path: &Path, last_turn: LastTurn, builder: &mut TurnBuilder<'_>) -> Result<(), HistoryError> {
    lines::each(path, last_turn, builder, |line, line_start, builder| {
        let Ok(record) = serde_json::from_slice::<Record<'_>>(line) else { return builder.skip("not a record") };
        let Some(at) = json::instant(&record.timestamp) else { return builder.skip("a record without its time") };
        let header = builder.header();
        keep_first(&mut header.cwd, record.cwd.as_deref());
        keep_first(&mut header.version, record.version.as_deref());
        keep_first(&mut header.model, record.model.as_deref());
        match record.kind.as_ref() {
            "user" => record.emit_prompt(at, line_start, builder),
            "assistant" => record.emit_answer(at, builder),
            "tool_result" => record.emit_results(at, builder),
            _ => builder.skip("a record of the program's own"),
        }
    })
}

impl Record<'_> {
    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let parts = self.message.as_ref().map(|message| items(message.parts)).unwrap_or_default();
        parts.into_iter().filter_map(as_a::<Part<'_>>)
    }

    fn emit_prompt(&self, at: Timestamp, line_start: LineStart<'_>, builder: &mut TurnBuilder<'_>) {
        let is_persons = self.provenance.as_deref().is_none_or(|from| from == "real_user");
        let (mut said, mut images): (Vec<String>, Vec<Image>) = (Vec::new(), Vec::new());
        for part in self.parts().filter(|_| is_persons) {
            match user_text::classify(part.text.as_deref().unwrap_or_default()) {
                UserText::Own(own) => said.push(own.to_owned()),
                UserText::Command(command) => said.push(command),
                UserText::Interrupted | UserText::Summary(_) | UserText::CommandOutput | UserText::Tools => (),
            }
            if let Some(picture) = part.inline_data {
                picture.join(&mut said, &mut images, builder.limits());
            }
        }
        if said.is_empty() && images.is_empty() {
            return builder.skip("a message of the program's own");
        }
        builder.prompt(at, said.join("\n\n"), images, line_start.position());
    }

    fn emit_answer(&self, at: Timestamp, builder: &mut TurnBuilder<'_>) {
        let (mut has_text, mut has_call) = (false, false);
        for part in self.parts() {
            if let Some(text) = part.text {
                if part.thought == Some(true) {
                    builder.thought(at, text.into_owned());
                } else {
                    has_text |= !text.trim().is_empty();
                    builder.text(at, text.into_owned());
                }
            }
            if let Some(CallRecord { id, name, args }) = part.function_call.and_then(as_a) {
                has_call = true;
                builder.call(at, &id, calls::start(&name, args));
            }
        }
        if let Some(tokens) = self.usage_metadata.as_ref().map(AnswerTokens::by_kind) {
            builder.usage(Usage::window(tokens.total(), 0));
            let model = self.model.as_deref().map(str::to_owned);
            builder.count(None, Counted { model, tokens, cost: 0.0 });
        }
        if has_text && !has_call {
            builder.stopped(at, Outcome::Completed, None);
        }
    }

    fn emit_results(&self, at: Timestamp, builder: &mut TurnBuilder<'_>) {
        for FunctionResponse { id, response } in self.parts().filter_map(|part| part.function_response) {
            let Some(id) = id else { continue };
            let is_failed = response.as_ref().is_some_and(|response| response.error.is_some());
            let output = response.and_then(|response| response.output.or(response.error)).unwrap_or_default();
            let status = match self.tool_call_result.as_ref().map(|result| result.status.as_ref()) {
                Some("cancelled") => ToolStatus::Cancelled,
                Some("error") => ToolStatus::Failed,
                Some(_) | None if is_failed => ToolStatus::Failed,
                Some(_) | None => ToolStatus::Completed,
            };
            let shown = self.shown(builder.find_call(&id), status, &output);
            builder.change_call(at, &id, calls::end(status, shown));
        }
    }

    fn shown(&self, call: Option<&model::ToolChange>, status: ToolStatus, output: &str) -> CallOutput {
        let display = self.tool_call_result.as_ref().and_then(|result| result.result_display);
        let mut shown = CallOutput::default();
        let kind = call.and_then(|call| call.kind);
        if kind == Some(ToolKind::Execute) && status != ToolStatus::Cancelled {
            let command = call.and_then(|call| call.input.as_ref()).and_then(calls::command).unwrap_or_default();
            match display.and_then(as_a::<ShellDisplay<'_>>) {
                Some(ShellDisplay { exit_code, output }) => shown.terminal(&command, &output, exit_code),
                None => {
                    let (exit_code, output) = split_exit_code(output);
                    shown.terminal(&command, output, exit_code);
                }
            }
        } else if let Some(file) = display.and_then(as_a::<FileDisplay<'_>>) {
            let is_new = file.file_diff.is_some_and(|diff| diff.contains(OF_A_NEW_FILE));
            let old = file.original_content.as_deref().unwrap_or_default();
            shown.diff(&file.file_path, (!is_new).then_some(old), &file.new_content);
        }
        if shown.is_empty() {
            shown.text(output);
        }
        shown
    }
}
