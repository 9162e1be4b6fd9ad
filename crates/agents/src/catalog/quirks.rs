//! How known agents deviate from the protocol.
//!
//! Invariant: an unknown agent has [`Quirks::PLAIN`] and is treated as the protocol says.

use serde_json::{Value, json};

use crate::OwnTool;

/// How an agent deviates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirks {
    /// The options that decide whether it asks before it changes or runs something, with the values in which it asks,
    /// the preferred one first. If empty, common names of modes decide.
    pub asks_in: &'static [AsksIn],
    /// It may report another mode than the one in force, so the mode is always set.
    pub hides_its_mode: bool,
    /// The variable that sets its mode at start. A person who sets it in the configuration has chosen that mode.
    pub mode_variable: Option<&'static str>,
    /// A settings file that we write for it and name in a variable.
    pub settings_file: Option<SettingsFile>,
    /// How to tell it which tools need no asking, if that is possible.
    pub unasked: Option<Unasked>,
    /// The title of its question is the tool's own name, `mcp__SERVER__TOOL` for MCP tools, and is not written by a
    /// model.
    pub titles_are_tool_names: bool,
    /// The title of its question about an MCP tool is `mcp.SERVER.TOOL` and the input `{server, tool, arguments}`; both are
    /// written by its program, not by a model.
    pub wraps_mcp_calls: bool,
    /// It gives a shell command in the title only; the title is written by its program, not by a model.
    pub titles_are_commands: bool,
    /// Loading its own record does harm, so it gets the earlier turns as a packet instead.
    pub must_not_load: bool,
    /// It does not create files through us correctly, so that is not offered to it.
    pub makes_its_own_files: bool,
    /// The tokens that it counts at the end of a turn are those of its whole process so far.
    pub counts_its_life: bool,
    /// How the brief reaches its model.
    pub brief: Brief,
}

/// The values of an option in which an agent asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AsksIn {
    /// The agent's own id of the option; `mode` is the one about the mode.
    pub option: &'static str,
    /// The first one is preferred.
    pub values: &'static [&'static str],
}

/// Settings that an agent reads from a file, below its user's own. If its variable names a file already, that file's
/// settings are kept, with these on top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsFile {
    /// Qwen Code: asks the person instead of a model, shows its model the MCP tools at once, and calls ours without
    /// asking.
    Qwen,
}

/// How the brief reaches an agent's model, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brief {
    /// In its system prompt; an agent without one gets it with its first prompt.
    SystemPrompt,
    /// As the instructions of our MCP server, which the agent passes on.
    Instructions,
    /// Before the first prompt that is no command, because the agent passes nothing else on.
    FirstPrompt,
}

/// How an agent is told which MCP tools it may call without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unasked {
    /// In `_meta.claudeCode.options.allowedTools` when a conversation begins, with Claude Code's names for MCP tools.
    ClaudeCode,
    /// As an argument at start, with Gemini CLI's names for them. A settings file would have to be root's.
    GeminiArgument,
}

impl Quirks {
    /// No deviation from the protocol.
    pub const PLAIN: Self = Self {
        asks_in: &[],
        hides_its_mode: false,
        mode_variable: None,
        settings_file: None,
        unasked: None,
        titles_are_tool_names: false,
        wraps_mcp_calls: false,
        titles_are_commands: false,
        must_not_load: false,
        makes_its_own_files: false,
        counts_its_life: false,
        brief: Brief::Instructions,
    };
}

impl SettingsFile {
    /// The variable with the file's path.
    pub(super) fn variable(self) -> &'static str {
        match self {
            Self::Qwen => "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
        }
    }

    /// Our settings, with our own tools by the names that the agent gives them.
    pub(super) fn settings(self, own_tools: &[OwnTool]) -> Value {
        let name = |tool: &OwnTool| format!("mcp__{}__{}", tool.server, tool.name);
        match self {
            Self::Qwen => json!({
                "tools": { "approvalMode": "default", "toolSearch": { "enabled": false } },
                "permissions": { "allow": own_tools.iter().map(name).collect::<Vec<_>>() },
            }),
        }
    }
}

impl Unasked {
    /// The additional argument for starting an agent.
    pub(super) fn argument(self, own_tools: &[OwnTool]) -> Option<String> {
        match self {
            Self::ClaudeCode => None,
            Self::GeminiArgument => {
                let names: Vec<_> = own_tools.iter().map(|tool| format!("mcp_{}_{}", tool.server, tool.name)).collect();
                Some(format!("--allowed-tools={}", names.join(",")))
            }
        }
    }
}

/// For an agent whose mode alone decides whether it asks.
pub(super) const fn asks_in_mode(values: &'static [&'static str]) -> AsksIn {
    AsksIn { option: "mode", values }
}
