//! What is done once an hour: sessions deleted a week ago are purged, receipts of yesterday forgotten.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use model::{SessionId, Timestamp};
use store::{AppendError, ReadError};
use tokio::time::{MissedTickBehavior, interval};

use crate::{Shared, SubmitError};

const EVERY: Duration = Duration::from_secs(3_600);
/// How long a deleted session can be brought back.
pub const RESTORABLE_FOR: Duration = Duration::from_secs(7 * 24 * 3_600);
/// How long a repeat of a request is recognised.
pub const RECEIPTS_KEPT_FOR: Duration = Duration::from_secs(24 * 3_600);
/// How many sessions are asked for at a time.
const PURGE_AT_ONCE: usize = 64;

pub(crate) async fn run(shared: Arc<Shared>) {
    let mut tick = interval(EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = shared.stopping.cancelled() => return,
            _ = tick.tick() => (),
        }
        if let Err(err) = shared.clean_up().await {
            tracing::warn!(
                error = &err as &dyn std::error::Error,
                "housekeeping did not finish; it is tried again in an hour"
            );
        }
    }
}

impl Shared {
    pub(crate) async fn clean_up(&self) -> Result<(), SubmitError> {
        let now = self.clock.now();
        self.store.forget_receipts(earlier(now, RECEIPTS_KEPT_FOR)).await?;
        let deadline = earlier(now, RESTORABLE_FOR);
        loop {
            let due = self.store.deleted_before(deadline, PURGE_AT_ONCE).await?;
            if due.is_empty() {
                return Ok(());
            }
            for session in due {
                // One that was restored in the meantime is not due any more.
                self.purge_deleted(session).await?;
            }
        }
    }

    /// Removes a session for good if it is deleted, as of the moment of its removal.
    pub(crate) async fn purge_deleted(&self, id: SessionId) -> Result<(), SubmitError> {
        loop {
            let session = self.store.session(id).await?.filter(|session| session.row.deleted_at.is_some());
            let Some(session) = session else { return Ok(()) };
            match self.store.purge(id, session.head, self.clock.now()).await {
                Ok(()) => break,
                // Somebody wrote to it since, perhaps a restore: look again.
                Err(AppendError::Conflict { .. }) => (),
                Err(err) => return Err(err.into()),
            }
        }
        // Its task remembers a session that could be restored; without its sender it ends.
        self.live.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        self.revoke_tokens_of(id).await
    }

    /// Whether the session is there and not purged, deleted or not.
    pub(crate) async fn exists(&self, session: SessionId) -> Result<bool, ReadError> {
        Ok(self.store.session(session).await?.is_some())
    }
}

fn earlier(now: Timestamp, by: Duration) -> Timestamp {
    Timestamp::from_millis(now.as_millis().saturating_sub(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
}
