//! An export read back into a new store, line by line.
//!
//! Invariant: every entry goes the way of any other: decoded, brought up to date, folded and appended, so rows and
//! checksums are this version's own. Nothing is taken on trust: lines are bounded, seqs have no gap, and only a whole
//! export, whose end has the right hash, becomes a store.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use model::{DecodeError, Entry, EntryLine, Event, RowChange, Seq, Session, StreamId, fold, payload_path};
use rusqlite::{Connection, OpenFlags};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::files::hex;
use crate::payloads::{NewPayload, PlainPayloads};
use crate::prelude::*;
use crate::sqlite::checkpoint::{self, Health};
use crate::sqlite::fences::has_fence;
use crate::sqlite::heads::Heads;
use crate::sqlite::open::Setup;
use crate::sqlite::outside::export::{self, DamageLine, End, Header, PayloadLine, Tombstone};
use crate::sqlite::outside::payloads;
use crate::sqlite::outside::repair::put_fence;
use crate::sqlite::outside::restore::{RestoreError, RestoreWish, Restored, with_built};
use crate::sqlite::outside::{OnProgress, Progress, Stage};
use crate::{Batch, Fence, Head, Part, ReadError, SqliteStore};

/// The longest line that is read. An event is far shorter than this.
const MAX_LINE_BYTES: u64 = 32 << 20;
const MAX_BATCH_ENTRIES: usize = 512;
const MAX_BATCH_BYTES: usize = 1 << 20;
/// Streams that are remembered between two batches: more than write at once.
const MAX_STREAMS: usize = 4096;
const MAX_WHAT_CHARS: usize = 200;

/// Builds a store at `to` from an export.
pub(super) fn import(
    wish: &RestoreWish<'_>,
    to: &Path,
    payloads: &PlainPayloads,
    progress: OnProgress<'_>,
) -> Result<Restored, RestoreError> {
    let file = File::open(wish.from).map_err(|source| RestoreError::Io { path: wish.from.to_owned(), source })?;
    let total = file.metadata().map_or(0, |file| file.len());
    let mut lines = Lines { path: wish.from, reader: BufReader::new(file), number: 0, read: 0, line: Vec::new() };
    let header = read_header(&mut lines)?;
    // Appending is awaited here, on a thread that may block: nothing else runs meanwhile.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|source| RestoreError::Io { path: to.to_owned(), source })?;
    let store = SqliteStore::open(to, wish.incarnation)?;
    let taken = runtime.block_on(async {
        let taken = take_lines(&store, &mut lines, payloads, total, progress).await;
        store.close().await;
        taken
    });
    let (entries, damaged) = taken?;
    fence(to, &damaged)?;
    let damaged = damaged.len() as u64;
    let settle = |conn: &Connection, schema| payloads::settle(conn, schema, payloads, progress);
    let payloads = if header.version > 1 { Some(with_built(to, settle)?) } else { None };
    Ok(Restored { entries, made_at: header.made_at, moved: Vec::new(), config: false, damaged, payloads })
}

fn read_header(lines: &mut Lines<'_>) -> Result<Header, RestoreError> {
    /// What every version has.
    #[derive(Deserialize)]
    struct AnyHeader {
        throughline: String,
        version: u32,
    }
    let path = lines.path.to_owned();
    // Its first bytes, because a stranger's first line may have no end.
    let begins = lines.reader.fill_buf().is_ok_and(|bytes| bytes.starts_with(br#"{"throughline":"export""#));
    if !begins || !lines.next()? {
        return Err(RestoreError::Foreign { path });
    }
    match serde_json::from_slice(&lines.line) {
        Ok(AnyHeader { throughline, version }) if throughline == "export" && version > export::FORMAT => {
            Err(RestoreError::Newer { path, found: version, known: export::FORMAT })
        }
        Ok(AnyHeader { throughline, .. }) if throughline == "export" => lines.parse(),
        Ok(_) | Err(_) => Err(RestoreError::Foreign { path }),
    }
}

async fn take_lines(
    store: &SqliteStore,
    lines: &mut Lines<'_>,
    payloads: &PlainPayloads,
    total: u64,
    progress: OnProgress<'_>,
) -> Result<(u64, Vec<(StreamId, DamageLine)>), RestoreError> {
    let mut hasher = Sha256::new();
    let mut writer = Importer { store, batch: Batch::default(), size: (0, 0), streams: HashMap::new() };
    let (mut entries, mut purged, mut damaged) = (0, 0, Vec::new());
    let mut pieces = Pieces { files: payloads, open: None, count: 0 };
    loop {
        hasher.update(&lines.line);
        if !lines.next()? {
            return Err(RestoreError::CutOff { path: lines.path.to_owned(), line: lines.number });
        }
        progress(Progress { stage: Stage::Import, done: lines.read, total });
        if lines.line.starts_with(br#"{"stream":"#) {
            writer.take(&lines.parse()?, lines).await?;
            entries += 1;
        } else if lines.line.starts_with(br#"{"purged":"#) {
            let line: Tombstone = lines.parse()?;
            writer.flush().await?;
            let StreamId::Session(session) = lines.stream(&line.purged)? else {
                return Err(lines.bad("only sessions are purged"));
            };
            let head = writer.head(StreamId::Session(session), lines).await?;
            store.purge(session, head, line.at).await?;
            purged += 1;
        } else if lines.line.starts_with(br#"{"damaged":"#) {
            let line: DamageLine = lines.parse()?;
            let stream = lines.stream(&line.damaged)?;
            if line.seq <= writer.head(stream, lines).await? || line.what.chars().count() > MAX_WHAT_CHARS {
                return Err(lines.bad("it is no damage"));
            }
            damaged.push((stream, line));
        } else if lines.line.starts_with(br#"{"payload":"#) {
            pieces.take(&lines.parse()?, lines)?;
        } else {
            let end: End = lines.parse()?;
            pieces.finish()?;
            if end.sha256 != hex(hasher) {
                return Err(lines.bad("the hash of what is before it is another"));
            }
            if (end.entries, end.purged, end.damaged, end.payloads)
                != (entries, purged, damaged.len() as u64, pieces.count)
            {
                return Err(lines.bad("it counts other lines than there are"));
            }
            if lines.next()? {
                return Err(lines.bad("something comes after the end"));
            }
            writer.flush().await?;
            return Ok((entries, damaged));
        }
    }
}

/// Puts the pieces of payloads together, one payload after the other.
struct Pieces<'a> {
    files: &'a PlainPayloads,
    open: Option<OpenPayload>,
    count: u64,
}

struct OpenPayload {
    stream: String,
    path: String,
    bytes: u64,
    file: NewPayload,
}

impl Pieces<'_> {
    fn take(&mut self, line: &PayloadLine, lines: &Lines<'_>) -> Result<(), RestoreError> {
        let StreamId::Session(session) = lines.stream(&line.payload)? else {
            return Err(lines.bad("only sessions have payloads"));
        };
        let bytes = BASE64_STANDARD.decode(&line.data).map_err(|_| lines.bad("its data is not base64"))?;
        if line.offset == 0 {
            self.finish()?;
            if payload_path(&line.path).is_none() {
                return Err(lines.bad("it names no payload that this program knows"));
            }
            let file = self.files.begin(session, &line.path).map_err(RestoreError::Payload)?;
            self.count += 1;
            self.open = Some(OpenPayload { stream: line.payload.clone(), path: line.path.clone(), bytes: 0, file });
        }
        let follows = |open: &&mut OpenPayload| {
            (&open.stream, &open.path, open.bytes) == (&line.payload, &line.path, line.offset)
        };
        let open = self.open.as_mut().filter(follows);
        let open = open.ok_or_else(|| lines.bad("it does not follow the piece before it"))?;
        open.bytes += bytes.len() as u64;
        open.file.write(&bytes).map_err(RestoreError::Payload)
    }

    fn finish(&mut self) -> Result<(), RestoreError> {
        self.open.take().map_or(Ok(()), |open| open.file.finish().map_err(RestoreError::Payload))
    }
}

/// Appends entries in batches, each stream after its head.
struct Importer<'a> {
    store: &'a SqliteStore,
    batch: Batch,
    /// Entries and bytes in the batch.
    size: (usize, usize),
    streams: HashMap<StreamId, (Seq, Option<Session>)>,
}

impl Importer<'_> {
    async fn take(&mut self, line: &EntryLine<'_>, lines: &Lines<'_>) -> Result<(), RestoreError> {
        let stream = lines.stream(line.stream.as_deref().unwrap_or_default())?;
        let entry = line.decode(stream).map_err(|err| {
            lines.bad(match err {
                DecodeError::Newer => "it was written by a newer version of the program",
                DecodeError::Malformed(_) => "it is not a known event",
            })
        })?;
        let after = self.head(stream, lines).await?;
        if entry.seq != after.next() {
            return Err(lines.bad("it does not follow the entry before it in its stream"));
        }
        let (head, session) = self.streams.get_mut(&stream).expect("its head was just read");
        let rows;
        (*session, rows) = fold(stream, session.take(), &entry);
        *head = entry.seq;
        self.put(stream, after, entry, rows);
        self.size = (self.size.0 + 1, self.size.1 + lines.line.len());
        if self.size.0 >= MAX_BATCH_ENTRIES || self.size.1 >= MAX_BATCH_BYTES {
            self.flush().await?;
        }
        Ok(())
    }

    /// Entries of one stream that follow each other are one part; the order of the log stays as it was.
    fn put(&mut self, stream: StreamId, after: Seq, entry: Entry<Event>, rows: Vec<RowChange>) {
        match self.batch.parts.last_mut() {
            Some(part) if part.stream == stream => {
                part.entries.push(entry);
                part.rows.extend(rows);
            }
            Some(_) | None => self.batch.parts.push(Part { entries: vec![entry], rows, ..Part::empty(stream, after) }),
        }
    }

    async fn flush(&mut self) -> Result<(), RestoreError> {
        if self.batch.parts.is_empty() {
            return Ok(());
        }
        self.store.append(std::mem::take(&mut self.batch)).await?;
        self.size = (0, 0);
        if self.streams.len() > MAX_STREAMS {
            self.streams.clear();
        }
        Ok(())
    }

    /// How far a stream has got, counting what waits in the batch.
    async fn head(&mut self, stream: StreamId, lines: &Lines<'_>) -> Result<Seq, RestoreError> {
        if let Some((head, _)) = self.streams.get(&stream) {
            return Ok(*head);
        }
        let unreadable = |err| match err {
            ReadError::Storage(err) => RestoreError::Storage(err),
            ReadError::Fenced(_) | ReadError::Closed => lines.bad("its stream cannot be read back"),
        };
        let head = match self.store.head(stream).await.map_err(unreadable)? {
            Head::At(head) => head,
            Head::Purged => return Err(lines.bad("its stream was purged")),
        };
        let session = match stream {
            StreamId::Session(id) => self.store.session(id).await.map_err(unreadable)?,
            StreamId::Server | StreamId::Work => None,
        };
        self.streams.insert(stream, (head, session));
        Ok(head)
    }
}

/// What was damaged stays known as such: the end of what there is must not pass for the end of what there was.
fn fence(path: &Path, damaged: &[(StreamId, DamageLine)]) -> Result<(), RestoreError> {
    let setup = Setup { path };
    let mut conn = setup.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let tx = conn.transaction()?;
    for (stream, damage) in damaged.iter().filter(|(stream, _)| has_fence(*stream)) {
        let id = Heads::default().find_or_create(&tx, *stream)?;
        let fence = Fence::damaged(*stream, damage.seq, damage.what.clone());
        put_fence(&tx, id, Some(&fence))?;
    }
    tx.commit()?;
    checkpoint::finish(&conn, &Health::default());
    Ok(())
}

/// The lines of an export, one at a time.
struct Lines<'a> {
    path: &'a Path,
    reader: BufReader<File>,
    number: u64,
    read: u64,
    line: Vec<u8>,
}

impl Lines<'_> {
    /// Reads on; false at the end of the file.
    fn next(&mut self) -> Result<bool, RestoreError> {
        self.line.clear();
        let read = (&mut self.reader).take(MAX_LINE_BYTES).read_until(b'\n', &mut self.line);
        let read = read.map_err(|source| RestoreError::Io { path: self.path.to_owned(), source })?;
        if read == 0 {
            return Ok(false);
        }
        if !self.line.ends_with(b"\n") {
            return match read as u64 {
                MAX_LINE_BYTES => {
                    self.number += 1;
                    Err(self.bad("it is too long"))
                }
                _ => Err(RestoreError::CutOff { path: self.path.to_owned(), line: self.number }),
            };
        }
        self.number += 1;
        self.read += read as u64;
        Ok(true)
    }

    fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, RestoreError> {
        serde_json::from_slice(&self.line).map_err(|_| self.bad("it is no line of an export"))
    }

    fn stream(&self, name: &str) -> Result<StreamId, RestoreError> {
        name.parse().map_err(|_| self.bad("it names no stream that this program knows"))
    }

    fn bad(&self, what: &'static str) -> RestoreError {
        RestoreError::Line { path: self.path.to_owned(), line: self.number, what }
    }
}
