//! What changed files are like now, for comparing.
//!
//! Invariant: files are read through the session's own trees alone, never past a protected name, and no more of one than
//! is compared.

use std::path::{Component, Path};

use files::{Access, Deny, FileError, FileKind, Stat, Tree, Trees};
use model::{Compared, SessionRow};

use super::rebuild::Content;
use crate::file_inspector::{FileInspector, lies_in};

/// A larger file is not compared.
pub(super) const MAX_COMPARED_BYTES: u64 = 1 << 20;

/// A file as it is now, or why it is not compared.
pub(super) type Now = Result<Content, Compared>;

pub(super) struct Disk {
    trees: Trees,
    roots: Vec<Root>,
    deny: Deny,
}

/// A directory of the session.
struct Root {
    path: String,
    state: RootState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RootState {
    Open,
    /// So is all that was in it.
    Gone,
    /// It is there and can not be opened, or a link stands in its place.
    Closed,
}

impl Disk {
    /// Opens the session's directories; blocks.
    pub(super) fn open(files: &FileInspector, row: &SessionRow) -> Self {
        let mut trees: Vec<Tree> = Vec::new();
        let roots = files.roots(row).into_iter().map(|root| {
            let state = match root.open() {
                Ok(tree) => {
                    trees.push(tree);
                    RootState::Open
                }
                Err(FileError::NotFound | FileError::NotADirectory) => RootState::Gone,
                Err(_) => RootState::Closed,
            };
            Root { path: root.path, state }
        });
        let roots = roots.collect();
        Self { trees: Trees::new(trees).denying(files.deny.clone()), roots, deny: files.deny.clone() }
    }

    /// Why nothing may be known of a path, if that is so.
    pub(super) fn refusal(&self, path: &str) -> Option<Compared> {
        if self.is_protected(Path::new(path)) {
            return Some(Compared::Protected);
        }
        (!self.roots.iter().any(|root| lies_in(path, &root.path))).then_some(Compared::Elsewhere)
    }

    pub(super) fn read(&self, path: &str) -> Now {
        self.read_bytes(path, MAX_COMPARED_BYTES)?.map_or(Ok(Content::Absent), as_text)
    }

    /// The whole file; `None` if there is none.
    pub(super) fn read_bytes(&self, path: &str, max_bytes: u64) -> Result<Option<Vec<u8>>, Compared> {
        self.refusal(path).map_or(Ok(()), Err)?;
        match self.trees.read_bytes(path, max_bytes) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(err) => self.absence(path, &err).map(|()| None),
        }
    }

    /// What a plain file is like; `None` if there is none.
    pub(super) fn stat(&self, path: &str) -> Result<Option<Stat>, Compared> {
        self.refusal(path).map_or(Ok(()), Err)?;
        match self.trees.stat(path) {
            Ok(stat) => match stat.kind {
                FileKind::File => Ok(Some(stat)),
                FileKind::Directory => Ok(None),
                FileKind::Link | FileKind::Other => Err(Compared::NotKnown),
            },
            Err(err) => self.absence(path, &err).map(|()| None),
        }
    }

    /// Whether an error says that there is no file, or why it is not known.
    fn absence(&self, path: &str, err: &FileError) -> Result<(), Compared> {
        match err {
            FileError::NotFound | FileError::NotADirectory => Ok(()),
            FileError::TooLarge { .. } => Err(Compared::TooLarge),
            FileError::NotAllowed => self.absence_of_refused(path),
            FileError::NotAFile => match self.trees.stat(path) {
                // The file made room for a directory.
                Ok(Stat { kind: FileKind::Directory, .. }) => Ok(()),
                Ok(_) | Err(_) => Err(Compared::NotKnown),
            },
            FileError::NotText
            | FileError::TooManyNames { .. }
            | FileError::Changed
            | FileError::Full
            | FileError::Io(_) => Err(Compared::NotKnown),
        }
    }

    /// The name is allowed and what it leads to is not: its directory is gone or closed, or a link leads out of it or to
    /// something protected. Nothing is read here, so where the link leads may change at any time.
    fn absence_of_refused(&self, path: &str) -> Result<(), Compared> {
        let around = || self.roots.iter().filter(|root| lies_in(path, &root.path));
        if around().all(|root| root.state == RootState::Gone) {
            return Ok(());
        }
        let is_open = around().any(|root| root.state == RootState::Open);
        let Ok(real) = std::fs::canonicalize(path) else {
            return Err(if is_open { Compared::Link } else { Compared::NotKnown });
        };
        let is_inside = self.roots.iter().any(|root| match root.state {
            RootState::Open => std::fs::canonicalize(&root.path).is_ok_and(|root| real.starts_with(root)),
            RootState::Gone | RootState::Closed => real.starts_with(&root.path),
        });
        Err(match is_inside {
            _ if self.is_protected(&real) => Compared::Protected,
            false => Compared::Elsewhere,
            // It is a protected file under another name.
            true if is_open => Compared::Protected,
            true => Compared::NotKnown,
        })
    }

    fn is_protected(&self, path: &Path) -> bool {
        let names: Vec<_> = path.components().filter(|part| *part != Component::RootDir).collect();
        !self.deny.allows(Access::Read, &names)
    }
}

/// What is no text is not compared.
pub(super) fn as_text(bytes: Vec<u8>) -> Now {
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(Content::Text(text)),
        Ok(_) | Err(_) => Err(Compared::Binary),
    }
}
