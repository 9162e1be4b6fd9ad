//! Sessions that are damaged, and from where on.
//!
//! Invariant: a fence is put up as soon as damage is met and taken down only by whoever has verified the whole stream.
//! Up to it a session is read; nothing is ever appended behind it, since that would pass a broken thread off as whole.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use model::{Seq, SessionId, StreamId};
use rusqlite::{Connection, params};

use crate::Damage;
use crate::sqlite::rows::sql_seq;

/// The fences there are; shared by the readers, who meet damage, and the writer, who must not write behind it.
#[derive(Debug, Default)]
pub(super) struct Fences(Mutex<HashMap<SessionId, Damage>>);

impl Fences {
    /// The fences that earlier lives have put up.
    pub(super) fn load(conn: &Connection) -> rusqlite::Result<Self> {
        let mut statement =
            conn.prepare("SELECT name, damaged_seq, damage FROM streams WHERE damaged_seq IS NOT NULL")?;
        let found = statement.query_map([], |row| {
            let (name, seq, what): (String, i64, Option<String>) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok((name, Seq(seq.cast_unsigned()), what.unwrap_or_default()))
        })?;
        let mut fences = HashMap::new();
        for found in found {
            let (name, seq, what) = found?;
            if let Ok(stream @ StreamId::Session(session)) = name.parse() {
                fences.insert(session, Damage { stream, seq, what: what.into() });
            }
        }
        Ok(Self(Mutex::new(fences)))
    }

    /// Where the fence of a stream is. Only sessions have one: without the server's own stream nobody could sign in.
    pub(super) fn find(&self, stream: StreamId) -> Option<Damage> {
        let StreamId::Session(session) = stream else { return None };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&session).cloned()
    }

    /// Puts one up; `false` if there is one already, or none is to be.
    pub(super) fn put(&self, damage: &Damage) -> bool {
        let StreamId::Session(session) = damage.stream else { return false };
        let mut fences = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match fences.get(&session) {
            Some(_) => false,
            None => fences.insert(session, damage.clone()).is_none(),
        }
    }

    pub(super) fn remove(&self, session: SessionId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&session);
    }
}

/// Makes a fence outlive the process.
pub(super) fn write(conn: &Connection, damage: &Damage) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "UPDATE streams
         SET damaged_seq = ?2, damage = ?3
         WHERE name = ?1 AND purged_at IS NULL",
    )?
    .execute(params![damage.stream.to_string(), sql_seq(damage.seq), damage.what])?;
    Ok(())
}
