//! Questions about what a session consists of: its turns, its titles and the changes of its context.

use async_trait::async_trait;
use model::{Entry, InteractionId, Seq, SessionId, TitleRow, Turn, TurnRow};

use crate::ReadError;

/// What is known of the turns of sessions.
#[async_trait]
pub trait ReadTurns: Send + Sync + 'static {
    /// Turns of a session after a number, in order.
    async fn turns(&self, session: SessionId, after: Turn, limit: usize) -> Result<Vec<TurnRow>, ReadError>;

    /// The turn that a prompt became, if it became one.
    async fn find_turn(&self, interaction: InteractionId) -> Result<Option<TurnRow>, ReadError>;

    /// The titles that a session has had, newest first, at most [`model::MAX_TITLES`].
    async fn titles(&self, session: SessionId) -> Result<Vec<TitleRow>, ReadError>;

    /// The entries of a session that changed its context, after one and up to another: a page of them from one end on,
    /// bounded like [`crate::Log::read`].
    async fn context_entries(
        &self,
        session: SessionId,
        after: Seq,
        up_to: Seq,
        order: EntryOrder,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError>;
}

/// From which end entries are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum EntryOrder {
    OldestFirst,
    NewestFirst,
}
