//! What is known of how an agent behaves, where it differs from what the protocol lets one expect.
//!
//! Invariant: an agent of which nothing is known is [`Quirks::PLAIN`] and is treated as the protocol says.

use serde_json::{Value, json};

use crate::OWN_MCP_SERVER;

/// How an agent differs from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirks {
    /// What it must be set to so that it asks a person before it changes or runs something: of each option the values in
    /// which it does, the one to choose first. Where none is known, names that agents commonly use decide.
    pub asks_in: &'static [AsksIn],
    /// It tells a mode that need not be the one in force, so it is set to one whatever it tells.
    pub hides_its_mode: bool,
    /// The variable by which its mode is set when it starts. Whoever sets it in the configuration has chosen that mode.
    pub mode_variable: Option<&'static str>,
    /// A settings file that is written for it and named to it by a variable.
    pub settings_file: Option<SettingsFile>,
    /// How it is told which tools need no asking, if it can be told.
    pub unasked: Option<Unasked>,
    /// The title of a question is the tool's own name, `mcp__SERVER__TOOL` for those of MCP servers, and no model writes it.
    pub titles_are_tool_names: bool,
    /// It tells what a shell is given in the title alone, which its program writes and no model.
    pub titles_are_commands: bool,
    /// Reading its own record back to us does harm, so that it is told of the earlier turns instead.
    pub must_not_load: bool,
    /// It does not make files through us as it should, so that it is not offered to.
    pub makes_its_own_files: bool,
    /// How the brief gets to its model.
    pub brief: Brief,
}

/// The values of an option in which an agent asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AsksIn {
    /// The agent's own name of the option; `mode` is whichever is about the mode.
    pub option: &'static str,
    /// The first is the one that is chosen.
    pub values: &'static [&'static str],
}

/// Settings that an agent reads from a file, below its user's own. A file that its variable names already is kept, with
/// these settings over its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsFile {
    /// Qwen Code: asks the person and not a model, shows its model the MCP tools at once, and calls ours unasked.
    Qwen,
}

/// How the brief gets to an agent's model, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brief {
    /// With its system prompt; one that takes none gets it with its first prompt.
    SystemPrompt,
    /// As the instructions of our MCP server, which it passes on.
    Instructions,
    /// Ahead of the first prompt that is no command, because it passes nothing else on.
    FirstPrompt,
}

/// How an agent is told which MCP tools it may call without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unasked {
    /// When a conversation begins: `_meta.claudeCode.options.allowedTools`, with the names that Claude Code gives MCP tools.
    ClaudeCode,
    /// When it is started, with the names that Gemini CLI gives them. A settings file would have to be root's.
    GeminiArgument,
}

impl Quirks {
    /// As the protocol says.
    pub const PLAIN: Self = Self {
        asks_in: &[],
        hides_its_mode: false,
        mode_variable: None,
        settings_file: None,
        unasked: None,
        titles_are_tool_names: false,
        titles_are_commands: false,
        must_not_load: false,
        makes_its_own_files: false,
        brief: Brief::Instructions,
    };
}

impl SettingsFile {
    /// Holds the file's path.
    pub(super) fn variable(self) -> &'static str {
        match self {
            Self::Qwen => "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
        }
    }

    /// What is in it of ours: our own tools by the names that the agent gives them.
    pub(super) fn settings(self, own_tools: &[String]) -> Value {
        let name = |tool: &String| format!("mcp__{OWN_MCP_SERVER}__{tool}");
        match self {
            Self::Qwen => json!({
                "tools": { "approvalMode": "default", "toolSearch": { "enabled": false } },
                "permissions": { "allow": own_tools.iter().map(name).collect::<Vec<_>>() },
            }),
        }
    }
}

impl Unasked {
    /// What an agent is started with beside the arguments of its row.
    pub(super) fn argument(self, own_tools: &[String]) -> Option<String> {
        match self {
            Self::ClaudeCode => None,
            Self::GeminiArgument => {
                let names: Vec<_> = own_tools.iter().map(|tool| format!("mcp_{OWN_MCP_SERVER}_{tool}")).collect();
                Some(format!("--allowed-tools={}", names.join(",")))
            }
        }
    }
}

/// An agent whose mode alone decides whether it asks.
pub(super) const fn asks_in_mode(values: &'static [&'static str]) -> AsksIn {
    AsksIn { option: "mode", values }
}
