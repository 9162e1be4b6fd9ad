//! The tools: which there are, and where a call of each goes.
//!
//! Invariant: each is a question or a command that a route has as well, and what is read of other sessions goes through
//! `scope.rs`. What comes through here was marked by an agent, whoever's credential it came with.

mod contents;
mod marks;
mod search;
mod sessions;
mod turns;
mod valid;

use std::sync::Arc;

use engine::{Engine, QueryError, SubmitError};
use model::{InteractionId, SessionId, Turn};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::Calling;
use super::arguments::ArgumentError;
use super::budget::Budget;
use super::scope::{AllSessions, Scope};
use crate::error::ApiError;
pub use valid::takes;

/// Why a call came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("there is no tool {0:?}; there are {known}", known = engine::UNASKED_TOOLS.join(", "))]
    NoSuchTool(String),
    #[error("a call has a name and, as arguments, an object such as {example}")]
    NotACall { example: String },
    #[error(
        "session_id is an id such as {current}, as list_sessions tells them, not {shown:?}; leave it out for this session"
    )]
    NoSessionId { shown: String, current: SessionId },
    #[error(
        "session_id {id} is not found in this project, and sessions of other projects are out of scope; the nearest here: \
         {nearest}; list_sessions lists them"
    )]
    SessionNotInScope { id: SessionId, nearest: String },
    #[error("session_id {id} is not found; the nearest: {nearest}; list_sessions lists them")]
    NoSuchSession { id: SessionId, nearest: String },
    #[error("there is no turn {turn} in session {session}; {}", turns_there_are(*newest))]
    NoSuchTurn { turn: Turn, session: SessionId, newest: Turn },
    #[error("turn {turn} has no call {turn}.{call}; {}", calls_there_are(*turn, *calls))]
    NoSuchCall { turn: Turn, call: u32, calls: usize },
    #[error("there is no part {part}; {what} has parts 1 to {parts} with this max_tokens")]
    NoSuchPart { part: usize, what: String, parts: usize },
    #[error("from ({from}) comes after to ({to}); swap them")]
    Backwards { from: Turn, to: Turn },
    #[error(
        "from {from} to {to} are {count} turns, at most {} are told at once; begin with to = \"{last}\"",
        engine::MAX_TURNS_AT_ONCE
    )]
    TooManyTurns { from: Turn, to: Turn, count: u64, last: Turn },
    #[error(
        "interaction_id is an id such as {example}, as get_turn and session_title_history tell them, not {shown:?}"
    )]
    NoInteractionId { shown: String, example: String },
    #[error(
        "interaction_id {id} is not found in what can be read from here; the nearest in this session: {nearest}; \
         search_session and get_turn tell others"
    )]
    NoSuchInteraction { id: InteractionId, nearest: String },
    #[error("cursor is what an earlier list_sessions gave, not {0:?}; leave it out to begin anew")]
    NoCursor(String),
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    #[error(transparent)]
    Refused(#[from] ApiError),
}

impl CallError {
    pub(super) fn no_such_tool(named: &str) -> Self {
        Self::NoSuchTool(named.chars().take(100).collect())
    }
}

impl From<SubmitError> for CallError {
    fn from(err: SubmitError) -> Self {
        Self::Refused(err.into())
    }
}

impl From<QueryError> for CallError {
    fn from(err: QueryError) -> Self {
        Self::Refused(err.into())
    }
}

fn turns_there_are(newest: Turn) -> String {
    match newest.0 {
        0 => "it has none yet".to_owned(),
        _ => format!("it has t1 to {newest}"),
    }
}

fn calls_there_are(turn: Turn, calls: usize) -> String {
    match calls {
        0 => "it has none".to_owned(),
        _ => format!("it has {turn}.1 to {turn}.{calls}"),
    }
}

/// A call of a tool.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) engine: &'a Engine,
    pub(super) calling: &'a Calling,
    pub(super) all_sessions: &'a AllSessions,
    pub(super) arguments: &'a JsonObject,
}

impl<'a> Call<'a> {
    async fn scope(&self) -> Result<Scope<'a>, CallError> {
        Scope::open(self.engine, self.calling, self.all_sessions).await
    }
}

/// All of them, in the order in which they are listed.
pub(super) fn all() -> Vec<Tool> {
    vec![
        marks::set_tool(),
        marks::get_tool(),
        sessions::current_tool(),
        contents::toc_tool(),
        contents::titles_tool(),
        search::session_tool(),
        search::all_tool(),
        sessions::list_tool(),
        turns::turn_tool(),
        turns::turns_tool(),
        turns::interaction_tool(),
    ]
}

/// What a call is answered.
pub(super) struct Told {
    /// In words.
    pub(super) text: String,
    /// The same for programs, where there is more to it than words.
    pub(super) structured: Option<Value>,
}

/// Carries a call out; what is told of it.
pub(super) async fn carry_out(tool: &str, call: Call<'_>) -> Result<Told, CallError> {
    let text = match tool {
        marks::SET => return marks::set(call).await,
        marks::GET => marks::get(call).await,
        sessions::CURRENT => sessions::current(call).await,
        contents::TOC => contents::toc(call).await,
        contents::TITLES => contents::titles(call).await,
        search::SESSION => search::session(call).await,
        search::ALL => search::all(call).await,
        sessions::LIST => sessions::list(call).await,
        turns::TURN => turns::turn(call).await,
        turns::TURNS => turns::turns(call).await,
        turns::INTERACTION => turns::interaction(call).await,
        _ => Err(CallError::no_such_tool(tool)),
    };
    text.map(|text| Told { text, structured: None })
}

/// Arguments with which a tool can be called, if there is such a tool.
pub(super) fn example(tool: &str) -> Option<String> {
    let tool = all().into_iter().find(|known| known.name == tool)?;
    let required = tool.input_schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let given = required.filter_map(Value::as_str).map(|name| {
        let value = match name {
            "items" => json!(["/a/b.rs"]),
            "from" => json!("t3"),
            "to" => json!("t7"),
            "turn" => json!("t42"),
            name => json!(super::arguments::example(name)),
        };
        (name.to_owned(), value)
    });
    Some(Value::Object(given.collect()).to_string())
}

/// A tool that only reads what is here.
fn reader(name: &'static str, description: &'static str, properties: Value, required: &[&str]) -> Tool {
    let mut schema =
        JsonObject::from_iter([("type".to_owned(), json!("object")), ("properties".to_owned(), properties)]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    let reads = ToolAnnotations::new().read_only(true).idempotent(true).open_world(false);
    Tool::new(name, description, Arc::new(schema)).with_annotations(reads)
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => unreachable!("a schema is written as an object"),
    }
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn number(from: u64, to: u64) -> Value {
    json!({ "type": "integer", "minimum": from, "maximum": to })
}

fn limit(most: u64, unless_told: usize) -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": most, "default": unless_told })
}

fn max_tokens() -> Value {
    number(*Budget::RANGE.start(), *Budget::RANGE.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What every conversation of every agent pays: 2,500 tokens, by the common measure of four characters each. All
    /// mounts together may take 4,000.
    const MAX_LIST_BYTES: usize = 10_000;
    const MAX_DESCRIPTION_CHARS: usize = 300;

    #[test]
    fn the_list_is_small() {
        let list = serde_json::to_string(&all()).unwrap();
        assert!(list.len() <= MAX_LIST_BYTES, "{} bytes: {list}", list.len());
        assert!(!list.contains("$schema") && !list.contains("\"format\"") && !list.contains("outputSchema"), "{list}");
        for tool in all() {
            let chars = tool.description.as_deref().unwrap_or_default().chars().count();
            assert!((1..=MAX_DESCRIPTION_CHARS).contains(&chars), "{}: {chars}", tool.name);
        }
    }

    #[test]
    fn every_tool_has_an_example_with_all_that_it_needs() {
        for tool in all() {
            let example: JsonObject = serde_json::from_str(&example(&tool.name).unwrap()).unwrap();
            let required = tool.input_schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            assert!(required.iter().all(|name| example.contains_key(name.as_str().unwrap())), "{}", tool.name);
        }
        assert_eq!(example("get_turns").unwrap(), r#"{"from":"t3","to":"t7"}"#);
        assert_eq!(example("get_turnz"), None);
    }

    #[test]
    fn those_that_agents_call_unasked_are_all_there_are() {
        let names: Vec<_> = all().into_iter().map(|tool| tool.name).collect();
        assert_eq!(names, engine::UNASKED_TOOLS);
    }
}
