//! Tests the readable copies: how a folder without its database is restored, and what happens if the database is
//! older than the copies.

use std::fs;

use rustix::process::Signal;

use crate::support::{Folder, mode};

#[test]
fn a_folder_without_its_database_comes_back() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new", "--name", "first steps"]).ok();
    folder.run(&["send", "last", "say hello"]).ok();
    folder.run(&["send", "last", "say and again\nover two lines"]).ok();
    folder.run(&["new", "--name", "never used"]).ok();
    folder.run(&["new"]).ok();
    folder.run(&["send", "last", "--no-wait", "slow 600"]).ok();
    folder.until_logged("turn.started");
    server.stop();
    let before = (folder.copies(), folder.run(&["list", "--json"]).ok(), folder.run(&["show", "last"]).ok());
    assert_eq!(before.0.len(), 5, "{:?}", before.0.keys());
    for path in before.0.keys() {
        assert_eq!((mode(path), mode(path.parent().unwrap())), (0o600, 0o700));
    }

    folder.lose_database();
    fs::remove_file(folder.file("token")).unwrap();
    let server = folder.serve();
    assert!(folder.log().contains("3 sessions were restored"), "{}", folder.log());
    assert_eq!(folder.run(&["list", "--json"]).ok(), before.1);
    assert_eq!(folder.run(&["show", "last"]).ok(), before.2);
    assert_eq!(server.status(&fs::read_to_string(folder.file("token")).unwrap()), "200");
    server.stop();
    assert_eq!(folder.copies(), before.0);

    // New entries continue from there.
    folder.run(&["send", "last", "say on"]).ok();
    let shown = folder.run(&["show", "last"]).ok();
    assert!(shown.starts_with(before.2.trim_end()) && shown.contains("t2 > say on"), "{shown}");
}

/// Without a server each command does its work: it finds the copies, and leaves them up to date.
#[test]
fn commands_write_copies_and_fill_an_empty_database_by_themselves() {
    let folder = Folder::new();
    folder.run(&["list"]).ok();
    assert!(!folder.file("sessions").exists(), "there is nothing to copy yet");
    folder.run(&["new", "--name", "alone"]).ok();
    folder.run(&["send", "last", "say hello"]).ok();
    let before = (folder.copies(), folder.run(&["show", "last"]).ok());
    assert!(before.0.values().any(|content| content.contains("say hello")), "{:?}", before.0);
    folder.lose_database();
    let shown = folder.run(&["show", "last"]);
    assert_eq!((shown.code, &shown.stdout), (Some(0), &before.1));
    assert!(shown.stderr.starts_with("note: the database was empty; 1 session was restored"), "{}", shown.stderr);
    assert_eq!(folder.run(&["show", "last"]).ok(), before.1);
    assert_eq!(folder.copies(), before.0);
}

/// Killed at any moment, a start leaves the database complete or absent.
#[test]
fn a_start_that_is_killed_while_it_brings_sessions_back_is_begun_again() {
    let folder = Folder::new();
    for _ in 0..3 {
        folder.run(&["new"]).ok();
        folder.run_with_input(&["send", "last", "-"], &format!("say {}", "word-".repeat(100_000))).ok();
    }
    let before = (folder.copies(), folder.run(&["list", "--json"]).ok());
    folder.lose_database();
    for _ in 0..5 {
        folder.kill_soon(&["list"]);
    }
    // If it was complete before the kill, this does nothing.
    folder.run(&["list"]);
    assert_eq!(folder.run(&["list", "--json"]).ok(), before.1);
    assert_eq!(folder.copies(), before.0);
}

#[test]
fn an_old_database_in_place_of_the_new_one_is_told_and_the_copies_are_kept() {
    let folder = Folder::new();
    folder.run(&["new", "--name", "old and new"]).ok();
    let old = fs::read(folder.file("throughline.db")).unwrap();
    folder.run(&["send", "last", "say this gets lost"]).ok();
    let copies = folder.copies();
    fs::write(folder.file("throughline.db"), old).unwrap();

    let (status, _, _) = folder.serve().end(Signal::TERM);
    assert!(status.success(), "{}", folder.log());
    assert!(folder.log().contains("ERROR"), "{}", folder.log());
    assert!(folder.log().contains("the database stands at an older state"), "{}", folder.log());
    let aside = fs::read_dir(folder.data()).unwrap().map(|entry| entry.unwrap().path());
    let aside: Vec<_> = aside.filter(|path| path.to_str().unwrap().contains("sessions.before-")).collect();
    let [aside] = aside.as_slice() else { panic!("{aside:?}") };
    for (path, content) in copies {
        let kept = aside.join(path.strip_prefix(folder.file("sessions")).unwrap());
        assert_eq!(fs::read_to_string(kept).unwrap(), content);
    }
    assert_eq!(folder.copies().len(), 1, "only what the database still knows");
    folder.run(&["list"]).ok();
}
