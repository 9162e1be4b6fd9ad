//! A terminal that an agent runs by itself. No part of the protocol tells what it prints; agents that show one tell it in
//! the `_meta` of its call: `terminal_info` begins it, `terminal_output` adds to it, `terminal_exit` ends it.

use agent_client_protocol::v1::schema::Meta;
use serde_json::Value;

use crate::acp::translate::content::{Look, MAX_KEPT_BYTES, Screen, Screens};
use crate::acp::translate::text::start_of;

#[derive(Debug)]
pub(super) struct OwnTerminal {
    id: String,
    screen: Screen,
}

impl OwnTerminal {
    /// Takes in what a message says of the call's terminal; a new one only if there is room for it.
    pub(super) fn hear(terminal: &mut Option<Self>, meta: &Meta, command: &str, is_room: bool) {
        let text = |part: &str, name: &str| meta.get(part)?.get(name)?.as_str();
        if let Some(id) = text("terminal_info", "terminal_id")
            && terminal.is_none()
            && is_room
        {
            let screen = Screen { command: command.to_owned(), ..Screen::default() };
            *terminal = Some(Self { id: id.to_owned(), screen });
        }
        let Some(Self { id, screen }) = terminal else { return };
        if let Some(data) = text("terminal_output", "data")
            && text("terminal_output", "terminal_id") == Some(id)
        {
            let kept = start_of(data, MAX_KEPT_BYTES - screen.output.len());
            screen.output.push_str(kept);
            screen.omitted += (data.len() - kept.len()) as u64;
        }
        if text("terminal_exit", "terminal_id") == Some(id) {
            let code = meta.get("terminal_exit").and_then(|exit| exit.get("exit_code")).and_then(Value::as_i64);
            screen.exit_code = code.and_then(|code| i32::try_from(code).ok());
        }
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
