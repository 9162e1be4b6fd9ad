//! Writing a file whole: beside its place, flushed, then put there.
//!
//! Invariant: at every moment the path holds the old content or the new one. A link is never written through: the
//! name is what changes, in the directory that was opened. Another name of the old file (a hard link) keeps the old
//! content.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{self as sys, AtFlags, Gid, Mode, OFlags, Stat, Uid};

use crate::read::open_plain;
use crate::walk::{Place, sync_folder};
use crate::{Access, FileError, Trees};

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// There was nothing before.
    pub is_new: bool,
    /// How long it is now.
    pub bytes: u64,
}

impl Trees {
    /// Puts a file in its place whole. Missing directories are made; the mode of an older file is kept.
    pub fn write_text(&self, path: impl AsRef<Path>, text: &str) -> Result<Written, FileError> {
        let place = self.go(path.as_ref(), Access::Write)?;
        let name = place.name.clone().ok_or(FileError::NotAFile)?;
        // Opened as if to be written in place: whoever made it read-only is heard.
        let old = match open_plain(&place, OFlags::WRONLY) {
            Ok(file) => Some(sys::fstat(file)?),
            Err(FileError::NotFound) => None,
            Err(err) => return Err(err),
        };
        let beside = Beside::make(place, old.is_some())?;
        beside.fill(text, old.as_ref())?;
        beside.put(&name)?;
        Ok(Written { is_new: old.is_none(), bytes: text.len() as u64 })
    }
}

/// A new file that is taken away again unless it is put in its place.
struct Beside {
    folder: OwnedFd,
    name: OsString,
    file: File,
    is_placed: bool,
}

impl Beside {
    fn make(place: Place, is_kept_private: bool) -> Result<Self, FileError> {
        let random = getrandom::u64().map_err(|err| FileError::Io(io::Error::other(err)))?;
        let name = OsString::from(format!(".throughline-{random:016x}.tmp"));
        let everybody = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
        let mode = if is_kept_private { Mode::RUSR | Mode::WUSR } else { everybody };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = sys::openat(&place.folder, &name, flags, mode)?.into();
        Ok(Self { folder: place.folder, name, file, is_placed: false })
    }

    fn fill(&self, text: &str, old: Option<&Stat>) -> Result<(), FileError> {
        (&self.file).write_all(text.as_bytes())?;
        if let Some(old) = old {
            self.keep_owner_and_mode(old)?;
        }
        Ok(self.file.sync_all()?)
    }

    fn keep_owner_and_mode(&self, old: &Stat) -> Result<(), FileError> {
        let new = sys::fstat(&self.file)?;
        let mut mode = Mode::from_raw_mode(old.st_mode) & (Mode::RWXU | Mode::RWXG | Mode::RWXO);
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) {
            let owner = (new.st_uid != old.st_uid).then(|| Uid::from_raw(old.st_uid));
            let group = (new.st_gid != old.st_gid).then(|| Gid::from_raw(old.st_gid));
            if sys::fchown(self.file.as_fd(), owner, group).is_err() {
                // What one group might do is not for another.
                mode -= Mode::RWXG;
            }
        }
        Ok(sys::fchmod(&self.file, mode)?)
    }

    fn put(mut self, name: &OsString) -> Result<(), FileError> {
        sys::renameat(&self.folder, &self.name, &self.folder, name)?;
        self.is_placed = true;
        Ok(sync_folder(&self.folder)?)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.is_placed {
            // If it can not be taken away, it is a hidden leftover; the error that led here is the one to tell.
            let _ = sys::unlinkat(&self.folder, &self.name, AtFlags::empty());
        }
    }
}
