//! Questions about what turns used.

use async_trait::async_trait;
use model::{SessionId, Turn, UsageQuery, UsageRow, UsageSum};

use crate::ReadError;

/// What is known of tokens and cost.
#[async_trait]
pub trait ReadUsage: Send + Sync + 'static {
    /// What turns of sessions that are not deleted used, summed up as the query says: in the order of their keys, those of one
    /// key by model and by whether the agent said the cost.
    async fn usage(&self, query: UsageQuery) -> Result<Vec<UsageSum>, ReadError>;

    /// What each turn of a session after a number used, in order; `limit` counts the models of turns.
    async fn turns_used(&self, session: SessionId, after: Turn, limit: usize) -> Result<Vec<UsageRow>, ReadError>;
}
