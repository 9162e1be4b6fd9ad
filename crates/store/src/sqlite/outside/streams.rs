//! The streams that a store knows, one at a time.
//!
//! Invariant: a store of any schema that this program knows is read alike.

use model::{Seq, StreamId, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Result, Row};

use crate::Fence;
use crate::sqlite::checksums::STREAMS;

/// A stream's row.
pub(super) struct StreamRecord {
    pub(super) id: i64,
    /// What it is called, if that is a name that this program knows.
    pub(super) stream: Option<StreamId>,
    pub(super) name: String,
    pub(super) purged_at: Option<Timestamp>,
    /// Its entries are still being removed.
    pub(super) sweeping: bool,
    pub(super) fence: Option<Fence>,
}

impl StreamRecord {
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self> {
        let name: String = row.get(1)?;
        let stream: Option<StreamId> = name.parse().ok();
        let seq = row.get::<_, Option<i64>>(4)?.map(i64::cast_unsigned);
        let what: Option<String> = row.get(5)?;
        let fence_at = |(stream, seq)| Fence::damaged(stream, Seq(seq), what.unwrap_or_default());
        Ok(Self {
            id: row.get(0)?,
            stream,
            name,
            purged_at: row.get::<_, Option<i64>>(2)?.map(Timestamp::from_millis),
            sweeping: row.get(3)?,
            fence: stream.zip(seq).map(fence_at),
        })
    }

    pub(super) fn find(conn: &Connection, schema: i64, id: i64) -> Result<Option<Self>> {
        let sql = format!("SELECT {} FROM streams WHERE id = ?1", STREAMS.columns_in(schema));
        conn.prepare_cached(&sql)?.query_row([id], Self::from_row).optional()
    }

    pub(super) fn find_named(conn: &Connection, schema: i64, stream: StreamId) -> Result<Option<Self>> {
        let sql = format!("SELECT {} FROM streams WHERE name = ?1", STREAMS.columns_in(schema));
        conn.prepare_cached(&sql)?.query_row([stream.to_string()], Self::from_row).optional()
    }
}

/// Every stream's number, oldest first.
pub(super) fn ids(conn: &Connection) -> Result<Vec<i64>> {
    conn.prepare("SELECT id FROM streams ORDER BY id")?.query_map([], |row| row.get(0))?.collect()
}

/// The numbers of those that are fenced.
pub(super) fn fenced_ids(conn: &Connection, schema: i64) -> Result<Vec<i64>> {
    if !STREAMS.is_whole_in(schema) {
        return Ok(Vec::new());
    }
    let sql = "SELECT id FROM streams WHERE damaged_seq IS NOT NULL ORDER BY id";
    conn.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}
