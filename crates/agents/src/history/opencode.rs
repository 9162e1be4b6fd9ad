//! opencode: one database for all sessions, with a row for each message and for each part of one.
//!
//! A turn is a user message and the assistant messages that follow it. Sessions with a parent are those of
//! sub-agents; the parent has them as calls.

mod parts;

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;

use model::{Notice, Outcome, Severity, Timestamp, TokenCount, Usage, UsedTokens};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::bookmark::RecordPosition;
use super::builder::{Counted, TitledBy, TurnBuilder};
use super::json::keep_first;
use super::sqlite::{Database, Row};
use super::{HistoryError, LastTurn};
use crate::acp::cut_chars;
use parts::{Part, Prompt};

/// The beginnings of a session's title before it has a real one.
const NO_TITLES: [&str; 2] = ["New session - ", "Child session - "];

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(rename = "modelID", borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(rename = "providerID", borrow)]
    provider: Option<Cow<'a, str>>,
    /// In dollars; 0 where it knows no price.
    #[serde(default)]
    cost: f64,
    #[serde(borrow)]
    finish: Option<Cow<'a, str>>,
    #[serde(borrow)]
    error: Option<Failure<'a>>,
    tokens: Option<AnswerTokens>,
    #[serde(borrow)]
    summary: Option<&'a RawValue>,
    time: Option<Times>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<FailureData<'a>>,
}

#[derive(Deserialize)]
struct FailureData<'a> {
    #[serde(borrow)]
    message: Option<Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AnswerTokens {
    input: u64,
    output: u64,
    reasoning: u64,
    cache: Cache,
    total: Option<u64>,
}

impl AnswerTokens {
    fn by_kind(&self) -> UsedTokens {
        let parts = [self.input, self.output, self.reasoning, self.cache.read, self.cache.write];
        let total = self.total.unwrap_or_else(|| parts.into_iter().fold(0, u64::saturating_add));
        TokenCount {
            total,
            input: self.input,
            output: self.output,
            thought: Some(self.reasoning),
            cached_read: Some(self.cache.read),
            cached_write: Some(self.cache.write),
        }
        .into()
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cache {
    read: u64,
    write: u64,
}

#[derive(Deserialize)]
struct Times {
    completed: Option<i64>,
}

/// The sessions in a database, each with the time of its last change.
pub(super) fn sessions(path: &Path, max: usize) -> Vec<(String, Timestamp)> {
    let mut found = Vec::new();
    let Ok(database) = Database::open(path) else { return found };
    let listed = database.each(
        "SELECT id, time_updated
         FROM session
         WHERE parent_id IS NULL
         ORDER BY time_updated DESC
         LIMIT CAST(?1 AS INTEGER)",
        &[&max.to_string()],
        |row| {
            if let (Some(id), Some(at)) = (row.text(0), row.number(1)) {
                found.push((id.to_owned(), Timestamp::from_millis(at)));
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
    let mut failure = None;
    database.each(
        "SELECT id, time_created, CASE WHEN length(data) <= CAST(?4 AS INTEGER) THEN data END
         FROM message
         WHERE session_id = ?1
           AND (time_created, id) > (CAST(?2 AS INTEGER), ?3)
         ORDER BY time_created, id",
        &[id, &after_at.to_string(), &after_id, &max_bytes],
        |row| {
            failure = emit_message(&database, &row, &after, builder).err();
            if let Some(key) = row.text(0) {
                after = RecordPosition::Record { key: key.to_owned() };
            }
            if failure.is_some() || builder.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    )?;
    failure.map_or(Ok(()), Err)?;
    builder.end(after, last_turn);
    Ok(())
}

fn emit_session(database: &Database, id: &str, builder: &mut TurnBuilder<'_>) -> Result<(), HistoryError> {
    database.each("SELECT directory, title, version, time_created FROM session WHERE id = ?1", &[id], |row| {
        let header = builder.header();
        keep_first(&mut header.cwd, row.text(0));
        keep_first(&mut header.version, row.text(2));
        header.created_at = row.number(3).map(Timestamp::from_millis);
        if let Some(title) = row.text(1).filter(|title| !NO_TITLES.iter().any(|none| title.starts_with(none))) {
            builder.title(None, title, TitledBy::Tool);
        }
        ControlFlow::Break(())
    })
}

/// The row of the bookmark's message.
fn after(database: &Database, id: &str, position: &RecordPosition) -> Result<(i64, String), HistoryError> {
    let key = match position {
        RecordPosition::Start => return Ok((i64::MIN, String::new())),
        RecordPosition::Byte { .. } => return Err(HistoryError::ForeignBookmark),
        RecordPosition::Record { key } => key,
    };
    let mut found = None;
    database.each("SELECT time_created FROM message WHERE id = ?1 AND session_id = ?2", &[key, id], |row| {
        found = row.number(0);
        ControlFlow::Break(())
    })?;
    found.map(|at| (at, key.clone())).ok_or(HistoryError::Rewritten)
}

fn emit_message(
    database: &Database,
    row: &Row<'_>,
    after: &RecordPosition,
    builder: &mut TurnBuilder<'_>,
) -> Result<(), HistoryError> {
    let (Some(id), Some(at), Some(data)) = (row.text(0), row.number(1), row.text(2)) else {
        builder.skip("a record that is too long");
        return Ok(());
    };
    let Ok(message) = serde_json::from_str::<Message<'_>>(data) else {
        builder.skip("not a record");
        return Ok(());
    };
    let at = Timestamp::from_millis(at);
    match message.role.as_ref() {
        "user" => {
            let mut prompt = Prompt::default();
            each_part(database, id, builder, |_, part, builder| prompt.take(&part, builder.limits()))?;
            prompt.emit(at, after, builder);
        }
        "assistant" if message.summary.is_some_and(|summary| summary.get() == "true") => {
            let mut summary = Vec::new();
            each_part(database, id, builder, |_, part, _| summary.extend(part.own_text().map(str::to_owned)))?;
            builder.compacted(at, Some(summary.join("\n\n")).filter(|summary| !summary.is_empty()));
        }
        "assistant" => {
            keep_first(&mut builder.header().model, message.model.as_deref());
            each_part(database, id, builder, |at, part, builder| part.emit(at, builder))?;
            message.emit_end(at, builder);
        }
        _ => builder.skip("a message of an unknown role"),
    }
    Ok(())
}

fn each_part(
    database: &Database,
    message: &str,
    builder: &mut TurnBuilder<'_>,
    mut take: impl FnMut(Timestamp, Part<'_>, &mut TurnBuilder<'_>),
) -> Result<(), HistoryError> {
    let max_bytes = builder.limits().record_bytes.to_string();
    database.each(
        "SELECT time_created, CASE WHEN length(data) <= CAST(?2 AS INTEGER) THEN data END
         FROM part
         WHERE message_id = ?1
         ORDER BY id",
        &[message, &max_bytes],
        |row| {
            match (row.number(0), row.text(1)) {
                (Some(at), Some(data)) => match serde_json::from_str::<Part<'_>>(data) {
                    Ok(part) => take(Timestamp::from_millis(at), part, builder),
                    Err(_) => builder.skip("not a record"),
                },
                _ => builder.skip("a record that is too long"),
            }
            ControlFlow::Continue(())
        },
    )
}

impl Message<'_> {
    fn emit_end(&self, at: Timestamp, builder: &mut TurnBuilder<'_>) {
        let at = self.time.as_ref().and_then(|time| time.completed).map_or(at, Timestamp::from_millis);
        let tokens = self.tokens.as_ref().map(AnswerTokens::by_kind);
        if let Some(tokens) = tokens.filter(|tokens| tokens.total() > 0) {
            builder.usage(Usage::window(tokens.total(), 0));
            let model = match (&self.provider, &self.model) {
                (Some(provider), Some(model)) => Some(format!("{provider}/{model}")),
                (None, model) => model.as_deref().map(str::to_owned),
                (Some(_), None) => None,
            };
            builder.count(None, Counted { model, tokens, cost: self.cost });
        }
        match (&self.error, self.finish.as_deref()) {
            (Some(Failure { name: Some(name), .. }), _) if name == "MessageAbortedError" => {
                builder.stopped(at, Outcome::Cancelled, None);
            }
            (Some(failure), _) => {
                let message = failure.data.as_ref().and_then(|data| data.message.as_deref());
                let title = message.or(failure.name.as_deref()).unwrap_or_default().to_owned();
                let title = cut_chars(title, 2_000);
                builder.notice(at, Notice { severity: Severity::Error, title: title.clone(), description: None });
                builder.stopped(at, Outcome::Failed, Some(title).filter(|title| !title.is_empty()));
            }
            (None, Some("stop")) => builder.stopped(at, Outcome::Completed, None),
            (None, Some(reason @ ("length" | "content-filter"))) => {
                builder.stopped(at, Outcome::Failed, Some(reason.to_owned()));
            }
            (None, Some(_) | None) => (),
        }
    }
}
