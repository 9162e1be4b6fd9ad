//! The parts of opencode's messages.

use std::borrow::Cow;

use model::{Image, MAX_IMAGES, Timestamp, ToolKind, ToolStatus};
use serde::Deserialize;
use serde_json::Value;

use crate::history::bookmark::RecordPosition;
use crate::history::builder::TurnBuilder;
use crate::history::calls::{self, CallOutput};
use crate::history::user_text::{self, UserText};
use crate::history::{HistoryLimits, blobs};

#[derive(Deserialize)]
pub(super) struct Part<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    synthetic: Option<bool>,
    ignored: Option<bool>,
    #[serde(borrow)]
    mime: Option<Cow<'a, str>>,
    #[serde(borrow)]
    url: Option<Cow<'a, str>>,
    #[serde(borrow)]
    description: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool: Option<Cow<'a, str>>,
    #[serde(rename = "callID", borrow)]
    call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    state: Option<State<'a>>,
}

#[derive(Deserialize)]
struct State<'a> {
    #[serde(borrow)]
    status: Cow<'a, str>,
    input: Option<Value>,
    #[serde(borrow)]
    output: Option<Cow<'a, str>>,
    #[serde(borrow)]
    error: Option<Cow<'a, str>>,
    metadata: Option<Metadata>,
    time: Option<Times>,
    #[serde(borrow, default)]
    attachments: Vec<Attachment<'a>>,
}

#[derive(Deserialize)]
struct Metadata {
    exit: Option<i32>,
    exists: Option<bool>,
}

#[derive(Deserialize)]
struct Times {
    start: Option<i64>,
    end: Option<i64>,
}

#[derive(Deserialize)]
struct Attachment<'a> {
    #[serde(borrow)]
    url: Option<Cow<'a, str>>,
}

impl Part<'_> {
    /// Text that was not added by the program.
    pub(super) fn own_text(&self) -> Option<&str> {
        let is_own = self.kind == "text" && self.synthetic != Some(true) && self.ignored != Some(true);
        self.text.as_deref().filter(|_| is_own)
    }

    /// Emits a part of an assistant message.
    pub(super) fn emit(&self, at: Timestamp, builder: &mut TurnBuilder<'_>) {
        match (self.kind.as_ref(), &self.tool, &self.call_id, &self.state) {
            ("text", ..) => builder.text(at, self.own_text().unwrap_or_default().to_owned()),
            ("reasoning", ..) => builder.thought(at, self.text.as_deref().unwrap_or_default().to_owned()),
            ("tool", Some(tool), Some(id), Some(state)) => state.emit(at, tool, id, builder),
            // Markers of the program itself.
            ("step-start" | "step-finish" | "patch" | "snapshot" | "retry" | "agent", ..) => (),
            _ => builder.skip("a part of an unknown kind"),
        }
    }
}

impl State<'_> {
    fn emit(&self, at: Timestamp, tool: &str, id: &str, builder: &mut TurnBuilder<'_>) {
        let time =
            |find: fn(&Times) -> Option<i64>| self.time.as_ref().and_then(find).map_or(at, Timestamp::from_millis);
        let (start, end) = (time(|time| time.start), time(|time| time.end));
        let steps = self.input.as_ref().filter(|_| tool == "todowrite").and_then(calls::plan);
        if let Some(steps) = steps {
            return builder.plan(start, steps);
        }
        builder.call(start, id, calls::start(tool, self.input.clone()));
        let status = match self.status.as_ref() {
            "completed" => ToolStatus::Completed,
            "error" => ToolStatus::Failed,
            _ => return,
        };
        let mut shown = CallOutput::default();
        let output = self.output.as_deref().or(self.error.as_deref()).unwrap_or_default();
        match (calls::kind(tool), &self.input) {
            (ToolKind::Execute, Some(input)) => {
                let exit_code = self.metadata.as_ref().and_then(|metadata| metadata.exit);
                shown.terminal(&calls::command(input).unwrap_or_default(), output, exit_code);
            }
            (ToolKind::Edit, Some(input)) if status == ToolStatus::Completed => self.show_edit(input, &mut shown),
            _ => (),
        }
        if shown.is_empty() {
            shown.text(output);
        }
        for url in self.attachments.iter().filter_map(|attachment| attachment.url.as_deref()) {
            if let Some((mime_type, data)) = blobs::from_data_url(url) {
                shown.image(blobs::of_call(mime_type, data, builder.limits()));
            }
        }
        builder.change_call(end, id, calls::end(status, shown));
    }

    /// The text of a file before it was rewritten is not emitted.
    fn show_edit(&self, input: &Value, shown: &mut CallOutput) {
        let Some(path) = calls::argument(input, &["filePath"]) else { return };
        let text = |name: &str| input.get(name).and_then(Value::as_str);
        if let (Some(old), Some(new)) = (text("oldString"), text("newString")) {
            shown.diff(path, Some(old), new);
        } else if let (Some(content), Some(false)) =
            (text("content"), self.metadata.as_ref().and_then(|metadata| metadata.exists))
        {
            shown.diff(path, None, content);
        }
    }
}

/// The content of a user message.
#[derive(Default)]
pub(super) struct Prompt {
    said: Vec<String>,
    images: Vec<Image>,
}

impl Prompt {
    pub(super) fn take(&mut self, part: &Part<'_>, limits: &HistoryLimits) {
        match part.kind.as_ref() {
            "text" => {
                if let UserText::Own(own) = user_text::classify(part.own_text().unwrap_or_default()) {
                    self.said.push(own.to_owned());
                }
            }
            "subtask" => self.said.extend(part.description.as_deref().map(str::to_owned)),
            "file" if part.mime.as_deref().is_some_and(|mime| mime.starts_with("image/")) => {
                let Some((mime_type, data)) = part.url.as_deref().and_then(blobs::from_data_url) else { return };
                match blobs::of_prompt(mime_type, data, limits) {
                    Ok(image) if self.images.len() < MAX_IMAGES => self.images.push(image),
                    Ok(image) => self.said.push(format!("[{}, not kept]", image.mime_type)),
                    Err(mention) => self.said.push(mention),
                }
            }
            _ => (),
        }
    }

    pub(super) fn emit(self, at: Timestamp, after: &RecordPosition, builder: &mut TurnBuilder<'_>) {
        if self.said.is_empty() && self.images.is_empty() {
            return builder.skip("a message of the program's own");
        }
        builder.prompt(at, self.said.join("\n\n"), self.images, after.clone());
    }
}
