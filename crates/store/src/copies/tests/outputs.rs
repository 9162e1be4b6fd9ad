//! `outputs.json`: what it lists, and what a log that is filled from it makes of outputs that were removed.

use std::fs;
use std::sync::Arc;

use model::{AgentReport, Command, Incarnation, Outcome, OutputRemoval, Seq, Stop};

use super::{World, begin, finish_turn, start_turn, written_anew};
use crate::conformance::faulty::{Faulty, StoreCall};
use crate::conformance::{act, output, session_id};
use crate::copies::{Copies, Depth, Touched, What};
use crate::prelude::*;
use crate::{MemoryStore, PayloadFolder, PayloadName, Payloads as _};

/// A session whose only turn showed these, each at another moment.
async fn showing(shown: &[u8]) -> World {
    let world = World::new();
    begin(&world.store, 1).await;
    start_turn(&world.store, 1, 1, "show").await;
    for (when, n) in (120..).zip(shown) {
        act(&world.store, 1, Command::StoreOutput(Box::new(output(*n))), when).await;
    }
    let stop = Stop { outcome: Outcome::Completed, reason: None };
    act(&world.store, 1, Command::Agent(AgentReport::Stopped(stop)), 130).await;
    world.update(1).await;
    world
}

async fn remove(world: &World, n: u8) {
    let ids = vec![output(n).id];
    act(&world.store, 1, Command::RemoveOutputs { ids, reason: OutputRemoval::Pruned, by: None }, 140).await;
    world.update(1).await;
}

/// What a log has of outputs that is filled from the world's copies.
async fn hydrated(world: &World) -> (MemoryStore, Vec<(u64, i64)>) {
    let fresh = MemoryStore::new(Incarnation::from_bits(1));
    let hydrated = world.copies.hydrate(&fresh).await.unwrap();
    assert!(hydrated.skipped.is_empty(), "{:?}", hydrated.skipped);
    let rows = fresh.outputs(session_id(1), Seq::START, 9).await.unwrap();
    let rows = rows.into_iter().map(|row| (row.bytes, row.stored_at.as_millis())).collect();
    (fresh, rows)
}

#[tokio::test]
async fn an_index_can_be_read_by_people() {
    let world = showing(&[4]).await;
    let id = output(4).id;
    let sha256 = output(4).sha256;
    let index = fs::read_to_string(world.file(1, "outputs.json")).unwrap();
    let read: serde_json::Value = serde_json::from_str(&index).unwrap();
    let listed = &read["outputs"][0];
    assert_eq!((&read["format"], &listed["file"]), (&1.into(), &format!("{id}.txt").into()), "{index}");
    assert_eq!(
        (&listed["id"], &listed["turn"], &listed["sha256"]),
        (&id.to_string().into(), &1.into(), &sha256.into())
    );
    assert_eq!(listed["createdAt"], "1970-01-01T00:00:00.120Z");
    assert!(
        index.starts_with("{\n  \"format\": 1,\n  \"outputs\": [\n    {\n      \"turn\": 1,") && index.ends_with("}\n"),
        "{index}"
    );
}

#[tokio::test]
async fn a_removed_output_is_not_in_the_index_and_does_not_come_back() {
    let world = showing(&[4, 5]).await;
    assert_eq!(hydrated(&world).await.1, [(4, 120), (5, 121)]);
    let lines = fs::read(world.file(1, "transcript.jsonl")).unwrap();
    remove(&world, 4).await;
    assert_eq!(fs::read(world.file(1, "transcript.jsonl")).unwrap(), lines, "what was said stays as it was");
    let (fresh, rows) = hydrated(&world).await;
    assert_eq!(rows, [(5, 121)]);
    assert_eq!(written_anew(&fresh, 2).await, world.tree());
    remove(&world, 5).await;
    assert!(!world.file(1, "outputs.json").exists());
    let (fresh, rows) = hydrated(&world).await;
    assert_eq!(rows, []);
    assert_eq!(written_anew(&fresh, 2).await, world.tree());
    assert_eq!(world.update(1).await, Touched::No);
}

/// Without the index, whatever still has its bytes is kept: nothing that somebody shows is lost with a list.
#[tokio::test]
async fn a_lost_index_loses_no_output_whose_bytes_are_there() {
    for broken in [None, Some("[]"), Some("not JSON"), Some("{\"outputs\": 3}")] {
        let world = showing(&[4, 5]).await;
        let payloads = PayloadFolder::at(world.copies.path());
        payloads.put(session_id(1), &PayloadName::of(&output(4)), Box::new(&b"1234"[..]), 9).await.unwrap();
        match broken {
            None => fs::remove_file(world.file(1, "outputs.json")).unwrap(),
            Some(text) => fs::write(world.file(1, "outputs.json"), text).unwrap(),
        }
        let different = world.copies.check(&*world.store, &[session_id(1)]).await.unwrap();
        assert!(different.iter().map(|found| found.what).eq([What::Outputs]), "{different:?}");
        // When it was shown is not known then; its turn ended at 130.
        assert_eq!(hydrated(&world).await.1, [(4, 130)]);
        assert_eq!(world.copies.update(&*world.store, session_id(1), Depth::Whole).await.unwrap(), Touched::Yes);
        assert_eq!(world.copies.check(&*world.store, &[session_id(1)]).await.unwrap(), []);
    }
}

/// A session may have shown thousands, and a round comes four times a second while its agent writes.
#[tokio::test]
async fn outputs_are_listed_again_only_if_the_list_may_change() {
    let folder = tempfile::tempdir().unwrap();
    let counting = Arc::new(Faulty::new(Arc::new(MemoryStore::new(Incarnation::from_bits(7)))));
    let copies = Copies::at(folder.path().join("sessions"));
    let world = World { folder, store: counting.clone(), copies };
    let stop = || Command::Agent(AgentReport::Stopped(Stop { outcome: Outcome::Completed, reason: None }));
    let listed = async |world: &World| {
        let before = counting.met(StoreCall::Outputs).calls;
        world.update(1).await;
        let listed = counting.met(StoreCall::Outputs).calls > before;
        let different = world.copies.check(&*world.store, &[session_id(1)]).await.unwrap();
        assert!(different.iter().all(|found| found.what != What::Outputs), "{different:?}");
        listed
    };
    begin(&world.store, 1).await;
    start_turn(&world.store, 1, 1, "show").await;
    act(&world.store, 1, Command::StoreOutput(Box::new(output(4))), 120).await;
    act(&world.store, 1, stop(), 130).await;
    assert!(listed(&world).await);
    // Words, whole turns and names leave the list as it is.
    start_turn(&world.store, 1, 2, "on").await;
    for n in 0..3 {
        act(&world.store, 1, Command::Agent(AgentReport::Text { block: n, text: "word ".to_owned() }), 140).await;
        assert!(!listed(&world).await);
    }
    act(&world.store, 1, stop(), 150).await;
    assert!(!listed(&world).await);
    finish_turn(&world.store, 1, 3, "and on").await;
    assert!(!listed(&world).await);
    // An output changes it when its turn has ended.
    start_turn(&world.store, 1, 4, "show").await;
    act(&world.store, 1, Command::StoreOutput(Box::new(output(5))), 160).await;
    assert!(listed(&world).await);
    act(&world.store, 1, Command::Agent(AgentReport::Text { block: 0, text: "word".to_owned() }), 161).await;
    assert!(!listed(&world).await);
    act(&world.store, 1, stop(), 162).await;
    assert!(listed(&world).await);
    assert!(!listed(&world).await);
    remove(&world, 4).await;
    assert!(!fs::read_to_string(world.file(1, "outputs.json")).unwrap().contains(&output(4).id.to_string()));
    assert!(!listed(&world).await);
    // Somebody edits or removes it.
    fs::write(world.file(1, "outputs.json"), "{}").unwrap();
    assert!(listed(&world).await);
    fs::remove_file(world.file(1, "outputs.json")).unwrap();
    assert!(listed(&world).await);
    // It is looked at whole where that is asked for.
    let before = counting.met(StoreCall::Outputs).calls;
    world.copies.update(&*world.store, session_id(1), Depth::Whole).await.unwrap();
    assert!(counting.met(StoreCall::Outputs).calls > before);
}
