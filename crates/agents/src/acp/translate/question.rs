//! Translates an agent's question, and finds out what is really to be done.
//!
//! Invariant: the subject is complete and comes from the tool's input, whichever message carried it; never from a
//! title or from text about the call, which are kept apart. A question never removes what was known of its call
//! before.

use agent_client_protocol::v1::schema::{
    CreateElicitationRequest, ElicitationMode, ElicitationScope, PermissionOption as AcpPermissionOption,
    PermissionOptionKind, ToolCallUpdateFields,
};
use model::{AgentReport, PermissionKind, PermissionOption, Question, ToolKind};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::calls::{TurnCalls, kind};
use super::content::TerminalOutputs;
use super::input_digest::input_of;
use super::text::{command_line, cut_chars, in_lines, start_of};
use super::{MAX_CALL_TITLE_CHARS, MAX_DESCRIPTION_CHARS, MAX_LISTED, MAX_TITLE_CHARS};

pub(crate) const ACCEPT: &str = "accept";
pub(crate) const DECLINE: &str = "decline";

/// A question as it came in a request.
#[derive(Debug)]
pub(crate) enum QuestionRequest {
    /// Permission to use a tool.
    Permission {
        /// The call, as raw JSON.
        call: Value,
        options: Vec<AcpPermissionOption>,
    },
    /// A form to fill in, or an address to visit.
    Elicitation(CreateElicitationRequest),
}

impl QuestionRequest {
    /// Reads the params of a `session/request_permission`. Invalid and repeated options are left out;
    /// `None` if no option is left.
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

/// A question, the reports to send before it, and what is known of the tool that it is about.
#[derive(Debug)]
pub(crate) struct TranslatedQuestion {
    pub(crate) reports: Vec<AgentReport>,
    pub(crate) question: Question,
    /// The tool's name, if the agent says it apart from the title.
    pub(crate) tool_name: Option<String>,
    /// The whole input of the tool, if it is known and short.
    pub(crate) input: Option<Map<String, Value>>,
}

pub(super) fn ask(
    asking: QuestionRequest,
    calls: &mut TurnCalls,
    terminals: &dyn TerminalOutputs,
) -> TranslatedQuestion {
    match asking {
        QuestionRequest::Permission { call, options } => permission(call, options, calls, terminals),
        QuestionRequest::Elicitation(request) => {
            let question = elicitation(request, calls);
            TranslatedQuestion { reports: Vec::new(), question, tool_name: None, input: None }
        }
    }
}

fn permission(
    mut call: Value,
    options: Vec<AcpPermissionOption>,
    calls: &mut TurnCalls,
    terminals: &dyn TerminalOutputs,
) -> TranslatedQuestion {
    let id = call.get("toolCallId").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut fields = ToolCallUpdateFields::deserialize(&call).unwrap_or_default();
    let items = call.get("content").and_then(Value::as_array).map(Vec::as_slice);
    let said = subject(&fields, items, fields.kind.map_or(ToolKind::Other, kind));
    let asked_in_words = shown_text(items);
    let before = calls.find(&id);
    if before.shows {
        drop_words(&mut call);
    }
    if fields.title.as_deref().is_some_and(is_name) && !is_name(&before.title) {
        fields.title = None;
        drop_member(&mut call, "title");
    }
    let reported = calls.message(call, terminals);
    let call = calls.find(&id);
    // A call that can not be reported can still be asked about; then the kept values are not what is asked.
    let (subject, digest) = match &reported {
        Ok(_) => (call.subject.or(said), call.digest),
        Err(_) => (said.or(call.subject), None),
    };
    let title = fields.title.map_or(call.title, |title| cut_chars(plain_title(title), MAX_CALL_TITLE_CHARS));
    let input = match (&reported, call.input, &before.shown) {
        (Err(_), ..) | (Ok(_), None, None) => None,
        (Ok(_), Some(input), _) => input.as_object().cloned(),
        (Ok(_), None, Some(text)) => serde_json::from_str(text).ok(),
    };
    let subject = subject.or_else(|| subject_of_text(before.shown.as_deref()?, call.kind));
    let said = before.shown.or(asked_in_words).filter(|_| subject.is_none());
    let reports = reported.unwrap_or_default();
    let options = options.into_iter().take(MAX_LISTED).map(|option| PermissionOption {
        id: option.option_id.0.to_string(),
        name: cut_chars(option.name, MAX_TITLE_CHARS),
        kind: match option.kind {
            PermissionOptionKind::AllowOnce => PermissionKind::AllowOnce,
            PermissionOptionKind::AllowAlways => PermissionKind::AllowAlways,
            PermissionOptionKind::RejectAlways => PermissionKind::RejectAlways,
            // An unknown kind permits nothing.
            PermissionOptionKind::RejectOnce | _ => PermissionKind::RejectOnce,
        },
    });
    let question = Question {
        tool: call.tool,
        title,
        kind: call.kind,
        subject,
        said,
        digest,
        options: options.collect(),
        form: None,
    };
    TranslatedQuestion { reports, question, tool_name: call.name, input }
}

fn elicitation(request: CreateElicitationRequest, calls: &TurnCalls) -> Question {
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
        said: None,
        // A visit to an address is asked about every time.
        digest: None,
        options: vec![
            option(ACCEPT, "Accept", PermissionKind::AllowOnce),
            option(DECLINE, "Decline", PermissionKind::RejectOnce),
        ],
        form,
    }
}

/// How much of a call's content is kept for questions about it.
const MAX_SHOWN_BYTES: usize = 64 << 10;

/// The texts in a call's content.
pub(super) fn shown_text(items: Option<&[Value]>) -> Option<String> {
    let texts =
        items.into_iter().flatten().filter(|item| is_words(item)).filter_map(|item| item["content"]["text"].as_str());
    let text = texts.collect::<Vec<_>>().join("\n");
    Some(start_of(&text, MAX_SHOWN_BYTES).to_owned()).filter(|text| !text.trim().is_empty())
}

fn is_words(item: &Value) -> bool {
    item["type"] == "content" && item["content"]["type"] == "text"
}

/// Removes the texts of a question, which must not replace the content of its call.
fn drop_words(call: &mut Value) {
    let Some(items) = call.get_mut("content").and_then(Value::as_array_mut) else { return };
    items.retain(|item| !is_words(item));
    if items.is_empty() {
        drop_member(call, "content");
    }
}

fn drop_member(call: &mut Value, name: &str) {
    if let Some(call) = call.as_object_mut() {
        call.remove(name);
    }
}

/// Whether a title is only the name of a tool: it does not replace the title that a call had before.
fn is_name(title: &str) -> bool {
    !title.trim().contains(char::is_whitespace)
}

/// The text that a call shows while its input is not known may be the input itself, as JSON.
fn subject_of_text(text: &str, kind: ToolKind) -> Option<String> {
    let members = serde_json::from_str::<Map<String, Value>>(text).ok().filter(|members| !members.is_empty())?;
    Some(said_by_one(&members, kind).unwrap_or_else(|| in_lines(&members)))
}

/// Members of an input that hold a command.
const COMMANDS: [&str; 3] = ["command", "cmd", "commands"];
/// Members beside a command that change only where and how long it runs.
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

/// The exact command, path or input that a tool is given: the one member that says it, else the whole input, else the
/// files that the call shows or names.
pub(super) fn subject(fields: &ToolCallUpdateFields, items: Option<&[Value]>, kind: ToolKind) -> Option<String> {
    match input_of(fields) {
        Some(Value::Object(members)) => {
            return Some(said_by_one(members, kind).unwrap_or_else(|| in_lines(members)));
        }
        Some(Value::String(text)) => return Some(text.clone()),
        Some(other) => return Some(other.to_string()),
        None => {}
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

/// The one member that says what is done. An editor's `command` beside a `path` says nothing by itself, and a path
/// beside other members may hide what is done with it.
fn said_by_one(members: &Map<String, Value>, kind: ToolKind) -> Option<String> {
    let groups = [&COMMANDS[..], &PATHS, &ADDRESSES];
    let named = groups.iter().flat_map(|names| names.iter()).filter_map(|name| members.get(*name));
    let mut named = named.filter(|value| !value.is_null());
    let (Some(only), None) = (named.next(), named.next()) else { return None };
    let says_it = if is_command(members) { is_only_a_command(members) } else { kind != ToolKind::Execute };
    if says_it { line(only) } else { None }
}

/// A title in words: some agents write the input into it, as JSON. Nothing is left out.
pub(super) fn plain_title(title: String) -> String {
    let Some((name, json)) = title.find('{').map(|at| title.split_at(at)) else { return title };
    let Ok(members) = serde_json::from_str::<Map<String, Value>>(json.trim_end()) else { return title };
    let said = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let members: Vec<String> = match members.values().next() {
        Some(only) if members.len() == 1 => vec![said(only)],
        _ => members.iter().map(|(name, value)| format!("{name}: {}", said(value))).collect(),
    };
    let name = name.trim_end_matches([' ', ':', '(']);
    let name = Some(name).filter(|name| !name.is_empty()).map(|name| format!("{name}: ")).unwrap_or_default();
    format!("{name}{}", members.join(", "))
}

/// Whether there is a command, and nothing beside it changes more than where and how long it runs.
pub(super) fn is_only_a_command(members: &Map<String, Value>) -> bool {
    let is_beside = |name: &String| COMMANDS.contains(&name.as_str()) || BESIDE.contains(&name.as_str());
    is_command(members) && members.keys().all(is_beside)
}

fn is_command(members: &Map<String, Value>) -> bool {
    COMMANDS.iter().any(|name| members.get(*name).is_some_and(|value| !value.is_null()))
}

/// A string, or a list of words joined as one would type them.
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
        let subject_of = |input: Value| subject(&ToolCallUpdateFields::new().raw_input(input), None, ToolKind::Other);
        let checks = [
            (json!({ "command": "rm -rf /\n# tidy" }), "rm -rf /\n# tidy"),
            (json!({ "command": ["bash", "-lc", "echo 'hi' $X"], "cwd": "/p" }), r"bash -lc 'echo '\''hi'\'' $X'"),
            (json!({ "file_path": "/p/a.rs", "old_string": "a" }), "/p/a.rs"),
            (json!({ "url": "https://x.y/z", "prompt": "p" }), "https://x.y/z"),
            (json!({ "command": "create", "path": "/p/a" }), "command: create\npath: /p/a"),
            (json!({ "args": ["; rm -rf ~"], "command": "ls" }), "args: [\"; rm -rf ~\"]\ncommand: ls"),
            (json!({ "command": "ls", "description": "Lists", "timeout": 9 }), "ls"),
            (json!({ "query": "q" }), "query: q"),
            (json!({ "patch": "-a\n+b\n", "dry": true }), "patch:\n  -a\n  +b\n  \ndry: true"),
            (json!({ "command": { "run": "x" } }), r#"command: {"run":"x"}"#),
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
    fn a_program_is_shown_with_what_it_is_given() {
        let input = json!({ "path": "/bin/sh", "args": ["-c", "rm -rf ~"] });
        let of = |kind| subject(&ToolCallUpdateFields::new().raw_input(input.clone()), None, kind);
        assert_eq!(of(ToolKind::Execute).as_deref(), Some("path: /bin/sh\nargs: [\"-c\",\"rm -rf ~\"]"));
        assert_eq!(of(ToolKind::Read).as_deref(), Some("/bin/sh"));
    }

    #[test]
    fn without_an_input_the_files_are_the_subject() {
        let locations = json!({ "locations": [{ "path": "/p/a" }, { "path": "/p/b", "line": 3 }] });
        let fields: ToolCallUpdateFields = serde_json::from_value(locations).unwrap();
        assert_eq!(subject(&fields, None, ToolKind::Edit).as_deref(), Some("/p/a\n/p/b"));
        let items = [json!({ "type": "diff", "path": "/p/c", "newText": "" })];
        assert_eq!(subject(&fields, Some(&items), ToolKind::Edit).as_deref(), Some("/p/c"));
    }

    #[test]
    fn a_title_has_words_and_no_json() {
        for (title, plain) in [
            (r#"{"command":"ls","description":"Lists"}"#, "command: ls, description: Lists"),
            (r#"run_shell_command: {"command":"ls"}"#, "run_shell_command: ls"),
            (r#"deploy {"env":"prod","wipe":true}"#, "deploy: env: prod, wipe: true"),
            (r#"{"a":1}"#, "1"),
            ("fn main() {", "fn main() {"),
            ("awk '{print $1}' a.txt", "awk '{print $1}' a.txt"),
            ("Look around", "Look around"),
        ] {
            assert_eq!(plain_title(title.to_owned()), plain);
        }
    }
}
