//! Temporary names of new files before they are moved into place, and the removal of those that a killed process
//! left.
//!
//! A directory has few such names, always the same, so that every write finds leftovers without reading the
//! directory.
//!
//! Invariant: a process that gives a file one of these names holds a lock on it, and the system drops the lock with
//! the process. So a file that can be locked belongs to nobody, and one that can not be locked is left alone.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{self as sys, AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::FileError;
use crate::deny::Identity;

/// How many writes may replace files of one directory at the same moment and still be cleaned up after.
const SHARED_NAMES: u32 = 16;

/// The names to try, in order. The last one is unique: it is used if all others are in use, or if the file system has
/// no locks, and it is never cleaned up.
pub(crate) fn names() -> Result<impl Iterator<Item = OsString>, FileError> {
    let random = getrandom::u64().map_err(|err| FileError::Io(io::Error::other(err)))?;
    Ok(shared_names().chain([format!(".throughline-{random:016x}.tmp").into()]))
}

/// Removes what killed processes left in a directory. What can not be removed stays: no write fails because of it.
pub(crate) fn sweep(folder: &OwnedFd) {
    for name in shared_names() {
        // It exists only after a kill, or while another write replaces a file.
        let _ = remove_unowned(folder, &name);
    }
}

/// Locks a file that has, or is about to get, one of these names. False if another process is about to remove it.
pub(crate) fn claim(file: impl AsFd) -> bool {
    // Where there are no locks, nobody else gets one either, so nobody removes it.
    sys::flock(file, FlockOperation::NonBlockingLockExclusive) != Err(Errno::WOULDBLOCK)
}

/// Whether a name still leads to this open file.
pub(crate) fn is_named(folder: &OwnedFd, name: &OsStr, file: impl AsFd) -> Result<bool, Errno> {
    match sys::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Identity::of(&stat) == Identity::of(&sys::fstat(file)?)),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(errno),
    }
}

fn shared_names() -> impl Iterator<Item = OsString> {
    (0..SHARED_NAMES).map(|number| format!(".throughline-{number}.tmp").into())
}

fn remove_unowned(folder: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    // Some network file systems lock only what is open for writing.
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = sys::openat(folder, name, flags, Mode::empty())?;
    if FileType::from_raw_mode(sys::fstat(&file)?.st_mode) != FileType::RegularFile {
        return Ok(());
    }
    sys::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    // It may have been moved into place since it was opened. Nobody else renames it while the lock is held.
    if is_named(folder, name, &file)? {
        sys::unlinkat(folder, name, AtFlags::empty())?;
    }
    Ok(())
}
