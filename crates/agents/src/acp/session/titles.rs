//! Titles that say what a tool is given, of agents that say it nowhere else.
//!
//! Invariant: only of agents that are known to write the very command there, and only where the input is not told.

use model::{AgentReport, Question, ToolKind};
use serde_json::json;

use super::Session;

impl Session {
    /// Adds the command to what is reported of a call, if its title is the command.
    pub(super) fn read_command_of_title(&self, report: &mut AgentReport) {
        // Told once, with the kind of work that it is.
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
