//! Converts entries between their SQLite rows and the model.
//!
//! Invariant: an entry that comes out of here is the one that went in. Its checksum covers everything it says and
//! where it says it, so an entry that was altered or moved to another place is found and never passed on.

use model::{DecodeError, EVENT_VERSION, Entry, Event, Offer, Seq, SessionId, StreamId, Timestamp};
use rusqlite::{Error, Row};

use crate::Fence;
use crate::rows::{Cells, Cursor, TableRow};

pub(super) use crate::rows::sql_seq;

/// Read by [`StoredEntry::from_row`].
pub(super) const STORED_ENTRY_COLUMNS: &str =
    "entries.seq, entries.at, entries.version, entries.checksum, entries.event";

/// An entry as it is written: its event encoded and summed before the writer thread sees it.
pub(super) struct EncodedEntry {
    pub(super) seq: Seq,
    pub(super) at: Timestamp,
    pub(super) event: Vec<u8>,
    pub(super) checksum: u32,
}

impl EncodedEntry {
    pub(super) fn of(stream: StreamId, entry: &Entry<Event>) -> Self {
        let event = entry.event.encode();
        let checksum = checksum(stream, entry.seq, entry.at, EVENT_VERSION, &event);
        Self { seq: entry.seq, at: entry.at, event, checksum }
    }
}

/// An entry as it was found, not yet believed.
pub(super) struct StoredEntry {
    seq: i64,
    at: i64,
    version: i64,
    checksum: i64,
    event: Vec<u8>,
}

impl StoredEntry {
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self, Error> {
        Ok(Self { seq: row.get(0)?, at: row.get(1)?, version: row.get(2)?, checksum: row.get(3)?, event: row.get(4)? })
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.event.len()
    }

    /// The version and the bytes as they lie there.
    pub(super) fn event(&self) -> (i64, &[u8]) {
        (self.version, &self.event)
    }

    pub(super) fn at(&self) -> Timestamp {
        Timestamp::from_millis(self.at)
    }

    pub(super) fn seq(&self) -> Seq {
        Seq(self.seq.cast_unsigned())
    }

    /// The entry, if it is the one that was written at the place `seq` of `stream`.
    pub(super) fn verify(self, stream: StreamId, seq: Seq) -> Result<Entry<Event>, Fence> {
        let damaged = |what| Fence::damaged(stream, seq, what);
        if self.seq() != seq {
            return Err(damaged("the entry is missing"));
        }
        let at = self.at();
        let version = u16::try_from(self.version).map_err(|_| damaged("its version is no version"))?;
        if i64::from(checksum(stream, seq, at, version, &self.event)) != self.checksum {
            return Err(damaged("its checksum does not match"));
        }
        let event = Event::decode(stream, version, &self.event).map_err(|err| match err {
            DecodeError::Newer => Fence::newer(stream, seq),
            DecodeError::Malformed(_) => damaged("it is not a known event"),
        })?;
        Ok(Entry { seq, at, event })
    }
}

pub(crate) fn checksum(stream: StreamId, seq: Seq, at: Timestamp, version: u16, event: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(stream.to_string().as_bytes());
    // The zero byte ends the name, which has none, so that no two places are summed over the same bytes.
    hasher.update(&[0]);
    hasher.update(&seq.0.to_le_bytes());
    hasher.update(&at.as_millis().to_le_bytes());
    hasher.update(&version.to_le_bytes());
    hasher.update(event);
    hasher.finalize()
}

/// An id that is the row's first column.
pub(super) fn session_id(row: &Row<'_>) -> Result<SessionId, Error> {
    row.get(0).map(SessionId::from_bytes)
}

/// A row whose first columns are those of its table.
pub(super) fn read_row<R: TableRow>(row: &Row<'_>) -> Result<R, Error> {
    R::read(&mut Cursor::new(row))
}

/// A next block with, behind its columns, the turn that offers the same again.
pub(super) fn offer(row: &Row<'_>) -> Result<Offer, Error> {
    let mut columns = Cursor::new(row);
    Ok(Offer { row: TableRow::read(&mut columns)?, superseded_by: Cells::read(&mut columns)? })
}
