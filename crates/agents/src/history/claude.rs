//! Claude Code: one file of lines for each session, in a folder for each directory below `projects/`.
//!
//! A line is a record with a `type`. `user` and `assistant` hold messages in the form of the model's API, each block
//! of an answer in a record of its own; results of tools come as user messages. All other types are the program's
//! own, and so are many user messages: see `user_text.rs`.

mod results;

use std::borrow::Cow;
use std::path::Path;

use model::{Image, MAX_IMAGES, Notice, Outcome, Severity, Timestamp, Usage, UsedTokens};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::bookmark::RecordPosition;
use super::builder::{Counted, TitledBy, TurnBuilder};
use super::json::{self, Text, as_a, keep_first};
use super::lines::{self, LineStart};
use super::user_text::{self, UserText};
use super::{HistoryError, HistoryLimits, LastTurn, blobs, calls};
use crate::acp::cut_chars;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    is_sidechain: Option<bool>,
    is_meta: Option<bool>,
    is_compact_summary: Option<bool>,
    is_api_error_message: Option<bool>,
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    version: Option<Cow<'a, str>>,
    #[serde(borrow)]
    origin: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
    #[serde(borrow)]
    tool_use_result: Option<&'a RawValue>,
    #[serde(borrow)]
    attachment: Option<&'a RawValue>,
    #[serde(borrow)]
    ai_title: Option<Cow<'a, str>>,
    #[serde(borrow)]
    custom_title: Option<Cow<'a, str>>,
    #[serde(borrow)]
    summary: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    stop_reason: Option<Cow<'a, str>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    thinking: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    is_error: Option<bool>,
    #[serde(borrow)]
    source: Option<Source<'a>>,
}

#[derive(Deserialize)]
struct Source<'a> {
    #[serde(borrow)]
    media_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AnswerTokens {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
    output_tokens_details: OutputDetails,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    thinking_tokens: u64,
}

impl From<AnswerTokens> for UsedTokens {
    fn from(tokens: AnswerTokens) -> Self {
        Self {
            input: tokens.input_tokens,
            output: tokens.output_tokens,
            thought: tokens.output_tokens_details.thinking_tokens,
            cached_read: tokens.cache_read_input_tokens,
            cached_write: tokens.cache_creation_input_tokens,
        }
    }
}

impl Message<'_> {
    /// An answer has a line for each of its blocks, each with the count so far.
    fn count(&self, builder: &mut TurnBuilder<'_>) -> Option<UsedTokens> {
        let tokens: UsedTokens = self.usage.and_then(as_a::<AnswerTokens>)?.into();
        let model = self.model.as_deref().map(str::to_owned);
        builder.count(self.id.as_deref(), Counted { model, tokens, cost: 0.0 });
        Some(tokens)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attachment<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    prompt: Option<&'a RawValue>,
    #[serde(borrow)]
    command_mode: Option<Cow<'a, str>>,
}

pub(super) fn read(path: &Path, last_turn: LastTurn, builder: &mut TurnBuilder<'_>) -> Result<(), HistoryError> {
    // A command that the person called; it is a prompt if the agent answers it.
    let mut command = None;
    lines::each(path, last_turn, builder, |line, line_start, builder| {
        match serde_json::from_slice::<Record<'_>>(line) {
            Ok(record) => record.emit(line_start, &mut command, builder),
            Err(_) => builder.skip("not a record"),
        }
    })
}

/// A command that the person called, and where.
struct CalledCommand {
    at: Timestamp,
    words: String,
    position: RecordPosition,
}

impl Record<'_> {
    fn emit(&self, line_start: LineStart<'_>, command: &mut Option<CalledCommand>, builder: &mut TurnBuilder<'_>) {
        if self.is_sidechain == Some(true) {
            if let Some(message) = self.message.as_ref().filter(|_| self.kind == "assistant") {
                message.count(builder);
            }
            return builder.skip("a record of a sub-agent");
        }
        let at = self.timestamp.as_deref().and_then(json::instant);
        if let Some(at) = at {
            builder.header().created_at.get_or_insert(at);
        }
        let header = builder.header();
        keep_first(&mut header.cwd, self.cwd.as_deref());
        keep_first(&mut header.version, self.version.as_deref());
        match (self.kind.as_ref(), at) {
            ("user", Some(at)) => self.emit_user(at, line_start, command, builder),
            ("assistant", Some(at)) => self.emit_assistant(at, command, builder),
            ("attachment", Some(at)) => self.emit_attachment(at, line_start, builder),
            ("ai-title", at) => builder.title(at, self.ai_title.as_deref().unwrap_or_default(), TitledBy::Tool),
            ("custom-title", at) => {
                builder.title(at, self.custom_title.as_deref().unwrap_or_default(), TitledBy::Person);
            }
            ("summary", at) => {
                let summary: Option<Text<'_>> = self.summary.and_then(as_a);
                builder.title(at, summary.as_ref().map_or("", |summary| &summary.0), TitledBy::Tool);
            }
            ("user" | "assistant", None) => builder.skip("a message without its time"),
            _ => builder.skip("a record of the program's own"),
        }
    }

    fn emit_user(
        &self,
        at: Timestamp,
        line_start: LineStart<'_>,
        command: &mut Option<CalledCommand>,
        builder: &mut TurnBuilder<'_>,
    ) {
        let Some(content) = self.message.as_ref().and_then(|message| message.content) else {
            return builder.skip("a message without content");
        };
        let blocks = Blocks::of(content);
        let mut said = UserMessage::default();
        for block in &blocks.0 {
            match block.kind.as_ref() {
                "text" => said.add_text(block.text.as_deref().unwrap_or_default()),
                "image" => said.add_image(block.source.as_ref(), builder.limits()),
                "tool_result" => results::emit(at, block, self.tool_use_result, builder),
                _ => builder.skip("a block of an unknown kind"),
            }
        }
        let is_compact = self.is_compact_summary == Some(true);
        if let Some(summary) = said.summary.filter(|_| !is_compact || said.words.is_empty()) {
            return builder.compacted(at, Some(summary));
        }
        if is_compact {
            return builder.compacted(at, Some(said.words));
        }
        if said.is_command_done {
            *command = None;
        }
        if said.is_interrupted {
            return builder.stopped(at, Outcome::Cancelled, None);
        }
        if self.is_meta == Some(true) || !self.is_by_person() {
            return builder.skip("a message of the program's own");
        }
        if !said.words.is_empty() || !said.images.is_empty() {
            *command = None;
            builder.prompt(at, said.words, said.images, line_start.position());
        } else if let Some(words) = said.command {
            *command = Some(CalledCommand { at, words, position: line_start.position() });
        }
    }

    /// Whether the person wrote it. Older versions do not say; newer ones also record notifications of background
    /// tasks as user messages.
    fn is_by_person(&self) -> bool {
        #[derive(Deserialize)]
        struct Origin<'a> {
            #[serde(borrow)]
            kind: Option<Cow<'a, str>>,
        }
        let origin: Option<Origin<'_>> = self.origin.and_then(as_a);
        origin.and_then(|origin| origin.kind).is_none_or(|kind| kind == "human")
    }

    fn emit_assistant(&self, at: Timestamp, command: &mut Option<CalledCommand>, builder: &mut TurnBuilder<'_>) {
        let Some(message) = &self.message else { return builder.skip("a message without content") };
        if self.is_api_error_message == Some(true) {
            let title = message.content.map(|content| Blocks::of(content).text()).unwrap_or_default();
            builder.notice(at, Notice { severity: Severity::Error, title: cut_chars(title, 2_000), description: None });
            return builder.stopped(at, Outcome::Failed, None);
        }
        if message.model.as_deref() == Some("<synthetic>") {
            return builder.skip("a message of the program's own");
        }
        if let Some(CalledCommand { at, words, position }) = command.take() {
            builder.prompt(at, words, Vec::new(), position);
        }
        keep_first(&mut builder.header().model, message.model.as_deref());
        for block in message.content.map(Blocks::of).unwrap_or_default().0 {
            block.emit(at, builder);
        }
        if let Some(tokens) = message.count(builder) {
            builder.usage(Usage::window(tokens.total(), 0));
        }
        match message.stop_reason.as_deref() {
            Some("end_turn" | "stop_sequence") => builder.stopped(at, Outcome::Completed, None),
            Some(reason @ ("max_tokens" | "refusal")) => builder.stopped(at, Outcome::Failed, Some(reason.to_owned())),
            Some(_) | None => (),
        }
    }

    /// Emits what the person said while the agent was working.
    fn emit_attachment(&self, at: Timestamp, line_start: LineStart<'_>, builder: &mut TurnBuilder<'_>) {
        let queued = self.attachment.and_then(as_a::<Attachment<'_>>).filter(|attachment| {
            attachment.kind == "queued_command"
                && attachment.command_mode.as_deref().is_none_or(|mode| mode == "prompt")
        });
        let Some(prompt) = queued.and_then(|queued| queued.prompt) else {
            return builder.skip("a record of the program's own");
        };
        let mut said = UserMessage::default();
        for block in Blocks::of(prompt).0 {
            match block.kind.as_ref() {
                "image" => said.add_image(block.source.as_ref(), builder.limits()),
                _ => said.add_text(block.text.as_deref().unwrap_or_default()),
            }
        }
        if !said.words.is_empty() || !said.images.is_empty() {
            builder.prompt(at, said.words, said.images, line_start.position());
        }
    }
}

/// The content of a user message.
#[derive(Default)]
struct UserMessage {
    words: String,
    images: Vec<Image>,
    command: Option<String>,
    summary: Option<String>,
    is_interrupted: bool,
    is_command_done: bool,
}

impl UserMessage {
    fn add_text(&mut self, text: &str) {
        match user_text::classify(text) {
            UserText::Own(own) => self.add(own),
            UserText::Command(command) => self.command = Some(command),
            UserText::Interrupted => self.is_interrupted = true,
            UserText::Summary(summary) => self.summary = Some(summary.to_owned()),
            UserText::CommandOutput => self.is_command_done = true,
            UserText::Tools => (),
        }
    }

    fn add_image(&mut self, source: Option<&Source<'_>>, limits: &HistoryLimits) {
        let Some(Source { media_type, data: Some(data) }) = source else { return };
        match blobs::of_prompt(media_type.as_deref().unwrap_or_default(), data, limits) {
            Ok(image) if self.images.len() < MAX_IMAGES => self.images.push(image),
            Ok(image) => self.add(&format!("[{}, not kept]", image.mime_type)),
            Err(mention) => self.add(&mention),
        }
    }

    fn add(&mut self, words: &str) {
        if !self.words.is_empty() {
            self.words.push_str("\n\n");
        }
        self.words.push_str(words);
    }
}

#[derive(Default)]
struct Blocks<'a>(Vec<Block<'a>>);

impl<'a> Blocks<'a> {
    /// A content is a text or a list of blocks.
    fn of(content: &'a RawValue) -> Self {
        if let Some(text) = as_a::<Text<'a>>(content) {
            return Self(vec![Block { kind: Cow::Borrowed("text"), text: Some(text.0), ..Block::default() }]);
        }
        Self(json::items(content).into_iter().filter_map(as_a).collect())
    }

    fn text(&self) -> String {
        self.0.iter().filter_map(|block| block.text.as_deref()).collect::<Vec<_>>().join("\n")
    }
}

impl Block<'_> {
    fn emit(&self, at: Timestamp, builder: &mut TurnBuilder<'_>) {
        match (self.kind.as_ref(), &self.id, &self.name) {
            ("text", ..) => builder.text(at, self.text.as_deref().unwrap_or_default().to_owned()),
            ("thinking", ..) => builder.thought(at, self.thinking.as_deref().unwrap_or_default().to_owned()),
            ("tool_use" | "server_tool_use", Some(id), Some(name)) => {
                let input: Option<Value> = self.input.and_then(as_a);
                let steps = input.as_ref().filter(|_| name == "TodoWrite").and_then(calls::plan);
                match steps {
                    Some(steps) => builder.plan(at, steps),
                    None => builder.call(at, id, calls::start(name, input)),
                }
            }
            _ => builder.skip("a block of an unknown kind"),
        }
    }
}
