//! Reading the log: by stream, by position, and waiting for more.

use std::borrow::Cow;
use std::fmt;

use async_trait::async_trait;
use model::{Entry, Event, Incarnation, Position, Seq, SessionId, StreamId};
use tokio::sync::watch;

use crate::StorageError;

/// A page of a read stops after this many bytes of events, so that a page of large entries stays small in memory.
pub const MAX_PAGE_BYTES: usize = 512 << 10;

/// The append-only log, as whoever reads it sees it.
#[async_trait]
pub trait Log: Send + Sync + 'static {
    /// Which incarnation of the store this is; cursors carry it.
    fn incarnation(&self) -> Incarnation;

    /// Entries of a stream after a seq, oldest first: at most `limit`, at least one if there is any, and no more than
    /// about [`MAX_PAGE_BYTES`]. A page ends before an entry that can not be read; asking on from there gives the reason as an error.
    async fn read(&self, stream: StreamId, after: Seq, limit: usize) -> Result<Vec<Entry<Event>>, ReadError>;

    /// Entries of a session, like [`Log::read`].
    async fn read_session(&self, session: SessionId, after: Seq, limit: usize) -> Result<Vec<Entry>, ReadError> {
        let entries = self.read(StreamId::Session(session), after, limit).await?;
        Ok(entries.into_iter().filter_map(Entry::into_session).collect())
    }

    /// Entries of all streams after a position, oldest first, bounded like [`Log::read`]; without what fenced
    /// streams have behind their fences.
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

    /// From where on a session's stream can not be read, as far as that is known.
    fn fence(&self, session: SessionId) -> Option<Fence>;
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

/// Which streams have moved since some position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// Each once, in the order in which they first moved.
    pub streams: Vec<StreamId>,
    /// Up to where this is complete: the last entry that was looked at or, if that were all, the last position that was
    /// ever given. If it is before the position that was asked about, the log has lost entries since.
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

/// From where on a stream can not be read here. It is read up to there and takes no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// The stream in question.
    pub stream: StreamId,
    /// The first entry that is not read.
    pub seq: Seq,
    /// Why.
    pub cause: FenceCause,
}

/// Why an entry can not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FenceCause {
    /// It is not what was written, and this is wrong with it.
    Damaged(Cow<'static, str>),
    /// A newer version of the program wrote it. Nothing is lost: that version goes on with it.
    Newer,
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stream, seq, cause } = self;
        match cause {
            FenceCause::Damaged(what) => write!(
                f,
                "{stream} is damaged from entry {seq} on: {what}; it can be read up to there and takes no more"
            ),
            FenceCause::Newer => write!(
                f,
                "a newer version of Throughline wrote {stream} from entry {seq} on; here it can be read up to there and \
                 takes no more; start that version to go on"
            ),
        }
    }
}

impl std::error::Error for Fence {}

impl Fence {
    /// It is not what was written.
    pub fn damaged(stream: StreamId, seq: Seq, what: impl Into<Cow<'static, str>>) -> Self {
        Self { stream, seq, cause: FenceCause::Damaged(what.into()) }
    }

    /// A newer version of the program wrote it.
    pub fn newer(stream: StreamId, seq: Seq) -> Self {
        Self { stream, seq, cause: FenceCause::Newer }
    }

    /// Nothing is wrong with it but that this program does not know it.
    pub fn is_newer(&self) -> bool {
        self.cause == FenceCause::Newer
    }
}

/// Why nothing could be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The next entry can not be read.
    #[error(transparent)]
    Fenced(Fence),
    /// The storage did not answer.
    #[error("could not read from the store")]
    Storage(#[source] StorageError),
    /// The store is closing.
    #[error("the store is closed")]
    Closed,
}

/// Waits until the last position of a store is after another one.
pub(crate) async fn wait_after(last: &watch::Sender<Position>, after: Position) -> Position {
    let mut last = last.subscribe();
    // The store holds the other side, and whoever waits holds the store.
    last.wait_for(|last| *last > after).await.map_or(after, |last| *last)
}
