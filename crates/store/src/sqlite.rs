//! The embedded store: one SQLite file, one thread that writes, a few that read, one that checkpoints.
//!
//! Invariant: callers never block the runtime and never meet SQL; they hand a job to a thread and await its answer.
//! A future that is dropped takes nothing back: a write that was handed over is carried out.

mod apply;
mod changes;
mod checkpoint;
mod checksums;
mod fences;
mod functions;
mod heads;
mod interrupted_restore;
mod jobs;
mod mend;
mod meta;
mod open;
pub mod outside;
mod queries;
mod readers;
mod reserve;
mod rows;
mod sweep;
mod tables;
#[cfg(test)]
mod tests;
mod trouble;
mod writer;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use async_trait::async_trait;
use model::{Entry, Event, Incarnation, Position, Seq, SessionId, StreamId, Timestamp};
use rusqlite::Connection;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

use crate::files::beside;
use crate::log::wait_after;
use crate::sqlite::checkpoint::{Health, Panicked};
use crate::sqlite::checksums::DamagedRow;
use crate::sqlite::fences::Fences;
use crate::sqlite::heads::Heads;
use crate::sqlite::jobs::{Job, Write};
use crate::sqlite::mend::running::chain;
use crate::sqlite::readers::ReadJob;
use crate::sqlite::reserve::Reserve;
use crate::sqlite::sweep::Sweep;
use crate::sqlite::writer::{SinceLook, Writer};
use crate::{Append, AppendError, Batch, Changes, Fence, Head, Log, PlacedEntry, ReadError, StorageError};

pub use open::OpenError;
#[cfg(any(test, feature = "conformance"))]
pub(crate) use rows::checksum;

/// How much space the server sets aside, so that the end of what runs can be written down on a full disk.
pub const RESERVE_BYTES: u64 = 64 << 20;

/// A store in one SQLite file. It is this process's alone from [`SqliteStore::open`] to [`SqliteStore::close`].
pub struct SqliteStore {
    incarnation: Incarnation,
    health: Arc<Health>,
    fences: Arc<Fences>,
    /// How far the log goes.
    last_position: watch::Sender<Position>,
    /// One at a time makes damaged rows anew.
    mending: Semaphore,
    running: Mutex<Option<Running>>,
}

/// What there is between opening and closing.
struct Running {
    writes: mpsc::Sender<Job>,
    questions: mpsc::Sender<ReadJob>,
    writer: JoinHandle<Option<()>>,
    readers: Vec<JoinHandle<()>>,
    checkpointer: JoinHandle<Option<Connection>>,
    health: Arc<Health>,
    lock: open::StoreLock,
}

impl SqliteStore {
    /// Opens the store at `path`, or makes it with `new_incarnation`. Blocks while it brings the file up to date.
    pub fn open(path: &Path, new_incarnation: Incarnation) -> Result<Self, OpenError> {
        Self::open_reserving(path, new_incarnation, 0)
    }

    /// The same, with so much space set aside beside it: see [`Room`](crate::Room).
    pub fn open_reserving(path: &Path, new_incarnation: Incarnation, reserve_bytes: u64) -> Result<Self, OpenError> {
        let mut opened = open::open(path, new_incarnation)?;
        opened.mend()?;
        let threads = |source| OpenError::Io { path: opened.path.clone(), source };
        let count = thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        let readers = (0..count).map(|_| open::connect_reader(&opened.path)).collect::<Result<_, _>>()?;
        let checkpointer = open::connect_checkpointer(&opened.path)?;
        let look = open::connect_reader(&opened.path)?;

        let health = Arc::new(Health::default());
        let (ask_checkpoint, wanted) = std::sync::mpsc::sync_channel(1);
        let checkpointer = thread::Builder::new()
            .name("store-checkpoint".to_owned())
            .spawn({
                let health = Arc::clone(&health);
                move || health.watch("checkpointer", || checkpoint::run(checkpointer, &wanted, &health))
            })
            .map_err(threads)?;
        let (writes, jobs) = mpsc::channel(writer::QUEUE);
        let fences = Arc::new(opened.fences);
        let last_position = watch::Sender::new(Position(opened.last_position));
        let writer = Writer {
            conn: opened.writer,
            look,
            health: Arc::clone(&health),
            fences: Arc::clone(&fences),
            reserve: Reserve::new(beside(&opened.path, ".reserve"), reserve_bytes),
            checkpoints: ask_checkpoint,
            heads: Heads::default(),
            sweep: Sweep::new(),
            last_position: opened.last_position,
            published_position: last_position.clone(),
            since_look: SinceLook::default(),
            damaged_in_a_row: 0,
            is_committing: false,
        };
        let watched = Arc::clone(&health);
        let write = move || watched.watch("writer", || writer.run(jobs));
        let writer = thread::Builder::new().name("store-writer".to_owned()).spawn(write).map_err(threads)?;
        let (questions, readers) = readers::start(readers).map_err(threads)?;

        let lock = opened.lock;
        let running = Running { writes, questions, writer, readers, checkpointer, health: Arc::clone(&health), lock };
        Ok(Self {
            incarnation: opened.incarnation,
            health,
            fences,
            last_position,
            mending: Semaphore::new(1),
            running: Mutex::new(Some(running)),
        })
    }

    /// Gives the store at `path`, which nobody has open, another incarnation, because it is at an older state than its followers
    /// may have seen.
    pub fn renew(path: &Path, incarnation: Incarnation) -> Result<(), OpenError> {
        let opened = open::open(path, incarnation)?;
        let storage = |err: rusqlite::Error| OpenError::Storage { path: opened.path.clone(), source: err.into() };
        meta::give_incarnation(&opened.writer, incarnation).map_err(storage)
    }

    /// Carries out what is queued, leaves the store as one file and lets go of it. What is asked later is answered
    /// with `Closed`. Dropping the store does the same, but blocks.
    pub async fn close(&self) {
        let Some(running) = self.take_running() else { return };
        if let Err(err) = tokio::task::spawn_blocking(move || running.stop()).await {
            tracing::error!(error = %err, "the store did not close cleanly");
        }
    }

    /// Waits until the store has given up writing, and says why. That is for good: only opening it again may mend it.
    pub async fn failed(&self) -> StorageError {
        StorageError(Box::new(Arc::clone(self.health.failed().await)))
    }

    fn take_running(&self) -> Option<Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// A way to one of the threads. It is not kept while an answer is awaited, since closing waits until it is gone.
    fn way_to<T>(&self, thread: fn(&Running) -> &mpsc::Sender<T>) -> Option<mpsc::Sender<T>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|running| thread(running).clone())
    }

    /// Puts up a fence where damage was met, so that nothing is written behind it.
    async fn put_fence(&self, fence: &Fence) {
        if !self.fences.put(fence) {
            return;
        }
        if let Err(err) = self.write(Write::Fence(fence.clone())).await {
            tracing::warn!(error = chain(&err), "the damage could not be noted; it will be found again");
        }
    }

    async fn write(&self, write: Write) -> Result<Position, AppendError> {
        let (answer, answered) = oneshot::channel();
        let writes = self.way_to(|running| &running.writes).ok_or(AppendError::Closed)?;
        let sent = writes.send(Job { write, answer }).await;
        drop(writes);
        match (sent, answered.await) {
            (Ok(()), Ok(answer)) => answer,
            // It answers all that reaches it before it ends, unless it panics: then it is about to say so.
            (Ok(()) | Err(_), _) => Err(AppendError::Failed(self.failed().await)),
        }
    }

    /// Asks, and once more if a row beside the log was damaged and could be set right.
    async fn ask<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, ReadError> + Clone + Send + 'static,
    ) -> Result<T, ReadError> {
        let seen = self.health.mends();
        match self.ask_once(query.clone()).await {
            Err(err) if mend::may_be_row_damage(&err) => {
                tracing::warn!(error = chain(&err), "something beside the log cannot be read");
                self.mend_rows(None, seen).await;
                self.ask_once(query).await
            }
            answered => answered,
        }
    }

    /// Asks for a list of what belongs to many sessions: a row that can not be made anew takes the others with it no longer.
    async fn ask_list<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection, DamagedRow) -> Result<T, ReadError> + Clone + Send + 'static,
    ) -> Result<T, ReadError> {
        let refusing = query.clone();
        match self.ask(move |conn| refusing(conn, DamagedRow::Refuse)).await {
            Err(err) if mend::may_be_row_damage(&err) => {
                if self.health.is_first_left_out() {
                    tracing::error!(
                        error = chain(&err),
                        "a row beside the log is damaged and can not be made anew; lists are without it until the server is started again"
                    );
                }
                self.ask_once(move |conn| query(conn, DamagedRow::LeaveOut)).await
            }
            answered => answered,
        }
    }

    /// Whether the log has a session of which there is no row, though nothing is known to be wrong with it.
    async fn has_lost_row(&self, id: SessionId) -> Result<bool, ReadError> {
        let stream = StreamId::Session(id);
        let head = self.ask(move |conn| Ok(queries::head(conn, stream, None)?)).await?;
        let has_entries = match head {
            Head::At(head) => head > Seq::START,
            Head::Purged => false,
        };
        Ok(has_entries && self.fences.find(stream).is_none())
    }

    async fn ask_once<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<T, ReadError> {
        let (answer, answered) = oneshot::channel();
        let question: ReadJob = Box::new(move |conn| {
            if !answer.is_closed() {
                let _nobody_waits = answer.send(in_one_moment(conn, query));
            }
        });
        let questions = self.way_to(|running| &running.questions).ok_or(ReadError::Closed)?;
        questions.send(question).await.map_err(|_| ReadError::Closed)?;
        drop(questions);
        // Every question is answered but one that panics.
        answered.await.map_err(|_| ReadError::Storage(StorageError(Box::new(Panicked { thread: "reader" }))))?
    }
}

/// A name of its own, since this is where tests let a question panic.
fn in_one_moment<T>(
    conn: &Connection,
    query: impl FnOnce(&Connection) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    let moment = conn.unchecked_transaction()?;
    fail::fail_point!("store-read");
    let found = query(&moment)?;
    moment.finish()?;
    Ok(found)
}

impl Running {
    /// The threads end when nobody can ask them any more; the last checkpoint comes after the last reader.
    fn stop(self) {
        drop((self.writes, self.questions));
        let mut clean = matches!(self.writer.join(), Ok(Some(())));
        for reader in self.readers {
            clean &= reader.join().is_ok();
        }
        match self.checkpointer.join() {
            Ok(Some(conn)) => checkpoint::finish(&conn, &self.health),
            Ok(None) | Err(_) => clean = false,
        }
        if !clean {
            tracing::error!("a thread of the store panicked");
        }
        // Only now may another process have the store.
        drop(self.lock);
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        if let Some(running) = self.take_running() {
            running.stop();
        }
    }
}

#[async_trait]
impl Log for SqliteStore {
    fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    fn last_position(&self) -> Position {
        *self.last_position.borrow()
    }

    async fn wait_after(&self, after: Position) -> Position {
        wait_after(&self.last_position, after).await
    }

    async fn read(&self, stream: StreamId, after: Seq, limit: usize) -> Result<Vec<Entry<Event>>, ReadError> {
        let fence = self.fences.find(stream);
        let is_known = fence.is_some();
        let mut seen = self.health.mends();
        let query = move |conn: &Connection| queries::entries(conn, stream, after, limit, fence);
        let mut found = self.ask(query.clone()).await?;
        while !is_known && let Some(fence) = found.fence.take() {
            found.fence = self.settle(fence, seen).await?;
            if found.fence.is_some() {
                break;
            }
            seen = self.health.mends();
            found = self.ask(query.clone()).await?;
        }
        if let Some(fence) = found.fence
            && found.what.is_empty()
        {
            return Err(ReadError::Fenced(fence));
        }
        Ok(found.what)
    }

    async fn read_all(&self, after: Position, limit: usize) -> Result<Vec<PlacedEntry>, ReadError> {
        let mut seen = self.health.mends();
        loop {
            let fences = Arc::clone(&self.fences);
            let (page, damages) =
                self.ask(move |conn| queries::all_entries(conn, after, limit, |stream| fences.find(stream))).await?;
            let mut is_page_whole = true;
            for damage in damages {
                is_page_whole &= self.settle(damage, seen).await?.is_some();
            }
            if is_page_whole {
                return Ok(page);
            }
            seen = self.health.mends();
        }
    }

    async fn changed_since(&self, after: Position, limit: usize) -> Result<Changes, ReadError> {
        self.ask(move |conn| changes::since(conn, after, limit)).await
    }

    async fn head(&self, stream: StreamId) -> Result<Head, ReadError> {
        let fence = self.fences.find(stream);
        self.ask(move |conn| Ok(queries::head(conn, stream, fence.as_ref())?)).await
    }

    fn fence(&self, session: SessionId) -> Option<Fence> {
        self.fences.find(StreamId::Session(session))
    }
}

#[async_trait]
impl Append for SqliteStore {
    async fn append(&self, batch: Batch) -> Result<Position, AppendError> {
        self.write(Write::Append(batch.into())).await
    }

    async fn purge(&self, session: SessionId, after: Seq, at: Timestamp) -> Result<(), AppendError> {
        self.write(Write::Purge { session, after, at }).await.map(|_| ())
    }

    async fn forget_receipts(&self, before: Timestamp) -> Result<(), AppendError> {
        self.write(Write::ForgetReceipts { before }).await.map(|_| ())
    }
}
