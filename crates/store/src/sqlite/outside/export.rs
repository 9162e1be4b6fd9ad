//! A whole store as lines of JSON, for other programs and for other versions of this one.
//!
//! The first line says what this is, then comes a line for each entry in the order of the log, then one for each
//! session that was purged and one for each stream that is damaged, then payloads in pieces, last the counts and a hash of all
//! lines before.
//! Invariant: an export that was cut off or altered is recognised; each stream is in it from its first entry without a
//! gap, up to its damage if it has any, and an end that was lost does not pass for the end: the index of the entries and the rows
//! know of entries that are past reading. No transaction is open while the reader of the lines is waited for.

use std::collections::HashMap;
use std::io::{self, Read as _, Write};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use model::{EVENT_VERSION, NamedPayload, Position, Seq, SessionId, StreamId, Timestamp};
use rusqlite::{Connection, Error, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::files::hex;
use crate::payloads::{PayloadState, PlainPayloads};
use crate::sqlite::meta::last_position;
use crate::sqlite::outside::payloads;
use crate::sqlite::outside::rows::known_seq;
use crate::sqlite::outside::streams::StreamRecord;
use crate::sqlite::outside::{OnProgress, PayloadReport, Progress, Stage, StoreFile, is_damage};
use crate::sqlite::rows::{STORED_ENTRY_COLUMNS, StoredEntry, sql_seq};
use crate::{Fence, FenceCause, MAX_PAGE_BYTES, StorageError};

/// The format that is written now, and the newest that is read.
pub(super) const FORMAT: u32 = 2;

const PAGE_ENTRIES: i64 = 500;
/// How many bytes of a payload are in one line.
const PIECE_BYTES: usize = 768 << 10;

/// What is asked of an export.
#[derive(Debug, Clone, Copy)]
pub struct ExportWish<'a> {
    /// Now.
    pub made_at: Timestamp,
    /// The version of the program that makes it.
    pub program: &'a str,
}

/// What was exported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Entries.
    pub entries: u64,
    /// Sessions of which only that they were purged is left.
    pub purged: u64,
    /// Streams that end at their damage.
    pub damaged: u64,
    /// Entries that belong to no stream, and were left out.
    pub strays: u64,
    /// Positions of the log that are past reading, each of which may have had an entry; and streams that end before an entry
    /// that only a newer version can export.
    pub unreadable: u64,
    /// What became of the payloads.
    pub payloads: PayloadReport,
}

/// Why there is no export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The lines could not be written.
    #[error("could not write the export")]
    Write(#[source] io::Error),
    /// The store could not be read.
    #[error("could not read the store")]
    Storage(#[from] StorageError),
}

impl From<Error> for ExportError {
    fn from(err: Error) -> Self {
        Self::Storage(err.into())
    }
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Header {
    pub(super) throughline: String,
    pub(super) version: u32,
    pub(super) made_at: Timestamp,
    pub(super) program: String,
    pub(super) incarnation: String,
}

/// A line of a session that was purged.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tombstone {
    pub(super) purged: String,
    pub(super) at: Timestamp,
}

/// A line of a stream that is damaged: its entries before `seq` are there.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DamageLine {
    pub(super) damaged: String,
    pub(super) seq: Seq,
    pub(super) what: String,
}

/// A line with a piece of a payload. The pieces of one follow each other, from its first byte on.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PayloadLine {
    /// The session's stream.
    pub(super) payload: String,
    /// Where its file is, below the session's folder.
    pub(super) path: String,
    /// How many bytes come before these.
    pub(super) offset: u64,
    /// The bytes in base64.
    pub(super) data: String,
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    pub(super) throughline: String,
    pub(super) entries: u64,
    pub(super) purged: u64,
    pub(super) damaged: u64,
    /// Payloads; an earlier version had none.
    #[serde(default)]
    pub(super) payloads: u64,
    pub(super) sha256: String,
}

impl StoreFile {
    /// Writes everything that the store holds at this moment to `out`.
    pub fn export(
        &self,
        wish: &ExportWish<'_>,
        out: &mut dyn Write,
        progress: OnProgress<'_>,
    ) -> Result<Exported, ExportError> {
        let mut lines = Lines { out, hasher: Sha256::new() };
        lines.line(&Header {
            throughline: "export".to_owned(),
            version: FORMAT,
            made_at: wish.made_at,
            program: wish.program.to_owned(),
            incarnation: self.incarnation.to_string(),
        })?;
        let mut log = LogReader { file: self, ends: HashMap::new(), exported: Exported::default() };
        let last = last_position(&self.conn)?;
        let mut after = Position(0);
        while let Some((reached, page)) = log.page(after, last)? {
            lines.write(&page)?;
            after = reached;
            progress(Progress { stage: Stage::Export, done: after.0, total: last.0 });
        }
        let LogReader { ends, mut exported, .. } = log;
        for record in self.ended_streams(&ends, last)? {
            if let Some(at) = record.purged_at {
                exported.purged += 1;
                lines.line(&Tombstone { purged: record.name, at })?;
            } else if let Some(Fence { seq, cause: FenceCause::Damaged(what), .. }) = record.fence {
                exported.damaged += 1;
                lines.line(&DamageLine { damaged: record.name, seq, what: what.into_owned() })?;
            }
        }
        let mut report = PayloadReport::default();
        payloads::each_session(&self.conn, self.schema, last, progress, |session, named| {
            named.iter().try_for_each(|payload| lines.payload(&self.payloads, session, payload, &mut report))
        })?;
        exported.payloads = report;
        lines.end(&exported)?;
        Ok(exported)
    }
}

/// Reads the log in the order of its positions.
struct LogReader<'a> {
    file: &'a StoreFile,
    ends: HashMap<i64, Reached>,
    exported: Exported,
}

impl LogReader<'_> {
    /// The lines of the next entries and how far they reach; `None` behind the last.
    fn page(&mut self, after: Position, last: Position) -> Result<Option<(Position, Vec<u8>)>, Error> {
        if after >= last {
            return Ok(None);
        }
        let mut limit = PAGE_ENTRIES;
        let mut from = after;
        loop {
            match self.try_page(from, last, limit) {
                Err(err) if is_damage(&err) && limit > 1 => limit = 1,
                // What SQLite cannot read is left out, one position after the other; its streams have a gap there.
                Err(err) if is_damage(&err) => {
                    self.exported.unreadable += 1;
                    from.0 += 1;
                    if from >= last {
                        return Ok(Some((last, Vec::new())));
                    }
                }
                other => return other.map(Some),
            }
        }
    }

    fn try_page(&mut self, after: Position, last: Position, limit: i64) -> Result<(Position, Vec<u8>), Error> {
        // A left join, so that an entry of no known stream is counted and not overlooked. From the next position on and
        // not after the last, because SQLite would go to the last one's page for that, which may be the damaged one.
        let sql = format!(
            "SELECT {STORED_ENTRY_COLUMNS}, entries.position, streams.id, streams.name, streams.purged_at IS NOT NULL
             FROM entries
             LEFT JOIN streams ON streams.id = entries.stream
             WHERE entries.position >= ?1 AND entries.position <= ?2
             ORDER BY entries.position
             LIMIT ?3"
        );
        let moment = self.file.conn.unchecked_transaction()?;
        let mut statement = moment.prepare_cached(&sql)?;
        let mut rows = statement.query(params![after.0.cast_signed() + 1, last.0.cast_signed(), limit])?;
        let mut found = Vec::new();
        let mut size_bytes = 0;
        let mut reached = last;
        while let Some(row) = rows.next()? {
            let stored = StoredEntry::from_row(row)?;
            size_bytes += stored.size_bytes();
            let position = Position(row.get::<_, i64>(5)?.cast_unsigned());
            let stream = row.get::<_, Option<i64>>(6)?.zip(row.get::<_, Option<String>>(7)?);
            found.push((stored, stream, row.get::<_, bool>(8)?));
            if found.len().cast_signed() as i64 == limit || size_bytes > MAX_PAGE_BYTES {
                reached = position;
                break;
            }
        }
        let mut page = Vec::with_capacity(size_bytes + found.len() * 128);
        for (stored, stream, purged) in found {
            match stream.and_then(|(id, name)| Some((id, name.parse().ok()?))) {
                // Purged while the export was under way: what is out is out, and its tombstone follows.
                Some(_) if purged => (),
                Some((id, stream)) => self.take(id, stream, stored, &mut page),
                None => self.exported.strays += 1,
            }
        }
        Ok((reached, page))
    }

    fn take(&mut self, id: i64, stream: StreamId, stored: StoredEntry, page: &mut Vec<u8>) {
        let reached = self.ends.entry(id).or_insert(Reached::Seq(Seq::START));
        let Reached::Seq(head) = reached else { return };
        let seq = head.next();
        let at = stored.at();
        let (version, event) = stored.event();
        let (version, event) = (version, event.to_vec());
        let as_written = event.starts_with(br#"{"type":"#) && !event.contains(&b'\n');
        let (version, event) = match stored.verify(stream, seq) {
            Ok(_) if as_written => (version, event),
            Ok(entry) => (i64::from(EVENT_VERSION), entry.event.encode()),
            // The version that wrote it takes it back.
            Err(fence) if fence.is_newer() && as_written => (version, event),
            Err(fence) => {
                // What is newer and has no line in this format is counted, so that nobody takes the export for all of it.
                self.exported.unreadable += u64::from(fence.is_newer());
                *reached = Reached::Fence(fence);
                return;
            }
        };
        *head = seq;
        self.exported.entries += 1;
        let place = format!(r#"{{"stream":"{stream}","seq":{seq},"at":"{at}","version":{version},"#);
        page.extend_from_slice(place.as_bytes());
        page.extend_from_slice(&event[1..]);
        page.push(b'\n');
    }
}

/// How far a stream was exported.
enum Reached {
    Seq(Seq),
    Fence(Fence),
}

impl StoreFile {
    /// Streams that were purged, and those that are damaged with the damage as their fence, by name; of a log that was
    /// exported up to `last`.
    fn ended_streams(&self, ends: &HashMap<i64, Reached>, last: Position) -> Result<Vec<StreamRecord>, Error> {
        let ids: Vec<i64> = self
            .conn
            .prepare("SELECT id FROM streams ORDER BY name")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let mut ended = Vec::new();
        for id in ids {
            let moment = self.conn.unchecked_transaction()?;
            let Some(mut record) = StreamRecord::find(&moment, self.schema, id)? else { continue };
            let Some(stream) = record.stream else { continue };
            if record.purged_at.is_none() {
                record.fence = match ends.get(&id).unwrap_or(&Reached::Seq(Seq::START)) {
                    Reached::Fence(fence) => Some(fence.clone()),
                    Reached::Seq(head) => self.end(&moment, &record, stream, *head, last)?,
                };
            }
            moment.finish()?;
            if record.purged_at.is_some() || record.fence.is_some() {
                ended.push(record);
            }
        }
        Ok(ended)
    }

    /// What is wrong behind the last entry that was exported.
    fn end(
        &self,
        conn: &Connection,
        record: &StreamRecord,
        stream: StreamId,
        head: Seq,
        last: Position,
    ) -> Result<Option<Fence>, Error> {
        let what = match next_entry(conn, record.id, head) {
            Ok(Some((seq, position))) if seq == head.next() && position > last => None,
            Ok(Some((seq, _))) if seq == head.next() => Some("it cannot be read"),
            Ok(Some(_)) => Some("the entry is missing"),
            Ok(None) if head < known_seq(conn, self.schema, stream)? => Some("the entry is missing"),
            Ok(None) => None,
            Err(err) if is_damage(&err) => Some("it cannot be read"),
            Err(err) => return Err(err),
        };
        let lost = what.map(|what| Fence::damaged(stream, head.next(), what));
        // A fence after the last entry stands for a lost tail.
        Ok(lost.or_else(|| record.fence.clone().filter(|fence| fence.seq > head)))
    }
}

/// The number and the position of the entry after `head`. The index alone is asked, which has both.
fn next_entry(conn: &Connection, id: i64, head: Seq) -> Result<Option<(Seq, Position)>, Error> {
    let mut statement = conn.prepare_cached(
        "SELECT seq, position
         FROM entries
         WHERE stream = ?1 AND seq > ?2
         ORDER BY seq
         LIMIT 1",
    )?;
    let number = |row: &rusqlite::Row<'_>, column| row.get::<_, i64>(column).map(i64::cast_unsigned);
    statement
        .query_row(params![id, sql_seq(head)], |row| Ok((Seq(number(row, 0)?), Position(number(row, 1)?))))
        .optional()
}

/// Where the lines go, hashed on their way.
struct Lines<'a> {
    out: &'a mut dyn Write,
    hasher: Sha256,
}

impl Lines<'_> {
    fn write(&mut self, lines: &[u8]) -> Result<(), ExportError> {
        self.hasher.update(lines);
        self.out.write_all(lines).map_err(ExportError::Write)
    }

    fn line(&mut self, line: &impl Serialize) -> Result<(), ExportError> {
        let mut text = serde_json::to_vec(line).expect("a line is text and numbers");
        text.push(b'\n');
        self.write(&text)
    }

    /// Writes a payload in pieces. One that is missing has no line; one that breaks off on the way is missing from there on, and
    /// recognised as changed by whoever reads the lines.
    fn payload(
        &mut self,
        files: &PlainPayloads,
        session: SessionId,
        payload: &NamedPayload,
        report: &mut PayloadReport,
    ) -> Result<(), ExportError> {
        let Some(file) = files.find(session, &payload.path).ok().flatten() else {
            report.add(session, payload, PayloadState::Missing);
            return Ok(());
        };
        let mut file = file.take(payload.most_bytes());
        let stream = StreamId::Session(session).to_string();
        let (mut hasher, mut offset) = (Sha256::new(), 0_u64);
        loop {
            let mut piece = Vec::with_capacity(PIECE_BYTES);
            let whole = (&mut file).take(PIECE_BYTES as u64).read_to_end(&mut piece).is_ok();
            if offset == 0 || !piece.is_empty() {
                hasher.update(&piece);
                let (payload, path) = (stream.clone(), payload.path.clone());
                self.line(&PayloadLine { payload, path, offset, data: BASE64_STANDARD.encode(&piece) })?;
                offset += piece.len() as u64;
            }
            if !whole || piece.len() < PIECE_BYTES {
                break;
            }
        }
        let is_kept = offset == payload.bytes && hex(hasher) == payload.sha256;
        report.add(session, payload, if is_kept { PayloadState::Kept } else { PayloadState::Changed });
        Ok(())
    }

    fn end(mut self, exported: &Exported) -> Result<(), ExportError> {
        let Exported { entries, purged, damaged, strays: _, unreadable: _, payloads } = exported;
        let (entries, purged, damaged, payloads) = (*entries, *purged, *damaged, payloads.count);
        let sha256 = hex(self.hasher.clone());
        self.line(&End { throughline: "end".to_owned(), entries, purged, damaged, payloads, sha256 })?;
        self.out.flush().map_err(ExportError::Write)
    }
}
