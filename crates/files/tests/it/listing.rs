//! Tests listings of directories, and descriptions of paths.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use files::{DirectoryItem, FileKind};

use crate::support::{Disk, shown};

#[test]
fn a_directory_is_listed_by_name_without_what_is_protected() {
    let disk = Disk::new();
    disk.put("open/.env", "x");
    disk.put("open/.ENV.Local", "x");
    disk.put("open/.ssh/config", "x");
    disk.put("open/.env.example", "four");
    disk.put("open/.git/config", "x");
    disk.link("open/out", "../shut");
    fs::write(disk.at("open").join(OsStr::from_bytes(b"bytes\xff")), "x").unwrap();
    let listing = disk.trees().list(disk.at("open"), 99).unwrap();
    let shown: Vec<_> =
        listing.items.iter().map(|DirectoryItem { name, kind, .. }| format!("{name} {kind:?}")).collect();
    let expected =
        [".env.example File", ".git Directory", "a.txt File", "bytes\u{fffd} File", "out Link", "sub Directory"];
    assert_eq!((shown.as_slice(), listing.more), (expected.map(str::to_owned).as_slice(), false));
    assert_eq!(listing.items[0].bytes, 4);
    assert!(!disk.trees().list(disk.at("open/.git"), 9).unwrap().items.iter().any(|item| item.name == "config"));
}

#[test]
fn a_listing_is_bounded_and_says_so() {
    let disk = Disk::new();
    for n in 0..20 {
        disk.put(&format!("open/many/{n:02}"), "");
    }
    let list = |max| disk.trees().list(disk.at("open/many"), max).unwrap();
    for (max, items, more) in [(0, 0, true), (19, 19, true), (20, 20, false), (99, 20, false)] {
        assert_eq!((list(max).items.len(), list(max).more), (items, more), "{max}");
    }
}

#[test]
fn what_is_no_directory_is_not_listed() {
    let disk = Disk::new();
    disk.link("open/in", "sub");
    disk.link("open/out", "../shut");
    let list = |path: &str| {
        let listed = disk.trees().list(disk.at(path), 9);
        shown(listed.map(|list| list.items.into_iter().map(|item| item.name).collect::<Vec<_>>().join(" ")))
    };
    for (path, expected) in [
        ("open/sub", "b.txt"),
        ("open/in", "b.txt"),
        ("open/in/..", "a.txt in out sub"),
        ("open/a.txt", "not a directory"),
        ("open/missing", "not found"),
        ("open/out", "not allowed"),
        ("open/.ssh", "not allowed"),
    ] {
        assert_eq!(list(path), expected, "{path}");
    }
}

#[test]
fn a_path_is_looked_at_through_links() {
    let disk = Disk::new();
    disk.put("open/five", "12345");
    disk.link("open/to-five", "five");
    fs::File::options()
        .write(true)
        .open(disk.at("open/five"))
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_millis(1_763_175_600_123))
        .unwrap();
    let stat = |path: &str| disk.trees().stat(disk.at(path));
    for path in ["open/five", "open/to-five"] {
        let five = stat(path).unwrap();
        assert_eq!((five.kind, five.bytes, five.modified_at_ms), (FileKind::File, 5, 1_763_175_600_123));
    }
    assert_eq!(stat("open").unwrap().kind, FileKind::Directory);
    assert_eq!(shown(stat("open/missing").map(|_| String::new())), "not found");
}

/// Each name once and in order, whatever comes and goes between two pages.
#[test]
fn a_directory_is_listed_page_by_page() {
    let disk = Disk::new();
    for n in 0..25 {
        disk.put(&format!("open/many/{n:02}"), "");
    }
    disk.put("open/many/.env", "x");
    disk.put("open/many/07.pem", "x");
    fs::write(disk.at("open/many").join(OsStr::from_bytes(b"bytes\xff")), "x").unwrap();
    let trees = disk.trees();
    let (mut names, mut after, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = trees.list_page(disk.at("open/many"), after.as_deref(), 4).unwrap();
        assert!(page.items.len() <= 4);
        names.extend(page.items.into_iter().map(|item| item.name));
        pages += 1;
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
        if pages == 2 {
            fs::remove_file(disk.at("open/many/03")).unwrap();
            disk.put("open/many/00-late", "");
            disk.put("open/many/20-late", "");
        }
    }
    let mut expected: Vec<String> = (0..25).map(|n| format!("{n:02}")).collect();
    expected.insert(21, "20-late".to_owned());
    expected.push("bytes\u{fffd}".to_owned());
    assert_eq!((names, pages), (expected, 7));
    let whole = trees.list_page(disk.at("open/many"), None, 99).unwrap();
    assert_eq!((whole.items.len(), whole.next), (27, None));
    let after_all = trees.list_page(disk.at("open/many"), Some(OsStr::new("zzz")), 9).unwrap();
    assert_eq!((after_all.items.len(), after_all.next), (0, None));
    for (path, expected) in [
        ("open/a.txt", "not a directory"),
        ("open/missing", "not found"),
        ("shut", "not allowed"),
        ("open/.ssh", "not allowed"),
    ] {
        assert_eq!(shown(trees.list_page(disk.at(path), None, 9).map(|_| String::new())), expected, "{path}");
    }
}
