//! Rows beside the log that are damaged: found by their checksums, and made anew from the log.
//!
//! Invariant: the log decides. A stream's own row is set right by the entries that carry its name in their checksums; all
//! other rows are folded again, in one transaction, so that a kill leaves the old rows or the new ones. What may be damaged is read by
//! `look`, a second connection (`pages.rs`). Receipts are not in the log: damaged ones are forgotten.

pub(super) mod pages;
pub(super) mod running;
mod streams;

use std::collections::HashSet;

use model::{SessionId, StreamId};
use rusqlite::types::Value;
use rusqlite::{Connection, Error, Result, TransactionBehavior};

use crate::ReadError;
use crate::rows::{Owner, folded_tables};
use crate::sqlite::checksums::{RECEIPTS, STREAMS, Table};
use crate::sqlite::fences;
use crate::sqlite::meta::Todo;
use crate::sqlite::open::newest_schema;
use crate::sqlite::outside::walk::Walk;
use crate::sqlite::outside::{is_damage, rebuild};

pub(super) use streams::mend_streams;

/// What is to be set right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mend {
    /// The rows beside the log.
    Rows,
    /// The index by which a stream's entries are found, too. It is made from the entries, which must not be in doubt.
    IndexAndRows,
}

/// Looks at every row beside the log, at the indexes, and for entries that belong to no stream. Answers which table is damaged, the
/// first of them.
pub(super) fn find_damage(conn: &Connection) -> Result<Option<(&'static str, Mend)>> {
    let what = match or_damaged(has_stray_entries(conn))? {
        true => Mend::IndexAndRows,
        false => Mend::Rows,
    };
    for table in checked_tables() {
        if or_damaged(is_damaged(conn, table))? {
            return Ok(Some((table.name, what)));
        }
    }
    Ok((what == Mend::IndexAndRows).then_some(("entries", what)))
}

/// Every table whose rows have checksums.
pub(super) fn checked_tables() -> impl Iterator<Item = &'static Table> {
    folded_tables().chain([&STREAMS, &RECEIPTS])
}

/// Whether the index has entries of a stream that is not there, or was purged and swept.
fn has_stray_entries(conn: &Connection) -> Result<bool> {
    let mut owned = conn.prepare("SELECT 1 FROM streams WHERE id = ?1 AND (purged_at IS NULL OR sweeping <> 0)")?;
    for id in streams::owners_of_entries(conn)? {
        if !owned.exists([id])? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_damaged(conn: &Connection, table: &Table) -> Result<bool> {
    Ok(has_damaged_row(conn, table)?
        || has_wrong_index(conn, table)?
        || pages::find_hollow_root(conn, Some(table.name))?.is_some())
}

fn has_damaged_row(conn: &Connection, table: &Table) -> Result<bool> {
    let (name, whole) = (table.name, table.is_whole(i64::MAX));
    conn.prepare(&format!("SELECT 1 FROM {name} NOT INDEXED WHERE NOT ({whole}) LIMIT 1"))?.exists([])
}

/// A row that its index has lost is in no list, whatever its checksum.
fn has_wrong_index(conn: &Connection, table: &Table) -> Result<bool> {
    let found: String = conn.query_row(&format!("PRAGMA integrity_check('{}')", table.name), [], |row| row.get(0))?;
    Ok(found != "ok")
}

/// What is damaged beside the log.
#[derive(Default)]
pub(super) struct DamagedRows {
    /// Where.
    pub(super) tables: Vec<&'static str>,
    /// Rows of streams are among it, and are to be set right first: they say whose entries are whose.
    pub(super) has_streams: bool,
    /// Whose rows are to be made anew.
    pub(super) owners: HashSet<StreamId>,
    pub(super) removal: Removal,
}

impl DamagedRows {
    pub(super) fn is_nothing(&self) -> bool {
        self.tables.is_empty()
    }
}

/// What is to be removed before rows are made anew, since whoever they belong to would not remove it.
#[derive(Default)]
pub(super) struct Removal {
    /// Rows whose owner is not known, with what stands in its place.
    strays: Vec<(&'static Table, Value)>,
    /// Tables that can not be read.
    unreadable: Vec<&'static Table>,
    /// Tables whose index does not fit them.
    misindexed: Vec<&'static Table>,
}

impl Removal {
    pub(super) fn carry_out(&self, conn: &Connection, look: &Connection) -> Result<()> {
        for table in &self.unreadable {
            // Emptied whole, because that needs nothing of what is in it.
            pages::empty(conn, look, table.name)?;
        }
        for table in &self.misindexed {
            pages::reindex(conn, look, table.name)?;
        }
        for (table, owner) in &self.strays {
            conn.execute(&format!("DELETE FROM {} WHERE {}", table.name, table.key_is(1)), [owner])?;
        }
        Ok(())
    }
}

/// Looks at every row beside the log and at its indexes.
pub(super) fn find_damaged_rows(conn: &Connection) -> Result<DamagedRows> {
    let mut found = DamagedRows { has_streams: or_damaged(is_damaged(conn, &STREAMS))?, ..DamagedRows::default() };
    if found.has_streams {
        found.tables.push(STREAMS.name);
        return Ok(found);
    }
    let mut is_owner_lost = false;
    for table in folded_tables() {
        let (strays, owners) = (found.removal.strays.len(), found.owners.len());
        if pages::is_torn(conn, table.name)? || or_damaged(find_owners(conn, table, &mut found).map(|()| false))? {
            found.removal.unreadable.push(table);
            is_owner_lost = true;
        } else if or_damaged(has_wrong_index(conn, table))? {
            found.removal.misindexed.push(table);
        } else if (strays, owners) == (found.removal.strays.len(), found.owners.len()) {
            continue;
        }
        is_owner_lost |= strays < found.removal.strays.len();
        found.tables.push(table.name);
    }
    if is_owner_lost {
        found.owners.extend(all_streams(conn)?);
    }
    Ok(found)
}

fn or_damaged(found: Result<bool>) -> Result<bool> {
    match found {
        Err(err) if is_damage(&err) => Ok(true),
        found => found,
    }
}

fn find_owners(conn: &Connection, table: &'static Table, found: &mut DamagedRows) -> Result<()> {
    let owner = match table.owner {
        Owner::Stream(stream) => {
            found.owners.extend(has_damaged_row(conn, table)?.then_some(stream));
            return Ok(());
        }
        Owner::Nobody => return Ok(()),
        Owner::Session => table.first_column(),
    };
    let (name, whole) = (table.name, table.is_whole(i64::MAX));
    let sql = format!("SELECT DISTINCT {owner} FROM {name} NOT INDEXED WHERE NOT ({whole})");
    let values: Vec<Value> = conn.prepare(&sql)?.query_map([], |row| row.get(0))?.collect::<Result<_>>()?;
    for value in values {
        match owner_in(conn, &value)? {
            Some(stream) => drop(found.owners.insert(stream)),
            None => found.removal.strays.push((table, value)),
        }
    }
    Ok(())
}

/// The stream of the session with this id, if it is one.
fn owner_in(conn: &Connection, id: &Value) -> Result<Option<StreamId>> {
    let Value::Blob(bytes) = id else { return Ok(None) };
    let Ok(bytes) = <[u8; 16]>::try_from(bytes.as_slice()) else { return Ok(None) };
    let stream = StreamId::Session(SessionId::from_bytes(bytes));
    let is_there = "SELECT 1 FROM streams WHERE name = ?1 AND purged_at IS NULL";
    Ok(conn.prepare_cached(is_there)?.exists([stream.to_string()])?.then_some(stream))
}

fn all_streams(conn: &Connection) -> Result<Vec<StreamId>> {
    let mut statement = conn.prepare("SELECT CAST(name AS BLOB) FROM streams WHERE purged_at IS NULL")?;
    let names: Vec<Vec<u8>> = statement.query_map([], |row| row.get(0))?.collect::<Result<_>>()?;
    Ok(names.iter().filter_map(|name| String::from_utf8_lossy(name).parse().ok()).collect())
}

/// Sets everything beside the log right, step by step: each looks at what the one before has set right.
pub(super) fn mend(conn: &mut Connection, look: &Connection, what: Mend) -> Result<()> {
    if what == Mend::IndexAndRows {
        match in_transaction(conn, |tx| pages::reindex(tx, look, "entries")) {
            // The log itself can not be read. The rows are made anew from what can be.
            Err(err) if is_damage(&err) => tracing::error!(error = %err, "the index of the log can not be made anew"),
            done => done?,
        }
    }
    in_transaction(conn, |tx| mend_streams(tx, look))?;
    in_transaction(conn, |tx| {
        match fences::newer(look)?.is_empty() {
            true => drop(rebuild::rebuild(tx, look, &mut |_| ())?),
            // The rows of a stream that a newer version wrote to are that version's.
            false => {
                for stream in all_streams(look)? {
                    if let Some(mut walk) = Walk::begin(look, stream)? {
                        rebuild::replace_rows(tx, look, &mut walk)?;
                    }
                }
            }
        }
        finish(tx, look)
    })
}

/// What is left to do once the rows that the log gives are made anew.
pub(super) fn finish(conn: &Connection, look: &Connection) -> Result<()> {
    // Those that are whole are kept. Emptied whole, because that needs nothing of what is damaged.
    pages::keep(conn, look, RECEIPTS.name, &RECEIPTS.is_whole(newest_schema()))?;
    pages::empty(conn, look, RECEIPTS.name)?;
    pages::put_kept(conn, RECEIPTS.name, "true", [])?;
    pages::drop_kept(conn)?;
    clear_rebuild_notes(conn)
}

/// Clears the notes that asked for a rebuild of the rows.
pub(super) fn clear_rebuild_notes(conn: &Connection) -> Result<()> {
    Todo::OF_ROWS.into_iter().try_for_each(|todo| todo.clear(conn))
}

/// Gives every table of an older schema new pages whose own can not be read, so that its migrations meet no damage. What is lost with
/// the old ones is made anew from the log once the schema is up to date.
pub(super) fn salvage(conn: &mut Connection, look: &Connection, schema: i64) -> Result<()> {
    in_transaction(conn, |tx| {
        for table in checked_tables().filter(|table| table.since <= schema) {
            if pages::is_torn(look, table.name)? {
                tracing::error!(table = table.name, "a table can not be read whole; it is made anew from the log");
                match table.name == STREAMS.name {
                    true => streams::remake_streams(tx, look, schema)?,
                    false => pages::salvage(tx, look, table.name)?,
                }
            }
        }
        Todo::RemakeRows.note(tx)
    })
}

pub(super) fn in_transaction<T>(conn: &mut Connection, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = work(&tx)?;
    tx.commit()?;
    Ok(done)
}

/// Whether what was met may be a damaged row, and not a disk that fails.
pub(super) fn may_be_row_damage(err: &ReadError) -> bool {
    match err {
        ReadError::Storage(err) => err.0.downcast_ref::<Error>().is_some_and(is_damage),
        ReadError::Fenced(_) | ReadError::Closed => false,
    }
}
