//! Finds a program along `PATH`, without a shell.
//!
//! Invariant: only what an absolute folder of `PATH`, or an absolute path, names is found. A relative one would let the
//! files of a project choose the program.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// A file that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) stamp: Stamp,
}

/// Tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: (i64, i64),
    size: u64,
}

impl Program {
    pub(super) fn find(command: &str, path: &str) -> Option<Self> {
        if command.contains('/') {
            return Self::at(PathBuf::from(command));
        }
        std::env::split_paths(path).find_map(|folder| Self::at(folder.join(command)))
    }

    fn at(path: PathBuf) -> Option<Self> {
        let found = fs::metadata(&path).ok().filter(|found| path.is_absolute() && found.is_file())?;
        let stamp = Stamp { modified: (found.mtime(), found.mtime_nsec()), size: found.size() };
        is_executable(&path).then_some(Self { path, stamp })
    }
}

fn is_executable(path: &Path) -> bool {
    access(path, Access::EXEC_OK).is_ok()
}
