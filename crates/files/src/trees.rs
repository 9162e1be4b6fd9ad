//! Several trees together: an absolute path is accessed through the tree that it is in.
//!
//! Invariant: of nested trees the innermost one is used, so that a part of a protected folder can be open while the
//! rest of it stays closed.

use std::ffi::OsString;
use std::path::Path;

use crate::walk::{MissingFolders, WalkedPath, walk_to};
use crate::{Access, Deny, FileError, Tree, lexical};

/// The directories that are open to somebody, and what is protected in them.
#[derive(Debug)]
pub struct Trees {
    trees: Vec<Tree>,
    deny: Deny,
}

impl Trees {
    /// With the rules of [`Deny::standard`].
    pub fn new(trees: Vec<Tree>) -> Self {
        Self { trees, deny: Deny::standard() }
    }

    /// With other rules.
    #[must_use]
    pub fn denying(self, deny: Deny) -> Self {
        Self { deny, ..self }
    }

    pub(crate) fn deny(&self) -> &Deny {
        &self.deny
    }

    /// Walks to a path; a path outside of every tree is refused before the disk is accessed. For writing, missing
    /// directories are made.
    pub(crate) fn walk_to(&self, path: &Path, access: Access) -> Result<WalkedPath, FileError> {
        let missing = match access {
            Access::Read => MissingFolders::Refuse,
            Access::Write => MissingFolders::Make,
        };
        self.walk(path, access, missing)
    }

    /// The same, where nothing is made on the way.
    pub(crate) fn walk_to_existing(&self, path: &Path, access: Access) -> Result<WalkedPath, FileError> {
        self.walk(path, access, MissingFolders::Refuse)
    }

    fn walk(&self, path: &Path, access: Access, missing: MissingFolders) -> Result<WalkedPath, FileError> {
        let names = lexical::names(path).ok_or(FileError::NotAllowed)?;
        let (tree, rest) = self.innermost(&names).ok_or(FileError::NotAllowed)?;
        walk_to(tree, &self.deny, access, missing, rest)
    }

    fn innermost<'a>(&self, names: &'a [OsString]) -> Option<(&Tree, &'a [OsString])> {
        let found = self.trees.iter().filter_map(|tree| tree.find(names).map(|(depth, rest)| (depth, tree, rest)));
        found.max_by_key(|(depth, ..)| *depth).map(|(_, tree, rest)| (tree, rest))
    }
}
