//! A terminal that an agent runs by itself. No part of the protocol tells what it prints; agents that show one tell it in
//! the `_meta` of its call: `terminal_info` begins it, `terminal_output` adds to it, `terminal_exit` ends it. Codex says
//! `terminal_output_delta` for the second, and tells likewise what commands print whose terminal it does not show.

use agent_client_protocol::v1::schema::Meta;
use model::ToolContent;
use serde_json::Value;

use crate::acp::translate::content::{Look, MAX_KEPT_BYTES, Screen, Screens};
use crate::acp::translate::text::start_of;

const PARTS: [&str; 4] = ["terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit"];

#[derive(Debug)]
pub(super) struct OwnTerminal {
    id: String,
    screen: Screen,
}

impl OwnTerminal {
    /// Takes in what a message says of the call's terminal; a new one only if there is room for it.
    pub(super) fn hear(terminal: &mut Option<Self>, meta: &Meta, command: &str, is_room: bool) {
        for part in PARTS.iter().filter_map(|part| meta.get(*part)) {
            let Some(id) = part.get("terminal_id").and_then(Value::as_str) else { continue };
            if terminal.is_none() && is_room {
                let screen = Screen { command: command.to_owned(), ..Screen::default() };
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

    /// What it printed, for a call that shows no terminal.
    pub(super) fn printed(&self) -> Option<Vec<ToolContent>> {
        let Screen { output, omitted, .. } = &self.screen;
        let text = (!output.is_empty()).then(|| ToolContent::Text { text: output.clone() });
        let omitted = (*omitted > 0).then_some(ToolContent::Omitted { bytes: *omitted });
        let content: Vec<_> = text.into_iter().chain(omitted).collect();
        Some(content).filter(|content| !content.is_empty())
    }
}

/// A call's own terminal beside those that run with us.
pub(super) struct WithOwn<'a> {
    pub(super) own: Option<&'a OwnTerminal>,
    pub(super) others: &'a dyn Screens,
}

impl Screens for WithOwn<'_> {
    fn find(&self, id: &str, look: Look) -> Option<Screen> {
        let own = self.own.filter(|own| own.id == id).map(|own| own.screen.clone());
        own.or_else(|| self.others.find(id, look))
    }
}
