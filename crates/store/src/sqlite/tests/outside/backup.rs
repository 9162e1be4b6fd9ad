//! R24: a backup under load is a prefix of the log. What is in its folder, and who can read it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::Position;

use crate::SqliteStore;
use crate::conformance::{batch, stream, text_part};
use crate::outside::{BackupError, BackupWish, Depth, Progress, Stage, StoreFile};
use crate::prelude::*;
use crate::sqlite::tests::outside::{backup, check, log_of, restore_from, told, write_sample};
use crate::sqlite::tests::{folder, open_at};

/// Appends to three streams go on until the backup is done, and each page that it copies is behind them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_under_load_restores_to_a_prefix_of_the_log() {
    let (folder, path) = folder();
    let store = Arc::new(open_at(&path));
    let long = "x".repeat(4000);
    for after in 0..700 {
        store.append(batch([text_part(stream(1), after, &[&long])])).await.unwrap();
    }
    let (to, done) = (folder.path().join("backup"), Arc::new(AtomicBool::new(false)));
    let (begun, begins) = tokio::sync::oneshot::channel();
    let copying = tokio::task::spawn_blocking({
        let (path, to, done) = (path.clone(), to.clone(), Arc::clone(&done));
        move || {
            let mut begun = Some(begun);
            let mut steps = 0;
            let wish = BackupWish {
                folder: &to,
                config: None,
                folders: &[],
                made_at: crate::conformance::at(0),
                program: "test",
            };
            let made = StoreFile::open(&path).unwrap().backup(&wish, &mut |_: Progress| {
                steps += 1;
                begun.take().map(|begun| begun.send(()));
            });
            done.store(true, Ordering::Release);
            (made, steps)
        }
    });
    begins.await.unwrap();
    let mut after = 0;
    while !done.load(Ordering::Acquire) {
        let parts = [2, 3].map(|n| text_part(stream(n), after, &[&long]));
        store.append(batch(parts)).await.unwrap();
        after += 1;
    }
    let (note, steps) = copying.await.unwrap();
    let note = note.unwrap();
    assert!(steps >= 3 && after > 0, "{steps} steps beside {after} appends: nothing was shown");

    let restored = folder.path().join("restored.db");
    restore_from(&to, &restored).unwrap();
    assert_eq!(told(&check(&restored, Depth::All)), Vec::<String>::new());
    let (live, kept) = (log_of(&*store).await, log_of(&open_at(&restored)).await);
    assert!(kept.len() < live.len() && live.starts_with(&kept), "{} of {}", kept.len(), live.len());
    assert!(kept.iter().map(|placed| placed.position.0).eq(1..=kept.len() as u64));
    assert_eq!((note.entries, note.last_position), (kept.len() as u64, Position(kept.len() as u64)));
}

/// The copy is of one moment also when every step of it is followed by a commit.
#[tokio::test]
async fn commits_between_two_steps_do_not_begin_the_copy_anew() {
    let (folder, path) = folder();
    let store = open_at(&path);
    let long = "x".repeat(4000);
    for after in 0..1500 {
        store.append(batch([text_part(stream(1), after, &[&long])])).await.unwrap();
    }
    store.close().await;
    let writer = rusqlite::Connection::open(&path).unwrap();
    let (mut furthest, mut steps) = (0, 0);
    let to = folder.path().join("backup");
    let wish =
        BackupWish { folder: &to, config: None, folders: &[], made_at: crate::conformance::at(0), program: "test" };
    let mut beside = |progress: Progress| {
        if progress.stage != Stage::Copy {
            return;
        }
        assert!(progress.done > furthest, "it was at {furthest} and is at {}", progress.done);
        (furthest, steps) = (progress.done, steps + 1);
        writer.execute("INSERT INTO meta VALUES (?1, 0)", [steps.to_string()]).unwrap();
    };
    let note = StoreFile::open(&path).unwrap().backup(&wish, &mut beside).unwrap();
    assert!(steps > 3 && note.entries == 1500, "{steps} steps");
}

#[tokio::test]
async fn the_folder_holds_what_it_should_and_is_closed_to_others() {
    let (folder, path) = folder();
    write_sample(&path).await;
    for name in ["config.toml", "token", "server.json"] {
        fs::write(folder.path().join(name), name).unwrap();
    }
    let to = folder.path().join("backup");
    let note = backup(&path, &to).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let mut names: Vec<_> = fs::read_dir(&to).unwrap().map(|file| file.unwrap().path()).collect();
    names.sort();
    assert_eq!(names, ["backup.json", "config.toml", "throughline.db"].map(|name| to.join(name)));
    assert_eq!((mode(&to), names.iter().map(|path| mode(path)).collect::<Vec<_>>()), (0o700, vec![0o600; 3]));
    assert_eq!(fs::read(to.join("config.toml")).unwrap(), b"config.toml");
    let kept = serde_json::from_slice::<serde_json::Value>(&fs::read(to.join("backup.json")).unwrap()).unwrap();
    let expected = serde_json::json!({
        "format": 2,
        "madeAt": "1970-01-01T00:00:00.000Z",
        "program": "test",
        "incarnation": "fedcba9876543210",
        "lastPosition": 15,
        "entries": 13,
        "bytes": fs::metadata(to.join("throughline.db")).unwrap().len(),
        "sha256": note.sha256,
        "payloads": { "count": 0, "bytes": 0 },
    });
    assert_eq!(kept, expected);
    // The backup is a store as it is.
    SqliteStore::open(&to.join("throughline.db"), model::Incarnation::from_bits(1)).unwrap();
}

#[tokio::test]
async fn nothing_that_is_there_is_overwritten() {
    let (folder, path) = folder();
    write_sample(&path).await;
    let to = folder.path().join("backup");
    fs::create_dir(&to).unwrap();
    backup(&path, &to).unwrap();
    assert!(matches!(backup(&path, &to), Err(BackupError::Exists { .. })));
    assert!(matches!(backup(&path, &path), Err(BackupError::Exists { .. })));
    // What a backup that was cut off has left is taken away; what is not known is not.
    let partial = folder.path().join("second.partial");
    fs::create_dir(&partial).unwrap();
    fs::write(partial.join("throughline.db"), "half").unwrap();
    fs::write(partial.join("photo.jpg"), "mine").unwrap();
    assert!(matches!(backup(&path, &folder.path().join("second")), Err(BackupError::Io { .. })));
    fs::remove_file(partial.join("photo.jpg")).unwrap();
    backup(&path, &folder.path().join("second")).unwrap();
    assert!(!partial.exists());
}
