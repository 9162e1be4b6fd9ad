//! The named questions, each with its SQL.
//!
//! Invariant: every entry that leaves here was verified, and follows the one before it in its stream without a gap.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use model::{
    Context, DeletedKey, Entry, Event, InteractionId, ListKey, Position, RememberedRow, Seq, Session, SessionId,
    SessionRow, StreamId, Timestamp, TitleRow, TokenRow, Turn, TurnRow,
};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::attachments::{Attachments, BEGINNINGS};
use crate::sqlite::columns::{self, SESSION_COLUMNS, STORED_ENTRY_COLUMNS};
use crate::sqlite::fences::has_fence;
use crate::sqlite::rows::{self, StoredEntry, sql_seq};
use crate::{Damage, Head, MAX_PAGE_BYTES, PlacedEntry, ReadError, Receipt, StorageError};

impl From<rusqlite::Error> for ReadError {
    fn from(err: rusqlite::Error) -> Self {
        Self::Storage(StorageError(Box::new(err)))
    }
}

/// What the log knows of a stream that it has met.
pub(super) struct Stream {
    pub(super) id: i64,
    pub(super) head: Head,
}

pub(super) fn find_stream(conn: &Connection, stream: StreamId) -> rusqlite::Result<Option<Stream>> {
    conn.prepare_cached(
        "SELECT id, purged_at IS NOT NULL, (SELECT MAX(seq) FROM entries WHERE stream = streams.id)
         FROM streams
         WHERE name = ?1",
    )?
    .query_row([stream.to_string()], |row| {
        let head = match row.get(1)? {
            true => Head::Purged,
            false => Head::At(Seq(row.get::<_, Option<i64>>(2)?.unwrap_or(0).cast_unsigned())),
        };
        Ok(Stream { id: row.get(0)?, head })
    })
    .optional()
}

/// How far a stream has got; a damaged one, up to its damage.
pub(super) fn head(conn: &Connection, stream: StreamId, fence: Option<&Damage>) -> rusqlite::Result<Head> {
    Ok(match (find_stream(conn, stream)?.map(|stream| stream.head), fence) {
        (Some(Head::Purged), _) => Head::Purged,
        (Some(Head::At(head)), Some(fence)) => Head::At(head.min(fence.seq.previous())),
        (Some(Head::At(head)), None) => Head::At(head),
        (None, _) => Head::At(Seq::START),
    })
}

/// What was found, and the first thing that was not as it should be.
pub(super) struct Found<T> {
    pub(super) what: T,
    pub(super) damage: Option<Damage>,
}

pub(super) fn entries(
    conn: &Connection,
    stream: StreamId,
    after: Seq,
    limit: usize,
    fence: Option<Damage>,
) -> Result<Found<Vec<Entry>>, ReadError> {
    let none = Found { what: Vec::new(), damage: None };
    let Some(Stream { id, head: Head::At(head) }) = find_stream(conn, stream)? else { return Ok(none) };
    if let Some(fence) = &fence
        && after >= fence.seq.previous()
    {
        return Ok(Found { damage: Some(fence.clone()), ..none });
    }
    let sql = format!(
        "SELECT {STORED_ENTRY_COLUMNS}
         FROM entries
         WHERE stream = ?1 AND seq > ?2 AND seq < ?3
         ORDER BY seq
         LIMIT ?4"
    );
    let end = fence.map_or(head.next(), |fence| fence.seq);
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params![id, sql_seq(after), sql_seq(end), sql_limit(limit)])?;
    let mut page = Vec::new();
    let mut size_bytes = 0;
    let mut expected = after;
    while let Some(row) = rows.next()? {
        let stored = StoredEntry::from_row(row)?;
        size_bytes += stored.size_bytes();
        if size_bytes > MAX_PAGE_BYTES && !page.is_empty() {
            break;
        }
        expected = expected.next();
        match stored.verify(stream, expected) {
            Ok(entry) => page.push(entry),
            Err(damage) => return Ok(Found { what: page, damage: Some(damage) }),
        }
    }
    Ok(Found { what: page, damage: None })
}

/// A page of the whole log. What damaged streams have after their damage is left out; a page without anything is the
/// end.
pub(super) fn all_entries(
    conn: &Connection,
    after: Position,
    limit: usize,
    fence: impl Fn(StreamId) -> Option<Damage>,
) -> Result<(Vec<PlacedEntry>, Vec<Damage>), ReadError> {
    // A left join, so that an entry of no known stream is an error and not overlooked.
    let sql = format!(
        "SELECT {STORED_ENTRY_COLUMNS}, entries.position, streams.name
         FROM entries
         LEFT JOIN streams ON streams.id = entries.stream
         WHERE entries.position > ?1 AND streams.purged_at IS NULL
         ORDER BY entries.position"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let after = i64::try_from(after.0).unwrap_or(i64::MAX);
    let mut rows = statement.query([after])?;
    let (mut page, mut damages) = (Vec::new(), Vec::new());
    let mut size_bytes = 0;
    let mut streams: HashMap<StreamId, (Option<Seq>, Option<Damage>)> = HashMap::new();
    while page.len() < limit
        && let Some(row) = rows.next()?
    {
        let name: String = row.get(6)?;
        let stream: StreamId = name.parse().map_err(|err| ReadError::Storage(StorageError(Box::new(err))))?;
        let stored = StoredEntry::from_row(row)?;
        let (head, fence) = streams.entry(stream).or_insert_with(|| (None, fence(stream)));
        if fence.as_ref().is_some_and(|fence| stored.seq() >= fence.seq) {
            continue;
        }
        size_bytes += stored.size_bytes();
        if size_bytes > MAX_PAGE_BYTES && !page.is_empty() {
            break;
        }
        let position = Position(row.get::<_, i64>(5)?.cast_unsigned());
        // A page starts in the middle of its streams; from there on each must go on without a gap.
        let seq = head.map_or(stored.seq(), Seq::next);
        match stored.verify(stream, seq) {
            Ok(entry) => {
                *head = Some(seq);
                page.push(PlacedEntry { position, stream, entry });
            }
            Err(damage) if has_fence(stream) => {
                *fence = Some(damage.clone());
                damages.push(damage);
            }
            Err(damage) => return Err(ReadError::Damaged(damage)),
        }
    }
    Ok((page, damages))
}

pub(super) fn session(
    conn: &Connection,
    id: SessionId,
    fence: Option<&Damage>,
) -> Result<Option<Found<Session>>, ReadError> {
    let sql = format!("SELECT {SESSION_COLUMNS} FROM sessions WHERE id = ?1");
    let Some(row) = conn.prepare_cached(&sql)?.query_row([id.as_bytes()], rows::session_row).optional()? else {
        return Ok(None);
    };
    let sql = format!("SELECT {} FROM prompts WHERE session = ?1", columns::PROMPT_COLUMNS);
    let mut queue = collect(conn, &sql, [id.as_bytes()], rows::queued_prompt)?;
    // Sorted here, because SQLite's sorter would copy the words of long prompts to disk.
    queue.sort_by_key(|prompt| prompt.queued_seq);
    let stream = StreamId::Session(id);
    let head = match head(conn, stream, fence)? {
        Head::At(head) => head,
        Head::Purged => Seq::START,
    };
    // Rows and entries change together, so a row that knows of an entry after the last one has lost it.
    let known = queue.iter().map(|prompt| prompt.queued_seq).chain(row.running.map(|running| running.first_seq));
    let known = known.max().unwrap_or(Seq::START.next());
    let damage = (fence.is_none() && head < known).then(|| Damage {
        stream,
        seq: head.next(),
        what: Cow::Borrowed("the entry is missing"),
    });
    let context = Arc::new(context(conn, id)?);
    Ok(Some(Found { what: Session { row, queue, context, head }, damage }))
}

fn context(conn: &Connection, id: SessionId) -> Result<Context, ReadError> {
    let mut context = Context::default();
    let sql = format!("SELECT {} FROM sets WHERE session = ?1", columns::SET_COLUMNS);
    for (set, marks) in collect(conn, &sql, [id.as_bytes()], rows::marked_set)? {
        context.sets.restore(set, marks);
    }
    let sql = format!("SELECT {} FROM facts WHERE session = ?1", columns::FACT_COLUMNS);
    for (name, shape, fact) in collect(conn, &sql, [id.as_bytes()], rows::proved_fact)? {
        context.facts.restore(name, shape, fact);
    }
    Ok(context)
}

pub(super) fn context_entries(
    conn: &Connection,
    session: SessionId,
    after: Seq,
    up_to: Seq,
    limit: usize,
) -> Result<Vec<Seq>, ReadError> {
    let sql = "SELECT seq
         FROM context_entries
         WHERE session = ?1 AND seq > ?2 AND seq <= ?3
         ORDER BY seq
         LIMIT ?4";
    let params = params![session.as_bytes(), sql_seq(after), sql_seq(up_to), sql_limit(limit)];
    collect(conn, sql, params, |row| Ok(Seq(row.get::<_, i64>(0)?.cast_unsigned())))
}

pub(super) fn sessions(conn: &Connection, after: Option<ListKey>, limit: usize) -> Result<Vec<SessionRow>, ReadError> {
    let (before, from) = match &after {
        None => ("", params![sql_limit(limit)]),
        Some(key) => {
            ("AND (active_at, id) < (?2, ?3)", params![sql_limit(limit), key.active_at.as_millis(), key.id.as_bytes()])
        }
    };
    let sql = sessions_sql(before);
    collect(conn, &sql, from, rows::session_row)
}

pub(super) fn sessions_sql(before: &str) -> String {
    format!(
        "SELECT {SESSION_COLUMNS}
         FROM sessions
         WHERE deleted_at IS NULL {before}
         ORDER BY active_at DESC, id DESC
         LIMIT ?1"
    )
}

pub(super) const UNSETTLED: &str = "SELECT id
     FROM sessions
     WHERE
         deleted_at IS NULL
         AND (agent_state = 'starting' OR running_turn IS NOT NULL OR open_requests IS NOT NULL)
     ORDER BY id";

pub(super) fn unsettled(conn: &Connection) -> Result<Vec<SessionId>, ReadError> {
    collect(conn, UNSETTLED, [], |row| row.get(0).map(SessionId::from_bytes))
}

pub(super) const UNSUMMARISED: &str = "SELECT id
     FROM sessions
     WHERE deleted_at IS NULL AND running_turn IS NULL AND summarised < turns AND id > ?1
     ORDER BY id
     LIMIT ?2";

pub(super) fn unsummarised(
    conn: &Connection,
    after: Option<SessionId>,
    limit: usize,
) -> Result<Vec<SessionId>, ReadError> {
    // No id is shorter than this one.
    let after = after.map(|id| id.as_bytes().to_vec()).unwrap_or_default();
    collect(conn, UNSUMMARISED, params![after, sql_limit(limit)], |row| row.get(0).map(SessionId::from_bytes))
}

pub(super) fn find_turn(conn: &Connection, interaction: InteractionId) -> Result<Option<TurnRow>, ReadError> {
    let sql = format!("SELECT {} FROM turns WHERE interaction = ?1", columns::TURN_COLUMNS);
    Ok(conn.prepare_cached(&sql)?.query_row([interaction.as_bytes()], rows::turn_row).optional()?)
}

pub(super) fn titles(conn: &Connection, session: SessionId) -> Result<Vec<TitleRow>, ReadError> {
    let sql = format!("SELECT {} FROM titles WHERE session = ?1", columns::TITLE_COLUMNS);
    let mut titles = collect(conn, &sql, [session.as_bytes()], rows::title_row)?;
    titles.sort_by_key(|row| std::cmp::Reverse(row.nth));
    Ok(titles)
}

pub(super) const DELETED_BEFORE: &str = "SELECT id
     FROM sessions
     WHERE deleted_at IS NOT NULL AND deleted_at < ?1
     ORDER BY deleted_at, id
     LIMIT ?2";

pub(super) fn deleted_before(conn: &Connection, at: Timestamp, limit: usize) -> Result<Vec<SessionId>, ReadError> {
    let params = params![at.as_millis(), sql_limit(limit)];
    collect(conn, DELETED_BEFORE, params, |row| row.get(0).map(SessionId::from_bytes))
}

pub(super) fn deleted_sql() -> String {
    format!(
        "SELECT {SESSION_COLUMNS}
         FROM sessions
         WHERE deleted_at IS NOT NULL AND (deleted_at, id) < (?1, ?2)
         ORDER BY deleted_at DESC, id DESC
         LIMIT ?3"
    )
}

pub(super) fn deleted(
    conn: &Connection,
    after: Option<DeletedKey>,
    limit: usize,
) -> Result<Vec<SessionRow>, ReadError> {
    let (at, id) = after.map_or((i64::MAX, [0xff; 16]), |key| (key.deleted_at.as_millis(), *key.id.as_bytes()));
    collect(conn, &deleted_sql(), params![at, id, sql_limit(limit)], rows::session_row)
}

pub(super) fn attached(conn: &Connection, agent: &str, ids: &[String]) -> Result<Vec<(String, SessionId)>, ReadError> {
    // Asked by hand and seldom: not worth an index that every commit would have to keep. Only the beginnings of events
    // are looked at, so what is long in the log costs nothing.
    let mut statement = conn.prepare_cached(
        "SELECT streams.name, entries.version, entries.event
         FROM entries
         JOIN streams ON streams.id = entries.stream
         WHERE
             streams.purged_at IS NULL
             AND (
                 substr(entries.event, 1, length(?1)) = ?1
                 OR substr(entries.event, 1, length(?2)) = ?2
                 OR substr(entries.event, 1, length(?3)) = ?3
             )
         ORDER BY entries.position",
    )?;
    let mut rows = statement.query(BEGINNINGS.map(str::as_bytes))?;
    let mut attachments = Attachments::new(agent, ids);
    while let Some(row) = rows.next()? {
        let stream = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?.parse();
        let event = Event::decode(row.get(1)?, row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?);
        // What is damaged is told of by those who read it.
        if let (Ok(stream), Ok(event)) = (stream, event) {
            attachments.apply(stream, &event);
        }
    }
    Ok(attachments.finish())
}

pub(super) const UNOBSERVED_COUNT: &str = "SELECT COUNT(*)
     FROM sessions
     WHERE deleted_at IS NULL AND last_idle_at > IFNULL(last_observed_at, -9223372036854775808)";

pub(super) fn unobserved_count(conn: &Connection) -> Result<u64, ReadError> {
    let count: i64 = conn.prepare_cached(UNOBSERVED_COUNT)?.query_row([], |row| row.get(0))?;
    Ok(count.cast_unsigned())
}

pub(super) fn turns(
    conn: &Connection,
    session: SessionId,
    after: Turn,
    limit: usize,
) -> Result<Vec<TurnRow>, ReadError> {
    let sql = format!(
        "SELECT {}
         FROM turns
         WHERE session = ?1 AND turn > ?2
         ORDER BY turn
         LIMIT ?3",
        columns::TURN_COLUMNS
    );
    collect(conn, &sql, params![session.as_bytes(), after.0, sql_limit(limit)], rows::turn_row)
}

pub(super) fn tokens(conn: &Connection) -> Result<Vec<TokenRow>, ReadError> {
    let sql = format!("SELECT {} FROM tokens ORDER BY issued_at, id", columns::TOKEN_COLUMNS);
    collect(conn, &sql, [], rows::token_row)
}

pub(super) fn remembered(conn: &Connection) -> Result<Vec<RememberedRow>, ReadError> {
    let sql = format!("SELECT {} FROM remembered ORDER BY remembered_at, id", columns::REMEMBERED_COLUMNS);
    collect(conn, &sql, [], rows::remembered_row)
}

pub(super) fn find_receipt(conn: &Connection, principal: &str, key: &str) -> rusqlite::Result<Option<Receipt>> {
    let sql = format!("SELECT {} FROM receipts WHERE principal = ?1 AND key = ?2", columns::RECEIPT_COLUMNS);
    conn.prepare_cached(&sql)?.query_row([principal, key], rows::receipt).optional()
}

pub(super) fn collect<T, P: rusqlite::Params>(
    conn: &Connection,
    sql: &str,
    params: P,
    row: fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, ReadError> {
    Ok(conn.prepare_cached(sql)?.query_map(params, row)?.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
