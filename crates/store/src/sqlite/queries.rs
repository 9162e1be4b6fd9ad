//! The questions about the log, each with its SQL.
//!
//! Invariant: every entry that leaves here was verified, and follows the one before it in its stream without a gap.

use std::collections::HashMap;
use std::sync::Arc;

use model::{Entry, Event, Position, Seq, Session, SessionId, SessionRow, StreamId, TurnRow};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::rows::{PromptRow, ReceiptRow, TallyRow};
use crate::sqlite::checksums::{RECEIPTS, SESSIONS, STREAMS, TURNS, row_damage};
use crate::sqlite::fences::has_fence;
use crate::sqlite::meta;
use crate::sqlite::outside::is_damage;
use crate::sqlite::rows::{STORED_ENTRY_COLUMNS, StoredEntry, read_row, sql_seq};
use crate::sqlite::tables::{List, of_session};
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
pub(super) struct UpToFence<T> {
    pub(super) what: T,
    pub(super) fence: Option<Fence>,
}

pub(super) fn entries(
    conn: &Connection,
    stream: StreamId,
    after: Seq,
    limit: usize,
    fence: Option<Fence>,
) -> Result<UpToFence<Vec<Entry<Event>>>, ReadError> {
    let none = |fence| Ok(UpToFence { what: Vec::new(), fence });
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
    let mut rows =
        statement.query(params![id, sql_seq(after), sql_seq(end), i64::try_from(limit).unwrap_or(i64::MAX)])?;
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
                return Ok(UpToFence { what: page, fence: damaged("it cannot be read") });
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
            Err(fence) => return Ok(UpToFence { what: page, fence: Some(fence) }),
        }
    }
    Ok(UpToFence { what: page, fence: None })
}

/// A page of the entries with these seqs, in their order. It ends before one that can not be read.
pub(super) fn entries_at(
    conn: &Connection,
    stream: StreamId,
    seqs: &[Seq],
    fence: Option<&Fence>,
) -> Result<Vec<Entry<Event>>, ReadError> {
    let Some(Stream { id, head: Head::At(_), .. }) = find_whole_stream(conn, stream)? else { return Ok(Vec::new()) };
    let sql = format!("SELECT {STORED_ENTRY_COLUMNS} FROM entries WHERE stream = ?1 AND seq = ?2");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut page = Vec::new();
    let mut size_bytes = 0;
    for seq in seqs {
        if fence.is_some_and(|fence| *seq >= fence.seq) {
            break;
        }
        let stored = match statement.query_row(params![id, sql_seq(*seq)], StoredEntry::from_row).optional() {
            Ok(Some(stored)) => stored,
            Ok(None) => break,
            Err(err) if is_damage(&err) => break,
            Err(err) => return Err(err.into()),
        };
        size_bytes += stored.size_bytes();
        if size_bytes > MAX_PAGE_BYTES && !page.is_empty() {
            break;
        }
        match stored.verify(stream, *seq) {
            Ok(entry) => page.push(entry),
            Err(_) => break,
        }
    }
    Ok(page)
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
pub(super) enum Scanned {
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
) -> Result<Scanned, ReadError> {
    let Some(Stream { id, .. }) = find_whole_stream(conn, stream)? else { return Ok(Scanned::End) };
    let up_to = Position(after.0.saturating_add(count));
    let sql = "SELECT 1 FROM entries NOT INDEXED WHERE position > ?1 AND position <= ?2 AND stream = ?3 AND seq = ?4";
    let params = params![after.0.cast_signed(), up_to.0.cast_signed(), id, sql_seq(seq)];
    match conn.prepare_cached(sql)?.exists(params)? {
        true => Ok(Scanned::Found),
        false if up_to >= meta::last_position(conn)? => Ok(Scanned::End),
        false => Ok(Scanned::On(up_to)),
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

/// The log has nothing of a stream after `after`: then no row may refer to an entry there.
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
    // A left join, so that an entry of no known stream is logged and not overlooked.
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

static SESSION: List<SessionRow> = List::rows(&SESSIONS, "id = ?1", "");

pub(super) fn session(
    conn: &Connection,
    id: SessionId,
    fence: Option<&Fence>,
) -> Result<Option<UpToFence<Session>>, ReadError> {
    let Some(row) = SESSION.first(conn, [id.as_bytes()])? else { return Ok(None) };
    let mut queue: Vec<_> = of_session(conn, id)?.into_iter().map(PromptRow::into_prompt).collect();
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
    let context = Arc::new(crate::rows::context(of_session(conn, id)?, of_session(conn, id)?));
    let usage = of_session::<TallyRow>(conn, id)?.pop().map(|row| row.tally).unwrap_or_default();
    Ok(Some(UpToFence { what: Session { row, queue, context, usage, head }, fence: found }))
}

static NEWEST_TURN: List<TurnRow> = List::rows(&TURNS, "session = ?1", "ORDER BY turn DESC LIMIT 1");

/// The last entry that the newest turn's row refers to.
fn newest_turn_end(conn: &Connection, id: SessionId) -> Result<Option<Seq>, ReadError> {
    let newest = NEWEST_TURN.first(conn, [id.as_bytes()])?;
    Ok(newest.map(|row| row.last_seq.unwrap_or(row.first_seq)))
}

pub(super) fn find_receipt(conn: &Connection, principal: &str, key: &str) -> rusqlite::Result<Option<Receipt>> {
    // One that was damaged is none: the log does not say what the answer was.
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
