//! An entry that is not what was written is found, named and never passed on.

use model::{Position, Seq};
use rusqlite::Connection;

use crate::conformance::{act, batch, create, prompt, session_id, stream, text_part};
use crate::sqlite::tests::{folder, open_at};
use crate::{Log as _, ReadError};

fn told(result: Result<impl std::fmt::Debug, ReadError>) -> (Seq, &'static str) {
    match result {
        Err(ReadError::Damaged { stream: told, seq, what }) if told == stream(1) => (seq, what),
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

        assert_eq!(told(store.read(stream(1), Seq::START, 100).await), (Seq(seq), what), "{sql}");
        // Up to the damage everything is there, for whoever asks for no more.
        let before = usize::try_from(seq).unwrap() - 1;
        assert_eq!(store.read(stream(1), Seq::START, before).await.unwrap().len(), before, "{sql}");
        assert_eq!(told(store.read_all(Position(0), 100).await).1, what, "{sql}");
        assert_eq!(store.read(stream(2), Seq::START, 100).await.unwrap().len(), 1, "{sql}");
    }
}

#[tokio::test]
async fn an_event_of_a_later_version_is_told_as_such() {
    let (_folder, path) = folder();
    let store = open_at(&path);
    store.append(batch([text_part(stream(1), 0, &["one"])])).await.unwrap();
    let stranger = Connection::open(&path).unwrap();
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(format!("{}\0", stream(1)).as_bytes());
    hasher.update(&1_u64.to_le_bytes());
    hasher.update(&1_i64.to_le_bytes());
    hasher.update(&9_u16.to_le_bytes());
    hasher.update(b"{}");
    stranger
        .execute("UPDATE entries SET version = 9, event = CAST('{}' AS BLOB), checksum = ?1", [hasher.finalize()])
        .unwrap();
    let expected = (Seq(1), "it was written by a newer version of the program");
    assert_eq!(told(store.read(stream(1), Seq::START, 100).await), expected);
}

/// A tail that was cut off is not passed off as the end, as far as the rows still know of it.
#[tokio::test]
async fn a_lost_tail_that_the_rows_know_of_is_told() {
    let (_folder, path) = folder();
    let store: crate::conformance::AnyStore = std::sync::Arc::new(open_at(&path));
    act(&store, 1, create("a"), 1).await;
    act(&store, 1, prompt(1, "waits"), 2).await;
    let stranger = Connection::open(&path).unwrap();
    for last in [2_u8, 0] {
        stranger.execute("DELETE FROM entries WHERE seq > ?1", [last]).unwrap();
        let expected = (Seq(u64::from(last) + 1), "the entry is missing");
        assert_eq!(told(store.session(session_id(1)).await), expected);
    }
}
