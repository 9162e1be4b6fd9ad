//! Gemini CLI: one file for each session, in a folder for each directory below `tmp/`.
//!
//! Newer versions append lines: messages, and changes of the header (`$set`). A message that is repeated with the
//! same id replaces the earlier one; so a call is emitted by the message that has its result. A resumed session
//! begins with all its messages again, which are left out. Older versions rewrite one JSON document each time.

mod message;
mod part;

use std::borrow::Cow;
use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::bookmark::RecordPosition;
use super::builder::{TitledBy, TurnBuilder};
use super::json::{self, as_a, items, keep_first};
use super::lines;
use super::{HistoryError, LastTurn};
use message::{Message, Messages};

pub(super) use message::split_exit_code;
pub(super) use part::{FunctionResponse, Part};

/// A larger document is not read.
const MAX_DOCUMENT_BYTES: u64 = 64 << 20;
/// How much of a file is searched for the session's id.
const HEAD_BYTES: u64 = 1 << 10;

/// The document of older versions, and the first line of newer ones.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(borrow)]
    start_time: Option<Cow<'a, str>>,
    #[serde(borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    summary: Option<Cow<'a, str>>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "$set", borrow)]
    set: Option<&'a RawValue>,
    #[serde(rename = "sessionId", borrow)]
    session: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

/// The session's own id, from the first bytes of its file.
pub(super) fn id_of(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    lines::open(path).ok()?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    let (_, rest) = head.split_once("\"sessionId\"")?;
    let id = rest.split('"').nth(1)?;
    (!id.is_empty()).then(|| id.to_owned())
}

pub(super) fn read(path: &Path, last_turn: LastTurn, builder: &mut TurnBuilder<'_>) -> Result<(), HistoryError> {
    keep_first(&mut builder.header().cwd, directory_of(path).as_deref());
    if path.extension().is_some_and(|of| of == "json") {
        return read_document(path, last_turn, builder);
    }
    let mut messages = Messages::default();
    let mut is_subagents = false;
    lines::each(path, last_turn, builder, |line, line_start, builder| {
        let Ok(record) = serde_json::from_slice::<Line<'_>>(line) else { return builder.skip("not a record") };
        match record {
            _ if is_subagents => builder.skip("a record of a sub-agent"),
            Line { set: Some(set), .. } => {
                let Some(head) = as_a::<Head<'_>>(set) else { return builder.skip("not a record") };
                builder.title(None, head.summary.as_deref().unwrap_or_default(), TitledBy::Tool);
                // A session of an older version continues from these messages.
                let restated = head.messages.map(items).unwrap_or_default();
                if messages.has_no_prompt() && *builder.position() == RecordPosition::Start {
                    for message in restated.into_iter().filter_map(as_a::<Message<'_>>) {
                        messages.emit(&message, || line_start.position(), builder);
                    }
                }
            }
            Line { session: Some(_), .. } => match serde_json::from_slice::<Head<'_>>(line) {
                Ok(head) => is_subagents = !head.emit(builder),
                Err(_) => builder.skip("not a record"),
            },
            Line { id: Some(_), .. } => match serde_json::from_slice::<Message<'_>>(line) {
                Ok(message) => messages.emit(&message, || line_start.position(), builder),
                Err(_) => builder.skip("not a record"),
            },
            Line { .. } => builder.skip("a record of the program's own"),
        }
    })
}

fn read_document(path: &Path, last_turn: LastTurn, builder: &mut TurnBuilder<'_>) -> Result<(), HistoryError> {
    let file = lines::open(path)?;
    let bytes = file.metadata()?.len();
    if bytes > MAX_DOCUMENT_BYTES {
        return Err(HistoryError::TooLarge { bytes, limit: MAX_DOCUMENT_BYTES });
    }
    let mut document = Vec::new();
    file.take(MAX_DOCUMENT_BYTES).read_to_end(&mut document)?;
    let Ok(head) = serde_json::from_slice::<Head<'_>>(&document) else {
        builder.skip("not a record");
        return Ok(());
    };
    if !head.emit(builder) {
        builder.skip("a record of a sub-agent");
        return Ok(());
    }
    let listed = head.messages.map(items).unwrap_or_default();
    let listed: Vec<Message<'_>> = listed.into_iter().filter_map(as_a).collect();
    let from = match builder.position() {
        RecordPosition::Start => 0,
        RecordPosition::Byte { .. } => return Err(HistoryError::ForeignBookmark),
        RecordPosition::Record { key } => {
            let at = listed.iter().position(|message| message.id() == key);
            at.ok_or(HistoryError::Rewritten)? + 1
        }
    };
    let mut after = builder.position().clone();
    let mut messages = Messages::default();
    for message in &listed[from..] {
        messages.emit(message, || after.clone(), builder);
        after = RecordPosition::Record { key: message.id().to_owned() };
        if builder.is_over() {
            break;
        }
    }
    builder.end(after, last_turn);
    Ok(())
}

impl Head<'_> {
    /// Emits the header; returns whether this is the record of a person's own conversation.
    fn emit(&self, builder: &mut TurnBuilder<'_>) -> bool {
        let at = self.start_time.as_deref().and_then(json::instant);
        let header = builder.header();
        header.created_at = header.created_at.or(at);
        builder.title(None, self.summary.as_deref().unwrap_or_default(), TitledBy::Tool);
        self.kind.as_deref() != Some("subagent")
    }
}

/// The directory of a session: `tmp/<folder>/.project_root` holds it for the sessions in `tmp/<folder>/chats/`.
fn directory_of(path: &Path) -> Option<String> {
    let mut root = String::new();
    let file = lines::open(&path.parent()?.parent()?.join(".project_root")).ok()?;
    file.take(model::MAX_PATH_BYTES as u64).read_to_string(&mut root).ok()?;
    Some(root.trim_end_matches('\n').to_owned())
}
