//! Streams that are damaged, and from where on.
//!
//! Invariant: a fence is put up as soon as damage is met and taken down only by whoever has verified the whole stream.
//! Up to it a stream is read; nothing is ever appended behind it, since that would pass a broken thread off as whole.
//! One that is damaged keeps nobody from the others.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use model::{Seq, StreamId};
use rusqlite::Connection;

use crate::Damage;
use crate::sqlite::checksums::STREAMS;
use crate::sqlite::rows::sql_seq;

/// The fences there are; shared by the readers, who meet damage, and the writer, who must not write behind it.
#[derive(Debug, Default)]
pub(super) struct Fences(Mutex<HashMap<StreamId, Damage>>);

/// Whether a stream is fenced off when it is damaged: all but the server's own, without which nobody could sign in.
pub(super) fn has_fence(stream: StreamId) -> bool {
    match stream {
        StreamId::Session(_) | StreamId::Work => true,
        StreamId::Server => false,
    }
}

impl Fences {
    /// The fences that earlier lives have put up.
    pub(super) fn load(conn: &Connection) -> rusqlite::Result<Self> {
        Ok(Self(Mutex::new(stored(conn)?)))
    }

    /// The fences that the rows have after they were set right; logs those that were not there before.
    pub(super) fn load_anew(&self, conn: &Connection) -> rusqlite::Result<Self> {
        let fences = stored(conn)?;
        fences.values().filter(|damage| self.find(damage.stream).is_none()).for_each(log_fence);
        Ok(Self(Mutex::new(fences)))
    }

    /// Puts up those that the rows have besides.
    pub(super) fn take_over(&self, conn: &Connection) -> rusqlite::Result<()> {
        for damage in stored(conn)?.values() {
            self.put(damage);
        }
        Ok(())
    }

    /// Where the fence of a stream is.
    pub(super) fn find(&self, stream: StreamId) -> Option<Damage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&stream).cloned()
    }

    /// Puts one up and logs it; `false` if there is one already, or none is to be.
    pub(super) fn put(&self, damage: &Damage) -> bool {
        let mut fences = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match fences.get(&damage.stream) {
            None if has_fence(damage.stream) => {
                log_fence(damage);
                fences.insert(damage.stream, damage.clone()).is_none()
            }
            Some(_) | None => false,
        }
    }

    pub(super) fn remove(&self, stream: StreamId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&stream);
    }
}

/// What the rows say.
fn stored(conn: &Connection) -> rusqlite::Result<HashMap<StreamId, Damage>> {
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
            fences.insert(stream, Damage { stream, seq, what: what.into() });
        }
    }
    Ok(fences)
}

/// Every fence that is put up is told, so that whoever runs the server learns which session takes no more, and why.
fn log_fence(Damage { stream, seq, what }: &Damage) {
    tracing::error!(%stream, %seq, %what, "a stream is damaged: it can be read up to there and takes no more");
}

/// Makes a fence outlive the process.
pub(super) fn write(conn: &Connection, damage: &Damage) -> rusqlite::Result<()> {
    STREAMS.update(
        conn,
        "damaged_seq = ?2, damage = ?3",
        "name = ?1 AND purged_at IS NULL",
        &[&damage.stream.to_string()],
        &[&sql_seq(damage.seq), &damage.what],
    )
}
