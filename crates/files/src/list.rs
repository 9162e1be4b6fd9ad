//! Lists a directory, and describes a path.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{self as sys, AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::deny::Folded;
use crate::{Access, FileError, Trees};

/// The contents of a directory, by name. Protected names are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// At most as many as were requested.
    pub items: Vec<DirectoryItem>,
    /// There are more than these.
    pub more: bool,
}

/// An item of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryItem {
    /// Its name; bytes that are not UTF-8 are shown as `U+FFFD`.
    pub name: String,
    /// What it is itself; a link is a link.
    pub kind: FileKind,
    /// Its size.
    pub bytes: u64,
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A plain file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a socket, a device.
    Other,
}

/// What a path leads to, with links followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Its kind.
    pub kind: FileKind,
    /// Its size.
    pub bytes: u64,
    /// When its content was last modified, in milliseconds since 1970.
    pub modified_at_ms: i64,
}

impl Trees {
    /// Lists a directory.
    pub fn list(&self, path: impl AsRef<Path>, max: usize) -> Result<Listing, FileError> {
        let walked = self.walk_to(path.as_ref(), Access::Read)?;
        let name = walked.name.as_deref().unwrap_or(OsStr::new("."));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let folder = sys::openat(&walked.folder, name, flags, Mode::empty())?;
        // Another directory may have its name by now.
        self.deny().check_identity(&sys::fstat(&folder)?)?;
        let mut listing = Listing { items: Vec::new(), more: false };
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let folded = Folded::new(name);
            let path: Vec<&Folded> = walked.path.iter().chain([&folded]).collect();
            if self.deny().check(Access::Read, &path).is_err() {
                continue;
            }
            let stat = match sys::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                // Removed in the meantime.
                Err(Errno::NOENT) => continue,
                Err(errno) => return Err(errno.into()),
            };
            if self.deny().check_identity(&stat).is_err() {
                continue;
            }
            if listing.items.len() == max {
                listing.more = true;
                break;
            }
            let name = name.to_string_lossy().into_owned();
            listing.items.push(DirectoryItem { name, kind: kind(&stat), bytes: length(&stat) });
        }
        listing.items.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(listing)
    }

    /// Describes a path.
    pub fn stat(&self, path: impl AsRef<Path>) -> Result<Stat, FileError> {
        let walked = self.walk_to(path.as_ref(), Access::Read)?;
        let stat = walked.stat.ok_or(FileError::NotFound)?;
        let modified_at_ms = stat.st_mtime * 1_000 + i64::try_from(stat.st_mtime_nsec / 1_000_000).unwrap_or_default();
        Ok(Stat { kind: kind(&stat), bytes: length(&stat), modified_at_ms })
    }
}

fn kind(stat: &sys::Stat) -> FileKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Link,
        FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {
            FileKind::Other
        }
    }
}

fn length(stat: &sys::Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or_default()
}
