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
    /// How often it could not be emptied since, and how many commits are let by before the next try.
    tries: u32,
    commits_to_wait: u32,
}

/// So often the write-ahead log is tried to be emptied after each commit; then after ever more of them.
const EAGER_TRIES: u32 = 8;
const MAX_COMMITS_TO_WAIT: u32 = 4096;

impl Sweep {
    /// At the start an earlier run may have left something.
    pub(super) fn new() -> Self {
        Self { awake: true, in_wal: false, tries: 0, commits_to_wait: 0 }
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

    /// Asked after each commit: whether what was swept is gone from the tables, and is now to be tried to go from the
    /// write-ahead log. A reader that stays keeps it there, and each try costs everybody who writes.
    pub(super) fn is_wal_due(&mut self) -> bool {
        if self.awake || !self.in_wal {
            return false;
        }
        let is_due = self.commits_to_wait == 0;
        self.commits_to_wait = self.commits_to_wait.saturating_sub(1);
        is_due
    }

    pub(super) fn is_gone_from_wal(&mut self) {
        (self.in_wal, self.tries, self.commits_to_wait) = (false, 0, 0);
    }

    pub(super) fn is_still_in_wal(&mut self) {
        self.tries += 1;
        let doublings = self.tries.saturating_sub(EAGER_TRIES);
        self.commits_to_wait = match doublings {
            0 => 0,
            doublings => MAX_COMMITS_TO_WAIT.min(1 << doublings.min(31)),
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that stays for long must not have each commit try in vain.
    #[test]
    fn emptying_is_tried_less_and_less_often() {
        let mut sweep = Sweep { awake: false, in_wal: true, ..Sweep::new() };
        let tries: Vec<u32> = (0..10_000)
            .filter(|_| {
                let is_due = sweep.is_wal_due();
                if is_due {
                    sweep.is_still_in_wal();
                }
                is_due
            })
            .collect();
        assert_eq!(tries, [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 25, 42, 75, 140, 269, 526, 1039, 2064, 4113, 8210]);
        sweep.is_gone_from_wal();
        assert!(!sweep.is_wal_due());
    }
}
