//! Removes what purged sessions have left in the log, some at a time.
//!
//! Invariant: a purged stream is empty to every reader from its tombstone on; sweeping takes its words out of the files. What
//! a crash leaves is found by its mark and swept after the next start.

use rusqlite::{Connection, Error, OptionalExtension as _};

use crate::sqlite::checksums::STREAMS;

/// As many entries go in one transaction: about as long as a group of appends takes.
const AT_ONCE: i64 = 512;

/// Whether anything may be left to sweep.
pub(super) struct Sweep {
    awake: bool,
    /// The write-ahead log still has pages with what was swept.
    in_wal: bool,
}

impl Sweep {
    /// At the start an earlier life may have left something.
    pub(super) fn new() -> Self {
        Self { awake: true, in_wal: false }
    }

    /// A session was purged.
    pub(super) fn wake(&mut self) {
        self.awake = true;
    }

    /// Nothing is left, or what is left waits for the next purge or the next start.
    pub(super) fn is_done(&self) -> bool {
        !self.awake
    }

    pub(super) fn rest(&mut self) {
        self.awake = false;
    }

    /// What was swept is gone from the tables, and is now to go from the write-ahead log.
    pub(super) fn is_left_in_wal(&self) -> bool {
        !self.awake && self.in_wal
    }

    pub(super) fn is_gone_from_wal(&mut self) {
        self.in_wal = false;
    }

    /// Removes some entries of one stream, in a transaction of its own.
    pub(super) fn some(&mut self, conn: &Connection) -> Result<(), Error> {
        let left = conn.prepare_cached(&to_sweep())?.query_row([], |row| row.get::<_, i64>(0)).optional()?;
        let Some(stream) = left else {
            self.awake = false;
            return Ok(());
        };
        self.in_wal = true;
        conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let removed = conn
            .prepare_cached(
                "DELETE FROM entries
                 WHERE position IN (SELECT position FROM entries WHERE stream = ?1 LIMIT ?2)",
            )?
            .execute([stream, AT_ONCE])?;
        if removed == 0 {
            STREAMS.update(conn, "sweeping = 0", "id = ?1", &[&stream], &[])?;
        }
        conn.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}

/// One flipped bit must not take a stream away that nobody has purged.
fn to_sweep() -> String {
    let whole = STREAMS.is_whole(i64::MAX);
    format!("SELECT id FROM streams WHERE sweeping <> 0 AND purged_at IS NOT NULL AND {whole} LIMIT 1")
}
