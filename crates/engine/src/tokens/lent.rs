//! Credentials that are lent to agents for as long as they are attached.
//!
//! Invariant: one is in force exactly while its [`Loan`] is held, unless it was ended before. They are in memory alone: an
//! agent does not outlive the server, and neither does what it was lent.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use model::{TokenId, TokenRow};
use tokio::sync::watch;

#[derive(Debug, Clone)]
pub(super) struct Lent {
    by_hash: Arc<RwLock<HashMap<String, TokenRow>>>,
    changes: watch::Sender<u64>,
}

/// Dropping it ends the credential.
#[derive(Debug)]
pub(crate) struct Loan {
    lent: Lent,
    id: TokenId,
}

impl Lent {
    pub(super) fn new(changes: watch::Sender<u64>) -> Self {
        Self { by_hash: Arc::default(), changes }
    }

    pub(super) fn lend(&self, row: TokenRow) -> Loan {
        let loan = Loan { lent: self.clone(), id: row.id };
        self.by_hash.write().unwrap_or_else(PoisonError::into_inner).insert(row.secret_hash.clone(), row);
        loan
    }

    pub(super) fn find(&self, secret_hash: &str) -> Option<TokenRow> {
        self.by_hash.read().unwrap_or_else(PoisonError::into_inner).get(secret_hash).cloned()
    }

    pub(super) fn is_in_force(&self, id: TokenId) -> bool {
        self.by_hash.read().unwrap_or_else(PoisonError::into_inner).values().any(|row| row.id == id)
    }

    pub(super) fn end(&self, which: impl Fn(&TokenRow) -> bool) {
        let mut by_hash = self.by_hash.write().unwrap_or_else(PoisonError::into_inner);
        let before = by_hash.len();
        by_hash.retain(|_, row| !which(row));
        let ended = by_hash.len() < before;
        drop(by_hash);
        if ended {
            self.changes.send_modify(|generation| *generation += 1);
        }
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.lent.end(|row| row.id == self.id);
    }
}
