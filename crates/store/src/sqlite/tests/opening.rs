//! Opening and closing: what is kept, who is refused, and that a refusal changes nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use model::{AgentReport, Command, EVENT_VERSION, Incarnation, Memory, Position, Seq, Turn};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::conformance::{
    act, at, attached, batch, create, pictures, prompt, prompt_with, question, session_id, stream, text_part,
};
use crate::prelude::*;
use crate::sqlite::open::newest_schema;
use crate::sqlite::tests::{INCARNATION, folder, open_at};
use crate::{AppendError, OpenError, ReadError, SqliteStore};

fn refusal(path: &Path) -> OpenError {
    match SqliteStore::open(path, Incarnation::from_bits(1)) {
        Ok(_) => panic!("{path:?} was opened"),
        Err(err) => err,
    }
}

/// Leaves what it wrote in the write-ahead log, as a process that was killed would.
fn change_and_die(path: &Path, sql: &str) {
    let conn = Connection::open(path).unwrap();
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    conn.execute_batch(sql).unwrap();
}

#[tokio::test]
async fn reopening_keeps_everything() {
    let (_folder, path) = folder();
    let store: crate::conformance::AnyStore = std::sync::Arc::new(open_at(&path));
    act(&store, 1, create("a"), 1).await;
    act(&store, 1, attached("their id", Memory::New), 1).await;
    act(&store, 1, prompt(1, "runs"), 1).await;
    act(&store, 1, Command::Agent(AgentReport::Asked(question("may I?"))), 1).await;
    let last = act(&store, 1, prompt_with(2, "waits", pictures(2)), 2).await;
    store.purge(session_id(2), model::Seq::START, at(3)).await.unwrap();
    let session = store.session(session_id(1)).await.unwrap();
    let entries = store.read_all(Position(0), 100).await.unwrap();
    drop(store);

    let store = SqliteStore::open(&path, Incarnation::from_bits(1)).unwrap();
    assert_eq!(store.incarnation(), Incarnation::from_bits(INCARNATION));
    assert_eq!(store.session(session_id(1)).await.unwrap(), session);
    let session = session.unwrap();
    assert_eq!((session.row.open_requests.len(), session.row.agent_session.as_deref()), (1, Some("their id")));
    assert_eq!(session.queue[0].images, pictures(2));
    assert_eq!(store.unsettled().await.unwrap(), [session_id(1)]);
    assert_eq!(store.read_all(Position(0), 100).await.unwrap(), entries);
    assert!(matches!(store.append(batch([text_part(stream(2), 0, &["x"])])).await, Err(AppendError::Purged(_))));
    assert_eq!(store.append(batch([text_part(stream(3), 0, &["x"])])).await.unwrap(), Position(last.0 + 1));
}

/// The newest positions are the purged ones, so the entries alone would say that they are free.
#[tokio::test]
async fn a_purged_position_is_not_given_again_after_reopening() {
    let (_folder, path) = folder();
    let store = open_at(&path);
    store.append(batch([text_part(stream(1), 0, &["one", "two"])])).await.unwrap();
    store.purge(session_id(1), model::Seq(2), at(1)).await.unwrap();
    store.close().await;
    let store = open_at(&path);
    assert_eq!(store.append(batch([text_part(stream(2), 0, &["x"])])).await.unwrap(), Position(3));
}

#[tokio::test]
async fn what_is_acknowledged_is_in_the_files() {
    let (folder, path) = folder();
    let store = open_at(&path);
    for after in 0..20 {
        store.append(batch([text_part(stream(1), after, &["x"])])).await.unwrap();
        // What a kill at this moment would leave, but for the shared memory, which no crash leaves whole.
        let left = folder.path().join(format!("left-{after}.db"));
        fs::copy(&path, &left).unwrap();
        fs::copy(path.with_extension("db-wal"), left.with_extension("db-wal")).unwrap();
        let left = open_at(&left);
        assert_eq!(left.read(stream(1), Seq::START, 100).await.unwrap().len() as u64, after + 1);
    }
}

/// What a process that is gone was just starting holds its locks until it is another program.
#[test]
fn a_lock_that_is_left_for_an_instant_is_waited_for() {
    let (_folder, path) = folder();
    let left = fs::File::create(path.with_extension("db.lock")).unwrap();
    left.lock().unwrap();
    let opening = std::thread::spawn({
        let path = path.clone();
        move || drop(open_at(&path))
    });
    std::thread::sleep(std::time::Duration::from_millis(50));
    drop(left);
    opening.join().unwrap();
}

#[tokio::test]
async fn a_store_has_one_owner() {
    let (folder, path) = folder();
    let store = open_at(&path);
    assert!(matches!(refusal(&path), OpenError::InUse { .. }));
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(matches!(refusal(&link), OpenError::InUse { .. }));
    // Whoever removes the lock's file lets nobody else in.
    fs::remove_file(path.with_extension("db.lock")).unwrap();
    assert!(matches!(refusal(&path), OpenError::InUse { .. }));
    store.append(batch([text_part(stream(1), 0, &["x"])])).await.unwrap();
    store.close().await;
    // Closing lets go, also while somebody still holds the closed store; the lock's file stays and means nothing.
    assert!(path.with_extension("db.lock").exists());
    open_at(&path);
    assert!(matches!(store.append(batch([])).await, Err(AppendError::Closed)));
    assert!(matches!(store.head(stream(1)).await, Err(ReadError::Closed)));
    store.close().await;
}

#[tokio::test]
async fn a_closed_store_is_one_sound_file() {
    let (folder, path) = folder();
    let store = open_at(&path);
    store.append(batch([text_part(stream(1), 0, &["x"])])).await.unwrap();
    store.close().await;
    let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["throughline.db", "throughline.db.lock"]);
    let conn = Connection::open(&path).unwrap();
    let sound: String = conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
}

#[tokio::test]
async fn a_newer_store_is_refused_and_left_as_it_was() {
    let known = newest_schema();
    for (sql, expected) in [
        (
            "INSERT INTO refinery_schema_history VALUES (99, 'later', '2030-01-01T00:00:00Z', '1')",
            format!("has schema version 99, this program knows versions up to {known}"),
        ),
        (
            "UPDATE meta SET value = 77 WHERE key = 'event_version';
             INSERT INTO streams (id, name) VALUES (9, 'server');
             INSERT INTO entries VALUES (9, 9, 1, 0, 77, 0, X'7b7d')",
            format!("has event version 77, this program knows versions up to {EVENT_VERSION}"),
        ),
    ] {
        let (_folder, path) = folder();
        open_at(&path).close().await;
        change_and_die(&path, sql);
        let wal = path.with_extension("db-wal");
        let before = (fs::read(&path).unwrap(), fs::read(&wal).unwrap());
        assert!(!before.1.is_empty(), "the newer version is in the write-ahead log only");
        for _ in 0..2 {
            let refusal = refusal(&path);
            assert!(matches!(refusal, OpenError::Newer { .. }), "{refusal:?}");
            assert!(refusal.to_string().ends_with(&expected), "{refusal}");
            assert_eq!((fs::read(&path).unwrap(), fs::read(&wal).unwrap()), before);
        }
    }
}

#[tokio::test]
async fn a_file_of_another_program_is_refused_and_left_as_it_was() {
    let strangers: [fn(&Path); 3] = [
        |path| Connection::open(path).unwrap().execute_batch("CREATE TABLE entries (position INTEGER)").unwrap(),
        |path| Connection::open(path).unwrap().execute_batch("PRAGMA application_id = 5").unwrap(),
        |path| fs::write(path, "not a database at all, but long enough to look like one".repeat(20)).unwrap(),
    ];
    for make in strangers {
        let (_folder, path) = folder();
        make(&path);
        let before = fs::read(&path).unwrap();
        assert!(matches!(refusal(&path), OpenError::Foreign { .. }), "{:?}", refusal(&path));
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

/// A first start may be killed between the steps of making the file.
#[tokio::test]
async fn a_store_that_was_only_begun_is_finished() {
    for begun in ["", "PRAGMA journal_mode = wal", "PRAGMA journal_mode = wal; PRAGMA application_id = 0x5468726c"] {
        let (_folder, path) = folder();
        fs::write(&path, "").unwrap();
        Connection::open(&path).unwrap().execute_batch(begun).unwrap();
        let store = open_at(&path);
        store.append(batch([text_part(stream(1), 0, &["x"])])).await.unwrap();
        assert_eq!(store.turns(session_id(1), Turn(0), 1).await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_told() {
    let (folder, _) = folder();
    let refusal = refusal(&folder.path().join("nowhere/throughline.db"));
    assert!(matches!(refusal, OpenError::Io { .. }), "{refusal:?}");
}

#[tokio::test]
async fn nobody_else_can_read_the_files() {
    let (folder, path) = folder();
    let store = open_at(&path);
    store.append(batch([text_part(stream(1), 0, &["x"])])).await.unwrap();
    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(Result::unwrap).collect();
    assert_eq!(files.len(), 4, "{files:?}");
    for file in files {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
    }
}

/// Asked again from the writer's own connection; SQLite ignores a setting that it does not know.
#[tokio::test]
async fn the_settings_are_in_force() {
    let (_folder, path) = folder();
    let store = open_at(&path);
    let found = store
        .look(|conn| {
            let names = ["journal_mode", "synchronous", "foreign_keys", "trusted_schema", "wal_autocheckpoint"];
            names.map(|name| {
                let value = conn.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0)).unwrap();
                format!("{name} {value:?}")
            })
        })
        .await;
    let expected = [
        "journal_mode Text(\"wal\")",
        "synchronous Integer(2)",
        "foreign_keys Integer(1)",
        "trusted_schema Integer(0)",
        "wal_autocheckpoint Integer(0)",
    ];
    assert_eq!(found, expected);
}
