//! Checkpoints: the write-ahead log is copied, starts over, and is kept where copying cannot be trusted.

use std::fs;
use std::path::Path;
use std::sync::{Arc, mpsc};

use model::Seq;
use rusqlite::{Connection, Error};

use crate::SqliteStore;
use crate::conformance::{batch, stream, text_part};
use crate::prelude::*;
use crate::sqlite::checkpoint::{self, Health};
use crate::sqlite::open::connect_checkpointer;
use crate::sqlite::tests::{folder, open_at};

/// A connection like the writer's, to a store that nobody has open.
async fn writer(path: &Path) -> Connection {
    open_at(path).close().await;
    let conn = connect_checkpointer(path).unwrap();
    commit(&conn);
    conn
}

fn commit(conn: &Connection) {
    conn.execute_batch("INSERT INTO receipts VALUES ('p', hex(randomblob(8)), zeroblob(40000), x'', 1, NULL, NULL)")
        .unwrap();
}

fn wal_pages(conn: &Connection) -> i64 {
    conn.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1)).unwrap()
}

/// While commits keep coming there is always one that the checkpoint has not copied; the log must not grow for ever.
#[tokio::test]
async fn the_write_ahead_log_starts_over_while_commits_keep_coming() {
    let (_folder, path) = folder();
    let writer = writer(&path).await;
    let health = Health::default();
    for _ in 0..3 {
        let (ask, wanted) = mpsc::sync_channel(1);
        ask.try_send(()).unwrap();
        drop(ask);
        drop(checkpoint::run(connect_checkpointer(&path).unwrap(), &wanted, &health));
        // The first of these finds all copied and starts over, the second comes "meanwhile".
        commit(&writer);
        commit(&writer);
        let longest = wal_pages(&writer);
        checkpoint::catch_up(&writer, &health);
        commit(&writer);
        let pages = wal_pages(&writer);
        assert!(pages < longest, "{pages} pages after {longest}");
    }
}

/// A flush that failed may be called a success the next time, so there is no next time in this process.
#[tokio::test]
async fn after_a_failed_flush_the_write_ahead_log_is_kept() {
    let (_folder, path) = folder();
    let writer = writer(&path).await;
    let (database, wal) = (fs::read(&path).unwrap(), fs::read(path.with_extension("db-wal")).unwrap());
    let health = Health::default();
    health.fail(Arc::new(Error::InvalidQuery));
    let (ask, wanted) = mpsc::sync_channel(1);
    ask.try_send(()).unwrap();
    drop(ask);
    let conn = checkpoint::run(connect_checkpointer(&path).unwrap(), &wanted, &health);
    checkpoint::catch_up(&writer, &health);
    checkpoint::finish(&conn, &health);
    drop((writer, conn));
    assert_eq!(fs::read(&path).unwrap(), database);
    assert_eq!(fs::read(path.with_extension("db-wal")).unwrap(), wal);
}

/// Commits, reads and checkpoints at once: with the tests' low bound every few appends are followed by one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_see_whole_streams_while_pages_are_copied() {
    let (_folder, path) = folder();
    let store: Arc<SqliteStore> = Arc::new(open_at(&path));
    let text = "x".repeat(3000);
    for after in 0..10_000 {
        store.append(batch([text_part(stream(1), after, &[&text])])).await.unwrap();
        let read = store.read(stream(1), Seq(after.saturating_sub(20)), 1000).await.unwrap();
        assert_eq!(read.last().map(|entry| entry.seq.0), Some(after + 1));
        if fs::metadata(&path).unwrap().len() > 1_000_000 {
            return;
        }
    }
    panic!("nothing was copied");
}

/// Nobody knows what a thread that panicked left half done, so nothing more is written.
#[test]
fn a_thread_that_panics_ends_writing() {
    let health = Health::default();
    assert_eq!(health.watch("checkpointer", || 1), Some(1));
    assert!(health.failure().is_none());
    assert_eq!(health.watch("checkpointer", || -> u32 { panic!("on purpose") }), None);
    assert_eq!(health.failure().unwrap().to_string(), "the checkpointer panicked");
}
