//! An entry that is not what was written is found, named and never passed on.

use model::{Position, Seq};
use rusqlite::Connection;

use crate::conformance::{act, at, batch, create, prompt, session_id, stream, text_part};
use crate::prelude::*;
use crate::sqlite::tests::{folder, open_at};
use crate::{AppendError, Fence, FenceCause, Head, ReadError};

/// What is wrong with a damaged stream.
pub(super) fn wrong_with(fence: &Fence) -> String {
    match &fence.cause {
        FenceCause::Damaged(what) => what.to_string(),
        FenceCause::Newer => panic!("{fence}"),
    }
}

fn told(result: Result<impl std::fmt::Debug, ReadError>) -> (Seq, String) {
    match result {
        Err(ReadError::Fenced(damage)) if damage.stream == stream(1) => (damage.seq, wrong_with(&damage)),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_changed_entry_is_named_and_the_rest_is_read() {
    let mismatch = "its checksum does not match";
    for (sql, seq, what) in [
        (
            "UPDATE entries SET event = CAST(replace(event, 'two', 'TWO') AS BLOB) WHERE stream = 1 AND seq = 2",
            2,
            mismatch,
        ),
        ("UPDATE entries SET at = at + 1 WHERE stream = 1 AND seq = 3", 3, mismatch),
        ("UPDATE entries SET version = 0 WHERE stream = 1 AND seq = 2", 2, mismatch),
        ("UPDATE entries SET version = -1 WHERE stream = 1 AND seq = 2", 2, "its version is no version"),
        ("UPDATE entries SET checksum = checksum + 1 WHERE stream = 1 AND seq = 1", 1, mismatch),
        ("DELETE FROM entries WHERE stream = 1 AND seq = 2", 2, "the entry is missing"),
        // Two whole entries that changed places.
        (
            "UPDATE entries SET seq = -seq WHERE stream = 1 AND seq < 3;
             UPDATE entries SET seq = 3 + seq WHERE stream = 1 AND seq < 0",
            1,
            mismatch,
        ),
        // A whole entry that belongs to another stream.
        (
            "UPDATE entries SET (event, checksum) = (SELECT event, checksum FROM entries WHERE stream = 2)
             WHERE stream = 1 AND seq = 1",
            1,
            mismatch,
        ),
    ] {
        let (_folder, path) = folder();
        let store = open_at(&path);
        store.append(batch([text_part(stream(1), 0, &["one", "two", "three"])])).await.unwrap();
        store.append(batch([text_part(stream(2), 0, &["one"])])).await.unwrap();
        // Bytes that were changed behind the server's back while it runs, since it must not rely on its start.
        let stranger = Connection::open(&path).unwrap();
        stranger.execute_batch(sql).unwrap();

        // Up to the damage everything is there, and whoever asks on is told: the end is never passed off as one.
        let before = usize::try_from(seq).unwrap() - 1;
        if before > 0 {
            assert_eq!(store.read(stream(1), Seq::START, 100).await.unwrap().len(), before, "{sql}");
        }
        let damaged = (Seq(seq), what.to_owned());
        assert_eq!(told(store.read(stream(1), Seq(seq - 1), 100).await), damaged, "{sql}");
        assert_eq!(store.head(stream(1)).await.unwrap(), Head::At(Seq(seq - 1)), "{sql}");
        // Nothing is written behind it, and the fence outlives the process; the others do not notice.
        let mut store = Some(store);
        for _life in 0..2 {
            let store = store.take().unwrap_or_else(|| open_at(&path));
            let damage = store.fence(session_id(1)).map(|damage| (damage.seq, wrong_with(&damage)));
            assert_eq!(damage, Some(damaged.clone()), "{sql}");
            for after in [seq - 1, 3] {
                let refused = store.append(batch([text_part(stream(1), after, &["more"])])).await;
                assert!(matches!(refused, Err(AppendError::Fenced(_))), "{sql}: {refused:?}");
            }
            assert_eq!(store.read_all(Position(0), 100).await.unwrap().len(), before + 1, "{sql}");
            assert_eq!(store.read(stream(2), Seq::START, 100).await.unwrap().len(), 1, "{sql}");
            store.close().await;
        }
    }
}

/// The whole log is read on past a damaged session, also when that is where its damage is met first.
#[tokio::test]
async fn a_follower_of_all_streams_is_not_held_up() {
    let (_folder, path) = folder();
    let store = open_at(&path);
    store.append(batch([text_part(stream(1), 0, &["one", "two", "three"])])).await.unwrap();
    store.append(batch([text_part(stream(2), 0, &["one"])])).await.unwrap();
    let stranger = Connection::open(&path).unwrap();
    stranger.execute("UPDATE entries SET checksum = 0 WHERE stream = 1 AND seq = 2", []).unwrap();
    let seen = |page: Vec<crate::PlacedEntry>| page.into_iter().map(|placed| placed.position.0).collect::<Vec<_>>();
    assert_eq!(seen(store.read_all(Position(0), 100).await.unwrap()), [1, 4]);
    assert_eq!(seen(store.read_all(Position(1), 1).await.unwrap()), [4]);
    assert_eq!(store.fence(session_id(1)).unwrap().seq, Seq(2));
}

/// Whoever has a damaged session can still be rid of it.
#[tokio::test]
async fn a_damaged_session_can_be_purged() {
    let (_folder, path) = folder();
    let store = open_at(&path);
    store.append(batch([text_part(stream(1), 0, &["one", "two", "three"])])).await.unwrap();
    let stranger = Connection::open(&path).unwrap();
    stranger.execute("DELETE FROM entries WHERE seq = 2", []).unwrap();
    assert_eq!(store.read(stream(1), Seq::START, 100).await.unwrap().len(), 1);
    store.purge(session_id(1), Seq(1), at(1)).await.unwrap();
    assert_eq!(store.fence(session_id(1)), None);
    assert_eq!(store.head(stream(1)).await.unwrap(), Head::Purged);
    store.close().await;
    assert_eq!(open_at(&path).fence(session_id(1)), None);
}

/// A tail that was cut off is not passed off as the end, as far as the rows still know of it.
#[tokio::test]
async fn a_lost_tail_that_the_rows_know_of_is_told() {
    let (_folder, path) = folder();
    let store: crate::conformance::AnyStore = std::sync::Arc::new(open_at(&path));
    act(&store, 1, create("a"), 1).await;
    act(&store, 1, prompt(1, "waits"), 2).await;
    let stranger = Connection::open(&path).unwrap();
    stranger.execute("DELETE FROM entries WHERE seq > 2", []).unwrap();
    assert_eq!(store.session(session_id(1)).await.unwrap().unwrap().head, Seq(2));
    let damage = store.fence(session_id(1)).unwrap();
    assert_eq!((damage.seq, &*wrong_with(&damage)), (Seq(3), "the entry is missing"));
    assert_eq!(store.read(stream(1), Seq::START, 100).await.unwrap().len(), 2);
    assert_eq!(told(store.read(stream(1), Seq(2), 100).await).0, Seq(3));
}
