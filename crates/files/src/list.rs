//! Lists a directory, and describes a path.

use std::collections::BinaryHeap;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{self as sys, AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::deny::Folded;
use crate::{Access, FileError, Trees};

/// How many names of a directory are read for a page: a second or two.
const MAX_NAMES: usize = 1_000_000;

/// An open directory with its path.
struct OpenFolder {
    handle: OwnedFd,
    path: Vec<Folded>,
}

/// The contents of a directory, by name. Protected names are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// At most as many as were requested.
    pub items: Vec<DirectoryItem>,
    /// There are more than these.
    pub more: bool,
}

/// Some of the items of a directory, in the order of the bytes of their names. Protected names are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryPage {
    /// At most as many as were requested.
    pub items: Vec<DirectoryItem>,
    /// The name after which the next page begins; `None` on the last one.
    pub next: Option<OsString>,
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
    /// Lists a directory. If it has more than `max` items, which ones are left out is up to the system.
    pub fn list(&self, path: impl AsRef<Path>, max: usize) -> Result<Listing, FileError> {
        let folder = self.open_folder(path.as_ref())?;
        let mut listing = Listing { items: Vec::new(), more: false };
        for entry in Dir::read_from(&folder.handle)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if !self.shows(&folder, name) {
                continue;
            }
            let Some(item) = self.item(&folder, name)? else { continue };
            if listing.items.len() == max {
                listing.more = true;
                break;
            }
            listing.items.push(item);
        }
        listing.items.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(listing)
    }

    /// The first `max` items of a directory whose names come after `after`. Each page reads all names, so that items
    /// which come and go between two pages move no others, and keeps no more than it shows.
    pub fn list_page(
        &self,
        path: impl AsRef<Path>,
        after: Option<&OsStr>,
        max: usize,
    ) -> Result<DirectoryPage, FileError> {
        let folder = self.open_folder(path.as_ref())?;
        // One more than is shown, to know whether there is a next page.
        let mut first: BinaryHeap<OsString> = BinaryHeap::new();
        for (count, entry) in Dir::read_from(&folder.handle)?.enumerate() {
            if count == MAX_NAMES {
                return Err(FileError::TooManyNames { max: MAX_NAMES });
            }
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            let is_full = first.len() > max;
            if after.is_some_and(|after| name <= after) || (is_full && first.peek().is_some_and(|last| name >= last)) {
                continue;
            }
            if self.shows(&folder, name) {
                if is_full {
                    first.pop();
                }
                first.push(name.to_owned());
            }
        }
        let mut names = first.into_sorted_vec();
        let has_more = names.len() > max;
        names.truncate(max);
        let mut items = Vec::new();
        for name in &names {
            items.extend(self.item(&folder, name)?);
        }
        Ok(DirectoryPage { items, next: if has_more { names.pop() } else { None } })
    }

    fn open_folder(&self, path: &Path) -> Result<OpenFolder, FileError> {
        let walked = self.walk_to(path, Access::Read)?;
        let name = walked.name.as_deref().unwrap_or(OsStr::new("."));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let handle = sys::openat(&walked.folder, name, flags, Mode::empty())?;
        // Another directory may have its name by now.
        self.deny().check_identity(&sys::fstat(&handle)?)?;
        Ok(OpenFolder { handle, path: walked.path })
    }

    fn shows(&self, folder: &OpenFolder, name: &OsStr) -> bool {
        if name == "." || name == ".." {
            return false;
        }
        let folded = Folded::new(name);
        let path: Vec<&Folded> = folder.path.iter().chain([&folded]).collect();
        self.deny().check(Access::Read, &path).is_ok()
    }

    /// `None` if it is protected, or was removed in the meantime.
    fn item(&self, folder: &OpenFolder, name: &OsStr) -> Result<Option<DirectoryItem>, FileError> {
        let stat = match sys::statat(&folder.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        if self.deny().check_identity(&stat).is_err() {
            return Ok(None);
        }
        let name = name.to_string_lossy().into_owned();
        Ok(Some(DirectoryItem { name, kind: kind(&stat), bytes: length(&stat) }))
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
