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
use rustix::fs::{self as sys, AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::CopyError;

/// Any right of anybody but the owner.
const OTHERS: u32 = 0o077;

/// An open folder.
#[derive(Debug)]
pub(super) struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// The folder at `path`; `None` if nothing is there.
    pub(super) fn find(path: &Path) -> Result<Option<Self>, CopyError> {
        open_folder(CWD, path, path)
    }

    /// The folder at `path`, which is made if nothing is there.
    pub(super) fn make(path: &Path) -> Result<Self, CopyError> {
        let made = make_folder(CWD, path, path)?;
        if made.is_new
            && let Some(parent) = path.parent()
        {
            // The name itself has to survive the power too.
            File::open(parent).and_then(|parent| parent.sync_all()).map_err(io_error(parent))?;
        }
        Ok(made.folder)
    }

    /// The folder of a session's copy in that at `path`; `None` if there is none.
    pub(super) fn find_copy(path: &Path, session: SessionId) -> Result<Option<Self>, CopyError> {
        Self::find(path)?.map_or(Ok(None), |folder| folder.find_child(session.to_string()))
    }

    pub(super) fn find_child(&self, name: impl AsRef<Path>) -> Result<Option<Self>, CopyError> {
        open_folder(&self.fd, name.as_ref(), &self.path.join(name.as_ref()))
    }

    pub(super) fn make_child(&self, name: &str) -> Result<Self, CopyError> {
        let made = make_folder(&self.fd, Path::new(name), &self.path.join(name))?;
        if made.is_new {
            self.sync()?;
        }
        Ok(made.folder)
    }

    /// The names in it, in no order. What is not text is not ours.
    pub(super) fn names(&self) -> Result<Vec<String>, CopyError> {
        Ok(self.all_names()?.into_iter().filter_map(|name| name.into_string().ok()).collect())
    }

    fn all_names(&self) -> Result<Vec<OsString>, CopyError> {
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
    pub(super) fn find_file(&self, name: &str) -> Result<Option<File>, CopyError> {
        // Not to hang on a pipe that somebody left here; for files it means nothing.
        match self.open_file(name, OFlags::RDONLY | OFlags::NONBLOCK) {
            Ok(file) => self.regular(name, file).map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.error(name)(errno)),
        }
    }

    /// What a file holds, unless it holds more than `limit` bytes.
    pub(super) fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, CopyError> {
        let Some(file) = self.find_file(name)? else { return Ok(None) };
        let mut content = Vec::new();
        file.take(limit + 1).read_to_end(&mut content).map_err(io_error(&self.path.join(name)))?;
        if content.len() as u64 > limit {
            return Err(CopyError::Foreign { path: self.path.join(name) });
        }
        Ok(Some(content))
    }

    /// The same; what is not ours is nothing.
    pub(super) fn read_ours(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, CopyError> {
        match self.read(name, limit) {
            Err(CopyError::Foreign { .. }) => Ok(None),
            read => read,
        }
    }

    /// A file to write into in its place, made if nothing is there.
    pub(super) fn file_in_place(&self, name: &str) -> Result<File, CopyError> {
        let opened = self.open_file(name, OFlags::WRONLY | OFlags::CREATE | OFlags::NONBLOCK);
        let file = self.regular(name, opened.map_err(self.error(name))?)?;
        close_to_others(&file, 0o600).map_err(self.error(name))?;
        Ok(file)
    }

    /// A new file beside the place of `name`, to be put there by [`Self::put_in_place`].
    pub(super) fn file_beside(&self, name: &str) -> Result<File, CopyError> {
        let beside = beside(name);
        // Left over from a crash.
        match sys::unlinkat(&self.fd, &beside, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => (),
            Err(errno) => return Err(self.error(&beside)(errno)),
        }
        let opened = self.open_file(&beside, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL);
        opened.map_err(self.error(&beside))
    }

    /// Puts a file in its place and sees to it that it survives the power there.
    pub(super) fn put_in_place(&self, name: &str, file: &File) -> Result<(), CopyError> {
        self.put_soon(name, file)?;
        self.sync()
    }

    /// Puts a file in its place whole.
    pub(super) fn write_whole(&self, name: &str, content: &[u8]) -> Result<(), CopyError> {
        self.write_whole_soon(name, content)?;
        self.sync()
    }

    /// The same, but the power may still bring the older one back.
    pub(super) fn write_whole_soon(&self, name: &str, content: &[u8]) -> Result<(), CopyError> {
        let mut file = self.file_beside(name)?;
        file.write_all(content).map_err(io_error(&self.path.join(name)))?;
        self.put_soon(name, &file)
    }

    fn put_soon(&self, name: &str, file: &File) -> Result<(), CopyError> {
        file.sync_all().map_err(io_error(&self.path.join(name)))?;
        sys::renameat(&self.fd, beside(name), &self.fd, name).map_err(self.error(name))
    }

    /// Takes a file away; whether there was one.
    pub(super) fn remove_file(&self, name: impl AsRef<Path>) -> Result<bool, CopyError> {
        let name = name.as_ref();
        match sys::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) => self.sync().map(|()| true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(self.error_at(name)(errno)),
        }
    }

    /// Takes away whatever has this name, with all that is in it; whether there was something. A link goes, what it
    /// leads to stays.
    pub(super) fn remove_all(&self, name: impl AsRef<Path>) -> Result<bool, CopyError> {
        let name = name.as_ref();
        let child = match self.find_child(name) {
            Ok(None) => return Ok(false),
            Ok(Some(child)) => child,
            Err(CopyError::Foreign { .. }) => return self.remove_file(name),
            Err(err) => return Err(err),
        };
        // Names that are no text too: a folder goes with all that somebody put there.
        for inside in child.all_names()? {
            child.remove_all(inside.as_os_str())?;
        }
        match sys::unlinkat(&self.fd, name, AtFlags::REMOVEDIR) {
            Ok(()) => self.sync().map(|()| true),
            Err(errno) => Err(self.error_at(name)(errno)),
        }
    }

    pub(super) fn path_of(&self, name: &str) -> PathBuf {
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
    pub(super) fn sync(&self) -> Result<(), CopyError> {
        sys::fsync(&self.fd).map_err(self.error(""))
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

struct Made {
    folder: Folder,
    is_new: bool,
}

fn make_folder(parent: impl AsFd, name: &Path, path: &Path) -> Result<Made, CopyError> {
    let is_new = match sys::mkdirat(&parent, name, Mode::RWXU) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(errno) => return Err(CopyError::Io { path: path.to_owned(), source: errno.into() }),
    };
    let folder = open_folder(parent, name, path)?;
    let folder = folder.ok_or_else(|| CopyError::Io { path: path.to_owned(), source: Errno::NOENT.into() })?;
    close_to_others(&folder.fd, 0o700).map_err(folder.error(""))?;
    Ok(Made { folder, is_new })
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

/// A folder that git made is open to others until we write into it.
fn close_to_others(file: impl AsFd, mode: u32) -> Result<(), Errno> {
    if sys::fstat(&file)?.st_mode & OTHERS == 0 {
        return Ok(());
    }
    sys::fchmod(file, Mode::from_raw_mode(mode))
}

fn beside(name: &str) -> String {
    format!("{name}.new")
}

pub(super) fn io_error(path: &Path) -> impl FnOnce(io::Error) -> CopyError {
    let path = path.to_owned();
    |source| CopyError::Io { path, source }
}

/// How long an open file is.
pub(super) fn length(file: &File) -> io::Result<u64> {
    file.metadata().map(|metadata| metadata.size())
}
