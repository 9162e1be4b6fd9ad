//! What the store notes about itself.
//!
//! Invariant: each of these facts is read and written in one place, so that all who ask are told the same.

use model::{Incarnation, Position};
use rusqlite::{Connection, Result};

/// The last position that was ever given, also if its entry was purged since.
pub(super) fn last_position(conn: &Connection) -> Result<Position> {
    let mut statement = conn.prepare_cached(
        "SELECT MAX(
             IFNULL((SELECT MAX(position) FROM entries), 0),
             IFNULL((SELECT value FROM meta WHERE key = 'position_floor'), 0)
         )",
    )?;
    let last: i64 = statement.query_row([], |row| row.get(0))?;
    Ok(Position(last.cast_unsigned()))
}

/// Begins another life of a store that has one.
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
