//! How the log grows: what is appended at once, and what is removed for good.
//!
//! Invariant: [`Append`] is the only way to change a store. Whoever is given a [`crate::Reader`] can not change it.

use async_trait::async_trait;
use model::{Position, Seq, SessionId, StreamId, Timestamp};

use crate::{Fence, Part, StorageError};

/// Appends to the log and removes from it.
#[async_trait]
pub trait Append: Send + Sync + 'static {
    /// Writes one batch and answers when it is durable, with the position of its last entry. A batch may hold no
    /// entries and only a receipt.
    async fn append(&self, batch: Batch) -> Result<Position, AppendError>;

    /// Removes a session's entries and rows for good and leaves a tombstone, so that its stream takes no more. Like an
    /// append it names the seq that the caller believes to be the newest; purging twice is harmless.
    async fn purge(&self, session: SessionId, after: Seq, at: Timestamp) -> Result<(), AppendError>;

    /// Forgets receipts given before `at`.
    async fn forget_receipts(&self, before: Timestamp) -> Result<(), AppendError>;
}

/// What is written at once: all of it, or nothing.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The streams it touches.
    pub parts: Vec<Part>,
    /// The answer to give again when the same request comes again.
    pub receipt: Option<Receipt>,
    /// What may be used for it when space runs out.
    pub room: Room,
}

/// Which part of the disk a write may use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Room {
    /// All but the reserve.
    #[default]
    Ordinary,
    /// The reserve too: what must be written down before the server ends.
    Reserved,
}

/// Proof that a request was carried out, kept so that a repeat has one effect and the same answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Who asked.
    pub principal: String,
    /// The key that the caller chose.
    pub key: String,
    /// A hash of what was asked: the same key with another request is a mistake, not a repeat.
    pub fingerprint: Vec<u8>,
    /// The answer.
    pub reply: Vec<u8>,
    /// When it was given.
    pub at: Timestamp,
    /// The answer holds words of the session that it is about, the first of the batch, and goes when that is purged.
    pub holds_words: bool,
}

/// Why nothing was written, or, for [`AppendError::Failed`], why that cannot be known.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Somebody else wrote first; read again and decide anew.
    #[error("stream {stream} is at {head}, not {expected}")]
    Conflict {
        /// The stream in question.
        stream: StreamId,
        /// Where the writer believed it to be.
        expected: Seq,
        /// Where it is.
        head: Seq,
    },
    /// The same key was used before by the same principal.
    #[error("a request with this key was carried out before")]
    Repeated(Box<Receipt>),
    /// The stream's entries were purged.
    #[error("stream {0} was purged")]
    Purged(StreamId),
    /// The stream can not be read to its end and takes no more.
    #[error(transparent)]
    Fenced(Fence),
    /// The disk or a quota is full; nothing is damaged and a later try may pass.
    #[error("no space is left to write; free some and send it again, nothing has to be restarted")]
    Full(#[source] StorageError),
    /// Another program holds the store's file; a later try may pass.
    #[error("another program keeps the store from being written")]
    Busy(#[source] StorageError),
    /// The store cannot be relied on any more in this process and takes no more writes. What became of this batch is
    /// known only after it is opened again: the disk may have kept what it failed to confirm.
    #[error("the store failed to write and is read-only until it is opened again")]
    Failed(#[source] StorageError),
    /// The store is closing.
    #[error("the store is closed")]
    Closed,
}

/// The session that a batch over these streams is about: whoever carries out a wish of a session puts that one first.
pub(crate) fn first_session(streams: impl Iterator<Item = StreamId>) -> Option<SessionId> {
    let mut sessions = streams.filter_map(|stream| match stream {
        StreamId::Session(session) => Some(session),
        StreamId::Server | StreamId::Work => None,
    });
    sessions.next()
}
