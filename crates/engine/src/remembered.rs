//! Keeps the persons' answers that are given again, unasked, to the very same question.
//!
//! Invariant: what is found here is in the log; what was forgotten answers nothing from the moment its entry is durable.

use std::sync::{Arc, PoisonError, RwLock};

use model::{Memorable, RememberedId, RememberedRow, RowChange, ServerEvent, SessionRow};
use store::AppendError;

use crate::wishes::Reply;
use crate::{Asker, Engine, SubmitError};

#[derive(Debug)]
pub(crate) struct Remembered(RwLock<Vec<RememberedRow>>);

impl Remembered {
    pub(crate) fn new(rows: Vec<RememberedRow>) -> Self {
        Self(RwLock::new(rows))
    }

    pub(crate) fn replace(&self, rows: Vec<RememberedRow>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = rows;
    }

    /// Oldest first.
    pub(crate) fn all(&self) -> Vec<RememberedRow> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn find(&self, session: &SessionRow, asked: &Memorable) -> Option<RememberedRow> {
        let rows = self.0.read().unwrap_or_else(PoisonError::into_inner);
        rows.iter().find(|row| row.answers(session, asked)).cloned()
    }

    pub(crate) fn apply(&self, changes: &[RowChange]) {
        let mut rows = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for change in changes {
            match change {
                RowChange::PutRemembered(row) => rows.push(row.clone()),
                RowChange::RemoveRemembered { id } => rows.retain(|row| row.id != *id),
                // The rest is of others.
                _ => (),
            }
        }
    }
}

impl Engine {
    /// Forgets an answer, so that the same is asked again; whether there was one.
    pub async fn forget_permission(&self, id: RememberedId, asker: Asker) -> Result<bool, SubmitError> {
        if let Some(()) = self.find_reply(&asker).await? {
            return Ok(true);
        }
        let shared = Arc::clone(&self.shared);
        self.run_detached(async move {
            let receipt = asker.receipt(&Reply::Done, shared.clock.now());
            let forgotten = || {
                let known = shared.journal.remembered.all().iter().any(|row| row.id == id);
                known.then_some(ServerEvent::PermissionForgotten { id }).into_iter().collect()
            };
            match shared.append_to_server(forgotten, receipt).await {
                Ok(rows) => Ok(!rows.is_empty()),
                Err(SubmitError::Append(AppendError::Repeated(receipt))) => asker.repeat(&receipt).map(|_| true),
                Err(err) => Err(err),
            }
        })
        .await
    }
}
