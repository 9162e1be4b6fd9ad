//! What the store notes about itself.
//!
//! Invariant: each of these facts is read and written in one place, so that all who ask get the same answer.

use model::{Incarnation, Position};
use rusqlite::{Connection, Result};

use crate::sqlite::outside::is_damage;

/// The last position that was ever given, also if its entry was purged since.
pub(super) fn last_position(conn: &Connection) -> Result<Position> {
    match greatest_position(conn, "entries") {
        // The log's newest page can not be read. Its index has the positions too, and is gone through whole for it.
        Err(err) if is_damage(&err) => greatest_position(conn, "entries INDEXED BY sqlite_autoindex_entries_1"),
        found => found,
    }
}

fn greatest_position(conn: &Connection, entries: &str) -> Result<Position> {
    let sql = format!(
        "SELECT MAX(
             IFNULL((SELECT MAX(position) FROM {entries}), 0),
             IFNULL((SELECT value FROM meta WHERE key = 'position_floor'), 0)
         )"
    );
    let last: i64 = conn.prepare_cached(&sql)?.query_row([], |row| row.get(0))?;
    Ok(Position(last.cast_unsigned()))
}

/// Begins another incarnation of a store that has one. Positions and seqs may be given a second time only under another
/// incarnation, so that an old cursor is recognised instead of answered with other entries.
pub(super) fn give_incarnation(conn: &Connection, incarnation: Incarnation) -> Result<()> {
    conn.execute(
        "UPDATE meta
         SET value = ?1
         WHERE key = 'incarnation'",
        [incarnation.bits().cast_signed()],
    )?;
    Ok(())
}

/// Something that is still to be done, noted so that the next start does it if this one does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Todo {
    /// Make the index of the entries anew: it is damaged.
    Reindex,
    /// Write the file anew: it has pages that nothing leads to any more.
    Vacuum,
    /// Make all rows anew from the log: V13 has added a table that only the log can fill.
    FillAttachments,
    /// The same: so has V17.
    FillUsage,
    /// The same: a migration has met rows that can not be read.
    RemakeRows,
}

impl Todo {
    fn key(self) -> &'static str {
        match self {
            Self::Reindex => "index_damaged",
            Self::Vacuum => "pages_lost",
            Self::FillAttachments => "attachments_unfilled",
            Self::FillUsage => "usage_unfilled",
            Self::RemakeRows => "rows_lost",
        }
    }

    /// Those that ask for all rows to be made anew.
    pub(super) const OF_ROWS: [Self; 3] = [Self::FillAttachments, Self::FillUsage, Self::RemakeRows];

    /// The tables that are empty until it is done.
    fn unfilled(self) -> &'static [&'static str] {
        match self {
            Self::FillAttachments => &["attachments"],
            Self::FillUsage => &["usage", "tallies"],
            Self::Reindex | Self::Vacuum | Self::RemakeRows => &[],
        }
    }

    /// The tables that the next start fills; in a store that is looked at before it, they lack what the log tells.
    pub(super) fn unfilled_tables(conn: &Connection) -> Result<Vec<&'static str>> {
        let mut tables = Vec::new();
        for todo in Self::OF_ROWS {
            if todo.is_noted(conn)? {
                tables.extend(todo.unfilled());
            }
        }
        Ok(tables)
    }

    pub(super) fn note(self, conn: &Connection) -> Result<()> {
        conn.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, 1)", [self.key()])?;
        Ok(())
    }

    pub(super) fn is_noted(self, conn: &Connection) -> Result<bool> {
        conn.prepare("SELECT 1 FROM meta WHERE key = ?1")?.exists([self.key()])
    }

    /// Forgets the note: the work is done.
    pub(super) fn clear(self, conn: &Connection) -> Result<()> {
        conn.execute("DELETE FROM meta WHERE key = ?1", [self.key()])?;
        Ok(())
    }
}
