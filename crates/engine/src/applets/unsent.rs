//! State that waited for the server and comes with a prompt.
//!
//! Invariant: a prompt that is sent again under its key sets nothing again, for somebody may have written since.

use model::{AppletName, SessionId};
use serde_json::{Map, Value};

use super::{StateChange, StateWrite};
use crate::{AppletError, Asker, Engine, QueryError};

impl Engine {
    /// Sets keys of the state that an applet has beside this session, unless whoever asks is answered already.
    pub async fn set_unsent_applet_state(
        &self,
        name: &AppletName,
        session: SessionId,
        changes: Map<String, Value>,
        asker: &Asker,
    ) -> Result<(), AppletError> {
        if let Some(key) = &asker.key {
            let receipt =
                self.shared.store.find_receipt(&asker.principal, key.key()).await.map_err(QueryError::from)?;
            if let Some(receipt) = receipt {
                return Ok(asker.repeat(&receipt).map(drop)?);
            }
        }
        self.session(session).await?;
        let write = StateWrite { change: StateChange::Merge(changes), version: None, writer: None };
        self.set_applet_state(name, Some(session), write).await?;
        Ok(())
    }
}
