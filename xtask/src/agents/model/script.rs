//! What the scripted model says: a pure function of what it was asked.
//!
//! Invariant: keyed on content, never on a count. Agents ask on the side (for titles, for suggestions) and ask again.

use serde_json::{Map, Value, json};

use super::schema;

/// A request in any of the formats, reduced to what the script looks at.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// The newest words of the person, without what agents add to them.
    pub(super) words: String,
    /// What the tools answered since.
    pub(super) results: Vec<String>,
    pub(super) tools: Vec<Tool>,
    /// Only an object of this shape is wanted.
    pub(super) schema: Option<Value>,
    /// Where the agent says that the skill lies which the script loads.
    pub(super) skill_file: Option<String>,
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
pub(super) const TITLE: &str = "Notes from the lab";
const SHELLS: [&str; 6] = ["shell_command", "exec_command", "shell", "bash", "Bash", "run_shell_command"];
const PLANNERS: [&str; 3] = ["update_plan", "todowrite", "TodoWrite"];
const WRITERS: [&str; 4] = ["write", "Write", "write_file", "create"];
const EDITORS: [&str; 3] = ["edit", "Edit", "replace"];
const SKILL_LOADERS: [&str; 3] = ["skill", "Skill", "activate_skill"];
/// The skill that is loaded, one of those that come with the program.
const SKILL: &str = "throughline";
const WRITTEN: &str = "one line";
const EDITED: &str = "another line";

/// What a session's own tool for marks is called, before agents put names in front of it.
pub(super) const MARK: &str = "set_relevant_context";
/// How a text begins that an agent is told ahead of the person's words.
const TOLD_AHEAD: &str = "[Context from Throughline ";
/// What ends the record that an agent is told ahead of the person's words.
const END_OF_RECORD: &str = "[End of the record.]";
/// What a session's own tool for its contents is called.
const CONTENTS: &str = "session_toc";

pub(super) fn reply(asked: &Asked) -> Reply {
    if let Some(schema) = &asked.schema {
        return say(&schema::instance(schema).to_string());
    }
    // Nobody lets a model work without tools here: this is a call for a title.
    if asked.tools.is_empty() {
        return say(TITLE);
    }
    let words = own_words(&asked.words);
    // Claude and Qwen ask for what the person might say next.
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
    if let Some((_, command)) = words.rsplit_once("please offer ") {
        return say(&next_block(command.trim()));
    }
    if wish(words, "please wait").is_some() {
        return Reply::Stall { text: "This takes a while.".to_owned() };
    }
    let thought = wish(words, "please think about").map(|what| format!("I am thinking about {what}."));
    Reply::Say { thought, text: format!("You said: {}", words.trim()) }
}

fn calls(asked: &Asked) -> Vec<Call> {
    let words = own_words(&asked.words);
    let own_tool = |name: &str| asked.tools.iter().find(|tool| tool.name.ends_with(name));
    let call = if let Some(file) = wish(words, "please mark") {
        let arguments = json!({ "setName": "files", "items": [file], "mode": "merge" });
        own_tool(MARK).map(|tool| Call { tool: tool.clone(), arguments })
    } else if wish(words, "please recall").is_some() {
        own_tool(CONTENTS).map(|tool| Call { tool: tool.clone(), arguments: json!({}) })
    } else if let Some(name) = wish(words, "please lookup") {
        let tools = asked.tools.iter().filter(|tool| tool.name.ends_with(LOOKUP));
        return tools.map(|tool| Call { tool: tool.clone(), arguments: json!({ "name": name }) }).collect();
    } else if let Some(file) = wish(words, "please run") {
        first_of(&SHELLS, asked).map(|tool| run(tool, &command(file), Sandbox::Leave))
    } else if let Some(what) = wish(words, "please plan") {
        first_of(&PLANNERS, asked).map(|tool| plan(tool, what))
    } else if let Some(file) = wish(words, "please write") {
        change(asked, &WRITERS, file, &format!("*** Add File: {file}\n+{WRITTEN}\n"))
    } else if let Some(file) = wish(words, "please edit") {
        change(asked, &EDITORS, file, &format!("*** Update File: {file}\n@@\n-{WRITTEN}\n+{EDITED}\n"))
    } else if words.contains("please load the skill") {
        load_skill(asked)
    } else {
        None
    };
    call.into_iter().collect()
}

/// With a tool for that, else with the patch that Codex finds in a command.
fn change(asked: &Asked, tools: &[&str], file: &str, patch: &str) -> Option<Call> {
    if let Some(tool) = first_of(tools, asked) {
        return Some(Call { tool: tool.clone(), arguments: change_arguments(tool, file) });
    }
    let command = format!("apply_patch <<'EOF'\n*** Begin Patch\n{patch}*** End Patch\nEOF\n");
    first_of(&SHELLS, asked).map(|tool| run(tool, &command, Sandbox::Stay))
}

fn change_arguments(tool: &Tool, file: &str) -> Value {
    let mut arguments = Map::new();
    for name in &tool.arguments {
        let value = match name.as_str() {
            "filePath" | "file_path" | "path" => file,
            "content" | "file_text" => "one line\n",
            "old_string" | "oldString" | "old_str" => WRITTEN,
            "new_string" | "newString" | "new_str" => EDITED,
            "instruction" => "Change the line",
            _ => continue,
        };
        arguments.insert(name.clone(), json!(value));
    }
    Value::Object(arguments)
}

/// With a tool for that, else by reading its file.
fn load_skill(asked: &Asked) -> Option<Call> {
    if let Some(tool) = first_of(&SKILL_LOADERS, asked) {
        let name = if tool.arguments.iter().any(|name| name == "skill") { "skill" } else { "name" };
        return Some(Call { tool: tool.clone(), arguments: json!({ name: SKILL }) });
    }
    let file = asked.skill_file.as_ref()?;
    first_of(&SHELLS, asked).map(|tool| run(tool, &format!("cat {file}"), Sandbox::Stay))
}

/// The path of the skill's first file, as it stands in a request.
pub(super) fn skill_file(request: &str) -> Option<String> {
    let (before, _) = request.split_once(&format!("/{SKILL}/SKILL.md"))?;
    let from = before.rfind(|character: char| !(character.is_alphanumeric() || "/._-".contains(character)));
    let folder = &before[from.map_or(0, |at| at + 1)..];
    // Codex gives a folder a short name, and says elsewhere what it stands for.
    let named = request.split_once(&format!("`{folder}` = `")).and_then(|(_, rest)| rest.split('`').next());
    Some(format!("{}/{SKILL}/SKILL.md", named.unwrap_or(folder)))
}

/// An answer that offers to go on with this command in a fresh session.
fn next_block(command: &str) -> String {
    let block = json!({ "label": "Go on", "command": command, "metaContext": "lab" });
    format!("That is done.\n\n```throughline:next\n{block}\n```\n")
}

/// Makes a file, and prints what is not in the command itself.
fn command(file: &str) -> String {
    format!("touch {file} && expr 1234 '*' 1001")
}

/// Codex runs in its own sandbox without asking, unless the model says that this will not do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sandbox {
    Stay,
    Leave,
}

fn run(tool: &Tool, command: &str, sandbox: Sandbox) -> Call {
    let mut arguments = Map::new();
    for name in &tool.arguments {
        let value = match name.as_str() {
            "command" if tool.name == "shell" => json!(["bash", "-c", command]),
            "command" | "cmd" => json!(command),
            "description" => json!("Make an empty file"),
            "justification" if sandbox == Sandbox::Leave => json!("Make an empty file"),
            "sandbox_permissions" if sandbox == Sandbox::Leave => json!("require_escalated"),
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

fn first_of<'a>(names: &[&str], asked: &'a Asked) -> Option<&'a Tool> {
    names.iter().find_map(|name| asked.tools.iter().find(|tool| tool.name == *name))
}

/// What the person said, without what the agent was told ahead of it; some agents make one text of both.
fn own_words(words: &str) -> &str {
    let words = words.rsplit_once(END_OF_RECORD).map_or(words, |(_, own)| own.trim_start());
    // Behind what is told of the session stands no mark; what a person says here has one line.
    let last_line = || words.trim_end().lines().next_back().unwrap_or_default();
    if words.starts_with(TOLD_AHEAD) { last_line() } else { words }
}

/// The word after the last of these phrases.
fn wish<'a>(words: &'a str, phrase: &str) -> Option<&'a str> {
    let (_, rest) = words.rsplit_once(phrase)?;
    rest.split_whitespace().next()
}

fn say(text: &str) -> Reply {
    Reply::Say { thought: None, text: text.to_owned() }
}

/// The person's words in a text, without the tags in which agents add their own; `None` if nothing else is there.
pub(super) fn person_words(text: &str) -> Option<String> {
    let mut rest = text.trim();
    while let Some(name) = rest.strip_prefix('<').and_then(|tag| tag.split(['>', ' ', '/']).next()) {
        // What is not closed goes to the end.
        rest = rest.split_once(&format!("</{name}>")).map_or("", |(_, behind)| behind.trim_start());
    }
    (!rest.is_empty()).then(|| rest.to_owned())
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
    fn what_is_told_of_the_session_is_none_of_the_words() {
        let told = "[Context from Throughline about the session.]\n\n# Throughline\n\nMark files.\nhello there";
        assert_eq!(reply(&asked(told, vec![tool("bash", &[])])), say("You said: hello there"));
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
        as_json.schema = Some(json!({ "type": "object", "properties": { "title": { "type": "string" } } }));
        assert_eq!(reply(&as_json), say(r#"{"title":"Notes from the lab"}"#));
    }

    #[test]
    fn what_an_agent_puts_around_the_words_is_taken_off() {
        assert_eq!(person_words("<current_datetime>now</current_datetime>\n\nhello").as_deref(), Some("hello"));
        assert_eq!(person_words("<system-reminder>\nbe <b>nice</b>\n</system-reminder>"), None);
        assert_eq!(person_words("<environment_context/>"), None);
        assert_eq!(person_words("is 1 < 2?").as_deref(), Some("is 1 < 2?"));
    }

    #[test]
    fn a_file_is_changed_with_the_arguments_that_the_tool_names() {
        let editor = tool("edit", &["path", "old_str", "new_str"]);
        let Reply::Calls(calls) = reply(&asked("please edit a.md", vec![editor])) else { panic!("no calls") };
        assert_eq!(calls[0].arguments, json!({ "path": "a.md", "old_str": WRITTEN, "new_str": EDITED }));
        let shell = tool("exec_command", &["cmd", "sandbox_permissions"]);
        let Reply::Calls(calls) = reply(&asked("please write a.md", vec![shell])) else { panic!("no calls") };
        assert!(calls[0].arguments["cmd"].as_str().unwrap().contains("*** Add File: a.md\n+one line\n"));
        assert_eq!(calls[0].arguments.get("sandbox_permissions"), None);
    }

    #[test]
    fn a_skill_is_loaded_with_a_tool_or_by_its_file() {
        let loader = tool("activate_skill", &["name"]);
        let Reply::Calls(calls) = reply(&asked("please load the skill", vec![loader])) else { panic!("no calls") };
        assert_eq!(calls[0].arguments, json!({ "name": "throughline" }));
        let mut from_file = asked("please load the skill", vec![tool("exec_command", &["cmd"])]);
        from_file.skill_file = skill_file("- `r0` = `/h/.agents/skills`\\n- blocks (file: r0/throughline/SKILL.md)");
        let Reply::Calls(calls) = reply(&from_file) else { panic!("no calls") };
        assert_eq!(calls[0].arguments, json!({ "cmd": "cat /h/.agents/skills/throughline/SKILL.md" }));
    }

    #[test]
    fn a_step_is_offered_with_the_command_that_was_asked_for() {
        let Reply::Say { text, .. } = reply(&asked("please offer /status now", vec![tool("bash", &[])])) else {
            panic!("not said")
        };
        let (_, block) = text.split_once("\n```throughline:next\n").unwrap();
        let block: Value = serde_json::from_str(block.trim_end().trim_end_matches('`')).unwrap();
        assert_eq!(block["command"], "/status now");
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
