//! The follower that keeps the readable copies up to date.
//!
//! Invariant: it is off the commit path. It waits for the log to grow and reads what is new; whatever befalls
//! it, commits go on, and it tries again from its cursor. Sessions are copied one at a time, and none while it is
//! purged, so that no folder comes back.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use model::{Position, SessionId, StreamId};
use store::copies::{CopyCursor, Depth, Phase, Touched};
use store::{Copies, CopyError, ReadError, Reader};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::sleep;

use crate::Shared;

/// How long commits are gathered, so that many share one write.
const GATHER_FOR: Duration = Duration::from_millis(250);
/// How long after a failure it is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// How long a stopping engine waits for the copies; the next start goes on where this one was.
const LAST_ROUND_LIMIT: Duration = Duration::from_secs(3);
/// How many entries are looked at before the cursor moves.
const PAGE: usize = 1_000;

/// What the engine knows of the copies.
pub(crate) struct Copying {
    copies: Copies,
    one_at_a_time: Semaphore,
    rounds: AtomicU64,
}

impl Copying {
    pub(crate) fn new(copies: Copies) -> Self {
        Self { copies, one_at_a_time: Semaphore::new(1), rounds: AtomicU64::new(0) }
    }

    pub(crate) fn rounds(&self) -> u64 {
        self.rounds.load(Ordering::Relaxed)
    }

    /// Keeps everybody else away from the copies.
    pub(crate) async fn alone(&self) -> SemaphorePermit<'_> {
        self.one_at_a_time.acquire().await.expect("it is never closed")
    }

    /// Moves a session's files out of the way before it is purged.
    pub(crate) async fn put_away(&self, id: SessionId) -> Result<(), CopyError> {
        self.copies.put_away(id).await
    }

    /// Removes the files of a session that is purged.
    pub(crate) async fn remove(&self, id: SessionId) {
        if let Err(err) = self.copies.remove(id).await {
            let error = &err as &dyn std::error::Error;
            tracing::warn!(session = %id, error, "the files of a session that is gone could not be removed; it is tried again in an hour");
        }
    }

    /// Removes or brings back what purges that were cut off have put away.
    pub(crate) async fn settle_purges(&self, store: &dyn Reader) -> Result<(), CopyError> {
        let _alone = self.alone().await;
        self.copies.settle_purges(store).await
    }

    /// Notes that a session's payloads are stored before its entries.
    pub(crate) async fn begin_arrival(&self, id: SessionId) -> Result<(), CopyError> {
        self.copies.begin_arrival(id).await
    }

    /// Forgets that; the payloads go if the log does not have the session.
    pub(crate) async fn settle_arrival(&self, store: &dyn Reader, id: SessionId) {
        if let Err(err) = self.copies.settle_arrival(store, id).await {
            let error = &err as &dyn std::error::Error;
            tracing::warn!(session = %id, error, "whether a session came in whole could not be noted; the next start looks again");
        }
    }

    /// Removes the payloads of sessions that were being taken in when the server was killed.
    pub(crate) async fn settle_arrivals(&self, store: &dyn Reader) {
        if let Err(err) = self.copies.settle_arrivals(store).await {
            let error = &err as &dyn std::error::Error;
            tracing::warn!(error, "what was being taken in could not all be removed; the next start tries again");
        }
    }

    /// Takes a session out of its piece of work that is gone for good.
    pub(crate) async fn leave_work(&self, store: &dyn Reader) {
        if let Err(err) = self.copies.update_works(store).await {
            let error = &err as &dyn std::error::Error;
            tracing::warn!(
                error,
                "the copy of the pieces of work names a session that is gone, until one of them changes"
            );
        }
    }

    /// Brings back the files of a session that was not purged after all.
    pub(crate) async fn put_back(&self, store: &dyn Reader, id: SessionId) {
        if let Err(err) = self.copies.put_back(id).await {
            let error = &err as &dyn std::error::Error;
            tracing::warn!(session = %id, error, "a session's files could not be brought back; it is tried again in an hour");
            return;
        }
        match self.copies.update(store, id, Depth::End).await {
            // The copy of a damaged session is left as it is.
            Ok(_) | Err(CopyError::Read(ReadError::Fenced(_))) => (),
            Err(err) => {
                let error = &err as &dyn std::error::Error;
                tracing::warn!(session = %id, error, "a session's copy is not up to date until the session changes again");
            }
        }
    }
}

/// Follows the log until the sessions have settled, and then for a last time.
pub(crate) async fn run(shared: Arc<Shared>) {
    let Some(copying) = &shared.copying else { return };
    let follow = CopyFollower::new(&*shared.store, copying).follow(shared.settled.cancelled());
    let too_long = async {
        shared.settled.cancelled().await;
        sleep(LAST_ROUND_LIMIT).await;
    };
    tokio::select! {
        () = follow => (),
        () = too_long => tracing::info!("the copies are not up to date yet; the next start goes on with them"),
    }
}

struct CopyFollower<'a> {
    store: &'a dyn Reader,
    copying: &'a Copying,
    /// Where it is; `None` until that is read from the disk.
    cursor: Option<CopyCursor>,
    /// What the disk says of it.
    saved: Option<CopyCursor>,
    /// What has been gone through whole, while everything is.
    gone_through: HashSet<StreamId>,
    /// What was logged already.
    warned: HashSet<StreamId>,
    failing: bool,
}

impl<'a> CopyFollower<'a> {
    fn new(store: &'a dyn Reader, copying: &'a Copying) -> Self {
        Self {
            store,
            copying,
            cursor: None,
            saved: None,
            gone_through: HashSet::new(),
            warned: HashSet::new(),
            failing: false,
        }
    }

    async fn follow(mut self, settled: impl Future<Output = ()>) {
        tokio::pin!(settled);
        loop {
            // Before the log is looked at, so that nothing falls between.
            let last = self.store.last_position();
            let caught_up = self.round().await.is_ok();
            let next = async {
                if caught_up {
                    self.store.wait_after(last).await;
                    sleep(GATHER_FOR).await;
                } else {
                    sleep(RETRY_AFTER).await;
                }
            };
            tokio::select! {
                () = &mut settled => break,
                () = next => (),
            }
        }
        if self.round().await.is_ok()
            && let Some(cursor) = self.cursor
            && let Err(err) = self.save(cursor).await
        {
            self.log_failure(&err);
        }
    }

    /// Brings everything up to date that changed; an error was logged and the round is to be tried again.
    async fn round(&mut self) -> Result<(), ()> {
        fail::fail_point!("copies-round", |_| Err(()));
        self.copying.rounds.fetch_add(1, Ordering::Relaxed);
        match self.catch_up().await {
            Ok(()) => {
                if std::mem::take(&mut self.failing) {
                    tracing::info!("the copies are written again");
                }
                Ok(())
            }
            Err(err) => {
                self.log_failure(&err);
                // What the disk says is true whatever happened.
                self.cursor = None;
                Err(())
            }
        }
    }

    fn log_failure(&mut self, err: &CopyError) {
        let closed = matches!(err, CopyError::Read(ReadError::Closed));
        if !closed && !std::mem::replace(&mut self.failing, true) {
            let error = err as &dyn std::error::Error;
            tracing::warn!(error, "the copies of sessions could not be written; commits go on, they are tried again");
        }
    }

    async fn catch_up(&mut self) -> Result<(), CopyError> {
        let mut cursor = match self.cursor {
            Some(cursor) => cursor,
            None => self.read_cursor().await?,
        };
        let mut looked_at = match cursor.phase {
            Phase::Rewriting => cursor.rewritten,
            Phase::Following | Phase::Lost => cursor.position,
        };
        let mut first_failure = None;
        loop {
            let changes = self.store.changed_since(looked_at, PAGE).await?;
            if changes.up_to < looked_at {
                return Err(self.ahead());
            }
            // Positions rise, so fewer of them hold no full page: there is nothing after it.
            let is_last = changes.up_to.0 < looked_at.0.saturating_add(PAGE as u64);
            looked_at = changes.up_to;
            let mut touched = cursor.phase == Phase::Rewriting;
            for stream in changes.streams {
                match self.copy(stream, cursor.phase).await {
                    Ok(Touched::Yes) => touched = true,
                    Ok(Touched::No) => (),
                    // The others are not to suffer for it, but the cursor stays before it.
                    Err(err) => first_failure = first_failure.or(Some(err)),
                }
            }
            if first_failure.is_none() {
                cursor.position = cursor.position.max(looked_at);
                if cursor.phase == Phase::Rewriting {
                    cursor.rewritten = looked_at;
                }
                if touched {
                    self.save(cursor).await?;
                }
            }
            if is_last {
                break;
            }
        }
        if let Some(err) = first_failure {
            return Err(err);
        }
        if cursor.phase == Phase::Rewriting {
            (cursor.phase, cursor.rewritten) = (Phase::Following, Position(0));
            self.gone_through = HashSet::new();
            self.save(cursor).await?;
        }
        self.cursor = Some(cursor);
        Ok(())
    }

    async fn read_cursor(&mut self) -> Result<CopyCursor, CopyError> {
        self.saved = self.copying.copies.cursor().await?;
        let incarnation = self.store.incarnation();
        match self.saved {
            // Whoever opened the store saw to that; what could not be read then may be readable by now.
            Some(saved) if saved.is_ahead_of(self.store) => Err(self.ahead()),
            Some(saved) if saved.incarnation == incarnation => Ok(saved),
            Some(_) | None => Ok(CopyCursor::new(incarnation)),
        }
    }

    fn ahead(&self) -> CopyError {
        CopyError::Ahead { path: self.copying.copies.path().to_owned() }
    }

    async fn save(&mut self, cursor: CopyCursor) -> Result<(), CopyError> {
        // A store without entries has nothing to say.
        if self.saved != Some(cursor) && cursor.position > Position(0) {
            self.copying.copies.move_cursor(cursor).await?;
            self.saved = Some(cursor);
        }
        Ok(())
    }

    /// Brings the copy of a session, or of the pieces of work, up to date.
    async fn copy(&mut self, stream: StreamId, phase: Phase) -> Result<Touched, CopyError> {
        let depth = match phase {
            Phase::Rewriting if self.gone_through.insert(stream) => Depth::Whole,
            Phase::Rewriting | Phase::Following | Phase::Lost => Depth::End,
        };
        let Copying { copies, .. } = self.copying;
        let alone = self.copying.alone().await;
        let copied = match stream {
            StreamId::Session(id) => copies.update(self.store, id, depth).await,
            StreamId::Work => copies.update_works(self.store).await,
            StreamId::Server => Ok(Touched::No),
        };
        drop(alone);
        match copied {
            // No later try would mend these, so they do not hold the others up.
            Err(err) if is_only_its_own(&err, stream, copies) => {
                if self.warned.insert(stream) {
                    let error = &err as &dyn std::error::Error;
                    tracing::warn!(%stream, error, "the copy is left as it is");
                }
                Ok(Touched::No)
            }
            Err(err) => {
                self.gone_through.remove(&stream);
                Err(err)
            }
            Ok(touched) => Ok(touched),
        }
    }
}

/// What is wrong with one copy alone: its log is damaged, something else lies in its place, or that is closed to us. A
/// full or failing disk is met by one session first, but is not its own.
fn is_only_its_own(err: &CopyError, stream: StreamId, copies: &Copies) -> bool {
    match (err, stream) {
        (CopyError::Foreign { path }, _) => stream == StreamId::Work || path != copies.path(),
        (CopyError::Read(ReadError::Fenced(_)), _) => true,
        (CopyError::Io { path, source }, StreamId::Session(id)) => {
            // One that is not there could not be made, and that is the fault of the folder of all.
            let own = copies.path().join(id.to_string());
            source.kind() == ErrorKind::PermissionDenied && path.starts_with(&own) && own.exists()
        }
        (CopyError::Io { .. }, StreamId::Work | StreamId::Server)
        | (CopyError::Read(ReadError::Storage(_) | ReadError::Closed) | CopyError::Ahead { .. }, _) => false,
    }
}
