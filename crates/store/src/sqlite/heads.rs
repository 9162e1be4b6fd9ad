//! What the writer remembers of the streams it met lately.
//!
//! Invariant: what is remembered equals what the writer's own transaction would read. So a rollback forgets it all.

use std::collections::HashMap;

use model::{Seq, StreamId};
use rusqlite::{Connection, Error};

use crate::Head;
use crate::sqlite::checksums::STREAMS;
use crate::sqlite::queries;

/// Streams that are remembered before all are forgotten: more than write at once, and some hundred kilobytes.
const MAX_STREAMS: usize = 4096;

#[derive(Clone, Copy)]
pub(super) struct Known {
    id: i64,
    pub(super) head: Seq,
    pub(super) purged: bool,
}

#[derive(Default)]
pub(super) struct Heads(HashMap<StreamId, Known>);

impl Heads {
    /// Where a stream stands; `None` if it has no row yet.
    pub(super) fn find(&mut self, conn: &Connection, stream: StreamId) -> Result<Option<Known>, Error> {
        if let Some(known) = self.0.get(&stream) {
            return Ok(Some(*known));
        }
        let Some(found) = queries::find_stream(conn, stream)? else { return Ok(None) };
        let known = match found.head {
            Head::At(head) => Known { id: found.id, head, purged: false },
            Head::Purged => Known { id: found.id, head: Seq::START, purged: true },
        };
        self.remember(stream, known);
        Ok(Some(known))
    }

    /// The number of a stream's row.
    pub(super) fn find_or_create(&mut self, conn: &Connection, stream: StreamId) -> Result<i64, Error> {
        if let Some(known) = self.find(conn, stream)? {
            return Ok(known.id);
        }
        let id = conn.prepare_cached("INSERT INTO streams (name) VALUES (?1)")?.insert([stream.to_string()])?;
        STREAMS.set_checksum(conn, "id = ?1", &[&id])?;
        self.remember(stream, Known { id, head: Seq::START, purged: false });
        Ok(id)
    }

    pub(super) fn advance(&mut self, stream: StreamId, head: Seq) {
        if let Some(known) = self.0.get_mut(&stream) {
            known.head = head;
        }
    }

    pub(super) fn purge(&mut self, stream: StreamId) {
        if let Some(known) = self.0.get_mut(&stream) {
            known.purged = true;
        }
    }

    pub(super) fn forget_all(&mut self) {
        self.0.clear();
    }

    fn remember(&mut self, stream: StreamId, known: Known) {
        if self.0.len() >= MAX_STREAMS {
            self.0.clear();
        }
        self.0.insert(stream, known);
    }
}
