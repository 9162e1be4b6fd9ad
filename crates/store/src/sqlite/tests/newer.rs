//! A store that a newer version of the program wrote to: nothing of it is damage, and that version finds it as it left it.

use std::path::Path;

use model::{
    AgentReport, Command, EVENT_VERSION, Incarnation, Memory, Outcome, Position, Seq, Stop, StreamId, WorkEvent,
};
use rusqlite::Connection;

use crate::conformance::future::{FUTURE, NEWER, write_as};
use crate::conformance::{
    AnyStore, act, at, attached, batch, create, part_of_command, prompt, session_id, stream, work_id,
};
use crate::copies::Depth as CopyDepth;
use crate::outside::{Depth, Repair};
use crate::prelude::*;
use crate::sqlite::tests::outside::{check, export, scribble, told};
use crate::sqlite::tests::{folder, open_at};
use crate::{AppendError, Copies, Fence, FenceCause, OpenError, Part, ReadError, SqliteStore};

/// Two sessions with a turn each, closed.
async fn two_sessions(path: &Path) {
    let store: AnyStore = std::sync::Arc::new(open_at(path));
    for n in [1, 2] {
        act(&store, n, create("a session"), 1).await;
        act(&store, n, attached(&format!("their {n}"), Memory::New), 2).await;
        act(&store, n, prompt(u64::from(n), "first"), 3).await;
        let stop = Stop { outcome: Outcome::Completed, reason: None };
        act(&store, n, Command::Agent(AgentReport::Stopped(stop)), 4).await;
    }
    drop(store);
}

/// Everything in the store but what a start notes about itself.
fn everything(path: &Path) -> Vec<String> {
    let conn = Connection::open(path).unwrap();
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let names: Vec<String> =
        conn.prepare(tables).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut all = Vec::new();
    for name in names {
        let mut statement = conn.prepare(&format!("SELECT * FROM {name}")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let cells: Vec<_> = (0..columns).map(|n| row.get::<_, rusqlite::types::Value>(n).unwrap()).collect();
            all.push(format!("{name} {cells:?}"));
        }
    }
    all
}

fn fenced(result: Result<impl std::fmt::Debug, ReadError>) -> Fence {
    match result {
        Err(ReadError::Fenced(fence)) => fence,
        other => panic!("{other:?}"),
    }
}

async fn refused(store: &SqliteStore, n: u8) -> Fence {
    let session = store.session(session_id(n)).await.unwrap();
    let part = part_of_command(session_id(n), session, prompt(9, "go on"), at(20)).unwrap();
    match store.append(batch([part])).await {
        Err(AppendError::Fenced(fence)) => fence,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_session_is_read_up_to_what_is_newer_and_takes_no_more() {
    let (_folder, path) = folder();
    two_sessions(&path).await;
    let lines: Vec<&str> = FUTURE.lines().collect();
    write_as(&path, NEWER, stream(1), &lines);
    let before = everything(&path);

    let store = open_at(&path);
    let known = store.read_session(session_id(1), Seq::START, 1_000).await.unwrap();
    let fence = Fence::newer(stream(1), Seq(known.len() as u64 + 1));
    assert_eq!(fenced(store.read_session(session_id(1), known.last().unwrap().seq, 10).await), fence);
    assert_eq!(store.fence(session_id(1)), Some(fence.clone()));
    assert_eq!(refused(&store, 1).await, fence);
    assert!(fence.to_string().contains("newer version"), "{fence}");
    // Everybody else goes on, whoever follows all of it too.
    let all = store.read_all(Position(0), 1_000).await.unwrap();
    assert_eq!(all.iter().filter(|placed| placed.stream == stream(1)).count(), known.len());
    assert_eq!(store.sessions(model::Shelf::All, None, 10).await.unwrap().len(), 2);
    store.close().await;
    assert_eq!(everything(&path), before, "it is as the newer version left it");

    let store: AnyStore = std::sync::Arc::new(open_at(&path));
    act(&store, 2, prompt(5, "and here"), 30).await;
    assert!(store.fence(session_id(2)).is_none());
    drop(store);
    let version: i64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT value FROM meta WHERE key = 'event_version'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(version, i64::from(NEWER));
}

/// The version is one that is known: only reading it shows that it is newer.
#[tokio::test]
async fn an_unknown_kind_is_newer_whatever_its_version() {
    let (_folder, path) = folder();
    two_sessions(&path).await;
    write_as(&path, EVENT_VERSION, stream(1), &FUTURE.lines().take(1).collect::<Vec<_>>());
    let before = everything(&path);
    let store = open_at(&path);
    assert!(fenced(read_to_the_end(&store, 1).await).is_newer());
    assert!(refused(&store, 1).await.is_newer());
    store.close().await;
    assert_eq!(everything(&path), before);
    // What is no event at all is damage, as ever.
    write_as(&path, EVENT_VERSION, stream(2), &["{}"]);
    let store = open_at(&path);
    assert!(matches!(fenced(read_to_the_end(&store, 2).await).cause, FenceCause::Damaged(_)));
    store.close().await;
}

async fn read_to_the_end(store: &SqliteStore, n: u8) -> Result<(), ReadError> {
    let mut after = Seq::START;
    while let Some(last) = store.read_session(session_id(n), after, 3).await?.last() {
        after = last.seq;
    }
    Ok(())
}

#[tokio::test]
async fn the_works_are_read_up_to_what_is_newer() {
    let (_folder, path) = folder();
    two_sessions(&path).await;
    write_as(&path, NEWER, StreamId::Work, &FUTURE.lines().take(1).collect::<Vec<_>>());
    let store = open_at(&path);
    assert!(fenced(store.read(StreamId::Work, Seq::START, 10).await).is_newer());
    let part = Part::of_works(Seq(1), vec![WorkEvent::WorkDeleted { work: work_id(1) }], at(3));
    let refused = store.append(batch([part])).await;
    assert!(matches!(&refused, Err(AppendError::Fenced(fence)) if fence.is_newer()), "{refused:?}");
    store.close().await;
}

/// It may be a token that was revoked.
#[tokio::test]
async fn what_is_newer_on_the_servers_stream_keeps_the_store_closed() {
    let (_folder, path) = folder();
    two_sessions(&path).await;
    write_as(&path, NEWER, StreamId::Server, &FUTURE.lines().take(1).collect::<Vec<_>>());
    let before = everything(&path);
    let refused = SqliteStore::open(&path, Incarnation::from_bits(1)).err().unwrap();
    assert!(matches!(refused, OpenError::Newer { what: "event", .. }), "{refused:?}");
    assert_eq!(everything(&path), before);
}

#[tokio::test]
async fn doctor_tells_it_from_damage_and_changes_nothing() {
    let (_folder, path) = folder();
    two_sessions(&path).await;
    write_as(&path, NEWER, stream(1), &FUTURE.lines().take(2).collect::<Vec<_>>());
    let before = everything(&path);
    let report = check(&path, Depth::All);
    assert_eq!(told(&report).len(), 1, "{report:?}");
    assert!(told(&report)[0].starts_with("Newer session 1 at "), "{report:?}");
    assert!(!report.is_damaged());
    let refused = Repair::begin(&path).unwrap().rebuild(&mut |_| ()).unwrap_err();
    assert!(refused.to_string().contains("newer version"), "{refused}");
    assert_eq!(everything(&path), before);
}

/// An export has it as it was written, so that the newer version takes it back whole.
#[tokio::test]
async fn an_export_has_what_is_newer() {
    let (_folder, path) = folder();
    two_sessions(&path).await;
    write_as(&path, NEWER, stream(1), &FUTURE.lines().collect::<Vec<_>>());
    let (lines, exported) = export(&path);
    for line in FUTURE.lines().take(2) {
        assert!(lines.contains(&format!(r#""version":{NEWER},{}"#, &line[1..])), "{lines}");
    }
    // The third has no place in a line, and that is counted.
    assert_eq!((exported.damaged, exported.unreadable), (0, 1));
}

#[tokio::test]
async fn copies_leave_such_a_session_alone() {
    let (folder, path) = folder();
    two_sessions(&path).await;
    let copies = Copies::at(folder.path().join("sessions"));
    let store = open_at(&path);
    for n in [1, 2] {
        copies.update(&store, session_id(n), CopyDepth::End).await.unwrap();
    }
    store.close().await;
    let name = |n| copies.path().join(session_id(n).to_string()).join("meta.json");
    let before = std::fs::read(name(1)).unwrap();
    write_as(&path, NEWER, stream(1), &FUTURE.lines().take(1).collect::<Vec<_>>());
    let store: AnyStore = std::sync::Arc::new(open_at(&path));
    let refused = copies.update(&*store, session_id(1), CopyDepth::End).await.unwrap_err();
    assert!(refused.to_string().contains("newer version"), "{refused}");
    assert_eq!(std::fs::read(name(1)).unwrap(), before);
    act(&store, 2, prompt(5, "and here"), 30).await;
    copies.update(&*store, session_id(2), CopyDepth::End).await.unwrap();
    act(&store, 3, create("new"), 31).await;
}

/// What is damaged beside it is made anew; its own rows are the newer version's.
#[tokio::test]
async fn mending_others_leaves_its_rows_alone() {
    let (_folder, path) = folder();
    two_sessions(&path).await;
    write_as(&path, NEWER, stream(1), &FUTURE.lines().collect::<Vec<_>>());
    // The newer version's own: nothing in what this version can read says so.
    let own = |path: &Path| {
        let conn = Connection::open(path).unwrap();
        conn.query_row("SELECT turns FROM sessions WHERE id = ?1", [session_id(1).as_bytes()], |row| {
            row.get::<_, i64>(0)
        })
        .unwrap()
    };
    let columns = crate::sqlite::checksums::SESSIONS.columns();
    scribble(&path, &format!("UPDATE sessions SET turns = 40; UPDATE sessions SET checksum = row_sum({columns})"));
    scribble(&path, &format!("UPDATE sessions SET turns = 50 WHERE id = X'{}'", "02".repeat(16)));
    let store = open_at(&path);
    assert_eq!(store.session(session_id(2)).await.unwrap().unwrap().row.turns, model::Turn(1));
    assert_eq!(own(&path), 40);
    assert!(store.fence(session_id(1)).unwrap().is_newer());
    store.close().await;
    assert!(!check(&path, Depth::All).is_damaged());
}
