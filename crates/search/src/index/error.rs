//! What can go wrong with an index, and the guard that turns a library's panic over damaged bytes into an error.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;

/// Why the index did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// Its bytes make no sense: drop it and open it again, which begins an empty one to be filled from the log.
    #[error("the search index is damaged ({reason}): open it again, and it is rebuilt")]
    Damaged {
        /// What was seen of it.
        reason: String,
    },
    /// Another process writes it, or another index of this one.
    #[error("the search index is written by another process: stop it first")]
    Locked,
    /// A write failed earlier, and what was added since the last commit is lost: open it again, which tells from where to
    /// read the log.
    #[error("earlier writes to the search index failed: read the log again from its last commit")]
    Unwritten,
    /// The disk said no: look at its free space and at the rights of the folder.
    #[error("the search index could not be read or written")]
    Disk(#[source] io::Error),
    /// The folder could not be made or emptied: look at the rights of it.
    #[error("the search folder {} could not be prepared", path.display())]
    Folder {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl From<TantivyError> for SearchError {
    fn from(error: TantivyError) -> Self {
        let disk = |io: &io::Error| Self::Disk(io::Error::new(io.kind(), io.to_string()));
        match &error {
            TantivyError::LockFailure(..) => Self::Locked,
            TantivyError::IoError(io) if !tells_damage(io.kind()) => disk(io),
            TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) if !tells_damage(io_error.kind()) => {
                disk(io_error)
            }
            TantivyError::OpenDirectoryError(_) | TantivyError::OpenWriteError(_) | TantivyError::SystemError(_) => {
                Self::Disk(io::Error::other(error.to_string()))
            }
            _ => Self::Damaged { reason: error.to_string() },
        }
    }
}

fn tells_damage(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, NotFound, Other, UnexpectedEof};
    matches!(kind, NotFound | UnexpectedEof | InvalidData | InvalidInput | Other)
}

/// Runs what reads or writes the index. It panics on some damaged bytes, which is one more way of telling.
pub(super) fn guarded<T>(work: impl FnOnce() -> tantivy::Result<T>) -> Result<T, SearchError> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(SearchError::from),
        Err(panic) => {
            let told = panic.downcast_ref::<String>().cloned();
            let told = told.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(SearchError::Damaged { reason: told.unwrap_or_else(|| "unreadable".to_owned()) })
        }
    }
}
