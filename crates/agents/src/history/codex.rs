//! Codex: one file of lines for each session, in a folder for each day below `sessions/`; titles are in an index
//! beside it.
//!
//! A line is `{timestamp, type, payload}`. `response_item` is what the model was sent and answered, in the form of
//! its API; `event_msg` is what the program showed. Messages and calls are taken from the first. Results of commands
//! and patches are taken from the second, which is more precise, and a call that ended there is not ended again.

mod index;
mod items;
mod outputs;
mod tokens;

use std::borrow::Cow;
use std::path::Path;

use model::{Image, MAX_IMAGES, Notice, Outcome, Severity, Timestamp, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::builder::{TitledBy, TurnBuilder};
use super::json::{self as raw, Text, as_a, keep_first};
use super::lines::{self, LineStart};
use super::user_text::{self, UserText};
use super::{HistoryError, LastTurn, blobs, calls};
use crate::acp::cut_chars;
use tokens::{AnswerUsage, Progress, TokenInfo};

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    timestamp: Cow<'a, str>,
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    payload: &'a RawValue,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    cli_version: Option<Cow<'a, str>>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct TurnContext<'a> {
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    summary: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    namespace: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<Cow<'a, str>>,
    #[serde(borrow)]
    input: Option<Cow<'a, str>>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
    #[serde(borrow)]
    call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(rename = "internal_chat_message_metadata_passthrough", borrow)]
    metadata: Option<Metadata<'a>>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    /// The origin of each content item: `user.text`, `environments.environment_context`.
    #[serde(borrow)]
    content_item_kinds: Option<Vec<Cow<'a, str>>>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    image_url: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct ShownEvent<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    message: Option<Cow<'a, str>>,
    #[serde(borrow)]
    thread_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    info: Option<TokenInfo>,
}

pub(super) fn read(
    path: &Path,
    id: &str,
    last_turn: LastTurn,
    builder: &mut TurnBuilder<'_>,
) -> Result<(), HistoryError> {
    if let Some(name) = index::name_of(path, id) {
        builder.title(None, &name, TitledBy::Tool);
    }
    let mut progress = Progress::at(path, builder.position());
    lines::each(path, last_turn, builder, |line, line_start, builder| {
        match serde_json::from_slice::<Record<'_>>(line) {
            Ok(record) if record.kind == "session_meta" => progress.is_subagents |= !record.emit_meta(builder),
            Ok(_) if progress.is_subagents => builder.skip("a record of a sub-agent"),
            Ok(record) => record.emit(line_start, &mut progress, builder),
            Err(_) => builder.skip("not a record"),
        }
    })
}

impl Record<'_> {
    /// Emits the header; returns whether this is the record of a person's own conversation.
    fn emit_meta(&self, builder: &mut TurnBuilder<'_>) -> bool {
        let Some(meta) = as_a::<Meta<'_>>(self.payload) else {
            builder.skip("not a record");
            return true;
        };
        let header = builder.header();
        keep_first(&mut header.cwd, meta.cwd.as_deref());
        keep_first(&mut header.version, meta.cli_version.as_deref());
        let at = meta.timestamp.as_deref().or(Some(&self.timestamp)).and_then(raw::instant);
        header.created_at = header.created_at.or(at);
        !meta.source.is_some_and(|source| raw::is_object(source) && source.get().contains("subagent"))
    }

    fn emit(&self, line_start: LineStart<'_>, progress: &mut Progress, builder: &mut TurnBuilder<'_>) {
        let Some(at) = raw::instant(&self.timestamp) else { return builder.skip("a record without its time") };
        match self.kind.as_ref() {
            "response_item" => match as_a::<Item<'_>>(self.payload) {
                Some(item) => item.emit(at, line_start, builder),
                None => builder.skip("not a record"),
            },
            "event_msg" => match as_a::<ShownEvent<'_>>(self.payload) {
                Some(shown) => shown.emit(at, self.payload, progress, builder),
                None => builder.skip("not a record"),
            },
            "turn_context" => {
                let context: Option<TurnContext<'_>> = as_a(self.payload);
                if let Some(model) = context.and_then(|context| context.model) {
                    keep_first(&mut builder.header().model, Some(&*model));
                    progress.model = Some(model.into_owned());
                }
            }
            "token_usage_record" => match as_a::<AnswerUsage<'_>>(self.payload) {
                Some(AnswerUsage { response_id, usage }) => {
                    progress.has_answer_usage = true;
                    progress.count(response_id.as_deref(), usage, builder);
                }
                None => builder.skip("not a record"),
            },
            "compacted" => {
                let compacted: Option<Compacted<'_>> = as_a(self.payload);
                let summary = compacted.map(|compacted| compacted.message.into_owned());
                builder.compacted(at, summary.filter(|summary| !summary.is_empty()));
            }
            _ => builder.skip("a record of the program's own"),
        }
    }
}

#[derive(Deserialize)]
struct Compacted<'a> {
    #[serde(borrow, default)]
    message: Cow<'a, str>,
}

impl Item<'_> {
    fn emit(&self, at: Timestamp, line_start: LineStart<'_>, builder: &mut TurnBuilder<'_>) {
        match (self.kind.as_ref(), self.role.as_deref(), self.call_id.as_deref()) {
            ("message", Some("user"), _) => self.emit_user(at, line_start, builder),
            ("message", Some("assistant"), _) => {
                let parts = self.content.map(raw::items).unwrap_or_default();
                for part in parts.into_iter().filter_map(as_a::<Part<'_>>) {
                    builder.text(at, part.text.unwrap_or_default().into_owned());
                }
            }
            ("reasoning", ..) => {
                let parts = [self.summary, self.content].into_iter().flatten().flat_map(raw::items);
                let thoughts = parts.filter_map(as_a::<Part<'_>>).filter_map(|part| part.text);
                builder.thought(at, thoughts.collect::<Vec<_>>().join("\n\n"));
            }
            ("function_call", _, Some(id)) => {
                let name = self.name.as_deref().unwrap_or_default();
                let input: Option<Value> = self.arguments.as_deref().and_then(|text| serde_json::from_str(text).ok());
                let steps = input.as_ref().filter(|_| name == "update_plan").and_then(calls::plan);
                let name = match self.namespace.as_deref() {
                    Some(namespace) => format!("{namespace}__{name}"),
                    None => name.to_owned(),
                };
                match steps {
                    Some(steps) => builder.plan(at, steps),
                    None => builder.call(at, id, calls::start(&name, input)),
                }
            }
            ("custom_tool_call", _, Some(id)) => {
                let name = self.name.as_deref().unwrap_or_default();
                let given = self.input.as_deref().unwrap_or_default();
                let input = if name == "apply_patch" { items::of_patch(given) } else { json!({ "input": given }) };
                builder.call(at, id, calls::start(name, Some(input)));
            }
            ("local_shell_call", _, Some(id)) => {
                builder.call(at, id, calls::start("shell", self.action.and_then(as_a)));
            }
            ("function_call_output" | "custom_tool_call_output", _, Some(id)) => {
                if let Some(output) = self.output {
                    outputs::emit(at, id, output, builder);
                }
            }
            ("message", ..) => builder.skip("a message of the program's own"),
            _ => builder.skip("an item of an unknown kind"),
        }
    }

    fn emit_user(&self, at: Timestamp, line_start: LineStart<'_>, builder: &mut TurnBuilder<'_>) {
        let kinds = self.metadata.as_ref().and_then(|metadata| metadata.content_item_kinds.as_deref()).unwrap_or(&[]);
        let mut said: Vec<String> = Vec::new();
        let mut images: Vec<Image> = Vec::new();
        for (number, part) in self.content.map(raw::items).unwrap_or_default().into_iter().enumerate() {
            let Some(part) = as_a::<Part<'_>>(part) else { continue };
            if kinds.get(number).is_some_and(|kind| !kind.starts_with("user.")) {
                continue;
            }
            let text = part.text.as_deref().unwrap_or_default();
            match user_text::classify(text) {
                UserText::Own(own) if !is_around_picture(own) => said.push(own.to_owned()),
                UserText::Summary(summary) => said.push(summary.to_owned()),
                UserText::Own(_)
                | UserText::Command(_)
                | UserText::Interrupted
                | UserText::CommandOutput
                | UserText::Tools => (),
            }
            let Some((mime_type, data)) = part.image_url.as_deref().and_then(blobs::from_data_url) else { continue };
            match blobs::of_prompt(mime_type, data, builder.limits()) {
                Ok(image) if images.len() < MAX_IMAGES => images.push(image),
                Ok(image) => said.push(format!("[{}, not kept]", image.mime_type)),
                Err(mention) => said.push(mention),
            }
        }
        if said.is_empty() && images.is_empty() {
            return builder.skip("a message of the program's own");
        }
        builder.prompt(at, said.join("\n\n"), images, line_start.position());
    }
}

/// Whether a text only wraps an image.
fn is_around_picture(words: &str) -> bool {
    words == "</image>" || words == "<image>" || (words.starts_with("<image name=") && words.ends_with('>'))
}

impl ShownEvent<'_> {
    fn emit(&self, at: Timestamp, payload: &RawValue, progress: &mut Progress, builder: &mut TurnBuilder<'_>) {
        match self.kind.as_ref() {
            "task_complete" => builder.stopped(at, Outcome::Completed, None),
            "turn_aborted" => builder.stopped(at, Outcome::Cancelled, None),
            "error" | "stream_error" => {
                let title = cut_chars(self.message.as_deref().unwrap_or_default().to_owned(), 2_000);
                builder.notice(at, Notice { severity: Severity::Error, title, description: None });
            }
            "thread_name_updated" => {
                builder.title(Some(at), self.thread_name.as_deref().unwrap_or_default(), TitledBy::Tool);
            }
            "token_count" => {
                let Some(info) = &self.info else { return };
                let used = info.used();
                let size = info.model_context_window.unwrap_or(0);
                builder.usage(Usage::window(used, size));
                progress.count_growth(info, builder);
            }
            "item_completed" => match self.item {
                Some(item) => items::emit(at, item, builder),
                None => builder.skip("not a record"),
            },
            "patch_apply_end" => items::emit_patch(at, payload, builder),
            // Emitted from the item of the same content.
            "user_message" | "agent_message" | "agent_reasoning" | "agent_reasoning_raw_content" => (),
            _ => builder.skip("a record of the program's own"),
        }
    }
}

/// The text of a value that is a text or a list of texts.
fn texts(value: &RawValue) -> String {
    if let Some(text) = as_a::<Text<'_>>(value) {
        return text.0.into_owned();
    }
    let parts = raw::items(value).into_iter().filter_map(as_a::<Part<'_>>).filter_map(|part| part.text);
    parts.collect::<Vec<_>>().join("\n")
}
