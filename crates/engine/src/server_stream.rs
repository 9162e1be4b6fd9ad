//! The server's own stream: its credentials and what it remembers.
//!
//! Invariant: one writer at a time, so that what is in force is never behind what the stream says; and what is decided
//! is decided on what is in force.

use model::{Part, RowChange, ServerEvent, StreamId, Timestamp};
use store::{AppendError, Batch, Receipt};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::{Shared, SubmitError};

/// Held by the one who decides on and writes to a stream.
#[derive(Debug)]
pub(crate) struct StreamLock {
    writer: Semaphore,
}

impl StreamLock {
    pub(crate) fn new() -> Self {
        Self { writer: Semaphore::new(1) }
    }

    /// Waits for the lock, which is released when the guard is dropped.
    pub(crate) async fn lock(&self) -> SemaphorePermit<'_> {
        self.writer.acquire().await.expect("it is never closed")
    }
}

impl Shared {
    /// The next part of the server's stream, if there is anything to say. Whoever asks for it holds the stream's lock until
    /// it is written.
    pub(crate) async fn next_of_server(
        &self,
        events: Vec<ServerEvent>,
        at: Timestamp,
    ) -> Result<Option<Part>, SubmitError> {
        if events.is_empty() {
            return Ok(None);
        }
        Ok(Some(Part::of_server(self.head_of(StreamId::Server).await?, events, at)))
    }

    /// Appends what `events` makes of what is in force.
    pub(crate) async fn append_to_server(
        &self,
        events: impl Fn() -> Vec<ServerEvent>,
        receipt: Option<Receipt>,
    ) -> Result<Vec<RowChange>, SubmitError> {
        let _guard = self.server_stream.lock().await;
        loop {
            let Some(part) = self.next_of_server(events(), self.clock.now()).await? else {
                return Ok(Vec::new());
            };
            match self.journal.append(Batch { parts: vec![part], receipt: receipt.clone(), ..Batch::default() }).await {
                Ok(committed) => return Ok(committed.parts.into_iter().flat_map(|part| part.rows).collect()),
                // Another process wrote: what it did is read before anything is decided anew.
                Err(AppendError::Conflict { .. }) => self.journal.read_what_is_in_force().await?,
                Err(err) => return Err(err.into()),
            }
        }
    }
}
