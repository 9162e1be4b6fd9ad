//! The read tables made anew from the log.
//!
//! Invariant: one transaction, so that a kill at any point leaves the old rows or the new ones. The log, receipts and
//! tombstones are not touched. What only the old rows knew, that a stream has lost its tail, is kept as a fence.

use model::Seq;
use rusqlite::{Connection, Error, TransactionBehavior};

use crate::StorageError;
use crate::sqlite::apply;
use crate::sqlite::fences::has_fence;
use crate::sqlite::outside::repair::{Repair, put_fence};
use crate::sqlite::outside::rows::Rows;
use crate::sqlite::outside::streams::{self, StreamRecord};
use crate::sqlite::outside::walk::Walk;
use crate::sqlite::outside::{OnProgress, Progress, Stage};

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
    /// Empties the read tables and fills them from the log.
    pub fn rebuild(&mut self, progress: OnProgress<'_>) -> Result<Rebuilt, StorageError> {
        let tx = self.opened.writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut rebuilt = Rebuilt::default();
        let ids = streams::ids(&tx)?;
        for &id in &ids {
            keep_lost_tail(&tx, self.schema, id)?;
        }
        // Emptied whole, because that needs nothing of what is in them.
        tx.execute_batch(
            "DELETE FROM sessions;
             DELETE FROM turns;
             DELETE FROM prompts;
             DELETE FROM sets;
             DELETE FROM facts;
             DELETE FROM context_entries;
             DELETE FROM titles;
             DELETE FROM next_blocks;
             DELETE FROM works;
             DELETE FROM work_names;
             DELETE FROM tokens;
             DELETE FROM remembered;",
        )?;
        let total = ids.len() as u64;
        for (done, id) in (0..).zip(ids) {
            progress(Progress { stage: Stage::Rebuild, done, total });
            fill(&tx, self.schema, id, &mut rebuilt)?;
        }
        tx.commit()?;
        Ok(rebuilt)
    }
}

fn keep_lost_tail(conn: &Connection, schema: i64, id: i64) -> Result<(), Error> {
    let Some(StreamRecord { stream: Some(stream), purged_at: None, fence: None, .. }) =
        StreamRecord::find(conn, schema, id)?
    else {
        return Ok(());
    };
    let head: Option<i64> =
        conn.prepare_cached("SELECT MAX(seq) FROM entries WHERE stream = ?1")?.query_row([id], |row| row.get(0))?;
    let mut walk = Walk::new(id, stream);
    walk.head = Seq(head.unwrap_or(0).cast_unsigned());
    walk.miss_tail(Rows::read(conn, schema, stream)?.0.known_seq());
    match &walk.damage {
        Some(damage) => put_fence(conn, id, Some(damage)),
        None => Ok(()),
    }
}

fn fill(conn: &Connection, schema: i64, id: i64, rebuilt: &mut Rebuilt) -> Result<(), Error> {
    let Some(record) = StreamRecord::find(conn, schema, id)? else { return Ok(()) };
    let (Some(stream), None) = (record.stream, record.purged_at) else { return Ok(()) };
    let walk = Walk::whole(conn, id, stream)?;
    let fence = walk.fence(&record);
    rebuilt.streams += 1;
    rebuilt.entries += walk.head.0;
    rebuilt.damaged += u64::from(fence.is_some());
    if fence != record.fence && has_fence(stream) {
        put_fence(conn, id, fence.as_ref())?;
    }
    for change in walk.rows.into_changes(stream) {
        apply::apply(conn, &change)?;
        rebuilt.rows += 1;
    }
    Ok(())
}
