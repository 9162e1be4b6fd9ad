//! Sets the rows of streams right: their numbers, their names and whether they were purged.
//!
//! Invariant: the entries decide, by the name that their checksums were made with.

use std::collections::BTreeSet;

use model::{Seq, SessionId, StreamId};
use rusqlite::{Connection, OptionalExtension as _, Result, params};

use crate::sqlite::checksums::{SESSIONS, STREAMS};
use crate::sqlite::mend::{or_damaged, pages};
use crate::sqlite::open::newest_schema;
use crate::sqlite::outside::is_damage;
use crate::sqlite::rows::{STORED_ENTRY_COLUMNS, StoredEntry};

struct BrokenStream {
    id: i64,
    name: String,
    purged_at: Option<i64>,
    /// Where it is fenced off, and why.
    fence: Option<(i64, String)>,
}

pub(in crate::sqlite) fn mend_streams(conn: &Connection, look: &Connection) -> Result<()> {
    let found = match pages::is_torn(look, STREAMS.name)? {
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
            tracing::error!("rows of streams can not be read; they are made anew from the log");
            remake_streams(conn, look, newest_schema())?;
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
pub(in crate::sqlite) fn remake_streams(conn: &Connection, look: &Connection, schema: i64) -> Result<()> {
    pages::keep(conn, look, STREAMS.name, &STREAMS.is_whole(schema))?;
    let names = "SELECT id, name FROM streams INDEXED BY sqlite_autoindex_streams_1";
    let names = pages::up_to_damage(look, names, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
    pages::recreate(conn, STREAMS.name)?;
    pages::put_kept(conn, STREAMS.name, "true", [])?;
    pages::drop_kept(conn)?;
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
pub(super) fn owners_of_entries(look: &Connection) -> Result<BTreeSet<i64>> {
    let mut next = look.prepare("SELECT MIN(stream) FROM entries WHERE stream > ?1")?;
    let mut owners = BTreeSet::new();
    let last = |owners: &BTreeSet<i64>| owners.last().copied().unwrap_or(i64::MIN);
    while let Some(id) = next.query_row([last(&owners)], |row| row.get(0))? {
        owners.insert(id);
    }
    Ok(owners)
}

/// A name that was lost got a checksum with the others, if rows had none before.
fn broken_streams(conn: &Connection) -> Result<Vec<BrokenStream>> {
    let sql = format!(
        "SELECT id, CAST(name AS BLOB), purged_at, damaged_seq, damage
         FROM streams NOT INDEXED
         WHERE NOT ({}) OR name LIKE 'lost/%'",
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
    let mut known = conn.prepare("SELECT 1 FROM streams WHERE id = ?1")?;
    for id in owners_of_entries(look)? {
        if !known.exists([id])?
            && first_entry(look, id)?.is_some_and(|first| first.verify(stream, Seq::START.next()).is_ok())
        {
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
