//! What is protected wherever it is: credentials, keys, the insides of git, and folders of the server and the kernel.
//!
//! Invariant: the verdict on a path is a pure function of all its names from `/` on, with links resolved, each in its
//! folded form (`fold.rs`); it overrides every tree. A pattern covers what it names and everything below. Folders are
//! identified by device and inode, so that no other path to them helps, and so are files with several names
//! (`links.rs`).

mod fold;
mod links;
mod pattern;
mod protected;

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::Stat;

use crate::{FileError, Tree};
use pattern::Pattern;

pub(crate) use fold::Folded;
pub use pattern::PatternError;

/// What somebody wants to do with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read it, list it, or stat it.
    Read,
    /// Write it.
    Write,
}

/// The rules in force.
#[derive(Debug, Clone)]
pub struct Deny {
    never: Vec<Pattern>,
    never_written: Vec<Pattern>,
    /// Closed with everything in them, except for what they leave open.
    folders: Vec<ClosedFolder>,
    /// Not entered; but a folder in them may be a tree (`/dev/shm`).
    not_entered: Vec<Identity>,
    /// Where protected files are that may have other names elsewhere.
    known: Vec<PathBuf>,
}

/// A closed folder.
#[derive(Debug, Clone)]
struct ClosedFolder {
    folder: Identity,
    /// Names of folders in it that stay open.
    open: Vec<OsString>,
}

/// Identifies a directory, whatever its name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    number: u64,
}

impl Deny {
    /// The rules that protect everybody.
    pub fn standard() -> Self {
        // Not every system has all of them.
        let known = |paths: &[&str]| -> Vec<Identity> {
            paths.iter().filter_map(|path| Identity::at(Path::new(path)).ok()).collect()
        };
        let shut = |folder| ClosedFolder { folder, open: Vec::new() };
        Self {
            never: protected::never(),
            never_written: protected::never_written(),
            folders: known(protected::FOLDERS).into_iter().map(shut).collect(),
            not_entered: known(protected::NOT_ENTERED),
            known: Vec::new(),
        }
    }

    /// Protects more names: `name`, `*.ending`, `begin*`, `folder/name`.
    pub fn with_names<'a>(mut self, patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, PatternError> {
        for pattern in patterns {
            self.never.push(Pattern::parse(pattern)?);
        }
        Ok(self)
    }

    /// Protects an existing folder with everything in it, except for what [`crate::Tree::open_own`] opened there.
    pub fn with_folder(self, path: &Path) -> Result<Self, FileError> {
        self.with_folder_but(path, &[])
    }

    /// The same, but the folders with these names in it are open to a tree that begins in one of them; they can not
    /// be reached through the folder itself.
    pub fn with_folder_but(mut self, path: &Path, open: &[&str]) -> Result<Self, FileError> {
        let open = open.iter().map(OsString::from).collect();
        self.folders.push(ClosedFolder { folder: Identity::at(path)?, open });
        self.known.push(path.to_owned());
        Ok(self)
    }

    /// The verdict on a path, given as all its names from `/` on.
    pub fn allows<T: AsRef<OsStr>>(&self, access: Access, path: &[T]) -> bool {
        let names: Vec<Folded> = path.iter().map(|name| Folded::new(name.as_ref())).collect();
        self.allows_folded(access, &names.iter().collect::<Vec<_>>())
    }

    fn allows_folded(&self, access: Access, path: &[&Folded]) -> bool {
        let matched = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.is_in(path));
        match access {
            Access::Read => !matched(&self.never),
            Access::Write => !matched(&self.never) && !matched(&self.never_written),
        }
    }

    pub(crate) fn check(&self, access: Access, path: &[&Folded]) -> Result<(), FileError> {
        if self.allows_folded(access, path) { Ok(()) } else { Err(FileError::NotAllowed) }
    }

    pub(crate) fn check_identity(&self, stat: &Stat) -> Result<(), FileError> {
        if self.is_closed(&Identity::of(stat)) { Err(FileError::NotAllowed) } else { Ok(()) }
    }

    fn is_closed(&self, folder: &Identity) -> bool {
        self.folders.iter().any(|shut| shut.folder == *folder) || self.not_entered.contains(folder)
    }

    /// Whether a tree may be used at all.
    pub(crate) fn check_tree(&self, tree: &Tree) -> Result<(), FileError> {
        let is_shut_in = |(folder, next): &(Identity, Option<&OsStr>)| {
            let mut shut = self.folders.iter().filter(|shut| shut.folder == *folder);
            shut.any(|shut| !next.is_some_and(|next| shut.open.iter().any(|open| open == next)))
        };
        if tree.passed().any(|step| is_shut_in(&step)) || self.is_closed(tree.itself()) {
            Err(FileError::NotAllowed)
        } else {
            Ok(())
        }
    }
}

impl Identity {
    fn at(path: &Path) -> Result<Self, FileError> {
        let metadata = std::fs::metadata(path)?;
        Ok(Self { device: metadata.dev(), number: metadata.ino() })
    }

    #[expect(clippy::unnecessary_cast, reason = "the types differ from system to system")]
    pub(crate) fn of(stat: &Stat) -> Self {
        Self { device: stat.st_dev as u64, number: stat.st_ino as u64 }
    }
}

#[cfg(test)]
mod tests;
