//! What only the embedded store promises: what survives, what is refused, what is found.

use std::path::PathBuf;
use std::sync::Arc;

use model::Incarnation;
use tempfile::TempDir;

use crate::SqliteStore;

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("throughline.db");
    (folder, path)
}

fn open() -> (Arc<dyn crate::Store>, TempDir) {
    let (folder, path) = folder();
    (Arc::new(SqliteStore::open(&path, Incarnation::from_bits(7)).unwrap()), folder)
}

crate::conformance_tests!(open);
