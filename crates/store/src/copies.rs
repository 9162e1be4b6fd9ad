//! Readable copies of sessions: plain files beside the database, for people, for git, and for the day on which the
//! database is gone.
//!
//! `sessions/<id>/meta.json` says what a session is, `sessions/<id>/transcript.jsonl` has a line per finished turn,
//! `sessions/<id>/outputs.json` lists what its agent showed, `state/meta-contexts.json` the pieces of work, and
//! `sessions/copies.json` says up to which entry of the log all of that is true.
//!
//! Invariants: the log is the truth, and a copy says nothing that the log does not; a file is whole or, if lines are
//! appended to it, whole up to its last line end; everything up to the cursor is flushed before the cursor moves; no
//! symbolic link is ever followed. Whoever calls sees to it that one session's copy is touched by one at a time. Start
//! reading at [`Copies::update`], then `hydrate.rs` for the way back.

mod arriving;
mod beside;
mod check;
mod copy_writer;
mod cursor;
mod folder;
mod hydrate;
mod indexes;
mod meta;
mod older_formats;
mod outputs;
mod purging;
mod regroup;
mod replay;
#[cfg(test)]
mod tests;
mod transcript;
mod turn_lines;
mod update;
mod works;

use std::io;
use std::path::{Path, PathBuf};

use crate::ReadError;
use crate::copies::indexes::Indexes;

pub(crate) use folder::{Folder, io_error};
pub(crate) use purging::session_put_away;

pub use beside::{BesideError, CopiesFound, open_beside};
pub use check::{Difference, What};
pub use cursor::{CopyCursor, Phase};
pub use hydrate::{HydrateError, Hydrated, SkippedCopy};
pub use replay::Unreadable;
pub use update::{Depth, Touched};

/// Longest line of a transcript that is read back.
pub const MAX_LINE_BYTES: usize = 16 << 20;

/// The copies in one folder.
#[derive(Debug, Clone)]
pub struct Copies {
    path: PathBuf,
    indexes: Indexes,
}

/// Why copies could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// Something else lies where ours should be: a link, or a file in place of a folder. It is left as it is.
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
    /// The copies know of entries that the log does not have. They are left as they are.
    #[error("the copies in {path} know more than the database; the next start moves them aside")]
    Ahead {
        /// Where they are.
        path: PathBuf,
    },
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl Copies {
    /// The copies in the folder `path`, which is made when the first one is written.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), indexes: Indexes::default() }
    }

    /// Where they are.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The folder of all copies. Behind a link is nothing of ours.
fn find_ours(path: &Path) -> Result<Option<Folder>, CopyError> {
    match Folder::find(path) {
        Err(CopyError::Foreign { .. }) => Ok(None),
        found => found,
    }
}

/// Works on files off the runtime.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CopyError> + Send + 'static,
) -> Result<T, CopyError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(err) if err.is_panic() => std::panic::resume_unwind(err.into_panic()),
        // The runtime is going; so is the store.
        Err(_) => Err(CopyError::Read(ReadError::Closed)),
    }
}
