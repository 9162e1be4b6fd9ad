//! Tests the directories that are suggested while a path is typed.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use files::{complete, is_directory};

use crate::support::Disk;

/// Suggestions below the disk's root, projects with a star.
fn offered(disk: &Disk, prefix: &str, home: Option<&Path>, max: usize) -> String {
    let root = format!("{}/", disk.at("").to_str().unwrap().trim_end_matches('/'));
    let found = complete(prefix, home, max).into_iter().map(|suggestion| {
        let path = suggestion.path.strip_prefix(&root).unwrap_or(&suggestion.path).to_owned();
        if suggestion.is_project { format!("{path}*") } else { path }
    });
    found.collect::<Vec<_>>().join(" ")
}

fn disk() -> Disk {
    let disk = Disk::new();
    for path in
        ["home/.git", "home/Code/.git", "home/code-old", "home/codex", "home/.config", "home/.cache", "home/Documents"]
    {
        fs::create_dir_all(disk.at(path)).unwrap();
    }
    disk.put("home/codes.txt", "no directory");
    disk.put("home/tree/.git", "gitdir: elsewhere");
    disk.link("home/linked", disk.at("open"));
    disk.link("home/to-file", "codes.txt");
    disk.link("home/dangling", "nowhere");
    disk
}

#[test]
fn directories_go_on_from_what_was_typed() {
    let disk = disk();
    let home = disk.at("home");
    let all = "home/Code* home/code-old home/codex home/Documents home/linked home/tree*";
    for (prefix, expected) in [
        ("home/co", "home/code-old home/codex home/Code*"),
        ("home/Co", "home/Code* home/code-old home/codex"),
        ("home/CODE", "home/Code* home/code-old home/codex"),
        ("home/codex", "home/codex"),
        ("home/", all),
        ("home/l", "home/linked"),
        ("home/t", "home/tree*"),
        ("home/.", "home/.cache home/.config home/.git"),
        ("home/.c", "home/.cache home/.config"),
        ("home/Code/.", "home/Code/.git"),
        ("home/zzz", ""),
        ("home/codes.txt/", ""),
        ("missing/", ""),
        ("home/../ho", "home*"),
        ("home/./Code/..//tr", "home/tree*"),
        ("home", "home*"),
        ("home/linked/s", "home/linked/sub"),
        ("home\0/", ""),
    ] {
        let typed = format!("{}/{prefix}", disk.at("").to_str().unwrap().trim_end_matches('/'));
        assert_eq!(offered(&disk, &typed, Some(&home), 99), expected, "{prefix:?}");
    }
    for prefix in ["~", "~/", ""] {
        assert_eq!(offered(&disk, prefix, Some(&home), 99), all, "{prefix:?}");
        assert_eq!(offered(&disk, prefix, None, 99), "", "{prefix:?}");
    }
    assert_eq!(offered(&disk, "~/tr", Some(&home), 99), "home/tree*");
    for prefix in ["~ada/", "home/", "./", "co", "..", "relative/path"] {
        assert_eq!(offered(&disk, prefix, Some(&home), 99), "", "{prefix:?}");
    }
}

#[test]
fn the_root_has_no_second_slash() {
    let found = complete("/us", None, 99);
    assert!(found.iter().any(|suggestion| suggestion.path == "/usr"), "{found:?}");
    assert!(complete("/", None, 99).iter().all(|suggestion| suggestion.path.rfind('/') == Some(0)));
}

#[test]
fn suggestions_are_bounded() {
    let disk = Disk::new();
    let many = disk.at("many");
    for n in 0..30 {
        fs::create_dir_all(many.join(format!("d{n:02}"))).unwrap();
    }
    let typed = |name: &str| format!("{}/{name}", many.to_str().unwrap());
    assert_eq!(offered(&disk, &typed("d"), None, 3), "many/d00 many/d01 many/d02");
    assert_eq!(offered(&disk, &typed("d"), None, 0), "");
}

#[test]
fn names_that_are_no_text_are_left_out() {
    let disk = Disk::new();
    fs::create_dir(disk.at("open").join(OsStr::from_bytes(b"x\xff"))).unwrap();
    fs::create_dir(disk.at("open/xy")).unwrap();
    assert_eq!(offered(&disk, disk.at("open/x").to_str().unwrap(), None, 9), "open/xy");
    assert!(is_directory(disk.at("open/xy")) && !is_directory(disk.at("open/a.txt")) && !is_directory(disk.at("no")));
}
