//! What other tools on this machine wrote down of their conversations, told in the words of [`model::AgentReport`].
//!
//! ```text
//! places.rs      lines.rs, sqlite.rs       claude.rs codex.rs … one file for each tool       teller.rs
//! which there are ──► records, bounded ──► what each one says ────────────────────────► whole turns ──► sink
//! ```
//!
//! Invariant: nothing of theirs is ever changed. A record that is not understood is left out and counted; it never fails
//! the whole. Only whole turns are told, each with the [`Bookmark`] that stands behind it, so that whoever keeps turn and
//! bookmark together neither loses a turn nor takes one twice, wherever the reading is broken off.

mod blobs;
mod bookmark;
mod calls;
mod claude;
mod codex;
mod copilot;
mod gemini;
mod goose;
mod json;
mod kimi;
mod lines;
mod opencode;
mod places;
mod qwen;
mod sqlite;
mod teller;
mod told;
mod words;

use std::ops::ControlFlow;

pub use bookmark::Bookmark;
pub use places::{FoundConversation, Places, Tool, find};
pub use told::{Conversation, HistoryError, HistoryLimits, LastTurn, Reading, SkippedRecords, Told};

use teller::Teller;

/// Tells what a conversation holds behind the bookmark, turn by turn, oldest first, until there is no more or the sink
/// breaks. From the start it begins with [`Told::Session`]; a conversation without a prompt tells nothing.
///
/// Blocks on the disk: not for a task that others wait for.
pub fn read(
    found: &FoundConversation,
    after: Option<&Bookmark>,
    last_turn: LastTurn,
    limits: &HistoryLimits,
    sink: &mut dyn FnMut(Told) -> ControlFlow<()>,
) -> Result<Reading, HistoryError> {
    let after = after.map(Bookmark::parse).transpose()?.unwrap_or_default();
    let mut teller = Teller::new(after, limits, sink);
    match found.tool {
        Tool::ClaudeCode => claude::read(&found.path, last_turn, &mut teller)?,
        Tool::Codex => codex::read(&found.path, &found.id, last_turn, &mut teller)?,
        Tool::Opencode => opencode::read(&found.path, &found.id, last_turn, &mut teller)?,
        Tool::Gemini => gemini::read(&found.path, last_turn, &mut teller)?,
        Tool::Goose => goose::read(&found.path, &found.id, last_turn, &mut teller)?,
        Tool::Qwen => qwen::read(&found.path, last_turn, &mut teller)?,
        Tool::Kimi => kimi::read(&found.path, last_turn, &mut teller)?,
        Tool::Copilot => copilot::read(&found.path, last_turn, &mut teller)?,
    }
    Ok(teller.finish())
}

#[cfg(test)]
mod tests;
