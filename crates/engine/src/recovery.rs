//! After a restart: what was cut off is said to be.
//!
//! Invariant: before anybody is let in, no session claims a running turn, a starting agent or one that waits for an
//! answer, for none has survived.
//! Nothing is prompted again by itself; waiting prompts stay waiting until the person goes on, but for the one that a click
//! began a session for (`Engine::finish_clicks`). A session that cannot be
//! read is left as it is and named: it must not keep the others from being served.

use std::sync::Arc;

use model::{Command, SessionId, decide};
use store::{AppendError, Room};
use tokio::task::JoinSet;

use crate::commit::Along;
use crate::{Shared, StartError};

/// How many sessions are settled at once, so that they share flushes.
const AT_ONCE: usize = 64;

impl Shared {
    /// Settles what is unsettled and says how many sessions that were.
    pub(crate) async fn recover(self: &Arc<Self>) -> Result<usize, StartError> {
        let unsettled = self.store.unsettled().await?;
        for some in unsettled.chunks(AT_ONCE) {
            let mut settling = JoinSet::new();
            for id in some.iter().copied() {
                let shared = Arc::clone(self);
                settling.spawn(async move { shared.settle(id).await });
            }
            for settled in settling.join_all().await {
                settled?;
            }
        }
        Ok(unsettled.len())
    }

    async fn settle(&self, id: SessionId) -> Result<(), StartError> {
        let session = match self.store.session(id).await {
            Ok(Some(session)) => session,
            Ok(None) => return Ok(()),
            Err(err) => {
                tracing::error!(session = %id, error = &err as &dyn std::error::Error, "a session cannot be read and is left as it is");
                return Ok(());
            }
        };
        let interrupt = Command::Interrupt { reason: "server_restart".to_owned() };
        let events = decide(Some(&session), interrupt).expect("an interruption is never refused");
        match self.commit(id, Some(&session), events, Along::default(), Room::Reserved).await {
            // It stays as it is, and is read-only.
            Ok(_) | Err(AppendError::Damaged(_)) => Ok(()),
            Err(err) => Err(err.into()),
        }
    }
}
