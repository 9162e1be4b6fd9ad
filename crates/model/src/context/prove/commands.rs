//! Commands: what was run and how it ended, where its program said that it listens, and the branch it is on.

use serde_json::Value;

use super::shell::{meant_command, script_of};
use super::success::exit_code_of;
use super::{Proved, arguments, plain_tool_name};
use crate::{ToolCall, ToolContent, ToolKind};

/// How much of an output is looked through.
const OUTPUT_BYTES: usize = 64 << 10;
/// Words that announce a listener. A bare address proves nothing: it may come from any text.
const LISTENS: [&str; 9] = [
    "listening",
    "running at",
    "running on",
    "local:",
    "serving",
    "server at",
    "ready on",
    "started on",
    "available at",
];

pub(super) fn prove(call: &ToolCall, cwd: &str, facts: &mut Proved) {
    let terminal = call.content.iter().find_map(|content| match content {
        ToolContent::Terminal { command, .. } => Some(command),
        _ => None,
    });
    if !runs_commands(call) && terminal.is_none() {
        return;
    }
    let shown = terminal.cloned().filter(|command| !command.is_empty());
    let Some(command) = shown.or_else(|| command_of(call)) else { return };
    let command = meant_command(&command, cwd);
    let exit_code = exit_code_of(call);
    facts.add_command("commands", &first_line_of(&command), exit_code);

    // A command that did not end well proves only itself.
    if exit_code.unwrap_or(0) != 0 {
        return;
    }
    let output = output_of(call);
    for line in beginning(&output).lines() {
        listeners(line, facts);
    }
    if let Some(branch) = branch_of(&command, &output) {
        facts.add("branch", &branch);
    }
}

pub(super) fn runs_commands(call: &ToolCall) -> bool {
    // Some agents call every tool of a server an execution.
    let foreign = call.input.as_ref().is_some_and(|input| input.get("server").is_some() && input.get("tool").is_some());
    let by_name = || {
        call.name.as_deref().is_some_and(|name| {
            matches!(
                plain_tool_name(name).as_str(),
                "bash"
                    | "shell"
                    | "exec_command"
                    | "run_command"
                    | "execute_command"
                    | "run_shell_command"
                    | "terminal"
            )
        })
    };
    !foreign && (call.kind == ToolKind::Execute || by_name())
}

fn command_of(call: &ToolCall) -> Option<String> {
    let arguments = arguments(call);
    let given = arguments.get("command").or_else(|| arguments.get("cmd"))?;
    match given {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            Some(script_of(&words).map_or_else(|| words.join(" "), str::to_owned))
        }
        _ => None,
    }
}

/// The exit code that a tool's output names, if it names one.
pub fn exit_code(output: &Value) -> Option<i32> {
    let own = ["exit_code", "exitCode", "exit"].iter().find_map(|name| output.get(*name)?.as_i64());
    let code = own.or_else(|| output.get("metadata").and_then(|metadata| metadata.get("exit"))?.as_i64())?;
    i32::try_from(code).ok()
}

fn output_of(call: &ToolCall) -> String {
    let shown: Vec<&str> = call
        .content
        .iter()
        .filter_map(|content| match content {
            ToolContent::Terminal { output: text, .. } | ToolContent::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    if !shown.is_empty() {
        return shown.join("\n");
    }
    match &call.output {
        Some(Value::String(text)) => text.clone(),
        Some(output) => ["formatted_output", "aggregated_output", "output", "stdout"]
            .iter()
            .find_map(|name| output.get(*name)?.as_str())
            .unwrap_or_default()
            .to_owned(),
        None => String::new(),
    }
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(OUTPUT_BYTES)]
}

fn first_line_of(command: &str) -> String {
    let mut lines = command.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default().trim();
    if lines.next().is_some() { format!("{first} …") } else { first.to_owned() }
}

fn listeners(line: &str, facts: &mut Proved) {
    let small = line.to_lowercase();
    if !LISTENS.iter().any(|word| small.contains(word)) {
        return;
    }
    for scheme in ["http://", "https://"] {
        for (at, _) in small.match_indices(scheme) {
            let Some(found) = line.get(at..) else { continue };
            let url: String = found.chars().take_while(|c| !c.is_whitespace() && !c.is_control()).collect();
            let url = url.trim_end_matches(['.', ',', ')', ']', '"', '\'', ';']);
            let host = url[scheme.len().min(url.len())..].split('/').next().unwrap_or_default();
            let (name, port) = host.rsplit_once(':').unwrap_or((host, ""));
            if !matches!(name, "localhost" | "127.0.0.1" | "0.0.0.0" | "[::1]" | "[::]") {
                continue;
            }
            facts.add("urls", url);
            if let Ok(port) = port.parse::<u16>() {
                facts.add("ports", &port.to_string());
            }
        }
    }
    // `listening on port 3000`, `Listening on :8080`.
    for (at, word) in small.match_indices("port ").chain(small.match_indices("on :")) {
        let digits: String = small[at + word.len()..].chars().take_while(char::is_ascii_digit).collect();
        if digits.parse::<u16>().is_ok_and(|port| port > 0) {
            facts.add("ports", &digits);
        }
    }
}

fn branch_of(command: &str, output: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    if words.first() != Some(&"git") || command.contains(['|', ';', '&', '\n']) {
        return None;
    }
    if ["--detach", "-d", "--track", "-t"].iter().any(|flag| words.contains(flag)) {
        return None;
    }
    let is_name = |word: &&str| !word.starts_with('-');
    match words.get(1).copied()? {
        "checkout" if words.contains(&"-b") || words.contains(&"-B") => words[2..].iter().find(|w| is_name(w)),
        "switch" => words[2..].iter().find(|word| is_name(word)),
        "status" => {
            return output.lines().find_map(|line| line.strip_prefix("On branch ")).map(|name| name.trim().to_owned());
        }
        "branch" if words.get(2) == Some(&"--show-current") => {
            return output.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
        }
        _ => None,
    }
    .map(|name| (*name).to_owned())
}
