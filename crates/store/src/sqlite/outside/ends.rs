//! How each stream ends in an export: whole, purged or at its damage.
//!
//! Invariant: an end that was lost does not pass for the end. The index of the entries and the rows tell of entries that
//! are past reading, each stream's within one moment; what was written after the export had begun is no loss.

use std::collections::HashMap;

use model::{Position, Seq, StreamId};
use rusqlite::{Connection, Error, OptionalExtension as _, params};

use crate::Fence;
use crate::sqlite::outside::rows::known_seq;
use crate::sqlite::outside::streams::StreamRecord;
use crate::sqlite::outside::{StoreFile, is_damage};
use crate::sqlite::rows::sql_seq;

/// How far a stream was exported.
pub(super) enum Reached {
    Seq(Seq),
    Fence(Fence),
}

impl StoreFile {
    /// Streams that were purged, and those that are damaged with the damage as their fence, by name; of a log that was
    /// exported up to `last`.
    pub(super) fn ended_streams(
        &self,
        ends: &HashMap<i64, Reached>,
        last: Position,
    ) -> Result<Vec<StreamRecord>, Error> {
        let ids: Vec<i64> = self
            .conn
            .prepare("SELECT id FROM streams ORDER BY name")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let mut ended = Vec::new();
        for id in ids {
            let moment = self.conn.unchecked_transaction()?;
            let Some(mut record) = StreamRecord::find(&moment, self.schema, id)? else { continue };
            let Some(stream) = record.stream else { continue };
            if record.purged_at.is_none() {
                record.fence = match ends.get(&id) {
                    Some(Reached::Fence(fence)) => Some(fence.clone()),
                    Some(Reached::Seq(head)) => self.end(&moment, &record, stream, *head, last)?,
                    None => self.end(&moment, &record, stream, Seq::START, last)?,
                };
            }
            moment.finish()?;
            if record.purged_at.is_some() || record.fence.is_some() {
                ended.push(record);
            }
        }
        Ok(ended)
    }

    /// What is wrong behind the last entry that was exported.
    fn end(
        &self,
        conn: &Connection,
        record: &StreamRecord,
        stream: StreamId,
        head: Seq,
        last: Position,
    ) -> Result<Option<Fence>, Error> {
        let what = match next_entry(conn, record.id, head) {
            Ok(Some((seq, position))) if seq == head.next() && position > last => None,
            Ok(Some((seq, _))) if seq == head.next() => Some("it cannot be read"),
            Ok(Some(_)) => Some("the entry is missing"),
            Ok(None) if head < known_seq(conn, self.schema, stream)? => Some("the entry is missing"),
            Ok(None) => None,
            Err(err) if is_damage(&err) => Some("it cannot be read"),
            Err(err) => return Err(err),
        };
        let lost = what.map(|what| Fence::damaged(stream, head.next(), what));
        // A fence after the last entry stands for a lost tail.
        Ok(lost.or_else(|| record.fence.clone().filter(|fence| fence.seq > head)))
    }
}

/// The number and the position of the entry after `head`. The index alone is asked, which has both.
fn next_entry(conn: &Connection, id: i64, head: Seq) -> Result<Option<(Seq, Position)>, Error> {
    let mut statement = conn.prepare_cached(
        "SELECT seq, position
         FROM entries
         WHERE stream = ?1 AND seq > ?2
         ORDER BY seq
         LIMIT 1",
    )?;
    let number = |row: &rusqlite::Row<'_>, column| row.get::<_, i64>(column).map(i64::cast_unsigned);
    statement
        .query_row(params![id, sql_seq(head)], |row| Ok((Seq(number(row, 0)?), Position(number(row, 1)?))))
        .optional()
}
