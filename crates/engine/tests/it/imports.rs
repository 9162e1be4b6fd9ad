//! Conversations of another tool are brought in several at a time, and each is told by itself.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use engine::ImportProgress;
use model::{AgentState, Attached, Memory, Seq, Session, SessionEvent, SessionId, Timestamp};
use serde_json::json;
use store::conformance::faulty::StoreCall;
use store::prelude::*;
use store::{Batch, Part, Room};

use crate::support::World;

const CONVERSATIONS: usize = 5;

fn transcript(world: &World, number: usize) -> PathBuf {
    world.directory.path().join(format!(".claude/projects/-lab/00000000-0000-4000-8000-{number:012x}.jsonl"))
}

/// A session here whose agent has the conversation of that number.
async fn host(world: &World, number: usize) {
    write_host(world, number, Vec::new()).await;
}

/// The same, and another agent has the session since.
async fn hand_over(world: &World, number: usize) {
    let agent = Some("codex".to_owned());
    let changed = SessionEvent::SessionChanged {
        name: None,
        env_hint: None,
        agent,
        cwd: None,
        intent: None,
        filing: model::Filing::default(),
    };
    let attached = SessionEvent::AgentStateChanged {
        state: AgentState::Ready,
        reason: None,
        attached: Some(Attached { agent_session: "another".to_owned(), memory: Memory::New, program: None }),
        methods: Vec::new(),
        remind: false,
    };
    write_host(world, number, vec![changed, attached]).await;
}

async fn write_host(world: &World, number: usize, then: Vec<SessionEvent>) {
    let id = SessionId::from_bytes([9; 16]);
    let created = SessionEvent::SessionCreated {
        agent: "claude".to_owned(),
        cwd: "/lab".to_owned(),
        project: "/lab".to_owned(),
        name: "hosted".to_owned(),
        work: None,
        from: None,
        options: std::collections::BTreeMap::new(),
    };
    let agent_session = transcript(world, number).file_stem().unwrap().to_str().unwrap().to_owned();
    let attached = SessionEvent::AgentStateChanged {
        state: AgentState::Ready,
        reason: None,
        attached: Some(Attached { agent_session, memory: Memory::New, program: None }),
        methods: Vec::new(),
        remind: false,
    };
    let events = [created, attached].into_iter().chain(then).collect();
    let (part, _) = Part::of_session(id, Seq::START, None, events, Timestamp::from_millis(1));
    world.store.append(Batch { parts: vec![part], receipt: None, room: Room::Ordinary }).await.unwrap();
}

/// Each conversation goes on by a turn.
fn go_on(world: &World, turn: usize) {
    for number in 0..CONVERSATIONS {
        let path = transcript(world, number);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = File::options().create(true).append(true).open(&path).unwrap();
        let answer = json!({
            "id": format!("msg_{turn}"), "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
            "content": [{ "type": "text", "text": "By the lake." }], "usage": { "input_tokens": 1, "output_tokens": 1 },
        });
        let asked = json!({ "role": "user", "content": format!("conversation {number} turn {turn}") });
        for (kind, message) in [("user", asked), ("assistant", answer)] {
            let record = json!({
                "parentUuid": null, "isSidechain": false, "type": kind, "message": message,
                "uuid": format!("{kind}{turn}"), "timestamp": format!("2026-01-01T00:00:{turn:02}.000Z"), "cwd": "/lab",
                "sessionId": path.file_stem().unwrap().to_str().unwrap(), "version": "2.1.312",
            });
            writeln!(file, "{record}").unwrap();
        }
    }
}

async fn import(world: &World) -> ImportProgress {
    world.engine.import(None, false).unwrap();
    until(world, |progress| !progress.running).await
}

/// Looks again and again: nobody is told of an import's progress.
async fn until(world: &World, is_so: impl Fn(&ImportProgress) -> bool) -> ImportProgress {
    loop {
        let progress = world.engine.import_progress();
        if is_so(&progress) {
            return progress;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn sessions(world: &World) -> Vec<Session> {
    let mut sessions = Vec::new();
    for row in world.store.sessions(model::Shelf::All, None, 100).await.unwrap() {
        sessions.push(world.store.session(row.id).await.unwrap().unwrap());
    }
    sessions.sort_by_key(|session| session.row.first_prompt.clone());
    sessions
}

fn turns(sessions: &[Session]) -> Vec<u32> {
    sessions.iter().map(|session| session.row.turns.0).collect()
}

/// An agent that is hosted here writes its record all the time: whether it is, is asked once.
#[tokio::test(start_paused = true)]
async fn a_hosted_conversation_is_asked_about_once() {
    let world = World::new().await;
    host(&world, 0).await;
    go_on(&world, 1);
    world.engine.import(None, true).unwrap();
    until(&world, |progress| progress.done >= CONVERSATIONS).await;
    let asked = world.disk.met(StoreCall::Attached).calls;
    for turn in 2..4 {
        go_on(&world, turn);
        until(&world, |progress| progress.done >= turn * CONVERSATIONS).await;
    }
    assert_eq!(world.disk.met(StoreCall::Attached).calls, asked);
    let progress = world.engine.import_progress();
    assert_eq!((progress.added, progress.failed), (CONVERSATIONS - 1, 0), "{progress:?}");
}

/// A session that was handed over is still the one that had the conversation.
#[tokio::test]
async fn a_conversation_of_a_session_that_was_handed_over_is_not_brought_in_again() {
    let world = World::new().await;
    hand_over(&world, 0).await;
    go_on(&world, 1);
    for added in [CONVERSATIONS - 1, 0] {
        let progress = import(&world).await;
        assert_eq!((progress.added, progress.failed), (added, 0), "{progress:?}");
    }
    let all = sessions(&world).await;
    assert_eq!(all.len(), CONVERSATIONS);
    assert!(all.iter().all(|session| !session.row.first_prompt.starts_with("conversation 0")), "{all:?}");
}

#[tokio::test]
async fn one_whose_stream_moved_meanwhile_takes_no_other_with_it() {
    const MOVED: usize = 2;
    let world = World::new().await;
    go_on(&world, 1);
    assert_eq!(import(&world).await.added, CONVERSATIONS);
    let before = sessions(&world).await;

    go_on(&world, 2);
    let moved = before[MOVED].clone();
    let (id, head) = (moved.row.id, moved.head);
    let observed = vec![SessionEvent::SessionObserved {}];
    let (part, _) = Part::of_session(id, head, Some(moved), observed, Timestamp::from_millis(1));
    let another = Batch { parts: vec![part], receipt: None, room: Room::Ordinary };
    world.disk.when(StoreCall::Append).that(|batch| batch.parts.len() > 1).overtake(another);
    let progress = import(&world).await;
    assert!(world.disk.is_spent(), "several are written at once");
    assert_eq!((progress.updated, progress.failed, progress.turns), (CONVERSATIONS - 1, 1, 4), "{progress:?}");
    let path = transcript(&world, MOVED);
    assert!(progress.failures[0].starts_with(path.to_str().unwrap()), "{progress:?}");
    assert_eq!(turns(&sessions(&world).await), [2, 2, 1, 2, 2]);

    // Nothing is taken twice, and what was refused comes in when it is read again.
    let progress = import(&world).await;
    assert_eq!((progress.updated, progress.unchanged, progress.failed), (1, CONVERSATIONS - 1, 0), "{progress:?}");
    let after = sessions(&world).await;
    assert_eq!(turns(&after), [2; CONVERSATIONS]);
    for session in &after {
        let entries = world.store.read_session(session.row.id, Seq::START, 1_000).await.unwrap();
        let prompts = entries.iter().filter(|entry| matches!(entry.event, SessionEvent::PromptSent { .. })).count();
        assert_eq!(prompts, 2, "{}", session.row.first_prompt);
    }
}

#[tokio::test]
async fn on_a_full_disk_each_conversation_is_told_and_comes_in_later() {
    let world = World::new().await;
    go_on(&world, 1);
    world.fill_disk();
    let progress = import(&world).await;
    assert_eq!((progress.added, progress.failed, progress.done), (0, CONVERSATIONS, CONVERSATIONS), "{progress:?}");
    assert_eq!(progress.failures.len(), CONVERSATIONS);
    world.disk.mend().await;
    let progress = import(&world).await;
    assert_eq!((progress.added, progress.failed), (CONVERSATIONS, 0), "{progress:?}");
}
