//! Gives a store a new incarnation, because it is at an older state than its followers may have seen.
//!
//! Invariant: positions and seqs may be given a second time only under another incarnation, so that whoever holds an
//! old cursor is told instead of being shown other entries.

use std::path::Path;

use model::Incarnation;

use crate::sqlite::{meta, open};
use crate::{OpenError, SqliteStore, StorageError};

impl SqliteStore {
    /// Gives the store at `path`, which nobody has open, another incarnation.
    pub fn renew(path: &Path, incarnation: Incarnation) -> Result<(), OpenError> {
        let opened = open::open(path, incarnation)?;
        meta::give_incarnation(&opened.writer, incarnation)
            .map_err(|err| OpenError::Storage { path: opened.path, source: StorageError(Box::new(err)) })
    }
}
