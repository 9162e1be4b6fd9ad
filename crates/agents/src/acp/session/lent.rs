//! What the agent is told of the session's own tools, the same whether its conversation is new or taken up again.
//!
//! Invariant: the brief reaches an agent's model once, in one way. An agent that is not told of the tools is not told to use them either, and none is matched by a
//! title that a model may have written.

use agent_client_protocol::v1::schema::{ContentBlock, McpServer as AcpMcpServer, Meta, SystemPrompt, TextContent};
use model::{Question, ToolKind};
use serde_json::{Value, json};

use super::Session;
use crate::acp::translate::Asked;
use crate::catalog::{Brief, Unasked};
use crate::{Lent, OwnCall};

impl Session {
    /// The session's own first, then those of the person.
    pub(super) fn mcp_servers(&self) -> Vec<AcpMcpServer> {
        let own = self.start.lent.iter().map(|lent| &lent.server);
        self.about.mcp_servers(own.chain(&self.settings.mcp_servers))
    }

    /// What joins the agent's own instructions.
    pub(super) fn system_prompt(&self) -> Option<SystemPrompt> {
        if self.about.quirks.brief != Brief::SystemPrompt || !self.takes_system_prompt() {
            return None;
        }
        let brief = self.taken()?.brief.clone()?;
        Some(SystemPrompt::new(vec![ContentBlock::Text(TextContent::new(brief))]))
    }

    /// What goes ahead of the first prompt of a conversation, if the agent has no other way to its model.
    pub(super) fn brief_for_first_prompt(&self) -> Option<String> {
        let is_left_to_it = match self.about.quirks.brief {
            Brief::SystemPrompt => !self.takes_system_prompt(),
            Brief::Instructions => false,
            Brief::FirstPrompt => true,
        };
        self.taken().filter(|_| is_left_to_it)?.brief.clone()
    }

    fn takes_system_prompt(&self) -> bool {
        self.about.capabilities.session_capabilities.system_prompt.is_some()
    }

    /// What the agent reads beside the protocol.
    pub(super) fn meta(&self) -> Option<Meta> {
        let lent = self.taken()?;
        match self.about.quirks.unasked? {
            Unasked::ClaudeCode => {
                let server = lent.server.name();
                let tools: Vec<_> = lent.unasked.iter().map(|tool| format!("mcp__{server}__{tool}")).collect();
                match json!({ "claudeCode": { "options": { "allowedTools": tools } } }) {
                    Value::Object(meta) => Some(meta),
                    _ => None,
                }
            }
            // It was told when it was started.
            Unasked::GeminiArgument => None,
        }
    }

    /// The call of one of our own tools that a question is about. The tool must be named as the agent names those of MCP
    /// servers, where no model writes: a title is believed only of agents that are known to put the name there. The kind of
    /// work must be one that changes nothing.
    pub(super) fn own_call(&self, asked: &mut Asked) -> Option<OwnCall> {
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
        let title = Some(title).filter(|_| self.about.quirks.titles_are_tool_names);
        let name = asked.tool_name.as_ref().or(title)?;
        let lent = self.taken().filter(|_| harmless && tool.is_some())?;
        let server = lent.server.name();
        let own = lent.unasked.iter().find(|tool| *name == format!("mcp__{server}__{tool}"))?;
        Some(OwnCall { tool: own.clone(), input: asked.input.take()? })
    }

    /// What is lent, if the agent takes servers of its kind.
    fn taken(&self) -> Option<&Lent> {
        self.start.lent.as_ref().filter(|_| self.about.capabilities.mcp_capabilities.http)
    }
}
