//! The one thread that writes.
//!
//! Invariant: a write is answered after its commit was flushed, never before. The writer takes what is
//! queued, up to a bound, and never waits for more: one transaction, one flush, then all answers. Batches of one
//! transaction see each other in the order they came. A batch that does not fit is refused before any of it is written; neither
//! that nor damage where it belongs affects its neighbours. When a write fails for another reason, this process writes nothing
//! more: a flush that failed cannot be trusted to succeed later. A purged session's entries are removed some at a time between
//! the transactions, so that a long one holds nobody up.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use model::{EVENT_VERSION, Position, Seq, SessionId, StreamId, Timestamp};
use rusqlite::{Connection, Error, params};
use tokio::sync::{mpsc, watch};

use crate::sqlite::checkpoint::{self, Health};
use crate::sqlite::checksums::STREAMS;
use crate::sqlite::fences::{self, Fences};
use crate::sqlite::heads::{Heads, Known};
use crate::sqlite::jobs::{AppendFailure, Cause, EncodedBatch, Job, Write, WriteResult, answer_all, refuse_all};
use crate::sqlite::meta::Todo;
use crate::sqlite::outside::rebuild;
use crate::sqlite::reserve::Reserve;
use crate::sqlite::rows::sql_seq;
use crate::sqlite::sweep::Sweep;
use crate::sqlite::trouble::Trouble;
use crate::sqlite::{apply, mend, queries};
use crate::{AppendError, Room};

/// As many writes may wait before asking itself waits.
pub(super) const QUEUE: usize = 1024;

/// A transaction takes no more than this, unless one batch alone is larger.
pub(super) const MAX_GROUP_ENTRIES: usize = 512;
const MAX_GROUP_BYTES: usize = 1 << 20;

/// So many writes in a row that meet damage are not a session's: the store itself can not be written.
const MAX_DAMAGED_IN_A_ROW: u32 = 8;

/// How often to look at the write-ahead log's length: a look costs as much as a small write.
const COMMITS_BETWEEN_LOOKS: u32 = if cfg!(test) { 1 } else { 64 };
const BYTES_BETWEEN_LOOKS: usize = 4 << 20;

pub(super) struct Writer {
    pub(super) conn: Connection,
    /// What may be damaged is read by it: see `mend/pages.rs`.
    pub(super) look: Connection,
    pub(super) health: Arc<Health>,
    pub(super) fences: Arc<Fences>,
    pub(super) reserve: Reserve,
    pub(super) checkpoints: SyncSender<()>,
    pub(super) heads: Heads,
    pub(super) sweep: Sweep,
    pub(super) last_position: u64,
    /// Where others see it once it is durable.
    pub(super) published_position: watch::Sender<Position>,
    pub(super) since_look: SinceLook,
    pub(super) damaged_in_a_row: u32,
    /// The transaction that runs is at its commit.
    pub(super) is_committing: bool,
}

/// What was written since the write-ahead log was last looked at.
#[derive(Default)]
pub(super) struct SinceLook {
    commits: u32,
    bytes: usize,
}

impl Writer {
    /// Writes until every sender is gone and everything that was queued is written.
    pub(super) fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut first = None;
        while let Some(job) = first.take().or_else(|| self.next(&mut jobs)) {
            let (mut entries, mut bytes) = job.write.size();
            self.since_look.bytes += bytes;
            let mut group = vec![job];
            while let Ok(job) = jobs.try_recv() {
                let (more_entries, more_bytes) = job.write.size();
                (entries, bytes) = (entries + more_entries, bytes + more_bytes);
                if entries > MAX_GROUP_ENTRIES || bytes > MAX_GROUP_BYTES {
                    first = Some(job);
                    break;
                }
                self.since_look.bytes += more_bytes;
                group.push(job);
            }
            self.commit(group);
            self.look_after_wal();
            self.empty_wal_of_swept();
            self.sweep_some();
        }
    }

    /// The next job; while none waits, what is to be swept is.
    fn next(&mut self, jobs: &mut mpsc::Receiver<Job>) -> Option<Job> {
        while !self.sweep.is_done() {
            match jobs.try_recv() {
                Ok(job) => return Some(job),
                Err(mpsc::error::TryRecvError::Disconnected) => return None,
                Err(mpsc::error::TryRecvError::Empty) => self.sweep_some(),
            }
        }
        jobs.blocking_recv()
    }

    fn sweep_some(&mut self) {
        if self.sweep.is_done() || self.health.failure().is_some() {
            self.sweep.rest();
            return;
        }
        if let Err(err) = self.sweep.some(&self.conn) {
            // Nobody waits for it: what is left is swept when the store is next opened.
            self.sweep.rest();
            self.give_up(err);
        }
        self.look_after_wal();
        self.empty_wal_of_swept();
    }

    /// Copies and empties the write-ahead log once it holds what was swept. While somebody reads from it or copies it, that
    /// waits for a later write, or for the end.
    fn empty_wal_of_swept(&mut self) {
        if self.sweep.is_wal_due() {
            match checkpoint::empty(&self.conn, &self.health) {
                true => self.sweep.is_gone_from_wal(),
                false => self.sweep.is_still_in_wal(),
            }
        }
    }

    fn commit(&mut self, group: Vec<Job>) {
        let mut group = self.admit(group);
        if group.is_empty() {
            return;
        }
        let failure = match self.try_write(&mut group) {
            Ok(answers) => return answer_all(group, answers),
            Err(failure) => failure,
        };
        match failure.kind {
            Trouble::Full => {
                self.reserve.release();
                let mut last_words = refuse_ordinary(group, &failure);
                if !last_words.is_empty() {
                    match self.try_write(&mut last_words) {
                        Ok(answers) => answer_all(last_words, answers),
                        Err(failure) => refuse_all(last_words, &failure),
                    }
                }
            }
            Trouble::Damaged if group.len() > 1 => group.into_iter().for_each(|job| self.commit(vec![job])),
            Trouble::Damaged => self.refuse_damaged(group, &failure),
            Trouble::Busy | Trouble::Unknown => refuse_all(group, &failure),
        }
    }

    /// The database is damaged where this write has to go: its session takes no more, and the others do not notice.
    fn refuse_damaged(&self, group: Vec<Job>, failure: &AppendFailure) {
        for job in group {
            match job.write.fence() {
                Some(fence) => {
                    self.fences.put(&fence);
                    let _nobody_waits = job.answer.send(Err(AppendError::Fenced(fence)));
                }
                None => refuse_all(vec![job], failure),
            }
        }
    }

    /// Refuses what must not be written while the reserve is in use.
    fn admit(&mut self, group: Vec<Job>) -> Vec<Job> {
        match self.reserve.hold() {
            Ok(()) => group,
            Err(err) => refuse_ordinary(group, &AppendFailure { kind: Trouble::Full, cause: Arc::new(err) }),
        }
    }

    fn try_write(&mut self, group: &mut [Job]) -> Result<Vec<WriteResult>, AppendFailure> {
        match self.health.failure() {
            Some(cause) => Err(AppendFailure { kind: Trouble::Unknown, cause: Arc::clone(cause) }),
            None => self.write(group).map_err(|err| self.give_up(err)),
        }
    }

    fn write(&mut self, group: &mut [Job]) -> Result<Vec<WriteResult>, Error> {
        self.conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let before = self.last_position;
        let answers = group.iter_mut().map(|job| self.write_one(&mut job.write)).collect::<Result<_, _>>();
        let answers: Vec<WriteResult> = answers.inspect_err(|_| self.last_position = before)?;
        self.is_committing = true;
        commit(&self.conn).inspect_err(|_| self.last_position = before)?;
        (self.is_committing, self.damaged_in_a_row) = (false, 0);
        if self.last_position > before {
            self.published_position.send_replace(Position(self.last_position));
        }
        for (job, answer) in group.iter().zip(&answers) {
            if let (Write::Purge { session, .. }, Ok(_)) = (&job.write, answer) {
                self.fences.remove(StreamId::Session(*session));
                self.sweep.wake();
            }
        }
        Ok(answers)
    }

    /// Takes back what the failed transaction did, and says what it means for the store.
    fn give_up(&mut self, err: Error) -> AppendFailure {
        self.heads.forget_all();
        let rollback = match self.conn.is_autocommit() {
            true => Ok(()),
            false => self.conn.execute_batch("ROLLBACK"),
        };
        // What fails at its commit may be on the disk all the same.
        let is_committing = std::mem::take(&mut self.is_committing);
        let mut kind = if is_committing { Trouble::of_commit(&err) } else { Trouble::of(&err) };
        let cause: Cause = Arc::new(err);
        match (rollback, kind) {
            (Err(rollback), _) => {
                self.health.fail(Arc::new(rollback));
                kind = Trouble::Unknown;
            }
            (Ok(()), Trouble::Damaged) if self.damaged_in_a_row < MAX_DAMAGED_IN_A_ROW => {
                self.damaged_in_a_row += 1;
                tracing::error!(error = %cause, "the database is damaged where something is to be written; run `throughline doctor`");
            }
            (Ok(()), Trouble::Full) => tracing::warn!(error = %cause, "no space left to write"),
            (Ok(()), Trouble::Busy) => {
                tracing::warn!(error = %cause, "another program keeps the store from being written");
            }
            (Ok(()), Trouble::Damaged | Trouble::Unknown) => {
                self.health.fail(Arc::clone(&cause));
                kind = Trouble::Unknown;
            }
        }
        AppendFailure { kind, cause }
    }

    fn write_one(&mut self, write: &mut Write) -> Result<WriteResult, Error> {
        fail::fail_point!("store-write", |_| {
            Err(Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT), None))
        });
        match write {
            Write::Append(batch) => {
                return match self.check(batch)? {
                    Ok(()) => self.append(batch).map(Ok),
                    Err(refusal) => Ok(Err(refusal)),
                };
            }
            Write::Purge { session, after, at } => return self.purge(*session, *after, *at),
            Write::ForgetReceipts { before } => apply::forget_receipts(&self.conn, *before)?,
            Write::Fence(fence) => fences::write(&self.conn, fence)?,
            Write::MendStreams => {
                mend::mend_streams(&self.conn, &self.look)?;
                self.heads.forget_all();
                self.fences.take_over(&self.conn)?;
            }
            Write::RemoveRows(removal) => removal.carry_out(&self.conn, &self.look)?,
            Write::ReplaceRows(walk) => {
                if let Some(fence) = rebuild::replace_rows(&self.conn, &self.look, walk)? {
                    self.fences.put(&fence);
                }
            }
            Write::NoteIndexDamage => Todo::Reindex.note(&self.conn)?,
            #[cfg(test)]
            Write::Look(look) => {
                self.conn.execute_batch("COMMIT")?;
                look.take().unwrap()(&self.conn);
                self.conn.execute_batch("BEGIN IMMEDIATE")?;
            }
        }
        Ok(Ok(Position(self.last_position)))
    }

    /// Whether the whole batch can be written, before any of it is. A repeat is recognised first: the streams have moved on
    /// since, by the very entries that the first try wrote.
    fn check(&mut self, batch: &EncodedBatch) -> Result<Result<(), AppendError>, Error> {
        if let Some(receipt) = &batch.receipt
            && let Some(first) = queries::find_receipt(&self.conn, &receipt.principal, &receipt.key)?
        {
            return Ok(Err(AppendError::Repeated(Box::new(first))));
        }
        for (n, part) in batch.parts.iter().enumerate() {
            let stream = part.stream;
            if let Some(fence) = self.fences.find(stream) {
                return Ok(Err(AppendError::Fenced(fence)));
            }
            // A second part of the same stream goes on where the first one will end.
            let earlier = batch.parts[..n].iter().rfind(|earlier| earlier.stream == stream);
            let head = match (earlier, self.heads.find(&self.conn, stream)?) {
                (_, Some(Known { purged: true, .. })) => return Ok(Err(AppendError::Purged(stream))),
                (Some(earlier), _) => earlier.entries.last().map_or(earlier.after, |entry| entry.seq),
                (None, Some(known)) => known.head,
                (None, None) => Seq::START,
            };
            let seqs = std::iter::successors(Some(part.after.next()), |seq| Some(seq.next()));
            let gapless = part.entries.iter().map(|entry| entry.seq).eq(seqs.take(part.entries.len()));
            if part.after != head || !gapless {
                return Ok(Err(AppendError::Conflict { stream, expected: part.after, head }));
            }
        }
        Ok(Ok(()))
    }

    fn append(&mut self, batch: &EncodedBatch) -> Result<Position, Error> {
        for part in &batch.parts {
            if let Some(last) = part.entries.last() {
                let stream = self.heads.find_or_create(&self.conn, part.stream)?;
                let mut insert = self.conn.prepare_cached(
                    "INSERT INTO entries (position, stream, seq, at, version, checksum, event)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?;
                for entry in &part.entries {
                    self.last_position += 1;
                    insert.execute(params![
                        self.last_position.cast_signed(),
                        stream,
                        sql_seq(entry.seq),
                        entry.at.as_millis(),
                        EVENT_VERSION,
                        entry.checksum,
                        entry.event,
                    ])?;
                }
                self.heads.advance(part.stream, last.seq);
            }
            for row in &part.rows {
                apply::apply(&self.conn, row)?;
            }
        }
        if let Some(receipt) = &batch.receipt {
            apply::put_receipt(&self.conn, receipt, batch.session_of(receipt))?;
        }
        Ok(Position(self.last_position))
    }

    fn purge(&mut self, session: SessionId, after: Seq, at: Timestamp) -> Result<WriteResult, Error> {
        let stream = StreamId::Session(session);
        let head = match self.heads.find(&self.conn, stream)? {
            Some(Known { purged: true, .. }) => return Ok(Ok(Position(self.last_position))),
            Some(known) => known.head,
            None => Seq::START,
        };
        // A damaged stream takes no more, so nothing can have come between: what its readers see as its end will do.
        if head != after && self.fences.find(stream).is_none() {
            return Ok(Err(AppendError::Conflict { stream, expected: after, head }));
        }
        let id = self.heads.find_or_create(&self.conn, stream)?;
        apply::remove_session(&self.conn, session)?;
        apply::forget_receipts_of(&self.conn, session)?;
        let set = "purged_at = ?2, sweeping = 1, damaged_seq = NULL, damage = NULL";
        STREAMS.update(&self.conn, set, "id = ?1", &[&id], &[&at.as_millis()])?;
        self.conn
            .prepare_cached(
                "INSERT INTO meta (key, value)
                 VALUES ('position_floor', ?1)
                 ON CONFLICT DO UPDATE SET value = excluded.value",
            )?
            .execute([self.last_position.cast_signed()])?;
        self.heads.purge(stream);
        Ok(Ok(Position(self.last_position)))
    }

    /// Has the write-ahead log copied once it is long enough; the copying is another thread's.
    fn look_after_wal(&mut self) {
        checkpoint::catch_up(&self.conn, &self.health);
        self.since_look.commits += 1;
        if self.since_look.commits < COMMITS_BETWEEN_LOOKS && self.since_look.bytes < BYTES_BETWEEN_LOOKS {
            return;
        }
        self.since_look = SinceLook::default();
        match checkpoint::waiting_pages(&self.conn) {
            Ok(pages) if pages >= checkpoint::CHECKPOINT_PAGES => {
                // A full channel means that one is asked for already.
                let _asked_already = self.checkpoints.try_send(());
            }
            Ok(_) => (),
            Err(err) => tracing::warn!(error = %err, "could not see how long the write-ahead log is"),
        }
    }
}

/// Refuses what may not use the reserve; gives the rest.
fn refuse_ordinary(group: Vec<Job>, failure: &AppendFailure) -> Vec<Job> {
    let (last_words, ordinary): (Vec<_>, Vec<_>) =
        group.into_iter().partition(|job| job.write.room() == Room::Reserved);
    refuse_all(ordinary, failure);
    last_words
}

/// The commit and its flush. A name of its own, since this is where a disk fails.
fn commit(conn: &Connection) -> Result<(), Error> {
    // Tests name the extended code that SQLite would give.
    fail::fail_point!("store-commit", |code| {
        let code = code.and_then(|code| code.parse().ok()).unwrap_or(rusqlite::ffi::SQLITE_IOERR_FSYNC);
        Err(Error::SqliteFailure(rusqlite::ffi::Error::new(code), None))
    });
    conn.prepare_cached("COMMIT")?.execute([])?;
    // Durable, and nobody knows yet.
    fail::fail_point!("store-committed");
    Ok(())
}
