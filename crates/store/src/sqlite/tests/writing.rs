//! The writer: what is queued shares a flush, and what goes wrong stays with whom it concerns.

use std::sync::{Arc, mpsc};

use model::{Position, Seq};
use tokio::sync::oneshot;
use tokio::task::{JoinSet, yield_now};

use crate::conformance::{at, batch, stream, text_part};
use crate::prelude::*;
use crate::sqlite::jobs::Write;
use crate::sqlite::tests::{folder, open_at};
use crate::sqlite::writer::QUEUE;
use crate::{AppendError, Batch, Head, Receipt, SqliteStore};

/// The writer stands still until this is dropped.
type Held = mpsc::Sender<()>;

async fn hold(store: &Arc<SqliteStore>, tasks: &mut JoinSet<()>) -> Held {
    let (held, until) = mpsc::channel::<()>();
    let (reached, is_reached) = oneshot::channel();
    let writer = Arc::clone(store);
    tasks.spawn(async move {
        let look = Box::new(move |_: &rusqlite::Connection| {
            reached.send(()).unwrap();
            // Ends with an error when the sender is dropped, which is what it waits for.
            until.recv().unwrap_err();
        });
        writer.write(Write::Look(Some(look))).await.unwrap();
    });
    is_reached.await.unwrap();
    held
}

async fn until_queued(store: &SqliteStore, count: usize) {
    let writes = store.way_to(|running| &running.writes).unwrap();
    while writes.capacity() > QUEUE - count {
        yield_now().await;
    }
}

async fn wal_pages(store: &SqliteStore) -> i64 {
    store.look(|conn| conn.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1)).unwrap()).await
}

#[tokio::test]
async fn what_is_queued_shares_one_transaction() {
    let (_folder, path) = folder();
    let store = Arc::new(open_at(&path));
    let mut tasks = JoinSet::new();
    let before = wal_pages(&store).await;
    let held = hold(&store, &mut tasks).await;
    for n in 0..64 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            store.append(batch([text_part(stream(n), 0, &["x"])])).await.unwrap();
        });
    }
    until_queued(&store, 64).await;
    drop(held);
    tasks.join_all().await;
    // One by one, each would have written its page of entries and its page of the index at least.
    let written = wal_pages(&store).await - before;
    assert!(written < 64, "{written} pages");
    assert_eq!(store.read_all(Position(0), 100).await.unwrap().len(), 64);
}

/// What does not fit into one transaction goes into the next, and a batch too large for any goes alone.
#[tokio::test]
async fn more_than_a_transaction_takes_is_written_in_turn() {
    let (_folder, path) = folder();
    let store = Arc::new(open_at(&path));
    let mut tasks = JoinSet::new();
    let held = hold(&store, &mut tasks).await;
    let large = "x".repeat(700_000);
    let sizes = [vec!["x"; 300], vec!["x"; 300], vec![&large; 1], vec![&large; 1], vec!["x"; 600], vec!["x"; 1]];
    for (n, texts) in (0_u8..).zip(&sizes) {
        let (store, part) = (Arc::clone(&store), text_part(stream(n), 0, texts));
        tasks.spawn(async move {
            store.append(batch([part])).await.unwrap();
        });
    }
    until_queued(&store, sizes.len()).await;
    drop(held);
    tasks.join_all().await;
    for (n, texts) in (0_u8..).zip(&sizes) {
        assert_eq!(store.head(stream(n)).await.unwrap(), Head::At(Seq(texts.len() as u64)), "stream {n}");
    }
}

#[tokio::test]
async fn batches_of_one_transaction_see_each_other_and_fail_alone() {
    let (_folder, path) = folder();
    let store = Arc::new(open_at(&path));
    let mut tasks = JoinSet::new();
    let held = hold(&store, &mut tasks).await;
    let receipt = |n: u8| Receipt {
        principal: "person".to_owned(),
        key: "k".to_owned(),
        fingerprint: Vec::new(),
        reply: vec![n],
        at: at(1),
        holds_words: false,
    };
    let with_receipt =
        |n| Batch { parts: vec![text_part(stream(n), 0, &["x"])], receipt: Some(receipt(n)), ..Batch::default() };
    let queued = [
        (batch([text_part(stream(1), 0, &["one"])]), "Ok(Position(1))"),
        (batch([text_part(stream(2), 0, &["x"]), text_part(stream(1), 0, &["x"])]), "at 1, not 0"),
        (batch([text_part(stream(1), 1, &["two"])]), "Ok(Position(2))"),
        (with_receipt(3), "Ok(Position(3))"),
        (with_receipt(4), "carried out before"),
        (batch([text_part(stream(5), 0, &["x"])]), "Ok(Position(4))"),
    ];
    let mut answers = Vec::new();
    for (n, (batch, expected)) in queued.into_iter().enumerate() {
        let (answer, answered) = oneshot::channel();
        answers.push((answered, expected));
        let writer = Arc::clone(&store);
        tasks.spawn(async move { answer.send(writer.append(batch).await).unwrap() });
        until_queued(&store, n + 1).await;
    }
    drop(held);
    for (answered, expected) in answers {
        let answer = match answered.await.unwrap() {
            Ok(position) => format!("Ok({position:?})"),
            Err(err) => err.to_string(),
        };
        assert!(answer.ends_with(expected), "{answer}, not {expected}");
    }
    tasks.join_all().await;
    for (n, head) in [(1, 2), (2, 0), (3, 1), (4, 0), (5, 1)] {
        assert_eq!(store.head(stream(n)).await.unwrap(), Head::At(Seq(head)), "stream {n}");
    }
}

#[tokio::test]
async fn closing_carries_out_what_is_queued() {
    let (_folder, path) = folder();
    let store = Arc::new(open_at(&path));
    let mut tasks = JoinSet::new();
    let held = hold(&store, &mut tasks).await;
    for n in 0..10 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            store.append(batch([text_part(stream(n), 0, &["x"])])).await.unwrap();
        });
    }
    until_queued(&store, 10).await;
    let closing = Arc::clone(&store);
    tasks.spawn(async move { closing.close().await });
    while store.way_to(|running| &running.writes).is_some() {
        yield_now().await;
    }
    assert!(matches!(store.append(batch([])).await, Err(AppendError::Closed)));
    drop(held);
    tasks.join_all().await;
    assert_eq!(open_at(&path).read_all(Position(0), 100).await.unwrap().len(), 10);
}

/// A write whose caller is gone is carried out all the same, and the caller's going harms nobody.
#[tokio::test]
async fn a_dropped_append_is_carried_out() {
    let (_folder, path) = folder();
    let store = Arc::new(open_at(&path));
    let mut tasks = JoinSet::new();
    let held = hold(&store, &mut tasks).await;
    let mut gone = JoinSet::new();
    let writer = Arc::clone(&store);
    gone.spawn(async move { writer.append(batch([text_part(stream(1), 0, &["x"])])).await.unwrap() });
    until_queued(&store, 1).await;
    gone.shutdown().await;
    drop(held);
    tasks.join_all().await;
    store.append(batch([text_part(stream(1), 1, &["y"])])).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_is_told_and_passes() {
    let (_folder, path) = folder();
    let store = open_at(&path);
    store.append(batch([text_part(stream(1), 0, &["one"])])).await.unwrap();
    let large = "x".repeat(100_000);
    let pages = |limit: &'static str| {
        move |conn: &rusqlite::Connection| {
            let pages: i64 = conn.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
            let limit = if limit.is_empty() { pages + 2 } else { limit.parse().unwrap() };
            conn.pragma_update(None, "max_page_count", limit).unwrap();
        }
    };
    store.look(pages("")).await;
    let full = store.append(batch([text_part(stream(1), 1, &["two"]), text_part(stream(2), 0, &[&large])])).await;
    assert!(matches!(full, Err(AppendError::Full(_))), "{full:?}");
    // Nothing of it is there, what fits still goes, and reads go on.
    assert_eq!(store.head(stream(1)).await.unwrap(), Head::At(Seq(1)));
    assert_eq!(store.append(batch([text_part(stream(1), 1, &["two"])])).await.unwrap(), Position(2));
    store.look(pages("1000000")).await;
    assert_eq!(store.append(batch([text_part(stream(2), 0, &[&large])])).await.unwrap(), Position(3));
    assert_eq!(store.read_all(Position(0), 100).await.unwrap().len(), 3);
}

/// Once a write has failed for an unknown reason nothing is written any more, even where it would pass.
#[tokio::test]
async fn a_failed_write_ends_all_writing_but_no_reading() {
    for way in ["ROLLBACK", "FAIL"] {
        let (_folder, path) = folder();
        let store = open_at(&path);
        store.append(batch([text_part(stream(1), 0, &["one"])])).await.unwrap();
        store
            .look(move |conn| {
                conn.execute_batch(&format!(
                    "CREATE TEMP TRIGGER fails
                     AFTER INSERT ON entries
                     WHEN NEW.seq = 3
                     BEGIN SELECT RAISE({way}, 'input/output error'); END"
                ))
                .unwrap();
            })
            .await;
        store.append(batch([text_part(stream(1), 1, &["two"])])).await.unwrap();
        for (stream, after) in [(stream(1), 2), (stream(1), 2), (stream(2), 0)] {
            let failed = store.append(batch([text_part(stream, after, &["x"])])).await;
            let Err(AppendError::Failed(cause)) = failed else { panic!("{failed:?}") };
            assert_eq!(cause.to_string(), "input/output error");
        }
        assert_eq!(store.failed().await.to_string(), "input/output error");
        assert!(matches!(
            store.purge(crate::conformance::session_id(1), model::Seq(1), at(1)).await,
            Err(AppendError::Failed(_))
        ));
        assert_eq!(store.read(stream(1), Seq::START, 100).await.unwrap().len(), 2);
        store.close().await;
        let store = open_at(&path);
        assert_eq!(store.append(batch([text_part(stream(1), 2, &["three"])])).await.unwrap(), Position(3));
    }
}

/// A long session is removed some entries at a time, and what a crash leaves of it the next start finds.
#[tokio::test]
async fn a_purged_session_is_swept_between_the_writes() {
    let (_folder, path) = folder();
    let store = open_at(&path);
    store.append(batch([text_part(stream(2), 0, &["y"])])).await.unwrap();
    store.append(batch([text_part(stream(1), 0, &["x"; 2000])])).await.unwrap();
    store.close().await;
    // What is left by a process that was killed right after the tombstone.
    let stranger = rusqlite::Connection::open(&path).unwrap();
    crate::sqlite::functions::register(&stranger).unwrap();
    let purge = "UPDATE streams SET purged_at = 1, sweeping = 1, checksum = row_sum(id, name, 1, 1) WHERE id = 2";
    stranger.execute(purge, []).unwrap();
    stranger.execute("DELETE FROM entries WHERE seq % 100 = 7", []).unwrap();
    drop(stranger);

    let store = open_at(&path);
    // Gone for every reader, whatever is swept by now.
    assert!(store.read(stream(1), Seq::START, 10).await.unwrap().is_empty());
    assert_eq!(store.read_all(Position(0), 10).await.unwrap().len(), 1);
    let left = |conn: &rusqlite::Connection| -> (i64, i64) {
        conn.query_row("SELECT (SELECT COUNT(*) FROM entries), (SELECT SUM(sweeping) FROM streams)", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap()
    };
    // Each look is a write of its own, with some sweeping after it.
    let mut looks = 0;
    while store.look(left).await != (1, 0) {
        looks += 1;
        assert!(looks < 10, "{:?}", store.look(left).await);
    }
    assert_eq!(store.head(stream(1)).await.unwrap(), Head::Purged);
}

/// Another program that holds the file is waited for, then told of; it is no reason to stop for good.
#[tokio::test]
async fn a_file_held_by_another_program_is_told_and_passes() {
    let (_folder, path) = folder();
    let store = open_at(&path);
    store.look(|conn| conn.busy_timeout(std::time::Duration::ZERO).unwrap()).await;
    let stranger = rusqlite::Connection::open(&path).unwrap();
    stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
    let busy = store.append(batch([text_part(stream(1), 0, &["x"])])).await;
    assert!(matches!(busy, Err(AppendError::Busy(_))), "{busy:?}");
    stranger.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.append(batch([text_part(stream(1), 0, &["x"])])).await.unwrap(), Position(1));
}
