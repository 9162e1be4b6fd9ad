//! The answers of the scripted model: a pure function of the request.
//!
//! Invariant: answers depend on content, never on a count. Agents send side requests (for titles, for suggestions)
//! and retry.

use serde_json::{Map, Value, json};

use super::schema;

/// A request in any of the formats, reduced to what the script reads.
#[derive(Debug, Default)]
pub(super) struct ScriptInput {
    /// The newest text of the person, without what agents add to it.
    pub(super) words: String,
    /// The results of tools since then.
    pub(super) results: Vec<String>,
    pub(super) tools: Vec<Tool>,
    /// Set if the answer must be an object of this shape.
    pub(super) schema: Option<Value>,
    /// The path of the skill that the script loads, as the agent gives it.
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
pub(super) enum ScriptReply {
    Say {
        thought: Option<String>,
        text: String,
    },
    /// All at once, as models do.
    Calls(Vec<ToolUse>),
    /// The beginning of an answer that never ends: to be cancelled.
    Stall {
        text: String,
    },
}

#[derive(Debug, PartialEq)]
pub(super) struct ToolUse {
    pub(super) tool: Tool,
    pub(super) arguments: Value,
}

/// The name of the lab's own tool, before agents add prefixes.
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

/// The name of the session's own tool for marks, before agents add prefixes.
pub(super) const MARK: &str = "set_relevant_context";
/// The beginning of a text that an agent gets before the person's.
const TOLD_AHEAD: &str = "[Context from Throughline ";
/// The end of the packet that an agent gets before the person's text.
const END_OF_RECORD: &str = "[End of the record.]";
/// The name of the session's own tool for its contents.
const CONTENTS: &str = "session_toc";
/// The names of the tools that show the person something, and of the one that reads it again.
const SHOW_FILE: &str = "render_file_contents";
const SHOW_COMMAND: &str = "run_and_display";
const RETRIEVE: &str = "retrieve_output";
/// The names of the tools that show an applet and read its state.
const SHOW_APPLET: &str = "set_applet";
const READ_APPLET: &str = "get_applet_state";

pub(super) fn reply(asked: &ScriptInput) -> ScriptReply {
    if let Some(schema) = &asked.schema {
        return text_reply(&schema::instance(schema).to_string());
    }
    // Every real turn offers tools here, so this is a request for a title.
    if asked.tools.is_empty() {
        return text_reply(TITLE);
    }
    let words = own_text(&asked.words);
    // Claude and Qwen ask what the person might say next.
    if words.starts_with('[') {
        return text_reply("go on");
    }
    if !asked.results.is_empty() {
        return text_reply(&format!("The tool said: {}", asked.results.join(" | ")));
    }
    let calls = calls(asked);
    if !calls.is_empty() {
        return ScriptReply::Calls(calls);
    }
    if let Some((_, command)) = words.rsplit_once("please offer ") {
        return text_reply(&next_block(command.trim()));
    }
    if word_after(words, "please wait").is_some() {
        return ScriptReply::Stall { text: "This takes a while.".to_owned() };
    }
    let thought = word_after(words, "please think about").map(|what| format!("I am thinking about {what}."));
    ScriptReply::Say { thought, text: format!("You said: {}", words.trim()) }
}

fn calls(asked: &ScriptInput) -> Vec<ToolUse> {
    let words = own_text(&asked.words);
    let own_tool = |name: &str| asked.tools.iter().find(|tool| tool.name.ends_with(name));
    let call = if let Some(file) = word_after(words, "please mark") {
        let arguments = json!({ "setName": "files", "items": [file], "mode": "merge" });
        own_tool(MARK).map(|tool| ToolUse { tool: tool.clone(), arguments })
    } else if word_after(words, "please recall").is_some() {
        own_tool(CONTENTS).map(|tool| ToolUse { tool: tool.clone(), arguments: json!({}) })
    } else if let Some(path) = word_after(words, "please show") {
        own_tool(SHOW_FILE).map(|tool| ToolUse { tool: tool.clone(), arguments: json!({ "path": path }) })
    } else if let Some(id) = word_after(words, "please retrieve") {
        own_tool(RETRIEVE).map(|tool| ToolUse { tool: tool.clone(), arguments: json!({ "id": id }) })
    } else if let Some(file) = word_after(words, "please display") {
        own_tool(SHOW_COMMAND)
            .map(|tool| ToolUse { tool: tool.clone(), arguments: json!({ "command": command(file) }) })
    } else if words.contains("please make an applet") {
        let arguments =
            json!({ "html": "<p>Quinces</p>", "js": "throughline.onState(console.log);", "title": "Quinces" });
        own_tool(SHOW_APPLET).map(|tool| ToolUse { tool: tool.clone(), arguments })
    } else if words.contains("please read the applet") {
        own_tool(READ_APPLET).map(|tool| ToolUse { tool: tool.clone(), arguments: json!({}) })
    } else if let Some(name) = word_after(words, "please lookup") {
        let tools = asked.tools.iter().filter(|tool| tool.name.ends_with(LOOKUP));
        return tools.map(|tool| ToolUse { tool: tool.clone(), arguments: json!({ "name": name }) }).collect();
    } else if let Some(file) = word_after(words, "please run") {
        first_of(&SHELLS, asked).map(|tool| run(tool, &command(file), Sandbox::Leave))
    } else if let Some(what) = word_after(words, "please plan") {
        first_of(&PLANNERS, asked).map(|tool| plan(tool, what))
    } else if let Some(file) = word_after(words, "please write") {
        change(asked, &WRITERS, file, &format!("*** Add File: {file}\n+{WRITTEN}\n"))
    } else if let Some(file) = word_after(words, "please edit") {
        change(asked, &EDITORS, file, &format!("*** Update File: {file}\n@@\n-{WRITTEN}\n+{EDITED}\n"))
    } else if words.contains("please load the skill") {
        load_skill(asked)
    } else {
        None
    };
    call.into_iter().collect()
}

/// Changes a file with a tool for that, else with the patch that Codex finds in a command.
fn change(asked: &ScriptInput, tools: &[&str], file: &str, patch: &str) -> Option<ToolUse> {
    if let Some(tool) = first_of(tools, asked) {
        return Some(ToolUse { tool: tool.clone(), arguments: change_arguments(tool, file) });
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

/// Loads a skill with a tool for that, else by reading its file.
fn load_skill(asked: &ScriptInput) -> Option<ToolUse> {
    if let Some(tool) = first_of(&SKILL_LOADERS, asked) {
        let name = if tool.arguments.iter().any(|name| name == "skill") { "skill" } else { "name" };
        return Some(ToolUse { tool: tool.clone(), arguments: json!({ name: SKILL }) });
    }
    let file = asked.skill_file.as_ref()?;
    first_of(&SHELLS, asked).map(|tool| run(tool, &format!("cat {file}"), Sandbox::Stay))
}

/// The path of the skill's first file, from the text of a request.
pub(super) fn skill_file(request: &str) -> Option<String> {
    let (before, _) = request.split_once(&format!("/{SKILL}/SKILL.md"))?;
    let from = before.rfind(|character: char| !(character.is_alphanumeric() || "/._-".contains(character)));
    let folder = &before[from.map_or(0, |at| at + 1)..];
    // Codex gives a folder a short name, and says elsewhere what it stands for.
    let named = request.split_once(&format!("`{folder}` = `")).and_then(|(_, rest)| rest.split('`').next());
    Some(format!("{}/{SKILL}/SKILL.md", named.unwrap_or(folder)))
}

/// An answer that offers to continue with this command in a new session.
fn next_block(command: &str) -> String {
    let block = json!({ "label": "Go on", "command": command, "metaContext": "lab" });
    format!("That is done.\n\n```throughline:next\n{block}\n```\n")
}

/// A command that makes a file, and prints text that is not in the command itself.
fn command(file: &str) -> String {
    format!("touch {file} && expr 1234 '*' 1001")
}

/// Codex runs in its own sandbox without asking, unless the model asks to leave it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sandbox {
    Stay,
    Leave,
}

fn run(tool: &Tool, command: &str, sandbox: Sandbox) -> ToolUse {
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
    ToolUse { tool: tool.clone(), arguments: Value::Object(arguments) }
}

fn plan(tool: &Tool, what: &str) -> ToolUse {
    let first = format!("Begin {what}");
    let second = format!("Finish {what}");
    let arguments = if tool.arguments.iter().any(|name| name == "plan") {
        json!({ "plan": [{ "step": first, "status": "in_progress" }, { "step": second, "status": "pending" }] })
    } else {
        let todo = |content: &str, status: &str| json!({ "content": content, "status": status, "priority": "medium", "id": content, "activeForm": content });
        json!({ "todos": [todo(&first, "in_progress"), todo(&second, "pending")] })
    };
    ToolUse { tool: tool.clone(), arguments }
}

fn first_of<'a>(names: &[&str], asked: &'a ScriptInput) -> Option<&'a Tool> {
    names.iter().find_map(|name| asked.tools.iter().find(|tool| tool.name == *name))
}

/// The person's text, without the context before it; some agents join the two.
fn own_text(words: &str) -> &str {
    let words = words.rsplit_once(END_OF_RECORD).map_or(words, |(_, own)| own.trim_start());
    // No mark follows the brief; the person's prompts have one line here.
    let last_line = || words.trim_end().lines().next_back().unwrap_or_default();
    if words.starts_with(TOLD_AHEAD) { last_line() } else { words }
}

/// The word after the last occurrence of this phrase.
fn word_after<'a>(words: &'a str, phrase: &str) -> Option<&'a str> {
    let (_, rest) = words.rsplit_once(phrase)?;
    rest.split_whitespace().next()
}

fn text_reply(text: &str) -> ScriptReply {
    ScriptReply::Say { thought: None, text: text.to_owned() }
}

/// The person's text, without the tags in which agents add their own; `None` if nothing else is there.
pub(super) fn person_words(text: &str) -> Option<String> {
    let mut rest = text.trim();
    while let Some(name) = rest.strip_prefix('<').and_then(|tag| tag.split(['>', ' ', '/']).next()) {
        // An unclosed tag goes to the end.
        rest = rest.split_once(&format!("</{name}>")).map_or("", |(_, behind)| behind.trim_start());
    }
    (!rest.is_empty()).then(|| rest.to_owned())
}

/// Words with the spaces after them, as a model streams them.
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

    fn asked(words: &str, tools: Vec<Tool>) -> ScriptInput {
        ScriptInput { words: words.to_owned(), tools, ..ScriptInput::default() }
    }

    #[test]
    fn every_lookup_tool_is_called_in_its_own_spelling() {
        let tools = vec![tool("mcp__notes__lookup_note", &["name"]), tool("bash", &[]), tool("x_lookup_note", &[])];
        let ScriptReply::Calls(calls) = reply(&asked("please lookup kumquat", tools)) else { panic!("no calls") };
        let names: Vec<_> = calls.iter().map(|call| call.tool.name.as_str()).collect();
        assert_eq!(names, ["mcp__notes__lookup_note", "x_lookup_note"]);
        assert_eq!(calls[0].arguments, json!({ "name": "kumquat" }));
    }

    #[test]
    fn a_record_ahead_of_the_words_is_none_of_them() {
        let told = "[Session resumed. t1 person: please lookup kumquat\n[End of the record.]\nand once more";
        assert_eq!(reply(&asked(told, vec![tool("lookup_note", &[])])), text_reply("You said: and once more"));
    }

    #[test]
    fn what_is_told_of_the_session_is_none_of_the_words() {
        let told = "[Context from Throughline about the session.]\n\n# Throughline\n\nMark files.\nhello there";
        assert_eq!(reply(&asked(told, vec![tool("bash", &[])])), text_reply("You said: hello there"));
    }

    #[test]
    fn a_mark_is_made_with_the_sessions_own_tool() {
        let tools = vec![tool("mcp__throughline__set_relevant_context", &["setName", "items", "mode"])];
        let ScriptReply::Calls(calls) = reply(&asked("please mark /w/a.md", tools)) else { panic!("no calls") };
        assert_eq!(calls[0].arguments, json!({ "setName": "files", "items": ["/w/a.md"], "mode": "merge" }));
    }

    #[test]
    fn what_is_shown_is_shown_with_the_sessions_own_tools() {
        let names = [
            "render_file_contents",
            "run_and_display",
            "retrieve_output",
            "set_applet_state",
            "set_applet",
            "get_applet_state",
        ];
        let tools = || names;
        let tools = || tools().map(|name| tool(&format!("mcp__throughline-show__{name}"), &[])).to_vec();
        let arguments = |words: &str| match reply(&asked(words, tools())) {
            ScriptReply::Calls(calls) => calls[0].arguments.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(arguments("please show /w/a.md"), json!({ "path": "/w/a.md" }));
        assert_eq!(arguments("please retrieve out_1"), json!({ "id": "out_1" }));
        assert_eq!(arguments("please display a.txt"), json!({ "command": command("a.txt") }));
        assert_eq!(arguments("please make an applet")["title"], "Quinces");
        assert_eq!(arguments("please read the applet"), json!({}));
    }

    #[test]
    fn results_are_quoted_and_not_asked_for_again() {
        let mut again = asked("please lookup kumquat", vec![tool("lookup_note", &[])]);
        again.results.push("a fruit".to_owned());
        assert_eq!(reply(&again), text_reply("The tool said: a fruit"));
    }

    #[test]
    fn a_request_without_tools_is_for_a_title() {
        assert_eq!(reply(&asked("please lookup kumquat", Vec::new())), text_reply(TITLE));
        let mut as_json = asked("please lookup kumquat", Vec::new());
        as_json.schema = Some(json!({ "type": "object", "properties": { "title": { "type": "string" } } }));
        assert_eq!(reply(&as_json), text_reply(r#"{"title":"Notes from the lab"}"#));
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
        let ScriptReply::Calls(calls) = reply(&asked("please edit a.md", vec![editor])) else { panic!("no calls") };
        assert_eq!(calls[0].arguments, json!({ "path": "a.md", "old_str": WRITTEN, "new_str": EDITED }));
        let shell = tool("exec_command", &["cmd", "sandbox_permissions"]);
        let ScriptReply::Calls(calls) = reply(&asked("please write a.md", vec![shell])) else { panic!("no calls") };
        assert!(calls[0].arguments["cmd"].as_str().unwrap().contains("*** Add File: a.md\n+one line\n"));
        assert_eq!(calls[0].arguments.get("sandbox_permissions"), None);
    }

    #[test]
    fn a_skill_is_loaded_with_a_tool_or_by_its_file() {
        let loader = tool("activate_skill", &["name"]);
        let ScriptReply::Calls(calls) = reply(&asked("please load the skill", vec![loader])) else {
            panic!("no calls")
        };
        assert_eq!(calls[0].arguments, json!({ "name": "throughline" }));
        let mut from_file = asked("please load the skill", vec![tool("exec_command", &["cmd"])]);
        from_file.skill_file = skill_file("- `r0` = `/h/.agents/skills`\\n- blocks (file: r0/throughline/SKILL.md)");
        let ScriptReply::Calls(calls) = reply(&from_file) else { panic!("no calls") };
        assert_eq!(calls[0].arguments, json!({ "cmd": "cat /h/.agents/skills/throughline/SKILL.md" }));
    }

    #[test]
    fn a_step_is_offered_with_the_command_that_was_asked_for() {
        let ScriptReply::Say { text, .. } = reply(&asked("please offer /status now", vec![tool("bash", &[])])) else {
            panic!("not said")
        };
        let (_, block) = text.split_once("\n```throughline:next\n").unwrap();
        let block: Value = serde_json::from_str(block.trim_end().trim_end_matches('`')).unwrap();
        assert_eq!(block["command"], "/status now");
    }

    #[test]
    fn a_shell_gets_the_arguments_that_it_names() {
        let tools = vec![tool("exec_command", &["cmd", "sandbox_permissions", "tty"])];
        let ScriptReply::Calls(calls) = reply(&asked("please run made.txt", tools)) else { panic!("no calls") };
        assert_eq!(
            calls[0].arguments,
            json!({ "cmd": command("made.txt"), "sandbox_permissions": "require_escalated" })
        );
    }

    #[test]
    fn anything_else_is_echoed() {
        let tools = || vec![tool("bash", &[])];
        assert_eq!(reply(&asked("hello there", tools())), text_reply("You said: hello there"));
        let thinking = reply(&asked("please think about rivers", tools()));
        let expected = Some("I am thinking about rivers.".to_owned());
        assert!(matches!(thinking, ScriptReply::Say { thought, .. } if thought == expected));
    }
}
