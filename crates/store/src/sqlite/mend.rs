//! Rows beside the log that are damaged: found by their checksums, and made anew from the log.
//!
//! Invariant: the log decides. A stream's own row is set right by the entries that carry its name in their checksums; all
//! other rows are folded again, in one transaction, so that a kill leaves the old rows or the new ones. What may be damaged is read by
//! `look`, a second connection (`anew.rs`). What no log can tell, receipts, is forgotten.

use std::collections::{BTreeSet, HashSet};

use model::{Seq, SessionId, StreamId};
use rusqlite::types::Value;
use rusqlite::{Connection, Error, OptionalExtension as _, Result, TransactionBehavior, params};

use crate::rows::folded_tables;
use crate::sqlite::anew;
use crate::sqlite::checksums::{RECEIPTS, SESSIONS, STREAMS, Table};

use crate::sqlite::fences;
use crate::sqlite::open::newest_schema;
use crate::sqlite::outside::walk::Walk;
use crate::sqlite::outside::{is_damage, rebuild};
use crate::sqlite::rows::{STORED_ENTRY_COLUMNS, StoredEntry};

/// What is to be set right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mend {
    /// The rows beside the log.
    Rows,
    /// The index by which a stream's entries are found, too. It is made from the entries, which must not be in doubt.
    IndexAndRows,
}

/// Looks at every row beside the log, at the indexes, and for entries that belong to no stream. Answers the first table that is
/// damaged.
pub(super) fn find_damage(conn: &Connection) -> Result<Option<(&'static str, Mend)>> {
    let what = match or_damaged(has_stray_entries(conn))? {
        true => Mend::IndexAndRows,
        false => Mend::Rows,
    };
    for table in folded_tables().chain([&STREAMS, &RECEIPTS]) {
        if or_damaged(is_damaged(conn, table))? {
            return Ok(Some((table.name, what)));
        }
    }
    Ok((what == Mend::IndexAndRows).then_some(("entries", what)))
}

/// Whether the index has entries of a stream that is not there, or was purged and swept. One step down the index for each
/// stream, however many entries it has.
fn has_stray_entries(conn: &Connection) -> Result<bool> {
    let mut next = conn.prepare("SELECT MIN(stream) FROM entries WHERE stream > ?1")?;
    let mut owned = conn.prepare("SELECT 1 FROM streams WHERE id = ?1 AND (purged_at IS NULL OR sweeping <> 0)")?;
    let mut last = i64::MIN;
    while let Some(id) = next.query_row([last], |row| row.get::<_, Option<i64>>(0))? {
        if !owned.exists([id])? {
            return Ok(true);
        }
        last = id;
    }
    Ok(false)
}

fn is_damaged(conn: &Connection, table: &Table) -> Result<bool> {
    let (name, whole) = (table.name, table.is_whole(i64::MAX));
    let sql = format!("SELECT 1 FROM {name} NOT INDEXED WHERE NOT ({whole}) LIMIT 1");
    if conn.query_row(&sql, [], |_| Ok(())).optional()?.is_some() {
        return Ok(true);
    }
    has_wrong_index(conn, table)
}

/// A row that its index has lost is in no list, whatever its checksum.
fn has_wrong_index(conn: &Connection, table: &Table) -> Result<bool> {
    let found: String = conn.query_row(&format!("PRAGMA integrity_check('{}')", table.name), [], |row| row.get(0))?;
    Ok(found != "ok")
}

/// Whose rows a table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// Those of the session whose id is in this column.
    Session(&'static str),
    /// Those of one stream.
    Stream(StreamId),
}

pub(super) fn owner_of(table: &Table) -> Owner {
    match table.name {
        "sessions" => Owner::Session("id"),
        "tokens" | "remembered" => Owner::Stream(StreamId::Server),
        "works" | "work_names" => Owner::Stream(StreamId::Work),
        _ => Owner::Session("session"),
    }
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
    strays: Vec<(&'static Table, &'static str, Value)>,
    /// Tables that can not be read.
    unreadable: Vec<&'static Table>,
    /// Tables whose index does not fit them.
    misindexed: Vec<&'static Table>,
}

impl Removal {
    pub(super) fn carry_out(&self, conn: &Connection, look: &Connection) -> Result<()> {
        for table in &self.unreadable {
            // Emptied whole, because that needs nothing of what is in it.
            anew::empty(conn, look, table.name)?;
        }
        for table in &self.misindexed {
            anew::reindex(conn, look, table.name)?;
        }
        for (table, column, value) in &self.strays {
            conn.execute(&format!("DELETE FROM {} WHERE {column} = ?1", table.name), [value])?;
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
        if anew::is_torn(conn, table.name)? || or_damaged(find_owners(conn, table, &mut found).map(|()| false))? {
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
    let (name, whole) = (table.name, table.is_whole(i64::MAX));
    match owner_of(table) {
        Owner::Stream(stream) => {
            let sql = format!("SELECT 1 FROM {name} NOT INDEXED WHERE NOT ({whole}) LIMIT 1");
            if conn.prepare(&sql)?.exists([])? {
                found.owners.insert(stream);
            }
        }
        Owner::Session(column) => {
            let sql = format!("SELECT DISTINCT {column} FROM {name} NOT INDEXED WHERE NOT ({whole})");
            let values: Vec<Value> = conn.prepare(&sql)?.query_map([], |row| row.get(0))?.collect::<Result<_>>()?;
            for value in values {
                match owner_in(conn, &value)? {
                    Some(stream) => drop(found.owners.insert(stream)),
                    None => found.removal.strays.push((table, column, value)),
                }
            }
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
        match in_transaction(conn, |tx| anew::reindex(tx, look, "entries")) {
            // The log itself can not be read. The rows are made anew from what can be.
            Err(err) if is_damage(&err) => tracing::error!(error = %err, "the index of the log can not be made anew"),
            done => done?,
        }
    }
    in_transaction(conn, |tx| mend_streams(tx, look))?;
    in_transaction(conn, |tx| {
        match fences::newer(look)?.is_empty() {
            true => drop(rebuild::rebuild(tx, look, newest_schema(), &mut |_| ())?),
            // The rows of a stream that a newer version wrote to are that version's.
            false => {
                for stream in all_streams(look)? {
                    if let Some(mut walk) = Walk::begin(look, stream)? {
                        rebuild::replace_rows(tx, look, &mut walk)?;
                    }
                }
            }
        }
        mend_receipts(tx, look)
    })
}

pub(super) fn in_transaction<T>(conn: &mut Connection, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = work(&tx)?;
    tx.commit()?;
    Ok(done)
}

struct BrokenStream {
    id: i64,
    name: String,
    purged_at: Option<i64>,
    /// Where it is fenced off, and why.
    fence: Option<(i64, String)>,
}

/// Sets the rows of streams right: their numbers, their names and whether they were purged.
pub(super) fn mend_streams(conn: &Connection, look: &Connection) -> Result<()> {
    let found = match anew::is_torn(look, STREAMS.name)? {
        true => None,
        false => broken_streams(look).map(Some).or_else(|err| if is_damage(&err) { Ok(None) } else { Err(err) })?,
    };
    let broken = match found {
        Some(broken) => {
            // From the rows, which are read without it. Until then no row that it disagrees with can be changed.
            conn.execute_batch("REINDEX streams")?;
            broken
        }
        None => {
            remake_streams(conn, look)?;
            broken_streams(conn)?
        }
    };
    for mut stream in broken {
        if first_entry(look, stream.id)?.is_none()
            && let Some(id) = find_number(conn, look, &stream.name)?
        {
            conn.execute("UPDATE streams SET id = ?2 WHERE id = ?1", [stream.id, id])?;
            stream.id = id;
        }
        let owner = find_owner(look, &stream)?;
        let name = owner.map_or(stream.name, |owner| owner.to_string());
        // A purge removes the session's row together with setting its time.
        let purged_at = match owner {
            Some(StreamId::Session(id)) if has_row(look, id)? => None,
            Some(StreamId::Server | StreamId::Work) => None,
            Some(StreamId::Session(_)) | None => stream.purged_at,
        };
        // One that may be right stays: whoever reads the stream finds its damage again, but not that its end is lost.
        let head: Option<i64> =
            look.query_row("SELECT MAX(seq) FROM entries WHERE stream = ?1", [stream.id], |row| row.get(0))?;
        let fence = stream.fence.as_ref().filter(|(seq, _)| (1..=head.unwrap_or(0) + 1).contains(seq));
        tracing::warn!(stream = %name, "the row of a stream was damaged and is set right by its entries");
        conn.execute(
            "UPDATE streams
             SET
                 name = ?2, purged_at = ?3, sweeping = ?3 IS NOT NULL,
                 damaged_seq = ?4, damage = ?5, checksum = NULL
             WHERE id = ?1",
            params![stream.id, name, purged_at, fence.map(|(seq, _)| seq), fence.map(|(_, what)| what)],
        )?;
        STREAMS.set_checksum(conn, "id = ?1", &[&stream.id])?;
    }
    Ok(())
}

/// Gives the rows of streams new pages. Those that can not be read any more are begun again with what is still known of them, the
/// number and perhaps the name, and have no checksum: they are set right by their entries, as damaged ones are.
fn remake_streams(conn: &Connection, look: &Connection) -> Result<()> {
    tracing::error!("rows of streams can not be read; they are made anew from the log");
    anew::keep_whole(conn, look, &STREAMS, "id")?;
    let names = "SELECT id, name FROM streams INDEXED BY sqlite_autoindex_streams_1";
    let names = anew::up_to_damage(look, names, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
    anew::recreate(conn, STREAMS.name)?;
    anew::put_kept(conn, &STREAMS, "true", [])?;
    conn.execute_batch("DROP TABLE temp.kept")?;
    let owners = owners_of_entries(look)?;
    for (id, name) in names {
        // One without entries was purged, nobody knows when.
        conn.execute(
            "INSERT OR IGNORE INTO streams (id, name, purged_at)
             VALUES (?1, ?2, iif(?3, NULL, 0))",
            params![id, name, owners.contains(&id)],
        )?;
    }
    for id in owners {
        conn.execute("INSERT OR IGNORE INTO streams (id, name) VALUES (?1, 'lost/' || ?1)", [id])?;
    }
    Ok(())
}

/// The numbers of the streams that have entries. One step down the index for each of them.
fn owners_of_entries(look: &Connection) -> Result<BTreeSet<i64>> {
    let mut next = look.prepare("SELECT MIN(stream) FROM entries WHERE stream > ?1")?;
    let mut owners = BTreeSet::new();
    while let Some(id) = next.query_row([owners.last().copied().unwrap_or(i64::MIN)], |row| row.get(0))? {
        owners.insert(id);
    }
    Ok(owners)
}

fn broken_streams(conn: &Connection) -> Result<Vec<BrokenStream>> {
    let sql = format!(
        "SELECT id, CAST(name AS BLOB), purged_at, damaged_seq, damage
         FROM streams NOT INDEXED
         WHERE NOT ({})",
        STREAMS.is_whole(i64::MAX)
    );
    let mut statement = conn.prepare(&sql)?;
    let found = statement.query_map([], |row| {
        let name: Vec<u8> = row.get(1)?;
        Ok(BrokenStream {
            id: row.get(0)?,
            name: String::from_utf8_lossy(&name).into_owned(),
            purged_at: row.get(2).unwrap_or_default(),
            fence: row.get(3).ok().zip(row.get(4).ok()),
        })
    })?;
    found.collect()
}

/// Whose entries these are, by the name that their checksums were made with.
fn find_owner(conn: &Connection, stream: &BrokenStream) -> Result<Option<StreamId>> {
    let own = stream.name.parse().ok();
    let mut candidates: Vec<StreamId> = own.into_iter().chain([StreamId::Server, StreamId::Work]).collect();
    let sql = format!("SELECT id FROM sessions NOT INDEXED WHERE {}", SESSIONS.is_whole(i64::MAX));
    let mut statement = conn.prepare(&sql)?;
    for id in statement.query_map([], |row| row.get(0).map(SessionId::from_bytes))? {
        match id {
            Ok(id) => candidates.push(StreamId::Session(id)),
            // Those that can be read must do.
            Err(err) if is_damage(&err) => break,
            Err(err) => return Err(err),
        }
    }
    for candidate in candidates {
        let Some(first) = first_entry(conn, stream.id)? else { return Ok(None) };
        if first.verify(candidate, Seq::START.next()).is_ok() {
            return Ok(Some(candidate));
        }
    }
    Ok(None)
}

/// The number under which the entries of this name lie, if it is no stream's.
fn find_number(conn: &Connection, look: &Connection, name: &str) -> Result<Option<i64>> {
    let Ok(stream) = name.parse::<StreamId>() else { return Ok(None) };
    let mut last = i64::MIN;
    let mut next = look.prepare("SELECT MIN(stream) FROM entries WHERE stream > ?1")?;
    let mut known = conn.prepare("SELECT 1 FROM streams WHERE id = ?1")?;
    while let Some(id) = next.query_row([last], |row| row.get::<_, Option<i64>>(0))? {
        last = id;
        if known.exists([id])? {
            continue;
        }
        if first_entry(look, id)?.is_some_and(|first| first.verify(stream, Seq::START.next()).is_ok()) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

fn first_entry(conn: &Connection, id: i64) -> Result<Option<StoredEntry>> {
    let sql = format!("SELECT {STORED_ENTRY_COLUMNS} FROM entries WHERE stream = ?1 ORDER BY seq LIMIT 1");
    match conn.prepare_cached(&sql)?.query_row([id], StoredEntry::from_row).optional() {
        Err(err) if is_damage(&err) => Ok(None),
        found => found,
    }
}

fn has_row(conn: &Connection, id: SessionId) -> Result<bool> {
    let sql = format!("SELECT 1 FROM sessions NOT INDEXED WHERE id = ?1 AND {}", SESSIONS.is_whole(i64::MAX));
    or_damaged(conn.prepare(&sql)?.exists([id.as_bytes()]))
}

/// Keeps those that are whole. Emptied whole, because that needs nothing of what is damaged.
pub(super) fn mend_receipts(conn: &Connection, look: &Connection) -> Result<()> {
    anew::keep_whole(conn, look, &RECEIPTS, "principal, key")?;
    anew::empty(conn, look, RECEIPTS.name)?;
    anew::put_kept(conn, &RECEIPTS, "true", [])?;
    conn.execute_batch("DROP TABLE temp.kept")
}

/// Whether what was met may be a damaged row, and not a disk that fails.
pub(super) fn may_be_row_damage(err: &crate::ReadError) -> bool {
    match err {
        crate::ReadError::Storage(err) => err.0.downcast_ref::<Error>().is_some_and(is_damage),
        crate::ReadError::Fenced(_) | crate::ReadError::Closed => false,
    }
}
