//! Streams that can not be read to their end, and from where on: they are damaged, or a newer version wrote to them.
//!
//! Invariant: a fence is put up as soon as damage is met and taken down only by whoever has verified the whole stream.
//! Up to it a stream is read; nothing is ever appended behind it, since that would pass a broken thread off as whole.
//! One that is fenced off keeps nobody from the others. A fence before what a newer version wrote is never stored: that
//! version finds everything as it left it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::{EVENT_VERSION, Seq, StreamId};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::sqlite::checksums::STREAMS;
use crate::sqlite::outside::is_damage;
use crate::sqlite::rows::{STORED_ENTRY_COLUMNS, StoredEntry, sql_seq};
use crate::{Fence, FenceCause};

/// The fences there are; shared by the readers, who meet damage, and the writer, who must not write behind it.
#[derive(Debug, Default)]
pub(super) struct Fences(Mutex<HashMap<StreamId, Fence>>);

/// Whether a stream is fenced off when it is damaged: all but the server's own, without which nobody could sign in.
pub(super) fn has_fence(stream: StreamId) -> bool {
    match stream {
        StreamId::Session(_) | StreamId::Work => true,
        StreamId::Server => false,
    }
}

impl Fences {
    /// The fences that earlier runs have put up, and those before what a newer version wrote.
    pub(super) fn load(conn: &Connection) -> rusqlite::Result<Self> {
        let mut fences = stored(conn)?;
        for fence in newer(conn)? {
            log_fence(&fence);
            let first = fences.entry(fence.stream).or_insert_with(|| fence.clone());
            if fence.seq < first.seq {
                *first = fence;
            }
        }
        Ok(Self(Mutex::new(fences)))
    }

    /// The fences that there are after the rows were set right; logs those that were not there before.
    pub(super) fn load_anew(&self, conn: &Connection) -> rusqlite::Result<Self> {
        let fences = Self::load(conn)?;
        let known = fences.lock().clone();
        known.values().filter(|fence| !fence.is_newer() && self.find(fence.stream).is_none()).for_each(log_fence);
        Ok(fences)
    }

    /// Puts up those that the rows have besides.
    pub(super) fn take_over(&self, conn: &Connection) -> rusqlite::Result<()> {
        for fence in stored(conn)?.values() {
            self.put(fence);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<StreamId, Fence>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the fence of a stream is.
    pub(super) fn find(&self, stream: StreamId) -> Option<Fence> {
        self.lock().get(&stream).cloned()
    }

    /// Puts one up and logs it; `false` if there is one already, or none is to be.
    pub(super) fn put(&self, fence: &Fence) -> bool {
        let mut fences = self.lock();
        match fences.get(&fence.stream) {
            None if has_fence(fence.stream) => {
                log_fence(fence);
                fences.insert(fence.stream, fence.clone()).is_none()
            }
            Some(_) | None => false,
        }
    }

    pub(super) fn remove(&self, stream: StreamId) {
        self.lock().remove(&stream);
    }
}

/// What the rows say.
fn stored(conn: &Connection) -> rusqlite::Result<HashMap<StreamId, Fence>> {
    let sql = "SELECT CAST(name AS BLOB), damaged_seq, damage FROM streams WHERE damaged_seq IS NOT NULL";
    let mut statement = conn.prepare(sql)?;
    let found = statement.query_map([], |row| {
        let (name, seq, what): (Vec<u8>, i64, Option<String>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok((name, Seq(seq.cast_unsigned()), what.unwrap_or_default()))
    })?;
    let mut fences = HashMap::new();
    for found in found {
        let (name, seq, what) = found?;
        // A name that is none is damaged itself, and set right later.
        if let Ok(stream) = String::from_utf8_lossy(&name).parse()
            && has_fence(stream)
        {
            fences.insert(stream, Fence::damaged(stream, seq, what));
        }
    }
    Ok(fences)
}

/// Whether a version that writes newer events has opened the store. Only then is it searched for them.
fn was_opened_by_newer(conn: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT MAX(value) FROM meta WHERE key = 'event_version'";
    let version: Option<i64> = conn.query_row(sql, [], |row| row.get(0))?;
    Ok(version.is_some_and(is_newer))
}

fn is_newer(version: i64) -> bool {
    version > i64::from(EVENT_VERSION)
}

/// The newest version of an event on the server's stream, in a store that a newer version has opened.
pub(super) fn newest_of_server(conn: &Connection) -> rusqlite::Result<Option<i64>> {
    if !was_opened_by_newer(conn)? {
        return Ok(None);
    }
    let sql = "SELECT MAX(version) FROM entries WHERE stream = (SELECT id FROM streams WHERE name = ?1)";
    conn.query_row(sql, [StreamId::Server.to_string()], |row| row.get(0))
}

/// Where each stream begins to hold what a newer version wrote. What can not be read for it is left to whoever reads the
/// stream.
pub(super) fn newer(conn: &Connection) -> rusqlite::Result<Vec<Fence>> {
    let mut fences = Vec::new();
    match was_opened_by_newer(conn) {
        Ok(true) => (),
        Ok(false) => return Ok(fences),
        Err(err) if is_damage(&err) => return Ok(fences),
        Err(err) => return Err(err),
    }
    let mut statement = conn.prepare("SELECT id, CAST(name AS BLOB) FROM streams WHERE purged_at IS NULL")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, name): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
        let Ok(stream) = String::from_utf8_lossy(&name).parse() else { continue };
        match first_newer(conn, id, stream) {
            Err(err) if is_damage(&err) => (),
            found => fences.extend(found?),
        }
    }
    Ok(fences)
}

/// Only the last entry is looked at if that is not newer: nothing older is ever appended behind a newer one.
fn first_newer(conn: &Connection, id: i64, stream: StreamId) -> rusqlite::Result<Option<Fence>> {
    let last = "SELECT version FROM entries WHERE stream = ?1 ORDER BY seq DESC LIMIT 1";
    let last: Option<i64> = conn.prepare_cached(last)?.query_row([id], |row| row.get(0)).optional()?;
    if !last.is_some_and(is_newer) {
        return Ok(None);
    }
    let sql = format!(
        "SELECT {STORED_ENTRY_COLUMNS}
         FROM entries
         WHERE stream = ?1 AND version > ?2
         ORDER BY seq
         LIMIT 1"
    );
    let stored = conn.prepare_cached(&sql)?.query_row(params![id, EVENT_VERSION], StoredEntry::from_row)?;
    let seq = stored.seq();
    Ok(stored.verify(stream, seq).err().filter(Fence::is_newer))
}

/// Every fence that is put up is logged, so that whoever runs the server learns which session takes no more, and why.
fn log_fence(Fence { stream, seq, cause }: &Fence) {
    match cause {
        FenceCause::Damaged(what) => {
            tracing::error!(%stream, %seq, %what, "a stream is damaged: it can be read up to there and takes no more");
        }
        FenceCause::Newer => tracing::warn!(
            %stream, %seq,
            "a newer version of Throughline wrote to a stream: here it can be read up to there and takes no more"
        ),
    }
}

/// Makes a fence outlive the process, if it stands before damage.
pub(super) fn write(conn: &Connection, fence: &Fence) -> rusqlite::Result<()> {
    let FenceCause::Damaged(what) = &fence.cause else { return Ok(()) };
    STREAMS.update(
        conn,
        "damaged_seq = ?2, damage = ?3",
        "name = ?1 AND purged_at IS NULL",
        &[&fence.stream.to_string()],
        &[&sql_seq(fence.seq), what],
    )
}
