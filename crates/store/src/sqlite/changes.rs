//! Which streams have moved: what a follower of the whole log asks before it reads any of them.
//!
//! Invariant: the events are not read. The table is walked by its key and only the stream's column is looked at, so a
//! page costs the same whatever its entries hold. A purged stream has nothing more to say, also while its entries are
//! still being removed.

use model::{Position, StreamId};
use rusqlite::{Connection, params};

use crate::sqlite::meta;
use crate::{Changes, ReadError};

pub(super) fn since(conn: &Connection, after: Position, limit: usize) -> Result<Changes, ReadError> {
    let limit = limit.max(1);
    // Asked first, so that there is an answer about the end of the log also where its newest page can not be read.
    let last = meta::last_position(conn)?;
    if after >= last {
        return Ok(Changes { streams: Vec::new(), up_to: last });
    }
    let mut statement = conn.prepare_cached(
        "SELECT entries.position, entries.stream
         FROM entries
         JOIN streams ON streams.id = entries.stream
         WHERE entries.position > ?1 AND streams.purged_at IS NULL
         ORDER BY entries.position
         LIMIT ?2",
    )?;
    let mut rows = statement
        .query(params![i64::try_from(after.0).unwrap_or(i64::MAX), i64::try_from(limit).unwrap_or(i64::MAX)])?;
    let mut ids: Vec<i64> = Vec::new();
    let mut looked_at = 0;
    let mut up_to = Position(0);
    while let Some(row) = rows.next()? {
        up_to = Position(row.get::<_, i64>(0)?.cast_unsigned());
        let id = row.get(1)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
        looked_at += 1;
    }
    if looked_at < limit {
        up_to = last;
    }
    let mut streams = Vec::with_capacity(ids.len());
    for id in ids {
        streams.extend(name(conn, id)?);
    }
    Ok(Changes { streams, up_to })
}

/// The stream with this number, unless its name is damaged and names none.
fn name(conn: &Connection, id: i64) -> Result<Option<StreamId>, ReadError> {
    let name: Vec<u8> = conn
        .prepare_cached("SELECT CAST(name AS BLOB) FROM streams WHERE id = ?1")?
        .query_row([id], |row| row.get(0))?;
    Ok(String::from_utf8_lossy(&name).parse().ok())
}
