//! The output of a terminal that an agent runs by itself. The protocol has no message for it. Agents that show such a
//! terminal put it into the `_meta` of its call: `terminal_info` begins it, `terminal_output` adds to it,
//! `terminal_exit` ends it. Codex uses `terminal_output_delta` instead of the second, also for commands whose
//! terminal it does not show.

use agent_client_protocol::v1::schema::Meta;
use model::ToolContent;
use serde_json::Value;

use crate::acp::translate::content::{MAX_KEPT_BYTES, TerminalOutput, TerminalOutputs, TerminalPart};
use crate::acp::translate::text::start_of;

const PARTS: [&str; 4] = ["terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit"];

#[derive(Debug)]
pub(super) struct OwnTerminal {
    id: String,
    screen: TerminalOutput,
}

impl OwnTerminal {
    /// Reads what a message's `_meta` says about the call's terminal; adds a new terminal only if there is room.
    pub(super) fn hear(terminal: &mut Option<Self>, meta: &Meta, command: &str, is_room: bool) {
        for part in PARTS.iter().filter_map(|part| meta.get(*part)) {
            let Some(id) = part.get("terminal_id").and_then(Value::as_str) else { continue };
            if terminal.is_none() && is_room {
                let screen = TerminalOutput { command: command.to_owned(), ..TerminalOutput::default() };
                *terminal = Some(Self { id: id.to_owned(), screen });
            }
            let Some(Self { screen, .. }) = terminal.as_mut().filter(|terminal| terminal.id == id) else { continue };
            if let Some(data) = part.get("data").and_then(Value::as_str) {
                let kept = start_of(data, MAX_KEPT_BYTES - screen.output.len());
                screen.output.push_str(kept);
                screen.omitted += (data.len() - kept.len()) as u64;
            }
            let code = part.get("exit_code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
            screen.exit_code = code.or(screen.exit_code);
        }
    }

    /// The output as content, for a call that shows no terminal.
    pub(super) fn printed(&self) -> Option<Vec<ToolContent>> {
        let TerminalOutput { output, omitted, .. } = &self.screen;
        let text = (!output.is_empty()).then(|| ToolContent::Text { text: output.clone() });
        let omitted = (*omitted > 0).then_some(ToolContent::Omitted { bytes: *omitted });
        let content: Vec<_> = text.into_iter().chain(omitted).collect();
        Some(content).filter(|content| !content.is_empty())
    }
}

/// A call's own terminal, together with the terminals that we run.
pub(super) struct WithOwn<'a> {
    pub(super) own: Option<&'a OwnTerminal>,
    pub(super) others: &'a dyn TerminalOutputs,
}

impl TerminalOutputs for WithOwn<'_> {
    fn find(&self, id: &str, look: TerminalPart) -> Option<TerminalOutput> {
        let own = self.own.filter(|own| own.id == id).map(|own| own.screen.clone());
        own.or_else(|| self.others.find(id, look))
    }
}
