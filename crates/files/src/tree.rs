//! One open directory, the root of what may be accessed below it.
//!
//! Invariant: `real` contains no link, and the handle was opened along it, name by name.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{self as sys, CWD, Mode};

use crate::deny::{Folded, Identity};
use crate::{FileError, lexical, walk};

/// An open directory.
#[derive(Debug)]
pub struct Tree {
    handle: OwnedFd,
    /// The path as it was given, which is how callers spell what is below.
    named: Vec<OsString>,
    /// The path without links.
    real: Vec<OsString>,
    folded: Vec<Folded>,
    /// The directories on the way, from `/` to the directory itself.
    passed: Vec<Identity>,
    itself: Identity,
    is_own: bool,
}

/// A directory as it was first found. It is opened anew for each piece of work, since it may have been recreated
/// meanwhile, but never through a link that is in its place, or on the way to it, now.
#[derive(Debug, Clone)]
pub struct Root {
    named: PathBuf,
    real: Vec<OsString>,
}

impl Root {
    /// Finds the directory at an absolute path; links on the way to it are followed this once.
    pub fn find(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let named = path.as_ref().to_owned();
        let real = Tree::open(&named)?.real;
        Ok(Self { named, real })
    }

    /// Opens it where it was found.
    pub fn open(&self) -> Result<Tree, FileError> {
        let tree = Tree::open(&self.named)?;
        if tree.real == self.real { Ok(tree) } else { Err(FileError::NotAllowed) }
    }
}

impl Tree {
    /// Opens the directory at an absolute path; links on the way to it are followed.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::along(path.as_ref(), false)
    }

    /// The same, but only if nothing on the way to it is a link.
    pub fn open_real(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let tree = Self::open(path)?;
        if tree.named == tree.real { Ok(tree) } else { Err(FileError::NotAllowed) }
    }

    /// The same for a directory of the server's own, which stays open although it is in a folder that
    /// [`crate::Deny::with_folder`] protects.
    pub fn open_own(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::along(path.as_ref(), true)
    }

    /// Opens a directory, and makes it for this user alone if it is not there; the one that it is in must be there.
    pub fn open_or_make(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        match Self::open(path) {
            Err(FileError::NotFound) => (),
            opened => return opened,
        }
        match DirBuilder::new().mode(0o700).create(path) {
            // Somebody else made it just now.
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => (),
            made => made?,
        }
        if let Some(above) = path.parent() {
            fs::File::open(above)?.sync_all()?;
        }
        Self::open(path)
    }

    fn along(path: &Path, is_own: bool) -> Result<Self, FileError> {
        let named = lexical::names(path).ok_or(FileError::NotAllowed)?;
        let real = fs::canonicalize(path)?;
        let real = lexical::names(&real).ok_or(FileError::NotAllowed)?;
        let mut handle = sys::openat(CWD, "/", walk::FOLDER_FLAGS, Mode::empty())?;
        let mut itself = Identity::of(&sys::fstat(&handle)?);
        let mut passed = vec![itself];
        for name in &real {
            handle = sys::openat(&handle, name, walk::FOLDER_FLAGS, Mode::empty())?;
            itself = Identity::of(&sys::fstat(&handle)?);
            passed.push(itself);
        }
        let folded = real.iter().map(|name| Folded::new(name)).collect();
        Ok(Self { handle, named, real, folded, passed, itself, is_own })
    }

    pub(crate) fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// Its real path, as the rules compare it.
    pub(crate) fn folded(&self) -> &[Folded] {
        &self.folded
    }

    /// The directories that decide whether the tree is allowed, each with the next name on the way; for an own tree
    /// only itself.
    pub(crate) fn passed(&self) -> impl Iterator<Item = (Identity, Option<&OsStr>)> {
        let skipped = if self.is_own { self.real.len() } else { 0 };
        let names = self.real.iter().map(|name| Some(name.as_os_str())).chain([None]);
        self.passed.iter().copied().zip(names).skip(skipped)
    }

    /// The directory itself.
    pub(crate) fn itself(&self) -> &Identity {
        &self.itself
    }

    /// The rest of a path below this tree, by either of its spellings, and the length of that spelling.
    pub(crate) fn find<'a>(&self, path: &'a [OsString]) -> Option<(usize, &'a [OsString])> {
        // Whole names are compared: `/a/bc` is not below `/a/b`.
        let below = |root: &Vec<OsString>| path.strip_prefix(root.as_slice()).map(|rest| (root.len(), rest));
        below(&self.named).or_else(|| below(&self.real))
    }
}
