//! R05, R06: whoever comes back with a cursor gets exactly what follows it: each entry once, in order, without a gap.

use serde_json::Value;

use crate::client::Live;
use crate::live::follow_after;
use crate::support::{INCARNATION, World};

/// Half of the cuts are made before a restart and half after it. A follow of the same session takes the place of the one
/// before, so most are also left in the middle; every tenth is followed to its end.
#[tokio::test]
async fn from_a_thousand_cursors_exactly_the_rest_comes() {
    let mut world = World::on_disk().await;
    let session = world.session().await;
    for n in 0..12 {
        world.turn(&session, &format!("say {n}")).await;
    }
    let mut random = fastrand::Rng::with_seed(1);
    for _life in 0..2 {
        let all = world.entries(&session).await;
        let mut live = Live::local(&world).await;
        for n in 0..500 {
            let cut = random.usize(..=all.len());
            let to_the_end = n % 10 == 0;
            let read = if to_the_end { all.len() - cut } else { random.usize(..=all.len() - cut) };
            live.ask(follow_after(&session, &format!("{INCARNATION}.{cut}"))).await;
            live.until("session.context").await;
            let mut entries = Vec::new();
            while entries.len() < read {
                let frame = live.next().await;
                assert_eq!(frame["type"], "entry", "{frame}");
                entries.push(frame["entry"].clone());
            }
            assert_eq!(entries, all[cut..cut + read], "from {cut}");
            if to_the_end {
                let cursor = format!("{INCARNATION}.{}", all.len());
                assert_eq!(
                    live.next().await,
                    serde_json::json!({ "type": "caught_up", "session": session, "cursor": cursor })
                );
            }
        }
        drop(live);
        world = world.restart().await;
    }
    world.close().await;
}

/// A cursor stays good while the session runs: a client that is cut off again and again sees the whole turn, each entry once.
#[tokio::test]
async fn a_client_that_is_cut_off_again_and_again_misses_nothing() {
    let world = World::on_disk().await;
    let session = world.session().await;
    let mut seen: Vec<Value> = Vec::new();
    for n in 0..10 {
        world.prompt(&session, &format!("say {n}")).await;
    }
    let mut cut = 1;
    while seen.iter().filter(|entry| entry["type"] == "turn.ended").count() < 10 {
        let mut live = Live::bearer(&world, &world.token).await;
        let after = seen.last().map_or(0, |entry| entry["seq"].as_u64().unwrap());
        live.ask(follow_after(&session, &after.to_string())).await;
        cut = cut % 7 + 1;
        let mut heard = 0;
        while heard < cut && seen.iter().filter(|entry| entry["type"] == "turn.ended").count() < 10 {
            let frame = live.next().await;
            if frame["type"] == "entry" {
                seen.push(frame["entry"].clone());
                heard += 1;
            }
        }
    }
    let all = world.entries(&session).await;
    assert_eq!(seen, all[..seen.len()]);
    assert!(all[seen.len()..].iter().all(|entry| entry["type"] == "summary.set" || entry["type"] == "title.set"));
    world.close().await;
}
