//! The content, input and output of a tool call, each cut to a size.
//!
//! Invariant: what is cut is followed by the number of bytes that were left out.

use agent_client_protocol::v1::schema::{ContentBlock, EmbeddedResourceResource, ToolCallContent};
use model::{ToolContent, json_bytes};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::text::start_of;

/// How much of a call's content, of its input and of its output is kept.
pub(crate) const MAX_KEPT_BYTES: usize = 256 << 10;

/// The output of a terminal so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TerminalOutput {
    pub(crate) command: String,
    pub(crate) output: String,
    /// How many bytes were printed after the kept ones.
    pub(crate) omitted: u64,
    pub(crate) exit_code: Option<i32>,
}

/// The terminals that we run for an agent.
pub(crate) trait TerminalOutputs {
    /// `None` if there is no such terminal.
    fn find(&self, id: &str, look: TerminalPart) -> Option<TerminalOutput>;
}

/// How much to read of a terminal. While a call runs only the command is read; the agent reports the output itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TerminalPart {
    Command,
    Whole,
}

/// Whether one of the items is a terminal.
pub(super) fn shows_terminal(items: &[Value]) -> bool {
    items.iter().any(|item| item.get("type").and_then(Value::as_str) == Some("terminal"))
}

/// The content of the items, cut to size.
pub(super) fn content(items: &[Value], look: TerminalPart, terminals: &dyn TerminalOutputs) -> Vec<ToolContent> {
    let mut kept = BoundedContent { room: MAX_KEPT_BYTES, shown: Vec::new(), omitted: 0 };
    for item in items {
        match ToolCallContent::deserialize(item) {
            Ok(ToolCallContent::Content(content)) => kept.block(content.content, item),
            Ok(ToolCallContent::Diff(diff)) => {
                let path = diff.path.to_string_lossy().into_owned();
                let size = path.len() + diff.old_text.as_ref().map_or(0, String::len) + diff.new_text.len();
                kept.whole(size, ToolContent::Diff { path, old_text: diff.old_text, new_text: diff.new_text });
            }
            Ok(ToolCallContent::Terminal(terminal)) => match terminals.find(&terminal.terminal_id.0, look) {
                Some(screen) => kept.screen(screen),
                None => kept.raw(item),
            },
            Ok(_) | Err(_) => kept.raw(item),
        }
    }
    if kept.omitted > 0 {
        kept.shown.push(ToolContent::Omitted { bytes: kept.omitted });
    }
    kept.shown
}

struct BoundedContent {
    room: usize,
    shown: Vec<ToolContent>,
    omitted: u64,
}

impl BoundedContent {
    fn block(&mut self, block: ContentBlock, item: &Value) {
        match block {
            ContentBlock::Text(words) => self.text(&words.text),
            ContentBlock::Image(image) => {
                let size = image.data.len() + image.mime_type.len();
                self.whole(size, ToolContent::Image { mime_type: image.mime_type, data: image.data });
            }
            ContentBlock::ResourceLink(link) => {
                self.whole(link.uri.len() + link.name.len(), ToolContent::Link { uri: link.uri, name: link.name });
            }
            ContentBlock::Resource(embedded) => match embedded.resource {
                EmbeddedResourceResource::TextResourceContents(resource) => {
                    let link = ToolContent::Link { name: resource.uri.clone(), uri: resource.uri };
                    self.whole(0, link);
                    self.text(&resource.text);
                }
                _ => self.raw(item),
            },
            ContentBlock::Audio(_) | _ => self.raw(item),
        }
    }

    fn text(&mut self, text: &str) {
        let text = self.start_of(text);
        if !text.is_empty() {
            self.shown.push(ToolContent::Text { text });
        }
    }

    fn screen(&mut self, screen: TerminalOutput) {
        let TerminalOutput { command, output, omitted, exit_code } = screen;
        let (command, output) = (self.start_of(&command), self.start_of(&output));
        self.omitted += omitted;
        self.shown.push(ToolContent::Terminal { command, output, exit_code });
    }

    fn raw(&mut self, item: &Value) {
        self.whole(json_bytes(item), ToolContent::Raw { value: item.clone() });
    }

    /// Adds something that makes no sense in part: all of it, or none.
    fn whole(&mut self, size: usize, content: ToolContent) {
        if size > self.room || self.omitted > 0 {
            self.omitted += size as u64;
        } else {
            self.room -= size;
            self.shown.push(content);
        }
    }

    fn start_of(&mut self, text: &str) -> String {
        let kept = if self.omitted > 0 { "" } else { start_of(text, self.room) };
        self.room -= kept.len();
        self.omitted += (text.len() - kept.len()) as u64;
        kept.to_owned()
    }
}

/// The value, or as much of it as is kept with the number of bytes left out.
pub(crate) fn value(value: Value) -> Value {
    let whole = json_bytes(&value);
    if whole <= MAX_KEPT_BYTES {
        return value;
    }
    let mut room = MAX_KEPT_BYTES;
    let kept = start_of_value(value, &mut room);
    let omitted = json!(ToolContent::Omitted { bytes: whole.saturating_sub(json_bytes(&kept)) as u64 });
    match kept {
        Value::Object(mut members) => {
            members.insert("omitted".to_owned(), omitted);
            Value::Object(members)
        }
        Value::Array(mut items) => {
            items.push(omitted);
            Value::Array(items)
        }
        kept => json!([kept, omitted]),
    }
}

fn start_of_value(value: Value, room: &mut usize) -> Value {
    let mut take = |bytes: usize| *room = room.saturating_sub(bytes);
    match value {
        Value::String(text) => {
            let kept = start_of(&text, *room);
            *room -= kept.len();
            Value::String(kept.to_owned())
        }
        Value::Array(items) => {
            let mut kept = Vec::new();
            for item in items {
                if *room == 0 {
                    break;
                }
                *room = room.saturating_sub(1);
                kept.push(start_of_value(item, room));
            }
            Value::Array(kept)
        }
        Value::Object(members) => {
            let mut kept = serde_json::Map::new();
            for (name, member) in members {
                if *room <= name.len() {
                    *room = 0;
                    break;
                }
                *room -= name.len();
                kept.insert(name, start_of_value(member, room));
            }
            Value::Object(kept)
        }
        number @ Value::Number(_) => {
            take(20);
            number
        }
        word @ (Value::Null | Value::Bool(_)) => {
            take(5);
            word
        }
    }
}
