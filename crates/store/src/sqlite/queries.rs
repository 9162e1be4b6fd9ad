//! The named queries of log and tables, each with its SQL.
//!
//! Invariant: every entry that leaves here was verified, and follows the one before it in its stream without a gap.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use model::{
    Context, DeletedKey, Entry, Event, InteractionId, ListKey, Position, RememberedRow, Seq, Session, SessionId,
    SessionRow, StreamId, Timestamp, TitleRow, TokenRow, Turn, TurnRow,
};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::rows::{PromptRow, ReceiptRow};
use crate::sqlite::checksums::{
    CONTEXT_ENTRIES, DamagedRow, FACTS, PROMPTS, RECEIPTS, REMEMBERED, SESSIONS, SETS, STREAMS, TITLES, TOKENS, TURNS,
    row_damage, whole,
};
use crate::sqlite::fences::has_fence;
use crate::sqlite::meta;
use crate::sqlite::outside::is_damage;
use crate::sqlite::rows::{self, STORED_ENTRY_COLUMNS, StoredEntry, read_row, sql_seq};
use crate::tables::last_part;
use crate::{Fence, Head, MAX_PAGE_BYTES, PlacedEntry, ReadError, Receipt, StorageError};

impl From<rusqlite::Error> for ReadError {
    fn from(err: rusqlite::Error) -> Self {
        Self::Storage(StorageError(Box::new(err)))
    }
}

/// What the log knows of a stream that it has met.
pub(super) struct Stream {
    pub(super) id: i64,
    pub(super) head: Head,
    is_whole: bool,
}

/// A stream by its name, verified.
fn find_whole_stream(conn: &Connection, stream: StreamId) -> rusqlite::Result<Option<Stream>> {
    match find_stream(conn, stream)? {
        Some(Stream { is_whole: false, .. }) => Err(row_damage(0)),
        found => Ok(found),
    }
}

/// For the writer, which must not fail for a damaged row: it can at most refuse what does not fit.
pub(super) fn find_stream(conn: &Connection, stream: StreamId) -> rusqlite::Result<Option<Stream>> {
    let sql = format!(
        "SELECT id, purged_at IS NOT NULL, (SELECT MAX(seq) FROM entries WHERE stream = streams.id), {}
         FROM streams
         WHERE name = ?1",
        STREAMS.is_whole(i64::MAX)
    );
    conn.prepare_cached(&sql)?
        .query_row([stream.to_string()], |row| {
            let head = match row.get(1)? {
                true => Head::Purged,
                false => Head::At(Seq(row.get::<_, Option<i64>>(2)?.unwrap_or(0).cast_unsigned())),
            };
            Ok(Stream { id: row.get(0)?, head, is_whole: row.get(3)? })
        })
        .optional()
}

/// How far a stream has got; a damaged one, up to its damage.
pub(super) fn head(conn: &Connection, stream: StreamId, fence: Option<&Fence>) -> rusqlite::Result<Head> {
    Ok(match (find_whole_stream(conn, stream)?.map(|stream| stream.head), fence) {
        (Some(Head::Purged), _) => Head::Purged,
        (Some(Head::At(head)), Some(fence)) => Head::At(head.min(fence.seq.previous())),
        (Some(Head::At(head)), None) => Head::At(head),
        (None, _) => Head::At(Seq::START),
    })
}

/// What was found, and the first thing that was not as it should be.
pub(super) struct Found<T> {
    pub(super) what: T,
    pub(super) fence: Option<Fence>,
}

pub(super) fn entries(
    conn: &Connection,
    stream: StreamId,
    after: Seq,
    limit: usize,
    fence: Option<Fence>,
) -> Result<Found<Vec<Entry<Event>>>, ReadError> {
    let none = |fence| Ok(Found { what: Vec::new(), fence });
    let found = find_whole_stream(conn, stream)?;
    if let Some(Stream { head: Head::Purged, .. }) = found {
        return none(None);
    }
    // Before anything else, since the damage may be that the log does not know the stream.
    if let Some(fence) = &fence
        && after >= fence.seq.previous()
    {
        return none(Some(fence.clone()));
    }
    let Some(Stream { id, head: Head::At(head), .. }) = found else {
        return none(lost_tail(conn, stream, after)?);
    };
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
    loop {
        let damaged = |what| Some(Fence::damaged(stream, expected.next(), what));
        let stored = match rows.next().and_then(|row| row.map(StoredEntry::from_row).transpose()) {
            Ok(Some(stored)) => stored,
            // An empty page is the end, and nothing but the end may pass for it.
            Ok(None) if page.is_empty() && limit > 0 => return none(lost_tail(conn, stream, after)?),
            Ok(None) => break,
            Err(err) if is_damage(&err) => {
                return Ok(Found { what: page, fence: damaged("it cannot be read") });
            }
            Err(err) => return Err(err.into()),
        };
        size_bytes += stored.size_bytes();
        if size_bytes > MAX_PAGE_BYTES && !page.is_empty() {
            break;
        }
        expected = expected.next();
        match stored.verify(stream, expected) {
            Ok(entry) => page.push(entry),
            Err(fence) => return Ok(Found { what: page, fence: Some(fence) }),
        }
    }
    Ok(Found { what: page, fence: None })
}

/// Whether the index leads to this entry: then what is wrong with it is the entry's own damage. Also if what it leads to can
/// not be read.
pub(super) fn is_where_index_says(conn: &Connection, stream: StreamId, seq: Seq) -> Result<bool, ReadError> {
    let Some(Stream { id, .. }) = find_whole_stream(conn, stream)? else { return Ok(false) };
    let found = match place_of(conn, id, seq) {
        Err(err) if is_damage(&err) => return Ok(false),
        found => found?,
    };
    let Some(position) = found else { return Ok(false) };
    let sql = "SELECT 1 FROM entries NOT INDEXED WHERE position = ?1 AND stream = ?2 AND seq = ?3";
    match conn.prepare_cached(sql)?.exists(params![position.0.cast_signed(), id, sql_seq(seq)]) {
        Err(err) if is_damage(&err) => Ok(true),
        found => Ok(found?),
    }
}

/// What a part of the log has of an entry.
pub(super) enum Look {
    Found,
    /// Nothing up to here.
    On(Position),
    /// Nothing, and that was the last part.
    End,
}

/// Looks for an entry in a part of the log, without the index.
pub(super) fn find_without_index(
    conn: &Connection,
    stream: StreamId,
    seq: Seq,
    after: Position,
    count: u64,
) -> Result<Look, ReadError> {
    let Some(Stream { id, .. }) = find_whole_stream(conn, stream)? else { return Ok(Look::End) };
    let up_to = Position(after.0.saturating_add(count));
    let sql = "SELECT 1 FROM entries NOT INDEXED WHERE position > ?1 AND position <= ?2 AND stream = ?3 AND seq = ?4";
    let params = params![after.0.cast_signed(), up_to.0.cast_signed(), id, sql_seq(seq)];
    match conn.prepare_cached(sql)?.exists(params)? {
        true => Ok(Look::Found),
        false if up_to >= meta::last_position(conn)? => Ok(Look::End),
        false => Ok(Look::On(up_to)),
    }
}

/// Where the index of the entries has this one.
fn place_of(conn: &Connection, stream: i64, seq: Seq) -> rusqlite::Result<Option<Position>> {
    conn.prepare_cached("SELECT position FROM entries WHERE stream = ?1 AND seq = ?2")?
        .query_row(params![stream, sql_seq(seq)], |row| Ok(Position(row.get::<_, i64>(0)?.cast_unsigned())))
        .optional()
}

/// What is wrong with one entry for whoever reads its stream.
fn entry_damage(conn: &Connection, stream: StreamId, seq: Seq) -> Result<Option<Fence>, ReadError> {
    let found = entries(conn, stream, seq.previous(), 1, None)?;
    let missing = || Fence::damaged(stream, seq, "the entry is missing");
    Ok(found.fence.or_else(|| found.what.is_empty().then(missing)))
}

/// The log has nothing of a stream after `after`: then no row may tell of an entry there.
fn lost_tail(conn: &Connection, stream: StreamId, after: Seq) -> Result<Option<Fence>, ReadError> {
    let StreamId::Session(id) = stream else { return Ok(None) };
    let mut row = conn.prepare_cached("SELECT 1 FROM sessions WHERE id = ?1")?;
    let known = row.exists([id.as_bytes()])?.then_some(Seq::START.next()).max(newest_turn_end(conn, id)?);
    let mut prompts = conn.prepare_cached("SELECT MAX(queued_seq) FROM prompts WHERE session = ?1")?;
    let waits: Option<i64> = prompts.query_row([id.as_bytes()], |row| row.get(0))?;
    let known = known.max(waits.map(|seq| Seq(seq.cast_unsigned())));
    let is_lost = known.is_some_and(|known| known > after);
    Ok(is_lost.then(|| Fence::damaged(stream, after.next(), "the entry is missing")))
}

/// A page of the whole log. What damaged streams have after their damage is left out; a page without anything is the
/// end.
pub(super) fn all_entries(
    conn: &Connection,
    after: Position,
    limit: usize,
    fence: impl Fn(StreamId) -> Option<Fence>,
) -> Result<(Vec<PlacedEntry>, Vec<Fence>), ReadError> {
    // A left join, so that an entry of no known stream is told of and not overlooked.
    let sql = format!(
        "SELECT {STORED_ENTRY_COLUMNS}, entries.position, streams.name, entries.stream
         FROM entries
         LEFT JOIN streams ON streams.id = entries.stream
         WHERE entries.position > ?1 AND streams.purged_at IS NULL
         ORDER BY entries.position"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let after = i64::try_from(after.0).unwrap_or(i64::MAX);
    let mut rows = statement.query([after])?;
    let mut last = Position(after.cast_unsigned());
    let (mut page, mut fences) = (Vec::new(), Vec::new());
    let mut size_bytes = 0;
    let mut streams: HashMap<StreamId, (Option<Seq>, Option<Fence>)> = HashMap::new();
    while page.len() < limit
        && let Some(row) = rows.next()?
    {
        let position = Position(row.get::<_, i64>(5)?.cast_unsigned());
        // What belongs to no stream that is known is nobody's; one damaged entry keeps nobody from the others.
        let owner = row.get::<_, Option<String>>(6).unwrap_or_default().and_then(|name| name.parse().ok());
        let Some(stream): Option<StreamId> = owner else {
            tracing::error!(
                position = position.0,
                "an entry belongs to no stream that is known; `throughline doctor` tells more"
            );
            continue;
        };
        let stored = StoredEntry::from_row(row)?;
        // Whoever reads on from a wrong position would get entries twice, or miss some.
        let is_lost = match position.0.checked_sub(last.0) {
            None | Some(0) => true,
            Some(1) => false,
            Some(_) => place_of(conn, row.get(7)?, stored.seq())? != Some(position),
        };
        if is_lost {
            tracing::error!(position = position.0, "an entry has lost its place; `throughline doctor` tells more");
            continue;
        }
        last = position;
        let (head, known) = streams.entry(stream).or_insert_with(|| (None, fence(stream)));
        if known.as_ref().is_some_and(|fence| stored.seq() >= fence.seq) {
            continue;
        }
        size_bytes += stored.size_bytes();
        if size_bytes > MAX_PAGE_BYTES && !page.is_empty() {
            break;
        }
        // A page starts in the middle of its streams; from there on each must go on without a gap.
        let mut seq = head.map_or(stored.seq(), Seq::next);
        if stored.seq() != seq && entry_damage(conn, stream, seq)?.is_none() {
            // The one between is there for whoever reads the stream; only its place among all is damaged.
            seq = stored.seq();
        }
        match stored.verify(stream, seq) {
            Ok(entry) => {
                *head = Some(seq);
                page.push(PlacedEntry { position, stream, entry });
            }
            Err(fence) => match entry_damage(conn, stream, fence.seq)? {
                Some(fence) if has_fence(stream) => {
                    *known = Some(fence.clone());
                    fences.push(fence);
                }
                Some(fence) => return Err(ReadError::Fenced(fence)),
                // The stream itself has that entry, so this one is not the stream's: it must not be fenced for it.
                None => tracing::error!(
                    position = position.0,
                    "an entry belongs to no stream; `throughline doctor` tells more"
                ),
            },
        }
    }
    Ok((page, fences))
}

pub(super) fn session(
    conn: &Connection,
    id: SessionId,
    fence: Option<&Fence>,
) -> Result<Option<Found<Session>>, ReadError> {
    let sql = format!("SELECT {} FROM sessions WHERE id = ?1", SESSIONS.all_checked());
    let Some(row) = find_whole(conn, &sql, [id.as_bytes()], read_row::<SessionRow>)? else {
        return Ok(None);
    };
    let sql = format!("SELECT {} FROM prompts WHERE session = ?1", PROMPTS.all_checked());
    let rows = collect_whole(conn, &sql, [id.as_bytes()], read_row::<PromptRow>)?;
    let mut queue: Vec<_> = rows.into_iter().map(PromptRow::into_prompt).collect();
    // Sorted here, because SQLite's sorter would copy the words of long prompts to disk.
    queue.sort_by_key(|prompt| prompt.queued_seq);
    let stream = StreamId::Session(id);
    let head = match head(conn, stream, fence)? {
        Head::At(head) => head,
        Head::Purged => Seq::START,
    };
    // Rows and entries change together, so a row that knows of an entry after the last one has lost it.
    let known = queue.iter().map(|prompt| prompt.queued_seq).chain(row.running.map(|running| running.first_seq));
    let known = known.chain(newest_turn_end(conn, id)?).max().unwrap_or(Seq::START.next());
    let found = (fence.is_none() && head < known).then(|| Fence::damaged(stream, head.next(), "the entry is missing"));
    let context = Arc::new(context(conn, id)?);
    Ok(Some(Found { what: Session { row, queue, context, head }, fence: found }))
}

/// The last entry that the newest turn's row tells of.
fn newest_turn_end(conn: &Connection, id: SessionId) -> Result<Option<Seq>, ReadError> {
    let sql = format!(
        "SELECT {}
         FROM turns
         WHERE session = ?1
         ORDER BY turn DESC
         LIMIT 1",
        TURNS.all_checked()
    );
    let newest = find_whole(conn, &sql, [id.as_bytes()], read_row::<TurnRow>)?;
    Ok(newest.map(|row| row.last_seq.unwrap_or(row.first_seq)))
}

fn context(conn: &Connection, id: SessionId) -> Result<Context, ReadError> {
    let sql = format!("SELECT {} FROM sets WHERE session = ?1", SETS.all_checked());
    let sets = collect_whole(conn, &sql, [id.as_bytes()], read_row)?;
    let sql = format!("SELECT {} FROM facts WHERE session = ?1", FACTS.all_checked());
    let facts = collect_whole(conn, &sql, [id.as_bytes()], read_row)?;
    Ok(crate::rows::context(sets, facts))
}

pub(super) fn context_entries(
    conn: &Connection,
    session: SessionId,
    after: Seq,
    up_to: Seq,
    limit: usize,
) -> Result<Vec<Seq>, ReadError> {
    let sql = format!(
        "SELECT {}
         FROM context_entries
         WHERE session = ?1 AND seq > ?2 AND seq <= ?3
         ORDER BY seq
         LIMIT ?4",
        CONTEXT_ENTRIES.checked("seq")
    );
    let params = params![session.as_bytes(), sql_seq(after), sql_seq(up_to), sql_limit(limit)];
    collect_whole(conn, &sql, params, |row| Ok(Seq(row.get::<_, i64>(0)?.cast_unsigned())))
}

pub(super) fn sessions(
    conn: &Connection,
    damaged: DamagedRow,
    after: Option<ListKey>,
    limit: usize,
) -> Result<Vec<SessionRow>, ReadError> {
    let (before, from) = match &after {
        None => ("", params![sql_limit(limit)]),
        Some(key) => {
            ("AND (active_at, id) < (?2, ?3)", params![sql_limit(limit), key.active_at.as_millis(), key.id.as_bytes()])
        }
    };
    let sql = sessions_sql(&format!("{before} {}", damaged.and_whole(&SESSIONS)));
    collect_whole(conn, &sql, from, read_row)
}

pub(super) fn sessions_sql(before: &str) -> String {
    format!(
        "SELECT {}
         FROM sessions
         WHERE deleted_at IS NULL {before}
         ORDER BY active_at DESC, id DESC
         LIMIT ?1",
        SESSIONS.all_checked()
    )
}

pub(super) fn unsettled_sql(damaged: DamagedRow) -> String {
    format!(
        "SELECT {}
         FROM sessions
         WHERE
             deleted_at IS NULL
             AND (agent_state = 'starting' OR running_turn IS NOT NULL OR open_requests IS NOT NULL)
             {}
         ORDER BY id",
        SESSIONS.checked("id"),
        damaged.and_whole(&SESSIONS)
    )
}

pub(super) fn unsettled(conn: &Connection, damaged: DamagedRow) -> Result<Vec<SessionId>, ReadError> {
    collect_whole(conn, &unsettled_sql(damaged), [], rows::session_id)
}

pub(super) fn unsummarised_sql(damaged: DamagedRow) -> String {
    format!(
        "SELECT {}
         FROM sessions
         WHERE deleted_at IS NULL AND running_turn IS NULL AND summarised < turns AND id > ?1 {}
         ORDER BY id
         LIMIT ?2",
        SESSIONS.checked("id"),
        damaged.and_whole(&SESSIONS)
    )
}

pub(super) fn unsummarised(
    conn: &Connection,
    damaged: DamagedRow,
    after: Option<SessionId>,
    limit: usize,
) -> Result<Vec<SessionId>, ReadError> {
    // No id is shorter than this one.
    let after = after.map(|id| id.as_bytes().to_vec()).unwrap_or_default();
    collect_whole(conn, &unsummarised_sql(damaged), params![after, sql_limit(limit)], rows::session_id)
}

pub(super) fn find_turn(conn: &Connection, interaction: InteractionId) -> Result<Option<TurnRow>, ReadError> {
    let sql = format!("SELECT {} FROM turns WHERE interaction = ?1", TURNS.all_checked());
    find_whole(conn, &sql, [interaction.as_bytes()], read_row)
}

pub(super) fn titles(conn: &Connection, session: SessionId) -> Result<Vec<TitleRow>, ReadError> {
    let sql = format!("SELECT {} FROM titles WHERE session = ?1", TITLES.all_checked());
    let mut titles = collect_whole(conn, &sql, [session.as_bytes()], read_row::<TitleRow>)?;
    titles.sort_by_key(|row| std::cmp::Reverse(row.nth));
    Ok(titles)
}

pub(super) fn deleted_before_sql(damaged: DamagedRow) -> String {
    format!(
        "SELECT {}
         FROM sessions
         WHERE deleted_at IS NOT NULL AND deleted_at < ?1 {}
         ORDER BY deleted_at, id
         LIMIT ?2",
        SESSIONS.checked("id"),
        damaged.and_whole(&SESSIONS)
    )
}

pub(super) fn deleted_before(
    conn: &Connection,
    damaged: DamagedRow,
    at: Timestamp,
    limit: usize,
) -> Result<Vec<SessionId>, ReadError> {
    collect_whole(conn, &deleted_before_sql(damaged), params![at.as_millis(), sql_limit(limit)], rows::session_id)
}

pub(super) fn deleted_sql(damaged: DamagedRow) -> String {
    format!(
        "SELECT {}
         FROM sessions
         WHERE deleted_at IS NOT NULL AND (deleted_at, id) < (?1, ?2) {}
         ORDER BY deleted_at DESC, id DESC
         LIMIT ?3",
        SESSIONS.all_checked(),
        damaged.and_whole(&SESSIONS)
    )
}

pub(super) fn deleted(
    conn: &Connection,
    damaged: DamagedRow,
    after: Option<DeletedKey>,
    limit: usize,
) -> Result<Vec<SessionRow>, ReadError> {
    let (at, id) = after.map_or((i64::MAX, [0xff; 16]), |key| (key.deleted_at.as_millis(), *key.id.as_bytes()));
    collect_whole(conn, &deleted_sql(damaged), params![at, id, sql_limit(limit)], read_row)
}

pub(super) fn directories_above(conn: &Connection, damaged: DamagedRow, path: &str) -> Result<Vec<String>, ReadError> {
    // One look at each row: an index would have to be kept by every commit, for a question that is asked by hand.
    let mut found = BTreeSet::new();
    for column in ["cwd", "project"] {
        let sql = format!(
            "SELECT {}
             FROM sessions
             WHERE deleted_at IS NULL AND substr(?1, 1, length({column})) = {column} {}",
            SESSIONS.checked(column),
            damaged.and_whole(&SESSIONS)
        );
        found.extend(collect_whole(conn, &sql, [path], |row| row.get::<_, String>(0))?);
    }
    Ok(found.into_iter().collect())
}

/// The facts by their index, and all marks of files, which are few. Whoever reads the sessions verifies them.
pub(super) const MAY_NAME_FILE: &str = "SELECT named.session
     FROM (
         SELECT session FROM facts WHERE value = ?1 AND name IN ('filesEdited', 'filesCreated', 'filesRead', 'filesDeleted')
         UNION
         SELECT session FROM sets WHERE name = 'files' AND instr(marks, ?2) > 0
     ) AS named
     JOIN sessions ON sessions.id = named.session
     WHERE sessions.deleted_at IS NULL AND named.session > ?3
     ORDER BY named.session
     LIMIT ?4";

pub(super) fn may_name_file(
    conn: &Connection,
    path: &str,
    after: Option<SessionId>,
    limit: usize,
) -> Result<Vec<SessionId>, ReadError> {
    // No id is shorter than this one.
    let after = after.map(|id| id.as_bytes().to_vec()).unwrap_or_default();
    // As a mark ends with it in JSON, with the closing quotation mark.
    let last = serde_json::Value::from(last_part(path)).to_string();
    let params = params![path, &last[1..], after, sql_limit(limit)];
    Ok(conn.prepare_cached(MAY_NAME_FILE)?.query_map(params, rows::session_id)?.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn unobserved_count_sql(damaged: DamagedRow) -> String {
    format!(
        "SELECT COUNT(*), IFNULL(MIN({}), 1)
         FROM sessions
         WHERE deleted_at IS NULL AND last_idle_at > IFNULL(last_observed_at, -9223372036854775808) {}",
        SESSIONS.is_whole(i64::MAX),
        damaged.and_whole(&SESSIONS)
    )
}

pub(super) fn unobserved_count(conn: &Connection, damaged: DamagedRow) -> Result<u64, ReadError> {
    let count = find_whole(conn, &unobserved_count_sql(damaged), [], |row| row.get::<_, i64>(0))?;
    Ok(count.unwrap_or_default().cast_unsigned())
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
        TURNS.all_checked()
    );
    collect_whole(conn, &sql, params![session.as_bytes(), after.0, sql_limit(limit)], read_row)
}

pub(super) fn tokens(conn: &Connection, damaged: DamagedRow) -> Result<Vec<TokenRow>, ReadError> {
    let (columns, which) = (TOKENS.all_checked(), damaged.and_whole(&TOKENS));
    let sql = format!("SELECT {columns} FROM tokens WHERE true {which} ORDER BY issued_at, id");
    collect_whole(conn, &sql, [], read_row)
}

pub(super) fn remembered(conn: &Connection, damaged: DamagedRow) -> Result<Vec<RememberedRow>, ReadError> {
    let (columns, which) = (REMEMBERED.all_checked(), damaged.and_whole(&REMEMBERED));
    let sql = format!("SELECT {columns} FROM remembered WHERE true {which} ORDER BY remembered_at, id");
    collect_whole(conn, &sql, [], read_row)
}

pub(super) fn find_receipt(conn: &Connection, principal: &str, key: &str) -> rusqlite::Result<Option<Receipt>> {
    // One that was damaged is none: no log could tell what the answer was.
    let sql = format!(
        "SELECT {} FROM receipts WHERE principal = ?1 AND key = ?2 AND {}",
        RECEIPTS.columns(),
        RECEIPTS.is_whole(i64::MAX)
    );
    let found = conn.prepare_cached(&sql)?.query_row([principal, key], read_row::<ReceiptRow>).optional()?;
    Ok(found.map(|ReceiptRow { principal, key, fingerprint, reply, at, session }| Receipt {
        principal,
        key,
        fingerprint,
        reply,
        at,
        holds_words: session.is_some(),
    }))
}

/// Rows with the last column of [`Table::checked`](crate::sqlite::checksums::Table::checked).
pub(super) fn collect_whole<T, P: rusqlite::Params>(
    conn: &Connection,
    sql: &str,
    params: P,
    row: fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, ReadError> {
    let mut statement = conn.prepare_cached(sql)?;
    Ok(statement.query_map(params, |found| whole(found, row))?.collect::<rusqlite::Result<_>>()?)
}

/// One such row, if there is one.
pub(super) fn find_whole<T, P: rusqlite::Params>(
    conn: &Connection,
    sql: &str,
    params: P,
    row: fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, ReadError> {
    Ok(conn.prepare_cached(sql)?.query_row(params, |found| whole(found, row)).optional()?)
}

pub(super) fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
