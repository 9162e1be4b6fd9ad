//! A call of one of the agent's tools: the changes that agents report, and the call that they fold into.
//!
//! Invariant: entries hold changes; [`ToolCall::change`] folds them, live and in replay alike. A call that is still
//! open when its turn ends was cut off.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::body::{BodyOf, BodyRef, utf16_len};

/// A call as a reader sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Its number in its turn, from 1; `t42.3` is the third call of turn 42.
    pub tool: u32,
    /// The agent's own id of it.
    pub call_id: String,
    /// What it does, in the agent's words.
    pub title: String,
    /// The tool's name, if the agent reported it.
    pub name: Option<String>,
    /// What sort of work it is.
    pub kind: ToolKind,
    /// Where it stands.
    pub status: ToolStatus,
    /// What it shows.
    pub content: Vec<ToolContent>,
    /// The files it works on.
    pub locations: Vec<Location>,
    /// What the tool was given, as the agent reported it.
    pub input: Option<Value>,
    /// What the tool gave, as the agent reported it.
    pub output: Option<Value>,
    /// The files that it works on and that were not there when it named them first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_files: Vec<String>,
    /// What of it is kept beside the log; its place here holds a head.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<BodyRef>,
}

/// What changes in a call; only what is present.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolChange {
    /// What it does, in the agent's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What sort of work it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ToolKind>,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ToolStatus>,
    /// All that it shows now, in place of what it showed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<ToolContent>>,
    /// All the files it works on now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locations: Option<Vec<Location>>,
    /// What the tool was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
    pub input: Option<Value>,
    /// What the tool gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
    pub output: Option<Value>,
    /// All the files it works on that were not there when it named them first, by their whole paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_files: Option<Vec<String>>,
    /// What of content, input and output is kept beside the log; its place here holds a head.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<BodyRef>,
}

impl ToolChange {
    /// About how many bytes it has, found without writing it down.
    pub fn about_bytes(&self) -> usize {
        crate::json_bytes(self)
    }
}

/// What sort of work a tool does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum ToolKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    SwitchMode,
    #[default]
    Other,
}

/// Where a call stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It waits, for its input or for a permission.
    #[default]
    Pending,
    /// It runs.
    Running,
    /// It succeeded.
    Completed,
    /// It did not.
    Failed,
    /// Its turn ended before it did.
    Cancelled,
}

/// Something a call shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields are named after what they hold")]
pub enum ToolContent {
    Text {
        text: String,
    },
    #[serde(rename_all = "camelCase")]
    Image {
        mime_type: String,
        data: String,
    },
    Link {
        uri: String,
        name: String,
    },
    /// A file before and after; without a before it is new.
    #[serde(rename_all = "camelCase")]
    Diff {
        path: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old_text: Option<String>,
        new_text: String,
    },
    /// What a command printed.
    #[serde(rename_all = "camelCase")]
    Terminal {
        command: String,
        output: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
    },
    /// Larger than is kept; this much is not.
    Omitted {
        bytes: u64,
    },
    /// Not understood, and kept as it came.
    Raw {
        #[cfg_attr(feature = "schema", schema(value_type = Object))]
        value: Value,
    },
}

/// A file, and a line in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// As the agent named it.
    pub path: String,
    /// Counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl ToolStatus {
    /// Nothing more is to come.
    pub fn is_final(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Cancelled => true,
            Self::Pending | Self::Running => false,
        }
    }
}

impl ToolCall {
    /// What to call it: what it does, else the tool's name.
    pub fn label(&self) -> &str {
        match (self.title.as_str(), &self.name) {
            ("", Some(name)) => name,
            ("", None) => "a tool",
            (title, _) => title,
        }
    }

    /// A call that has just begun.
    pub fn begin(tool: u32, call_id: String, change: &ToolChange) -> Self {
        let mut call = Self {
            tool,
            call_id,
            title: String::new(),
            name: None,
            kind: ToolKind::default(),
            status: ToolStatus::default(),
            content: Vec::new(),
            locations: Vec::new(),
            input: None,
            output: None,
            new_files: Vec::new(),
            bodies: Vec::new(),
        };
        call.change(change);
        call
    }

    /// Takes in a change.
    pub fn change(&mut self, change: &ToolChange) {
        let ToolChange { title, name, kind, status, content, locations, input, output, new_files, bodies } = change;
        // A body goes with the head that it belongs to.
        self.bodies.retain(|body| match body.of {
            BodyOf::Shown | BodyOf::OldText | BodyOf::NewText => content.is_none(),
            BodyOf::Input => input.is_none(),
            BodyOf::Output => output.is_none(),
        });
        self.bodies.extend_from_slice(bodies);
        if let Some(title) = title {
            self.title.clone_from(title);
        }
        if name.is_some() {
            self.name.clone_from(name);
        }
        if let Some(kind) = kind {
            self.kind = *kind;
        }
        if let Some(status) = status {
            self.status = *status;
        }
        if let Some(content) = content {
            self.content.clone_from(content);
        }
        if let Some(locations) = locations {
            self.locations.clone_from(locations);
        }
        if input.is_some() {
            self.input.clone_from(input);
        }
        if output.is_some() {
            self.output.clone_from(output);
        }
        if let Some(new_files) = new_files {
            self.new_files.clone_from(new_files);
        }
    }

    /// Adds to the text that it shows last, or begins one.
    pub fn add_text(&mut self, more: &str) {
        match self.content.last_mut() {
            Some(ToolContent::Text { text } | ToolContent::Terminal { output: text, .. }) => text.push_str(more),
            _ => self.content.push(ToolContent::Text { text: more.to_owned() }),
        }
    }

    /// The same with a text of which this may be only the head.
    pub fn add_part(&mut self, more: &str, body: Option<&BodyRef>) {
        if let Some(body) = body {
            let (item, start) = match self.content.split_last() {
                Some((ToolContent::Text { text } | ToolContent::Terminal { output: text, .. }, before)) => {
                    (before.len(), utf16_len(text))
                }
                _ => (self.content.len(), 0),
            };
            let item = u32::try_from(item).unwrap_or(u32::MAX);
            self.bodies.push(BodyRef { of: BodyOf::Shown, item, start, ..body.clone() });
        }
        self.add_text(more);
    }

    /// All of it as one change, for telling it again.
    pub fn as_change(&self) -> ToolChange {
        ToolChange {
            title: Some(self.title.clone()),
            name: self.name.clone(),
            kind: Some(self.kind),
            status: Some(self.status),
            content: Some(self.content.clone()).filter(|content| !content.is_empty()),
            locations: Some(self.locations.clone()).filter(|locations| !locations.is_empty()),
            input: self.input.clone(),
            output: self.output.clone(),
            new_files: Some(self.new_files.clone()).filter(|files| !files.is_empty()),
            bodies: self.bodies.clone(),
        }
    }
}
