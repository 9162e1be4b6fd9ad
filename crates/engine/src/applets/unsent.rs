//! State that waited for the server and comes with a prompt.

use model::{AppletName, SessionId};
use serde_json::{Map, Value};

use super::{StateChange, StateWrite};
use crate::{AppletError, Engine};

impl Engine {
    /// Sets keys of the state that an applet has beside this session, which must be there.
    pub async fn set_unsent_applet_state(
        &self,
        name: &AppletName,
        session: SessionId,
        changes: Map<String, Value>,
    ) -> Result<(), AppletError> {
        self.session(session).await?;
        let write = StateWrite { change: StateChange::Merge(changes), version: None, writer: None };
        self.set_applet_state(name, Some(session), write).await.map(drop)
    }
}
