//! Payloads: bytes that are too many for the log, or that a person may want to open with other programs.
//!
//! Invariants: a payload is flushed, name included, before [`Payloads::put`] answers, so an entry that names it is never without
//! it; one that could not be stored whole leaves nothing under its name; no session reaches the payload of another. What lies
//! there is the person's to edit, so whoever reads compares with the hash in the entry. `payloads/conformance.rs` is the suite
//! that every place for them must pass.

#[cfg(test)]
mod conformance;
mod folder;
mod memory;
mod plain_files;

use std::io::{self, Read};
use std::path::PathBuf;

use async_trait::async_trait;
use model::{BodyHash, NamedPayload, NewBody, Output, SessionId};
use sha2::{Digest as _, Sha256};

pub use folder::PayloadFolder;
pub use memory::MemoryPayloads;
pub(crate) use plain_files::{NewPayload, PayloadState, PlainPayloads};

/// How much is read at a time.
const PIECE_BYTES: usize = 256 << 10;

/// Where the bytes of a new payload come from.
pub type PayloadSource = Box<dyn Read + Send>;

/// Which payload of a session. It is made of ids alone, never of a text that somebody gave.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PayloadName {
    kind: PayloadKind,
    file: String,
}

/// What a session's payloads are of; each kind has a folder of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PayloadKind {
    /// What the agent showed, under its own id and with the type that it has.
    Output,
    /// What was too long for an entry, under its hash.
    Body,
}

impl PayloadKind {
    const ALL: [Self; 2] = [Self::Output, Self::Body];

    /// The folder's name in a session's own.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::Output => "outputs",
            Self::Body => "bodies",
        }
    }

    /// The name of a file of this kind, also while it is written.
    fn is_name(self, name: &str) -> bool {
        let stem = name.split('.').next().unwrap_or_default();
        match self {
            Self::Output => stem.parse::<model::OutputId>().is_ok(),
            Self::Body => stem.parse::<BodyHash>().is_ok(),
        }
    }
}

impl PayloadName {
    /// The payload of an output.
    pub fn of(output: &Output) -> Self {
        Self { kind: PayloadKind::Output, file: output.file_name() }
    }

    /// What was too long for an entry.
    pub fn body(hash: BodyHash) -> Self {
        Self { kind: PayloadKind::Body, file: hash.to_string() }
    }

    /// The payload that an entry names.
    pub fn of_named(payload: &NamedPayload) -> Self {
        let (folder, file) = payload.path.split_once('/').unwrap_or(("", payload.path.as_str()));
        let kind = if folder == PayloadKind::Body.folder() { PayloadKind::Body } else { PayloadKind::Output };
        Self { kind, file: file.to_owned() }
    }
}

/// What was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPayload {
    /// How many bytes.
    pub bytes: u64,
    /// Their SHA-256 as hex.
    pub sha256: String,
    /// How many lines of text: line ends, and one more if something follows the last.
    pub lines: u64,
}

/// Why a payload was not stored or read.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    /// There are more bytes than the caller wants to store.
    #[error("it has more than {max} bytes")]
    TooLarge {
        /// How many are taken.
        max: u64,
    },
    /// Whoever gives the bytes failed.
    #[error("its bytes could not be read")]
    Source(#[source] io::Error),
    /// No space is left for it.
    #[error("no space is left for {path}")]
    Full {
        /// What was to be written.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something else lies where ours should be: a link, or a folder in place of a file. It is left as it is.
    #[error("{path} is not ours: it is a link, or not what should be there")]
    Foreign {
        /// What was met.
        path: PathBuf,
    },
    /// The disk or the system said no.
    #[error("could not read or write {path}")]
    Io {
        /// What it was about.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The store is closing.
    #[error("the store is closed")]
    Closed,
}

/// A place for payloads.
#[async_trait]
pub trait Payloads: Send + Sync + 'static {
    /// Stores what `from` gives, at most `max` bytes.
    async fn put(
        &self,
        session: SessionId,
        name: &PayloadName,
        from: PayloadSource,
        max: u64,
    ) -> Result<StoredPayload, PayloadError>;

    /// Stores bodies under their hashes, all or none of them to be relied on. One that is there already is not written again.
    async fn put_bodies(&self, session: SessionId, bodies: Vec<NewBody>) -> Result<(), PayloadError>;

    /// At most `max` bytes from an offset on; `None` if there is no such payload.
    async fn read(
        &self,
        session: SessionId,
        name: &PayloadName,
        offset: u64,
        max: usize,
    ) -> Result<Option<Vec<u8>>, PayloadError>;

    /// How long a payload is and what its hash is now; `None` if there is none. No more than `most` bytes are read, and what is
    /// longer counts as if it ended there: whoever asks for more than was stored sees by the length that it grew.
    async fn look_at(
        &self,
        session: SessionId,
        name: &PayloadName,
        most: u64,
    ) -> Result<Option<StoredPayload>, PayloadError>;

    /// Removes a payload, if it is there.
    async fn remove(&self, session: SessionId, name: &PayloadName) -> Result<(), PayloadError>;

    /// The sessions that have a place for payloads of any kind, whether or not any is in it.
    async fn sessions(&self) -> Result<Vec<SessionId>, PayloadError>;

    /// Removes every payload of a session and a kind that is none of `kept`; how many there were.
    async fn sweep(&self, session: SessionId, kind: PayloadKind, kept: Vec<PayloadName>)
    -> Result<usize, PayloadError>;
}

/// Passes bytes on to `to`, counting and hashing them.
fn pass_on<E: From<PayloadError>>(
    mut from: impl Read,
    max: u64,
    mut to: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<StoredPayload, E> {
    let (mut hasher, mut piece) = (Sha256::new(), vec![0; PIECE_BYTES]);
    let (mut bytes, mut line_ends, mut last) = (0_u64, 0_u64, b'\n');
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => &piece[..read],
            Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
            Err(err) => return Err(PayloadError::Source(err).into()),
        };
        bytes += read.len() as u64;
        if bytes > max {
            return Err(PayloadError::TooLarge { max }.into());
        }
        hasher.update(read);
        line_ends += read.iter().filter(|byte| **byte == b'\n').count() as u64;
        last = read[read.len() - 1];
        to(read)?;
    }
    Ok(StoredPayload { bytes, sha256: crate::files::hex(hasher), lines: line_ends + u64::from(last != b'\n') })
}
