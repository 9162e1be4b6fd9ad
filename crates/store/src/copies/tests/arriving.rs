//! Tests what becomes of payloads that are stored before the entries of their session, which then come or do not.

use std::fs;

use super::{World, begin};
use crate::conformance::{output, session_id};
use crate::{PayloadFolder, PayloadName, Payloads as _};
use model::NewBody;

/// Stores an output and a body of a session.
async fn put(world: &World, n: u8) {
    let payloads = PayloadFolder::at(world.copies.path());
    payloads.put(session_id(n), &PayloadName::of(&output(1)), Box::new(&b"shown"[..]), 9).await.unwrap();
    payloads.put_bodies(session_id(n), vec![NewBody::of(b"long".to_vec())]).await.unwrap();
}

async fn settle(world: &World) {
    world.copies.settle_arrivals(&*world.store).await.unwrap();
}

fn names(world: &World) -> Vec<String> {
    let inside = fs::read_dir(world.copies.path()).unwrap();
    let mut names: Vec<_> = inside.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn payloads_of_a_session_that_did_not_come_in_go_and_others_stay() {
    let world = World::new();
    // The second came in; of the third something lay there before; a person put something beside the fourth's and among the fifth's.
    put(&world, 3).await;
    for n in 1..=5 {
        world.copies.begin_arrival(session_id(n)).await.unwrap();
        put(&world, n).await;
    }
    begin(&world.store, 2).await;
    fs::write(world.file(4, "notes.txt"), "mine").unwrap();
    fs::write(world.file(5, "bodies/notes.txt"), "my own").unwrap();
    let hash = NewBody::of(b"long".to_vec()).hash;
    fs::rename(world.file(5, &format!("bodies/{hash}")), world.file(5, &format!("bodies/{hash}.new"))).unwrap();
    fs::create_dir(world.file(5, &format!("bodies/{hash}"))).unwrap();
    fs::write(world.file(5, &format!("bodies/{hash}/plan.txt")), "my plan").unwrap();
    let arriving = |n| format!("{}.arriving", session_id(n));
    let marked: Vec<_> = names(&world).into_iter().filter(|name| name.ends_with(".arriving")).collect();
    assert_eq!(marked, [1, 2, 4, 5].map(arriving));
    for _ in 0..2 {
        settle(&world).await;
        assert_eq!(names(&world), [2, 3, 4, 5].map(|n| session_id(n).to_string()));
        let kept: Vec<_> = world.tree().into_values().collect();
        assert_eq!(kept, ["long", "shown", "long", "shown", "mine", "my plan", "my own"]);
    }
}

/// The session came in and has a copy by now, and the log has lost it: that may be all that is left.
#[tokio::test]
async fn a_copy_whose_log_is_lost_is_no_left_over() {
    let world = World::new();
    world.copies.begin_arrival(session_id(1)).await.unwrap();
    put(&world, 1).await;
    begin(&world.store, 1).await;
    world.update(1).await;
    let before = world.tree();
    let other = World::new();
    world.copies.settle_arrivals(&*other.store).await.unwrap();
    let mut after = world.tree();
    after.insert(format!("{}.arriving", session_id(1)), String::new());
    assert_eq!(after, before);
}
