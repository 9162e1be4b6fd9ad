//! R23: a wall clock that jumps changes what is displayed and nothing else.

use std::time::Duration;

use engine::{Asker, ChangeSession, Delete, RequestKey, Restore};
use model::Seq;
use store::prelude::*;

use crate::support::{World, asker};

const DAY_MILLIS: i64 = 86_400_000;
/// 2038-01-19 and a second: past the end of 32 bits.
const YEAR_2038: i64 = 2_147_483_648_000;
const NOW: i64 = 1_790_000_000_000;

const JUMPS: [i64; 5] = [0, YEAR_2038, NOW - DAY_MILLIS, NOW + DAY_MILLIS, NOW];

fn with_key(key: &str) -> Asker {
    Asker { principal: "ada".to_owned(), key: Some(RequestKey::new(key, &[b"rename"])) }
}

#[tokio::test(start_paused = true)]
async fn order_and_place_do_not_depend_on_the_time() {
    let world = World::new().await;
    world.clock.jump_to(NOW);
    let session = world.session().await;
    for jump in JUMPS {
        world.clock.jump_to(jump);
        let prompt = world.prompt(session, "long 300").await;
        world.finish(session, prompt).await;
    }
    let entries = world.store.read_session(session, Seq::START, 10_000).await.unwrap();
    assert!(entries.iter().map(|entry| entry.seq.0).eq(1..=entries.len() as u64));
    let turns = world.store.turns(session, model::Turn(0), 100).await.unwrap();
    assert!(turns.iter().map(|row| row.turn.0).eq(1..=5));
    assert!(turns.iter().all(|row| row.stop.is_some()));
}

/// What is kept for a time is kept for that time, whatever the wall says meanwhile.
#[tokio::test(start_paused = true)]
async fn nothing_is_removed_early_by_a_jump() {
    for jump in JUMPS {
        let mut world = World::new().await;
        world.clock.jump_to(NOW);
        world.stop_and_restart().await;
        let (kept, deleted) = (world.session().await, world.session().await);
        world.pass(Duration::from_secs(3_600)).await;
        let rename = || ChangeSession { name: Some("renamed".to_owned()), ..ChangeSession::default() };
        assert_eq!(world.engine.submit(kept, rename(), with_key("k")).await.unwrap(), []);
        world.engine.submit(deleted, Delete, asker()).await.unwrap();
        world.clock.jump_to(jump);
        // Several rounds of housekeeping.
        world.pass(Duration::from_secs(20 * 3_600)).await;
        let again = ChangeSession { name: Some("other".to_owned()), ..ChangeSession::default() };
        assert_eq!(world.engine.submit(kept, again, with_key("k")).await.unwrap(), []);
        assert_eq!(world.engine.session(kept).await.unwrap().row.name, "renamed", "{jump}: the repeat had an effect");
        world.engine.submit(deleted, Restore, asker()).await.unwrap();
    }
}
