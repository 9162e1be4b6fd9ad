//! What the agent is told about the session's own tools; the same for new and for resumed conversations.
//!
//! Invariant: the brief reaches an agent's model once, in one way. An agent that does not get the tools does not get
//! the brief about them either. No tool is recognised by a title that a model may have written.

use agent_client_protocol::v1::schema::{ContentBlock, McpServer as AcpMcpServer, Meta, SystemPrompt, TextContent};
use model::{Question, ToolKind};
use serde_json::{Map, Value, json};

use super::AcpSession;
use crate::acp::translate::TranslatedQuestion;
use crate::catalog::{Brief, Unasked};
use crate::{Lent, OwnCall, OwnTool};

impl AcpSession {
    /// The session's own MCP servers first, then the person's.
    pub(super) fn mcp_servers(&self) -> Vec<AcpMcpServer> {
        let own = self.start.lent.iter().flat_map(|lent| &lent.servers);
        self.about.mcp_servers(own.chain(&self.settings.mcp_servers))
    }

    /// The brief as an addition to the agent's system prompt.
    pub(super) fn system_prompt(&self) -> Option<SystemPrompt> {
        if self.about.quirks.brief != Brief::SystemPrompt || !self.takes_system_prompt() {
            return None;
        }
        let brief = self.usable_loan()?.brief.clone()?;
        Some(SystemPrompt::new(vec![ContentBlock::Text(TextContent::new(brief))]))
    }

    /// The brief for the first prompt of a conversation, if the agent has no other way to its model.
    pub(super) fn brief_for_first_prompt(&self) -> Option<String> {
        let is_left_to_it = match self.about.quirks.brief {
            Brief::SystemPrompt => !self.takes_system_prompt(),
            Brief::Instructions => false,
            Brief::FirstPrompt => true,
        };
        self.usable_loan().filter(|_| is_left_to_it)?.brief.clone()
    }

    fn takes_system_prompt(&self) -> bool {
        self.about.capabilities.session_capabilities.system_prompt.is_some()
    }

    /// Fields that this agent reads from `_meta`.
    pub(super) fn meta(&self) -> Option<Meta> {
        let lent = self.usable_loan()?;
        match self.about.quirks.unasked? {
            Unasked::ClaudeCode => {
                let tools: Vec<_> = lent.unasked.iter().map(mcp_name).collect();
                match json!({ "claudeCode": { "options": { "allowedTools": tools } } }) {
                    Value::Object(meta) => Some(meta),
                    _ => None,
                }
            }
            // It was passed as an argument when the agent was started.
            Unasked::GeminiArgument => None,
        }
    }

    /// The call of one of our own tools that a question is about. The tool must be named as the agent names MCP
    /// tools, in a place where no model writes: a title counts only for agents that are known to put the name there.
    /// The kind of call must be one that changes nothing, or the tool one that asks the person itself.
    pub(super) fn own_call(&self, asked: &mut TranslatedQuestion) -> Option<OwnCall> {
        let Question { tool, title, kind, .. } = &asked.question;
        let harmless = match kind {
            ToolKind::Other | ToolKind::Read | ToolKind::Search | ToolKind::Think => true,
            ToolKind::Edit
            | ToolKind::Delete
            | ToolKind::Move
            | ToolKind::Execute
            | ToolKind::Fetch
            | ToolKind::SwitchMode => false,
        };
        let runs = *kind == ToolKind::Execute;
        let lent = self.usable_loan().filter(|_| tool.is_some())?;
        let input = asked.input.take()?;
        let (own, input) = if self.about.quirks.wraps_mcp_calls {
            wrapped_call(&lent.unasked, title, input)?
        } else {
            let title = Some(title).filter(|_| self.about.quirks.titles_are_tool_names);
            let name = asked.tool_name.as_ref().or(title)?;
            (lent.unasked.iter().find(|tool| *name == mcp_name(tool))?, input)
        };
        (harmless || (runs && own.asks_itself)).then(|| OwnCall { tool: own.name.clone(), input })
    }

    /// The loan of our own tools, if the agent accepts MCP servers over HTTP.
    fn usable_loan(&self) -> Option<&Lent> {
        self.start.lent.as_ref().filter(|_| self.about.capabilities.mcp_capabilities.http)
    }
}

/// The tool that an agent means which wraps calls of MCP tools, and the input inside. Title and wrapping must agree: a model
/// that could write one of them would have to write both.
fn wrapped_call<'a>(
    own_tools: &'a [OwnTool],
    title: &str,
    mut input: Map<String, Value>,
) -> Option<(&'a OwnTool, Map<String, Value>)> {
    let own = own_tools.iter().find(|tool| title == format!("mcp.{}.{}", tool.server, tool.name))?;
    let is_meant = input.get("server")? == own.server && *input.get("tool")? == *own.name;
    match input.remove("arguments")? {
        Value::Object(arguments) if is_meant && input.len() == 2 => Some((own, arguments)),
        _ => None,
    }
}

/// What agents call a tool of an MCP server.
fn mcp_name(tool: &OwnTool) -> String {
    format!("mcp__{}__{}", tool.server, tool.name)
}
