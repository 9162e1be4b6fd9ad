//! Gemini CLI: a file for each session, below `tmp/` a folder for each directory.
//!
//! Newer versions append lines: messages, and changes of the whole (`$set`). A message that comes again with the same id
//! takes the earlier one's place; so a call is emitted by the message that has its result. A session that is taken up
//! again begins with all its messages anew, which are left out. Older versions write one JSON document each time anew.

mod message;
mod part;

use std::borrow::Cow;
use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::bookmark::Place;
use super::builder::{TitledBy, TurnBuilder};
use super::json::{self, as_a, items, keep_first};
use super::lines;
use super::{HistoryError, LastTurn};
use message::{Message, Messages};

pub(super) use message::taken_apart;
pub(super) use part::{FunctionResponse, Part};

/// A larger document is not read.
const MAX_DOCUMENT_BYTES: u64 = 64 << 20;
/// How much of a file is looked at for the session's id.
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
    keep_first(&mut builder.draft().cwd, directory_of(path).as_deref());
    if path.extension().is_some_and(|of| of == "json") {
        return read_document(path, last_turn, builder);
    }
    let mut messages = Messages::default();
    let mut is_subagents = false;
    lines::each(path, last_turn, builder, |line, spot, builder| {
        let Ok(record) = serde_json::from_slice::<Line<'_>>(line) else { return builder.skip("not a record") };
        match record {
            _ if is_subagents => builder.skip("a record of a sub-agent"),
            Line { set: Some(set), .. } => {
                let Some(head) = as_a::<Head<'_>>(set) else { return builder.skip("not a record") };
                builder.title(None, head.summary.as_deref().unwrap_or_default(), TitledBy::Tool);
                // What was written by an older version is told from here.
                let restated = head.messages.map(items).unwrap_or_default();
                if messages.is_fresh() && *builder.place() == Place::Start {
                    for message in restated.into_iter().filter_map(as_a::<Message<'_>>) {
                        messages.emit(&message, || spot.place(), builder);
                    }
                }
            }
            Line { session: Some(_), .. } => match serde_json::from_slice::<Head<'_>>(line) {
                Ok(head) => is_subagents = !head.emit(builder),
                Err(_) => builder.skip("not a record"),
            },
            Line { id: Some(_), .. } => match serde_json::from_slice::<Message<'_>>(line) {
                Ok(message) => messages.emit(&message, || spot.place(), builder),
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
    let from = match builder.place() {
        Place::Start => 0,
        Place::Byte { .. } => return Err(HistoryError::ForeignBookmark),
        Place::Record { key } => {
            let at = listed.iter().position(|message| message.id() == key);
            at.ok_or(HistoryError::Rewritten)? + 1
        }
    };
    let mut behind = builder.place().clone();
    let mut messages = Messages::default();
    for message in &listed[from..] {
        messages.emit(message, || behind.clone(), builder);
        behind = Place::Record { key: message.id().to_owned() };
        if builder.is_over() {
            break;
        }
    }
    builder.end(behind, last_turn);
    Ok(())
}

impl Head<'_> {
    /// Whether it is the record of a person's own conversation.
    fn emit(&self, builder: &mut TurnBuilder<'_>) -> bool {
        let at = self.start_time.as_deref().and_then(json::instant);
        let draft = builder.draft();
        draft.created_at = draft.created_at.or(at);
        builder.title(None, self.summary.as_deref().unwrap_or_default(), TitledBy::Tool);
        self.kind.as_deref() != Some("subagent")
    }
}

/// `tmp/<folder>/.project_root` holds the directory whose sessions are in `tmp/<folder>/chats/`.
fn directory_of(path: &Path) -> Option<String> {
    let mut root = String::new();
    let file = lines::open(&path.parent()?.parent()?.join(".project_root")).ok()?;
    file.take(model::MAX_PATH_BYTES as u64).read_to_string(&mut root).ok()?;
    Some(root.trim_end_matches('\n').to_owned())
}
