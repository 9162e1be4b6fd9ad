//! The server's own stream: its credentials and what it remembers.
//!
//! Invariant: one writer at a time, so that what is in force is never behind what the stream says; and what is decided
//! is decided on what is in force.

use model::{Event, RowChange, StreamId};
use store::{AppendError, Batch, Receipt};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::{Shared, SubmitError};

/// Whose turn it is to write.
#[derive(Debug)]
pub(crate) struct Pen {
    writing: Semaphore,
}

impl Pen {
    pub(crate) fn new() -> Self {
        Self { writing: Semaphore::new(1) }
    }

    /// Waits for the turn to write, which ends when it is dropped.
    pub(crate) async fn turn(&self) -> Result<SemaphorePermit<'_>, SubmitError> {
        self.writing.acquire().await.map_err(|_| SubmitError::Stopping)
    }
}

impl Shared {
    /// Appends what `events` makes of what is in force.
    pub(crate) async fn append_to_server(
        &self,
        events: impl Fn(&Self) -> Vec<Event>,
        receipt: Option<Receipt>,
    ) -> Result<Vec<RowChange>, SubmitError> {
        let _turn = self.server_stream.turn().await?;
        loop {
            let Some(part) = self.next_part(StreamId::Server, events(self)).await? else { return Ok(Vec::new()) };
            match self.journal.append(Batch { parts: vec![part], receipt: receipt.clone(), ..Batch::default() }).await {
                Ok(committed) => return Ok(committed.parts.into_iter().flat_map(|part| part.rows).collect()),
                // Another process wrote: what it did is read before anything is decided anew.
                Err(AppendError::Conflict { .. }) => self.journal.read_what_is_in_force().await?,
                Err(err) => return Err(err.into()),
            }
        }
    }
}
