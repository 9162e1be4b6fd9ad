//! Kimi Code: a folder for each session, in a folder for each directory below `sessions/`.
//!
//! `state.json` has the directory and the title; `agents/main/wire.jsonl` has the events, a line each. `turn.prompt`
//! is the person's prompt and `context.append_loop_event` what the agent did. The messages that the model was sent
//! (`context.append_message`) repeat the person's text and hold the program's own reminders, so they are left out.
//! Sub-agents have folders beside `main`.

use std::borrow::Cow;
use std::io::Read as _;
use std::path::Path;

use model::{Outcome, Timestamp, ToolChange, ToolKind, ToolStatus, Usage, UsedTokens};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::builder::{Counted, TitledBy, TurnBuilder};
use super::calls::{self, CallOutput};
use super::json::{Text, as_a, items, keep_first};
use super::lines::{self, LineStart};
use super::user_text::{self, UserText};
use super::{HistoryError, LastTurn};

/// The file in a session's folder.
pub(super) const WIRE: &str = "agents/main/wire.jsonl";
/// The output of a call that the person did not allow.
const REFUSED: &str = "was not run because the user rejected";
/// Far more than any has.
const MAX_STATE_BYTES: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct State<'a> {
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    title: Option<Cow<'a, str>>,
    is_custom_title: Option<bool>,
}

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    /// In milliseconds.
    time: Option<i64>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    origin: Option<Origin<'a>>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    usage: Option<AnswerTokens>,
    #[serde(borrow)]
    reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Origin<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct AnswerTokens {
    input_other: u64,
    input_cache_read: u64,
    input_cache_creation: u64,
    output: u64,
}

impl From<AnswerTokens> for UsedTokens {
    fn from(tokens: AnswerTokens) -> Self {
        Self {
            input: tokens.input_other,
            output: tokens.output,
            thought: 0,
            cached_read: tokens.input_cache_read,
            cached_write: tokens.input_cache_creation,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    part: Option<Part<'a>>,
    #[serde(borrow)]
    tool_call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    args: Option<Value>,
    #[serde(borrow)]
    result: Option<CallResult<'a>>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    think: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    is_error: Option<bool>,
}

pub(super) fn read(path: &Path, last_turn: LastTurn, builder: &mut TurnBuilder<'_>) -> Result<(), HistoryError> {
    emit_state(path, builder);
    lines::each(path, last_turn, builder, |line, line_start, builder| {
        let Ok(record) = serde_json::from_slice::<Record<'_>>(line) else { return builder.skip("not a record") };
        let Some(at) = record.time.map(Timestamp::from_millis) else {
            return builder.skip("a record of the program's own");
        };
        match record.kind.as_ref() {
            "turn.prompt" => record.emit_prompt(at, line_start, builder),
            "context.append_loop_event" => match record.event.and_then(as_a::<Event<'_>>) {
                Some(event) => event.emit(at, builder),
                None => builder.skip("not a record"),
            },
            "llm.request" => keep_first(&mut builder.header().model, record.model.as_deref()),
            "usage.record" => {
                let tokens: UsedTokens = record.usage.unwrap_or_default().into();
                builder.usage(Usage::window(tokens.total(), 0));
                let model = record.model.as_deref().map(str::to_owned);
                builder.count(None, Counted { model, tokens, cost: 0.0 });
            }
            "turn.ended" => match record.reason.as_deref() {
                Some("completed") => builder.stopped(at, Outcome::Completed, None),
                Some("cancelled") => builder.stopped(at, Outcome::Cancelled, None),
                reason => builder.stopped(at, Outcome::Failed, reason.map(str::to_owned)),
            },
            _ => builder.skip("a record of the program's own"),
        }
    })
}

/// Reads the state file beside the record; the record can be read without it.
fn emit_state(path: &Path, builder: &mut TurnBuilder<'_>) {
    let folder = path.ancestors().nth(3).unwrap_or(path);
    let mut text = Vec::new();
    let read =
        lines::open(&folder.join("state.json")).and_then(|file| file.take(MAX_STATE_BYTES).read_to_end(&mut text));
    let Some(state) = read.ok().and_then(|_| serde_json::from_slice::<State<'_>>(&text).ok()) else { return };
    keep_first(&mut builder.header().cwd, state.cwd.as_deref());
    let by = if state.is_custom_title == Some(true) { TitledBy::Person } else { TitledBy::Tool };
    builder.title(None, state.title.as_deref().unwrap_or_default(), by);
}

impl Record<'_> {
    fn emit_prompt(&self, at: Timestamp, line_start: LineStart<'_>, builder: &mut TurnBuilder<'_>) {
        let is_persons = self.origin.as_ref().is_none_or(|origin| origin.kind == "user");
        let parts = self.input.map(items).unwrap_or_default().into_iter().filter_map(as_a::<Part<'_>>);
        let mut said = Vec::new();
        for text in parts.filter_map(|part| part.text).filter(|_| is_persons) {
            match user_text::classify(&text) {
                UserText::Own(own) => said.push(own.to_owned()),
                UserText::Command(command) => said.push(command),
                UserText::Interrupted | UserText::Summary(_) | UserText::CommandOutput | UserText::Tools => (),
            }
        }
        if said.is_empty() {
            return builder.skip("a message of the program's own");
        }
        builder.prompt(at, said.join("\n\n"), Vec::new(), line_start.position());
    }
}

impl Event<'_> {
    fn emit(&self, at: Timestamp, builder: &mut TurnBuilder<'_>) {
        match (self.kind.as_ref(), self.tool_call_id.as_deref()) {
            ("content.part", _) => {
                let Some(part) = &self.part else { return builder.skip("not a record") };
                if let Some(thought) = &part.think {
                    builder.thought(at, thought.clone().into_owned());
                }
                if let Some(text) = &part.text {
                    builder.text(at, text.clone().into_owned());
                }
            }
            ("tool.call", Some(id)) => {
                let name = self.name.as_deref().unwrap_or("tool");
                builder.call(at, id, calls::start(name, self.args.clone()));
            }
            ("tool.result", Some(id)) => {
                let output = self.result.as_ref().map(CallResult::text).unwrap_or_default();
                let status = match self.result.as_ref().is_some_and(|result| result.is_error == Some(true)) {
                    true if output.contains(REFUSED) => ToolStatus::Cancelled,
                    true => ToolStatus::Failed,
                    false => ToolStatus::Completed,
                };
                let shown = shown(builder.find_call(id), status, &output);
                builder.change_call(at, id, calls::end(status, shown));
            }
            ("step.begin" | "step.end", _) => (),
            _ => builder.skip("a record of the program's own"),
        }
    }
}

fn shown(call: Option<&ToolChange>, status: ToolStatus, output: &str) -> CallOutput {
    let mut shown = CallOutput::default();
    let input = call.and_then(|call| call.input.as_ref());
    match (call.and_then(|call| call.kind), input) {
        (Some(ToolKind::Execute), Some(input)) if status != ToolStatus::Cancelled => {
            shown.terminal(&calls::command(input).unwrap_or_default(), output, None);
        }
        (Some(ToolKind::Edit), Some(input)) if status == ToolStatus::Completed => {
            let of = |name: &str| calls::argument(input, &[name]);
            if let (Some(path), Some(new)) = (of("path"), of("new_string")) {
                shown.diff(path, of("old_string"), new);
            }
            shown.text(output);
        }
        _ => shown.text(output),
    }
    shown
}

impl CallResult<'_> {
    fn text(&self) -> String {
        let Some(output) = self.output else { return String::new() };
        if let Some(text) = as_a::<Text<'_>>(output) {
            return text.0.into_owned();
        }
        let parts = items(output).into_iter().filter_map(as_a::<Part<'_>>);
        parts.filter_map(|part| part.text).collect::<Vec<_>>().join("\n")
    }
}
