//! The read tables made anew from the log.
//!
//! Invariant: one transaction, so that a kill at any point leaves the old rows or the new ones. The log is not touched, nor
//! are receipts and tombstones that are whole. What only the old rows knew, that a stream has lost its tail, is kept as a fence.

use model::{Seq, SessionId, StreamId};
use rusqlite::{Connection, Error, Row};

use crate::rows::{Owner, Rows, Table, folded_tables};
use crate::sqlite::apply;
use crate::sqlite::checksums::SESSIONS;
use crate::sqlite::fences::{self, has_fence};
use crate::sqlite::heads::Heads;
use crate::sqlite::mend::{self, pages};
use crate::sqlite::open::newest_schema;
use crate::sqlite::outside::repair::{Repair, put_fence};
use crate::sqlite::outside::rows::{self, known_seq};
use crate::sqlite::outside::streams::{self, StreamRecord};
use crate::sqlite::outside::walk::Walk;
use crate::sqlite::outside::{OnProgress, Progress, Stage, is_damage};
use crate::{Fence, StorageError};

/// What a damaged session is called when its name is lost.
const LOST_LABEL: &str = "(damaged: its name is lost)";

/// What a rebuild went through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Streams that were folded.
    pub streams: u64,
    /// Entries that were folded.
    pub entries: u64,
    /// Rows that were written.
    pub rows: u64,
    /// Streams that could only be folded up to their damage, and are fenced off.
    pub damaged: u64,
}

impl Repair {
    /// Sets the rows of streams right, empties the read tables and fills them from the log. Then the file is written anew,
    /// without what was ever removed from it.
    pub fn rebuild(&mut self, progress: OnProgress<'_>) -> Result<Rebuilt, StorageError> {
        // Its rows are left to the version that knows what it wrote.
        if let Some(fence) = fences::newer(&self.opened.writer)?.into_iter().next() {
            return Err(StorageError(Box::new(fence)));
        }
        let look = self.opened.connect_look()?;
        mend::in_transaction(&mut self.opened.writer, |tx| mend::mend_streams(tx, &look))?;
        let rebuilt = mend::in_transaction(&mut self.opened.writer, |tx| {
            let rebuilt = rebuild(tx, &look, progress)?;
            mend::finish(tx, &look)?;
            Ok(rebuilt)
        })?;
        // What was removed before removing meant overwriting lies between the rows until they are written anew.
        self.opened.write_anew();
        Ok(rebuilt)
    }
}

/// Empties the read tables and fills them, in a transaction of the caller's.
pub(in crate::sqlite) fn rebuild(
    conn: &Connection,
    look: &Connection,
    progress: OnProgress<'_>,
) -> Result<Rebuilt, Error> {
    let schema = newest_schema();
    let mut rebuilt = Rebuilt::default();
    let ids = streams::ids(conn)?;
    for &id in &ids {
        keep_lost_tail(conn, look, schema, id)?;
    }
    let unfenced = damaged_unfenced(conn, look, schema, &ids)?;
    let is_kept = |table: &&Table| unfenced.iter().any(|(_, stream)| table.owner == Owner::Stream(*stream));
    for table in folded_tables().filter(is_kept) {
        pages::keep(conn, look, table.name, &table.is_whole(schema))?;
        pages::empty(conn, look, table.name)?;
        pages::put_kept(conn, table.name, "true", [])?;
        pages::drop_kept(conn)?;
    }
    pages::keep(conn, look, SESSIONS.name, &SESSIONS.is_whole(schema))?;
    for table in folded_tables().filter(|table| !is_kept(table)) {
        // Emptied whole, because that needs nothing of what is in them.
        pages::empty(conn, look, table.name)?;
    }
    let total = ids.len() as u64;
    for (done, id) in (0..).zip(ids) {
        progress(Progress { stage: Stage::Rebuild, done, total });
        match unfenced.iter().any(|(damaged, _)| *damaged == id) {
            true => rebuilt.damaged += 1,
            false => fill(conn, look, schema, id, &mut rebuilt)?,
        }
    }
    keep_lost_sessions(conn, schema)?;
    pages::drop_kept(conn)?;
    Ok(rebuilt)
}

/// The damaged streams that go on behind their damage. What stands there, such as that a token was revoked, is known from their
/// rows alone: a rebuild from the log would bring the token back.
fn damaged_unfenced(
    conn: &Connection,
    look: &Connection,
    schema: i64,
    ids: &[i64],
) -> Result<Vec<(i64, StreamId)>, Error> {
    let mut damaged = Vec::new();
    for &id in ids {
        let record = StreamRecord::find(conn, schema, id)?;
        if let Some(stream) = record.and_then(|record| record.stream).filter(|stream| !has_fence(*stream))
            && Walk::whole(look, id, stream)?.fence.is_some()
        {
            damaged.push((id, stream));
        }
    }
    Ok(damaged)
}

/// Puts the rows of one stream anew, in a transaction of the caller's, from a walk that was begun before. Answers why the
/// stream has to be fenced off, if it has to be.
pub(in crate::sqlite) fn replace_rows(
    conn: &Connection,
    look: &Connection,
    walk: &mut Walk,
) -> Result<Option<Fence>, Error> {
    let (schema, stream) = (newest_schema(), walk.stream);
    let record = StreamRecord::find_named(conn, schema, stream)?.filter(|record| record.purged_at.is_none());
    let Some(record) = record else { return Ok(None) };
    // What came since the walk was at the end.
    while walk.fence.is_none() && !walk.step(look)? {}
    let is_damaged = walk.fence.is_some();
    walk.miss_tail(known_seq(look, schema, stream)?);
    let fence = walk.fence(&record);
    // The rows are those of the newer version, which knows what it wrote.
    if fence.as_ref().is_some_and(Fence::is_newer) {
        return Ok(fence);
    }
    if fence != record.fence && has_fence(stream) {
        put_fence(conn, record.id, fence.as_ref())?;
    }
    match stream {
        // A session of which the log has not even the first entry is damaged, and not one that never was.
        StreamId::Session(_) if walk.head == Seq::START => return Ok(fence),
        StreamId::Session(id) => apply::remove_session(conn, id)?,
        // What stands behind the damage is known from its rows alone.
        StreamId::Server | StreamId::Work if is_damaged => {
            return remove(conn, stream, |table| format!("NOT ({})", table.is_whole(schema))).map(|()| fence);
        }
        StreamId::Server | StreamId::Work => remove(conn, stream, |_| "true".to_owned())?,
    }
    if fence.is_some() {
        keep_label(look, &mut walk.rows)?;
    }
    rows::put(conn, &std::mem::take(&mut walk.rows))?;
    Ok(fence)
}

/// What a session is called may be said behind its damage: then the row that was there says it, whole or not, if these words of it
/// can be read.
fn keep_label(look: &Connection, rows: &mut Rows) -> Result<(), Error> {
    let Some(row) = rows.sessions.values_mut().next() else { return Ok(()) };
    let sql = "SELECT name, agent_title, first_prompt FROM sessions NOT INDEXED WHERE id = ?1";
    let text = |row: &Row<'_>, column: usize| row.get::<_, String>(column).ok();
    let known = look.query_row(sql, [row.id.as_bytes()], |row| Ok([0, 1, 2].map(|column| text(row, column))));
    let known = match known {
        Ok(known) => known,
        Err(err) if is_damage(&err) || err == Error::QueryReturnedNoRows => [None, None, None],
        Err(err) => return Err(err),
    };
    for (label, known) in [&mut row.name, &mut row.title, &mut row.first_prompt].into_iter().zip(known) {
        if let Some(known) = known.filter(|known| !known.is_empty()) {
            *label = known;
        }
    }
    if row.label().is_none() {
        LOST_LABEL.clone_into(&mut row.title);
    }
    Ok(())
}

/// Removes rows of the stream's tables. `which` is SQL.
fn remove(conn: &Connection, stream: StreamId, which: impl Fn(&Table) -> String) -> Result<(), Error> {
    for table in folded_tables().filter(|table| table.owner == Owner::Stream(stream)) {
        conn.execute(&format!("DELETE FROM {} WHERE {}", table.name, which(table)), [])?;
    }
    Ok(())
}

/// A session of which the log has not even the first entry is damaged, and not one that never was: its row stays.
fn keep_lost_sessions(conn: &Connection, schema: i64) -> Result<(), Error> {
    let lost: Vec<[u8; 16]> = conn
        .prepare("SELECT id FROM temp.kept WHERE id NOT IN (SELECT id FROM main.sessions)")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for id in lost {
        let stream = StreamId::Session(SessionId::from_bytes(id));
        let fence = Fence::damaged(stream, Seq::START.next(), "the entry is missing");
        match StreamRecord::find_named(conn, schema, stream)? {
            Some(record) if record.purged_at.is_some() => continue,
            Some(record) if record.fence.is_some() => (),
            Some(record) => put_fence(conn, record.id, Some(&fence))?,
            None => {
                let id = Heads::default().find_or_create(conn, stream)?;
                put_fence(conn, id, Some(&fence))?;
            }
        }
        pages::put_kept(conn, SESSIONS.name, "id = ?1", [id])?;
    }
    Ok(())
}

fn keep_lost_tail(conn: &Connection, look: &Connection, schema: i64, id: i64) -> Result<(), Error> {
    let Some(StreamRecord { stream: Some(stream), purged_at: None, fence: None, .. }) =
        StreamRecord::find(conn, schema, id)?
    else {
        return Ok(());
    };
    let head: Option<i64> =
        look.prepare_cached("SELECT MAX(seq) FROM entries WHERE stream = ?1")?.query_row([id], |row| row.get(0))?;
    let mut walk = Walk::new(id, stream);
    walk.head = Seq(head.unwrap_or(0).cast_unsigned());
    walk.miss_tail(known_seq(look, schema, stream)?);
    match &walk.fence {
        Some(fence) => put_fence(conn, id, Some(fence)),
        None => Ok(()),
    }
}

fn fill(conn: &Connection, look: &Connection, schema: i64, id: i64, rebuilt: &mut Rebuilt) -> Result<(), Error> {
    let Some(record) = StreamRecord::find(conn, schema, id)? else { return Ok(()) };
    let (Some(stream), None) = (record.stream, record.purged_at) else { return Ok(()) };
    let mut walk = Walk::whole(look, id, stream)?;
    let fence = walk.fence(&record);
    rebuilt.streams += 1;
    rebuilt.entries += walk.head.0;
    rebuilt.damaged += u64::from(fence.is_some());
    if fence != record.fence && has_fence(stream) {
        put_fence(conn, id, fence.as_ref())?;
    }
    if fence.is_some() {
        keep_label(look, &mut walk.rows)?;
    }
    rebuilt.rows += rows::put(conn, &walk.rows)?;
    Ok(())
}
