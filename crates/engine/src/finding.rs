//! Finds words: in all sessions with an index, in one session by scanning its entries.
//!
//! Invariant: the index follows the log and may be lost at any time. What it does not hold yet is kept beside it as the
//! tail and looked through, so whatever is durable is found; what was deleted is not.

mod bad_entries;
mod everywhere;
mod feeder;
mod follower;
mod inside;
mod tags;
mod unindexed;
mod works;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use model::{Position, SessionId, Timestamp};
use search::{Index, Piece, Pieces, SearchError, SessionAttributes};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use crate::QueryError;
use crate::error::with_cause;

pub use everywhere::{FoundTurn, SearchAnswer, SearchParams};
pub(crate) use follower::run;
pub use inside::FoundInside;
pub use search::{Count, PieceRole, Snippet, Within};
pub use unindexed::entries_set_aside;

/// How long a search waits for the index to be opened.
const OPENING_LIMIT: Duration = Duration::from_secs(3);

/// What the engine knows of the index.
#[derive(Default)]
pub(crate) struct Finding {
    folder: Option<PathBuf>,
    /// None while it is opened, and when a search could not read it: then the follower opens it again.
    index: watch::Sender<Option<Arc<Index>>>,
    tail: RwLock<Tail>,
    /// Why it can not be opened, since the last time that was tried.
    failure: Mutex<Option<SearchFailure>>,
    /// Sessions that were purged, for the follower to remove.
    purged: Mutex<Vec<SessionId>>,
    /// The follower has something to do though nothing was written.
    nudged: Notify,
    /// Up to where the log has been folded into index and tail.
    folded: watch::Sender<Position>,
    /// Ends the gathering at once: somebody searches, or something else can not wait.
    hurry: Notify,
    /// What is in the log and not found.
    set_aside: unindexed::Unindexed,
}

/// Why sessions can not be searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchFailure {
    /// In full, with the path that it is about.
    pub reason: String,
    /// In a few words that anybody may read.
    pub in_short: String,
}

impl SearchFailure {
    fn of(err: &SearchError) -> Self {
        let in_short = match err {
            SearchError::Folder { source, .. } => format!("its folder can not be used: {}", source.kind()),
            SearchError::Disk(source) => format!("it can not be read or written: {}", source.kind()),
            SearchError::Locked => "another process writes it".to_owned(),
            SearchError::Damaged { .. } | SearchError::Unwritten => "it is damaged".to_owned(),
        };
        Self { reason: with_cause(err), in_short }
    }
}

/// A piece with what its session was like.
struct TailPiece {
    piece: Piece,
    about: Arc<SessionAttributes>,
}

/// What the index does not hold yet.
#[derive(Default)]
struct Tail {
    pieces: Vec<Arc<TailPiece>>,
    bytes: usize,
    /// Those that a commit is putting there.
    committing: Vec<Arc<TailPiece>>,
    /// Turns that run.
    open: HashMap<SessionId, Open>,
}

/// A turn that runs, as far as it has come.
struct Open {
    pieces: Pieces,
    about: Arc<SessionAttributes>,
}

/// Has the search index in this folder made anew, by the server that runs or by the next one.
pub fn want_search_rebuild(folder: &Path) -> Result<(), search::SearchError> {
    Index::want_rebuild(folder)
}

/// Why no index could be opened in this folder, as far as a look at the folder shows it.
pub fn search_folder_failure(folder: &Path) -> Option<SearchFailure> {
    Index::check_folder(folder).err().map(|err| SearchFailure::of(&err))
}

impl Finding {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        let set_aside = unindexed::Unindexed::kept_in(folder.clone());
        Self { folder, set_aside, ..Self::default() }
    }

    /// A session is gone without a word in the log.
    pub(crate) fn note_purged(&self, session: SessionId) {
        self.set_aside.forget(session);
        self.purged.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        self.wake_follower();
    }

    fn take_purged(&self) -> Vec<SessionId> {
        std::mem::take(&mut *self.purged.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The index, for which it is waited a moment while it is opened.
    async fn index(&self) -> Result<Arc<Index>, QueryError> {
        let unavailable = || self.failure().map(|failure| QueryError::SearchUnavailable(failure.reason));
        if self.folder.is_none() {
            return Err(QueryError::SearchNotReady);
        }
        if let Some(unavailable) = unavailable() {
            return Err(unavailable);
        }
        let mut index = self.index.subscribe();
        let opened = timeout(OPENING_LIMIT, index.wait_for(Option::is_some)).await;
        let opened = opened.ok().and_then(|opened| opened.ok()?.clone());
        opened.ok_or_else(|| unavailable().unwrap_or(QueryError::SearchNotReady))
    }

    /// Why the index can not be opened, while it can not.
    pub(crate) fn failure(&self) -> Option<SearchFailure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// It was tried to open the index; whether that went otherwise than the last time.
    fn tried_to_open(&self, failure: Option<&SearchError>) -> bool {
        let failure = failure.map(SearchFailure::of);
        let mut known = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *known, failure.clone()) != failure
    }

    fn set_index(&self, index: Option<Arc<Index>>) {
        self.index.send_replace(index);
    }

    /// The index as it is now, once it has been opened.
    fn index_now(&self) -> Option<Arc<Index>> {
        self.index.borrow().clone()
    }

    /// A search could not read this index: it is opened again, unless that was done since.
    fn distrust(&self, index: &Arc<Index>) {
        if self.index.borrow().as_ref().is_some_and(|current| Arc::ptr_eq(current, index)) {
            self.set_index(None);
            self.wake_follower();
        }
    }

    fn wake_follower(&self) {
        self.nudged.notify_one();
        self.hurry.notify_one();
    }

    /// The pieces that the index does not hold yet, those of running turns too.
    fn tail_pieces(&self, now: Timestamp) -> Vec<Arc<TailPiece>> {
        let tail = self.tail.read().unwrap_or_else(PoisonError::into_inner);
        let open = tail.open.values().flat_map(|open| {
            let pieces: Vec<Piece> = open.pieces.open(now);
            pieces.into_iter().map(|piece| Arc::new(TailPiece { piece, about: Arc::clone(&open.about) }))
        });
        tail.committing.iter().chain(&tail.pieces).cloned().chain(open).collect()
    }
}
