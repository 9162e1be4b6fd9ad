//! Tests ways out of a tree (T15, T16, T19).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use files::{Expected, Tree, Trees};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::sample::select;

use crate::support::{Disk, MAX, SECRET, shown};

#[test]
fn paths_that_lead_out_are_refused_whether_or_not_something_is_there() {
    let disk = Disk::new();
    let trees = disk.trees();
    let inside = disk.at("open").to_str().unwrap().to_owned();
    let mut paths: Vec<PathBuf> = ["shut/secret.txt", "shut/missing.txt", "missing/x", "", "open/../shut/secret.txt"]
        .into_iter()
        .chain(["open/sub/../../shut/secret.txt", "open/../open/../shut/missing", "opensesame/secret.txt", "opens"])
        .map(|path| disk.at(path))
        .collect();
    paths.extend(
        ["/etc/passwd", "/etc/nothing-here", "/", "a.txt", "./a.txt", "../shut/secret.txt", "", "~/a.txt", "."]
            .map(PathBuf::from),
    );
    paths.extend([
        format!("{inside}\0/a.txt").into(),
        format!("{inside}/a.txt\0").into(),
        format!("{inside}/%2e%2e/../../shut/secret.txt").into(),
        format!("file://{inside}/a.txt").into(),
    ]);
    for path in &paths {
        assert_eq!(shown(trees.read_text(path, None, None, MAX)), "not allowed", "{path:?}");
        assert_eq!(shown(trees.read_bytes(path, MAX).map(|_| String::new())), "not allowed", "{path:?}");
        assert_eq!(shown(trees.list(path, 9).map(|list| format!("{list:?}"))), "not allowed", "{path:?}");
        assert_eq!(shown(trees.stat(path).map(|stat| format!("{stat:?}"))), "not allowed", "{path:?}");
        assert_eq!(shown(trees.write_text(path, "x").map(|_| String::new())), "not allowed", "{path:?}");
    }
    assert_eq!(disk.text("shut/secret.txt"), SECRET);
    assert!(!disk.at("missing").exists() && !disk.at("shut/missing.txt").exists());
}

#[test]
fn odd_spellings_of_what_is_inside_are_understood() {
    let disk = Disk::new();
    for (path, expected) in [
        ("open/a.txt", "a"),
        ("open/./sub/..//a.txt", "a"),
        ("open/missing/../sub/b.txt", "b"),
        ("shut/../open/a.txt", "a"),
        ("open/%61.txt", "not found"),
        ("open/...", "not found"),
        ("open/a.txt/x", "not a directory"),
        ("open/a.txt/", "a"),
        ("open/sub", "not a file"),
        ("open", "not a file"),
    ] {
        assert_eq!(disk.read(path), expected, "{path}");
    }
    let long = format!("open/{}", "x".repeat(300));
    assert_eq!(disk.read(&long), "not found");
}

#[test]
fn links_are_followed_as_long_as_they_stay_inside() {
    let disk = Disk::new();
    disk.link("open/sub/near", "b.txt");
    disk.link("open/up", "sub/../a.txt");
    disk.link("open/folder", "sub");
    disk.link("open/whole", disk.at("open/sub/b.txt"));
    disk.link("open/root", disk.at("open"));
    disk.link("open/chain", "root/folder/near");
    disk.link("open/gone", "sub/nothing");
    disk.link("open/self", "self");
    disk.link("open/out", "../shut/secret.txt");
    disk.link("open/out-missing", "../shut/missing");
    disk.link("open/out-folder", "../shut");
    disk.link("open/out-whole", disk.at("shut/secret.txt"));
    disk.link("open/out-and-in", "../open/a.txt");
    disk.link("open/sibling", disk.at("opensesame/secret.txt"));
    disk.link("open/round", disk.at("open/../shut/secret.txt"));
    disk.link("open/sub/out", "../../shut");
    for (path, expected) in [
        ("open/sub/near", "b"),
        ("open/up", "a"),
        ("open/folder/b.txt", "b"),
        ("open/folder/near", "b"),
        ("open/whole", "b"),
        ("open/root/root/a.txt", "a"),
        ("open/chain", "b"),
        ("open/gone", "not found"),
        ("open/self", "io FilesystemLoop"),
        ("open/out", "not allowed"),
        ("open/out-missing", "not allowed"),
        ("open/out-folder/secret.txt", "not allowed"),
        ("open/out-folder/missing", "not allowed"),
        ("open/out-whole", "not allowed"),
        // It may not leave, even to come back.
        ("open/out-and-in", "not allowed"),
        ("open/sibling", "not allowed"),
        ("open/round", "not allowed"),
        ("open/folder/out/secret.txt", "not allowed"),
        ("open/sub/out/secret.txt", "not allowed"),
    ] {
        assert_eq!(disk.read(path), expected, "{path}");
    }
}

#[test]
fn a_tree_is_known_by_its_given_and_by_its_real_path() {
    let disk = Disk::new();
    disk.link("alias", "open");
    let trees = Trees::new(vec![Tree::open(disk.at("alias")).unwrap()]);
    for path in ["alias/sub/b.txt", "open/sub/b.txt"] {
        assert_eq!(shown(trees.read_text(disk.at(path), None, None, MAX)), "b");
    }
    disk.link("open/by-alias", disk.at("alias/a.txt"));
    assert_eq!(shown(trees.read_text(disk.at("open/by-alias"), None, None, MAX)), "a");
    // The directory is held, not its name.
    std::fs::remove_file(disk.at("alias")).unwrap();
    disk.link("alias", "shut");
    assert_eq!(shown(trees.read_text(disk.at("alias/secret.txt"), None, None, MAX)), "not found");
}

#[test]
fn several_trees_are_apart_and_the_innermost_answers() {
    let disk = Disk::new();
    disk.put("third/c.txt", "c");
    disk.link("open/across", disk.at("third/c.txt"));
    disk.link("open/sub/above", "../a.txt");
    let open = |path: &str| Tree::open(disk.at(path)).unwrap();
    let trees = Trees::new(vec![open("open"), open("third"), open("open/sub")]);
    let read = |path: &str| shown(trees.read_text(disk.at(path), None, None, MAX));
    assert_eq!((read("open/a.txt").as_str(), read("third/c.txt").as_str()), ("a", "c"));
    assert_eq!(read("shut/secret.txt"), "not allowed");
    assert_eq!(read("open/across"), "not allowed", "a link does not change trees");
    assert_eq!(read("open/sub/above"), "not allowed", "a tree inside another ends at its own root");
}

#[test]
fn what_is_no_directory_can_not_be_opened_as_a_tree() {
    let disk = Disk::new();
    let open = |path: &Path| shown(Tree::open(path).map(|_| "opened".to_owned()));
    assert_eq!(open(&disk.at("open")), "opened");
    assert_eq!(open(&disk.at("open/a.txt")), "not a directory");
    assert_eq!(open(&disk.at("missing")), "not found");
    assert_eq!(open(Path::new("open")), "not allowed");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is made of names, links and dots: nothing from outside is read, listed or written.
    #[test]
    fn no_path_reads_from_outside(
        parts in vec(select(vec![
            "..", ".", "", "a.txt", "sub", "b.txt", "shut", "open", "opensesame", "secret.txt", "in", "out", "deep",
            "root", "whole", "...", "x",
        ]), 0..9),
        writes in proptest::bool::ANY,
    ) {
        let disk = Disk::new();
        disk.link("open/in", "sub");
        disk.link("open/out", "..");
        disk.link("open/sub/deep", "../../shut");
        disk.link("open/root", "/");
        disk.link("open/whole", disk.at("open"));
        let path = format!("open/{}", parts.join("/"));
        if writes {
            disk.write(&path);
        }
        assert!(!disk.read(&path).contains(SECRET), "{path}");
        let listed = disk.trees().list(disk.at(&path), 99);
        assert!(!listed.is_ok_and(|list| list.items.iter().any(|item| item.name == "secret.txt")), "{path}");
        assert_eq!(disk.text("shut/secret.txt"), SECRET);
        assert_eq!(disk.text("opensesame/secret.txt"), SECRET);
        assert_eq!(std::fs::read_dir(disk.at("shut")).unwrap().count(), 1, "{path}");
        assert_eq!(std::fs::read_dir(disk.at("")).unwrap().count(), 3, "{path}");
    }

    /// The same for paths of any bytes, absolute ones too, and for protected names inside.
    #[test]
    fn no_bytes_lead_out_or_to_a_protected_name(
        is_absolute in proptest::bool::weighted(0.2),
        parts in vec(prop_oneof![3 => name(), 1 => vec(any::<u8>(), 0..5)], 0..9),
    ) {
        let disk = Disk::new();
        disk.put("open/.env", SECRET);
        disk.put("open/sub/.SSH/key", SECRET);
        disk.link("open/in", "sub");
        disk.link("open/out", "..");
        disk.link("open/env", ".env");
        disk.link("open/sub/env", "../in/../.env");
        disk.link("open/ssh", "sub/.SSH");
        disk.link("open/root", "/");
        let root = if is_absolute { disk.at("") } else { disk.at("open") };
        let path = [root.into_os_string().into_vec(), parts.join(&b'/')].join(&b'/');
        let path = PathBuf::from(OsString::from_vec(path));
        let trees = disk.trees();
        assert_ne!(trees.read_bytes(&path, MAX).unwrap_or_default(), SECRET.as_bytes(), "{path:?}");
        let written = trees.write_bytes(&path, b"new", &Expected::AnyFile);
        let page = trees.list_page(&path, None, 99);
        let names = page.map(|page| page.items.into_iter().map(|item| item.name).collect::<Vec<_>>());
        let hidden = ["secret.txt", "key", ".env", ".SSH", "shut"];
        assert!(!names.unwrap_or_default().iter().any(|name| hidden.contains(&name.as_str())), "{path:?}");
        for secret in ["shut/secret.txt", "opensesame/secret.txt", "open/.env", "open/sub/.SSH/key"] {
            assert_eq!(disk.text(secret), SECRET, "{path:?} {written:?}");
        }
    }
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    let names = vec![
        "..",
        ".",
        "",
        "a.txt",
        "sub",
        "b.txt",
        "shut",
        "open",
        "opensesame",
        "secret.txt",
        "in",
        "out",
        "env",
        "ssh",
        "root",
        ".env",
        ".ENV",
        ".env.",
        ".env ",
        ".SSH",
        "key",
        "%2e%2e",
        "...",
        "\0",
    ];
    select(names).prop_map(|name| name.as_bytes().to_vec())
}
