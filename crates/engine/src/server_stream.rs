//! The server's own stream: its credentials and what it remembers.
//!
//! Invariant: one writer at a time, so that what is in force is never behind what the stream says; and what is decided
//! is decided on what is in force.

use model::{Event, RowChange, StreamId};
use store::{AppendError, Batch, Part, Receipt};
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
    /// Appends what `events` makes of what is in force, and puts it in force.
    pub(crate) async fn append_to_server(
        &self,
        events: impl Fn(&Self) -> Vec<Event>,
        receipt: Option<Receipt>,
    ) -> Result<Vec<RowChange>, SubmitError> {
        let _turn = self.server_stream.turn().await?;
        loop {
            let Some(part) = self.server_part(events(self)).await? else { return Ok(Vec::new()) };
            let rows = part.rows.clone();
            match self.store.append(Batch { parts: vec![part], receipt: receipt.clone(), ..Batch::default() }).await {
                Ok(_) => {
                    self.put_in_force(&rows);
                    return Ok(rows);
                }
                // Another process wrote: what it did is read before anything is decided anew.
                Err(AppendError::Conflict { .. }) => self.read_what_is_in_force().await?,
                Err(err) => return Err(err.into()),
            }
        }
    }

    /// These events as the next part of the stream. Whoever asks for it holds the turn until it is written.
    pub(crate) async fn server_part(&self, events: Vec<Event>) -> Result<Option<Part>, SubmitError> {
        self.next_part(StreamId::Server, events).await
    }

    pub(crate) fn put_in_force(&self, rows: &[RowChange]) {
        self.tokens.apply(rows);
        self.remembered.apply(rows);
    }

    pub(crate) async fn read_what_is_in_force(&self) -> Result<(), SubmitError> {
        self.tokens.replace(self.store.tokens().await?);
        self.remembered.replace(self.store.remembered().await?);
        Ok(())
    }
}
