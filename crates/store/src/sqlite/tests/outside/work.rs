//! Offers and pieces of work from outside: what a check finds, what a rebuild mends, what goes out and comes back, and
//! that damage to them is nobody else's.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use model::{AgentReport, Command, NextId, Position, Seq, StreamId, Turn, WorkEvent};
use rusqlite::Connection;

use crate::conformance::{AnyStore, act, at, batch, click, next_step, note, offers, prompt, session_id, work_id};
use crate::outside::{Depth, Repair};
use crate::prelude::*;
use crate::sqlite::tests::outside::rebuild::tables;
use crate::sqlite::tests::outside::{backup, check, export, log_of, restore_from, scribble, told, write_sample};
use crate::sqlite::tests::{folder, open_at};
use crate::{AppendError, Head, Part, ReadError};

const WORK: &str = "06060606-0606-0606-0606-060606060606";

/// After the sample: the first session's agent offers two steps, one of which is taken; its work is renamed.
pub(in crate::sqlite::tests) async fn write_work(path: &Path) {
    write_sample(path).await;
    let store: AnyStore = Arc::new(open_at(path));
    note(&store, 1, offers(2, 1, next_step("weave", Some("loom"))), 20).await;
    note(&store, 1, offers(2, 2, next_step("think", None)), 21).await;
    let clicked = click(&*store, 1, NextId { turn: Turn(2), nth: 1 }, 6, 22).await.unwrap();
    store.append(clicked).await.unwrap();
    tell(&store, renamed("warp"), Seq(2)).await.unwrap();
}

fn renamed(name: &str) -> WorkEvent {
    WorkEvent::WorkRenamed { work: work_id(6), project: "/w".to_owned(), name: name.to_owned() }
}

async fn tell(store: &AnyStore, event: WorkEvent, after: Seq) -> Result<Position, AppendError> {
    store.append(batch([Part::of_works(after, vec![event], at(23))])).await
}

#[tokio::test]
async fn rows_that_are_not_what_the_log_says_are_found_and_mended() {
    let block = |what: &str| format!("Row session 1: the row of next block {what}");
    let work = |what: &str| format!("Row work: the row of meta-context {WORK} {what}");
    let name = |what: &str| format!("Row work: the name {what}");
    for (sql, expected) in [
        ("", vec![]),
        ("UPDATE next_blocks SET label = 'x' WHERE nth = 1", vec![block("t2.n1 is not what the log says")]),
        ("UPDATE next_blocks SET command = 'rm'", vec![block("t2.n1 is not what the log says")]),
        ("UPDATE next_blocks SET meta_context = 'x' WHERE nth = 2", vec![block("t2.n2 is not what the log says")]),
        ("UPDATE next_blocks SET clicked_work = NULL", vec![block("t2.n1 is not what the log says")]),
        (
            "UPDATE next_blocks SET clicked_session = zeroblob(16) WHERE nth = 1",
            vec![block("t2.n1 is not what the log says")],
        ),
        (
            "UPDATE next_blocks SET clicked_work = zeroblob(3) WHERE nth = 1",
            vec!["Row session 1: rows of next blocks cannot be read".to_owned()],
        ),
        ("DELETE FROM next_blocks WHERE nth = 2", vec![block("t2.n2 is missing")]),
        (
            "INSERT INTO next_blocks SELECT session, 9, nth, '', '', NULL, 0, NULL, NULL, NULL, NULL FROM next_blocks WHERE nth = 2",
            vec![block("t9.n2 tells of what is not in the log")],
        ),
        (
            "INSERT INTO next_blocks SELECT zeroblob(16), 1, 1, '', '', NULL, 0, NULL, NULL, NULL, NULL",
            vec!["Stray session 0: rows of next blocks without a session in the log".to_owned()],
        ),
        (
            "INSERT INTO next_blocks SELECT x'03030303030303030303030303030303', 1, 1, '', '', NULL, 0, NULL, NULL, NULL, NULL",
            vec!["Stray session 3: it was purged, but not rows of next blocks".to_owned()],
        ),
        ("UPDATE works SET name = 'x'", vec![work("is not what the log says")]),
        ("UPDATE works SET added_at = 0", vec![work("is not what the log says")]),
        ("UPDATE works SET project = '/x'", vec![work("is not what the log says")]),
        ("DELETE FROM works", vec![work("is missing")]),
        (
            "INSERT INTO works VALUES (zeroblob(16), '/w', 'x', 0, 0, 0)",
            vec![
                "Row work: the row of meta-context 00000000-0000-0000-0000-000000000000 tells of what is not in the log"
                    .to_owned(),
            ],
        ),
        ("UPDATE works SET id = zeroblob(3)", vec!["Row work: rows of meta-contexts cannot be read".to_owned()]),
        (
            "UPDATE work_names SET work = zeroblob(16) WHERE name = 'loom'",
            vec![name("\"loom\" of a meta-context is not what the log says")],
        ),
        ("DELETE FROM work_names WHERE name = 'loom'", vec![name("\"loom\" of a meta-context is missing")]),
        (
            "INSERT INTO work_names VALUES ('/w', 'x', zeroblob(16), 0)",
            vec![name("\"x\" of a meta-context tells of what is not in the log")],
        ),
        (
            "UPDATE sessions SET work = NULL",
            vec!["Row session 6: the session's row is not what the log says".to_owned()],
        ),
        (
            "UPDATE sessions SET origin = NULL",
            vec!["Row session 6: the session's row is not what the log says".to_owned()],
        ),
        (
            "UPDATE sessions SET options = '7' WHERE work IS NOT NULL",
            vec!["Row session 6: the session's row cannot be read".to_owned()],
        ),
    ] {
        let (_folder, path) = folder();
        write_work(&path).await;
        let before = tables(&path);
        scribble(&path, sql);
        assert_eq!(told(&check(&path, Depth::All)), expected, "{sql}");
        Repair::begin(&path).unwrap().rebuild(&mut |_| ()).unwrap();
        assert_eq!(tables(&path), before, "{sql}");
        assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new(), "{sql}");
    }
}

/// Rows that no stream speaks for.
#[tokio::test]
async fn works_that_the_log_knows_nothing_of_are_strays() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    for (sql, rows) in [
        ("INSERT INTO works VALUES (zeroblob(16), '/w', 'x', 0, 0, 0)", "rows of meta-contexts"),
        ("INSERT INTO work_names VALUES ('/w', 'x', zeroblob(16), 0)", "names of meta-contexts"),
    ] {
        scribble(&path, sql);
        let expected = [format!("Stray work: {rows} that are not in the log")];
        assert_eq!(told(&check(&path, Depth::All)), expected, "{sql}");
        Repair::begin(&path).unwrap().rebuild(&mut |_| ()).unwrap();
        assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new(), "{sql}");
    }
}

#[tokio::test]
async fn works_go_out_and_come_back() {
    let (folder, path) = folder();
    write_work(&path).await;
    let (lines, exported) = export(&path);
    assert_eq!(lines.matches(r#"{"stream":"work","#).count(), 3);
    let file = folder.path().join("export.jsonl");
    fs::write(&file, &lines).unwrap();
    let kept = folder.path().join("backup");
    backup(&path, &kept).unwrap();
    let store = open_at(&path);
    let (log, works) = (log_of(&store).await, store.whole_works().await.unwrap());
    assert_eq!((works.len(), works[0].names.clone()), (1, vec!["loom".to_owned(), "warp".to_owned()]));
    for (from, name) in [(&kept, "of-backup.db"), (&file, "of-export.db")] {
        let new = folder.path().join(name);
        assert_eq!(restore_from(from, &new).unwrap().entries, exported.entries);
        assert_eq!(told(&check(&new, Depth::All)), Vec::<String>::new(), "{name}");
        let restored = open_at(&new);
        let entries = |log: &[crate::PlacedEntry]| {
            log.iter().map(|placed| (placed.stream, placed.entry.clone())).collect::<Vec<_>>()
        };
        assert_eq!(entries(&log_of(&restored).await), entries(&log), "{name}");
        assert_eq!(restored.whole_works().await.unwrap(), works, "{name}");
        let offers = restored.next_blocks(session_id(1), None, 10).await.unwrap();
        assert_eq!(offers, store.next_blocks(session_id(1), None, 10).await.unwrap(), "{name}");
    }
}

/// It is told and fenced off; sessions, their offers and followers of the whole log go on, also after a restart.
#[tokio::test]
async fn a_damaged_work_stream_keeps_nobody_from_the_rest() {
    let (folder, path) = folder();
    write_work(&path).await;
    let whole = log_of(&open_at(&path)).await;
    scribble(
        &path,
        "UPDATE entries SET at = 0 WHERE seq = 2 AND stream = (SELECT id FROM streams WHERE name = 'work')",
    );
    let unfenced = "Entry work at 2: its checksum does not match";
    assert_eq!(told(&check(&path, Depth::All)), [unfenced]);
    for _life in 0..2 {
        let store: AnyStore = Arc::new(open_at(&path));
        let rest = log_of(&*store).await;
        let left_out = whole.iter().filter(|placed| !rest.contains(placed)).map(|placed| placed.entry.seq);
        assert_eq!(left_out.collect::<Vec<_>>(), [Seq(2), Seq(3)]);
        assert_eq!(store.head(StreamId::Work).await.unwrap(), Head::At(Seq(1)));
        assert_eq!(store.read(StreamId::Work, Seq::START, 10).await.unwrap().len(), 1);
        let refused = store.read(StreamId::Work, Seq(1), 10).await;
        assert!(matches!(&refused, Err(ReadError::Fenced(damage)) if damage.seq == Seq(2)), "{refused:?}");
        for after in [1, 3] {
            let refused = tell(&store, renamed("weft"), Seq(after)).await;
            assert!(matches!(&refused, Err(AppendError::Fenced(_))), "{refused:?}");
        }
        // A click is one batch: what cannot be written whole is not written at all.
        act(&store, 2, Command::Agent(AgentReport::Ready { attached: None }), 30).await;
        let begun = store.session(session_id(2)).await.unwrap().unwrap();
        if begun.row.running.is_none() {
            act(&store, 2, prompt(50, "go"), 31).await;
            note(&store, 2, offers(1, 1, next_step("weave", Some("warp"))), 32).await;
        }
        let clicked = click(&*store, 2, NextId { turn: Turn(1), nth: 1 }, 7, 33).await.unwrap();
        let refused = store.append(clicked).await;
        assert!(matches!(&refused, Err(AppendError::Fenced(_))), "{refused:?}");
        assert_eq!(store.session(session_id(7)).await.unwrap(), None);
        // What the tables know of the works is still told.
        assert_eq!(store.works(None, 10).await.unwrap()[0].name, "warp");
        assert_eq!(store.work_sessions(work_id(6)).await.unwrap().len(), 1);
    }
    let fenced = "Entry work at 2: its checksum does not match (fenced)";
    assert_eq!(told(&check(&path, Depth::All)), [fenced]);
    // It is exported up to there, and comes back fenced.
    let file = folder.path().join("export.jsonl");
    fs::write(&file, export(&path).0).unwrap();
    let new = folder.path().join("new.db");
    assert_eq!(restore_from(&file, &new).unwrap().damaged, 1);
    assert_eq!(told(&check(&new, Depth::All)), [fenced]);
    // A rebuild folds what can be relied on.
    Repair::begin(&path).unwrap().rebuild(&mut |_| ()).unwrap();
    assert_eq!(told(&check(&path, Depth::All)), [fenced]);
    assert_eq!(open_at(&path).work(work_id(6)).await.unwrap().unwrap().name, "loom");
    // The damage goes, and the fence with it.
    let conn = Connection::open(&path).unwrap();
    conn.execute(
        "UPDATE entries SET at = 22 WHERE seq = 2 AND stream = (SELECT id FROM streams WHERE name = 'work')",
        [],
    )
    .unwrap();
    drop(conn);
    let report = check(&path, Depth::All);
    let fences = Repair::begin(&path).unwrap().settle_fences(&report).unwrap();
    assert_eq!((fences.set, fences.lifted), (vec![], vec![StreamId::Work]));
    Repair::begin(&path).unwrap().rebuild(&mut |_| ()).unwrap();
    assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new());
    assert_eq!(open_at(&path).work(work_id(6)).await.unwrap().unwrap().name, "warp");
}
