//! What it costs to find what changed in a session's files.

use engine::Since;
use model::{
    Command, Fact, FactShape, NewSession, Part, Seq, SessionEvent, SessionId, Timestamp, ToolChange, ToolKind, Turn,
    decide,
};
use store::Batch;
use store::conformance::faulty::{Met, StoreCall};
use store::prelude::*;

use crate::support::World;

/// A session with so many results, each of which created a file; only the call of the newest stands in the log.
async fn write_session(world: &World, results: u64) -> SessionId {
    let id = SessionId::from_bytes([7; 16]);
    let place = world.cwd.clone();
    let new = NewSession { agent: "guide".to_owned(), cwd: place.clone(), project: place, ..NewSession::default() };
    let mut events = decide(None, Command::Create(new)).unwrap();
    for tool in 0..results {
        let (turn, entry, path) = (Turn(1), Seq(events.len() as u64), format!("{}/{tool}", world.cwd));
        let tool = u32::try_from(tool).unwrap();
        if u64::from(tool) + 1 == results {
            let change = ToolChange { kind: Some(ToolKind::Edit), ..ToolChange::default() };
            events.push(SessionEvent::ToolStarted { turn, tool, call_id: "newest".to_owned(), change });
        }
        let (name, shape, rule) = ("filesCreated".to_owned(), FactShape::List, "test".to_owned());
        let facts = vec![Fact { name, shape, value: path, rule, exit_code: None, file: None }];
        events.push(SessionEvent::FactProved { turn, tool, entry: entry.next(), facts });
    }
    let (part, _) = Part::of_session(id, Seq::START, None, events, Timestamp::from_millis(0));
    world.store.append(Batch { parts: vec![part], ..Batch::default() }).await.unwrap();
    id
}

/// What is asked of the store for the diff of the file that the newest result created.
async fn asked_for(results: u64) -> [Met; 2] {
    let world = World::new().await;
    let session = write_session(&world, results).await;
    let newest = format!("{}/{}", world.cwd, results - 1);
    std::fs::write(&newest, "new").unwrap();
    let asked = || [StoreCall::ContextEntries, StoreCall::Read].map(|call| world.disk.met(call));
    let before = asked();
    let diff = world.engine.file_diff(session, newest, Since::Session, 0).await.unwrap();
    assert_eq!(diff.file.turns, [Turn(1)]);
    let after = asked();
    [0, 1].map(|n| Met { calls: after[n].calls - before[n].calls, given: after[n].given - before[n].given })
}

#[tokio::test]
async fn the_edits_of_a_longer_session_cost_no_more() {
    let [context, entries] = asked_for(3_000).await;
    assert_eq!(asked_for(6_000).await, [context, entries]);
    // The newest 2,000, in pages, and whether there is one more.
    assert_eq!(context, Met { calls: 5, given: 2_001 });
    assert!(entries.calls < 10, "{entries:?}");
}

#[tokio::test]
async fn of_very_many_edits_the_oldest_are_left_out_and_that_is_said() {
    let world = World::new().await;
    let session = write_session(&world, 2_001).await;
    assert!(world.engine.changes(session, Since::Session).await.unwrap().earlier_left_out);
    let world = World::new().await;
    let session = write_session(&world, 2_000).await;
    let changes = world.engine.changes(session, Since::Session).await.unwrap();
    assert!(!changes.earlier_left_out);
}
