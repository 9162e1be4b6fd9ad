//! A store's file seen from outside, and put back: checked, copied, exported, restored, mended.
//!
//! Invariant: a [`StoreFile`] never writes and never takes the owner's lock, so it works beside a running server and
//! beside none, and a file that is not ours or is newer than this program is left as it was. Whatever changes a store
//! ([`Repair`], [`restore`]) owns it first. Everything here blocks; long calls say how far they are.

mod backup;
mod check;
mod export;
mod import;
mod payloads;
mod place;
mod plain_folders;
pub(in crate::sqlite) mod rebuild;
mod repair;
mod restore;
mod rows;
mod strays;
mod streams;
pub(in crate::sqlite) mod walk;

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use model::Incarnation;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, OptionalExtension as _};

use crate::files::{beside, parent};
use crate::payloads::PlainPayloads;
use crate::sqlite::functions;
use crate::sqlite::open::{self, FileKind, READER_SETTINGS, Setup};
use crate::{OpenError, StorageError};

pub use backup::{BackupError, BackupNote, BackupWish};
pub use check::{CheckReport, Depth, Finding, FindingKind};
pub use export::{ExportError, ExportWish, Exported};
pub use payloads::PayloadReport;
pub use place::Moved;
pub use plain_folders::put_folders_back;
pub use rebuild::Rebuilt;
pub use repair::{Repair, SettledFences};
pub use restore::{RestoreError, RestoreWish, Restored, restore};

/// The folder of the readable copies beside a store, which holds the payloads too.
pub(in crate::sqlite) const COPIES: &str = "sessions";

/// A store's file, opened by somebody who does not own it.
pub struct StoreFile {
    conn: Connection,
    schema: i64,
    incarnation: Incarnation,
    /// What lies beside it.
    payloads: PlainPayloads,
}

/// How far a long call has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What it is at.
    pub stage: Stage,
    /// How much of that is done.
    pub done: u64,
    /// How much there is.
    pub total: u64,
}

/// What a long call is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// SQLite looks at its own file; that cannot be counted.
    CheckFile,
    /// Streams are verified.
    CheckStreams,
    /// Rows and entries that belong to nothing are looked for, table by table.
    CheckStrays,
    /// Bytes are copied.
    Copy,
    /// Payloads are copied or compared, session by session.
    Payloads,
    /// Streams are folded into new rows.
    Rebuild,
    /// Entries are written out.
    Export,
    /// Bytes of an export are read in.
    Import,
    /// What was restored is put in its place, step by step.
    Place,
}

/// Called with it, again and again.
pub type OnProgress<'a> = &'a mut dyn FnMut(Progress);

impl StoreFile {
    /// Opens the store at `path` for looking at it.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let path = fs::canonicalize(path).map_err(|source| OpenError::Io { path: path.to_owned(), source })?;
        let conn = connect(&path)?;
        let setup = Setup { path: &path };
        let found = setup.identify(&conn)?;
        let begun = || OpenError::Begun { path: path.clone() };
        if found == FileKind::Empty {
            return Err(begun());
        }
        let (schema, incarnation) = versions(&conn).map_err(setup.storage_error())?.ok_or_else(begun)?;
        let payloads = PlainPayloads::at(parent(&path).join(COPIES));
        Ok(Self { conn, schema, incarnation, payloads })
    }

    /// Which incarnation of the store this is.
    pub fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    /// Whether the next start will change its tables to what this program has.
    pub fn is_older_than_program(&self) -> bool {
        self.schema < open::newest_schema()
    }
}

fn connect(path: &Path) -> Result<Connection, OpenError> {
    let conn = open::connect_reader(path)?;
    let looked = conn.pragma_query_value(None, "schema_version", |_| Ok(()));
    let refused =
        looked.is_err_and(|err| matches!(err.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)));
    // Where nothing can be made beside the file, nobody can be writing it, and it is whole if no log waits.
    let log_waits = fs::metadata(beside(path, "-wal")).is_ok_and(|wal| wal.len() > 0);
    match (refused, log_waits) {
        (true, true) => Err(OpenError::LogWaits { path: path.to_owned() }),
        (true, false) => connect_unchanging(path),
        (false, _) => Ok(conn),
    }
}

fn connect_unchanging(path: &Path) -> Result<Connection, OpenError> {
    const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_');
    let address = format!("file:{}?immutable=1", percent_encode(path.as_os_str().as_bytes(), ENCODED));
    let setup = Setup { path };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(&address, flags).map_err(setup.storage_error())?;
    functions::register(&conn).map_err(setup.storage_error())?;
    setup.settle(&conn, READER_SETTINGS)?;
    Ok(conn)
}

/// The schema's version and the incarnation; `None` if the first start did not get that far.
fn versions(conn: &Connection) -> rusqlite::Result<Option<(i64, Incarnation)>> {
    if !open::has_table(conn, "meta")? {
        return Ok(None);
    }
    let schema = open::schema_version(conn)?;
    let bits: Option<i64> =
        conn.query_row("SELECT value FROM meta WHERE key = 'incarnation'", [], |row| row.get(0)).optional()?;
    Ok(schema.zip(bits).map(|(schema, bits)| (schema, Incarnation::from_bits(bits.cast_unsigned()))))
}

/// Whether the file is at fault, and not the disk, the memory or another process.
pub(super) fn is_damage(err: &Error) -> bool {
    match err {
        Error::SqliteFailure(failure, _) => {
            matches!(failure.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        }
        Error::InvalidColumnType(..)
        | Error::FromSqlConversionFailure(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::Utf8Error(..) => true,
        _ => false,
    }
}

impl From<Error> for StorageError {
    fn from(err: Error) -> Self {
        Self(Box::new(err))
    }
}
