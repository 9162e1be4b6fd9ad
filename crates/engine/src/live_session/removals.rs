//! Removes outputs: the entry first, then the bytes.
//!
//! Invariant: bytes go only when the entry that says so is durable. Those that a crash in between leaves are swept.

use std::sync::Arc;

use model::Command;
use store::Batch;

use crate::SubmitError;
use crate::live_session::LiveSession;
use crate::outputs::{Removal, removed};
use crate::requests::Asker;
use crate::wishes::Reply;

impl LiveSession {
    pub(super) async fn try_remove(&mut self, removal: &Removal, asker: &Asker) -> Result<Reply, SubmitError> {
        let shared = Arc::clone(&self.shared);
        let Removal { ids, reason, by } = removal;
        let mut rows = Vec::with_capacity(ids.len());
        for id in ids {
            rows.extend(shared.store.output(self.id, *id).await?);
        }
        if rows.is_empty() {
            return Err(ids.first().map_or(SubmitError::NotFound(self.id), |id| SubmitError::NoSuchOutput(*id)));
        }
        self.prepare(None).await?;
        let at = shared.clock.now();
        let ids = rows.iter().map(|row| row.id).collect();
        let draft = self.decide(Some(Command::RemoveOutputs { ids, reason: *reason, by: Some(by.clone()) }), at)?;
        let reply = Reply::OutputsRemoved(removed(&rows));
        let receipt = asker.receipt(&reply, at);
        self.commit_and_run_effects(draft, Batch { receipt, ..Batch::default() }).await?;
        fail::fail_point!("output-removed");
        shared.remove_payloads(&rows).await;
        Ok(reply)
    }
}
