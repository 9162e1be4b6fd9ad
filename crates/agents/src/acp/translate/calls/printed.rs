//! What a command prints that an agent runs in a terminal of its own. By a convention among editors the agent tells of it
//! beside the call, in `_meta`, and shows the terminal by its id as if it were one of ours.
//!
//! Invariant: of one call no more is kept than is told of it.

use agent_client_protocol::v1::schema::Meta;
use model::ToolContent;
use serde_json::Value;

use crate::acp::translate::content::{MAX_KEPT_BYTES, Screen, Screens};
use crate::acp::translate::text::start_of;

const MAX_ID_BYTES: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Printed {
    terminal: String,
    output: String,
    omitted: u64,
    exit_code: Option<i32>,
}

/// Our terminals, and the agent's own of this call.
pub(super) struct Beside<'a> {
    pub(super) ours: &'a dyn Screens,
    pub(super) command: &'a str,
    pub(super) printed: Option<&'a Printed>,
}

impl Printed {
    /// What `_meta` says of the call's own terminal, which is the first that it names.
    pub(super) fn note(noted: &mut Option<Self>, meta: &Meta, may_wait: bool) {
        for key in ["terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit"] {
            let Some(told) = meta.get(key) else { continue };
            let id = told.get("terminal_id").and_then(Value::as_str).filter(|id| id.len() <= MAX_ID_BYTES);
            let Some(id) = id else { continue };
            let printed = noted.get_or_insert_with(|| Self { terminal: id.to_owned(), ..Self::default() });
            if printed.terminal != id {
                continue;
            }
            if let Some(piece) = told.get("data").and_then(Value::as_str) {
                printed.push(piece, may_wait);
            }
            let exit_code = told.get("exit_code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
            printed.exit_code = exit_code.or(printed.exit_code);
        }
    }

    pub(super) fn is_kept(&self) -> bool {
        !self.output.is_empty()
    }

    /// By itself, without a terminal around it.
    pub(super) fn into_content(self) -> Option<Vec<ToolContent>> {
        let text = Some(self.output).filter(|output| !output.is_empty()).map(|text| ToolContent::Text { text });
        let omitted = (self.omitted > 0).then_some(ToolContent::Omitted { bytes: self.omitted });
        Some(text.into_iter().chain(omitted).collect()).filter(|content: &Vec<_>| !content.is_empty())
    }

    fn push(&mut self, piece: &str, may_wait: bool) {
        let may_grow = self.omitted == 0 && (may_wait || !self.output.is_empty());
        let room = if may_grow { MAX_KEPT_BYTES.saturating_sub(self.output.len()) } else { 0 };
        let kept = start_of(piece, room);
        self.output.push_str(kept);
        self.omitted += (piece.len() - kept.len()) as u64;
    }
}

impl Screens for Beside<'_> {
    fn find(&self, id: &str) -> Option<Screen> {
        self.ours.find(id).or_else(|| {
            let printed = self.printed.filter(|printed| printed.terminal == id)?;
            let Printed { output, omitted, exit_code, .. } = printed;
            let (command, output) = (self.command.to_owned(), output.clone());
            Some(Screen { command, output, omitted: *omitted, exit_code: *exit_code })
        })
    }
}
