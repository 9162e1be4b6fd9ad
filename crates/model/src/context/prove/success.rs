//! How a call ended, by what its result says of itself, in every shape in which agents hand results on.
//!
//! Invariant: the only place that decides it. A result says that it failed by a flag or by an `error`, at its top: in the
//! output itself, in the envelopes that agents put around it (`result`, `structuredContent`, content blocks, JSON as text),
//! never deeper, where it is data. A text that is no JSON says nothing, whatever words are in it.

use serde_json::{Map, Value};

use super::commands::{exit_code, runs_commands};
use crate::{ToolCall, ToolContent, ToolStatus};

/// How many envelopes are opened, each list, object and text counted; real results have up to ten.
const MAX_ENVELOPES: u32 = 32;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEnd {
    /// It did what it was to do.
    Succeeded,
    /// What it ran was run, and ended with this exit code, which is not 0.
    Exited(i32),
    /// It failed, was cut off, or has not ended.
    Failed,
}

/// How a call ended, by its status and by what its result says.
pub fn call_end(call: &ToolCall) -> CallEnd {
    if call.status != ToolStatus::Completed {
        return CallEnd::Failed;
    }
    let code = exit_code_of(call);
    // What a program printed is its own: its exit code says how it ended.
    let is_printed = code.is_some() && runs_commands(call);
    let is_failure = |value: &Value| match value {
        Value::String(_) if is_printed => false,
        Value::Object(map) if is_printed => is_flagged(map),
        value => says_failure(value, MAX_ENVELOPES),
    };
    let shows_failure = call.content.iter().any(|content| match content {
        ToolContent::Text { text } => !is_printed && text_says_failure(text, MAX_ENVELOPES),
        ToolContent::Raw { value } => is_failure(value),
        ToolContent::Image { .. }
        | ToolContent::Link { .. }
        | ToolContent::Diff { .. }
        | ToolContent::Terminal { .. }
        | ToolContent::Omitted { .. } => false,
    });
    if shows_failure || call.output.as_ref().is_some_and(is_failure) {
        return CallEnd::Failed;
    }
    match code {
        Some(code) if code != 0 => CallEnd::Exited(code),
        Some(_) | None => CallEnd::Succeeded,
    }
}

/// The call ended well: it is completed, and neither a flag, an error nor an exit code says otherwise.
pub fn succeeded(call: &ToolCall) -> bool {
    call_end(call) == CallEnd::Succeeded
}

/// The exit code of a call, from its terminal or its output.
pub(super) fn exit_code_of(call: &ToolCall) -> Option<i32> {
    let shown = call.content.iter().find_map(|content| match content {
        ToolContent::Terminal { exit_code, .. } => *exit_code,
        _ => None,
    });
    shown.or_else(|| exit_code(call.output.as_ref()?))
}

fn says_failure(value: &Value, envelopes: u32) -> bool {
    let Some(left) = envelopes.checked_sub(1) else { return false };
    match value {
        Value::Object(map) => {
            let inner = ["result", "structuredContent", "structured_content", "Ok", "output"];
            is_flagged(map)
                || inner.iter().any(|name| map.get(*name).is_some_and(|value| says_failure(value, left)))
                || map.get("content").is_some_and(|content| says_failure(content, left))
                || (is_block(map) && map.get("text").is_some_and(|text| says_failure(text, left)))
        }
        // Of a list only content blocks are envelopes; other members are data, which may mention errors.
        Value::Array(list) => {
            let mut blocks = list.iter().filter(|member| member.as_object().is_some_and(is_block));
            blocks.any(|block| says_failure(block, left))
        }
        Value::String(text) => text_says_failure(text, left),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A JSON result that came as text.
fn text_says_failure(text: &str, envelopes: u32) -> bool {
    text.trim_start().starts_with(['{', '['])
        && serde_json::from_str(text).is_ok_and(|value: Value| says_failure(&value, envelopes))
}

/// A flag or an error stands in the object itself.
fn is_flagged(map: &Map<String, Value>) -> bool {
    let is_nothing = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    };
    ["isError", "is_error"].iter().any(|flag| map.get(*flag) == Some(&Value::Bool(true)))
        || map.get("success") == Some(&Value::Bool(false))
        || map.get("error").is_some_and(|error| !is_nothing(error))
        // A result of Rust, written as it is.
        || (map.len() == 1 && map.contains_key("Err"))
}

/// A part of a result, as MCP and ACP have them; a resource is a document and speaks for nobody.
fn is_block(map: &Map<String, Value>) -> bool {
    matches!(map.get("type").and_then(Value::as_str), Some("text" | "content" | "tool_result" | "mcp_tool_result"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::{ToolChange, ToolKind};

    fn ended(change: ToolChange) -> CallEnd {
        let change = ToolChange { status: Some(ToolStatus::Completed), ..change };
        call_end(&ToolCall::begin(1, "c".to_owned(), &change))
    }

    fn given(output: Value) -> CallEnd {
        ended(ToolChange { output: Some(output), ..ToolChange::default() })
    }

    fn failures() -> impl Strategy<Value = Value> {
        prop::sample::select(vec![
            json!({ "error": "no such ticket" }),
            json!({ "error": { "code": 7 } }),
            json!({ "error": true, "id": 3 }),
            json!({ "success": false, "id": 3 }),
            json!({ "isError": true }),
            json!({ "is_error": true, "content": [] }),
            json!({ "Err": "refused" }),
        ])
    }

    fn successes() -> impl Strategy<Value = Value> {
        prop::sample::select(vec![
            json!("error: none of the 3 tests failed"),
            json!("{ error"),
            json!({ "error": null, "success": true }),
            json!({ "error": "", "isError": false, "is_error": "true" }),
            json!({ "errors": 3, "failure": "none" }),
            json!({ "rows": [{ "error": "in the data" }] }),
            json!([{ "error": "in the data" }, { "success": false }]),
            json!({ "type": "resource", "resource": { "text": "{\"error\": \"in a document\"}" } }),
            json!({ "text": "{\"error\": \"in the data\"}" }),
            json!([]),
            json!(7),
        ])
    }

    fn as_text(value: &Value) -> String {
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    }

    /// The ways in which a result is handed on.
    fn wrapped(value: &Value, way: usize) -> Value {
        let text = || as_text(value);
        match way {
            0 => json!(text()),
            1 => json!([{ "type": "text", "text": text() }]),
            2 => json!({ "content": [{ "type": "text", "text": "first" }, { "type": "text", "text": text() }] }),
            3 => json!([{ "type": "content", "content": { "type": "text", "text": text() } }]),
            4 => json!({ "content": [{ "type": "text", "text": "It is." }], "structuredContent": value }),
            5 => json!({ "result": value, "error": null }),
            6 => json!({ "Ok": value }),
            7 => json!({ "output": text(), "metadata": { "truncated": false } }),
            _ => json!({ "type": "tool_result", "tool_use_id": "x", "content": value }),
        }
    }

    proptest! {
        #[test]
        fn a_failure_is_one_in_every_envelope(core in failures(), ways in prop::collection::vec(0..9_usize, 0..5)) {
            let output = ways.iter().fold(core, |value, way| wrapped(&value, *way));
            prop_assert_eq!(given(output.clone()), CallEnd::Failed, "{}", output);
            let text = vec![ToolContent::Text { text: as_text(&output) }];
            prop_assert_eq!(ended(ToolChange { content: Some(text), ..ToolChange::default() }), CallEnd::Failed);
        }

        #[test]
        fn a_success_is_one_in_every_envelope(core in successes(), ways in prop::collection::vec(0..9_usize, 0..5)) {
            let output = ways.iter().fold(core, |value, way| wrapped(&value, *way));
            prop_assert_eq!(given(output.clone()), CallEnd::Succeeded, "{}", output);
            let text = vec![ToolContent::Text { text: as_text(&output) }];
            prop_assert_eq!(ended(ToolChange { content: Some(text), ..ToolChange::default() }), CallEnd::Succeeded);
        }
    }

    #[test]
    fn an_exit_code_says_how_a_program_ended_and_what_it_printed_is_its_own() {
        let run = |output: Value| {
            ended(ToolChange { kind: Some(ToolKind::Execute), output: Some(output), ..ToolChange::default() })
        };
        let printed = "{\"error\": \"the answer of some server\"}";
        assert_eq!(run(json!({ "output": printed, "metadata": { "exit": 0 } })), CallEnd::Succeeded);
        assert_eq!(run(json!({ "stdout": printed, "exit_code": 3 })), CallEnd::Exited(3));
        assert_eq!(run(json!({ "exitCode": 0, "error": "could not start" })), CallEnd::Failed);
        let terminal =
            ToolContent::Terminal { command: "make".to_owned(), output: printed.to_owned(), exit_code: Some(2) };
        assert_eq!(ended(ToolChange { content: Some(vec![terminal]), ..ToolChange::default() }), CallEnd::Exited(2));
    }

    #[test]
    fn endless_envelopes_are_not_opened() {
        let deep = (0..100).fold(json!({ "error": "x" }), |value, _| json!({ "result": value }));
        assert_eq!(given(deep), CallEnd::Succeeded);
    }
}
