//! goose: one database for all sessions, with a row for each message.
//!
//! A message's content is a list of blocks. Results of tools come as user messages. When goose compacts, it rewrites
//! all messages of a session with the same ids and other numbers; so messages are identified by their ids.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;

use model::{Image, MAX_IMAGES, Notice, Severity, Timestamp, ToolKind, ToolStatus};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::bookmark::RecordPosition;
use super::builder::{TitledBy, TurnBuilder};
use super::calls::{self, CallOutput};
use super::json::{as_a, items, keep_first};
use super::sqlite::{Database, Row};
use super::user_text::{self, UserText};
use super::{HistoryError, LastTurn, blobs};
use crate::acp::cut_chars;

/// Larger numbers are milliseconds; goose has written both.
const LAST_SECOND: i64 = 100_000_000_000;
/// The titles of a session before its model has generated one.
const NOT_NAMED_YET: [&str; 3] = ["CLI Session", "ACP Session", "New Chat"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    thinking: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    mime_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    msg: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_call: Option<Outcome<'a>>,
    #[serde(borrow)]
    tool_result: Option<Outcome<'a>>,
}

/// `{"status": "success", "value": …}` or `{"status": "error", "error": "…"}`.
#[derive(Deserialize)]
struct Outcome<'a> {
    #[serde(borrow)]
    value: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct CallRecord<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    arguments: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResultValue<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
    is_error: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    user_visible: Option<bool>,
}

#[derive(Deserialize)]
struct ModelConfig {
    model_name: Option<String>,
}

/// The sessions in a database that a person began, each with the time of its last change.
pub(super) fn sessions(path: &Path, max: usize) -> Vec<(String, Timestamp)> {
    let mut found = Vec::new();
    let Ok(database) = Database::open(path) else { return found };
    let listed = database.each(
        "SELECT id, CAST(strftime('%s', updated_at) AS INTEGER)
         FROM sessions
         WHERE session_type IN ('user', 'scheduled', 'acp')
         ORDER BY updated_at DESC
         LIMIT CAST(?1 AS INTEGER)",
        &[&max.to_string()],
        |row| {
            if let Some(id) = row.text(0) {
                found.push((id.to_owned(), instant(row.number(1).unwrap_or(0))));
            }
            ControlFlow::Continue(())
        },
    );
    // A database of another shape has no known sessions.
    drop(listed);
    found
}

pub(super) fn read(
    path: &Path,
    id: &str,
    last_turn: LastTurn,
    builder: &mut TurnBuilder<'_>,
) -> Result<(), HistoryError> {
    let database = Database::open(path)?;
    emit_session(&database, id, builder)?;
    let (after_at, after_id) = after(&database, id, builder.position())?;
    let mut after = builder.position().clone();
    let max_bytes = builder.limits().record_bytes.to_string();
    database.each(
        "SELECT message_id, created_timestamp, role,
                CASE WHEN length(content_json) <= CAST(?4 AS INTEGER) THEN content_json END,
                metadata_json
         FROM messages
         WHERE session_id = ?1
           AND (created_timestamp, id) > (CAST(?2 AS INTEGER), CAST(?3 AS INTEGER))
         ORDER BY created_timestamp, id",
        &[id, &after_at.to_string(), &after_id.to_string(), &max_bytes],
        |row| {
            emit_message(&row, &after, builder);
            if let Some(key) = row.text(0) {
                after = RecordPosition::Record { key: key.to_owned() };
            }
            if builder.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    )?;
    builder.end(after, last_turn);
    Ok(())
}

fn emit_session(database: &Database, id: &str, builder: &mut TurnBuilder<'_>) -> Result<(), HistoryError> {
    database.each(
        "SELECT working_dir, name, user_set_name, CAST(strftime('%s', created_at) AS INTEGER), model_config_json
         FROM sessions
         WHERE id = ?1",
        &[id],
        |row| {
            let header = builder.header();
            keep_first(&mut header.cwd, row.text(0));
            header.created_at = row.number(3).map(instant);
            header.model = row.text(4).and_then(|model| serde_json::from_str::<ModelConfig>(model).ok()?.model_name);
            let by = if row.number(2) == Some(1) { TitledBy::Person } else { TitledBy::Tool };
            let name = row.text(1).filter(|name| by == TitledBy::Person || !NOT_NAMED_YET.contains(name));
            builder.title(None, name.unwrap_or_default(), by);
            ControlFlow::Break(())
        },
    )
}

/// The row of the bookmark's message.
fn after(database: &Database, id: &str, position: &RecordPosition) -> Result<(i64, i64), HistoryError> {
    let key = match position {
        RecordPosition::Start => return Ok((i64::MIN, i64::MIN)),
        RecordPosition::Byte { .. } => return Err(HistoryError::ForeignBookmark),
        RecordPosition::Record { key } => key,
    };
    let mut found = None;
    database.each(
        "SELECT created_timestamp, id FROM messages WHERE message_id = ?1 AND session_id = ?2",
        &[key, id],
        |row| {
            found = row.number(0).zip(row.number(1));
            ControlFlow::Break(())
        },
    )?;
    found.ok_or(HistoryError::Rewritten)
}

fn emit_message(row: &Row<'_>, after: &RecordPosition, builder: &mut TurnBuilder<'_>) {
    let (Some(at), Some(role), Some(content)) = (row.number(1), row.text(2), row.text(3)) else {
        return builder.skip("a record that is too long");
    };
    let at = instant(at);
    let metadata: Option<Metadata> = row.text(4).and_then(|metadata| serde_json::from_str(metadata).ok());
    let is_seen = metadata.and_then(|metadata| metadata.user_visible).unwrap_or(true);
    let Ok(blocks) = serde_json::from_str::<Vec<&RawValue>>(content) else { return builder.skip("not a record") };
    let blocks: Vec<Block<'_>> = blocks.into_iter().filter_map(as_a).collect();
    if !is_seen {
        return builder.skip("a message of the program's own");
    }
    let (mut said, mut images): (Vec<String>, Vec<Image>) = (Vec::new(), Vec::new());
    for block in &blocks {
        match (role, block.kind.as_ref()) {
            ("user", "text") => {
                if let UserText::Own(own) = user_text::classify(block.text.as_deref().unwrap_or_default()) {
                    said.push(own.to_owned());
                }
            }
            ("user", "image") => {
                let data: Option<String> = block.data.and_then(as_a);
                let mime_type = block.mime_type.as_deref().unwrap_or_default();
                match blobs::of_prompt(mime_type, data.as_deref().unwrap_or_default(), builder.limits()) {
                    Ok(image) if images.len() < MAX_IMAGES => images.push(image),
                    Ok(image) => said.push(format!("[{}, not kept]", image.mime_type)),
                    Err(mention) => said.push(mention),
                }
            }
            _ => block.emit(at, builder),
        }
    }
    if !said.is_empty() || !images.is_empty() {
        builder.prompt(at, said.join("\n\n"), images, after.clone());
    }
    let is_answer = role == "assistant" && blocks.iter().any(|block| block.kind == "text");
    if is_answer && !blocks.iter().any(|block| block.kind == "toolRequest") {
        builder.stopped(at, model::Outcome::Completed, None);
    }
}

impl Block<'_> {
    fn emit(&self, at: Timestamp, builder: &mut TurnBuilder<'_>) {
        match (self.kind.as_ref(), &self.id, &self.tool_call, &self.tool_result) {
            ("text", ..) => builder.text(at, self.text.as_deref().unwrap_or_default().to_owned()),
            ("thinking", ..) => builder.thought(at, self.thinking.as_deref().unwrap_or_default().to_owned()),
            ("reasoning", ..) => builder.thought(at, self.text.as_deref().unwrap_or_default().to_owned()),
            ("toolRequest", Some(id), Some(call), _) => match call.value.and_then(as_a::<CallRecord<'_>>) {
                Some(call) => builder.call(at, id, calls::start(&call.name, call.arguments)),
                None => builder.skip("a call that is none"),
            },
            ("toolResponse", Some(id), _, Some(result)) => result.emit(at, id, builder),
            ("systemNotification", ..) => {
                let title = cut_chars(self.msg.as_deref().unwrap_or_default().to_owned(), 2_000);
                builder.notice(at, Notice { severity: Severity::Info, title, description: None });
            }
            _ => builder.skip("a block of an unknown kind"),
        }
    }
}

impl Outcome<'_> {
    fn emit(&self, at: Timestamp, id: &str, builder: &mut TurnBuilder<'_>) {
        let result: Option<ResultValue<'_>> = self.value.and_then(as_a);
        let has_failed = self.error.is_some() || result.as_ref().is_some_and(|result| result.is_error == Some(true));
        // Older versions have the list of blocks itself.
        let content = result.map(|result| result.content).or(self.value).map(items).unwrap_or_default();
        let blocks: Vec<Block<'_>> = content.into_iter().filter_map(as_a).collect();
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block.text.as_deref()).collect();
        let output = self.error.as_deref().map_or_else(|| texts.join("\n"), str::to_owned);
        let mut shown = CallOutput::default();
        match builder.find_call(id) {
            Some(call) if call.kind == Some(ToolKind::Execute) => {
                let command = call.input.as_ref().and_then(calls::command).unwrap_or_default();
                shown.terminal(&command, &output, None);
            }
            Some(_) | None => shown.text(&output),
        }
        for block in &blocks {
            if let (Some(mime_type), Some(data)) = (&block.mime_type, block.data.and_then(as_a::<String>)) {
                shown.image(blobs::of_call(mime_type, &data, builder.limits()));
            }
        }
        let status = if has_failed { ToolStatus::Failed } else { ToolStatus::Completed };
        builder.change_call(at, id, calls::end(status, shown));
    }
}

fn instant(number: i64) -> Timestamp {
    Timestamp::from_millis(if number > LAST_SECOND { number } else { number.saturating_mul(1_000) })
}
