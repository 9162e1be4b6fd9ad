//! From any history to its copies and back.

use std::fs;

use model::{
    AgentReport, AgentState, BODY_BYTES, Command, Draft, Incarnation, NewBody, Outcome, Stop, ToolChange, ToolContent,
    ToolKind, ToolStatus,
};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{World, begin, start_turn, tree, written_anew};
use crate::conformance::{act, at, batch, create, session_id};
use crate::copies::{Copies, Depth, Touched};
use crate::histories::{SESSIONS, Step, Twins, lively, step};
use crate::prelude::*;
use crate::{MemoryStore, PayloadFolder, Payloads as _, SqliteStore};

/// Copies that follow step by step are those that are written at the end, and a log that is filled from them gives them
/// again, byte for byte, with nothing at work in it.
async fn run(steps: Vec<Step>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("throughline.db");
    let mut twins = Twins::begin(&path);
    let copies = Copies::at(folder.path().join("sessions"));
    for step in steps {
        twins.take(step, &path).await;
        for n in 0..SESSIONS {
            copies.update(&twins.sqlite, session_id(n), Depth::End).await.unwrap();
        }
        copies.update_works(&twins.sqlite).await.unwrap();
    }
    for n in 0..SESSIONS {
        let again = copies.update(&twins.sqlite, session_id(n), Depth::Whole).await.unwrap();
        assert_eq!(again, Touched::No, "session {n} is not done with one look");
    }
    let written = tree(copies.path());
    assert_eq!(written, written_anew(&twins.sqlite, SESSIONS).await);
    assert_eq!(copies.update_works(&twins.sqlite).await.unwrap(), Touched::No);
    assert!(copies.works_are_right(&twins.sqlite).await.unwrap());
    let works = fs::read_to_string(copies.works_path()).ok();
    let ids: Vec<_> = (0..SESSIONS).map(session_id).collect();
    assert_eq!(copies.check(&twins.sqlite, &ids).await.unwrap(), []);

    let fresh = SqliteStore::open(&folder.path().join("fresh.db"), Incarnation::from_bits(1)).unwrap();
    let hydrated = copies.hydrate(&fresh).await.unwrap();
    assert!(hydrated.skipped.is_empty(), "{:?}", hydrated.skipped);
    assert_eq!(written_anew(&fresh, SESSIONS).await, written);
    assert!(copies.works_are_right(&fresh).await.unwrap(), "{works:?} {:?}", fresh.whole_works().await);
    for n in 0..SESSIONS {
        let (was, is) =
            (twins.sqlite.session(session_id(n)).await.unwrap(), fresh.session(session_id(n)).await.unwrap());
        assert_eq!(was.is_some(), is.is_some());
        if let Some(session) = is {
            assert_eq!((session.row.running, session.row.agent_state), (None, AgentState::Stopped));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_written_from_a_hydrated_log_is_what_it_was_hydrated_from(
        steps in vec(prop_oneof![4 => lively(), 1 => step()], 1..100),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(run(steps));
    }
}

#[tokio::test]
async fn a_copy_can_be_read_by_people() {
    let world = World::with_two_turns().await;
    let id = session_id(1);
    let meta = format!(
        r#"{{
  "format": 7,
  "id": "{id}",
  "agent": "guide",
  "cwd": "/w",
  "project": "/w",
  "name": "a name",
  "envHint": "",
  "agentSession": null,
  "titles": [],
  "imported": null,
  "metaContext": null,
  "from": null,
  "clicks": [],
  "currentIntent": "",
  "context": {{}},
  "createdAt": "1970-01-01T00:00:00.100Z",
  "activeAt": "1970-01-01T00:00:00.122Z",
  "lastObservedAt": null,
  "lastIdleAt": "1970-01-01T00:00:00.122Z",
  "deletedAt": null
}}
"#
    );
    let turn = |n: u8, prompt: &str| {
        format!(
            r#"{{"turn":{n},"interactionId":"00000000-0000-0000-0000-00000000000{n}","by":{{"type":"person"}},"prompt":"{prompt}","images":[],"resume":null,"items":[{{"type":"text","block":0,"text":"one two"}},{{"type":"text","block":1,"text":"three\n"}}],"blocks":[],"usage":null,"outcome":"completed","reason":null,"startedAt":"1970-01-01T00:00:00.1{n}0Z","endedAt":"1970-01-01T00:00:00.1{n}2Z"}}
"#
        )
    };
    let tree = world.tree();
    assert_eq!(tree[&format!("{id}/meta.json")], meta);
    assert_eq!(tree[&format!("{id}/transcript.jsonl")], turn(1, "first") + &turn(2, "second"));
}

/// As the first version wrote them, before agents did more than talk.
#[tokio::test]
async fn copies_of_the_first_format_come_back_in_the_newest() {
    let world = World::with_two_turns().await;
    let newest = world.tree();
    let id = session_id(1);
    let meta = newest[&format!("{id}/meta.json")].replace("\"format\": 7", "\"format\": 1");
    let since = "  \"agentSession\": null,\n  \"titles\": [],\n  \"imported\": null,\n  \"metaContext\": null,\n  \"from\": \
                 null,\n  \"clicks\": [],\n";
    assert!(meta.contains(since), "{meta}");
    let meta = meta.replace(since, "");
    let turn = |n: u8, prompt: &str| {
        format!(
            r#"{{"turn":{n},"interactionId":"00000000-0000-0000-0000-00000000000{n}","prompt":"{prompt}","blocks":["one two","three\n"],"outcome":"completed","reason":null,"startedAt":"1970-01-01T00:00:00.1{n}0Z","endedAt":"1970-01-01T00:00:00.1{n}2Z"}}
"#
        )
    };
    let write_first = || {
        fs::write(world.file(1, "meta.json"), &meta).unwrap();
        fs::write(world.file(1, "transcript.jsonl"), turn(1, "first") + &turn(2, "second")).unwrap();
    };
    write_first();
    let fresh = MemoryStore::new(Incarnation::from_bits(1));
    let hydrated = world.copies.hydrate(&fresh).await.unwrap();
    assert_eq!((hydrated.sessions, hydrated.skipped.len()), (1, 0));
    assert_eq!(written_anew(&fresh, 2).await, newest);
    // Beside the log that they were written from, too.
    for depth in [Depth::End, Depth::Whole] {
        write_first();
        assert_eq!(world.copies.update(&*world.store, id, depth).await.unwrap(), Touched::Yes);
        assert_eq!(world.tree(), newest);
    }
}

/// A turn that runs is in no file, and the session is as it was before it.
#[tokio::test]
async fn a_turn_that_runs_leaves_no_trace() {
    let world = World::with_two_turns().await;
    let before = world.tree();
    super::start_turn(&world.store, 1, 3, "runs").await;
    assert_eq!(world.update(1).await, Touched::No);
    assert_eq!(world.tree(), before);
}

/// Answers are as long as agents make them, and come back whole and in parts that a follower can take.
#[tokio::test]
async fn a_long_answer_comes_back_in_parts() {
    use model::{Command, Seq, SessionEvent};
    let world = World::new();
    super::begin(&world.store, 1).await;
    super::start_turn(&world.store, 1, 1, "long").await;
    let long = "\u{1f9f5}ä".repeat(100_000);
    act(&world.store, 1, Command::Agent(AgentReport::Text { block: 0, text: long.clone() }), 5).await;
    let stop = Stop { outcome: Outcome::Completed, reason: None };
    act(&world.store, 1, Command::Agent(AgentReport::Stopped(stop)), 6).await;
    world.update(1).await;

    let fresh = crate::MemoryStore::new(Incarnation::from_bits(1));
    world.copies.hydrate(&fresh).await.unwrap();
    let mut words = String::new();
    let mut after = Seq::START;
    loop {
        let page = crate::Log::read_session(&fresh, crate::conformance::session_id(1), after, 100).await.unwrap();
        let Some(last) = page.last() else { break };
        after = last.seq;
        for entry in page {
            if let SessionEvent::TextPart { text, .. } = entry.event {
                assert!(text.len() <= 64 << 10);
                words += &text;
            }
        }
    }
    assert!(words == long);
    assert_eq!(written_anew(&fresh, 2).await, world.tree());
}

#[tokio::test]
async fn sessions_come_back_in_the_order_in_which_they_began() {
    let world = World::new();
    for (n, when) in [(1, 30), (2, 10), (3, 20)] {
        act(&world.store, n, create(""), when).await;
        world.update(n).await;
    }
    let fresh = crate::MemoryStore::new(Incarnation::from_bits(1));
    assert_eq!(world.copies.hydrate(&fresh).await.unwrap().sessions, 3);
    let list = fresh.sessions(model::Shelf::All, None, 10).await.unwrap();
    assert!(list.iter().map(|row| row.created_at).eq([30, 20, 10].map(at)));
    let first = crate::Log::changed_since(&fresh, model::Position(0), 1).await.unwrap();
    assert_eq!(first.streams, [crate::conformance::stream(2)]);
}

/// What is too long for a line is beside the copy: a log that is filled from the copy refers to it, and it proves what it proved.
#[tokio::test]
async fn bodies_come_back_with_the_copy_that_names_them() {
    let world = World::new();
    begin(&world.store, 1).await;
    start_turn(&world.store, 1, 1, "serve it").await;
    let printed = format!("{}Listening on http://localhost:5173/\n", "compiling\n".repeat(5_000));
    let ended = ToolChange {
        kind: Some(ToolKind::Execute),
        status: Some(ToolStatus::Completed),
        content: Some(vec![ToolContent::Terminal {
            command: "npm start".to_owned(),
            output: printed.clone(),
            exit_code: Some(0),
        }]),
        ..ToolChange::default()
    };
    let mut draft = Draft::new(session_id(1), world.store.session(session_id(1)).await.unwrap()).cutting(BODY_BYTES);
    let stop = Stop { outcome: Outcome::Completed, reason: None };
    for report in [
        AgentReport::ToolStarted { tool: 1, call_id: "c".to_owned(), change: ToolChange::default() },
        AgentReport::ToolChanged { tool: 1, change: ended },
        AgentReport::Stopped(stop),
    ] {
        draft.apply(Command::Agent(report), at(120)).unwrap();
    }
    let body = NewBody::of(printed.into_bytes());
    assert_eq!(draft.bodies(), std::slice::from_ref(&body));
    let payloads = PayloadFolder::at(world.copies.path());
    payloads.put_bodies(session_id(1), draft.bodies().to_vec()).await.unwrap();
    world.store.append(batch([draft.take()])).await.unwrap();
    world.update(1).await;
    let line = fs::read_to_string(world.file(1, "transcript.jsonl")).unwrap();
    assert!(line.len() < 8_000 && line.contains(&body.hash.to_string()), "{line}");

    let hydrate = async || {
        let fresh = MemoryStore::new(Incarnation::from_bits(1));
        let hydrated = world.copies.hydrate(&fresh).await.unwrap();
        assert_eq!((hydrated.sessions, hydrated.skipped.len()), (1, 0));
        let session = fresh.session(session_id(1)).await.unwrap().unwrap();
        assert_eq!(fresh.bodies_size(session_id(1)).await.unwrap(), body.bytes.len() as u64);
        assert_eq!(written_anew(&fresh, 2).await[&format!("{}/transcript.jsonl", session_id(1))], line);
        format!("{:?}", session.context.facts).contains("5173")
    };
    assert!(hydrate().await);
    // Without it the copy is taken all the same.
    fs::remove_dir_all(world.file(1, "bodies")).unwrap();
    assert!(!hydrate().await);
}
