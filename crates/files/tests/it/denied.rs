//! Tests protected names on a real disk (T17, T18, T19).

use files::{Deny, FileError, Tree, Trees};
use proptest::prelude::{ProptestConfig, proptest};
use proptest::sample::select;

use crate::support::{Disk, MAX, SECRET, shown};

#[test]
fn protected_and_outside_are_told_alike_whether_or_not_they_are_there() {
    let disk = Disk::new();
    disk.put("open/.env", SECRET);
    disk.put("open/.ssh/config", SECRET);
    let mut words = Vec::new();
    for path in [
        "open/.env",
        "open/sub/.env",
        "open/missing/.env",
        "open/a.txt/.env",
        "open/.ssh/config",
        "open/.ssh/missing",
        "open/.ssh",
        "open/sub/.ssh",
        "shut/secret.txt",
        "shut/missing",
    ] {
        let err = disk.trees().read_text(disk.at(path), None, None, MAX).unwrap_err();
        words.push(format!("{err} {err:?}"));
        assert_eq!(disk.write(path), "not allowed", "{path}");
    }
    words.dedup();
    assert_eq!(words.len(), 1, "{words:?}");
    assert!(words[0].ends_with("NotAllowed"));
    assert_eq!(disk.text("open/.env"), SECRET);
    assert!(!disk.at("open/missing").exists());
}

#[test]
fn links_with_harmless_names_do_not_help() {
    let disk = Disk::new();
    disk.put("open/.env", SECRET);
    disk.put("open/keys/id_rsa", SECRET);
    disk.put("open/.docker/config.json", SECRET);
    disk.link("open/notes.txt", ".env");
    disk.link("open/more.txt", "notes.txt");
    disk.link("open/.env.example", ".env");
    disk.link("open/key.txt", disk.at("open/keys/id_rsa"));
    disk.link("open/ship", ".docker");
    disk.link("open/maybe.txt", "missing/.env");
    disk.link("open/through", "missing/../.env");
    disk.link("open/sub/free", "../.env.sample");
    for path in ["notes.txt", "more.txt", ".env.example", "key.txt", "ship/config.json", "maybe.txt", "through"] {
        assert_eq!(disk.read(&format!("open/{path}")), "not allowed", "{path}");
    }
    assert_eq!(disk.read("open/sub/free"), "not found");
    disk.put("open/.env.sample", "sample");
    assert_eq!(disk.read("open/sub/free"), "sample");
    assert_eq!(disk.read("open/ship/other"), "not found");
}

#[test]
fn the_insides_of_git_are_read_but_not_written() {
    let disk = Disk::new();
    disk.put("open/.git/HEAD", "ref: refs/heads/main\n");
    disk.put("open/.git/config", SECRET);
    disk.put("open/work/.git", "gitdir: ../.git/worktrees/work\n");
    disk.link("open/innocent", ".git");
    assert_eq!(disk.read("open/.git/HEAD"), "ref: refs/heads/main\n");
    assert_eq!(disk.read("open/.git/config"), "not allowed");
    for path in ["open/.git/HEAD", "open/.git/hooks/pre-commit", "open/innocent/hooks/pre-commit", "open/work/.git"] {
        assert_eq!(disk.write(path), "not allowed", "{path}");
    }
    assert!(!disk.at("open/.git/hooks").exists());
    assert_eq!(disk.write("open/new/.git/hooks/x"), "not allowed");
    assert!(!disk.at("open/new").exists(), "a directory was made on the way to what is refused");
}

#[test]
fn a_tree_in_a_protected_place_gives_nothing() {
    let disk = Disk::new();
    disk.put("home/.ssh/config", SECRET);
    disk.put("home/.docker/config.json", SECRET);
    for (tree, path) in [("home/.ssh", "home/.ssh/config"), ("home/.docker", "home/.docker/config.json")] {
        let trees = Trees::new(vec![Tree::open(disk.at(tree)).unwrap()]);
        assert_eq!(shown(trees.read_text(disk.at(path), None, None, MAX)), "not allowed");
    }
}

/// T18: the folder with the database is closed on every path, except for what is opened inside of it.
#[test]
fn a_protected_folder_is_known_by_what_it_is() {
    let disk = Disk::new();
    disk.put("open/data/token", SECRET);
    disk.put("open/data/files/note.txt", "note");
    disk.link("open/alias", "data");
    let deny = Deny::standard().with_folder(&disk.at("open/data")).unwrap();
    let open = |path: &str| Tree::open(disk.at(path)).unwrap();
    let own = Tree::open_own(disk.at("open/data/files")).unwrap();
    let trees = Trees::new(vec![open("open"), own]).denying(deny.clone());
    let read = |path: &str| shown(trees.read_text(disk.at(path), None, None, MAX));
    for path in ["open/data/token", "open/data/missing", "open/alias/token", "open/alias/files/note.txt", "open/data"] {
        assert_eq!(read(path), "not allowed", "{path}");
        assert_eq!(shown(trees.stat(disk.at(path)).map(|_| String::new())), "not allowed", "{path}");
    }
    assert_eq!(read("open/data/files/note.txt"), "note");
    assert_eq!(read("open/a.txt"), "a");
    assert_eq!(shown(trees.write_text(disk.at("open/data/token"), "x").map(|_| String::new())), "not allowed");
    let names: Vec<_> = trees.list(disk.at("open"), 99).unwrap().items.into_iter().map(|item| item.name).collect();
    assert_eq!(names, ["a.txt", "alias", "sub"]);

    std::fs::rename(disk.at("open/data"), disk.at("open/moved")).unwrap();
    assert_eq!(read("open/moved/token"), "not allowed");
    for tree in ["open/moved", "open/moved/files"] {
        let trees = Trees::new(vec![open(tree)]).denying(deny.clone());
        assert_eq!(shown(trees.read_text(disk.at("open/moved/files/note.txt"), None, None, MAX)), "not allowed");
    }
    let trees = Trees::new(vec![Tree::open_own(disk.at("open/moved")).unwrap()]).denying(deny);
    assert_eq!(shown(trees.read_text(disk.at("open/moved/token"), None, None, MAX)), "not allowed");
    assert!(trees.list(disk.at("open/moved"), 99).is_err(), "nothing in it is named");
    assert_eq!(shown(Deny::standard().with_folder(&disk.at("missing")).map(|_| String::new())), "not found");
}

/// A part of a protected folder is open by its name: to a tree that begins in it, not through the folder, and not to
/// a link that leads back.
#[test]
fn a_part_of_a_protected_folder_is_left_open() {
    let disk = Disk::new();
    disk.put("open/data/token", SECRET);
    disk.put("open/data/sessions/files/secret", SECRET);
    disk.put("open/data/files/tickets/note.txt", "note");
    disk.put("open/data/files/.env", SECRET);
    disk.link("open/data/files/back", "..");
    disk.link("open/data/files/key", "../token");
    let deny = Deny::standard().with_folder_but(&disk.at("open/data"), &["files"]).unwrap();
    let trees = |root: &str| Tree::open(disk.at(root)).map(|tree| Trees::new(vec![tree]).denying(deny.clone()));
    let read = |root: &str, path: &str| {
        trees(root).map_or("no tree".to_owned(), |trees| shown(trees.read_text(disk.at(path), None, None, MAX)))
    };
    for root in ["open/data/files", "open/data/files/tickets"] {
        assert_eq!(read(root, "open/data/files/tickets/note.txt"), "note", "{root}");
    }
    for (root, path) in [
        ("open", "open/data/files/tickets/note.txt"),
        ("open/data", "open/data/token"),
        ("open/data", "open/data/files/tickets/note.txt"),
        ("open/data/files/back", "open/data/files/back/token"),
        ("open/data/files", "open/data/files/back/token"),
        ("open/data/files", "open/data/files/key"),
        ("open/data/files", "open/data/files/../token"),
        ("open/data/files", "open/data/files/.env"),
        ("open/data/sessions/files", "open/data/sessions/files/secret"),
    ] {
        assert_eq!(read(root, path), "not allowed", "{path} in {root}");
    }
    assert!(trees("open/data").unwrap().list(disk.at("open/data"), 99).is_err());
}

/// A tree at `/` does not open the kernel's own files: `/proc/self/environ` is full of secrets.
#[test]
#[cfg(target_os = "linux")]
fn the_kernels_folders_are_shut() {
    let trees = Trees::new(vec![Tree::open("/").unwrap()]);
    for path in ["/proc/self/environ", "/proc/self/root/etc/passwd", "/sys/kernel/notes", "/dev/null", "/dev", "/proc"]
    {
        assert_eq!(shown(trees.stat(path).map(|_| String::new())), "not allowed", "{path}");
        assert_eq!(shown(trees.read_bytes(path, MAX).map(|_| String::new())), "not allowed", "{path}");
    }
    for (tree, path) in [("/proc", "/proc/self/environ"), ("/proc/self", "/proc/self/environ"), ("/dev", "/dev/null")] {
        let trees = Trees::new(vec![Tree::open(tree).unwrap()]);
        assert_eq!(shown(trees.stat(path).map(|_| String::new())), "not allowed", "{tree}");
    }
    assert_eq!(trees.stat("/usr").unwrap().kind, files::FileKind::Directory);
    assert!(!trees.list("/", 999).unwrap().items.iter().any(|item| item.name == "proc"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Another spelling is refused even where the file system would tell the two apart.
    #[test]
    fn a_spelling_of_env_is_refused_on_disk(
        name in select(vec![".env", ".ENV", ".Env", ".eNv.", ".env ", ".env..", "\u{200b}.env", ".e\u{ad}nv", ".env:x"]),
        way in select(vec!["open/{}", "open/sub/../{}", "open/./{}", "open//{}/", "open/{}/x", "open/in/{}", "open/{}/."]),
        is_there in proptest::bool::ANY,
    ) {
        let disk = Disk::new();
        disk.link("open/in", ".");
        if is_there {
            disk.put(&format!("open/{name}"), SECRET);
        }
        let path = way.replace("{}", name);
        assert_eq!(disk.read(&path), "not allowed", "{path:?}");
        assert_eq!(disk.write(&path), "not allowed", "{path:?}");
    }
}

/// A credential is not shown under another name that it has in an open tree, wherever its protected name is; files
/// that package stores link stay open.
#[test]
fn another_name_of_a_protected_file_is_protected_too() {
    let disk = Disk::new();
    for (path, name) in
        [("open/.env", "inside"), ("home/.ssh/id", "key"), ("home/.netrc", "net"), ("data/token", "own")]
    {
        disk.put(path, SECRET);
        std::fs::create_dir_all(disk.at("open/deep/er")).unwrap();
        std::fs::hard_link(disk.at(path), disk.at("open/deep/er").join(name)).unwrap();
    }
    disk.put("store/package.js", "package");
    std::fs::hard_link(disk.at("store/package.js"), disk.at("open/package.js")).unwrap();
    let deny = Deny::standard().with_folder(&disk.at("data")).unwrap().with_home(&disk.at("home"));
    let trees = disk.trees().denying(deny);
    for name in ["inside", "key", "net", "own"] {
        let read = trees.read_text(disk.at("open/deep/er").join(name), None, None, MAX);
        assert!(matches!(read, Err(FileError::NotAllowed)), "{name}: {read:?}");
    }
    assert_eq!(trees.read_text(disk.at("open/package.js"), None, None, MAX).unwrap(), "package");
}

/// A folder of the home that is protected stays so wherever else it can be reached, as through a bind mount, which gives it
/// another name and leaves it the same folder. Here it is moved, which does so too and needs no privilege.
#[test]
fn a_protected_folder_of_the_home_is_protected_under_another_name() {
    let disk = Disk::new();
    for path in
        ["home/.ssh/config", "home/.config/gh/hosts.yml", "home/.mozilla/firefox/logins.json", "home/.vim/vimrc"]
    {
        disk.put(path, SECRET);
    }
    let deny = Deny::standard().with_home(&disk.at("home"));
    for (from, to) in [
        ("home/.ssh", "open/keys"),
        ("home/.config/gh", "open/settings"),
        ("home/.mozilla", "open/browser"),
        ("home/.vim", "open/editor"),
    ] {
        std::fs::rename(disk.at(from), disk.at(to)).unwrap();
    }
    let trees = disk.trees().denying(deny.clone());
    for path in ["open/keys/config", "open/settings/hosts.yml", "open/browser/firefox/logins.json"] {
        let read = trees.read_text(disk.at(path), None, None, MAX);
        assert!(matches!(read, Err(FileError::NotAllowed)), "{path}: {read:?}");
    }
    // Neither is it a tree itself, nor in one.
    for root in ["open/keys", "open/browser/firefox"] {
        let trees = Trees::new(vec![Tree::open(disk.at(root)).unwrap()]).denying(deny.clone());
        let read = trees.read_text(disk.at(root).join("config"), None, None, MAX);
        assert!(matches!(read, Err(FileError::NotAllowed)), "{root}: {read:?}");
    }
    assert_eq!(trees.read_text(disk.at("open/editor/vimrc"), None, None, MAX).unwrap(), SECRET);
}
