//! A store that is owned in order to be mended, and nothing else meanwhile.
//!
//! Invariant: the owner's lock is held from [`Repair::begin`] to the end, and a change is judged again inside the
//! transaction that makes it, so that what a check found before the lock was taken is only a hint.

use std::path::Path;

use model::StreamId;
use rusqlite::{Connection, Error, TransactionBehavior};

use crate::sqlite::checkpoint::{self, Health};
use crate::sqlite::checksums::STREAMS;
use crate::sqlite::open::{self, Opened};
use crate::sqlite::outside::rows::known_seq;
use crate::sqlite::outside::streams::StreamRecord;
use crate::sqlite::outside::walk::Walk;
use crate::sqlite::outside::{CheckReport, StoreFile};
use crate::sqlite::rows::sql_seq;
use crate::{Fence, FenceCause, OpenError, StorageError};

/// A store's file, owned.
pub struct Repair {
    pub(super) opened: Opened,
}

/// What became of the fences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettledFences {
    /// Streams that take nothing more from now on.
    pub set: Vec<StreamId>,
    /// Streams that are whole, and take more again.
    pub lifted: Vec<StreamId>,
}

impl Repair {
    /// Owns the store at `path`, which must be one, and brings it up to date.
    pub fn begin(path: &Path) -> Result<Self, OpenError> {
        let found = StoreFile::open(path)?;
        Ok(Self { opened: open::open(path, found.incarnation())? })
    }

    /// Fences off what a check found damaged, and lifts the fences of what it found whole.
    pub fn settle_fences(&mut self, report: &CheckReport) -> Result<SettledFences, StorageError> {
        let schema = open::newest_schema();
        let mut fences = SettledFences::default();
        let tx = self.opened.writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for stream in report.misfenced() {
            let Some(record) = StreamRecord::find_named(&tx, schema, stream)? else { continue };
            if record.purged_at.is_some() {
                continue;
            }
            let mut walk = Walk::whole(&tx, record.id, stream)?;
            walk.miss_tail(known_seq(&tx, schema, stream)?);
            let due = walk.fence(&record);
            match (&due, &record.fence) {
                (Some(_), _) => fences.set.push(stream),
                (None, Some(_)) => fences.lifted.push(stream),
                (None, None) => (),
            }
            put_fence(&tx, record.id, due.as_ref())?;
        }
        tx.commit()?;
        Ok(fences)
    }
}

impl Drop for Repair {
    fn drop(&mut self) {
        checkpoint::finish(&self.opened.writer, &Health::default());
    }
}

pub(super) fn put_fence(conn: &Connection, id: i64, fence: Option<&Fence>) -> Result<(), Error> {
    let stored = fence.and_then(|fence| match &fence.cause {
        FenceCause::Damaged(what) => Some((sql_seq(fence.seq), what)),
        FenceCause::Newer => None,
    });
    let (seq, what) = (stored.map(|(seq, _)| seq), stored.map(|(_, what)| what));
    STREAMS.update(conn, "damaged_seq = ?2, damage = ?3", "id = ?1", &[&id], &[&seq, &what])
}
