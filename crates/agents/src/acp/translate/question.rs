//! What an agent asks, with what is really to be done in it.
//!
//! Invariant: the subject is whole and comes from what the tool is given, never from a title.

use agent_client_protocol::v1::schema::{
    CreateElicitationRequest, ElicitationMode, ElicitationScope, PermissionOption as AcpPermissionOption,
    PermissionOptionKind, ToolCallUpdateFields,
};
use model::{AgentReport, PermissionKind, PermissionOption, Question, ToolKind};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::calls::Calls;
use super::content::Screens;
use super::text::{command_line, cut_chars};
use super::{MAX_DESCRIPTION_CHARS, MAX_LISTED, MAX_TITLE_CHARS};

pub(crate) const ACCEPT: &str = "accept";
pub(crate) const DECLINE: &str = "decline";

/// What came as a request.
#[derive(Debug)]
pub(crate) enum Asking {
    /// May a tool be used?
    Permission {
        /// The call as it came.
        call: Value,
        options: Vec<AcpPermissionOption>,
    },
    /// A form, or an address to visit.
    Elicitation(CreateElicitationRequest),
}

impl Asking {
    /// Reads the params of a `session/request_permission`. What is no option, or one that is there already, is left
    /// out; without any there is nothing to answer.
    pub(crate) fn permission(params: &Value) -> Option<Self> {
        let call = params.get("toolCall").filter(|call| call.is_object())?.clone();
        let mut options: Vec<AcpPermissionOption> = Vec::new();
        for option in params.get("options")?.as_array()? {
            if let Ok(option) = AcpPermissionOption::deserialize(option)
                && !options.iter().any(|earlier| earlier.option_id == option.option_id)
            {
                options.push(option);
            }
        }
        (!options.is_empty()).then_some(Self::Permission { call, options })
    }
}

pub(super) fn ask(asking: Asking, calls: &mut Calls, screens: &dyn Screens) -> (Vec<AgentReport>, Question) {
    match asking {
        Asking::Permission { call, options } => permission(call, options, calls, screens),
        Asking::Elicitation(request) => (Vec::new(), elicitation(request, calls)),
    }
}

fn permission(
    call: Value,
    options: Vec<AcpPermissionOption>,
    calls: &mut Calls,
    screens: &dyn Screens,
) -> (Vec<AgentReport>, Question) {
    let id = call.get("toolCallId").and_then(Value::as_str).unwrap_or_default().to_owned();
    let fields = ToolCallUpdateFields::deserialize(&call).unwrap_or_default();
    // A call that can not be told can still be asked about.
    let reports = calls.message(call, screens).unwrap_or_default();
    let call = calls.find(&id);
    let options = options.into_iter().take(MAX_LISTED).map(|option| PermissionOption {
        id: option.option_id.0.to_string(),
        name: cut_chars(option.name, MAX_TITLE_CHARS),
        kind: match option.kind {
            PermissionOptionKind::AllowOnce => PermissionKind::AllowOnce,
            PermissionOptionKind::AllowAlways => PermissionKind::AllowAlways,
            PermissionOptionKind::RejectAlways => PermissionKind::RejectAlways,
            // A kind that is not known permits nothing.
            PermissionOptionKind::RejectOnce | _ => PermissionKind::RejectOnce,
        },
    });
    let question = Question {
        tool: call.tool,
        subject: call.subject.or_else(|| subject(&fields, None)),
        title: fields.title.map_or(call.title, |title| cut_chars(title, MAX_TITLE_CHARS)),
        kind: call.kind,
        options: options.collect(),
        form: None,
    };
    (reports, question)
}

fn elicitation(request: CreateElicitationRequest, calls: &Calls) -> Question {
    let call = match request.scope() {
        ElicitationScope::Session(scope) => scope.tool_call_id.as_ref().map(|id| calls.find(&id.0)),
        _ => None,
    };
    let (subject, form) = match request.mode {
        ElicitationMode::Form(form) => (None, Some(json!(form.requested_schema))),
        ElicitationMode::Url(url) => (Some(url.url), None),
        other => (Some(json!(other).to_string()), None),
    };
    let option = |id: &str, name: &str, kind| PermissionOption { id: id.to_owned(), name: name.to_owned(), kind };
    Question {
        tool: call.and_then(|call| call.tool),
        title: cut_chars(request.message, MAX_DESCRIPTION_CHARS),
        kind: ToolKind::Other,
        subject,
        options: vec![
            option(ACCEPT, "Accept", PermissionKind::AllowOnce),
            option(DECLINE, "Decline", PermissionKind::RejectOnce),
        ],
        form,
    }
}

/// Members of an input that say what is to be done, by what they are about.
const COMMANDS: [&str; 3] = ["command", "cmd", "commands"];
/// Members beside a command that change nothing of what it does but where and how long.
const BESIDE: [&str; 12] = [
    "description",
    "explanation",
    "justification",
    "cwd",
    "workdir",
    "working_directory",
    "dir_path",
    "directory",
    "timeout",
    "timeout_ms",
    "run_in_background",
    "is_background",
];
const PATHS: [&str; 7] = ["file_path", "filePath", "path", "abs_path", "absolute_path", "notebook_path", "filename"];
const ADDRESSES: [&str; 2] = ["url", "uri"];

/// The very command, path or input that a tool is given: the one member that says it, else all of it; else the files
/// that it shows or names.
pub(super) fn subject(fields: &ToolCallUpdateFields, items: Option<&[Value]>) -> Option<String> {
    match &fields.raw_input {
        Some(Value::Object(members)) if !members.is_empty() => {
            let groups = [&COMMANDS[..], &PATHS, &ADDRESSES];
            let named = groups.iter().flat_map(|names| names.iter()).filter_map(|name| members.get(*name));
            let mut named = named.filter(|value| !value.is_null());
            // An editor's `command` beside a `path` says nothing by itself, and what is run may hide beside its name.
            let said = match (named.next(), named.next()) {
                (Some(only), None) if !is_command(members) || members.keys().all(|name| is_beside(name)) => line(only),
                _ => None,
            };
            return Some(said.unwrap_or_else(|| Value::Object(members.clone()).to_string()));
        }
        Some(Value::String(text)) if !text.is_empty() => return Some(text.clone()),
        Some(Value::Null | Value::Object(_) | Value::String(_)) | None => {}
        Some(Value::Array(items)) if items.is_empty() => {}
        Some(other) => return Some(other.to_string()),
    }
    let diffs = items.into_iter().flatten().filter(|item| item.get("type").and_then(Value::as_str) == Some("diff"));
    let mut paths: Vec<String> = diffs.filter_map(|diff| Some(diff.get("path")?.as_str()?.to_owned())).collect();
    if paths.is_empty() {
        let locations = fields.locations.iter().flatten();
        paths.extend(locations.map(|location| location.path.to_string_lossy().into_owned()));
    }
    paths.dedup();
    Some(paths.join("\n")).filter(|paths| !paths.is_empty())
}

fn is_command(members: &serde_json::Map<String, Value>) -> bool {
    COMMANDS.iter().any(|name| members.get(*name).is_some_and(|value| !value.is_null()))
}

fn is_beside(name: &str) -> bool {
    COMMANDS.contains(&name) || BESIDE.contains(&name)
}

/// A string, or a list of words as one would type it.
fn line(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Array(words) => {
            let words: Option<Vec<_>> = words.iter().map(Value::as_str).collect();
            words.filter(|words| !words.is_empty()).map(command_line)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_what_the_tool_is_given() {
        let subject_of = |input: Value| subject(&ToolCallUpdateFields::new().raw_input(input), None);
        let checks = [
            (json!({ "command": "rm -rf /\n# tidy" }), "rm -rf /\n# tidy"),
            (json!({ "command": ["bash", "-lc", "echo 'hi' $X"], "cwd": "/p" }), r"bash -lc 'echo '\''hi'\'' $X'"),
            (json!({ "file_path": "/p/a.rs", "old_string": "a" }), "/p/a.rs"),
            (json!({ "url": "https://x.y/z", "prompt": "p" }), "https://x.y/z"),
            (json!({ "command": "create", "path": "/p/a" }), r#"{"command":"create","path":"/p/a"}"#),
            (json!({ "args": ["; rm -rf ~"], "command": "ls" }), r#"{"args":["; rm -rf ~"],"command":"ls"}"#),
            (json!({ "command": "ls", "description": "Lists", "timeout": 9 }), "ls"),
            (json!({ "query": "q" }), r#"{"query":"q"}"#),
            (json!({ "command": { "run": "x" } }), r#"{"command":{"run":"x"}}"#),
            (json!("patch"), "patch"),
            (json!([1, 2]), "[1,2]"),
        ];
        for (input, subject) in checks {
            assert_eq!(subject_of(input.clone()).as_deref(), Some(subject), "{input}");
        }
        for empty in [json!({}), json!(null), json!(""), json!([])] {
            assert_eq!(subject_of(empty), None);
        }
    }

    #[test]
    fn without_an_input_the_files_are_the_subject() {
        let locations = json!({ "locations": [{ "path": "/p/a" }, { "path": "/p/b", "line": 3 }] });
        let fields: ToolCallUpdateFields = serde_json::from_value(locations).unwrap();
        assert_eq!(subject(&fields, None).as_deref(), Some("/p/a\n/p/b"));
        let items = [json!({ "type": "diff", "path": "/p/c", "newText": "" })];
        assert_eq!(subject(&fields, Some(&items)).as_deref(), Some("/p/c"));
    }
}
