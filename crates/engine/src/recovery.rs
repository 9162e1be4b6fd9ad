//! Runs after a restart: marks turns that were running as interrupted, and agents that were there as stopped.
//!
//! Invariant: before anybody is let in, no session claims a running turn, a starting agent or one that waits for an
//! answer, for none has survived. Nothing is prompted again by itself; waiting prompts stay waiting until the person goes on,
//! but for the one that a click or a fork began a session with (`Engine::start_unbegun`). A session that cannot be read is left as it
//! is and named: it must not keep the others from being served. Files that a purge put away are back, or gone, as the log says, and so are payloads of a session that was being taken in.

use std::sync::Arc;

use model::{Command, Draft, SessionId};
use store::{AppendError, Batch, Room};
use tokio::task::JoinSet;

use crate::{Shared, StartError};

/// How many sessions are settled at once, so that they share flushes.
const AT_ONCE: usize = 64;

impl Shared {
    /// Settles what is unsettled and says how many sessions that were.
    pub(crate) async fn recover(self: &Arc<Self>) -> Result<usize, StartError> {
        // Before anybody looks for a payload.
        self.settle_purges().await;
        if let Some(copying) = &self.copying {
            copying.settle_arrivals(&*self.store).await;
        }
        let unsettled = self.store.unsettled().await?;
        for some in unsettled.chunks(AT_ONCE) {
            let mut settling = JoinSet::new();
            for id in some.iter().copied() {
                let shared = Arc::clone(self);
                settling.spawn(async move { shared.settle(id, "server_restart").await });
            }
            while let Some(settled) = settling.join_next().await {
                match settled {
                    Ok(settled) => settled?,
                    // The panic is in the log; the others are served.
                    Err(err) => tracing::error!(error = %err, "a session could not be settled and is left as it is"),
                }
            }
        }
        Ok(unsettled.len())
    }

    /// A session's task panicked, and its agent went with it: what ran is interrupted, and the next command finds the session
    /// as its log says.
    pub(crate) async fn settle_broken(&self, id: SessionId) {
        tracing::error!(session = %id, "the session's task panicked; it goes on from its log");
        self.agent_views.forget(id);
        self.commands.forget(id);
        match self.settle(id, "internal_error").await {
            Ok(()) => (),
            // Whoever came next has begun anew already, and saw that no agent is there.
            Err(StartError::Append(AppendError::Conflict { .. })) => (),
            Err(err) => {
                tracing::error!(session = %id, error = &err as &dyn std::error::Error, "what ran is settled at the next start");
            }
        }
    }

    async fn settle(&self, id: SessionId, reason: &str) -> Result<(), StartError> {
        let session = match self.store.session(id).await {
            Ok(Some(session)) => session,
            Ok(None) => return Ok(()),
            Err(err) => {
                tracing::error!(session = %id, error = &err as &dyn std::error::Error, "a session cannot be read and is left as it is");
                return Ok(());
            }
        };
        let interrupt = Command::Interrupt { reason: reason.to_owned() };
        let mut draft = Draft::new(id, Some(session));
        draft.apply(interrupt, self.clock.now()).expect("an interruption is never refused");
        match self.journal.append(Batch { parts: vec![draft.take()], receipt: None, room: Room::Reserved }).await {
            Ok(_) => {
                self.sweep_outputs(id).await;
                self.sweep_bodies(id).await;
                Ok(())
            }
            // It stays as it is, and is read-only.
            Err(AppendError::Fenced(_)) => Ok(()),
            Err(err) => Err(err.into()),
        }
    }
}
