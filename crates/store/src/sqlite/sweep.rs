//! Removes what purged sessions have left in the log, some at a time.
//!
//! Invariant: a purged stream is empty to every reader from its tombstone on; sweeping only gives back the space. What
//! a crash leaves is found by its mark and swept after the next start.

use rusqlite::{Connection, Error, OptionalExtension as _};

/// As many entries go in one transaction: about as long as a group of appends takes.
const AT_ONCE: i64 = 512;

/// Whether anything may be left to sweep.
pub(super) struct Sweep {
    awake: bool,
}

impl Sweep {
    /// At the start an earlier life may have left something.
    pub(super) fn new() -> Self {
        Self { awake: true }
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

    /// Removes some entries of one stream, in a transaction of its own.
    pub(super) fn some(&mut self, conn: &Connection) -> Result<(), Error> {
        let left = conn
            .prepare_cached("SELECT id FROM streams WHERE sweeping <> 0 LIMIT 1")?
            .query_row([], |row| row.get::<_, i64>(0))
            .optional()?;
        let Some(stream) = left else {
            self.awake = false;
            return Ok(());
        };
        conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let removed = conn
            .prepare_cached(
                "DELETE FROM entries
                 WHERE position IN (SELECT position FROM entries WHERE stream = ?1 LIMIT ?2)",
            )?
            .execute([stream, AT_ONCE])?;
        if removed == 0 {
            conn.prepare_cached("UPDATE streams SET sweeping = 0 WHERE id = ?1")?.execute([stream])?;
        }
        conn.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}
