//! `/sessions/{id}/entries`: the log page by page, and cursors that lead nowhere.

use serde_json::{Value, json};

use crate::support::{INCARNATION, World};

#[tokio::test]
async fn pages_join_without_gap_or_repeat() {
    let world = World::on_disk().await;
    let session = world.session().await;
    world.turn(&session, "say one").await;
    world.turn(&session, "say two").await;
    let all = world.entries(&session).await;
    let path = format!("/api/v1/sessions/{session}/entries");
    for limit in 1..=all.len() + 1 {
        let mut joined = Vec::new();
        let mut after = String::new();
        loop {
            let page = world.get(&format!("{path}?limit={limit}{after}")).await.ok(200);
            let entries = page["entries"].as_array().unwrap();
            assert!(entries.len() <= limit);
            joined.extend(entries.iter().cloned());
            match page["nextCursor"].as_str() {
                Some(cursor) => after = format!("&after={cursor}"),
                None => break,
            }
        }
        assert_eq!(joined, all, "limit {limit}");
    }
    world.close().await;
}

#[tokio::test]
async fn a_cursor_is_whole_or_a_bare_seq() {
    let world = World::open().await;
    let session = world.session().await;
    world.turn(&session, "say one").await;
    let all = world.entries(&session).await;
    let head = all.len();
    let path = format!("/api/v1/sessions/{session}/entries");
    for seq in 0..=head {
        for after in [seq.to_string(), format!("{INCARNATION}.{seq}")] {
            let page = world.get(&format!("{path}?after={after}")).await.ok(200);
            assert_eq!(page, json!({ "entries": all[seq..], "nextCursor": null }));
        }
    }
    world.close().await;
}

/// R08: a typed answer that says where the session is, never silence and never wrong entries.
#[tokio::test]
async fn cursors_of_another_life_or_of_the_future_are_told_apart() {
    let world = World::open().await;
    let session = world.session().await;
    let path = format!("/api/v1/sessions/{session}/entries");
    let snapshot = format!("{INCARNATION}.5");
    for (after, reason) in [
        ("00000000000000b2.1".to_owned(), "other_incarnation"),
        ("00000000000000b2.999".to_owned(), "other_incarnation"),
        (format!("{INCARNATION}.6"), "ahead"),
        ("6".to_owned(), "ahead"),
        (u64::MAX.to_string(), "ahead"),
        (format!("{INCARNATION}.{}", u64::MAX), "ahead"),
    ] {
        let answer = world.get(&format!("{path}?after={after}")).await;
        assert_eq!(answer.summary(), "409 cursor_reset", "{after}");
        assert_eq!(answer.json()["error"]["details"], json!({ "reason": reason, "snapshot": snapshot }), "{after}");
    }
    for after in ["", "x", "1.", ".1", "a1.1", "-1", "1.5", "00000000000000A1.1", &format!("{INCARNATION}.01")] {
        assert_eq!(world.get(&format!("{path}?after={after}")).await.summary(), "400 invalid_cursor", "{after:?}");
    }
    world.close().await;
}

#[tokio::test]
async fn entries_are_the_same_after_a_restart() {
    let world = World::on_disk().await;
    let session = world.session().await;
    world.turn(&session, "say before").await;
    let before = world.entries(&session).await;
    let world = world.restart().await;
    let after = world.entries(&session).await;
    assert_eq!(after[..before.len()], before);
    let ended = json!({ "state": "stopped", "reason": "server_shutdown" });
    assert_eq!(after[before.len()..].iter().map(|entry| &entry["data"]).collect::<Vec<&Value>>(), [&ended]);
    let cursor = format!("{INCARNATION}.{}", before.len());
    let page = world.get(&format!("/api/v1/sessions/{session}/entries?after={cursor}")).await.ok(200);
    assert_eq!(page["entries"].as_array().unwrap()[..], after[before.len()..]);
    world.close().await;
}

/// A page of large entries holds fewer, and the pages still join.
#[tokio::test]
async fn large_entries_come_in_small_pages() {
    let world = World::on_disk().await;
    let session = world.session().await;
    let text = format!("say {}", "x".repeat(1 << 19));
    for _ in 0..5 {
        world.turn(&session, &text).await;
    }
    let (mut seqs, mut after, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let answer = world.get(&format!("/api/v1/sessions/{session}/entries?limit=1000{after}")).await;
        assert!(answer.body.len() < 6 << 20, "{} bytes", answer.body.len());
        let page = answer.ok(200);
        seqs.extend(page["entries"].as_array().unwrap().iter().map(|entry| entry["seq"].as_u64().unwrap()));
        pages += 1;
        match page["nextCursor"].as_str() {
            Some(cursor) => after = format!("&after={cursor}"),
            None => break,
        }
    }
    assert!(pages > 1, "all came at once");
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    world.close().await;
}
