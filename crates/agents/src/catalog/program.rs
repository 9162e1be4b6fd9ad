//! An installed program and the state of its file.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use crate::program;

/// An executable file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) stamp: Stamp,
}

/// Distinguishes one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: (i64, i64),
    size: u64,
}

impl Program {
    pub(super) fn find(command: &str, path: &str) -> Option<Self> {
        let path = program::find(command, path).ok()?;
        let found = fs::metadata(&path).ok()?;
        Some(Self { path, stamp: Stamp { modified: (found.mtime(), found.mtime_nsec()), size: found.size() } })
    }
}
