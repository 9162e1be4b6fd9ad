//! Bundles: a session as one file, to be taken in by another server as the same session.
//!
//! A bundle is a tar file without compression, so that it can be written and read as a stream, every size in it is a real one, and
//! a person can look into it with what their system has. In this order: [`HEADER`], `README.txt`, `entries/000001.jsonl` …,
//! `contents.jsonl`, the payloads by their paths, and `manifest.json`, which has the size and the hash of each file before it.
//! Entries of the server's own stream and of pieces of work are not in it, nor is any credential.
//!
//! Invariant: what [`Engine::take_in_bundle`] writes is a session that this program could have written, under the id it had, and
//! nothing is written unless all of the bundle was checked.

mod checking;
mod room;
mod taking_in;
#[cfg(test)]
mod tests;
mod writing;

use std::io;

use model::{Seq, SessionEvent, SessionId, Timestamp, json_values_bytes};
use serde::{Deserialize, Serialize};
use store::{AppendError, PayloadError};

use crate::{QueryError, ReadError};

pub use checking::missing_from_bundle;
pub use taking_in::TakenInBundle;
pub use writing::BundleWriter;

/// The format that is written now, and the newest that is read.
const FORMAT: u32 = 1;
/// The first file, by which a bundle is recognised.
const HEADER: &str = "throughline-bundle.json";
const README: &str = "README.txt";
const CONTENTS: &str = "contents.jsonl";
const MANIFEST: &str = "manifest.json";
/// What a bundle can have too much of.
const ENTRIES: &str = "bytes of entries";
const FILES: &str = "files";
const ENTRY: &str = "bytes of one entry";
const ENTRY_VALUES: &str = "bytes of JSON values in one entry";
const ENTRIES_VALUES: &str = "bytes of JSON values in all entries";
/// How deep in an entry's line the members of its data lie: the line is an object, and so is the data. Data of an older version is
/// decoded as values first, these members with it.
const IN_DATA: usize = 1;
/// How deep in it lies what these members hold. They become an event's fields, and only in them values can stay.
const IN_MEMBERS_OF_DATA: usize = 2;
/// The tool that a session was imported with which came in as a bundle.
const TOOL: &str = "throughline";

/// How much a bundle can have. It is checked before the first byte is written, and again when it is taken in, so that whatever
/// is exported can be imported.
///
/// A session comes in whole or not at all: its entries are held until one append has them all, and something is held for each
/// file. Appending them piece by piece was rejected: after a crash half a session would be here, recovery would settle it with
/// entries of its own, and no bundle of it would fit any more. Whoever exports is told, while the machine with the session is
/// still there, to take it along with a backup or with an export of everything, which are restored into an empty folder and
/// need no such bound.
#[derive(Debug, Clone, Copy)]
struct BundleLimits {
    /// All entries together, as lines.
    entries_bytes: u64,
    /// One of them. An export of everything is restored only if no line is longer than 32 MiB, with what it says besides.
    entry_bytes: u64,
    /// What the JSON values of one take while it is decoded, by [`json_values_bytes`]: a short text can hold millions of them. An
    /// entry of ours has at most a MiB of JSON that its agent made up (`agent.raw`), and whatever that is, it takes less than this.
    entry_values_bytes: u64,
    /// What they take while all entries are held, with an event's own fields: eight times `entries_bytes`, which is more than tools'
    /// calls take of all agents that were recorded.
    values_bytes: u64,
    /// All files, those of payloads that are gone counted too.
    files: u64,
}

const LIMITS: BundleLimits = BundleLimits {
    entries_bytes: 256 << 20,
    entry_bytes: 31 << 20,
    entry_values_bytes: 160 << 20,
    values_bytes: 2 << 30,
    files: 200_000,
};

/// A bundle has too much of something.
#[derive(Debug)]
struct TooMuch {
    what: &'static str,
    max: u64,
}

impl BundleLimits {
    /// More than a file takes in the manifest.
    const MANIFEST_BYTES_PER_FILE: u64 = 256;

    fn manifest_bytes(&self) -> u64 {
        (self.files + 1) * Self::MANIFEST_BYTES_PER_FILE
    }

    /// Looks at an entry's line before it is decoded.
    fn check_line(&self, line: &[u8]) -> Result<(), TooMuch> {
        let bytes = line.len() as u64;
        if bytes > self.entry_bytes {
            return Err(TooMuch { what: ENTRY, max: self.entry_bytes });
        }
        if json_values_bytes(line, IN_DATA) > self.entry_values_bytes {
            return Err(TooMuch { what: ENTRY_VALUES, max: self.entry_values_bytes });
        }
        Ok(())
    }

    /// Counts what an entry holds once it is decoded.
    fn count_values(&self, line: &[u8], event: &SessionEvent, all: &mut u64) -> Result<(), TooMuch> {
        /// An event's own fields take less than a part of what they would take as values.
        const FIELDS_TAKE_A: u64 = 4;
        let values = event.values_bytes();
        let fields = json_values_bytes(line, IN_MEMBERS_OF_DATA).saturating_sub(values) / FIELDS_TAKE_A;
        *all += values + fields;
        if *all > self.values_bytes {
            return Err(TooMuch { what: ENTRIES_VALUES, max: self.values_bytes });
        }
        Ok(())
    }
}

/// What every format has; a person sees it first.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BundleHeader {
    throughline: String,
    version: u32,
    session: SessionId,
    /// The version of the program that wrote it.
    program: String,
    /// The newest version of events that it has.
    event_version: u16,
    made_at: Timestamp,
}

/// What the bundle holds, with what it takes to see that it is whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Manifest {
    /// How many entries.
    entries: u64,
    files: Vec<ManifestFile>,
    /// Payloads that entries name and that were gone when the bundle was written.
    #[serde(default)]
    missing: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestFile {
    path: String,
    bytes: u64,
    sha256: String,
}

/// The path of the `n`th file of entries.
fn entries_path(n: usize) -> String {
    format!("entries/{n:06}.jsonl")
}

/// Why a bundle was not written or not taken in. Nothing was written then.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// It is no bundle.
    #[error("this is no bundle of Throughline")]
    Foreign,
    /// A newer version wrote it.
    #[error(
        "a newer version of Throughline wrote this bundle (format {found}, this one knows {FORMAT}); take it in with that version"
    )]
    NewerFormat {
        /// What it has.
        found: u32,
    },
    /// It has an event that only a newer version knows.
    #[error("a newer version of Throughline wrote entry {0} of this bundle; take it in with that version")]
    NewerEntry(Seq),
    /// It is cut off.
    #[error("the bundle is cut off; copy it again")]
    CutOff,
    /// A file in it is none that a bundle has.
    #[error("the bundle has a file that no bundle has: {0}")]
    UnknownFile(String),
    /// It has the same file twice.
    #[error("the bundle has the file {0} twice")]
    Twice(String),
    /// It has more than is taken in.
    #[error("the bundle's {what} are more than is taken in: at most {max}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much is taken.
        max: u64,
    },
    /// A bundle of the session would have more than is taken in.
    #[error(
        "session {session} has more than {max} {what}, and a bundle can not have that; `throughline backup` and `throughline export --all` take it along, with all other sessions"
    )]
    TooLargeToWrite {
        /// Which.
        session: SessionId,
        /// What there is too much of.
        what: &'static str,
        /// How much a bundle can have.
        max: u64,
    },
    /// The session shows more than is kept here.
    #[error(
        "the bundle's session needs {setting} = {has}, and it is {max} here; raise it in config.toml and import again"
    )]
    NoRoom {
        /// Which setting stands in the way.
        setting: &'static str,
        /// What it would have to be.
        has: u64,
        /// What it is.
        max: u64,
    },
    /// A file is not what its manifest says.
    #[error("{0} is not what the bundle's manifest says; copy the bundle again")]
    Altered(String),
    /// An entry is none.
    #[error("entry {seq} of the bundle can not be taken: {what}")]
    Entry {
        /// Which.
        seq: Seq,
        /// Why not.
        what: &'static str,
    },
    /// The session is here and goes on in another way.
    #[error("session {0} is here already, and is not what the bundle has; nothing was changed")]
    Different(SessionId),
    /// The session was removed here for good.
    #[error("session {0} was removed here for good and does not come back")]
    Removed(SessionId),
    /// The file could not be read.
    #[error("the bundle could not be read")]
    Io(#[source] io::Error),
    /// A payload could not be read or written.
    #[error("what was shown could not be read or written")]
    Payload(#[from] PayloadError),
    /// The session could not be read.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The session could not be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The server is stopping.
    #[error("the server is stopping")]
    Stopping,
}

/// What there is of a payload. A link, a folder, or a file that can not be read is as good as gone, and harms no other.
fn if_readable<T>(
    session: SessionId,
    path: &str,
    read: Result<Option<T>, PayloadError>,
) -> Result<Option<T>, BundleError> {
    match read {
        Ok(found) => Ok(found),
        Err(err @ PayloadError::Closed) => Err(err.into()),
        Err(
            err @ (PayloadError::Foreign { .. }
            | PayloadError::Io { .. }
            | PayloadError::Full { .. }
            | PayloadError::Source(_)
            | PayloadError::TooLarge { .. }),
        ) => {
            tracing::warn!(%session, path, error = &err as &dyn std::error::Error, "a payload could not be read");
            Ok(None)
        }
    }
}

impl From<TooMuch> for BundleError {
    fn from(TooMuch { what, max }: TooMuch) -> Self {
        Self::TooLarge { what, max }
    }
}

impl From<ReadError> for BundleError {
    fn from(err: ReadError) -> Self {
        Self::Query(err.into())
    }
}
