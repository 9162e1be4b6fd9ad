//! Payloads of a whole store: which its entries name, and how the files beside it compare with them.
//!
//! Invariant: a payload that is missing, edited or past reading is named in a report and stops nothing else. Names are read
//! session by session, so memory does not grow with the store.

use model::{Event, NamedPayload, NamedPayloads, Position, SessionId, StreamId};
use rusqlite::{Connection, Error, params};
use serde::{Deserialize, Serialize};

use crate::CopyError;
use crate::payloads::{PayloadState, PlainPayloads};
use crate::sqlite::outside::streams::{self, StreamRecord};
use crate::sqlite::outside::{OnProgress, Progress, Stage, is_damage};

/// No more than this many are named, and the count of the others.
const MAX_NAMED: usize = 1_000;

/// What became of the payloads of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PayloadReport {
    /// How many are there.
    pub count: u64,
    /// How many bytes they have, as their entries say.
    pub bytes: u64,
    /// Those that are not there or could not be read: `<session>/outputs/…`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Those that are there with other bytes than were stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// How many of both are not named, because there are so many.
    #[serde(default, skip_serializing_if = "is_none")]
    pub more: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "this is how serde calls it")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl PayloadReport {
    /// Every payload that an entry names is there as it was stored.
    pub fn is_whole(&self) -> bool {
        self.missing.is_empty() && self.changed.is_empty()
    }

    pub(super) fn add(&mut self, session: SessionId, payload: &NamedPayload, state: PayloadState) {
        if state != PayloadState::Missing {
            self.count += 1;
            self.bytes += payload.bytes;
        }
        let has_room = self.missing.len() + self.changed.len() < MAX_NAMED;
        let list = match state {
            PayloadState::Kept => return,
            PayloadState::Changed => &mut self.changed,
            PayloadState::Missing => &mut self.missing,
        };
        if has_room {
            list.push(format!("{session}/{}", payload.path));
        } else {
            self.more += 1;
        }
    }
}

/// Why payloads could not be carried over.
#[derive(Debug, thiserror::Error)]
pub(super) enum CarryError {
    #[error(transparent)]
    Sql(#[from] Error),
    #[error(transparent)]
    Files(#[from] CopyError),
}

/// Calls `take` with the payloads of each session that has any, of entries up to a position.
pub(super) fn each_session<E: From<Error>>(
    conn: &Connection,
    schema: i64,
    up_to: Position,
    progress: OnProgress<'_>,
    mut take: impl FnMut(SessionId, &NamedPayloads) -> Result<(), E>,
) -> Result<(), E> {
    let ids = streams::ids(conn)?;
    let total = ids.len() as u64;
    for (done, id) in (0..).zip(ids) {
        progress(Progress { stage: Stage::Payloads, done, total });
        let Some(record) = StreamRecord::find(conn, schema, id)? else { continue };
        let (Some(StreamId::Session(session)), None) = (record.stream, record.purged_at) else { continue };
        let named = named(conn, id, session, up_to)?;
        if !named.is_empty() {
            take(session, &named)?;
        }
    }
    Ok(())
}

/// The payloads that a session's entries name now; none if it was purged.
pub(super) fn named_by(conn: &Connection, schema: i64, session: SessionId) -> Result<NamedPayloads, Error> {
    match StreamRecord::find_named(conn, schema, StreamId::Session(session))? {
        Some(record) if record.purged_at.is_none() => named(conn, record.id, session, Position(u64::MAX >> 1)),
        Some(_) | None => Ok(NamedPayloads::default()),
    }
}

fn named(conn: &Connection, id: i64, session: SessionId, up_to: Position) -> Result<NamedPayloads, Error> {
    let mut statement = conn.prepare_cached(
        "SELECT version, event
         FROM entries
         WHERE stream = ?1 AND position <= ?2
         ORDER BY seq",
    )?;
    let mut rows = statement.query(params![id, up_to.0.cast_signed()])?;
    let mut named = NamedPayloads::default();
    loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(named),
            // The session ends here for everybody.
            Err(err) if is_damage(&err) => return Ok(named),
            Err(err) => return Err(err),
        };
        // Most entries name none, and are not decoded for it.
        let Ok(bytes) = row.get_ref(1)?.as_bytes() else { continue };
        if !NamedPayloads::may_change(bytes) {
            continue;
        }
        let version = u16::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
        // What can not be decoded is the log's own damage, and said to be so elsewhere.
        if let Ok(Event::Session(event)) = Event::decode(StreamId::Session(session), version, bytes) {
            named.apply(&event);
        }
    }
}

/// Copies the payloads that a store's entries name from one folder of copies to another.
pub(super) fn copy_named(
    conn: &Connection,
    schema: i64,
    from: &PlainPayloads,
    to: &PlainPayloads,
    progress: OnProgress<'_>,
) -> Result<PayloadReport, CarryError> {
    let mut report = PayloadReport::default();
    each_session(conn, schema, Position(u64::MAX >> 1), progress, |session, named| {
        for payload in named.iter() {
            report.add(session, payload, from.copy(session, payload, to)?);
        }
        Ok::<_, CarryError>(())
    })?;
    Ok(report)
}

/// Compares the files in a folder of copies with what a store's entries name, and removes those that none names.
pub(super) fn settle(
    conn: &Connection,
    schema: i64,
    files: &PlainPayloads,
    progress: OnProgress<'_>,
) -> Result<PayloadReport, CarryError> {
    let mut report = PayloadReport::default();
    each_session(conn, schema, Position(u64::MAX >> 1), progress, |session, named| {
        for payload in named.iter() {
            report.add(session, payload, files.compare(session, payload));
        }
        Ok::<_, CarryError>(())
    })?;
    for session in files.sessions()? {
        let named = named_by(conn, schema, session)?;
        for path in files.list(session)?.iter().filter(|path| named.get(path).is_none()) {
            files.remove(session, path)?;
        }
    }
    Ok(report)
}
