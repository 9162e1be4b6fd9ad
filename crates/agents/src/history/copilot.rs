//! GitHub Copilot's command line: a folder for each session below `session-state/`, with one file of events, a line
//! each.
//!
//! `user.message` is the person's, `assistant.message` the model's answer, and `tool.execution_start` and
//! `tool.execution_complete` are the calls. `assistant.turn_end` ends a request to the model and not the person's
//! turn: the turn ends with an answer that calls no tool.

use std::borrow::Cow;
use std::path::Path;

use model::{Outcome, Timestamp, TokenCount, ToolChange, ToolKind, ToolStatus, Usage, UsedTokens};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::builder::{Counted, TurnBuilder};
use super::calls::{self, CallOutput};
use super::json::{self, as_a, items, keep_first};
use super::lines::{self, LineStart};
use super::user_text::{self, UserText};
use super::{HistoryError, LastTurn};

/// The file in a session's folder.
pub(super) const EVENTS: &str = "events.jsonl";

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    timestamp: Cow<'a, str>,
    #[serde(borrow)]
    data: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Start<'a> {
    #[serde(borrow)]
    copilot_version: Option<Cow<'a, str>>,
    #[serde(borrow)]
    start_time: Option<Cow<'a, str>>,
    #[serde(borrow)]
    context: Option<Context<'a>>,
}

#[derive(Deserialize)]
struct Context<'a> {
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ModelChange<'a> {
    #[serde(borrow)]
    new_model: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Prompt<'a> {
    #[serde(borrow)]
    content: Cow<'a, str>,
    /// Set if the program wrote it in the person's name, such as a loaded skill.
    #[serde(borrow)]
    source: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AssistantMessage<'a> {
    #[serde(borrow)]
    content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    reasoning_text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_requests: Option<&'a RawValue>,
    /// The call of the sub-agent that said it.
    #[serde(borrow)]
    parent_tool_call_id: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallStart<'a> {
    #[serde(borrow)]
    tool_call_id: Cow<'a, str>,
    #[serde(borrow)]
    tool_name: Cow<'a, str>,
    arguments: Option<Value>,
    #[serde(borrow)]
    parent_tool_call_id: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallEnd<'a> {
    #[serde(borrow)]
    tool_call_id: Cow<'a, str>,
    success: Option<bool>,
    #[serde(borrow)]
    result: Option<CallResult<'a>>,
    #[serde(borrow)]
    error: Option<CallError<'a>>,
    shell_execution: Option<ShellExecution>,
    #[serde(borrow)]
    file_edits: Option<&'a RawValue>,
    #[serde(borrow)]
    parent_tool_call_id: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct CallResult<'a> {
    #[serde(borrow)]
    content: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct CallError<'a> {
    #[serde(borrow)]
    message: Option<Cow<'a, str>>,
    #[serde(borrow)]
    code: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShellExecution {
    exit_code: Option<i32>,
}

#[derive(Deserialize)]
struct FileEdit<'a> {
    #[serde(borrow)]
    path: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
struct UsageRecord<'a> {
    #[serde(borrow)]
    usage: AnswerUsage<'a>,
}

/// Its `cost` is counted in requests of the subscription, not in money.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct AnswerUsage<'a> {
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
}

impl AnswerUsage<'_> {
    fn tokens(&self) -> UsedTokens {
        let (input, output) = (self.input_tokens, self.output_tokens);
        let total = input.saturating_add(output);
        let (cached_read, cached_write) = (Some(self.cache_read_tokens), Some(self.cache_write_tokens));
        TokenCount { total, input, output, thought: None, cached_read, cached_write }.into()
    }
}

pub(super) fn read(path: &Path, last_turn: LastTurn, builder: &mut TurnBuilder<'_>) -> Result<(), HistoryError> {
    lines::each(path, last_turn, builder, |line, line_start, builder| {
        let Ok(record) = serde_json::from_slice::<Record<'_>>(line) else { return builder.skip("not a record") };
        let Some(at) = json::instant(&record.timestamp) else { return builder.skip("a record without its time") };
        if record.emit(at, line_start, builder).is_none() {
            builder.skip("not a record");
        }
    })
}

impl Record<'_> {
    /// `None` if its data have another shape.
    fn emit(&self, at: Timestamp, line_start: LineStart<'_>, builder: &mut TurnBuilder<'_>) -> Option<()> {
        match self.kind.as_ref() {
            "session.start" => as_a::<Start<'_>>(self.data)?.emit(builder),
            "session.model_change" => {
                let changed = as_a::<ModelChange<'_>>(self.data)?;
                keep_first(&mut builder.header().model, changed.new_model.as_deref());
            }
            "user.message" => as_a::<Prompt<'_>>(self.data)?.emit(at, line_start, builder),
            "assistant.message" => as_a::<AssistantMessage<'_>>(self.data)?.emit(at, builder),
            "tool.execution_start" => {
                let CallStart { tool_call_id, tool_name, arguments, parent_tool_call_id } = as_a(self.data)?;
                match parent_tool_call_id {
                    Some(_) => builder.skip("a record of a sub-agent"),
                    None => builder.call(at, &tool_call_id, calls::start(&tool_name, arguments)),
                }
            }
            "tool.execution_complete" => as_a::<CallEnd<'_>>(self.data)?.emit(at, builder),
            "session.usage_record" => {
                let usage = as_a::<UsageRecord<'_>>(self.data)?.usage;
                let tokens = usage.tokens();
                builder.usage(Usage::window(tokens.total(), 0));
                let model = usage.model.as_deref().map(str::to_owned);
                builder.count(None, Counted { model, tokens, cost: 0.0 });
            }
            "abort" => builder.stopped(at, Outcome::Cancelled, None),
            _ => builder.skip("a record of the program's own"),
        }
        Some(())
    }
}

impl Start<'_> {
    fn emit(&self, builder: &mut TurnBuilder<'_>) {
        let header = builder.header();
        keep_first(&mut header.version, self.copilot_version.as_deref());
        keep_first(&mut header.cwd, self.context.as_ref().and_then(|context| context.cwd.as_deref()));
        header.created_at = header.created_at.or(self.start_time.as_deref().and_then(json::instant));
    }
}

impl Prompt<'_> {
    fn emit(&self, at: Timestamp, line_start: LineStart<'_>, builder: &mut TurnBuilder<'_>) {
        let is_persons = self.source.as_deref().is_none_or(|source| source == "user");
        match user_text::classify(&self.content) {
            UserText::Own(own) if is_persons => builder.prompt(at, own.to_owned(), Vec::new(), line_start.position()),
            UserText::Command(command) if is_persons => builder.prompt(at, command, Vec::new(), line_start.position()),
            _ => builder.skip("a message of the program's own"),
        }
    }
}

impl AssistantMessage<'_> {
    fn emit(&self, at: Timestamp, builder: &mut TurnBuilder<'_>) {
        if self.parent_tool_call_id.is_some() {
            return builder.skip("a record of a sub-agent");
        }
        if let Some(thought) = &self.reasoning_text {
            builder.thought(at, thought.clone().into_owned());
        }
        let text = self.content.clone().unwrap_or_default();
        let is_last = !text.trim().is_empty() && self.tool_requests.map(items).unwrap_or_default().is_empty();
        builder.text(at, text.into_owned());
        if is_last {
            builder.stopped(at, Outcome::Completed, None);
        }
    }
}

impl CallEnd<'_> {
    fn emit(&self, at: Timestamp, builder: &mut TurnBuilder<'_>) {
        if self.parent_tool_call_id.is_some() {
            return builder.skip("a record of a sub-agent");
        }
        let status = match (self.success, self.error.as_ref().and_then(|error| error.code.as_deref())) {
            (Some(true), _) => ToolStatus::Completed,
            (_, Some("rejected")) => ToolStatus::Cancelled,
            _ => ToolStatus::Failed,
        };
        let shown = self.shown(builder.find_call(&self.tool_call_id), status);
        builder.change_call(at, &self.tool_call_id, calls::end(status, shown));
    }

    fn shown(&self, call: Option<&ToolChange>, status: ToolStatus) -> CallOutput {
        let mut shown = CallOutput::default();
        let input = call.and_then(|call| call.input.as_ref());
        let output = self.result.as_ref().and_then(|result| result.content.as_deref());
        let output = output.or(self.error.as_ref().and_then(|error| error.message.as_deref())).unwrap_or_default();
        match (call.and_then(|call| call.kind), input) {
            (Some(ToolKind::Execute), Some(input)) if status != ToolStatus::Cancelled => {
                let exit_code = self.shell_execution.as_ref().and_then(|shell| shell.exit_code);
                // The program's note about the shell is not part of the output.
                let printed = output.rsplit_once("\n<shellId: ").map_or(output, |(printed, _)| printed);
                shown.terminal(&calls::command(input).unwrap_or_default(), printed, exit_code);
            }
            (Some(ToolKind::Edit), Some(input)) if status == ToolStatus::Completed => {
                let of = |name: &str| calls::argument(input, &[name]);
                let edits = self.file_edits.map(items).unwrap_or_default().into_iter().filter_map(as_a::<FileEdit<'_>>);
                for FileEdit { path, kind } in edits {
                    match kind.as_ref() {
                        "create" => shown.diff(&path, None, of("file_text").unwrap_or_default()),
                        _ => shown.diff(&path, of("old_str"), of("new_str").unwrap_or_default()),
                    }
                }
            }
            _ => (),
        }
        if shown.is_empty() {
            shown.text(output);
        }
        shown
    }
}
