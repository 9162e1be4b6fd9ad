//! The jobs in the writer's queue, and how each is answered.
//!
//! Invariant: every job is answered once, with what became of its own write.

use std::sync::Arc;

use model::{Position, RowChange, Seq, SessionId, StreamId, Timestamp};
#[cfg(test)]
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::append::first_session;
use crate::sqlite::mend::Removal;
use crate::sqlite::outside::walk::Walk;
use crate::sqlite::rows::EncodedEntry;
use crate::sqlite::trouble::Trouble;
use crate::sqlite::writer::MAX_GROUP_ENTRIES;
use crate::{AppendError, Batch, Fence, Receipt, Room, StorageError};

pub(super) type WriteResult = Result<Position, AppendError>;

/// A write that waits, with the way back for its answer.
pub(super) struct Job {
    pub(super) write: Write,
    pub(super) answer: oneshot::Sender<WriteResult>,
}

pub(super) enum Write {
    Append(EncodedBatch),
    Purge {
        session: SessionId,
        after: Seq,
        at: Timestamp,
    },
    ForgetReceipts {
        before: Timestamp,
    },
    Fence(Fence),
    /// Sets the rows of streams right.
    MendStreams,
    /// Removes rows that are damaged and belong to nobody who is known.
    RemoveRows(Removal),
    /// Puts the rows that the log gives in the place of those that are there.
    ReplaceRows(Box<Walk>),
    /// Has the next start make the index of the entries anew.
    NoteIndexDamage,
    /// Lets a test at the connection, between two transactions.
    #[cfg(test)]
    Look(Option<TestLook>),
}

#[cfg(test)]
pub(super) type TestLook = Box<dyn FnOnce(&Connection) + Send>;

/// A [`Batch`] whose events were encoded by the caller, so that the one thread that all wait for does not.
pub(super) struct EncodedBatch {
    pub(super) parts: Vec<EncodedPart>,
    pub(super) receipt: Option<Receipt>,
    room: Room,
    entries: usize,
    bytes: usize,
}

pub(super) struct EncodedPart {
    pub(super) stream: StreamId,
    pub(super) after: Seq,
    pub(super) entries: Vec<EncodedEntry>,
    pub(super) rows: Vec<RowChange>,
}

impl From<Batch> for EncodedBatch {
    fn from(batch: Batch) -> Self {
        let parts: Vec<_> = batch
            .parts
            .into_iter()
            .map(|part| EncodedPart {
                stream: part.stream,
                after: part.after,
                // One after the other: each is let go of once it is encoded.
                entries: part.entries.into_iter().map(|entry| EncodedEntry::of(part.stream, &entry)).collect(),
                rows: part.rows,
            })
            .collect();
        let all = || parts.iter().flat_map(|part| &part.entries);
        let (entries, bytes) = (all().count(), all().map(|entry| entry.event.len()).sum());
        Self { parts, receipt: batch.receipt, room: batch.room, entries, bytes }
    }
}

impl EncodedBatch {
    /// The session that the receipt goes with.
    pub(super) fn session_of(&self, receipt: &Receipt) -> Option<SessionId> {
        first_session(self.parts.iter().map(|part| part.stream)).filter(|_| receipt.holds_words)
    }
}

impl Write {
    pub(super) fn size(&self) -> (usize, usize) {
        match self {
            Self::Append(batch) => (batch.entries, batch.bytes),
            Self::Purge { .. } | Self::ForgetReceipts { .. } | Self::Fence(_) | Self::NoteIndexDamage => (1, 0),
            // Each in a transaction of its own, so that nobody waits for two.
            Self::MendStreams | Self::RemoveRows(_) | Self::ReplaceRows(_) => (MAX_GROUP_ENTRIES, 0),
            #[cfg(test)]
            Self::Look(_) => (MAX_GROUP_ENTRIES, 0),
        }
    }

    /// The fence of the session whose write met damage; `None` if the write is of no session or of several.
    pub(super) fn fence(&self) -> Option<Fence> {
        let (stream, after) = match self {
            Self::Append(batch) => {
                let mut sessions = batch.parts.iter().filter(|part| matches!(part.stream, StreamId::Session(_)));
                let (Some(only), None) = (sessions.next(), sessions.next()) else { return None };
                (only.stream, only.after)
            }
            Self::Purge { session, after, .. } => (StreamId::Session(*session), *after),
            _ => return None,
        };
        Some(Fence::damaged(stream, after.next(), "the database is damaged where it is written"))
    }

    /// What removes something makes room, and what guards a stream must not wait for it.
    pub(super) fn room(&self) -> Room {
        match self {
            Self::Append(batch) => batch.room,
            Self::Purge { .. } | Self::ForgetReceipts { .. } | Self::Fence(_) | Self::NoteIndexDamage => Room::Reserved,
            // It can be done again, and must not take the room for what can not.
            Self::MendStreams | Self::RemoveRows(_) | Self::ReplaceRows(_) => Room::Ordinary,
            #[cfg(test)]
            Self::Look(_) => Room::Reserved,
        }
    }
}

pub(super) fn answer_all(group: Vec<Job>, answers: Vec<WriteResult>) {
    for (job, answer) in group.into_iter().zip(answers) {
        // Whoever asked may have stopped waiting; what is written stays written.
        let _nobody_waits = job.answer.send(answer);
    }
}

pub(super) fn refuse_all(group: Vec<Job>, failure: &AppendFailure) {
    for job in group {
        let _nobody_waits = job.answer.send(Err(failure.to_error()));
    }
}

pub(super) type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// Why a transaction failed, for everybody whose write was in it.
pub(super) struct AppendFailure {
    pub(super) kind: Trouble,
    pub(super) cause: Cause,
}

impl AppendFailure {
    fn to_error(&self) -> AppendError {
        let cause = StorageError(Box::new(Arc::clone(&self.cause)));
        match self.kind {
            Trouble::Full => AppendError::Full(cause),
            Trouble::Busy => AppendError::Busy(cause),
            Trouble::Damaged | Trouble::Unknown => AppendError::Failed(cause),
        }
    }
}
