//! Reads the command of a tool call from its title, for agents that put it nowhere else.
//!
//! Invariant: only for agents that are known to write the exact command there, and only where the input is missing.

use model::{AgentReport, Question, ToolKind};
use serde_json::json;

use super::AcpSession;

impl AcpSession {
    /// Adds the command to a reported call, if its title is the command.
    pub(super) fn read_command_of_title(&self, report: &mut AgentReport) {
        // The kind of the call is reported only with its start.
        if let AgentReport::ToolStarted { change, .. } = report
            && self.about.quirks.titles_are_commands
            && change.kind == Some(ToolKind::Execute)
            && change.input.is_none()
        {
            change.input = change.title.as_ref().map(|title| json!({ "command": title }));
        }
    }
    /// The same for a question about such a call.
    pub(super) fn read_subject_of_title(&self, question: &mut Question) {
        if self.about.quirks.titles_are_commands
            && question.kind == ToolKind::Execute
            && question.subject.is_none()
            && !question.title.is_empty()
        {
            question.subject = Some(question.title.clone());
        }
    }
}
