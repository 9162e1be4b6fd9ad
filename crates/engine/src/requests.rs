//! The inputs of a session's task: who asks, for what, and the receipt by which a repeat gets the same answer.
//!
//! Invariant: a request with a key has one effect and one answer for a day. The receipt is written with the effect, in
//! one batch, so there is no moment in which one exists without the other.

use model::{Command, PermissionAnswer, Question, Timestamp, Turn};
use sha2::{Digest as _, Sha256};
use store::{AppendError, Batch, Part, Receipt};
use tokio::sync::mpsc;

use crate::outputs::Removal;
use crate::wishes::Reply;
use crate::{Click, Fork, Shared, SubmitError};

/// Who asks, with the key that makes a repeat harmless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    /// The principal's id.
    pub principal: String,
    /// The caller's key, if it sent one.
    pub key: Option<RequestKey>,
}

/// An idempotency key with what it was used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestKey {
    key: String,
    fingerprint: Vec<u8>,
}

impl RequestKey {
    /// `request` is all that makes two requests the same: what, of what, with which content.
    pub fn new(key: impl Into<String>, request: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in request {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self { key: key.into(), fingerprint: hash.finalize().to_vec() }
    }

    /// The caller's key.
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// What a session's task is asked to do, with who asks.
pub(crate) struct SessionInput {
    pub(crate) kind: InputKind,
    pub(crate) asker: Asker,
}

/// What a session's task is to do.
pub(crate) enum InputKind {
    Command(Command),
    /// Decided with what the tables say of the block.
    Click(Click),
    /// Begins another session from one of the session's turns.
    Fork(Fork),
    /// Removes outputs that the tables say the session has.
    RemoveOutputs(Removal),
    /// Deletes the session, which is about to be purged, and its agent's own record with it.
    DeleteForPurge,
    /// Asks the person for one of our own tools.
    Ask(Box<ToolQuestion>),
    /// The same as the command, if this turn still runs.
    InTurn {
        turn: Turn,
        command: Command,
    },
}

/// What one of our own tools asks in a turn. The answer goes to the tool, and never to the agent.
pub(crate) struct ToolQuestion {
    pub(crate) turn: Turn,
    pub(crate) question: Question,
    pub(crate) answer: mpsc::Sender<PermissionAnswer>,
}

impl Asker {
    /// The server itself.
    pub(crate) fn server() -> Self {
        Self { principal: "server".to_owned(), key: None }
    }

    pub(crate) fn receipt(&self, reply: &Reply, at: Timestamp) -> Option<Receipt> {
        let key = self.key.as_ref()?;
        Some(Receipt {
            principal: self.principal.clone(),
            key: key.key.clone(),
            fingerprint: key.fingerprint.clone(),
            reply: serde_json::to_vec(reply).expect("replies hold only texts, ids and numbers"),
            at,
            holds_words: reply.holds_words(),
        })
    }

    /// The first answer again, if the same was asked.
    pub(crate) fn repeat(&self, receipt: &Receipt) -> Result<Reply, SubmitError> {
        let same = self.key.as_ref().is_some_and(|key| key.fingerprint == receipt.fingerprint);
        if !same {
            return Err(SubmitError::KeyReused);
        }
        serde_json::from_slice(&receipt.reply).map_err(|_| SubmitError::KeyReused)
    }
}

impl Shared {
    /// Appends what a request changes, if anything, with the receipt of its reply. A repeat changes nothing and gets the
    /// first reply.
    pub(crate) async fn append_with_reply(
        &self,
        parts: Vec<Part>,
        reply: Reply,
        asker: &Asker,
        at: Timestamp,
    ) -> Result<Reply, SubmitError> {
        let receipt = asker.receipt(&reply, at);
        match self.journal.append(Batch { parts, receipt, ..Batch::default() }).await {
            Ok(_) => Ok(reply),
            Err(AppendError::Repeated(receipt)) => asker.repeat(&receipt),
            Err(err) => Err(err.into()),
        }
    }
}
