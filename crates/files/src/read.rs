//! Reads files: only plain ones, and never more than the caller accepts.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use rustix::fs::{self as sys, FileType, Mode, OFlags};

use crate::walk::{WalkedPath, is};
use crate::{Access, FileError, Trees};

/// How far into a file lines are counted: a second or two of a disk.
const MAX_SCANNED_BYTES: u64 = 256 << 20;

/// The beginning of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStart {
    /// As much of it as was requested.
    pub bytes: Vec<u8>,
    /// The size of the whole file.
    pub of: u64,
}

impl Trees {
    /// The whole file, or `limit` lines from `line` on, counted from 1. Lines keep their ends; after the last one
    /// there is nothing.
    pub fn read_text(
        &self,
        path: impl AsRef<Path>,
        line: Option<u32>,
        limit: Option<u32>,
        max_bytes: u64,
    ) -> Result<String, FileError> {
        let file = open_plain(&self.walk_to(path.as_ref(), Access::Read)?, OFlags::RDONLY)?;
        let bytes = match (line, limit) {
            (None | Some(0 | 1), None) => whole(&file, max_bytes)?,
            (line, limit) => lines(file, line.unwrap_or(1).max(1), limit, max_bytes)?,
        };
        String::from_utf8(bytes).map_err(|_| FileError::NotText)
    }

    /// A plain file, open for reading.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<File, FileError> {
        open_plain(&self.walk_to(path.as_ref(), Access::Read)?, OFlags::RDONLY)
    }

    /// The first `max_bytes` of a file.
    pub fn read_start(&self, path: impl AsRef<Path>, max_bytes: u64) -> Result<FileStart, FileError> {
        let file = open_plain(&self.walk_to(path.as_ref(), Access::Read)?, OFlags::RDONLY)?;
        let mut bytes = Vec::new();
        (&file).take(max_bytes).read_to_end(&mut bytes)?;
        // It may have grown while it was read.
        let of = file.metadata()?.len().max(bytes.len() as u64);
        Ok(FileStart { bytes, of })
    }

    /// The whole file.
    pub fn read_bytes(&self, path: impl AsRef<Path>, max_bytes: u64) -> Result<Vec<u8>, FileError> {
        whole(&open_plain(&self.walk_to(path.as_ref(), Access::Read)?, OFlags::RDONLY)?, max_bytes)
    }
}

/// Opens a plain file and nothing else. It is checked before, because opening a device can have effects, and after,
/// because it may be another file by then. Opening a pipe without its other end does not block.
pub(crate) fn open_plain(walked: &WalkedPath, access: OFlags) -> Result<File, FileError> {
    let name = walked.name.as_ref().ok_or(FileError::NotAFile)?;
    if !is(FileType::RegularFile, walked.stat.as_ref().ok_or(FileError::NotFound)?) {
        return Err(FileError::NotAFile);
    }
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = sys::openat(&walked.folder, name, flags, Mode::empty())?;
    if !is(FileType::RegularFile, &sys::fstat(&file)?) {
        return Err(FileError::NotAFile);
    }
    Ok(file.into())
}

fn whole(file: &File, max: u64) -> Result<Vec<u8>, FileError> {
    let bytes = file.metadata()?.len();
    if bytes > max {
        return Err(FileError::TooLarge { bytes, max });
    }
    let mut content = Vec::new();
    // It may be growing.
    file.take(max.saturating_add(1)).read_to_end(&mut content)?;
    match content.len() as u64 {
        bytes if bytes > max => Err(FileError::TooLarge { bytes, max }),
        _ => Ok(content),
    }
}

fn lines(file: File, first: u32, limit: Option<u32>, max: u64) -> Result<Vec<u8>, FileError> {
    let too_large = FileError::TooLarge { bytes: file.metadata()?.len(), max };
    let mut reader = BufReader::with_capacity(64 << 10, file.take(MAX_SCANNED_BYTES));
    let mut content = Vec::new();
    let mut is_end = false;
    for _ in 1..first {
        is_end = reader.skip_until(b'\n')? == 0;
        if is_end {
            break;
        }
    }
    let mut left = limit;
    while !is_end && left != Some(0) {
        let room = max.saturating_add(1) - content.len() as u64;
        is_end = (&mut reader).take(room).read_until(b'\n', &mut content)? == 0;
        if content.len() as u64 > max {
            return Err(too_large);
        }
        left = left.map(|lines| lines - 1);
    }
    if is_end && reader.get_ref().limit() == 0 {
        return Err(too_large);
    }
    Ok(content)
}
