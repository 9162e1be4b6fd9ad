//! Several trees as one: an absolute path is looked up in the tree that it lies in.
//!
//! Invariant: of trees inside one another the innermost answers, so that a part of a protected folder can be open while
//! the rest of it stays shut.

use std::ffi::OsString;
use std::path::Path;

use crate::{Access, Deny, FileError, Tree, lexical, walk};

/// The directories that are open to somebody, and what is protected in them.
#[derive(Debug)]
pub struct Trees {
    trees: Vec<Tree>,
    deny: Deny,
}

impl Trees {
    /// With [`Deny::standard`] in force.
    pub fn new(trees: Vec<Tree>) -> Self {
        Self { trees, deny: Deny::standard() }
    }

    /// With other rules in force.
    #[must_use]
    pub fn denying(self, deny: Deny) -> Self {
        Self { deny, ..self }
    }

    pub(crate) fn deny(&self) -> &Deny {
        &self.deny
    }

    /// Goes to a path: what is not in a tree is refused before the disk is asked for anything.
    pub(crate) fn go(&self, path: &Path, access: Access) -> Result<walk::Place, FileError> {
        let names = lexical::names(path).ok_or(FileError::NotAllowed)?;
        let (tree, rest) = self.innermost(&names).ok_or(FileError::NotAllowed)?;
        walk::go(tree, &self.deny, access, rest)
    }

    fn innermost<'a>(&self, names: &'a [OsString]) -> Option<(&Tree, &'a [OsString])> {
        let found = self.trees.iter().filter_map(|tree| tree.find(names).map(|(depth, rest)| (depth, tree, rest)));
        found.max_by_key(|(depth, ..)| *depth).map(|(_, tree, rest)| (tree, rest))
    }
}
