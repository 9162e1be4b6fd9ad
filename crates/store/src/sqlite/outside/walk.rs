//! One stream from its first entry on: verified, counted and folded, as far as it can be relied on.
//!
//! Invariant: what is folded is what was written, 1, 2, 3 … without a gap; the walk ends before the first entry that
//! is not. Pages are read each in a transaction of the caller's choice, so that a long stream holds nothing up.

use model::{Event, NamedPayloads, Seq, Session, StreamId, fold};
use rusqlite::{Connection, Result, params};

use crate::rows::Rows;
use crate::sqlite::open::newest_schema;
use crate::sqlite::outside::is_damage;
use crate::sqlite::outside::streams::StreamRecord;
use crate::sqlite::rows::{STORED_ENTRY_COLUMNS, StoredEntry, sql_seq};
use crate::{Fence, MAX_PAGE_BYTES};

const PAGE_ENTRIES: usize = 1000;

pub(in crate::sqlite) struct Walk {
    pub(super) stream: StreamId,
    id: i64,
    /// The last entry that was folded in.
    pub(super) head: Seq,
    pub(super) rows: Rows,
    pub(super) fence: Option<Fence>,
    session: Option<Session>,
    /// What the entries name.
    pub(super) payloads: NamedPayloads,
}

impl Walk {
    pub(super) fn new(id: i64, stream: StreamId) -> Self {
        Self {
            stream,
            id,
            head: Seq::START,
            rows: Rows::default(),
            fence: None,
            session: None,
            payloads: NamedPayloads::default(),
        }
    }

    /// Walks the whole stream at once.
    pub(super) fn whole(conn: &Connection, id: i64, stream: StreamId) -> Result<Self> {
        let mut walk = Self::new(id, stream);
        while !walk.step(conn)? {}
        Ok(walk)
    }

    /// Begins with a stream that is there, by its name.
    pub(in crate::sqlite) fn begin(conn: &Connection, stream: StreamId) -> Result<Option<Self>> {
        let record =
            StreamRecord::find_named(conn, newest_schema(), stream)?.filter(|record| record.purged_at.is_none());
        Ok(record.map(|record| Self::new(record.id, stream)))
    }

    /// Reads a page; true if that was the last one.
    pub(in crate::sqlite) fn step(&mut self, conn: &Connection) -> Result<bool> {
        let sql = format!(
            "SELECT {STORED_ENTRY_COLUMNS}
             FROM entries
             WHERE stream = ?1 AND seq > ?2
             ORDER BY seq
             LIMIT {PAGE_ENTRIES}"
        );
        let mut statement = conn.prepare_cached(&sql)?;
        let mut rows = statement.query(params![self.id, sql_seq(self.head)])?;
        let mut size_bytes = 0;
        let mut count = 0;
        while size_bytes < MAX_PAGE_BYTES && count < PAGE_ENTRIES {
            let stored = match rows.next().and_then(|row| row.map(StoredEntry::from_row).transpose()) {
                Ok(Some(stored)) => stored,
                Ok(None) => return Ok(true),
                Err(err) if is_damage(&err) => return Ok(self.stop("it cannot be read")),
                Err(err) => return Err(err),
            };
            size_bytes += stored.size_bytes();
            count += 1;
            let entry = match stored.verify(self.stream, self.head.next()) {
                Ok(entry) => entry,
                Err(fence) => {
                    self.fence = Some(fence);
                    return Ok(true);
                }
            };
            let rows;
            (self.session, rows) = fold(self.stream, self.session.take(), &entry);
            rows.iter().for_each(|change| self.rows.apply(change));
            self.head = entry.seq;
            if let Event::Session(event) = &entry.event {
                self.payloads.apply(event);
            }
        }
        Ok(false)
    }

    fn stop(&mut self, what: &'static str) -> bool {
        self.fence = Some(Fence::damaged(self.stream, self.head.next(), what));
        true
    }

    /// Rows and entries change together, so a row that knows of an entry after the last one has lost it.
    pub(super) fn miss_tail(&mut self, known: Seq) {
        if self.fence.is_none() && self.head < known {
            self.stop("the entry is missing");
        }
    }

    /// Where the stream has to be fenced off. A fence after the last entry stands for a lost tail, of which the rows
    /// may know nothing any more: it stays until that entry is there again.
    pub(super) fn fence(&self, record: &StreamRecord) -> Option<Fence> {
        self.fence.clone().or_else(|| record.fence.clone().filter(|fence| fence.seq > self.head))
    }
}
