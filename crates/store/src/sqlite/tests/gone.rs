//! What is purged is in no byte of any file: not in free pages, not in the write-ahead log, not in a backup.

use std::fs;
use std::path::{Path, PathBuf};

use model::Seq;
use rusqlite::Connection;

use crate::Head;
use crate::conformance::{at, batch, session_id, stream, text_part};
use crate::outside::{BackupWish, Repair, StoreFile};
use crate::prelude::*;
use crate::sqlite::tests::{folder, open_at};

const WORD: &str = "xylophagous";

/// The files below a folder that hold the word.
fn holding(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path));
        } else if fs::read(&path).unwrap().windows(WORD.len()).any(|bytes| bytes == WORD.as_bytes()) {
            found.push(path);
        }
    }
    found
}

/// Entries of a session, with the word in small ones and in one that takes pages of its own.
async fn write(store: &crate::SqliteStore, n: u8) {
    let long = format!("{WORD} ").repeat(2000);
    for round in 0..20 {
        let words = [WORD, "between", &long];
        store.append(batch([text_part(stream(n), round * 3, &words)])).await.unwrap();
    }
}

#[tokio::test]
async fn a_purged_word_is_in_no_file_and_in_no_backup() {
    let (folder, path) = folder();
    let store = open_at(&path);
    write(&store, 1).await;
    store.append(batch([text_part(stream(2), 0, &["stays"])])).await.unwrap();
    assert!(!holding(folder.path()).is_empty());
    store.purge(session_id(1), Seq(60), at(1)).await.unwrap();
    // While the server runs: the sweep is between the writes, and so is the write-ahead log's emptying.
    while store
        .look(|conn| conn.prepare("SELECT 1 FROM streams WHERE sweeping <> 0").unwrap().exists([]).unwrap())
        .await
    {}
    // While somebody reads from it, such as the loop above, emptying waits for a later write; it is tried again with each.
    let mut written = 1;
    while !holding(folder.path()).is_empty() && written < 40 {
        store.append(batch([text_part(stream(2), written, &["goes on"])])).await.unwrap();
        written += 1;
    }
    assert_eq!(holding(folder.path()), Vec::<PathBuf>::new(), "after {written} writes");
    let kept = folder.path().join("kept");
    let wish = BackupWish { folder: &kept, config: None, folders: &[], made_at: at(0), program: "test" };
    StoreFile::open(&path).unwrap().backup(&wish, &mut |_| ()).unwrap();
    assert_eq!(store.head(stream(1)).await.unwrap(), Head::Purged);
    store.close().await;
    assert_eq!(holding(folder.path()), Vec::<PathBuf>::new());
}

/// A backup of a store whose sweep is still at it.
#[tokio::test]
async fn a_backup_leaves_out_what_is_still_being_removed() {
    let (folder, path) = folder();
    let store = open_at(&path);
    write(&store, 1).await;
    store.close().await;
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("UPDATE streams SET purged_at = 1, sweeping = 1").unwrap();
    drop(conn);
    let kept = folder.path().join("kept");
    let wish = BackupWish { folder: &kept, config: None, folders: &[], made_at: at(0), program: "test" };
    StoreFile::open(&path).unwrap().backup(&wish, &mut |_| ()).unwrap();
    assert_eq!(holding(&kept), Vec::<PathBuf>::new());
}

/// What an earlier version only marked as free is gone after a rebuild.
#[tokio::test]
async fn a_rebuild_leaves_nothing_of_what_an_earlier_version_removed() {
    let (folder, path) = folder();
    let store = open_at(&path);
    write(&store, 1).await;
    store.append(batch([text_part(stream(2), 0, &["stays"])])).await.unwrap();
    store.close().await;
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(
        "PRAGMA secure_delete = off; DELETE FROM entries WHERE stream = 1; DELETE FROM streams WHERE id = 1",
    )
    .unwrap();
    drop(conn);
    assert!(!holding(folder.path()).is_empty());
    Repair::begin(&path).unwrap().rebuild(&mut |_| ()).unwrap();
    assert_eq!(holding(folder.path()), Vec::<PathBuf>::new());
}
