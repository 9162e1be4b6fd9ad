//! Sets and reads what a session is about; over HTTP `PATCH /sessions/{id}` with `setContext`, and `GET …/context`.

use doors::Right;
use engine::{Asker, SetContext, SubmitError};
use model::{ContextWish, Marker, Rejection, SetMode, SetOutcome, merge_context_set};
use serde_json::json;

use super::{About, CallError, Effect, Endpoint, Run, Tool, ToolContext, ToolResult};
use crate::access;
use crate::mcp::arguments::{SetName, arguments};
use crate::mcp::budget::AnswerBudget;
use crate::mcp::{Calling, replies};

pub(super) const SET: Tool = Tool::of::<SetRelevantContext>(About {
    name: "set_relevant_context",
    description: "Shows the person what this session is about, live. REQUIRED when you read or edit files central to the \
                  task, start on a document, use endpoints, ports or applets, and before you finish. Do not save calls.",
    endpoint: Endpoint::Session,
    effect: Effect::Marks,
    asks_person: false,
    budget: AnswerBudget::LONGEST,
});

pub(super) const GET: Tool = Tool::reading::<GetRelevantContext>(
    "get_relevant_context",
    "Tells what is marked as relevant in this session: one set, or all.",
    AnswerBudget::LONGEST,
);

arguments! {
    struct SetRelevantContext {
        set_name("setName"): SetName = "files, endpoints, ports, applet, or a name of your own", "files";
        items("items"): Vec<String> = "files: absolute paths; none remove the set", "/a/b.rs";
        mode("mode"): Option<SetMode> = "merge adds to the set", "merge";
    }
}

arguments! {
    struct GetRelevantContext {
        set_name("setName"): Option<SetName> = "Only this set", "files";
    }
}

impl Run for SetRelevantContext {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let Calling { principal, session } = call.calling;
        access::session(principal, Right::Mark, *session)?;
        let Self { set_name: SetName(set_name), items, mode } = self;
        let wish = ContextWish::One { set: set_name.clone(), items, mode: mode.unwrap_or_default() };
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
        Ok(ToolResult { text, structured: Some(structured), meta: None })
    }
}

impl Run for GetRelevantContext {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let Calling { principal, session } = call.calling;
        access::session(principal, Right::Read, *session)?;
        let sets = &call.engine.session(*session).await?.context.sets;
        // A name that no set could have is refused, not looked for.
        let one = self.set_name.map(|SetName(set)| merge_context_set(sets, &set, &[], SetMode::Merge)).transpose();
        Ok(replies::marked(sets, one.map_err(|err| SubmitError::Rejected(Rejection::Context(err)))?).into())
    }
}
