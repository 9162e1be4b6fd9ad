//! Hard links: if one name of a file is protected, the file is protected under all of them.
//!
//! A file does not know its other names, and searching a disk for them would take hours. So the places where
//! protected files usually are, and every directory on the way to the file, are checked. Refusing all files with
//! several names is no alternative: package stores link every file of a project's dependencies.

use std::ffi::OsStr;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{self as sys, AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};

use super::{Access, ClosedFolder, Deny, Folded, Identity, protected};
use crate::FileError;
use crate::walk::is;

/// How many names of one directory are read.
const MAX_NAMES: usize = 10_000;
const LISTED: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Where protected files are in a home directory, besides itself.
const IN_HOME: &[&str] = &[
    ".aws",
    ".azure",
    ".cargo",
    ".claude",
    ".codex",
    ".config/gcloud",
    ".config/gh",
    ".config/git",
    ".docker",
    ".gemini",
    ".gnupg",
    ".kube",
    ".local/share/opencode",
    ".ssh",
];

impl Deny {
    /// Protects the credentials in this home directory also under other names that they have elsewhere, and folders that are
    /// protected as a whole wherever they are mounted.
    #[must_use]
    pub fn with_home(mut self, home: &Path) -> Self {
        let shut = protected::folders_of(home).filter_map(|path| Identity::at(&path).ok());
        self.folders.extend(shut.map(|folder| ClosedFolder { folder, open: Vec::new() }));
        self.known.push(home.to_owned());
        self.known.extend(IN_HOME.iter().map(|folder| home.join(folder)));
        self
    }

    /// Refuses a file if one of its other names is protected. `way` is every directory on the way to it, with its
    /// path.
    pub(crate) fn check_links<'a>(
        &self,
        stat: &Stat,
        mut way: impl Iterator<Item = (BorrowedFd<'a>, Vec<&'a Folded>)>,
    ) -> Result<(), FileError> {
        if !is(FileType::RegularFile, stat) || stat.st_nlink < 2 {
            return Ok(());
        }
        let file = Identity::of(stat);
        let is_known = |path: &Path| {
            let Ok(folder) = sys::openat(CWD, path, LISTED, Mode::empty()) else { return false };
            let names: Vec<Folded> = path.iter().skip(1).map(Folded::new).collect();
            self.has_protected(folder.as_fd(), &names.iter().collect::<Vec<_>>(), &file)
        };
        let is_protected = self.known.iter().any(|path| is_known(path))
            || way.any(|(folder, path)| self.has_protected(folder, &path, &file));
        if is_protected { Err(FileError::NotAllowed) } else { Ok(()) }
    }

    /// Whether the file has a protected name in this directory. A directory that we can not list counts as having
    /// none.
    fn has_protected(&self, folder: BorrowedFd<'_>, path: &[&Folded], file: &Identity) -> bool {
        let Ok(listed) = sys::openat(folder, ".", LISTED, Mode::empty()) else { return false };
        let is_closed = sys::fstat(&listed).is_ok_and(|stat| self.is_closed(&Identity::of(&stat)));
        let Ok(entries) = Dir::new(listed) else { return false };
        let mut same_number = entries.take(MAX_NAMES).flatten().filter(|entry| entry.ino() == file.number);
        same_number.any(|entry| {
            let name = Folded::new(OsStr::from_bytes(entry.file_name().to_bytes()));
            let whole: Vec<&Folded> = path.iter().copied().chain([&name]).collect();
            let is_protected = is_closed || !self.allows_folded(Access::Read, &whole);
            let found = || sys::statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
            is_protected && found().is_ok_and(|stat| Identity::of(&stat) == *file)
        })
    }
}
