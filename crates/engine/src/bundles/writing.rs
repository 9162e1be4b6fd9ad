//! Writes a bundle, piece by piece.
//!
//! Invariant: what is held is a page of entries, a piece of a payload, and a line of the manifest for each file. The bundle holds
//! the session as it was when it was begun: what is appended meanwhile is not in it. Once its first byte is out it comes to its
//! end whatever lies in the place of a payload, and what it holds is taken in elsewhere.

use std::sync::Arc;

use model::{EVENT_VERSION, Entry, NamedPayload, NamedPayloads, Seq, SessionId, Turn};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use store::PayloadName;

use super::{
    BundleError, BundleHeader, BundleLimits, CONTENTS, ENTRIES, FILES, FORMAT, HEADER, LIMITS, MANIFEST, Manifest,
    ManifestFile, README, TooMuch, entries_path, if_readable,
};
use crate::Engine;
use crate::contents::MAX_CONTENTS_LINES;

const PAGE_ENTRIES: usize = 500;
/// A file of entries ends once it has this many bytes.
const ENTRIES_FILE_BYTES: usize = 1 << 20;
/// The header, the text about it, the contents and the manifest.
const OTHER_FILES: u64 = 4;
const PIECE_BYTES: usize = 256 << 10;
/// A tar file is made of blocks of this size, and ends with two empty ones.
const BLOCK_BYTES: usize = 512;

const README_TEXT: &str = "\
This is a conversation with an AI agent, exported by Throughline.

`throughline import FILE` takes this whole file in, on any machine, as the same session; it is read-only there until an agent
takes it over. Without Throughline: entries/ has everything that happened, a line of JSON each, in order; contents.jsonl has a
line for each turn; outputs/ has what the agent showed; manifest.json has the size and the SHA-256 of each file.
";

/// A bundle that is being written.
pub struct BundleWriter {
    engine: Engine,
    id: SessionId,
    head: Seq,
    stage: Stage,
    manifest: Manifest,
    named: NamedPayloads,
}

enum Stage {
    Begin,
    Entries {
        after: Seq,
        files: usize,
    },
    Contents,
    /// The payloads that are still to come, the next one last.
    Payloads(Vec<NamedPayload>),
    Payload {
        rest: Vec<NamedPayload>,
        sending: SendingPayload,
    },
    Manifest,
    Done,
}

/// A payload that is being sent.
struct SendingPayload {
    payload: NamedPayload,
    bytes: u64,
    offset: u64,
    /// Of what was sent.
    hasher: Sha256,
}

impl Engine {
    /// Begins to write a session as a bundle. One that no server would take in is refused here, before anything is written.
    pub async fn bundle(&self, id: SessionId) -> Result<BundleWriter, BundleError> {
        self.bundle_within(id, LIMITS).await
    }

    pub(super) async fn bundle_within(&self, id: SessionId, limits: BundleLimits) -> Result<BundleWriter, BundleError> {
        let head = self.session(id).await?.head;
        let named = self.measure(id, head, limits).await?;
        Ok(BundleWriter { engine: self.clone(), id, head, stage: Stage::Begin, manifest: Manifest::default(), named })
    }

    /// Reads all entries once, for what they name and for how much they are together.
    async fn measure(&self, id: SessionId, head: Seq, limits: BundleLimits) -> Result<NamedPayloads, BundleError> {
        let too_large = |what, max| Err(BundleError::TooLargeToWrite { session: id, what, max });
        let (mut named, mut bytes, mut values_bytes, mut after) = (NamedPayloads::default(), 0, 0, Seq::START);
        while after < head {
            let page = self.shared.store.read_session(id, after, PAGE_ENTRIES).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            for entry in page.into_iter().filter(|entry| entry.seq <= head) {
                named.apply(&entry.event);
                let line = entry_line(&entry);
                bytes += line.len() as u64;
                let fits = limits.check_line(&line);
                let fits = fits.and_then(|()| limits.count_values(&line, &entry.event, &mut values_bytes));
                if let Err(TooMuch { what, max }) = fits {
                    return too_large(what, max);
                }
            }
            if bytes > limits.entries_bytes {
                return too_large(ENTRIES, limits.entries_bytes);
            }
        }
        // Each file of entries but the last has at least so many bytes.
        let entry_files = bytes / ENTRIES_FILE_BYTES as u64 + 1;
        if OTHER_FILES + entry_files + named.iter().count() as u64 > limits.files {
            return too_large(FILES, limits.files);
        }
        Ok(named)
    }
}

impl BundleWriter {
    /// The next bytes; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, BundleError> {
        let stage = std::mem::replace(&mut self.stage, Stage::Done);
        let (piece, next) = match stage {
            Stage::Begin => (self.beginning(), Stage::Entries { after: Seq::START, files: 0 }),
            Stage::Entries { after, files } => self.entries(after, files).await?,
            Stage::Contents => {
                let piece = self.contents().await?;
                let mut due: Vec<_> = self.named.iter().cloned().collect();
                due.reverse();
                (piece, Stage::Payloads(due))
            }
            Stage::Payloads(rest) => self.begin_payload(rest).await?,
            Stage::Payload { rest, sending } => self.payload(rest, sending).await?,
            Stage::Manifest => {
                let mut piece = file(MANIFEST, &json_line(&self.manifest));
                piece.resize(piece.len() + 2 * BLOCK_BYTES, 0);
                (piece, Stage::Done)
            }
            Stage::Done => return Ok(None),
        };
        self.stage = next;
        Ok(Some(piece))
    }

    fn beginning(&mut self) -> Vec<u8> {
        let header = BundleHeader {
            throughline: "bundle".to_owned(),
            version: FORMAT,
            session: self.id,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            event_version: EVENT_VERSION,
            made_at: self.engine.shared.clock.now(),
        };
        [self.whole_file(HEADER, &json_line(&header)), self.whole_file(README, README_TEXT.as_bytes())].concat()
    }

    async fn entries(&mut self, mut after: Seq, files: usize) -> Result<(Vec<u8>, Stage), BundleError> {
        let mut lines = Vec::new();
        while after < self.head && lines.len() < ENTRIES_FILE_BYTES {
            let page = self.engine.shared.store.read_session(self.id, after, PAGE_ENTRIES).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            for entry in page.into_iter().filter(|entry| entry.seq <= self.head) {
                self.manifest.entries += 1;
                lines.extend(entry_line(&entry));
            }
        }
        let next = if after < self.head { Stage::Entries { after, files: files + 1 } } else { Stage::Contents };
        Ok((self.whole_file(&entries_path(files + 1), &lines), next))
    }

    async fn contents(&mut self) -> Result<Vec<u8>, BundleError> {
        let mut lines = Vec::new();
        let mut after = Turn(0);
        loop {
            let page = self.engine.contents(self.id, after, MAX_CONTENTS_LINES).await?;
            for row in &page.turns {
                let line = ContentsLine {
                    turn: row.turn,
                    started_at: row.started_at,
                    prompt: &row.prompt_line,
                    summary: row.summary.as_ref().map(|summary| summary.text.as_str()),
                };
                lines.extend(json_line(&line));
            }
            match page.turns.last() {
                Some(last) if page.more => after = last.turn,
                Some(_) | None => break,
            }
        }
        Ok(self.whole_file(CONTENTS, &lines))
    }

    /// The head of the next payload. Its length is found first, so it is read twice; one that is gone is noted.
    async fn begin_payload(&mut self, mut rest: Vec<NamedPayload>) -> Result<(Vec<u8>, Stage), BundleError> {
        let payloads = Arc::clone(self.engine.shared.outputs.payloads());
        while let Some(payload) = rest.pop() {
            let name = PayloadName::of_named(&payload);
            let found = payloads.look_at(self.id, &name, payload.most_bytes()).await;
            let found = if_readable(self.id, &payload.path, found)?;
            // A body is known by its hash: other bytes in its file are shown nowhere, and are as good as none.
            let found = found.filter(|found| payload.output_id().is_some() || found.sha256 == payload.sha256);
            let Some(found) = found else {
                self.manifest.missing.push(payload.path);
                continue;
            };
            let head = header(&payload.path, found.bytes);
            let sending = SendingPayload { payload, bytes: found.bytes, offset: 0, hasher: Sha256::new() };
            return Ok((head, Stage::Payload { rest, sending }));
        }
        Ok((Vec::new(), Stage::Manifest))
    }

    async fn payload(
        &mut self,
        rest: Vec<NamedPayload>,
        mut sending: SendingPayload,
    ) -> Result<(Vec<u8>, Stage), BundleError> {
        let SendingPayload { payload, bytes, offset, hasher } = &mut sending;
        let most = usize::try_from(*bytes - *offset).unwrap_or(usize::MAX).min(PIECE_BYTES);
        let payloads = Arc::clone(self.engine.shared.outputs.payloads());
        let read = payloads.read(self.id, &PayloadName::of_named(payload), *offset, most).await;
        let mut piece = if_readable(self.id, &payload.path, read)?.unwrap_or_default();
        // Somebody cut the file meanwhile, and its size is in the bundle already. The manifest has the hash of what was sent, so
        // the bundle is taken in, and by the hash in its entry the payload is seen to be another.
        piece.resize(most, 0);
        hasher.update(&piece);
        *offset += most as u64;
        if offset < bytes {
            return Ok((piece, Stage::Payload { rest, sending }));
        }
        let SendingPayload { payload, bytes, hasher, .. } = sending;
        piece.resize(piece.len() + padding(bytes), 0);
        let sha256 = format!("{:x}", hasher.finalize());
        self.manifest.files.push(ManifestFile { path: payload.path, bytes, sha256 });
        Ok((piece, Stage::Payloads(rest)))
    }

    fn whole_file(&mut self, path: &str, content: &[u8]) -> Vec<u8> {
        let (bytes, sha256) = (content.len() as u64, format!("{:x}", Sha256::digest(content)));
        self.manifest.files.push(ManifestFile { path: path.to_owned(), bytes, sha256 });
        file(path, content)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ContentsLine<'a> {
    turn: Turn,
    started_at: model::Timestamp,
    prompt: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a str>,
}

/// An entry as its line.
fn entry_line(Entry { seq, at, event }: &Entry) -> Vec<u8> {
    let mut line = format!(r#"{{"seq":{seq},"at":"{at}","version":{EVENT_VERSION},"#).into_bytes();
    line.extend_from_slice(&serde_json::to_vec(event).expect("an event holds texts and numbers")[1..]);
    line.push(b'\n');
    line
}

fn json_line(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("a line is text and numbers");
    line.push(b'\n');
    line
}

/// A file as a tar file has it: a block about it, its bytes, and what is missing to whole blocks.
fn file(path: &str, content: &[u8]) -> Vec<u8> {
    let mut bytes = header(path, content.len() as u64);
    bytes.extend_from_slice(content);
    bytes.resize(bytes.len() + padding(content.len() as u64), 0);
    bytes
}

fn header(path: &str, bytes: u64) -> Vec<u8> {
    let mut header = tar::Header::new_ustar();
    header.set_path(path).expect("our paths are short and relative");
    header.set_size(bytes);
    header.set_mode(0o600);
    header.set_mtime(0);
    header.set_entry_type(tar::EntryType::Regular);
    header.set_cksum();
    header.as_bytes().to_vec()
}

fn padding(bytes: u64) -> usize {
    let block = BLOCK_BYTES as u64;
    usize::try_from(bytes.next_multiple_of(block) - bytes).unwrap_or_default()
}
