//! Folders and files that are reached without following a symbolic link, and written whole.
//!
//! Invariant: everything below the folder of copies is opened relative to an open folder and with `O_NOFOLLOW`, so that
//! a link that somebody puts there leads nowhere, also if it is put there in between. What is made is its owner's
//! alone.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use model::SessionId;
use rustix::fs::{self as sys, AtFlags, CWD, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::CopyError;
use crate::files::parent;

/// Any right of anybody but the owner.
const OTHERS: u32 = 0o077;

/// An open folder.
#[derive(Debug)]
pub(crate) struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// The folder at `path`; `None` if nothing is there.
    pub(crate) fn find(path: &Path) -> Result<Option<Self>, CopyError> {
        open_folder(CWD, path, path)
    }

    /// The folder at `path`, which is made if nothing is there.
    pub(crate) fn make(path: &Path) -> Result<Self, CopyError> {
        let made = Self::make_soon(path)?;
        if made.is_new {
            // The name itself has to survive the power too.
            Self::sync_parent_of(path)?;
        }
        Ok(made.folder)
    }

    /// The same; its name survives the power after [`Self::sync_parent_of`].
    pub(crate) fn make_soon(path: &Path) -> Result<MadeFolder, CopyError> {
        make_folder(CWD, path, path)
    }

    /// The names beside `path`, and its own, survive the power.
    pub(crate) fn sync_parent_of(path: &Path) -> Result<(), CopyError> {
        let parent = parent(path);
        flush(File::open(parent).map_err(io_error(parent))?, parent)
    }

    /// The folder of a session's copy in that at `path`; `None` if there is none.
    pub(crate) fn find_copy(path: &Path, session: SessionId) -> Result<Option<Self>, CopyError> {
        Self::find(path)?.map_or(Ok(None), |folder| folder.find_child(session.to_string()))
    }

    pub(crate) fn find_child(&self, name: impl AsRef<Path>) -> Result<Option<Self>, CopyError> {
        open_folder(&self.fd, name.as_ref(), &self.path.join(name.as_ref()))
    }

    pub(crate) fn make_child(&self, name: &str) -> Result<Self, CopyError> {
        let made = self.make_child_soon(name)?;
        if made.is_new {
            self.sync()?;
        }
        Ok(made.folder)
    }

    /// The same; its name survives the power after [`Self::sync`].
    pub(crate) fn make_child_soon(&self, name: &str) -> Result<MadeFolder, CopyError> {
        make_folder(&self.fd, Path::new(name), &self.path.join(name))
    }

    /// The names in it, in no order. What is not text is not ours.
    pub(crate) fn names(&self) -> Result<Vec<String>, CopyError> {
        Ok(self.all_names()?.into_iter().filter_map(|name| name.into_string().ok()).collect())
    }

    pub(super) fn all_names(&self) -> Result<Vec<OsString>, CopyError> {
        let mut names = Vec::new();
        for entry in sys::Dir::read_from(&self.fd).map_err(self.error(""))? {
            let entry = entry.map_err(self.error(""))?;
            match entry.file_name().to_bytes() {
                b"." | b".." => (),
                name => names.push(OsStr::from_bytes(name).to_owned()),
            }
        }
        Ok(names)
    }

    /// A file to read; `None` if nothing is there.
    pub(crate) fn find_file(&self, name: &str) -> Result<Option<File>, CopyError> {
        // Not to hang on a pipe that somebody left here; for files it means nothing.
        match self.open_file(name, OFlags::RDONLY | OFlags::NONBLOCK) {
            Ok(file) => self.regular(name, file).map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.error(name)(errno)),
        }
    }

    /// What tells a file from another one in its place, and from itself before it was changed; `None` if no file is there.
    pub(super) fn mark(&self, name: &str) -> Result<Option<FileMark>, CopyError> {
        let file = match self.find_file(name) {
            Ok(Some(file)) => file,
            Ok(None) | Err(CopyError::Foreign { .. }) => return Ok(None),
            Err(err) => return Err(err),
        };
        let metadata = file.metadata().map_err(io_error(&self.path.join(name)))?;
        Ok(Some(FileMark {
            inode: metadata.ino(),
            bytes: metadata.size(),
            written_at: (metadata.mtime(), metadata.mtime_nsec()),
            changed_at: (metadata.ctime(), metadata.ctime_nsec()),
        }))
    }

    /// What a file holds, unless it holds more than `limit` bytes.
    pub(crate) fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, CopyError> {
        let Some(file) = self.find_file(name)? else { return Ok(None) };
        let mut content = Vec::new();
        file.take(limit + 1).read_to_end(&mut content).map_err(io_error(&self.path.join(name)))?;
        if content.len() as u64 > limit {
            return Err(CopyError::Foreign { path: self.path.join(name) });
        }
        Ok(Some(content))
    }

    /// The same; what is not ours is nothing.
    pub(crate) fn read_ours(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, CopyError> {
        match self.read(name, limit) {
            Err(CopyError::Foreign { .. }) => Ok(None),
            read => read,
        }
    }

    /// A file to write into in its place, made if nothing is there.
    pub(crate) fn file_in_place(&self, name: &str) -> Result<File, CopyError> {
        let opened = self.open_file(name, OFlags::WRONLY | OFlags::CREATE | OFlags::NONBLOCK);
        let file = self.regular(name, opened.map_err(self.error(name))?)?;
        close_to_others(&file, 0o600).map_err(self.error(name))?;
        Ok(file)
    }

    /// A new file beside the place of `name`, to be put there by [`Self::put_in_place`].
    pub(crate) fn file_beside(&self, name: &str) -> Result<File, CopyError> {
        let beside = beside(name);
        // Left over from a crash.
        match sys::unlinkat(&self.fd, &beside, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => (),
            Err(errno) => return Err(self.error(&beside)(errno)),
        }
        let opened = self.open_file(&beside, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL);
        opened.map_err(self.error(&beside))
    }

    /// Takes away what [`Self::file_beside`] made.
    pub(crate) fn remove_beside(&self, name: &str) -> Result<bool, CopyError> {
        self.remove_file(beside(name))
    }

    /// Puts a file in its place and sees to it that it survives the power there.
    pub(crate) fn put_in_place(&self, name: &str, file: &File) -> Result<(), CopyError> {
        self.put_soon(name, file)?;
        self.sync()
    }

    /// Puts a file in its place whole.
    pub(crate) fn write_whole(&self, name: &str, content: &[u8]) -> Result<(), CopyError> {
        self.write_whole_soon(name, content)?;
        self.sync()
    }

    /// The same, but the power may still bring the older one back.
    pub(crate) fn write_whole_soon(&self, name: &str, content: &[u8]) -> Result<(), CopyError> {
        let mut file = self.file_beside(name)?;
        file.write_all(content).map_err(io_error(&self.path.join(name)))?;
        self.put_soon(name, &file)
    }

    /// Puts a file in its place, flushed; its name survives the power after [`Self::sync`].
    pub(crate) fn put_soon(&self, name: &str, file: &File) -> Result<(), CopyError> {
        file.sync_all().map_err(io_error(&self.path.join(name)))?;
        sys::renameat(&self.fd, beside(name), &self.fd, name).map_err(self.error(name))
    }

    /// Gives a file the same name in another folder; what has that name there stays.
    pub(crate) fn link_file(&self, name: &str, other: &Self) -> Result<(), CopyError> {
        match sys::linkat(&self.fd, name, &other.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(other.error(name)(errno)),
        }
    }

    /// Takes a file away; whether there was one.
    pub(crate) fn remove_file(&self, name: impl AsRef<Path>) -> Result<bool, CopyError> {
        let removed = self.remove_file_soon(name)?;
        if removed {
            self.sync()?;
        }
        Ok(removed)
    }

    /// The same, but the power may still bring it back.
    pub(super) fn remove_file_soon(&self, name: impl AsRef<Path>) -> Result<bool, CopyError> {
        let name = name.as_ref();
        match sys::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(self.error_at(name)(errno)),
        }
    }

    /// Takes away whatever has this name, with all that is in it; whether there was something. A link goes, what it
    /// leads to stays. The power may bring some of it back until all of it is gone.
    pub(crate) fn remove_all(&self, name: impl AsRef<Path>) -> Result<bool, CopyError> {
        let removed = self.remove_all_soon(name.as_ref())?;
        if removed {
            self.sync()?;
        }
        Ok(removed)
    }

    fn remove_all_soon(&self, name: &Path) -> Result<bool, CopyError> {
        let top = match self.find_child(name) {
            Ok(None) => return Ok(false),
            Ok(Some(top)) => top,
            Err(CopyError::Foreign { .. }) => return self.remove_file_soon(name),
            Err(err) => return Err(err),
        };
        let mut moved = 0;
        for _ in 0..MAX_LEVELS {
            // Names that are no text too: a folder goes with all that somebody put there.
            let names = top.all_names()?;
            if names.is_empty() {
                break;
            }
            for inside in names {
                top.remove_level(inside.as_ref(), &mut moved)?;
            }
        }
        self.remove_child(name)?;
        Ok(true)
    }

    /// Takes away a file, or a folder whose own folders are moved up beside it: however deep somebody nested them, neither the
    /// stack nor the number of open files grows.
    fn remove_level(&self, name: &Path, moved: &mut u64) -> Result<(), CopyError> {
        let child = match self.find_child(name) {
            Ok(None) => return Ok(()),
            Ok(Some(child)) => child,
            Err(CopyError::Foreign { .. }) => return self.remove_file_soon(name).map(drop),
            Err(err) => return Err(err),
        };
        for inside in child.all_names()? {
            match child.remove_file_soon(&inside) {
                Ok(_) => (),
                Err(CopyError::Foreign { .. }) => loop {
                    *moved += 1;
                    match child.move_soon(&inside, self, format!("removed-{moved}"))? {
                        Moving::Done | Moving::NothingThere => break,
                        Moving::Taken => (),
                    }
                },
                Err(err) => return Err(err),
            }
        }
        self.remove_child(name)
    }

    fn remove_child(&self, name: &Path) -> Result<(), CopyError> {
        sys::unlinkat(&self.fd, name, AtFlags::REMOVEDIR).map_err(self.error_at(name))
    }

    /// Takes away a folder with nothing in it; one with something in it stays.
    pub(super) fn remove_empty_child(&self, name: impl AsRef<Path>) -> Result<bool, CopyError> {
        let name = name.as_ref();
        match sys::unlinkat(&self.fd, name, AtFlags::REMOVEDIR) {
            Ok(()) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT) => Ok(false),
            Err(errno) => Err(self.error_at(name)(errno)),
        }
    }

    /// Moves whatever has this name to another folder or name, but over nothing. It survives the power there after
    /// [`Self::sync`] of both.
    pub(super) fn move_soon(
        &self,
        name: impl AsRef<Path>,
        to: &Self,
        new_name: impl AsRef<Path>,
    ) -> Result<Moving, CopyError> {
        let (name, new_name) = (name.as_ref(), new_name.as_ref());
        match sys::renameat_with(&self.fd, name, &to.fd, new_name, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(Moving::Done),
            Err(Errno::EXIST | Errno::NOTEMPTY) => Ok(Moving::Taken),
            Err(Errno::NOENT) => Ok(Moving::NothingThere),
            // The file system can not do both in one step.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.look_and_move(name, to, new_name),
            Err(errno) => Err(self.error_at(name)(errno)),
        }
    }

    /// Moves a folder out of a place for a file, to a name of its own beside it, and one out of the place of [`Self::file_beside`]; with
    /// all that is in them. It survives the power there after [`Self::sync`].
    pub(crate) fn move_folders_aside(&self, name: &str) -> Result<(), CopyError> {
        for name in [name.to_owned(), beside(name)] {
            let found = sys::statat(&self.fd, &name, AtFlags::SYMLINK_NOFOLLOW);
            if !found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode).is_dir()) {
                continue;
            }
            let aside = |nth: u32| format!("moved-aside-{nth}.{name}");
            let mut nth = 1;
            while self.move_soon(&name, self, aside(nth))? == Moving::Taken {
                nth += 1;
            }
            tracing::warn!(path = %self.path_of(&aside(nth)).display(), "a folder was in the place of a file, and was moved here");
        }
        Ok(())
    }

    fn look_and_move(&self, name: &Path, to: &Self, new_name: &Path) -> Result<Moving, CopyError> {
        match sys::statat(&to.fd, new_name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => return Ok(Moving::Taken),
            Err(Errno::NOENT) => (),
            Err(errno) => return Err(to.error_at(new_name)(errno)),
        }
        match sys::renameat(&self.fd, name, &to.fd, new_name) {
            Ok(()) => Ok(Moving::Done),
            Err(Errno::NOENT) => Ok(Moving::NothingThere),
            Err(errno) => Err(self.error_at(name)(errno)),
        }
    }

    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn open_file(&self, name: &str, access: OFlags) -> Result<File, Errno> {
        let mode = Mode::RUSR | Mode::WUSR;
        sys::openat(&self.fd, name, access | OFlags::NOFOLLOW | OFlags::CLOEXEC, mode).map(File::from)
    }

    fn regular(&self, name: &str, file: File) -> Result<File, CopyError> {
        match file.metadata() {
            Ok(metadata) if metadata.is_file() => Ok(file),
            Ok(_) => Err(CopyError::Foreign { path: self.path.join(name) }),
            Err(source) => Err(CopyError::Io { path: self.path.join(name), source }),
        }
    }

    /// What was made, renamed or removed in it survives the power.
    pub(crate) fn sync(&self) -> Result<(), CopyError> {
        flush(&self.fd, &self.path)
    }

    fn error(&self, name: &str) -> impl FnOnce(Errno) -> CopyError + use<> {
        self.error_at(Path::new(name))
    }

    fn error_at(&self, name: &Path) -> impl FnOnce(Errno) -> CopyError + use<> {
        let path = self.path.join(name);
        |errno| match errno {
            Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::NXIO => CopyError::Foreign { path },
            errno => CopyError::Io { path, source: errno.into() },
        }
    }
}

/// How deep folders may be nested that are removed. Whoever goes on nesting them meanwhile keeps nobody here for ever.
const MAX_LEVELS: usize = 100_000;

/// A folder that was made if nothing was there.
#[derive(Debug)]
pub(crate) struct MadeFolder {
    pub(crate) folder: Folder,
    pub(crate) is_new: bool,
}

/// What became of something that was to be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moving {
    Done,
    /// Something has the name already; both are as they were.
    Taken,
    NothingThere,
}

/// See [`Folder::mark`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileMark {
    inode: u64,
    bytes: u64,
    /// Seconds and nanoseconds.
    written_at: (i64, i64),
    changed_at: (i64, i64),
}

fn make_folder(parent: impl AsFd, name: &Path, path: &Path) -> Result<MadeFolder, CopyError> {
    let is_new = match sys::mkdirat(&parent, name, Mode::RWXU) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(errno) => return Err(CopyError::Io { path: path.to_owned(), source: errno.into() }),
    };
    let folder = open_folder(parent, name, path)?;
    let folder = folder.ok_or_else(|| CopyError::Io { path: path.to_owned(), source: Errno::NOENT.into() })?;
    close_to_others(&folder.fd, 0o700).map_err(folder.error(""))?;
    Ok(MadeFolder { folder, is_new })
}

fn open_folder(parent: impl AsFd, name: &Path, path: &Path) -> Result<Option<Folder>, CopyError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match sys::openat(parent, name, flags, Mode::empty()) {
        Ok(fd) => Ok(Some(Folder { fd, path: path.to_owned() })),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::LOOP | Errno::NOTDIR) => Err(CopyError::Foreign { path: path.to_owned() }),
        Err(errno) => Err(CopyError::Io { path: path.to_owned(), source: errno.into() }),
    }
}

fn flush(folder: impl AsFd, path: &Path) -> Result<(), CopyError> {
    let failed = |errno: Errno| CopyError::Io { path: path.to_owned(), source: errno.into() };
    fail::fail_point!("folder-flush", |_| Err(failed(Errno::IO)));
    sys::fsync(folder).map_err(failed)
}

/// A folder that git made is open to others until we write into it.
fn close_to_others(file: impl AsFd, mode: u32) -> Result<(), Errno> {
    if sys::fstat(&file)?.st_mode & OTHERS == 0 {
        return Ok(());
    }
    sys::fchmod(file, Mode::from_raw_mode(mode))
}

/// What stands behind the name of a file that is not whole yet.
const BESIDE: &str = ".new";

fn beside(name: &str) -> String {
    format!("{name}{BESIDE}")
}

/// The name that a file is to have that is not whole yet.
pub(super) fn written_name(beside: &str) -> &str {
    beside.strip_suffix(BESIDE).unwrap_or(beside)
}

pub(crate) fn io_error(path: &Path) -> impl FnOnce(io::Error) -> CopyError {
    let path = path.to_owned();
    |source| CopyError::Io { path, source }
}

/// How long an open file is.
pub(crate) fn length(file: &File) -> io::Result<u64> {
    file.metadata().map(|metadata| metadata.size())
}
