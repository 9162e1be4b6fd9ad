//! Which sessions an agent's own conversations are or once were, by every id that a session's agents ever had.
//!
//! Invariant: a question costs one step down an index for each id, however long the log is. A store from before the table was
//! there gets its rows from the log once, in one transaction, and holds one entry in memory at a time while it does.

use std::collections::BTreeSet;

use model::{Event, RowChange, SessionId, StreamId};
use rusqlite::{Connection, Result, TransactionBehavior, params};

use crate::ReadError;
use crate::sqlite::checksums::ATTACHMENTS;
use crate::sqlite::columns::STORED_ENTRY_COLUMNS;
use crate::sqlite::outside::is_damage;
use crate::sqlite::queries::collect_whole;
use crate::sqlite::rows::{self, StoredEntry};
use crate::sqlite::{apply, meta};

pub(super) fn find_sql() -> String {
    format!("SELECT {} FROM attachments WHERE agent = ?1 AND agent_session = ?2", ATTACHMENTS.checked("session"))
}

/// The sessions that these conversations belong to, in the order of the sessions' ids.
pub(super) fn find(conn: &Connection, agent: &str, ids: &[String]) -> Result<Vec<(String, SessionId)>, ReadError> {
    let sql = find_sql();
    let mut found = BTreeSet::new();
    for id in ids {
        for session in collect_whole(conn, &sql, params![agent, id], rows::session_id)? {
            found.insert((session, id));
        }
    }
    Ok(found.into_iter().map(|(session, id)| (id.clone(), session)).collect())
}

/// How the stored form of each event begins that tells which agent a session has and which conversation that agent is in.
const BEGINNINGS: [&str; 3] =
    [r#"{"type":"session.created""#, r#"{"type":"session.changed""#, r#"{"type":"agent.state_changed""#];

/// Fills the table from the log, unless that was done before.
pub(super) fn fill_once(conn: &mut Connection) -> Result<()> {
    if !meta::is_attachments_unfilled(conn)? {
        return Ok(());
    }
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for (id, name) in streams(&tx)? {
        let Ok(StreamId::Session(session)) = name.parse() else { continue };
        match fill(&tx, id, session) {
            // Whoever reads the stream is told; the others are filled.
            Err(err) if is_damage(&err) => tracing::warn!(stream = name, error = %err, "a session's log is damaged"),
            filled => filled?,
        }
    }
    meta::forget_attachments_unfilled(&tx)?;
    tx.commit()
}

fn streams(conn: &Connection) -> Result<Vec<(i64, String)>> {
    let mut statement = conn.prepare("SELECT id, CAST(name AS BLOB) FROM streams WHERE purged_at IS NULL")?;
    let found = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?)))?;
    found.map(|found| found.map(|(id, name)| (id, String::from_utf8_lossy(&name).into_owned()))).collect()
}

/// The rows of one session, up to the first entry that is not what was written.
fn fill(conn: &Connection, id: i64, session: SessionId) -> Result<()> {
    let sql = format!(
        "SELECT {STORED_ENTRY_COLUMNS}
         FROM entries
         WHERE
             stream = ?1
             AND (
                 substr(event, 1, length(?2)) = ?2
                 OR substr(event, 1, length(?3)) = ?3
                 OR substr(event, 1, length(?4)) = ?4
             )
         ORDER BY seq"
    );
    let [created, changed, state] = BEGINNINGS.map(str::as_bytes);
    let mut statement = conn.prepare_cached(&sql)?;
    let mut entries = statement.query(params![id, created, changed, state])?;
    let mut agent = String::new();
    while let Some(row) = entries.next()? {
        let stored = StoredEntry::from_row(row)?;
        let seq = stored.seq();
        let Ok(entry) = stored.verify(StreamId::Session(session), seq) else { return Ok(()) };
        match entry.event {
            Event::SessionCreated { agent: now, .. } | Event::SessionChanged { agent: Some(now), .. } => agent = now,
            Event::AgentStateChanged { attached: Some(attached), .. } => {
                let (agent, agent_session) = (agent.clone(), attached.agent_session);
                apply::apply(conn, &RowChange::PutAttachment { session, agent, agent_session })?;
            }
            _ => (),
        }
    }
    Ok(())
}
