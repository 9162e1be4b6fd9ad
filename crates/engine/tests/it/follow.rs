//! What followers see.

use std::time::Duration;

use engine::{Delete, Followed, QueryError, ResetReason};
use model::{Cursor, Entry, Incarnation, Seq, SessionEvent};

use crate::support::{World, asker};

#[tokio::test(start_paused = true)]
async fn from_every_cut_each_entry_comes_once_and_in_order() {
    let world = World::new().await;
    let session = world.session().await;
    for words in ["say a", "long 300", "say b"] {
        let prompt = world.prompt(session, words).await;
        world.finish(session, prompt).await;
    }
    let head = world.engine.session(session).await.unwrap().head;
    for cut in 0..=head.0 {
        let mut follow = world.engine.follow(session, Some(world.engine.cursor(Seq(cut)))).await.unwrap();
        let mut seen = cut;
        loop {
            match follow.next().await.unwrap() {
                Followed::Entry(entry) => {
                    assert_eq!(entry.seq, Seq(seen + 1));
                    seen += 1;
                }
                Followed::CaughtUp => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(seen, head.0);
        assert_eq!(follow.cursor(), world.engine.cursor(head));
    }
}

#[tokio::test(start_paused = true)]
async fn previews_come_before_their_entry_and_say_the_same() {
    let world = World::new().await;
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    while !matches!(follow.next().await.unwrap(), Followed::CaughtUp) {}
    world.prompt(session, "long 200").await;
    let (mut previewed, mut durable) = (String::new(), String::new());
    loop {
        match follow.next().await.unwrap() {
            Followed::Preview(engine::Words { text, .. }) => previewed.push_str(&text),
            Followed::Entry(Entry { event: SessionEvent::TextPart { text, .. }, .. }) => {
                durable.push_str(&text);
                assert!(previewed.starts_with(&durable), "an entry came before its previews");
            }
            Followed::Entry(Entry { event: SessionEvent::TurnEnded { .. }, .. }) => break,
            Followed::Entry(_) | Followed::Context { .. } | Followed::CaughtUp => (),
            Followed::Deleted => panic!("deleted"),
            Followed::Printed(printed) => panic!("{printed:?}"),
            Followed::Unsent(unsent) => panic!("{unsent:?}"),
        }
    }
    assert_eq!(previewed, durable);
}

/// Far more news than a feed holds: the follower that slept reads the log instead.
#[tokio::test(start_paused = true)]
async fn a_follower_that_slept_misses_no_entry() {
    let world = World::new().await;
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    while !matches!(follow.next().await.unwrap(), Followed::CaughtUp) {}
    for _ in 0..3 {
        let prompt = world.prompt(session, "long 1000").await;
        world.finish(session, prompt).await;
    }
    let head = world.engine.session(session).await.unwrap().head;
    let mut last = follow.cursor().seq;
    while last < head {
        match follow.next().await.unwrap() {
            Followed::Entry(entry) => {
                assert_eq!(entry.seq, last.next());
                last = entry.seq;
            }
            // The newest part of the feed is previews of words that were read from the log: they must not come twice.
            other => panic!("{other:?}"),
        }
    }
    world.prompt(session, "say fresh").await;
    loop {
        match follow.next().await.unwrap() {
            Followed::Preview(engine::Words { turn, text, .. }) => {
                assert_eq!((turn, &*text), (model::Turn(4), "fresh"));
            }
            Followed::Entry(Entry { event: SessionEvent::TurnEnded { .. }, .. }) => break,
            Followed::Entry(_) => (),
            other => panic!("{other:?}"),
        }
    }
}

/// A reader who joins previews to the last entry must never see words after a gap. The follower looks away for longer
/// than a feed holds words, and comes back in the middle of a part.
#[tokio::test(start_paused = true)]
async fn where_the_feed_skipped_something_previews_begin_again_with_the_next_part() {
    let world = World::new().await;
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    while !matches!(follow.next().await.unwrap(), Followed::CaughtUp) {}
    world.prompt(session, "long 4000").await;
    let (mut previewed, mut heard, mut looked) = (String::new(), 0, 0);
    loop {
        match follow.next().await.unwrap() {
            Followed::Preview(engine::Words { text, .. }) => {
                previewed.push_str(&text);
                heard += 1;
            }
            Followed::Entry(Entry { event: SessionEvent::TextPart { text, .. }, seq, .. }) => {
                assert!(text.starts_with(&previewed), "{seq}: what was previewed is not how the part begins");
                previewed.clear();
            }
            Followed::Entry(Entry { event: SessionEvent::TurnEnded { .. }, .. }) => break,
            Followed::Entry(_) => (),
            other => panic!("{other:?}"),
        }
        looked += 1;
        if looked % 83 == 0 {
            // More words than a feed holds.
            tokio::time::sleep(Duration::from_millis(9_500)).await;
        }
    }
    assert!((1..4_000).contains(&heard), "{heard} previews: nothing was skipped, or everything");
}

#[tokio::test(start_paused = true)]
async fn a_cursor_of_another_life_or_of_the_future_is_a_reset() {
    let world = World::new().await;
    let session = world.session().await;
    let head = world.engine.session(session).await.unwrap().head;
    let foreign = Cursor { incarnation: Incarnation::from_bits(99), seq: Seq(1) };
    let ahead = world.engine.cursor(Seq(head.0 + 1_000));
    for (cursor, expected) in [(foreign, ResetReason::OtherIncarnation), (ahead, ResetReason::Ahead)] {
        match world.engine.follow(session, Some(cursor)).await {
            Err(QueryError::Reset { reason, snapshot }) => {
                assert_eq!(reason, expected);
                assert!(snapshot.seq >= head);
            }
            Err(other) => panic!("{other:?}"),
            Ok(_) => panic!("a cursor that leads nowhere was taken"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn followers_of_a_deleted_session_are_told() {
    let world = World::new().await;
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    world.engine.submit(session, Delete, asker()).await.unwrap();
    while !matches!(follow.next().await.unwrap(), Followed::Deleted) {}
    assert!(matches!(world.engine.follow(session, None).await, Err(QueryError::Deleted(_))));
    world.engine.purge(session, asker()).await.unwrap();
    assert!(matches!(world.engine.follow(session, None).await, Err(QueryError::Deleted(_))));
    let unknown = model::SessionId::from_bytes([9; 16]);
    assert!(matches!(world.engine.follow(unknown, None).await, Err(QueryError::NotFound(_))));
}
