//! After a restart: what was cut off is said to be.
//!
//! Invariant: before anybody is let in, no session claims a running turn or a starting agent, for none has survived.
//! Nothing is prompted again by itself; waiting prompts stay waiting until the person goes on.

use model::{Command, decide};

use crate::{Shared, StartError};

impl Shared {
    pub(crate) async fn recover(&self) -> Result<usize, StartError> {
        let unsettled = self.store.unsettled().await?;
        for id in &unsettled {
            let Some(session) = self.store.session(*id).await? else { continue };
            let interrupt = Command::Interrupt { reason: "server_restart".to_owned() };
            // Deleted sessions are left as they are: `decide` has nothing to say about them.
            let events = decide(Some(&session), interrupt).expect("an interruption is never refused");
            self.commit(*id, Some(&session), events, None).await?;
        }
        Ok(unsettled.len())
    }
}
