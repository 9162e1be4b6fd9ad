//! What the store notes about itself.
//!
//! Invariant: each of these facts is read and written in one place, so that all who ask are told the same.

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

/// Begins another incarnation of a store that has one.
pub(super) fn give_incarnation(conn: &Connection, incarnation: Incarnation) -> Result<()> {
    conn.execute(
        "UPDATE meta
         SET value = ?1
         WHERE key = 'incarnation'",
        [incarnation.bits().cast_signed()],
    )?;
    Ok(())
}

/// Has the next start make the index of the entries anew.
pub(super) fn note_index_damage(conn: &Connection) -> Result<()> {
    conn.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('index_damaged', 1)", [])?;
    Ok(())
}

pub(super) fn is_index_damaged(conn: &Connection) -> Result<bool> {
    conn.prepare("SELECT 1 FROM meta WHERE key = 'index_damaged'")?.exists([])
}

/// Notes that the file has pages that nothing leads to any more.
pub(super) fn note_lost_pages(conn: &Connection) -> Result<()> {
    conn.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('pages_lost', 1)", [])?;
    Ok(())
}

pub(super) fn has_lost_pages(conn: &Connection) -> Result<bool> {
    conn.prepare("SELECT 1 FROM meta WHERE key = 'pages_lost'")?.exists([])
}

pub(super) fn forget_lost_pages(conn: &Connection) -> Result<()> {
    conn.execute("DELETE FROM meta WHERE key = 'pages_lost'", [])?;
    Ok(())
}

/// Whether the table of attachments has still to be filled from the log.
pub(super) fn is_attachments_unfilled(conn: &Connection) -> Result<bool> {
    conn.prepare("SELECT 1 FROM meta WHERE key = 'attachments_unfilled'")?.exists([])
}

pub(super) fn forget_attachments_unfilled(conn: &Connection) -> Result<()> {
    conn.execute("DELETE FROM meta WHERE key = 'attachments_unfilled'", [])?;
    Ok(())
}

pub(super) fn forget_index_damage(conn: &Connection) -> Result<()> {
    conn.execute("DELETE FROM meta WHERE key = 'index_damaged'", [])?;
    Ok(())
}
