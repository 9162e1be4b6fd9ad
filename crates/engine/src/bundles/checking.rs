//! Checks a bundle from its first byte to its last, and keeps what is to be written.
//!
//! Invariant: nothing in it is taken on trust. Only files whose names a bundle has are read, each once and in bounded pieces; links,
//! folders and every other sort of member are refused, and no name in it is ever used as a path. Entries are decoded, numbered and
//! folded as if this program had just written them; hashes are those of the manifest.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};

use agents::embed::EmbedAddress;
use model::{
    DecodeError, Draft, Entry, EntryLine, Event, MAX_BODY_BYTES, NamedPayload, NamedPayloads, Output, OutputKind, Seq,
    SessionEvent, SessionId, StreamId, Turn, is_sound_session, payload_path,
};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::{
    BundleError, BundleHeader, BundleLimits, CONTENTS, ENTRIES, FILES, FORMAT, HEADER, MANIFEST, Manifest,
    ManifestFile, README, entries_path,
};

const MAX_HEADER_BYTES: u64 = 64 << 10;
const PIECE_BYTES: usize = 256 << 10;

/// A bundle that was checked.
pub(super) struct CheckedBundle {
    pub(super) session: SessionId,
    /// All its entries, folded and numbered.
    pub(super) draft: Draft,
    pub(super) payloads: Vec<BundledPayload>,
    /// How many payloads its entries name that were gone when the bundle was written.
    pub(super) missing: u64,
    /// All that its entries name, with what was gone when the bundle was written.
    pub(super) named: NamedPayloads,
    /// The SHA-256 of all entries, by which the same bundle is recognised.
    pub(super) sha256: String,
}

/// Where a payload's bytes are in the bundle's file.
pub(super) struct BundledPayload {
    pub(super) payload: NamedPayload,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// Reads a bundle to its end.
pub(super) fn check(file: &File, limits: BundleLimits) -> Result<CheckedBundle, BundleError> {
    let mut archive = tar::Archive::new(BufReader::new(file));
    // Raw: names are those of the blocks themselves, and members that would change the next one's are met as what they are.
    let members = archive.entries().map_err(BundleError::Io)?.raw(true);
    let mut reading: Option<Reading> = None;
    for member in members {
        let mut member = member.map_err(|err| if reading.is_none() { BundleError::Foreign } else { cut_off(err) })?;
        let path = member.path_bytes().into_owned();
        let path = String::from_utf8(path).map_err(|err| unknown(&err.to_string()))?;
        if !member.header().entry_type().is_file() {
            return Err(if reading.is_none() { BundleError::Foreign } else { unknown(&path) });
        }
        let (bytes, offset) = (member.header().entry_size().map_err(cut_off)?, member.raw_file_position());
        match &mut reading {
            None => reading = Some(Reading::begin(&path, bytes, limits, &mut member)?),
            Some(reading) => reading.take(&path, bytes, offset, &mut member)?,
        }
    }
    reading.ok_or(BundleError::Foreign)?.finish()
}

struct Reading {
    limits: BundleLimits,
    session: SessionId,
    draft: Draft,
    named: NamedPayloads,
    files: HashMap<String, (u64, String)>,
    entry_files: usize,
    entries_bytes: u64,
    values_bytes: u64,
    entries_hash: Sha256,
    payloads: Vec<(String, u64, u64)>,
    manifest: Option<Manifest>,
}

impl Reading {
    fn begin(path: &str, bytes: u64, limits: BundleLimits, from: &mut impl Read) -> Result<Self, BundleError> {
        if path != HEADER || bytes > MAX_HEADER_BYTES {
            return Err(BundleError::Foreign);
        }
        #[derive(Deserialize)]
        struct AnyHeader {
            throughline: String,
            version: u32,
        }
        let text = read_whole(from, bytes)?;
        let AnyHeader { throughline, version } = serde_json::from_slice(&text).map_err(|_| BundleError::Foreign)?;
        if throughline != "bundle" {
            return Err(BundleError::Foreign);
        }
        if version > FORMAT {
            return Err(BundleError::NewerFormat { found: version });
        }
        let header: BundleHeader = serde_json::from_slice(&text).map_err(|_| BundleError::Foreign)?;
        let session = header.session;
        Ok(Self {
            limits,
            session,
            draft: Draft::of_copy(session),
            named: NamedPayloads::default(),
            files: HashMap::from([(path.to_owned(), (bytes, hex(&text)))]),
            entry_files: 0,
            entries_bytes: 0,
            values_bytes: 0,
            entries_hash: Sha256::new(),
            payloads: Vec::new(),
            manifest: None,
        })
    }

    fn take(&mut self, path: &str, bytes: u64, offset: u64, from: &mut impl Read) -> Result<(), BundleError> {
        if self.files.contains_key(path) || (path == MANIFEST && self.manifest.is_some()) {
            return Err(BundleError::Twice(path.to_owned()));
        }
        // Nothing comes behind the manifest.
        if self.manifest.is_some() {
            return Err(unknown(path));
        }
        if self.files.len() as u64 >= self.limits.files {
            return Err(BundleError::TooLarge { what: FILES, max: self.limits.files });
        }
        if path == MANIFEST {
            let max = self.limits.manifest_bytes();
            if bytes > max {
                return Err(BundleError::TooLarge { what: "bytes of the manifest", max });
            }
            let text = read_whole(from, bytes)?;
            self.manifest = Some(serde_json::from_slice(&text).map_err(|_| BundleError::Altered(MANIFEST.to_owned()))?);
            return Ok(());
        }
        let is_entries = path == entries_path(self.entry_files + 1);
        let hash = if is_entries {
            self.entries(bytes, from)?
        } else if path == README || path == CONTENTS {
            hash(from, bytes)?
        } else if payload_path(path).is_some() {
            self.payloads.push((path.to_owned(), offset, bytes));
            hash(from, bytes)?
        } else {
            return Err(unknown(path));
        };
        self.files.insert(path.to_owned(), (bytes, hash));
        Ok(())
    }

    fn entries(&mut self, bytes: u64, from: &mut impl Read) -> Result<String, BundleError> {
        self.entry_files += 1;
        self.entries_bytes = self.entries_bytes.saturating_add(bytes);
        if self.entries_bytes > self.limits.entries_bytes {
            return Err(BundleError::TooLarge { what: ENTRIES, max: self.limits.entries_bytes });
        }
        let (mut hasher, mut reader, mut line) = (Sha256::new(), BufReader::new(from), Vec::new());
        let mut left = bytes;
        while left > 0 {
            line.clear();
            let most = self.limits.entry_bytes + 1;
            let read = (&mut reader).take(most).read_until(b'\n', &mut line).map_err(cut_off)?;
            self.limits.check_line(&line)?;
            if read == 0 || !line.ends_with(b"\n") {
                return Err(BundleError::CutOff);
            }
            left = left.saturating_sub(read as u64);
            hasher.update(&line);
            self.entries_hash.update(&line);
            self.entry(&line)?;
        }
        Ok(format!("{:x}", hasher.finalize()))
    }

    fn entry(&mut self, text: &[u8]) -> Result<(), BundleError> {
        let due = self.head().next();
        let bad = |what| BundleError::Entry { seq: due, what };
        let line = EntryLine::read(text).ok().filter(|line| line.stream.is_none());
        let line = line.ok_or_else(|| bad("it is no entry"))?;
        if line.seq != due {
            return Err(bad("it does not follow the entry before it"));
        }
        let Entry { at, event, .. } = line.decode(StreamId::Session(self.session)).map_err(|err| match err {
            DecodeError::Newer => BundleError::NewerEntry(due),
            DecodeError::Malformed(_) => bad("it is not a known event"),
        })?;
        let Event::Session(event) = event else { return Err(bad("it is of another stream")) };
        self.limits.count_values(text, &event, &mut self.values_bytes)?;
        let is_first = due == Seq(1);
        if is_first != matches!(event, SessionEvent::SessionCreated { .. }) {
            return Err(bad("a session begins with its first entry, once"));
        }
        let turns = self.draft.session().map_or(Turn(0), |session| session.row.turns);
        let follows = match &event {
            SessionEvent::TurnStarted { turn, .. } => *turn == turns.next(),
            event => event.turn().is_none_or(|turn| turn.0 > 0 && turn <= turns),
        };
        if !follows {
            return Err(bad("its turn has not begun"));
        }
        if let SessionEvent::OutputStored { output, .. } = &event
            && (!output.is_sound() || self.named.get(&NamedPayload::of(output).path).is_some())
        {
            return Err(bad("it shows what no tool shows"));
        }
        if let SessionEvent::OutputStored { output, .. } = &event
            && !leads_where_it_says(output)
        {
            return Err(bad("it is a card that leads elsewhere than to the site that it names"));
        }
        let bodies = event.bodies().into_iter().map(|body| body.bytes);
        if bodies.fold(0, u64::saturating_add) > MAX_BODY_BYTES {
            return Err(bad("it names more bytes than an entry has"));
        }
        if let SessionEvent::SessionCreated { agent, cwd, project, name, .. } = &event
            && !is_sound_session([agent, name], [cwd, project])
        {
            return Err(bad("it begins a session that no rule allows"));
        }
        self.named.apply(&event);
        self.draft.push(event, at);
        if self.draft.session().is_none() {
            return Err(bad("it makes no session"));
        }
        Ok(())
    }

    fn head(&self) -> Seq {
        self.draft.session().map_or(Seq::START, |session| session.head)
    }

    /// Compares everything with the manifest.
    fn finish(self) -> Result<CheckedBundle, BundleError> {
        let manifest = self.manifest.as_ref().ok_or(BundleError::CutOff)?;
        if self.draft.session().is_none() || manifest.entries != self.head().0 {
            return Err(BundleError::Altered("the number of entries".to_owned()));
        }
        for ManifestFile { path, bytes, sha256 } in &manifest.files {
            if self.files.get(path).is_none_or(|found| (found.0, &found.1) != (*bytes, sha256)) {
                return Err(BundleError::Altered(path.clone()));
            }
        }
        let listed: HashSet<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
        if let Some(path) = self.files.keys().find(|path| !listed.contains(path.as_str())) {
            return Err(unknown(path));
        }
        let mut payloads = Vec::new();
        for (path, offset, bytes) in self.payloads {
            let payload = self.named.get(&path).ok_or_else(|| unknown(&path))?.clone();
            payloads.push(BundledPayload { payload, offset, bytes });
        }
        let said_to_be_gone: HashSet<&str> = manifest.missing.iter().map(String::as_str).collect();
        let is_there = |path: &str| self.files.contains_key(path) || said_to_be_gone.contains(path);
        if let Some(gone) = self.named.iter().find(|payload| !is_there(&payload.path)) {
            return Err(BundleError::Altered(gone.path.clone()));
        }
        let missing = self.named.iter().filter(|payload| !self.files.contains_key(&payload.path)).count() as u64;
        let sha256 = format!("{:x}", self.entries_hash.finalize());
        Ok(CheckedBundle { session: self.session, draft: self.draft, payloads, missing, named: self.named, sha256 })
    }
}

/// How many payloads a bundle of our own says that it lacks; nothing else in it is looked at.
pub fn missing_from_bundle(file: &File) -> Result<u64, BundleError> {
    let mut archive = tar::Archive::new(file);
    for member in archive.entries_with_seek().map_err(BundleError::Io)? {
        let mut member = member.map_err(cut_off)?;
        if *member.path_bytes() == *MANIFEST.as_bytes() {
            let bytes = member.size();
            let text = read_whole(&mut member, bytes)?;
            let manifest: Manifest =
                serde_json::from_slice(&text).map_err(|_| BundleError::Altered(MANIFEST.to_owned()))?;
            return Ok(manifest.missing.len() as u64);
        }
    }
    Err(BundleError::CutOff)
}

/// A card names a site that has cards and leads to it; nothing else names a site or leads anywhere.
fn leads_where_it_says(Output { kind, about, .. }: &Output) -> bool {
    match (kind, &about.url, &about.provider) {
        (OutputKind::Embed, Some(url), Some(provider)) => EmbedAddress::is_of(url, provider),
        (OutputKind::Embed, ..) => false,
        (_, url, provider) => url.is_none() && provider.is_none(),
    }
}

fn read_whole(from: &mut impl Read, bytes: u64) -> Result<Vec<u8>, BundleError> {
    let mut text = Vec::new();
    from.take(bytes).read_to_end(&mut text).map_err(cut_off)?;
    if text.len() as u64 == bytes { Ok(text) } else { Err(BundleError::CutOff) }
}

fn hash(from: &mut impl Read, bytes: u64) -> Result<String, BundleError> {
    let (mut hasher, mut piece, mut left) = (Sha256::new(), vec![0; PIECE_BYTES], bytes);
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE_BYTES);
        let read = from.read(&mut piece[..most]).map_err(cut_off)?;
        if read == 0 {
            return Err(BundleError::CutOff);
        }
        hasher.update(&piece[..read]);
        left -= read as u64;
    }
    Ok(format!("{:x}", hasher.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

fn cut_off(err: io::Error) -> BundleError {
    match err.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::Other | io::ErrorKind::InvalidInput => BundleError::CutOff,
        _ => BundleError::Io(err),
    }
}

fn unknown(path: &str) -> BundleError {
    BundleError::UnknownFile(model::one_line(path, 100))
}
