//! What a session is about, marked and told; over HTTP `PATCH /sessions/{id}` with `setContext`, and `GET …/context`.

use doors::Scope;
use engine::{Asker, SetContext, SubmitError};
use model::{ContextWish, MAX_SET_ITEMS, Marker, Rejection, SetMode, SetOutcome, merge_context_set};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::json;

use super::{Call, CallError, Told, object, reader, text};
use crate::access;
use crate::mcp::arguments::Arguments;
use crate::mcp::{Calling, replies};

pub(super) const SET: &str = "set_relevant_context";
pub(super) const GET: &str = "get_relevant_context";

pub(super) fn set_tool() -> Tool {
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
    let marks = ToolAnnotations::new().read_only(false).destructive(false).idempotent(true).open_world(false);
    Tool::new(
        SET,
        "Shows the person what this session is about, live. REQUIRED when you read or edit files central to the task, \
         start on a document, use endpoints, ports or applets, and before you finish. Do not save calls. files: \
         absolute paths; empty items remove the set.",
        object(set),
    )
    .with_annotations(marks)
}

pub(super) fn get_tool() -> Tool {
    let what = "Tells what is marked as relevant in this session: one set, or all.";
    reader(GET, what, json!({ "setName": text() }), &[])
}

pub(super) async fn set(call: Call<'_>) -> Result<Told, CallError> {
    let Calling { principal, session } = call.calling;
    access::session(principal, Scope::Mark, *session)?;
    let arguments = Arguments::new(call.arguments, &["setName", "items", "mode"])?;
    let set_name = arguments.text("setName")?;
    let wish = ContextWish::One { set: set_name.clone(), items: arguments.texts("items")?, mode: arguments.mode()? };
    let asker = Asker { principal: principal.id.clone(), key: None };
    let changes = call.engine.submit(*session, SetContext { wish, by: Marker::Agent }, asker).await?;
    for change in &changes {
        for warning in &change.warnings {
            tracing::warn!(%session, warning, "an agent marked something odd");
        }
    }
    let text = replies::changed(&changes);
    let context_changed = changes.iter().any(|change| change.outcome != SetOutcome::Unchanged);
    // The words again: some agents show their model nothing but this.
    let structured = json!({ "contextChanged": context_changed, "setName": set_name, "message": text });
    Ok(Told { text, structured: Some(structured) })
}

pub(super) async fn get(call: Call<'_>) -> Result<String, CallError> {
    let Calling { principal, session } = call.calling;
    access::session(principal, Scope::Read, *session)?;
    let set = Arguments::new(call.arguments, &["setName"])?.optional_text("setName")?;
    let sets = &call.engine.session(*session).await?.context.sets;
    // A name that no set could have is refused, not looked for.
    let one = set.map(|set| merge_context_set(sets, &set, &[], SetMode::Merge)).transpose();
    Ok(replies::marked(sets, one.map_err(|err| SubmitError::Rejected(Rejection::Context(err)))?))
}
