//! Cleans up once an hour: purges sessions that were deleted a week ago, forgets old receipts, and removes outputs that are
//! older than the person wants to keep them.
//!
//! Invariant: a wall clock that jumps removes nothing early. Only time that both the wall and the steady clock have seen
//! pass counts, and nothing is removed right after the start, when a machine may not have found the right time yet. One
//! session that cannot be removed keeps no other.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use model::{Session, SessionId, SessionRow, Timestamp};
use store::AppendError;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::{Engine, OutputError, Shared, SubmitError};

/// How long after the start the first round is.
const FIRST_AFTER: Duration = Duration::from_secs(600);
const EVERY: Duration = Duration::from_secs(3_600);
/// How long a deleted session can be brought back.
pub const RESTORABLE_FOR: Duration = Duration::from_secs(7 * 24 * 3_600);
/// How long a repeat of a request is recognised.
pub const RECEIPTS_KEPT_FOR: Duration = Duration::from_secs(24 * 3_600);
/// How many sessions are asked for at a time.
const PURGE_AT_ONCE: usize = 64;

pub(crate) async fn run(shared: Arc<Shared>) {
    let mut tick = interval_at(Instant::now() + FIRST_AFTER, EVERY);
    fail::fail_point!("housekeeping");
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut swept = false;
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
        if let Err(err) = clean_outputs(&shared, &mut swept).await {
            let error = &err as &dyn std::error::Error;
            tracing::warn!(error, "old outputs were not all removed; it is tried again in an hour");
        }
    }
}

/// Removes outputs that are too old and, once, the bytes that an earlier run left of removed ones.
async fn clean_outputs(shared: &Arc<Shared>, swept: &mut bool) -> Result<(), OutputError> {
    let now = shared.started.passed(shared.clock.now());
    Engine { shared: Arc::clone(shared) }.prune_by_policy(now).await?;
    if !*swept {
        shared.sweep_all_payloads().await?;
        *swept = true;
    }
    Ok(())
}

impl Shared {
    pub(crate) async fn clean_up(&self) -> Result<(), SubmitError> {
        self.settle_purges().await;
        self.settle_applets().await;
        let now = self.started.passed(self.clock.now());
        self.journal.forget_receipts(now.minus(RECEIPTS_KEPT_FOR)).await?;
        let deadline = now.minus(RESTORABLE_FOR);
        let mut stuck = HashSet::new();
        loop {
            // Those that stay are named again, so they take no place of the others.
            let due = self.store.deleted_before(deadline, PURGE_AT_ONCE + stuck.len()).await?;
            let due: Vec<SessionId> = due.into_iter().filter(|session| !stuck.contains(session)).collect();
            if due.is_empty() {
                return Ok(());
            }
            for session in due {
                // One that was restored in the meantime is not due any more.
                // It may be restored in the version that wrote to it.
                if self.store.fence(session).is_some_and(|fence| fence.is_newer()) {
                    stuck.insert(session);
                    continue;
                }
                match self.purge_deleted(session).await {
                    Err(SubmitError::Copy(err)) => {
                        let error = &err as &dyn std::error::Error;
                        tracing::warn!(%session, error, "a deleted session stays until its copy can be removed");
                        stuck.insert(session);
                    }
                    purged => purged?,
                }
            }
        }
    }

    /// Removes a session for good if it is deleted, as of the moment of its removal. One that is damaged can not be
    /// deleted first, and need not be.
    pub(crate) async fn purge_deleted(&self, id: SessionId) -> Result<(), SubmitError> {
        let Some(row) = self.purge_with_its_copy(id).await? else { return Ok(()) };
        // Its task remembers a session that could be restored; without its sender it ends, and sees to the agent.
        let task = self.live.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        if task.is_none() {
            self.delete_record(&row);
        }
        self.forget_applets_of(id).await;
        self.revoke_tokens_of(id).await
    }

    /// Has an agent delete its own record of a session that is gone, if a process of it is there.
    pub(crate) fn delete_record(&self, row: &SessionRow) {
        if let Some(record) = &row.agent_session {
            self.agency.agents.delete_record(&row.agent, record.clone());
        }
    }

    /// The session as it last was, if it was deleted and is gone. Its files are put away first and removed last: the log can not
    /// write what was shown and long results again, so they come back if the session does not go, also after a crash.
    async fn purge_with_its_copy(&self, id: SessionId) -> Result<Option<SessionRow>, SubmitError> {
        let _alone = match &self.copying {
            Some(copying) => Some(copying.alone().await),
            None => None,
        };
        loop {
            let damaged = self.store.fence(id).is_some();
            let session = self.store.session(id).await?.filter(|session| damaged || session.row.deleted_at.is_some());
            let Some(session) = session else { return Ok(None) };
            let purged = self.try_purge(&session).await;
            if let Some(copying) = &self.copying {
                match &purged {
                    Ok(()) => copying.remove(id).await,
                    Err(_) => copying.put_back(&*self.store, id).await,
                }
                if purged.is_ok() && session.row.work.is_some() {
                    copying.leave_work(&*self.store).await;
                }
            }
            match purged {
                Ok(()) => return Ok(Some(session.row)),
                // Somebody wrote to it since, perhaps a restore: look again.
                Err(SubmitError::Append(AppendError::Conflict { .. })) => (),
                Err(err) => return Err(err),
            }
        }
    }

    async fn try_purge(&self, session: &Session) -> Result<(), SubmitError> {
        if let Some(copying) = &self.copying {
            copying.put_away(session.row.id).await?;
        }
        fail::fail_point!("purge-begun");
        self.journal.purge(session, self.clock.now()).await?;
        fail::fail_point!("purge-logged");
        Ok(())
    }

    /// Settles what purges have left that were cut off: the log says whether the files of a session go or come back.
    pub(crate) async fn settle_purges(&self) {
        let Some(copying) = &self.copying else { return };
        if let Err(err) = copying.settle_purges(&*self.store).await {
            let error = &err as &dyn std::error::Error;
            tracing::warn!(
                error,
                "what a purge left could not all be removed or brought back; it is tried again in an hour"
            );
        }
    }
}

/// When the engine started, by both clocks.
pub(crate) struct Started {
    wall: Timestamp,
    steady: Instant,
}

impl Started {
    pub(crate) fn at(wall: Timestamp) -> Self {
        Self { wall, steady: Instant::now() }
    }

    /// The latest moment that is certainly past: what the wall says, unless it ran ahead of the steady clock.
    fn passed(&self, now: Timestamp) -> Timestamp {
        now.min(self.wall.plus(self.steady.elapsed()))
    }
}
