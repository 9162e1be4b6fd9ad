//! A full disk is an error that passes; a flush that failed is the end of writing.

use std::fs;

use fail::FailScenario;
use model::Incarnation;
use store::conformance::{batch, stream, text_part};
use store::prelude::*;
use store::{AppendError, Batch, Room, SqliteStore};

use crate::{FLUSH_FAILED, FULL, WRITE_FAILED, folder, length, one_more, open};

/// R03: not acknowledged, not tried again, and nothing else is written by this process.
#[tokio::test]
async fn a_failed_flush_is_never_retried_into_success() {
    let scenario = FailScenario::setup();
    let (_folder, path) = folder();
    let store = open(&path);
    store.append(one_more(0)).await.unwrap();
    fail::cfg("store-commit", &format!("1*return({FLUSH_FAILED})")).unwrap();
    let failed = store.append(one_more(1)).await;
    assert!(matches!(failed, Err(AppendError::Failed(_))), "{failed:?}");
    // The point is spent, so the next commit would pass.
    let refused = store.append(one_more(1)).await;
    assert!(matches!(refused, Err(AppendError::Failed(_))), "{refused:?}");
    assert_eq!(length(&store).await, 1);
    assert!(store.failed().await.to_string().contains("disk I/O error"));
    store.close().await;
    let store = open(&path);
    store.append(one_more(1)).await.unwrap();
    scenario.teardown();
}

/// R18: a write that meets damage is its session's trouble; only when none gets through any more is it the store's.
#[tokio::test]
async fn damage_where_one_session_is_written_ends_writing_for_no_other() {
    let scenario = FailScenario::setup();
    let (_folder, path) = folder();
    let store = open(&path);
    store.append(one_more(0)).await.unwrap();
    fail::cfg("store-write", "1*return").unwrap();
    let damaged = store.append(one_more(1)).await;
    assert!(matches!(&damaged, Err(AppendError::Fenced(damage)) if damage.stream == stream(1)), "{damaged:?}");
    // The point is spent: the session stays as it is, and the others go on.
    let refused = store.append(one_more(1)).await;
    assert!(matches!(refused, Err(AppendError::Fenced(_))), "{refused:?}");
    store.append(batch([text_part(stream(2), 0, &["x"])])).await.unwrap();
    assert_eq!(length(&store).await, 1);

    fail::cfg("store-write", "return").unwrap();
    for session in 3..11 {
        let damaged = store.append(batch([text_part(stream(session), 0, &["x"])])).await;
        assert!(matches!(damaged, Err(AppendError::Fenced(_))), "{damaged:?}");
    }
    let failed = store.append(batch([text_part(stream(11), 0, &["x"])])).await;
    assert!(matches!(failed, Err(AppendError::Failed(_))), "{failed:?}");
    store.failed().await;
    scenario.teardown();
}

/// R17: a full disk, a quota and a limit on the file all fail the write before the flush; all pass.
#[tokio::test]
async fn a_write_that_did_not_fit_is_tried_again_later() {
    let scenario = FailScenario::setup();
    for code in [FULL, WRITE_FAILED] {
        let (_folder, path) = folder();
        let store = open(&path);
        store.append(one_more(0)).await.unwrap();
        fail::cfg("store-commit", &format!("2*return({code})")).unwrap();
        for _ in 0..2 {
            let full = store.append(one_more(1)).await;
            assert!(matches!(full, Err(AppendError::Full(_))), "{code}: {full:?}");
            assert_eq!(length(&store).await, 1);
        }
        store.append(one_more(1)).await.unwrap();
        assert_eq!(length(&store).await, 2);
    }
    scenario.teardown();
}

/// R17: with the disk full, what ends a turn is still written, and nothing else is until there is room again.
#[tokio::test]
async fn the_reserve_is_for_last_words() {
    let scenario = FailScenario::setup();
    let (folder, path) = folder();
    let reserve = folder.path().join("throughline.db.reserve");
    let store = SqliteStore::open_reserving(&path, Incarnation::from_bits(7), 1 << 20).unwrap();
    assert_eq!(fs::metadata(&reserve).unwrap().len(), 1 << 20);
    store.append(one_more(0)).await.unwrap();

    // The disk is full, and has no room for a new reserve either.
    fail::cfg("store-commit", &format!("1*return({FULL})")).unwrap();
    fail::cfg("store-reserve", "return").unwrap();
    assert!(matches!(store.append(one_more(1)).await, Err(AppendError::Full(_))));
    assert!(!reserve.exists(), "the reserve was given back to the disk");
    assert!(matches!(store.append(one_more(1)).await, Err(AppendError::Full(_))));
    let last_words = |after| Batch { room: Room::Reserved, ..batch([text_part(stream(1), after, &["end"])]) };
    store.append(last_words(1)).await.unwrap();

    // One that finds the disk full itself is written with the reserve at once.
    fail::cfg("store-reserve", "off").unwrap();
    store.append(one_more(2)).await.unwrap();
    assert!(reserve.exists(), "there is room again, so it is set aside again");
    fail::cfg("store-commit", &format!("1*return({FULL})")).unwrap();
    store.append(last_words(3)).await.unwrap();
    assert_eq!(length(&store).await, 4);
    scenario.teardown();
}
