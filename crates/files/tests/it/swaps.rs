//! Tests races (T16): what is swapped between two steps of a walk leads nowhere else. Two names are exchanged in one
//! call, which not every system has.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::support::{Disk, MAX, SECRET, shown};

const ROUNDS: usize = 1_500;

/// Swaps two names for each other again and again while `work` runs.
fn while_swapping(disk: &Disk, one: &str, other: &str, work: impl FnOnce()) {
    /// Also if the work panics, or the scope would wait for ever.
    struct End<'a>(&'a AtomicBool);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _end = End(&is_over);
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, disk.at(one), CWD, disk.at(other), RenameFlags::EXCHANGE).unwrap();
            }
        });
        work();
    });
}

#[test]
fn a_directory_swapped_for_a_link_never_shows_what_is_outside() {
    let disk = Disk::new();
    disk.put("open/deep/x/secret.txt", "inside");
    disk.put("shut/x/secret.txt", SECRET);
    disk.link("open/trap", disk.at("shut"));
    let trees = disk.trees();
    let mut counts = (0, 0);
    while_swapping(&disk, "open/deep", "open/trap", || {
        // As long as it takes to meet both.
        while counts.0 + counts.1 < ROUNDS || counts.0 == 0 || counts.1 == 0 {
            match shown(trees.read_text(disk.at("open/deep/x/secret.txt"), None, None, MAX)).as_str() {
                "inside" => counts.0 += 1,
                "not allowed" => counts.1 += 1,
                other => panic!("{other}"),
            }
        }
    });
}

#[test]
fn a_file_swapped_for_a_link_is_not_read_through() {
    let disk = Disk::new();
    disk.put("open/file", "inside");
    disk.link("open/trap", disk.at("shut/secret.txt"));
    let trees = disk.trees();
    while_swapping(&disk, "open/file", "open/trap", || {
        for _ in 0..ROUNDS * 5 {
            let read = shown(trees.read_text(disk.at("open/file"), None, None, MAX));
            assert!(["inside", "not allowed"].contains(&read.as_str()), "{read}");
        }
    });
}

#[test]
fn a_file_swapped_for_a_link_is_not_written_through() {
    let disk = Disk::new();
    let trees = disk.trees();
    for _ in 0..20 {
        disk.put("open/file", "inside");
        // A write that meets the link at the last moment replaces it, so it is made anew.
        drop(fs::remove_file(disk.at("open/trap")));
        disk.link("open/trap", disk.at("shut/secret.txt"));
        while_swapping(&disk, "open/file", "open/trap", || {
            for _ in 0..10 {
                let wrote = shown(trees.write_text(disk.at("open/file"), "inside").map(|_| "wrote".to_owned()));
                assert!(["wrote", "not allowed", "not a file"].contains(&wrote.as_str()), "{wrote}");
            }
        });
        drop(fs::remove_file(disk.at("open/file")));
    }
    assert_eq!(disk.text("shut/secret.txt"), SECRET);
}

#[test]
fn a_write_into_a_directory_that_is_swapped_stays_inside() {
    let disk = Disk::new();
    disk.put("open/deep/keep.txt", "x");
    disk.link("open/trap", disk.at("shut"));
    let trees = disk.trees();
    while_swapping(&disk, "open/deep", "open/trap", || {
        for _ in 0..300 {
            let wrote = shown(trees.write_text(disk.at("open/deep/y/new.txt"), "inside").map(|_| "wrote".to_owned()));
            assert!(["wrote", "not allowed"].contains(&wrote.as_str()), "{wrote}");
        }
    });
    assert_eq!(fs::read_dir(disk.at("shut")).unwrap().count(), 1);
}
