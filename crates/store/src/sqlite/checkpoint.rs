//! Moves what the write-ahead log holds into the database file, away from the commits.
//!
//! Invariant: what is acknowledged stays in the write-ahead log until the database file has it for certain. After a
//! checkpoint that failed to flush nobody tries another in this process: the kernel may have dropped the pages and
//! would call a second flush a success. The next process finds the log whole and copies it again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Error};
use tokio::sync::SetOnce;

use crate::sqlite::jobs::Cause;
use crate::sqlite::open::BUSY_TIMEOUT_MS;
use crate::sqlite::trouble::Trouble;

/// As many pages wait to be copied before a checkpoint is worth its flushes: 16 MiB of 2 kB each. Tests copy all the time, so that
/// each of them tests this as well.
pub(super) const CHECKPOINT_PAGES: i64 = if cfg!(test) { 32 } else { 8192 };

/// A thread of the store is gone.
#[derive(Debug, thiserror::Error)]
#[error("the {thread} panicked")]
pub(super) struct Panicked {
    pub(super) thread: &'static str,
}

/// What the store's threads know of each other.
#[derive(Default)]
pub(super) struct Health {
    failure: SetOnce<Cause>,
    rest_is_the_writers: AtomicBool,
    mends: AtomicU32,
    has_left_out: AtomicBool,
}

impl Health {
    /// How often what is beside the log was set right.
    pub(super) fn mends(&self) -> u32 {
        self.mends.load(Ordering::Acquire)
    }

    pub(super) fn count_mend(&self) {
        self.mends.fetch_add(1, Ordering::AcqRel);
    }

    /// Whether no list was without a damaged row before.
    pub(super) fn is_first_left_out(&self) -> bool {
        !self.has_left_out.swap(true, Ordering::AcqRel)
    }

    /// Why the store takes no more writes.
    pub(super) fn failure(&self) -> Option<&Cause> {
        self.failure.get()
    }

    /// Waits until the store takes no more writes; for ever, as long as it does.
    pub(super) async fn failed(&self) -> &Cause {
        self.failure.wait().await
    }

    /// Ends writing for the life of this process. The first cause is the one that is reported.
    pub(super) fn fail(&self, cause: Cause) {
        tracing::error!(error = %cause, "the store failed to write and is read-only until it is opened again");
        let _first_wins = self.failure.set(cause);
    }

    /// Runs one of the store's threads; its panic ends writing, since nobody knows what it left half done.
    pub(super) fn watch<T>(&self, thread: &'static str, run: impl FnOnce() -> T) -> Option<T> {
        let ended = catch_unwind(AssertUnwindSafe(run));
        ended.inspect_err(|_| self.fail(Arc::new(Panicked { thread }))).ok()
    }
}

/// Copies whenever the writer asks, until the writer is gone; hands the connection back for the last checkpoint.
///
/// The write-ahead log starts over only when a write finds all of it copied, and while commits keep coming there is
/// always one that came after. So the bulk is copied here, beside the commits, and what came meanwhile is left to the
/// writer. Nothing more is copied here until it has done so: two cannot copy at once, and the second would be refused.
pub(super) fn run(conn: Connection, wanted: &Receiver<()>, health: &Health) -> Connection {
    while wanted.recv().is_ok() {
        if !health.rest_is_the_writers.load(Ordering::Acquire) {
            checkpoint(&conn, "PRAGMA wal_checkpoint(PASSIVE)", health);
            health.rest_is_the_writers.store(true, Ordering::Release);
        }
    }
    conn
}

/// Called by the writer between two transactions: what is left is little, and nothing is added meanwhile.
pub(super) fn catch_up(conn: &Connection, health: &Health) {
    if health.rest_is_the_writers.load(Ordering::Acquire) {
        checkpoint(conn, "PRAGMA wal_checkpoint(PASSIVE)", health);
        health.rest_is_the_writers.store(false, Ordering::Release);
    }
}

/// Copies everything and leaves the database as one file, once no other connection is left.
pub(super) fn finish(conn: &Connection, health: &Health) {
    let all_copied = checkpoint(conn, "PRAGMA wal_checkpoint(TRUNCATE)", health).is_some_and(|wal| !wal.busy);
    if all_copied && let Err(err) = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false) {
        tracing::debug!(error = %err, "the empty write-ahead log stays beside the store");
    }
}

/// Copies everything and leaves the write-ahead log empty, if that is possible without waiting for anybody.
pub(super) fn empty(conn: &Connection, health: &Health) -> bool {
    let patience = |milliseconds: u64| conn.busy_timeout(Duration::from_millis(milliseconds));
    if patience(0).is_err() {
        return false;
    }
    let emptied = checkpoint(conn, "PRAGMA wal_checkpoint(TRUNCATE)", health).is_some_and(|wal| !wal.busy);
    // The setting that the connection was opened with.
    patience(BUSY_TIMEOUT_MS).is_ok() && emptied
}

/// How many pages wait to be copied; copies none.
pub(super) fn waiting_pages(conn: &Connection) -> Result<i64, Error> {
    let wal = query(conn, "PRAGMA wal_checkpoint(NOOP)")?;
    Ok(wal.pages - wal.copied_pages)
}

struct Wal {
    busy: bool,
    pages: i64,
    copied_pages: i64,
}

fn checkpoint(conn: &Connection, sql: &str, health: &Health) -> Option<Wal> {
    if health.failure().is_some() {
        return None;
    }
    match query(conn, sql) {
        Ok(wal) => Some(wal),
        // Nothing is lost where it passes: the pages stay in the write-ahead log, and are copied later.
        Err(err) => {
            match Trouble::of(&err) {
                Trouble::Full => tracing::warn!(error = %err, "no space left to copy the write-ahead log"),
                Trouble::Busy => {
                    tracing::debug!(error = %err, "another program keeps the write-ahead log from being copied");
                }
                Trouble::Damaged | Trouble::Unknown => health.fail(Arc::new(err)),
            }
            None
        }
    }
}

fn query(conn: &Connection, sql: &str) -> Result<Wal, Error> {
    conn.query_row(sql, [], |row| Ok(Wal { busy: row.get(0)?, pages: row.get(1)?, copied_pages: row.get(2)? }))
}
