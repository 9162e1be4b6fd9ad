//! Reads the conversations that other tools on this machine recorded, as [`model::AgentReport`]s.
//!
//! ```text
//! places.rs      lines.rs, sqlite.rs       claude.rs codex.rs … one file for each tool       builder.rs
//! which there are ──► records, bounded ──► what each one says ────────────────────────► whole turns ──► sink
//! ```
//!
//! Invariant: the files of other tools are never changed. A record that is not understood is left out and counted; it
//! never fails the whole reading. Only whole turns are emitted, each with the [`Bookmark`] after it. So a caller that
//! stores turn and bookmark together neither loses a turn nor imports one twice, wherever the reading stops.

mod blobs;
mod bookmark;
mod builder;
mod calls;
mod claude;
mod codex;
mod copilot;
mod gemini;
mod goose;
mod item;
mod json;
mod kimi;
mod lines;
mod opencode;
mod places;
mod qwen;
mod sqlite;
mod user_text;

use std::ops::ControlFlow;

pub use bookmark::Bookmark;
pub use item::{Conversation, HistoryError, HistoryItem, HistoryLimits, LastTurn, Reading, SkippedRecords};
pub use places::{FoundConversation, Places, Tool, find};

use builder::TurnBuilder;

/// Emits what a conversation holds after the bookmark, turn by turn, oldest first, until there is no more or the sink
/// breaks. From the start it begins with [`HistoryItem::Session`]; a conversation without a prompt emits nothing.
///
/// Blocks on the disk: call it on a blocking thread.
pub fn read(
    found: &FoundConversation,
    after: Option<&Bookmark>,
    last_turn: LastTurn,
    limits: &HistoryLimits,
    sink: &mut dyn FnMut(HistoryItem) -> ControlFlow<()>,
) -> Result<Reading, HistoryError> {
    let after = after.map(Bookmark::parse).transpose()?.unwrap_or_default();
    let mut builder = TurnBuilder::new(after, limits, sink);
    match found.tool {
        Tool::ClaudeCode => claude::read(&found.path, last_turn, &mut builder)?,
        Tool::Codex => codex::read(&found.path, &found.id, last_turn, &mut builder)?,
        Tool::Opencode => opencode::read(&found.path, &found.id, last_turn, &mut builder)?,
        Tool::Gemini => gemini::read(&found.path, last_turn, &mut builder)?,
        Tool::Goose => goose::read(&found.path, &found.id, last_turn, &mut builder)?,
        Tool::Qwen => qwen::read(&found.path, last_turn, &mut builder)?,
        Tool::Kimi => kimi::read(&found.path, last_turn, &mut builder)?,
        Tool::Copilot => copilot::read(&found.path, last_turn, &mut builder)?,
    }
    Ok(builder.finish())
}

#[cfg(test)]
mod tests;
