//! Writes a file atomically: into a file without a name, flushed, then moved into place.
//!
//! Where the file system supports files without a name, a process that is killed while it writes leaves nothing
//! behind. Replacing a file needs a name for the moment between two calls, and only then a kill leaves a file: the
//! next write in that directory removes it (`temporary.rs`).
//!
//! Invariant: at every moment the path has the old content or the new one. A link is never written through: the name
//! changes, in the directory that was opened. Another name of the old file (a hard link) keeps the old content. A
//! write that expects something else than what is there changes nothing.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::{self as sys, AtFlags, CWD, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use crate::read::open_plain;
use crate::walk::{WalkedPath, sync_folder};
use crate::{Access, Expected, FileError, Trees, temporary};

/// The result of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// There was no file before.
    pub is_new: bool,
    /// The size of the file now.
    pub bytes: u64,
}

impl Trees {
    /// Writes a file atomically. Missing directories are made; the mode of an existing file is kept.
    pub fn write_text(&self, path: impl AsRef<Path>, text: &str) -> Result<Written, FileError> {
        self.write_bytes(path, text.as_bytes(), &Expected::Anything)
    }

    /// The same for any content, if what is there is as expected; otherwise nothing is made, not even a directory.
    /// A file that must not exist yet never replaces another one. That a content was expected is checked just before
    /// the write: callers that write at the same time take turns.
    pub fn write_bytes(
        &self,
        path: impl AsRef<Path>,
        content: &[u8],
        expected: &Expected,
    ) -> Result<Written, FileError> {
        self.write(path.as_ref(), content, expected, None)
    }

    /// The same for whatever is there, with this as the time of the file's last change.
    pub fn write_bytes_dated(
        &self,
        path: impl AsRef<Path>,
        content: &[u8],
        modified_at: SystemTime,
    ) -> Result<Written, FileError> {
        self.write(path.as_ref(), content, &Expected::Anything, Some(modified_at))
    }

    fn write(
        &self,
        path: &Path,
        content: &[u8],
        expected: &Expected,
        modified_at: Option<SystemTime>,
    ) -> Result<Written, FileError> {
        if expected.needs_a_file()
            && let Err(err) = self.walk_to_existing(path, Access::Write)
        {
            return Err(if matches!(err, FileError::NotFound) { FileError::Changed } else { err });
        }
        let walked = self.walk_to(path, Access::Write)?;
        let name = walked.name.clone().ok_or(FileError::NotAFile)?;
        let access = match expected {
            Expected::Anything | Expected::Nothing | Expected::AnyFile => OFlags::WRONLY,
            Expected::OneOf(_) => OFlags::RDWR,
        };
        // Opened as if it were written in place, so that a read-only file is respected.
        let old = match open_plain(&walked, access) {
            Ok(file) => Some(file),
            Err(FileError::NotFound) => None,
            Err(err) => return Err(err),
        };
        expected.check(old.as_ref(), content)?;
        let old = old.map(sys::fstat).transpose()?;
        let new_file = NewFile::make(walked, old.is_some())?;
        new_file.fill(content, old.as_ref(), modified_at)?;
        match expected {
            Expected::Nothing => new_file.put_beside_nothing(&name)?,
            Expected::Anything | Expected::AnyFile | Expected::OneOf(_) => new_file.put(&name)?,
        }
        Ok(Written { is_new: old.is_none(), bytes: content.len() as u64 })
    }
}

/// A new file that is removed again unless it is moved into place.
struct NewFile {
    folder: OwnedFd,
    file: File,
    /// The name that it has for now.
    name: Option<OsString>,
}

impl NewFile {
    fn make(walked: WalkedPath, is_kept_private: bool) -> Result<Self, FileError> {
        let everybody = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
        let mode = if is_kept_private { Mode::RUSR | Mode::WUSR } else { everybody };
        temporary::sweep(&walked.folder);
        if let Some(file) = unnamed(&walked.folder, mode) {
            return Ok(Self { folder: walked.folder, file, name: None });
        }
        Self::named(walked.folder, mode)
    }

    fn named(folder: OwnedFd, mode: Mode) -> Result<Self, FileError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for name in temporary::names()? {
            let file = match sys::openat(&folder, &name, flags, mode) {
                Ok(file) => File::from(file),
                Err(Errno::EXIST) => continue,
                Err(errno) => return Err(errno.into()),
            };
            // Another process may have removed it before it was locked.
            if temporary::claim(&file) && temporary::is_named(&folder, &name, &file)? {
                return Ok(Self { folder, file, name: Some(name) });
            }
        }
        Err(Errno::EXIST.into())
    }

    fn fill(&self, content: &[u8], old: Option<&Stat>, modified_at: Option<SystemTime>) -> Result<(), FileError> {
        (&self.file).write_all(content)?;
        if let Some(modified_at) = modified_at {
            self.file.set_modified(modified_at)?;
        }
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
                // The permissions of one group are not passed to another.
                mode -= Mode::RWXG;
            }
        }
        Ok(sys::fchmod(&self.file, mode)?)
    }

    fn put(mut self, name: &OsString) -> Result<(), FileError> {
        if self.name.is_none() {
            match self.link(name) {
                Ok(()) => return Ok(sync_folder(&self.folder)?),
                // An existing file can only be replaced by one with a name.
                Err(Errno::EXIST) => (),
                Err(errno) => return Err(errno.into()),
            }
            self.name = Some(self.link_beside()?);
        }
        if let Some(temporary) = &self.name {
            sys::renameat(&self.folder, temporary, &self.folder, name)?;
        }
        self.name = None;
        Ok(sync_folder(&self.folder)?)
    }

    /// Puts the file in its place unless something is there by now.
    fn put_beside_nothing(self, name: &OsString) -> Result<(), FileError> {
        let linked = match &self.name {
            None => self.link(name),
            // A link replaces nothing, unlike a rename; its other name goes with this value.
            Some(temporary) => sys::linkat(&self.folder, temporary, &self.folder, name, AtFlags::empty()),
        };
        match linked {
            Ok(()) => Ok(sync_folder(&self.folder)?),
            Err(Errno::EXIST) => Err(FileError::Changed),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Gives one of the temporary names to a file that has none.
    fn link_beside(&self) -> Result<OsString, FileError> {
        temporary::claim(&self.file);
        for name in temporary::names()? {
            match self.link(&name) {
                Ok(()) => return Ok(name),
                Err(Errno::EXIST) => (),
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(Errno::EXIST.into())
    }

    /// Gives a name to a file that has none.
    fn link(&self, name: &OsString) -> Result<(), Errno> {
        let own = format!("{OWN_FILES}/{}", self.file.as_raw_fd());
        sys::linkat(CWD, own, &self.folder, name, AtFlags::SYMLINK_FOLLOW)
    }
}

/// Where a process finds its own open files by number.
const OWN_FILES: &str = "/proc/self/fd";

/// A file without a name; `None` where the system, or the file system, has none.
#[cfg(target_os = "linux")]
fn unnamed(folder: &OwnedFd, mode: Mode) -> Option<File> {
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    let has_names = Path::new(OWN_FILES).exists();
    sys::openat(folder, ".", flags, mode).ok().filter(|_| has_names).map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_folder: &OwnedFd, _mode: Mode) -> Option<File> {
    None
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // If it can not be removed, it is a hidden leftover; the error that led here is the one to report.
            let _ = sys::unlinkat(&self.folder, name, AtFlags::empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Tree;

    fn names_in(folder: &Path) -> Vec<OsString> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    /// A new file just before it replaces `old`, on a file system with or without nameless files.
    fn about_to_replace(folder: &Path, is_named_from_the_start: bool) -> NewFile {
        let trees = Trees::new(vec![Tree::open(folder).unwrap()]);
        let walked = trees.walk_to(&folder.join("old"), Access::Write).unwrap();
        if is_named_from_the_start {
            return NewFile::named(walked.folder, Mode::RUSR | Mode::WUSR).unwrap();
        }
        let mut new_file = NewFile::make(walked, true).unwrap();
        new_file.name = Some(new_file.link_beside().unwrap());
        new_file
    }

    /// What a kill leaves: the file keeps its name, and nobody has it open.
    fn kill(mut new_file: NewFile) {
        new_file.name = None;
    }

    #[test]
    fn a_write_removes_what_killed_ones_left_and_nothing_of_the_living() {
        for is_named_from_the_start in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("old"), "old").unwrap();
            let trees = Trees::new(vec![Tree::open(folder.path()).unwrap()]);
            let left = [(); 3].map(|()| about_to_replace(folder.path(), is_named_from_the_start));
            let living = about_to_replace(folder.path(), is_named_from_the_start);
            left.into_iter().for_each(kill);
            fs::create_dir(folder.path().join(".throughline-7.tmp")).unwrap();
            assert_eq!(names_in(folder.path()).len(), 6);
            trees.write_text(folder.path().join("new"), "new").unwrap();
            assert_eq!(names_in(folder.path()), [".throughline-3.tmp", ".throughline-7.tmp", "new", "old"]);
            living.put(&"old".into()).unwrap();
            trees.write_text(folder.path().join("old"), "newer").unwrap();
            assert_eq!(names_in(folder.path()), [".throughline-7.tmp", "new", "old"]);
        }
    }

    #[test]
    fn more_writes_at_once_than_there_are_shared_names_all_find_one() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("old"), "old").unwrap();
        let all: Vec<_> = (0..40).map(|_| about_to_replace(folder.path(), false)).collect();
        assert_eq!(names_in(folder.path()).len(), 41);
        drop(all);
        assert_eq!(names_in(folder.path()), ["old"]);
    }

    /// A kill while a file is written leaves the directory as it was.
    #[test]
    fn nothing_lies_beside_its_place_while_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let names = || names_in(folder.path());
        fs::write(folder.path().join("old"), "old").unwrap();
        let trees = Trees::new(vec![Tree::open(folder.path()).unwrap()]);
        for name in ["old", "new"] {
            let walked = trees.walk_to(&folder.path().join(name), Access::Write).unwrap();
            let before = names();
            let new_file = NewFile::make(walked, name == "old").unwrap();
            new_file.fill(b"text", None, None).unwrap();
            assert_eq!(names(), before);
            new_file.put(&name.into()).unwrap();
            assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), "text");
        }
        assert_eq!(names(), ["new", "old"]);
    }
}
