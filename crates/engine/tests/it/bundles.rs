//! Bundles that are written while somebody changes the files of what was shown, and bundles that can not be taken in.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;

use engine::{FileToShow, OutputSettings, OutputState};
use model::{OutputRow, SessionEvent, SessionId};
use store::conformance::faulty::{StoreCall, StoreFault};
use store::{Copies, PayloadFolder};

use crate::support::{World, asker, next_event};

async fn keeping_files() -> World {
    let mut world = World::new().await;
    world.copies = Some(Copies::at(world.sessions_folder()));
    world.outputs = OutputSettings::new(Arc::new(PayloadFolder::at(world.sessions_folder())));
    world.stop_and_restart().await;
    world
}

/// A session that has shown something, and the file with its bytes.
async fn shown(world: &World) -> (SessionId, OutputRow, PathBuf) {
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    world.prompt(session, "slow 60").await;
    while !matches!(next_event(&mut follow).await, SessionEvent::TurnStarted { .. }) {}
    fs::write(world.directory.path().join("a.txt"), "one\n").unwrap();
    let wanted = FileToShow { path: "a.txt".to_owned(), start_line: None, end_line: None, highlight: None };
    let row = world.engine.show_text_file(session, wanted, asker()).await.unwrap();
    let file = world.sessions_folder().join(session.to_string()).join(format!("outputs/{}.txt", row.output.id));
    (session, row, file)
}

/// Its size is sent before its bytes are read: what comes after that spoils the payload at most, and never the bundle.
#[tokio::test(start_paused = true)]
async fn a_payload_that_changes_while_it_is_sent_does_not_spoil_the_bundle() {
    let link = |file: &PathBuf| {
        fs::remove_file(file).unwrap();
        symlink("/etc/passwd", file).unwrap();
    };
    let folder = |file: &PathBuf| {
        fs::remove_file(file).unwrap();
        fs::create_dir(file).unwrap();
    };
    let gone = |file: &PathBuf| fs::remove_file(file).unwrap();
    let edited = |file: &PathBuf| fs::write(file, "two\n and more").unwrap();
    let shorter = |file: &PathBuf| fs::write(file, "o").unwrap();
    let changes: [&dyn Fn(&PathBuf); 5] = [&link, &folder, &gone, &edited, &shorter];
    for change in changes {
        let world = keeping_files().await;
        let (session, row, file) = shown(&world).await;
        let mut bundle = world.engine.bundle(session).await.unwrap();
        let mut whole = Vec::new();
        while let Some(piece) = bundle.next().await.unwrap() {
            let is_head_of_payload = piece.starts_with(b"outputs/");
            whole.extend(piece);
            if is_head_of_payload {
                change(&file);
            }
        }
        let path = world.directory.path().join("a.tar");
        fs::write(&path, &whole).unwrap();
        let other = keeping_files().await;
        assert_eq!(other.engine.take_in_bundle(File::open(&path).unwrap()).await.unwrap().payloads, 1);
        let state = other.engine.output_state(&row).await.unwrap();
        assert_eq!(state, OutputState::Changed, "{}", String::from_utf8_lossy(&whole));
    }
}

/// The process ends when the payloads are stored and it is not known whether the entries are: the next one keeps them with their
/// entries, or neither.
#[tokio::test(start_paused = true)]
async fn payloads_of_a_session_that_did_not_come_in_go_at_the_next_start() {
    let world = keeping_files().await;
    let (session, row, _) = shown(&world).await;
    let path = world.directory.path().join("a.tar");
    let mut bundle = world.engine.bundle(session).await.unwrap();
    let mut whole = Vec::new();
    while let Some(piece) = bundle.next().await.unwrap() {
        whole.extend(piece);
    }
    fs::write(&path, &whole).unwrap();
    for (fault, comes_in) in [(StoreFault::Failed, false), (StoreFault::Unconfirmed, true)] {
        let mut other = keeping_files().await;
        let payload = other.sessions_folder().join(session.to_string()).join("outputs").join(row.output.file_name());
        let mark = other.sessions_folder().join(format!("{session}.arriving"));
        other.disk.when(StoreCall::Append).fail(fault);
        other.engine.take_in_bundle(File::open(&path).unwrap()).await.unwrap_err();
        assert!(payload.exists() && mark.exists(), "{fault:?}");
        other.disk.mend().await;
        other.crash_and_restart().await;
        assert_eq!((payload.exists(), mark.exists()), (comes_in, false), "{fault:?}");
        let taken = other.engine.take_in_bundle(File::open(&path).unwrap()).await.unwrap();
        assert_eq!((taken.was_here, payload.exists(), mark.exists()), (comes_in, true, false), "{fault:?}");
    }
    // One that is refused leaves nothing at once.
    let other = keeping_files().await;
    other.fill_disk();
    other.engine.take_in_bundle(File::open(&path).unwrap()).await.unwrap_err();
    let own = other.sessions_folder().join(session.to_string());
    assert!(!own.exists() && !other.sessions_folder().join(format!("{session}.arriving")).exists());
}
