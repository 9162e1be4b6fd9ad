//! The tools: how each is described, and the one engine call that it is.
//!
//! Invariant: each has a route that gives the same (`PATCH /sessions/{id}` with `setContext`, `GET …/context`). What comes
//! through here was marked by an agent, whoever's credential it came with.

use std::sync::Arc;

use doors::Scope;
use engine::{Asker, Engine, QueryError, Reply, SubmitError};
use model::{Command, ContextWish, MAX_SET_ITEMS, Marker, Rejection, SetMode, merge_context_set};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::arguments::{ArgumentError, Arguments};
use super::{Calling, replies};
use crate::access;
use crate::error::ApiError;

const SET: &str = "set_relevant_context";
const GET: &str = "get_relevant_context";

/// Why a call came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("there is no tool {0:?}; there are {SET} and {GET}")]
    NoSuchTool(String),
    #[error("a call has a name and, as arguments, an object such as {{\"setName\": \"files\", \"items\": []}}")]
    NotACall,
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    #[error(transparent)]
    Refused(#[from] ApiError),
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

/// All of them, in the order in which they are listed.
pub(super) fn all() -> Vec<Tool> {
    let set_name = json!({ "type": "string", "description": "files, endpoints, ports, applet, or a name of your own" });
    let set = json!({
        "type": "object",
        "properties": {
            "setName": set_name,
            "items": { "type": "array", "items": { "type": "string" }, "maxItems": MAX_SET_ITEMS },
            "mode": { "type": "string", "enum": ["replace", "merge"], "default": "replace" },
        },
        "required": ["setName", "items"],
    });
    let get = json!({ "type": "object", "properties": { "setName": { "type": "string" } } });
    let marks = ToolAnnotations::new().read_only(false).destructive(false).idempotent(true).open_world(false);
    let reads = ToolAnnotations::new().read_only(true).idempotent(true).open_world(false);
    vec![
        Tool::new(
            SET,
            "Shows the person what this session is about, live. REQUIRED when you read or edit files central to the task, \
             start on a document, use endpoints, ports or applets, and before you finish. Do not save calls. files: \
             absolute paths; empty items remove the set.",
            object(set),
        )
        .with_annotations(marks),
        Tool::new(GET, "Tells what is marked as relevant in this session: one set, or all.", object(get))
            .with_annotations(reads),
    ]
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => unreachable!("a schema is written as an object"),
    }
}

/// Carries a call out; what is told of it.
pub(super) async fn call(
    engine: &Engine,
    calling: &Calling,
    tool: &str,
    arguments: &JsonObject,
) -> Result<String, CallError> {
    match tool {
        SET => set(engine, calling, arguments).await,
        GET => get(engine, calling, arguments).await,
        _ => Err(CallError::NoSuchTool(tool.chars().take(100).collect())),
    }
}

async fn set(engine: &Engine, calling: &Calling, arguments: &JsonObject) -> Result<String, CallError> {
    let Calling { principal, session } = calling;
    access::session(principal, Scope::Mark, *session)?;
    let arguments = Arguments::new(arguments, &["setName", "items", "mode"])?;
    let wish =
        ContextWish::One { set: arguments.text("setName")?, items: arguments.texts("items")?, mode: arguments.mode()? };
    let asker = Asker { principal: principal.id.clone(), key: None };
    let changes = match engine.submit(*session, Command::SetContext { wish, by: Marker::Agent }, asker).await? {
        Reply::ContextSet(changes) => changes,
        reply @ (Reply::Created { .. } | Reply::PromptAccepted { .. } | Reply::Observed { .. } | Reply::Done) => {
            unreachable!("a change of the context was answered with {reply:?}")
        }
    };
    for change in &changes {
        for warning in &change.warnings {
            tracing::warn!(%session, warning, "an agent marked something odd");
        }
    }
    Ok(replies::changed(&changes))
}

async fn get(engine: &Engine, calling: &Calling, arguments: &JsonObject) -> Result<String, CallError> {
    let Calling { principal, session } = calling;
    access::session(principal, Scope::Read, *session)?;
    let set = Arguments::new(arguments, &["setName"])?.optional_text("setName")?;
    let sets = &engine.session(*session).await?.context.sets;
    // A name that no set could have is refused, not looked for.
    let one = set.map(|set| merge_context_set(sets, &set, &[], SetMode::Merge)).transpose();
    Ok(replies::marked(sets, one.map_err(|err| SubmitError::Rejected(Rejection::Context(err)))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All mounts together may take 4,000 tokens, which are about 16,000 bytes; these two leave most of it to the others.
    const MAX_LIST_BYTES: usize = 1_250;

    #[test]
    fn the_list_is_small() {
        let list = serde_json::to_string(&all()).unwrap();
        assert!(list.len() <= MAX_LIST_BYTES, "{} bytes: {list}", list.len());
        assert!(!list.contains("$schema") && !list.contains("\"format\"") && !list.contains("outputSchema"), "{list}");
    }

    #[test]
    fn those_that_agents_call_unasked_are_all_there_are() {
        let names: Vec<_> = all().into_iter().map(|tool| tool.name).collect();
        assert_eq!(names, engine::UNASKED_TOOLS);
    }
}
