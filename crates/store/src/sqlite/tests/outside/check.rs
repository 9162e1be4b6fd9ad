//! What a check finds, and what it leaves alone.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::{AgentReport, Command, Memory};

use crate::OpenError;
use crate::conformance::{
    AnyStore, act, attached, batch, create, pictures, prompt, prompt_with, question, stream, text_part,
};
use crate::outside::{Depth, Repair, StoreFile};
use crate::prelude::*;
use crate::sqlite::tests::outside::{backup, check, contents, export, scribble, scribble_fence, told, write_sample};
use crate::sqlite::tests::{folder, open_at};

#[tokio::test]
async fn each_kind_of_damage_is_found_and_named() {
    let mismatch = "its checksum does not match";
    for (sql, expected) in [
        ("", vec![]),
        // The log.
        (
            "UPDATE entries SET event = CAST(replace(event, 'marked', 'MARKED') AS BLOB) WHERE stream = 1 AND seq = 5",
            vec![format!("Entry session 1 at 5: {mismatch}")],
        ),
        ("UPDATE entries SET at = at + 1 WHERE stream = 2", vec![format!("Entry session 2 at 1: {mismatch}")]),
        ("DELETE FROM entries WHERE stream = 1 AND seq = 3", vec!["Entry session 1 at 3: the entry is missing".into()]),
        ("DELETE FROM entries WHERE stream = 1 AND seq > 8", vec!["Entry session 1 at 9: the entry is missing".into()]),
        ("DELETE FROM entries WHERE stream = 2", vec!["Entry session 2 at 1: the entry is missing".into()]),
        (
            "UPDATE entries SET version = -1 WHERE stream = 2",
            vec!["Entry session 2 at 1: its version is no version".into()],
        ),
        (
            "UPDATE streams SET damaged_seq = 1, damage = 'it was' WHERE id = 2;
             UPDATE entries SET at = 0 WHERE stream = 2",
            vec![format!("Entry session 2 at 1: {mismatch} (fenced)")],
        ),
        // A lost tail of which only the fence still knows.
        (
            "UPDATE streams SET damaged_seq = 3, damage = 'the entry is missing' WHERE id = 2",
            vec!["Entry session 2 at 3: the entry is missing (fenced)".into()],
        ),
        (
            "UPDATE streams SET damaged_seq = 1, damage = 'it was' WHERE id = 2",
            vec!["Fence session 2 at 1: it is fenced off, and all of it is there (fenced)".into()],
        ),
        // The rows.
        (
            "UPDATE sessions SET name = 'other' WHERE name = 'one'",
            vec!["Row session 1: the session's row is not what the log says".into()],
        ),
        ("DELETE FROM sessions WHERE name = 'one'", vec!["Row session 1: the session's row is missing".into()]),
        (
            "UPDATE sessions SET agent_state = 'dreaming' WHERE name = 'one'",
            vec!["Row session 1: the session's row cannot be read".into()],
        ),
        (
            "UPDATE turns SET prompt_line = '' WHERE turn = 1; DELETE FROM turns WHERE turn = 2",
            vec!["Row session 1: the row of turn t1 is not what the log says".into()],
        ),
        ("DELETE FROM turns WHERE turn = 2", vec!["Row session 1: the row of turn t2 is missing".into()]),
        (
            "INSERT INTO turns SELECT session, 7, interaction, '', NULL, NULL, 0, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM turns WHERE turn = 1",
            vec!["Row session 1: the row of turn t7 tells of what is not in the log".into()],
        ),
        (
            "UPDATE prompts SET text = ''",
            vec![
                "Row session 1: the row of the waiting prompt 00000000-0000-0000-0000-000000000003 is not what the log \
                 says"
                    .into(),
            ],
        ),
        (
            "DELETE FROM tokens",
            vec!["Row server: the row of token 01010101-0101-0101-0101-010101010101 is missing".into()],
        ),
        // What belongs to nothing.
        (
            "INSERT INTO entries VALUES (99, 77, 1, 0, 1, 0, CAST('{}' AS BLOB))",
            vec!["Stray: entries of no stream (number 77)".into()],
        ),
        (
            "INSERT INTO entries VALUES (99, 3, 1, 0, 1, 0, CAST('{}' AS BLOB))",
            vec!["Stray session 3: it was purged, and entries of it are left".into()],
        ),
        // Entries of a purged stream that are still being removed.
        (
            "INSERT INTO entries VALUES (99, 3, 1, 0, 1, 0, CAST('{}' AS BLOB));
             UPDATE streams SET sweeping = 1, checksum = row_sum(id, name, purged_at, 1) WHERE id = 3",
            vec![],
        ),
        (
            "UPDATE prompts SET session = zeroblob(16)",
            vec![
                "Row session 1: the row of the waiting prompt 00000000-0000-0000-0000-000000000003 is missing".into(),
                "Stray session 0: rows of waiting prompts without a session in the log".into(),
            ],
        ),
        (
            "INSERT INTO prompts (session, interaction, queued_seq, queued_at, text)
             VALUES (x'03030303030303030303030303030303', x'00', 1, 0, '')",
            vec!["Stray session 3: it was purged, but not rows of waiting prompts".into()],
        ),
        (
            "INSERT INTO turns SELECT zeroblob(3), turn, interaction, '', NULL, NULL, 0, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM turns",
            vec!["Stray: rows of turns with an id that is none".into()],
        ),
        (
            "DELETE FROM entries WHERE stream = 4; DELETE FROM streams WHERE id = 4",
            vec!["Stray server: rows of tokens that are not in the log".into()],
        ),
        (
            "UPDATE streams SET name = 'dreams' WHERE id = 4",
            vec![
                "Stray: \"dreams\" is no stream that this program knows".into(),
                "Stray server: rows of tokens that are not in the log".into(),
            ],
        ),
    ] {
        let (_folder, path) = folder();
        write_sample(&path).await;
        scribble_fence(&path, sql);
        for depth in [Depth::All, Depth::Sample(99)] {
            let report = check(&path, depth);
            assert_eq!(told(&report), expected, "{sql}");
            let damaged = expected.iter().any(|line| !line.starts_with("Fence"));
            assert_eq!(report.is_damaged(), damaged, "{sql}");
        }
    }
}

/// What the rows keep of agents and pictures is compared like the rest.
#[tokio::test]
async fn damage_to_what_agents_asked_and_prompts_show_is_found() {
    let row = "Row session 1: the session's row";
    let waiting = "Row session 1: the row of the waiting prompt 00000000-0000-0000-0000-000000000002";
    for (sql, expected) in [
        ("", None),
        ("UPDATE sessions SET agent_session = 'other'", Some(format!("{row} is not what the log says"))),
        ("UPDATE sessions SET agent_title = 'other'", Some(format!("{row} is not what the log says"))),
        ("UPDATE sessions SET untold = 1", Some(format!("{row} is not what the log says"))),
        ("UPDATE sessions SET requests = 9", Some(format!("{row} is not what the log says"))),
        ("UPDATE sessions SET open_requests = NULL", Some(format!("{row} is not what the log says"))),
        ("UPDATE sessions SET open_requests = '[{'", Some(format!("{row} cannot be read"))),
        ("UPDATE prompts SET images = NULL", Some(format!("{waiting} is not what the log says"))),
        ("UPDATE prompts SET images = '7'", Some("Row session 1: rows of waiting prompts cannot be read".into())),
    ] {
        let (_folder, path) = folder();
        let store: AnyStore = Arc::new(open_at(&path));
        act(&store, 1, create("one"), 1).await;
        act(&store, 1, attached("their id", Memory::New), 2).await;
        act(&store, 1, prompt(1, "runs"), 3).await;
        act(&store, 1, Command::Agent(AgentReport::Title("a title".to_owned())), 4).await;
        act(&store, 1, Command::Agent(AgentReport::Asked(question("may I?"))), 5).await;
        act(&store, 1, prompt_with(2, "waits", pictures(1)), 6).await;
        drop(store);
        scribble(&path, sql);
        assert_eq!(told(&check(&path, Depth::All)), Vec::from_iter(expected), "{sql}");
        Repair::begin(&path).unwrap().rebuild(&mut |_| ()).unwrap();
        assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new(), "{sql}");
    }
}

#[tokio::test]
async fn a_check_counts_what_it_saw() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    let report = check(&path, Depth::All);
    assert_eq!((report.sampled, report.streams, report.checked_streams, report.checked_entries), (false, 4, 4, 13));
    scribble_fence(&path, "UPDATE streams SET damaged_seq = 1, damage = 'it was' WHERE id = 1");
    let report = check(&path, Depth::Sample(1));
    assert_eq!((report.sampled, report.streams, report.checked_streams, report.checked_entries), (true, 4, 2, 11));
    let json = serde_json::to_value(&report).unwrap();
    let finding = serde_json::json!({
        "kind": "fence",
        "stream": stream(1).to_string(),
        "seq": 1,
        "what": "it is fenced off, and all of it is there",
        "fenced": true,
    });
    assert_eq!(json["findings"], serde_json::json!([finding]));
    assert_eq!(json["checkedStreams"], 2);
}

/// Bytes that SQLite itself stumbles over: a page in the middle of the log is no page any more.
#[tokio::test]
async fn a_page_that_is_no_page_is_found_and_the_rest_still_told() {
    let (_folder, path) = folder();
    let store = open_at(&path);
    for after in 0..200 {
        store.append(batch([text_part(stream(1), after, &["words ".repeat(50).as_str()])])).await.unwrap();
    }
    store.append(batch([text_part(stream(2), 0, &["whole"])])).await.unwrap();
    store.close().await;
    let mut bytes = fs::read(&path).unwrap();
    let leaf =
        bytes.chunks(4096).position(|page| page[0] == 13 && page.windows(6).any(|words| words == b"words ")).unwrap();
    bytes[(leaf + 3) * 4096..][..64].fill(0xff);
    fs::write(&path, bytes).unwrap();

    let report = check(&path, Depth::All);
    let told = told(&report);
    assert!(told[0].starts_with("File: "), "{told:?}");
    assert!(
        told.iter().any(|line| line.starts_with("Entry session 1 at ") && line.ends_with("it cannot be read")),
        "{told:?}"
    );
    assert!(!told.iter().any(|line| line.contains("session 2")), "{told:?}");
    // What lies behind the page is exported, and the session up to it.
    let (lines, exported) = export(&path);
    assert!(exported.damaged == 1 && (2..201).contains(&exported.entries), "{exported:?}");
    assert!(lines.contains(r#""text":"whole""#));
}

/// A session that grows while it is looked at, and whose row changes with every entry, is no finding.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_written_to_is_checked_in_peace() {
    let (_folder, path) = folder();
    let store: AnyStore = Arc::new(open_at(&path));
    act(&store, 1, create("one"), 1).await;
    let rename = |n: i64| Command::Change {
        name: Some(n.to_string()),
        env_hint: None,
        context: None,
        filing: model::FilingWish::default(),
    };
    for n in 0..1500 {
        act(&store, 1, rename(n), n).await;
    }
    let done = Arc::new(AtomicBool::new(false));
    let checks = tokio::task::spawn_blocking({
        let done = Arc::clone(&done);
        move || {
            let reports: Vec<_> = (0..20).map(|_| check(&path, Depth::All)).collect();
            done.store(true, Ordering::Release);
            reports
        }
    });
    let mut n = 1500;
    while !done.load(Ordering::Acquire) {
        act(&store, 1, rename(n), n).await;
        n += 1;
    }
    let reports = checks.await.unwrap();
    assert!(reports.iter().all(|report| report.findings.is_empty()), "{reports:?}");
    assert!(reports.first().unwrap().checked_entries < reports.last().unwrap().checked_entries);
}

#[tokio::test]
async fn fences_are_set_and_lifted_by_whoever_owns_the_store() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    open_at(&path).append(batch([text_part(stream(5), 0, &["x"])])).await.unwrap();
    scribble_fence(
        &path,
        "UPDATE entries SET at = 0 WHERE stream = 1 AND seq = 4;
         UPDATE streams SET damaged_seq = 1, damage = 'it was' WHERE id = 2;
         UPDATE entries SET at = 0 WHERE stream = 4;
         UPDATE streams SET damaged_seq = 2, damage = 'the entry is missing' WHERE id = 5",
    );
    let owner = open_at(&path);
    let report = check(&path, Depth::All);
    assert!(matches!(Repair::begin(&path), Err(OpenError::InUse { .. })));
    owner.close().await;
    let fences = Repair::begin(&path).unwrap().settle_fences(&report).unwrap();
    assert_eq!((fences.set, fences.lifted), (vec![stream(1)], vec![stream(2)]));
    let expected = [
        "Entry session 1 at 4: its checksum does not match (fenced)",
        // Without the server's own stream nobody could sign in: it is never fenced off.
        "Entry server at 1: its checksum does not match",
        // The entry that is missing has not come back.
        "Entry session 5 at 2: the entry is missing (fenced)",
    ];
    assert_eq!(told(&check(&path, Depth::All)), expected);
    // The damage goes, and the fence with it.
    scribble(&path, "UPDATE entries SET at = 3 WHERE stream = 1 AND seq = 4");
    let report = check(&path, Depth::All);
    Repair::begin(&path).unwrap().settle_fences(&report).unwrap();
    assert_eq!(told(&check(&path, Depth::All)), &expected[1..]);
}

#[tokio::test]
async fn strangers_and_newer_stores_are_refused_and_left_as_they_were() {
    let (folder, path) = folder();
    for (begin, expected) in [
        ("CREATE TABLE entries (position INTEGER)", "is not a store of this program"),
        ("PRAGMA journal_mode = wal; PRAGMA application_id = 0x5468726c", "was only begun and holds nothing yet"),
        (
            "PRAGMA application_id = 0x5468726c; CREATE TABLE refinery_schema_history (version); \
             INSERT INTO refinery_schema_history VALUES (99)",
            "has schema version 99",
        ),
    ] {
        fs::write(&path, "").unwrap();
        scribble(&path, begin);
        let before = contents(folder.path());
        let refusal = StoreFile::open(&path).map(|_| ()).unwrap_err().to_string();
        assert!(refusal.contains(expected), "{refusal}");
        assert_eq!(contents(folder.path()), before);
        fs::remove_file(&path).unwrap();
    }
    assert!(matches!(StoreFile::open(&path), Err(OpenError::Io { .. })));
    assert_eq!(contents(folder.path()), []);
}

/// A medium on which nothing can be made beside the file; SQLite follows no link to its shared memory, so one does the same.
#[tokio::test]
async fn a_store_on_a_read_only_medium_is_looked_at_if_no_log_waits() {
    let (folder, path) = folder();
    write_sample(&path).await;
    let medium = folder.path().join("a medium? 100%#");
    fs::create_dir(&medium).unwrap();
    let there = medium.join("throughline.db");
    fs::copy(&path, &there).unwrap();
    std::os::unix::fs::symlink("nowhere", medium.join("throughline.db-shm")).unwrap();
    assert_eq!(told(&check(&there, Depth::All)), Vec::<String>::new());
    backup(&there, &folder.path().join("backup")).unwrap();
    fs::write(medium.join("throughline.db-wal"), "waits").unwrap();
    let refusal = StoreFile::open(&there).map(|_| ());
    assert!(matches!(refusal, Err(OpenError::LogWaits { .. })), "{refusal:?}");
}
