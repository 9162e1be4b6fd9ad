//! The tools that an applet's page has in another host, which calls them for it; a model is never offered them there. Over HTTP
//! `/storage/applet/{applet}/state`.
//!
//! Invariant: the handle says which applet, and nothing else is reached with it.

use doors::Right;
use engine::{StateChange, StateWrite};
use model::AppletName;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::tool;
use crate::access;
use crate::mcp::Calling;
use crate::mcp::arguments::{Handle, StateVersion, arguments};
use crate::mcp::tools::{CallError, Effect, Run, Tool, ToolContext, ToolResult};

pub(in super::super) const DOCUMENT: Tool =
    tool::<AppletDocument>("applet_document", "For applets.", Effect::Reads).for_app_only();
pub(in super::super) const GET_STATE: Tool =
    tool::<AppletStateGet>("applet_state_get", "For applets.", Effect::Reads).for_app_only();
pub(in super::super) const SET_STATE: Tool =
    tool::<AppletStateSet>("applet_state_set", "For applets.", Effect::Marks).for_app_only();

const HANDLE: &str = "Which";

arguments! {
    struct AppletDocument {
        handle("handle"): Handle = HANDLE, "counter.0";
    }
}

arguments! {
    struct AppletStateGet {
        handle("handle"): Handle = HANDLE, "counter.0";
        version("version"): Option<StateVersion> = "Known", "1";
    }
}

arguments! {
    struct AppletStateSet {
        handle("handle"): Handle = HANDLE, "counter.0";
        state("state"): Option<JsonObject> = "Whole", "{\"count\":5}";
        merge("merge"): Option<JsonObject> = "By key", "{\"count\":5}";
        version("version"): Option<StateVersion> = "Expected", "1";
    }
}

fn of_handle(call: &ToolContext<'_>, Handle(handle): &Handle, right: Right) -> Result<AppletName, CallError> {
    let Calling { principal, session } = call.calling;
    access::session(principal, right, *session)?;
    call.handles.find(*session, handle).ok_or(CallError::NoSuchHandle)
}

fn structured(text: String, structured: Value) -> ToolResult {
    ToolResult { text, structured: Some(structured), meta: None }
}

impl Run for AppletDocument {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let name = of_handle(&call, &self.handle, Right::Read)?;
        let applet = call.engine.applet(name).await?;
        let mut document = call.handles.applet_json(call.calling.session, &applet);
        let content = &applet.content;
        document["html"] = json!(content.html);
        document["js"] = json!(content.js);
        document["css"] = json!(content.css);
        Ok(structured(format!("{:?}, {} bytes", applet.about.name, content.bytes()), document))
    }
}

impl Run for AppletStateGet {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let name = of_handle(&call, &self.handle, Right::Read)?;
        let now = call.engine.applet_state(&name, Some(call.calling.session)).await?;
        let version = now.version;
        let known = self.version.is_some_and(|StateVersion(known)| known == version);
        let told =
            if known { json!({ "version": version }) } else { json!({ "state": now.state, "version": version }) };
        Ok(structured(format!("Version {version}"), told))
    }
}

impl Run for AppletStateSet {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let name = of_handle(&call, &self.handle, Right::Mark)?;
        let change = match (self.state, self.merge) {
            (Some(state), None) => StateChange::Replace(state),
            (None, Some(keys)) => StateChange::Merge(keys),
            (None, None) | (Some(_), Some(_)) => return Err(CallError::StateOrKeys),
        };
        let version = self.version.map(|StateVersion(version)| version);
        let write = StateWrite { change, version, writer: None };
        let version = call.engine.set_applet_state(&name, Some(call.calling.session), write).await?;
        Ok(structured(format!("Version {version}"), json!({ "version": version })))
    }
}
