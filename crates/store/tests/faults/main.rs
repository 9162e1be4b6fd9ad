//! What the store does when the disk does not do its part.
//!
//! Fail points belong to the whole process, so these tests are a program of their own and each holds the scenario, which
//! lets one run at a time.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod copies;
mod disk;
mod migrations;
mod payloads;

use std::path::{Path, PathBuf};

use model::{Incarnation, Seq};
use store::SqliteStore;
use store::conformance::{batch, stream, text_part};
use tempfile::TempDir;

const FULL: &str = "13";
const FLUSH_FAILED: &str = "1034";
const WRITE_FAILED: &str = "778";

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("throughline.db");
    (folder, path)
}

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, Incarnation::from_bits(7)).unwrap()
}

fn one_more(after: u64) -> store::Batch {
    batch([text_part(stream(1), after, &["x"])])
}

async fn length(store: &SqliteStore) -> u64 {
    use store::prelude::*;
    let page = store.read(stream(1), Seq::START, 1_000).await.unwrap();
    page.last().map_or(0, |entry| entry.seq.0)
}
