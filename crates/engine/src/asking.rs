//! Who asks, and how a repeat of the same request is answered.
//!
//! Invariant: a request with a key has one effect and one answer for a day. The receipt is written with the effect, in
//! one batch, so there is no moment in which one exists without the other.

use model::{Command, InteractionId, SessionId, SetChange, Timestamp, Turn, WorkId};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use store::Receipt;

use crate::{Click, SubmitError};

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

/// What a command gave, small enough to keep for a repeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// A session began.
    Created {
        /// Which.
        session: SessionId,
        /// How many entries began it: the answer is the session as of that one.
        entries: u64,
    },
    /// A prompt is durable.
    PromptAccepted {
        /// Its id.
        interaction_id: InteractionId,
        /// Its turn, if one began at once.
        turn: Option<Turn>,
    },
    /// The person has looked.
    Observed {
        /// There was something unseen.
        was_unobserved: bool,
        /// How many sessions are still unseen.
        unobserved_count: u64,
    },
    /// An offer was taken.
    Clicked {
        /// The piece of work that goes on.
        work: WorkId,
        /// The session that began.
        session: SessionId,
    },
    /// What is marked was changed.
    ContextSet(Vec<SetChange>),
    /// It was done; there is no more to say.
    Done,
}

impl Reply {
    /// Whether it repeats what somebody wrote into the session, and not only ids, numbers and our own words.
    fn holds_words(&self) -> bool {
        match self {
            Self::ContextSet(_) => true,
            Self::Created { .. }
            | Self::PromptAccepted { .. }
            | Self::Observed { .. }
            | Self::Clicked { .. }
            | Self::Done => false,
        }
    }
}

/// A wish with its asker.
pub(crate) struct Asked {
    pub(crate) wish: Wish,
    pub(crate) asker: Asker,
    pub(crate) then: Then,
}

/// What is asked of a session's task.
pub(crate) enum Wish {
    Command(Command),
    /// Decided with what the tables say of the block.
    Click(Click),
}

/// What becomes of the session once the command is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Stay,
    /// It is about to be purged, and its agent's own record with it.
    Purge,
}

impl Asked {
    pub(crate) fn receipt(&self, reply: &Reply, at: Timestamp) -> Option<Receipt> {
        self.asker.receipt(reply, at)
    }
}

impl Asker {
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
