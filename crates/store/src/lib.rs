//! Keeps the log and the read tables.
//!
//! Two narrow traits: [`Log`] appends one atomic batch over streams and reads it back, [`Tables`] answers named
//! questions about rows that changed in the same transaction. [`SqliteStore`] is the embedded default, [`MemoryStore`]
//! its twin for tests; `conformance.rs` is the one suite that both must pass, and any later store with them.
//!
//! This is the only crate that knows SQL. It decides nothing: rows come from `model::fold`, rules from
//! `model::decide`. Invariants: an acknowledged append is flushed; an entry is never changed; a stream's seqs are
//! 1, 2, 3 … without gaps. Start reading at [`Log::append`], then `sqlite/writer.rs`.

#![warn(missing_docs)]

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
pub mod copies;
#[cfg(test)]
mod histories;
mod memory;
mod sqlite;

use std::borrow::Cow;

use async_trait::async_trait;
use model::{
    DeletedKey, Entry, Event, Incarnation, InteractionId, ListKey, NextId, NextRow, Offer, Position, RememberedRow,
    Seq, Session, SessionId, SessionRow, StreamId, Timestamp, TitleRow, TokenRow, Turn, TurnRow, WorkId, WorkKey,
    WorkRow,
};

use tokio::sync::watch;

pub use copies::{Copies, CopyError};
pub use memory::MemoryStore;
pub use model::Part;
pub use sqlite::{OpenError, RESERVE_BYTES, SqliteStore, outside};

/// A page of a read stops after this many bytes of events, so that a page of large entries stays small in memory.
pub const MAX_PAGE_BYTES: usize = 512 << 10;

/// The facts whose values are paths of files. They can be looked up by those.
pub const FILE_FACTS: [&str; 4] = ["filesEdited", "filesCreated", "filesRead", "filesDeleted"];

/// What of a path is looked for in the marks of the set `files`, which may be relative.
fn last_part(path: &str) -> &str {
    &path[path.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1)..]
}

/// The session that a batch over these streams is about: whoever carries out a wish of a session puts that one first.
fn first_session(streams: impl Iterator<Item = StreamId>) -> Option<SessionId> {
    let mut sessions = streams.filter_map(|stream| match stream {
        StreamId::Session(session) => Some(session),
        StreamId::Server | StreamId::Work => None,
    });
    sessions.next()
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

/// An entry with its place among all streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedEntry {
    /// Where it is in the whole log.
    pub position: Position,
    /// The stream it belongs to.
    pub stream: StreamId,
    /// The entry.
    pub entry: Entry<Event>,
}

/// A piece of work with what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeWork {
    /// What it is.
    pub row: WorkRow,
    /// Every name that leads to it, in order.
    pub names: Vec<String>,
    /// Its sessions in the order in which they began, without deleted ones.
    pub sessions: Vec<SessionId>,
}

/// Which streams have moved since some position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// Each once, in the order in which they first moved.
    pub streams: Vec<StreamId>,
    /// Up to where this is complete: the last entry that was looked at or, if that were all, the last position that was
    /// ever given. One before the position that was asked about tells that the log has lost entries since.
    pub up_to: Position,
}

/// How far a stream has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    /// Its newest entry; [`Seq::START`] if it has none.
    At(Seq),
    /// Its entries were purged; it takes no more.
    Purged,
}

/// The append-only log.
#[async_trait]
pub trait Log: Send + Sync + 'static {
    /// Which life of the store this is; cursors carry it.
    fn incarnation(&self) -> Incarnation;

    /// Writes one batch and answers when it is durable, with the position of its last entry. A batch may hold no
    /// entries and only a receipt.
    async fn append(&self, batch: Batch) -> Result<Position, AppendError>;

    /// Entries of a stream after a seq, oldest first: at most `limit`, at least one if there is any, and no more than
    /// about [`MAX_PAGE_BYTES`]. A page ends before a damaged entry; asking on from there tells of the damage.
    async fn read(&self, stream: StreamId, after: Seq, limit: usize) -> Result<Vec<Entry<Event>>, ReadError>;

    /// Entries of a session, like [`Log::read`].
    async fn read_session(&self, session: SessionId, after: Seq, limit: usize) -> Result<Vec<Entry>, ReadError> {
        let entries = self.read(StreamId::Session(session), after, limit).await?;
        Ok(entries.into_iter().filter_map(Entry::into_session).collect())
    }

    /// Entries of all streams after a position, oldest first, bounded like [`Log::read`]; without what damaged streams
    /// have after their damage.
    async fn read_all(&self, after: Position, limit: usize) -> Result<Vec<PlacedEntry>, ReadError>;

    /// Which streams have entries after a position. At most `limit` entries are looked at, and nothing of what they say.
    async fn changed_since(&self, after: Position, limit: usize) -> Result<Changes, ReadError>;

    /// The position of the newest entry that is durable; [`Position(0)`](Position) if there is none.
    fn last_position(&self) -> Position;

    /// Waits until the log has durable entries after a position, and says how far it goes then. This is how a follower
    /// sleeps: whatever it finds there, it reads.
    async fn wait_after(&self, after: Position) -> Position;

    /// How far a stream has got.
    async fn head(&self, stream: StreamId) -> Result<Head, ReadError>;

    /// Removes a session's entries and rows for good and leaves a tombstone, so that its stream takes no more. Like an
    /// append it names the seq that the caller believes to be the newest; purging twice is harmless.
    async fn purge(&self, session: SessionId, after: Seq, at: Timestamp) -> Result<(), AppendError>;

    /// Forgets receipts given before `at`.
    async fn forget_receipts(&self, before: Timestamp) -> Result<(), AppendError>;

    /// What is known to be wrong with a session's stream. Such a stream is read up to there and takes no more.
    fn damage(&self, session: SessionId) -> Option<Damage>;
}

/// Waits until the position that a store tells of lies after another one.
async fn wait_after(last: &watch::Sender<Position>, after: Position) -> Position {
    let mut last = last.subscribe();
    // The store holds the other side, and whoever waits holds the store.
    last.wait_for(|last| *last > after).await.map_or(after, |last| *last)
}

/// Questions about the rows that the log left.
#[async_trait]
pub trait Tables: Send + Sync + 'static {
    /// A session as of its newest entry, deleted or not: its row, its queue, its context and its head, read
    /// together. The head of
    /// one that is damaged is the last entry before the damage.
    async fn session(&self, id: SessionId) -> Result<Option<Session>, ReadError>;

    /// A page of the list, most recently active first, without deleted ones.
    async fn sessions(&self, after: Option<ListKey>, limit: usize) -> Result<Vec<SessionRow>, ReadError>;

    /// Sessions that were starting, had a turn running or waited for an answer: what a restart has to settle. Without deleted ones, whose
    /// agents have nothing more to say.
    async fn unsettled(&self) -> Result<Vec<SessionId>, ReadError>;

    /// Sessions deleted before `at`, oldest first, at most `limit`.
    async fn deleted_before(&self, at: Timestamp, limit: usize) -> Result<Vec<SessionId>, ReadError>;

    /// A page of deleted sessions that are not purged yet, the one that was deleted last first.
    async fn deleted(&self, after: Option<DeletedKey>, limit: usize) -> Result<Vec<SessionRow>, ReadError>;

    /// Which sessions these conversations of an agent are or once were, by the agent's own ids: also of sessions that
    /// were handed over since and of deleted ones, in the order of the sessions' ids.
    async fn attached(&self, agent: &str, ids: Vec<String>) -> Result<Vec<(String, SessionId)>, ReadError>;

    /// The directories and projects of sessions, without deleted ones, whose names `path` begins with.
    async fn directories_above(&self, path: &str) -> Result<Vec<String>, ReadError>;

    /// Sessions, without deleted ones, that may have named the file `path`: with a fact of [`FILE_FACTS`], or with a mark in the
    /// set `files` that ends with its last part. In the order of their ids, after one.
    async fn may_name_file(
        &self,
        path: &str,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionId>, ReadError>;

    /// How many sessions came to rest unseen.
    async fn unobserved_count(&self) -> Result<u64, ReadError>;

    /// Turns of a session after a number, in order.
    async fn turns(&self, session: SessionId, after: Turn, limit: usize) -> Result<Vec<TurnRow>, ReadError>;

    /// The turn that a prompt became, if it became one.
    async fn find_turn(&self, interaction: InteractionId) -> Result<Option<TurnRow>, ReadError>;

    /// The titles that a session has had, newest first, at most [`model::MAX_TITLES`].
    async fn titles(&self, session: SessionId) -> Result<Vec<TitleRow>, ReadError>;

    /// Sessions at rest with turns that have no summary yet, in the order of their ids after one, at most `limit`.
    async fn unsummarised(&self, after: Option<SessionId>, limit: usize) -> Result<Vec<SessionId>, ReadError>;

    /// The entries of a session that changed its context, after one and up to another, in order.
    async fn context_entries(
        &self,
        session: SessionId,
        after: Seq,
        up_to: Seq,
        limit: usize,
    ) -> Result<Vec<Seq>, ReadError>;

    /// The steps that a session's agent offers, newest first, before one of them.
    async fn next_blocks(
        &self,
        session: SessionId,
        before: Option<NextId>,
        limit: usize,
    ) -> Result<Vec<Offer>, ReadError>;

    /// One of them.
    async fn next_block(&self, session: SessionId, id: NextId) -> Result<Option<Offer>, ReadError>;

    /// Those of a session's offers that were taken, newest first.
    async fn clicked(&self, session: SessionId, limit: usize) -> Result<Vec<NextRow>, ReadError>;

    /// A page of the pieces of work that have a session, the one that was added to last first.
    async fn works(&self, after: Option<WorkKey>, limit: usize) -> Result<Vec<WorkRow>, ReadError>;

    /// A piece of work.
    async fn work(&self, id: WorkId) -> Result<Option<WorkRow>, ReadError>;

    /// The piece of work that a name leads to in its project.
    async fn find_work(&self, project: &str, name: &str) -> Result<Option<WorkRow>, ReadError>;

    /// A page of the pieces of work that a name leads to, at most one of a project, the one that was added to last first;
    /// also those that have no session any more, since they keep their names.
    async fn works_named(&self, name: &str, after: Option<WorkKey>, limit: usize) -> Result<Vec<WorkRow>, ReadError>;

    /// The sessions of a piece of work in the order in which they began, without deleted ones.
    async fn work_sessions(&self, work: WorkId) -> Result<Vec<SessionRow>, ReadError>;

    /// Which those are, without reading more of them.
    async fn work_session_ids(&self, work: WorkId) -> Result<Vec<SessionId>, ReadError>;

    /// Those of them that began before one of them, or all, the newest first, at most `limit`.
    async fn newest_of_work(
        &self,
        work: WorkId,
        before: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, ReadError>;

    /// Every piece of work that has a session, deleted or not, with what belongs to it, in the order in which they began.
    async fn whole_works(&self) -> Result<Vec<WholeWork>, ReadError>;

    /// Sessions that were begun by a click and whose agent has neither been sent their prompt nor failed.
    async fn unbegun(&self) -> Result<Vec<SessionId>, ReadError>;

    /// All credentials in force.
    async fn tokens(&self) -> Result<Vec<TokenRow>, ReadError>;

    /// All answers that are remembered, oldest first.
    async fn remembered(&self) -> Result<Vec<RememberedRow>, ReadError>;

    /// The answer that was given to this principal for this key.
    async fn find_receipt(&self, principal: &str, key: &str) -> Result<Option<Receipt>, ReadError>;
}

/// A place that keeps both.
pub trait Store: Log + Tables {}

impl<T: Log + Tables> Store for T {}

/// From where on a stream is not what was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{stream} is damaged from entry {seq} on: {what}; it can be read up to there and takes no more")]
pub struct Damage {
    /// The stream in question.
    pub stream: StreamId,
    /// The first entry that cannot be relied on.
    pub seq: Seq,
    /// What is wrong with it.
    pub what: Cow<'static, str>,
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
    /// The stream is damaged and takes no more.
    #[error(transparent)]
    Damaged(Damage),
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

/// Why nothing could be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The next entry is not what was written.
    #[error(transparent)]
    Damaged(Damage),
    /// The storage did not answer.
    #[error("could not read from the store")]
    Storage(#[source] StorageError),
    /// The store is closing.
    #[error("the store is closed")]
    Closed,
}

/// What the storage itself said.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct StorageError(pub(crate) Box<dyn std::error::Error + Send + Sync>);
