//! Fills the table of attachments, which says which sessions an agent's own conversations are or once were, in a store from before
//! it had the table.
//!
//! Invariant: the rows come from the log, once and in one transaction, with one entry in memory at a time.

use model::{Entry, RowChange, SessionEvent, SessionId, StreamId};
use rusqlite::{Connection, Result, params};

use crate::sqlite::apply;
use crate::sqlite::mend::{self, pages};
use crate::sqlite::meta::Todo;
use crate::sqlite::outside::is_damage;
use crate::sqlite::rows::{STORED_ENTRY_COLUMNS, StoredEntry};

/// How the stored form of each event begins that tells which agent a session has and which conversation that agent is in.
const BEGINNINGS: [&str; 3] =
    [r#"{"type":"session.created""#, r#"{"type":"session.changed""#, r#"{"type":"agent.state_changed""#];

/// Fills the table from the log, which `look` reads, since a transaction that meets damage may write nothing.
pub(super) fn fill(conn: &mut Connection, look: &Connection) -> Result<()> {
    let streams = "SELECT id, CAST(name AS BLOB) FROM streams WHERE purged_at IS NULL";
    let streams = pages::up_to_damage(look, streams, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?)))?;
    mend::in_transaction(conn, |tx| {
        for (id, name) in streams {
            let Ok(StreamId::Session(session)) = String::from_utf8_lossy(&name).parse() else { continue };
            match attachments(look, id, session) {
                // Whoever reads the stream is told; the others are filled.
                Err(err) if is_damage(&err) => tracing::warn!(%session, error = %err, "a session's log is damaged"),
                found => found?.iter().try_for_each(|change| apply::apply(tx, change))?,
            }
        }
        Todo::FillAttachments.is_done(tx)
    })
}

/// The rows of one session, up to the first entry that is not what was written.
fn attachments(look: &Connection, id: i64, session: SessionId) -> Result<Vec<RowChange>> {
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
    let mut statement = look.prepare_cached(&sql)?;
    let mut entries = statement.query(params![id, created, changed, state])?;
    let mut agent = String::new();
    let mut found = Vec::new();
    while let Some(row) = entries.next()? {
        let stored = StoredEntry::from_row(row)?;
        let seq = stored.seq();
        let Ok(Some(entry)) = stored.verify(StreamId::Session(session), seq).map(Entry::into_session) else { break };
        match entry.event {
            SessionEvent::SessionCreated { agent: now, .. } | SessionEvent::SessionChanged { agent: Some(now), .. } => {
                agent = now;
            }
            SessionEvent::AgentStateChanged { attached: Some(attached), .. } => {
                let (agent, agent_session) = (agent.clone(), attached.agent_session);
                found.push(RowChange::PutAttachment { session, agent, agent_session });
            }
            _ => (),
        }
    }
    Ok(found)
}
