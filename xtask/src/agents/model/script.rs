//! What the scripted model says: a pure function of what it was asked.
//!
//! Invariant: keyed on content, never on a count. Agents ask on the side (for titles, for suggestions) and ask again.

use serde_json::{Map, Value, json};

/// A request in any of the three formats, reduced to what the script looks at.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// The newest words of the person, without what agents add to them.
    pub(super) words: String,
    /// What the tools answered since.
    pub(super) results: Vec<String>,
    pub(super) tools: Vec<Tool>,
    /// Only an object with a title is wanted.
    pub(super) title_as_json: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tool {
    /// Codex puts the tools of an MCP server into a namespace of their own.
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Reply {
    Say {
        thought: Option<String>,
        text: String,
    },
    /// All at once, as models do.
    Calls(Vec<Call>),
    /// The beginning of an answer that never ends: to be cancelled.
    Stall {
        text: String,
    },
}

#[derive(Debug, PartialEq)]
pub(super) struct Call {
    pub(super) tool: Tool,
    pub(super) arguments: Value,
}

/// What the lab's own tool is called, before agents put names in front of it.
pub(super) const LOOKUP: &str = "lookup_note";
const TITLE: &str = "Notes from the lab";
const SHELLS: [&str; 5] = ["shell_command", "exec_command", "shell", "bash", "Bash"];
const PLANNERS: [&str; 3] = ["update_plan", "todowrite", "TodoWrite"];
const WRITERS: [&str; 2] = ["write", "Write"];

/// What a session's own tool for marks is called, before agents put names in front of it.
pub(super) const MARK: &str = "set_relevant_context";
/// What ends the record that an agent is told ahead of the person's words.
const END_OF_RECORD: &str = "[End of the record.]";

pub(super) fn reply(asked: &Asked) -> Reply {
    if asked.title_as_json {
        return say(&json!({ "title": TITLE }).to_string());
    }
    // Nobody lets a model work without tools here: this is a call for a title.
    if asked.tools.is_empty() {
        return say(TITLE);
    }
    let words = own_words(&asked.words);
    // Claude asks for what the person might say next.
    if words.starts_with('[') {
        return say("go on");
    }
    if !asked.results.is_empty() {
        return say(&format!("The tool said: {}", asked.results.join(" | ")));
    }
    let calls = calls(asked);
    if !calls.is_empty() {
        return Reply::Calls(calls);
    }
    if wish(words, "please wait").is_some() {
        return Reply::Stall { text: "This takes a while.".to_owned() };
    }
    let thought = wish(words, "please think about").map(|what| format!("I am thinking about {what}."));
    Reply::Say { thought, text: format!("You said: {}", words.trim()) }
}

fn calls(asked: &Asked) -> Vec<Call> {
    let words = own_words(&asked.words);
    if let Some(file) = wish(words, "please mark") {
        let marker = asked.tools.iter().find(|tool| tool.name.ends_with(MARK));
        let arguments = json!({ "setName": "files", "items": [file], "mode": "merge" });
        return marker.map(|tool| Call { tool: tool.clone(), arguments }).into_iter().collect();
    }
    if let Some(name) = wish(words, "please lookup") {
        return asked
            .tools
            .iter()
            .filter(|tool| tool.name.ends_with(LOOKUP))
            .map(|tool| Call { tool: tool.clone(), arguments: json!({ "name": name }) })
            .collect();
    }
    let call = if let Some(file) = wish(words, "please run") {
        first_of(&SHELLS, asked).map(|tool| run(tool, &command(file)))
    } else if let Some(what) = wish(words, "please plan") {
        first_of(&PLANNERS, asked).map(|tool| plan(tool, what))
    } else if let Some(file) = wish(words, "please write") {
        first_of(&WRITERS, asked).map(|tool| write(tool, file))
    } else {
        None
    };
    call.into_iter().collect()
}

/// Makes a file, and prints what is not in the command itself.
fn command(file: &str) -> String {
    format!("touch {file} && expr 1234 '*' 1001")
}

fn run(tool: &Tool, command: &str) -> Call {
    let mut arguments = Map::new();
    for name in &tool.arguments {
        let value = match name.as_str() {
            "command" if tool.name == "shell" => json!(["bash", "-c", command]),
            "command" | "cmd" => json!(command),
            "description" | "justification" => json!("Make an empty file"),
            // Codex runs in its own sandbox without asking, unless the model says that this will not do.
            "sandbox_permissions" => json!("require_escalated"),
            _ => continue,
        };
        arguments.insert(name.clone(), value);
    }
    Call { tool: tool.clone(), arguments: Value::Object(arguments) }
}

fn plan(tool: &Tool, what: &str) -> Call {
    let first = format!("Begin {what}");
    let second = format!("Finish {what}");
    let arguments = if tool.arguments.iter().any(|name| name == "plan") {
        json!({ "plan": [{ "step": first, "status": "in_progress" }, { "step": second, "status": "pending" }] })
    } else {
        let todo = |content: &str, status: &str| json!({ "content": content, "status": status, "priority": "medium", "id": content, "activeForm": content });
        json!({ "todos": [todo(&first, "in_progress"), todo(&second, "pending")] })
    };
    Call { tool: tool.clone(), arguments }
}

fn write(tool: &Tool, file: &str) -> Call {
    let path = if tool.arguments.iter().any(|name| name == "filePath") { "filePath" } else { "file_path" };
    let mut arguments = json!({ "content": "one line\n" });
    arguments[path] = json!(file);
    Call { tool: tool.clone(), arguments }
}

fn first_of<'a>(names: &[&str], asked: &'a Asked) -> Option<&'a Tool> {
    names.iter().find_map(|name| asked.tools.iter().find(|tool| tool.name == *name))
}

/// What the person said, without what the agent was told ahead of it.
fn own_words(words: &str) -> &str {
    words.rsplit_once(END_OF_RECORD).map_or(words, |(_, own)| own.trim_start())
}

/// The word after the last of these phrases.
fn wish<'a>(words: &'a str, phrase: &str) -> Option<&'a str> {
    let (_, rest) = words.rsplit_once(phrase)?;
    rest.split_whitespace().next()
}

fn say(text: &str) -> Reply {
    Reply::Say { thought: None, text: text.to_owned() }
}

/// An agent's own additions to what the person said come as tags.
pub(super) fn is_added_by_agent(text: &str) -> bool {
    text.trim_start().starts_with('<')
}

/// Words with the spaces behind them, as a model streams them.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, arguments: &[&str]) -> Tool {
        Tool {
            namespace: None,
            name: name.to_owned(),
            arguments: arguments.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    fn asked(words: &str, tools: Vec<Tool>) -> Asked {
        Asked { words: words.to_owned(), tools, ..Asked::default() }
    }

    #[test]
    fn every_lookup_tool_is_called_in_its_own_spelling() {
        let tools = vec![tool("mcp__notes__lookup_note", &["name"]), tool("bash", &[]), tool("x_lookup_note", &[])];
        let Reply::Calls(calls) = reply(&asked("please lookup kumquat", tools)) else { panic!("no calls") };
        let names: Vec<_> = calls.iter().map(|call| call.tool.name.as_str()).collect();
        assert_eq!(names, ["mcp__notes__lookup_note", "x_lookup_note"]);
        assert_eq!(calls[0].arguments, json!({ "name": "kumquat" }));
    }

    #[test]
    fn a_record_ahead_of_the_words_is_none_of_them() {
        let told = "[Session resumed. t1 person: please lookup kumquat\n[End of the record.]\nand once more";
        assert_eq!(reply(&asked(told, vec![tool("lookup_note", &[])])), say("You said: and once more"));
    }

    #[test]
    fn a_mark_is_made_with_the_sessions_own_tool() {
        let tools = vec![tool("mcp__throughline__set_relevant_context", &["setName", "items", "mode"])];
        let Reply::Calls(calls) = reply(&asked("please mark /w/a.md", tools)) else { panic!("no calls") };
        assert_eq!(calls[0].arguments, json!({ "setName": "files", "items": ["/w/a.md"], "mode": "merge" }));
    }

    #[test]
    fn results_are_quoted_and_not_asked_for_again() {
        let mut again = asked("please lookup kumquat", vec![tool("lookup_note", &[])]);
        again.results.push("a fruit".to_owned());
        assert_eq!(reply(&again), say("The tool said: a fruit"));
    }

    #[test]
    fn a_request_without_tools_is_for_a_title() {
        assert_eq!(reply(&asked("please lookup kumquat", Vec::new())), say(TITLE));
        let mut as_json = asked("please lookup kumquat", Vec::new());
        as_json.title_as_json = true;
        assert_eq!(reply(&as_json), say(r#"{"title":"Notes from the lab"}"#));
    }

    #[test]
    fn a_shell_gets_the_arguments_that_it_names() {
        let tools = vec![tool("exec_command", &["cmd", "sandbox_permissions", "tty"])];
        let Reply::Calls(calls) = reply(&asked("please run made.txt", tools)) else { panic!("no calls") };
        assert_eq!(
            calls[0].arguments,
            json!({ "cmd": command("made.txt"), "sandbox_permissions": "require_escalated" })
        );
    }

    #[test]
    fn anything_else_is_echoed() {
        let tools = || vec![tool("bash", &[])];
        assert_eq!(reply(&asked("hello there", tools())), say("You said: hello there"));
        let thinking = reply(&asked("please think about rivers", tools()));
        let expected = Some("I am thinking about rivers.".to_owned());
        assert!(matches!(thinking, Reply::Say { thought, .. } if thought == expected));
    }
}
