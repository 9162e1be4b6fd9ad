//! A backup put back: verified first, whole or not at all, and nothing removed.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use model::{Incarnation, Seq};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::conformance::{batch, stream, text_part};
use crate::outside::{Depth, Progress, RestoreError, RestoreWish, Stage, restore};
use crate::prelude::*;
use crate::sqlite::tests::outside::{
    NEW_INCARNATION, apart, backup, carry_out, check, contents, export, restore_from, told, wish, write_sample,
};
use crate::sqlite::tests::{INCARNATION, folder, open_at};
use crate::{OpenError, SqliteStore};

async fn write_words(path: &Path, words: &[&str]) {
    open_at(path).append(batch([text_part(stream(1), 0, words)])).await.unwrap();
}

/// How many words the store has, and which life of it this is.
async fn words(path: &Path) -> (usize, u64) {
    let store = SqliteStore::open(path, Incarnation::from_bits(1)).unwrap();
    (store.read(stream(1), Seq::START, 100).await.unwrap().len(), store.incarnation().bits())
}

#[tokio::test]
async fn a_backup_comes_back_with_a_new_incarnation() {
    let (folder, path) = folder();
    write_sample(&path).await;
    fs::write(folder.path().join("config.toml"), "# mine").unwrap();
    let from = folder.path().join("backup");
    backup(&path, &from).unwrap();
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    let there = home.join("throughline.db");
    // Left over from a restore that was killed.
    fs::write(home.join("throughline.db.restoring"), "half").unwrap();
    let restored = restore_from(&from, &there).unwrap();
    assert_eq!((restored.entries, restored.moved.len(), restored.config), (13, 0, true));
    let body = |text: (String, _)| text.0.lines().skip(1).map(str::to_owned).take(14).collect::<Vec<_>>();
    assert_eq!(body(export(&there)), body(export(&path)));
    let names: Vec<_> = contents(&home).into_iter().map(|(path, _)| path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["config.toml", "throughline.db"]);
    assert_eq!(told(&check(&there, Depth::All)), Vec::<String>::new());
    assert_eq!(open_at(&there).incarnation().bits(), NEW_INCARNATION);
}

#[tokio::test]
async fn a_store_that_is_there_is_moved_aside_if_asked_and_never_removed() {
    let (folder, path) = folder();
    write_words(&path, &["one"]).await;
    let from = folder.path().join("backup");
    backup(&path, &from).unwrap();
    let store = open_at(&path);
    store.append(batch([text_part(stream(1), 1, &["two"])])).await.unwrap();
    assert!(matches!(restore_from(&from, &path), Err(RestoreError::Open(OpenError::InUse { .. }))));
    store.close().await;
    fs::create_dir_all(folder.path().join("sessions/a")).unwrap();
    fs::write(folder.path().join("sessions/a/meta.json"), "readable").unwrap();

    assert!(matches!(restore_from(&from, &path), Err(RestoreError::Taken { .. })));
    assert_eq!(words(&path).await, (2, INCARNATION));
    // Something that is only in the write-ahead log, as a kill would leave it.
    let conn = Connection::open(&path).unwrap();
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    conn.execute("INSERT INTO meta VALUES ('mine', 1)", []).unwrap();
    drop(conn);
    let has_mine = |path: &Path| {
        let conn = Connection::open(path).unwrap();
        conn.query_row("SELECT COUNT(*) FROM meta WHERE key = 'mine'", [], |row| row.get::<_, i64>(0)).unwrap() == 1
    };
    for again in ["", "-2"] {
        let restored = carry_out(&RestoreWish { replace: true, ..wish(&from, &path) }).unwrap();
        assert_eq!(words(&path).await, (1, NEW_INCARNATION));
        let aside = folder.path().join(format!("throughline.db.before-1970-01-01T00-00-00-000Z{again}"));
        assert_eq!(restored.moved[0].to.file_name(), aside.file_name());
        // All of the old store is in the one, nothing of it in the other.
        assert_eq!((has_mine(&aside), has_mine(&path)), (again.is_empty(), false));
        let copies = folder.path().join("sessions.before-1970-01-01T00-00-00-000Z/a/meta.json");
        assert_eq!(fs::read(copies).unwrap(), b"readable");
        assert!(!folder.path().join("sessions").exists());
    }
}

/// An old store that SQLite cannot read is moved aside with its log.
#[tokio::test]
async fn what_cannot_be_read_is_moved_aside_too() {
    let (folder, path) = folder();
    write_words(&path, &["one"]).await;
    let from = folder.path().join("backup");
    backup(&path, &from).unwrap();
    fs::write(&path, "torn").unwrap();
    fs::write(path.with_extension("db-wal"), "its log").unwrap();
    let restored = carry_out(&RestoreWish { replace: true, ..wish(&from, &path) }).unwrap();
    let kept: Vec<_> = restored.moved.iter().map(|moved| fs::read(&moved.to).unwrap()).collect();
    assert_eq!(kept, [b"torn".to_vec(), b"its log".to_vec()]);
    assert_eq!(words(&path).await, (1, NEW_INCARNATION));
}

/// Cut off before the new store has its place, the old one has its log again with the next who owns it.
#[tokio::test]
async fn a_log_that_lies_aside_comes_back() {
    let (folder, path) = folder();
    write_words(&path, &["one"]).await;
    let from = folder.path().join("backup");
    backup(&path, &from).unwrap();
    fs::write(&path, "torn").unwrap();
    fs::write(path.with_extension("db-wal"), "its log").unwrap();
    let before = contents(folder.path());
    let wish = RestoreWish { replace: true, ..wish(&from, &path) };
    let mut cut = 0;
    while !restore_until(&wish, cut) {
        assert!(matches!(SqliteStore::open(&path, Incarnation::from_bits(1)), Err(OpenError::Foreign { .. })));
        let is_new = |(path, _): &(PathBuf, u32)| !path.to_string_lossy().ends_with(".restoring");
        let after: Vec<_> = contents(folder.path()).into_iter().filter(is_new).collect();
        assert_eq!(after, before, "after {cut} steps");
        cut += 1;
    }
    assert!(cut > 5, "{cut} steps");
}

/// While somebody reads the old store its log cannot be emptied, and without its log it must not be moved.
#[tokio::test]
async fn a_store_whose_log_waits_stays_where_it_is() {
    let (folder, path) = folder();
    write_words(&path, &["one"]).await;
    fs::write(folder.path().join("config.toml"), "# mine").unwrap();
    let from = folder.path().join("backup");
    backup(&path, &from).unwrap();
    fs::remove_file(folder.path().join("config.toml")).unwrap();
    let reader = Connection::open(&path).unwrap();
    let moment = reader.unchecked_transaction().unwrap();
    moment.query_row("SELECT COUNT(*) FROM meta", [], |row| row.get::<_, i64>(0)).unwrap();
    let conn = Connection::open(&path).unwrap();
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    conn.execute("INSERT INTO meta VALUES ('mine', 1)", []).unwrap();
    drop(conn);
    let before = contents(folder.path());
    let wish = RestoreWish { replace: true, ..wish(&from, &path) };
    let refusal = carry_out(&wish);
    assert!(matches!(refusal, Err(RestoreError::LogWaits { .. })), "{refusal:?}");
    assert_eq!(contents(folder.path()), before);
    moment.finish().unwrap();
    drop(reader);
    let restored = carry_out(&wish).unwrap();
    assert_eq!((restored.moved.len(), restored.config), (1, true));
}

/// What stands in the new store's way is a folder, which no file can replace.
#[tokio::test]
async fn what_was_moved_is_put_back_if_the_new_store_cannot_take_its_place() {
    let (folder, path) = folder();
    write_words(&path, &["one"]).await;
    fs::write(folder.path().join("config.toml"), "# mine").unwrap();
    let from = folder.path().join("backup");
    backup(&path, &from).unwrap();
    fs::remove_file(folder.path().join("config.toml")).unwrap();
    fs::create_dir(folder.path().join("sessions")).unwrap();
    fs::write(folder.path().join("sessions/copies.json"), "readable").unwrap();
    let shared_memory = path.with_extension("db-shm");
    let work = || {
        let mut in_the_way = |progress: Progress| {
            // Just before the old log and its shared memory are removed.
            if progress.stage == Stage::Place && progress.done == 4 {
                drop(fs::remove_file(&shared_memory));
                fs::create_dir(&shared_memory).unwrap();
            }
        };
        restore(&RestoreWish { replace: true, ..wish(&from, &path) }, &mut in_the_way)
    };
    let before = contents(folder.path());
    let refusal = apart(work).unwrap();
    assert!(matches!(refusal, Err(RestoreError::Io { .. })), "{refusal:?}");
    fs::remove_dir(&shared_memory).unwrap();
    assert_eq!(contents(folder.path()), before);
    assert_eq!(words(&path).await, (1, INCARNATION));
}

#[tokio::test]
async fn a_backup_that_is_not_what_was_written_is_refused() {
    type Alter = fn(&Path);
    let altered: [(Alter, &str); 6] = [
        (|folder| fs::remove_file(folder.join("backup.json")).unwrap(), "neither a backup nor an export"),
        (|folder| fs::write(folder.join("backup.json"), r#"{"format":3}"#).unwrap(), "has format 3"),
        (|folder| fs::write(folder.join("backup.json"), r#"{"format":1}"#).unwrap(), "a part of it is missing"),
        (|folder| fs::remove_file(folder.join("throughline.db")).unwrap(), "could not read or write"),
        (
            |folder| {
                let file = fs::OpenOptions::new().append(true).open(folder.join("throughline.db")).unwrap();
                file.set_len(4096).unwrap();
            },
            "its size is another",
        ),
        (
            |folder| {
                let mut bytes = fs::read(folder.join("throughline.db")).unwrap();
                *bytes.last_mut().unwrap() ^= 1;
                fs::write(folder.join("throughline.db"), bytes).unwrap();
            },
            "its hash is another",
        ),
    ];
    for (alter, expected) in altered {
        let (folder, path) = folder();
        write_words(&path, &["one"]).await;
        let from = folder.path().join("backup");
        backup(&path, &from).unwrap();
        alter(&from);
        let before = contents(folder.path());
        let wish = RestoreWish { replace: true, ..wish(&from, &path) };
        let said = carry_out(&wish).unwrap_err().to_string();
        assert!(said.contains(expected), "{said}");
        assert_eq!(contents(folder.path()), before, "{expected}");
    }
}

/// Runs a restore up to its `cut`th step; true if it got to its end.
fn restore_until(wish: &RestoreWish<'_>, cut: usize) -> bool {
    let work = || {
        let mut steps = 0;
        let mut cut_off = |_: Progress| {
            assert!(steps < cut, "cut off");
            steps += 1;
        };
        restore(wish, &mut cut_off).unwrap()
    };
    apart(work).is_ok()
}

/// R24: cut off at any step, the old store is there or the new one, and the next try goes through.
#[tokio::test]
async fn a_restore_that_is_cut_off_leaves_the_old_store_or_the_new_one() {
    for from_export in [false, true] {
        let (folder, path) = folder();
        write_words(&path, &["one"]).await;
        let mut from = folder.path().join("backup");
        backup(&path, &from).unwrap();
        if from_export {
            from = folder.path().join("export.jsonl");
            fs::write(&from, export(&path).0).unwrap();
        }
        fs::remove_file(&path).unwrap();
        write_words(&path, &["old", "words"]).await;
        let wish = RestoreWish { replace: true, ..wish(&from, &path) };
        let mut cut = 0;
        while !restore_until(&wish, cut) {
            assert_eq!(words(&path).await, (2, INCARNATION), "after {cut} steps");
            assert_eq!(fs::metadata(&path).unwrap().nlink(), 1, "after {cut} steps");
            cut += 1;
        }
        assert!(cut > 5, "{cut} steps");
        assert_eq!(words(&path).await, (1, NEW_INCARNATION));
    }
}
