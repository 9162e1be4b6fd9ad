//! Damage that is met while the server runs: what is mended, what is fenced off, and that nobody else notices.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use model::{Command, Memory, Seq};
use rusqlite::Connection;

use crate::conformance::{AnyStore, act, attached, batch, create, prompt, session_id, stream, text_part, work_id};
use crate::outside::Depth;
use crate::prelude::*;
use crate::sqlite::checksums::SESSIONS;
use crate::sqlite::tests::damage::wrong_with;
use crate::sqlite::tests::outside::rebuild::tables;
use crate::sqlite::tests::outside::work::write_work;
use crate::sqlite::tests::outside::{check, scribble, told, write_sample};
use crate::sqlite::tests::{folder, open_at};
use crate::{ReadError, SqliteStore};

/// Gives the second session a name that is not in the log, with a checksum that fits: whoever makes its row anew takes the
/// name away.
fn mark_second(path: &Path) {
    let is_second = "id = x'02020202020202020202020202020202'";
    scribble(
        path,
        &format!(
            "UPDATE sessions SET name = 'not made anew' WHERE {is_second};
             UPDATE sessions SET checksum = row_sum({}) WHERE {is_second}",
            SESSIONS.columns()
        ),
    );
}

async fn second_is_marked(store: &SqliteStore) -> bool {
    store.session(session_id(2)).await.unwrap().unwrap().row.name == "not made anew"
}

#[tokio::test]
async fn a_damaged_entry_has_no_other_session_made_anew() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    let store = open_at(&path);
    mark_second(&path);
    let before = store.session(session_id(1)).await.unwrap().unwrap();
    scribble(&path, "UPDATE entries SET at = at + 1 WHERE stream = 1 AND seq = 4");
    assert_eq!(store.read(stream(1), Seq::START, 100).await.unwrap().len(), 3);
    assert_eq!(store.fence(session_id(1)).unwrap().seq, Seq(4));
    assert!(second_is_marked(&store).await);
    // It is shown as it was, up to its damage.
    let after = store.session(session_id(1)).await.unwrap().unwrap();
    assert_eq!((after.row, after.head), (before.row, Seq(3)));
    assert_eq!(store.health.mends(), 0);
}

#[tokio::test]
async fn a_damaged_row_has_its_own_session_made_anew_and_no_other() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    let store = open_at(&path);
    let expected = store.turns(session_id(1), model::Turn(0), 10).await.unwrap();
    mark_second(&path);
    scribble(&path, "UPDATE turns SET prompt_line = 'scribble' WHERE turn = 1");
    assert_eq!(store.turns(session_id(1), model::Turn(0), 10).await.unwrap(), expected);
    assert!(second_is_marked(&store).await);
}

/// Whose a row was is not known when that is what is damaged: then all are made anew, one session after the other.
#[tokio::test]
async fn a_row_that_names_the_wrong_session_is_found_and_made_anew() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    let before = tables(&path);
    for sql in [
        "UPDATE turns SET session = CAST(x'ff' || substr(session, 2) AS BLOB) WHERE turn = 1",
        "UPDATE sessions SET id = CAST(x'ff' || substr(id, 2) AS BLOB) WHERE name = 'two'",
        "UPDATE tokens SET name = 'scribble'",
    ] {
        let store = open_at(&path);
        scribble(&path, sql);
        // Whoever comes upon the damaged row has it mended.
        store.mend_rows(None, store.health.mends()).await;
        store.close().await;
        assert_eq!(tables(&path), before, "{sql}");
        assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new(), "{sql}");
    }
}

/// A session whose log is cut is still called what it was called, as far as anything tells: in lists too.
#[tokio::test]
async fn a_session_that_is_made_anew_from_a_cut_log_keeps_its_name() {
    for (damage, expected) in [
        ("UPDATE sessions SET turns = 9", ["renamed", "", "what to do"]),
        ("UPDATE sessions SET name = CAST(x'ff' AS TEXT)", ["", "", "what to do"]),
        ("DELETE FROM sessions", ["", "(damaged: its name is lost)", ""]),
    ] {
        let (_folder, path) = folder();
        let store: AnyStore = Arc::new(open_at(&path));
        act(&store, 1, create(""), 1).await;
        act(&store, 1, prompt(1, "what to do"), 2).await;
        act(&store, 1, attached("theirs", Memory::New), 3).await;
        let rename = Command::Change {
            name: Some("renamed".to_owned()),
            env_hint: None,
            context: None,
            filing: model::FilingWish::default(),
        };
        act(&store, 1, rename, 4).await;
        drop(store);
        scribble(&path, "UPDATE entries SET at = at + 1 WHERE stream = 1 AND seq = 3");
        scribble(&path, damage);
        let store = open_at(&path);
        // Whoever reads a session whose row is lost has it made anew.
        store.session(session_id(1)).await.unwrap();
        let rows = store.sessions(model::Shelf::All, None, 10).await.unwrap();
        let labels: Vec<_> = rows.iter().map(|row| [&*row.name, &*row.title, &*row.first_prompt]).collect();
        assert_eq!(labels, [expected], "{damage}");
        assert!(store.fence(session_id(1)).is_some(), "{damage}");
        store.close().await;
    }
}

/// What was appended while the rows were folded is in them.
#[tokio::test]
async fn rows_that_are_made_anew_have_what_came_meanwhile() {
    let (_folder, path) = folder();
    let store: Arc<SqliteStore> = Arc::new(open_at(&path));
    let any: AnyStore = Arc::<SqliteStore>::clone(&store);
    act(&any, 1, create("a"), 1).await;
    let walk = store.walk(stream(1)).await.unwrap().unwrap();
    act(&any, 1, prompt(1, "came meanwhile"), 2).await;
    let expected = any.session(session_id(1)).await.unwrap();
    store.replace_rows(walk).await.unwrap();
    assert_eq!(any.session(session_id(1)).await.unwrap(), expected);
}

/// What the questions say that show no whole row, or rest on rows that they do not show.
#[derive(Debug, PartialEq)]
struct Rested {
    work: Option<model::WorkRow>,
    members: Vec<model::SessionId>,
    works: Vec<crate::WholeWork>,
    offers: Vec<model::Offer>,
    unobserved: u64,
    head: crate::Head,
}

async fn rested(store: &SqliteStore) -> Rested {
    Rested {
        work: store.find_work("/w", "loom").await.unwrap(),
        members: store.work_session_ids(work_id(6)).await.unwrap(),
        works: store.whole_works().await.unwrap(),
        offers: store.next_blocks(session_id(1), None, 10).await.unwrap(),
        unobserved: store.unobserved_count().await.unwrap(),
        head: store.head(stream(1)).await.unwrap(),
    }
}

/// Each of these made a question say something else than the log, without a word.
#[tokio::test]
async fn what_an_answer_rests_on_is_verified_too() {
    let (_folder, path) = folder();
    write_work(&path).await;
    for sql in [
        "UPDATE work_names SET work = zeroblob(16) WHERE name = 'loom'",
        "UPDATE work_names SET name = 'lool' WHERE name = 'loom'",
        "UPDATE works SET id = zeroblob(16)",
        "UPDATE sessions SET options = '{}' WHERE work IS NOT NULL",
        "UPDATE next_blocks SET meta_context = 'x' WHERE nth = 2",
        "UPDATE sessions SET last_idle_at = 99 WHERE name = 'one'",
        "UPDATE streams SET purged_at = 7 WHERE id = 1",
    ] {
        let store = open_at(&path);
        let expected = rested(&store).await;
        scribble(&path, sql);
        assert_eq!(rested(&store).await, expected, "{sql}");
        assert_eq!(store.health.mends(), 1, "{sql}");
        store.close().await;
    }
}

/// A damaged fence neither opens a damaged session nor closes a whole one.
#[tokio::test]
async fn a_fence_is_verified_too() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    scribble(&path, "UPDATE entries SET at = at + 1 WHERE stream = 1 AND seq = 4");
    let store = open_at(&path);
    assert_eq!(store.read(stream(1), Seq::START, 100).await.unwrap().len(), 3);
    let expected = store.fence(session_id(1));
    assert_eq!(expected.as_ref().unwrap().seq, Seq(4));
    store.close().await;
    for sql in [
        "UPDATE streams SET damaged_seq = 6 WHERE id = 1",
        "UPDATE streams SET damaged_seq = NULL WHERE id = 1",
        "UPDATE streams SET damaged_seq = 1, damage = 'scribble' WHERE id = 2",
    ] {
        scribble(&path, sql);
        let store = open_at(&path);
        assert_eq!((store.fence(session_id(1)), store.fence(session_id(2))), (expected.clone(), None), "{sql}");
        store.close().await;
    }
}

/// Moves an entry in the index by which a session's entries are found, and leaves it in the table as it was.
fn misplace_in_index(path: &Path, position: i64) {
    let sql = |sql: &str| Connection::open(path).unwrap().execute_batch(sql).unwrap();
    let root: i64 = Connection::open(path)
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_entries_1'", [], |row| row.get(0))
        .unwrap();
    sql(&format!("UPDATE entries SET seq = seq + 1000 WHERE position = {position}"));
    // Whoever opens the file now knows of no index, and so leaves it alone.
    sql("PRAGMA writable_schema = on;
         DELETE FROM sqlite_schema WHERE name = 'sqlite_autoindex_entries_1';
         UPDATE sqlite_schema SET sql = replace(sql, 'UNIQUE (stream, seq)', 'CHECK (seq = seq)') WHERE name = 'entries'");
    sql(&format!("UPDATE entries SET seq = seq - 1000 WHERE position = {position}"));
    sql(&format!(
        "PRAGMA writable_schema = on;
         INSERT INTO sqlite_schema VALUES ('index', 'sqlite_autoindex_entries_1', 'entries', {root}, NULL);
         UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (seq = seq)', 'UNIQUE (stream, seq)') WHERE name = 'entries'"
    ));
}

/// Making the index anew takes as long as the log is, so nobody waits for it: the session is fenced off until the next start.
#[tokio::test]
async fn an_entry_that_the_index_has_lost_is_back_after_the_next_start() {
    let (_folder, path) = folder();
    let store = open_at(&path);
    store.append(batch([text_part(stream(1), 0, &["one", "two", "three"])])).await.unwrap();
    let expected = store.read(stream(1), Seq::START, 100).await.unwrap();
    misplace_in_index(&path, 2);
    assert_eq!(store.read(stream(1), Seq::START, 100).await.unwrap().len(), 1);
    match store.read(stream(1), Seq(1), 100).await {
        Err(ReadError::Fenced(damage)) => {
            assert_eq!(
                (damage.seq, &*wrong_with(&damage)),
                (Seq(2), "it is not where the index says; the next start mends that")
            );
        }
        other => panic!("{other:?}"),
    }
    store.close().await;
    let store = open_at(&path);
    assert_eq!(store.read(stream(1), Seq::START, 100).await.unwrap(), expected);
    assert_eq!(store.fence(session_id(1)), None);
    store.append(batch([text_part(stream(1), 3, &["four"])])).await.unwrap();
}

/// What is logged by this thread, as text.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Lines {
    /// What this thread logs from now on, as long as the guard is held.
    fn listen() -> (Self, tracing::subscriber::DefaultGuard) {
        let lines = Self::default();
        let log = lines.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || log.clone()).finish();
        (lines, tracing::subscriber::set_default(subscriber))
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// Each session that is fenced off is named in the log, once, with its first damaged entry.
#[tokio::test]
async fn every_fence_is_logged() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    let (lines, _until_the_end) = Lines::listen();
    let store = open_at(&path);
    scribble(&path, "UPDATE entries SET at = at + 1 WHERE (stream, seq) IN ((1, 3), (2, 2))");
    for n in [1, 2, 1] {
        drop(store.read(stream(n), Seq::START, 100).await);
    }
    let text = lines.text();
    for (n, seq) in [(1, 3), (2, 2)] {
        let named = text
            .lines()
            .filter(|line| line.contains("ERROR") && line.contains(&format!("stream={} seq={seq}", stream(n))));
        assert_eq!(named.count(), 1, "{text}");
    }
    assert!(!text.contains("made anew"), "{text}");
}

/// A question that fails says why, down to what SQLite said.
#[tokio::test]
async fn a_failed_question_is_logged_with_its_cause() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    let (lines, _until_the_end) = Lines::listen();
    let store = open_at(&path);
    scribble(&path, "UPDATE turns SET prompt_line = 'scribble' WHERE turn = 1");
    store.turns(session_id(1), model::Turn(0), 10).await.unwrap();
    assert!(lines.text().contains("a row beside the log does not match its checksum"), "{}", lines.text());
}
