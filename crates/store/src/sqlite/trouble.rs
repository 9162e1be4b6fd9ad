//! Classifies SQLite's errors: which ones pass by themselves.
//!
//! Invariant: only a failure that came before the flush counts as passing. A flush that failed never does, because the
//! kernel may have dropped the pages and would call the next one a success.

use rusqlite::{Error, ErrorCode, ffi};

use crate::sqlite::outside::is_damage;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The disk, a quota or a limit on the file is full.
    Full,
    /// Another program holds the file.
    Busy,
    /// The file is not what was written, where this write had to look or to go.
    Damaged,
    /// Anything else, a failed flush above all.
    Unknown,
}

impl Trouble {
    /// The same where the failure came with the commit.
    pub(super) fn of_commit(err: &Error) -> Self {
        match Self::of(err) {
            Self::Damaged => Self::Unknown,
            other => other,
        }
    }

    pub(super) fn of(err: &Error) -> Self {
        if is_damage(err) {
            return Self::Damaged;
        }
        let Error::SqliteFailure(failure, _) = err else { return Self::Unknown };
        match (failure.code, failure.extended_code) {
            (ErrorCode::DiskFull, _) => Self::Full,
            // A quota and a limit on the file's size fail the write itself, and so does shared memory that cannot grow.
            // SQLite tells them from a full disk, but a write that did not happen is no more than that.
            (_, ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_SHMSIZE | ffi::SQLITE_IOERR_SHMMAP) => Self::Full,
            (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => Self::Busy,
            _ => Self::Unknown,
        }
    }
}
