//! Which sessions wait for something that the server does by itself, at its start or beside its work.

use async_trait::async_trait;
use model::{SessionId, Timestamp};

use crate::ReadError;

/// What is left to do.
#[async_trait]
pub trait ReadUnfinished: Send + Sync + 'static {
    /// Sessions that were starting, had a turn running or waited for an answer: what a restart has to settle. Without deleted ones, whose
    /// agents have nothing more to say.
    async fn unsettled(&self) -> Result<Vec<SessionId>, ReadError>;

    /// Sessions that were begun with a prompt, by a click or a fork, which still waits ([`BEGINNING_PROMPT`]), and whose agent
    /// has not failed. Other prompts wait until the person goes on.
    ///
    /// [`BEGINNING_PROMPT`]: model::BEGINNING_PROMPT
    async fn unbegun(&self) -> Result<Vec<SessionId>, ReadError>;

    /// Sessions at rest with turns that have no summary yet, in the order of their ids after one, at most `limit`.
    async fn unsummarised(&self, after: Option<SessionId>, limit: usize) -> Result<Vec<SessionId>, ReadError>;

    /// Sessions deleted before `at`, oldest first, at most `limit`.
    async fn deleted_before(&self, at: Timestamp, limit: usize) -> Result<Vec<SessionId>, ReadError>;
}
