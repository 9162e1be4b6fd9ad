//! Pieces of work, offers and clicks in the copies, and back.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use model::{Command, Incarnation, NextId, Offer, OfferState, Turn, WorkEvent};

use super::{World, written_anew};
use crate::conformance::{act, at, note, session_id, work_id};
use crate::copies::{Depth, Touched};
use crate::{CopyError, MemoryStore, Store, Tables as _, WholeWork};

async fn hydrated(world: &World) -> MemoryStore {
    let fresh = MemoryStore::new(Incarnation::from_bits(1));
    let hydrated = world.copies.hydrate(&fresh).await.unwrap();
    assert_eq!((hydrated.sessions, hydrated.skipped.len()), (3, 0), "{:?}", hydrated.skipped);
    assert_eq!(hydrated.works, fresh.whole_works().await.unwrap().len());
    fresh
}

async fn offers(store: &dyn Store) -> Vec<Offer> {
    store.next_blocks(session_id(1), None, 10).await.unwrap()
}

fn summary(works: &[WholeWork]) -> Vec<(u8, &str, Vec<u8>)> {
    works
        .iter()
        .map(|work| {
            let sessions = work.sessions.iter().map(|id| id.as_bytes()[0]).collect();
            (work.row.id.as_bytes()[0], work.row.name.as_str(), sessions)
        })
        .collect()
}

#[tokio::test]
async fn works_can_be_read_by_people() {
    let world = World::with_a_work().await;
    let (first, five, six) = (session_id(1), session_id(5), session_id(6));
    let works = format!(
        r#"{{
  "contexts": [
    {{
      "id": "{}",
      "name": "warp",
      "project": "/w",
      "sessionIds": [
        "{five}",
        "{six}"
      ],
      "names": [
        "loom",
        "warp"
      ],
      "createdAt": "1970-01-01T00:00:00.200Z",
      "addedAt": "1970-01-01T00:00:00.300Z"
    }}
  ]
}}
"#,
        work_id(5)
    );
    assert_eq!(world.works(), works);
    assert_eq!(world.copies.works_path(), world.folder.path().join("state").join("meta-contexts.json"));
    let tree = world.tree();
    let member = &tree[&format!("{six}/meta.json")];
    let expected = format!(
        r#"
  "metaContext": {{
    "id": "{}",
    "name": "warp"
  }},
  "from": {{
    "session": "{first}",
    "block": "t1.n2"
  }},
  "clicks": [],
"#,
        work_id(5)
    );
    assert!(member.contains(&expected), "{member}");
    let expected = format!(
        r#"
    {{
      "block": "t1.n1",
      "metaContext": "{}",
      "session": "{five}",
      "at": "1970-01-01T00:00:00.200Z"
    }}
  ],
"#,
        work_id(5)
    );
    let clicked = &tree[&format!("{first}/meta.json")];
    assert!(clicked.contains(&expected), "{clicked}");
    let line = &tree[&format!("{first}/transcript.jsonl")];
    let expected = r#""blocks":[{"nth":1,"block":0,"start":1,"end":2,"shown":{"next":{"label":"step 1","command":"do step 1","metaContext":"loom"}}},"#;
    assert!(line.contains(expected), "{line}");
    assert_eq!(fs::metadata(world.copies.works_path()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn what_the_file_says_is_written_once() {
    let world = World::new();
    assert_eq!(world.copies.update_works(&*world.store).await.unwrap(), Touched::No);
    assert!(!world.copies.works_path().exists(), "without a work there is nothing to tell");
    let world = World::with_a_work().await;
    assert_eq!(world.copies.update_works(&*world.store).await.unwrap(), Touched::No);
    let expected = world.works();
    for edited in ["", "{}", "no", &expected.replace("warp", "mine")] {
        fs::write(world.copies.works_path(), edited).unwrap();
        assert!(!world.copies.works_are_right(&*world.store).await.unwrap());
        assert_eq!(world.copies.update_works(&*world.store).await.unwrap(), Touched::Yes);
        assert_eq!(world.works(), expected);
    }
    assert!(world.copies.works_are_right(&*world.store).await.unwrap());
}

/// A work's sessions say what it is called; nothing happens in them when it is called something else.
#[tokio::test]
async fn a_new_name_reaches_the_sessions_copies() {
    let world = World::with_a_work().await;
    let named = |n| {
        let meta: serde_json::Value = serde_json::from_slice(&fs::read(world.file(n, "meta.json")).unwrap()).unwrap();
        meta["metaContext"].clone()
    };
    let id = work_id(5);
    let project = "/w".to_owned();
    world.tell_works(WorkEvent::WorkRenamed { work: id, project, name: "silk".to_owned() }).await;
    assert_eq!(world.copies.update_works(&*world.store).await.unwrap(), Touched::Yes);
    for n in [5, 6] {
        assert_eq!(named(n), serde_json::json!({ "id": id, "name": "silk" }));
    }
    world.tell_works(WorkEvent::WorkDeleted { work: id }).await;
    assert_eq!(world.copies.update_works(&*world.store).await.unwrap(), Touched::Yes);
    for n in [5, 6] {
        assert_eq!(named(n), serde_json::json!({ "id": id }));
    }
    assert_eq!(world.works(), "{\n  \"contexts\": []\n}\n");
    let ids = [1, 5, 6].map(session_id);
    assert_eq!(world.copies.check(&*world.store, &ids).await.unwrap(), []);
    let fresh = hydrated(&world).await;
    assert_eq!(fresh.whole_works().await.unwrap(), []);
    assert_eq!(fresh.session(session_id(5)).await.unwrap().unwrap().row.work, Some(id));
}

#[tokio::test]
async fn a_session_that_is_deleted_leaves_its_work_and_comes_back_to_it() {
    let world = World::with_a_work().await;
    let whole = world.works();
    act(&world.store, 5, Command::Delete, 500).await;
    assert_eq!(world.update(5).await, Touched::Yes);
    let works: serde_json::Value = serde_json::from_str(&world.works()).unwrap();
    assert_eq!(works["contexts"][0]["sessionIds"], serde_json::json!([session_id(6)]));
    act(&world.store, 6, Command::Delete, 500).await;
    assert_eq!(world.copies.update(&*world.store, session_id(6), Depth::Whole).await.unwrap(), Touched::Yes);
    assert!(world.copies.works_are_right(&*world.store).await.unwrap());
    // What it is comes back with the sessions that can still come back.
    let fresh = hydrated(&world).await;
    assert_eq!(summary(&fresh.whole_works().await.unwrap()), [(5, "warp", vec![])]);
    for n in [5, 6] {
        act(&world.store, n, Command::Restore, 600).await;
        assert_eq!(world.update(n).await, Touched::Yes);
    }
    assert_eq!(world.works(), whole);
    let ids = [1, 5, 6].map(session_id);
    assert_eq!(world.copies.check(&*world.store, &ids).await.unwrap(), []);
}

#[tokio::test]
async fn works_offers_and_clicks_come_back() {
    let world = World::with_a_work().await;
    let fresh = hydrated(&world).await;
    assert_eq!(fresh.whole_works().await.unwrap(), world.store.whole_works().await.unwrap());
    assert_eq!(fresh.works(None, 10).await.unwrap(), world.store.works(None, 10).await.unwrap());
    for name in ["loom", "warp"] {
        assert_eq!(fresh.find_work("/w", name).await.unwrap().unwrap().id, work_id(5), "{name}");
    }
    let (was, is) = (offers(&*world.store).await, offers(&fresh).await);
    let told = |offers: &[Offer]| {
        offers.iter().map(|offer| (offer.row.id, offer.row.next.clone(), offer.row.clicked)).collect::<Vec<_>>()
    };
    assert_eq!(told(&is), told(&was));
    let states: Vec<_> = is.iter().map(Offer::state).collect();
    assert_eq!(states, [OfferState::Open, OfferState::Used, OfferState::Used], "a used button stays used");
    for n in [5, 6] {
        let row = |session: Option<model::Session>| {
            let row = session.unwrap().row;
            (row.work, row.from, row.created_at)
        };
        let was = row(world.store.session(session_id(n)).await.unwrap());
        assert_eq!(row(fresh.session(session_id(n)).await.unwrap()), was);
    }
    assert_eq!(fresh.unbegun().await.unwrap(), [], "what waited is in no copy, so nothing is begun for it");
    assert_eq!(written_anew(&fresh, 8).await, world.tree());
    assert!(world.copies.works_are_right(&fresh).await.unwrap());
}

/// The sessions name their works, so those are made again; nothing is an error.
#[tokio::test]
async fn works_are_made_again_from_their_sessions() {
    for spoil in [
        |world: &World| fs::remove_file(world.copies.works_path()).unwrap(),
        |world: &World| fs::write(world.copies.works_path(), "").unwrap(),
        |world: &World| fs::write(world.copies.works_path(), "{\"contexts\":7}").unwrap(),
        |world: &World| fs::write(world.copies.works_path(), &world.works()[..100]).unwrap(),
        |world: &World| fs::write(world.copies.works_path(), "{\"contexts\":[]}").unwrap(),
        |world: &World| {
            fs::remove_file(world.copies.works_path()).unwrap();
            fs::create_dir(world.copies.works_path()).unwrap();
        },
        |world: &World| {
            fs::rename(world.folder.path().join("state"), world.folder.path().join("elsewhere")).unwrap();
            symlink(world.folder.path().join("elsewhere"), world.folder.path().join("state")).unwrap();
        },
    ] {
        let world = World::with_a_work().await;
        spoil(&world);
        let fresh = hydrated(&world).await;
        let works = fresh.whole_works().await.unwrap();
        assert_eq!(summary(&works), [(5, "warp", vec![5, 6])]);
        assert_eq!((works[0].row.created_at, works[0].row.added_at), (at(200), at(300)));
        assert_eq!(offers(&fresh).await[1].state(), OfferState::Used);
    }
}

/// What does not hold is left out, and the rest comes back.
#[tokio::test]
async fn a_file_that_was_changed_brings_nothing_that_could_not_have_been() {
    let edit = async |from: &str, to: &str| {
        let world = World::with_a_work().await;
        let text = world.works();
        assert!(text.contains(from), "{text}");
        fs::write(world.copies.works_path(), text.replace(from, to)).unwrap();
        let works = hydrated(&world).await.whole_works().await.unwrap();
        let names = works.iter().map(|work| work.names.join(", ")).collect::<Vec<_>>();
        (format!("{:?}", summary(&works)), names)
    };
    let (made_again, with_older) = (vec!["warp".to_owned()], vec!["loom, warp".to_owned()]);
    let warp = format!("{:?}", [(5, "warp", [5, 6])]);
    // Its sessions know better.
    for (from, to) in
        [("\"warp\",\n      \"project", "\" warp\",\n      \"project"), ("\"/w\"", "\"w\""), ("0505-", "0506-")]
    {
        assert_eq!(edit(from, to).await, (warp.clone(), made_again.clone()), "{from} {to}");
    }
    // What is told of its sessions is theirs to say.
    assert_eq!(edit("06060606-0606", "07070707-0606").await, (warp.clone(), with_older));
    // Of two that are called the same, one comes back.
    let world = World::with_a_work().await;
    let text = world.works();
    let (begin, end) = (text.find("    {").unwrap(), text.rfind("\n  ]").unwrap());
    let other = text[begin..end].replace(&work_id(5).to_string(), &work_id(9).to_string());
    fs::write(world.copies.works_path(), format!("{},\n{other}{}", &text[..end], &text[end..])).unwrap();
    assert_eq!(format!("{:?}", summary(&hydrated(&world).await.whole_works().await.unwrap())), warp);
}

#[tokio::test]
async fn a_link_in_place_of_the_works_folder_keeps_no_session_from_its_copy() {
    let world = World::with_a_work().await;
    let (state, elsewhere) = (world.folder.path().join("state"), world.folder.path().join("elsewhere"));
    fs::rename(&state, &elsewhere).unwrap();
    symlink(&elsewhere, &state).unwrap();
    act(&world.store, 5, Command::Delete, 500).await;
    let before = fs::read(elsewhere.join("meta-contexts.json")).unwrap();
    let refused = world.copies.update_works(&*world.store).await;
    assert!(matches!(refused, Err(CopyError::Foreign { .. })), "{refused:?}");
    assert_eq!(world.update(5).await, Touched::Yes);
    assert_eq!(fs::read(elsewhere.join("meta-contexts.json")).unwrap(), before, "nothing is written through it");
}

/// As the version before this one wrote them.
#[tokio::test]
async fn copies_of_the_format_before_come_back() {
    let world = World::with_a_work().await;
    for n in [1, 5, 6] {
        let meta = fs::read(world.file(n, "meta.json")).unwrap();
        let mut meta: serde_json::Value = serde_json::from_slice(&meta).unwrap();
        meta["format"] = 4.into();
        for since in ["metaContext", "from", "clicks"] {
            meta.as_object_mut().unwrap().remove(since).unwrap();
        }
        fs::write(world.file(n, "meta.json"), meta.to_string()).unwrap();
    }
    let line = fs::read(world.file(1, "transcript.jsonl")).unwrap();
    let mut turn: serde_json::Value = serde_json::from_slice(&line).unwrap();
    turn.as_object_mut().unwrap().remove("blocks").unwrap();
    fs::write(world.file(1, "transcript.jsonl"), format!("{turn}\n")).unwrap();
    fs::remove_file(world.copies.works_path()).unwrap();
    let fresh = hydrated(&world).await;
    assert_eq!((offers(&fresh).await, fresh.whole_works().await.unwrap()), (vec![], vec![]));
    assert_eq!(fresh.session(session_id(1)).await.unwrap().unwrap().row.turns, Turn(1));
    // Beside the log that they were written from they come to the newest shape.
    for n in [1, 5, 6] {
        world.copies.update(&*world.store, session_id(n), Depth::Whole).await.unwrap();
    }
    assert_eq!(world.tree(), written_anew(&*world.store, 8).await);
}

/// A click on what the running turn offers is told with the turn.
#[tokio::test]
async fn a_click_in_a_turn_that_runs_leaves_no_trace_yet() {
    let world = World::with_two_turns().await;
    super::start_turn(&world.store, 1, 3, "runs").await;
    let before = world.tree();
    let next = crate::conformance::next_step("a step", Some("loom"));
    note(&world.store, 1, crate::conformance::offers(3, 1, next), 131).await;
    let block = NextId { turn: Turn(3), nth: 1 };
    let clicked = crate::conformance::click(&*world.store, 1, block, 5, 132).await.unwrap();
    world.store.append(clicked).await.unwrap();
    assert_eq!(world.update(1).await, Touched::No);
    assert_eq!(world.tree(), before);
    let stop = model::Stop { outcome: model::Outcome::Completed, reason: None };
    act(&world.store, 1, Command::Agent(model::AgentReport::Stopped(stop)), 133).await;
    assert_eq!(world.update(1).await, Touched::Yes);
    assert!(world.tree()[&format!("{}/meta.json", session_id(1))].contains("\"block\": \"t3.n1\""));
}
