//! Tests writing: whole or not at all, at the name's own place.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::Command;

use files::{ContentHash, Expected, Tree, Written};
use rustix::process::{Resource, getrlimit};

use crate::support::{Disk, SECRET, shown};

fn mode(disk: &Disk, path: &str) -> u32 {
    fs::metadata(disk.at(path)).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_file_is_made_with_its_directories_or_replaced() {
    let disk = Disk::new();
    let before = disk.names();
    let write = |path: &str, text: &str| disk.trees().write_text(disk.at(path), text).unwrap();
    assert_eq!(write("open/a.txt", "longer"), Written { is_new: false, bytes: 6 });
    assert_eq!((disk.text("open/a.txt"), disk.names()), ("longer".to_owned(), before));
    assert_eq!(write("open/x/y/z.txt", "ü"), Written { is_new: true, bytes: 2 });
    assert_eq!(disk.text("open/x/y/z.txt"), "ü");
    disk.link("open/folder", "sub");
    write("open/folder/c/d.txt", "d");
    assert_eq!(disk.text("open/sub/c/d.txt"), "d");
    assert_eq!(disk.write("open/a.txt/below"), "not a directory");
    assert!(!disk.names().iter().any(|name| name.contains(".tmp")), "{:?}", disk.names());
}

#[test]
fn the_mode_of_the_older_file_is_kept() {
    let disk = Disk::new();
    for kept in [0o600, 0o640, 0o755, 0o666] {
        fs::set_permissions(disk.at("open/a.txt"), Permissions::from_mode(kept)).unwrap();
        disk.write("open/a.txt");
        assert_eq!(mode(&disk, "open/a.txt"), kept, "{kept:o}");
    }
    // The setuid bit does not pass to new content.
    fs::set_permissions(disk.at("open/a.txt"), Permissions::from_mode(0o4755)).unwrap();
    disk.write("open/a.txt");
    assert_eq!(mode(&disk, "open/a.txt"), 0o755);
    // New files have the mode that any program would give them here.
    disk.put("open/by-std", "x");
    disk.write("open/by-us");
    assert_eq!(mode(&disk, "open/by-us"), mode(&disk, "open/by-std"));
}

/// T16: neither through a link that leads out, nor through one that leads nowhere yet, nor into another name's file.
#[test]
fn links_at_the_end_are_never_written_through() {
    let disk = Disk::new();
    disk.link("open/dangling", disk.at("shut/new.txt"));
    disk.link("open/near-dangling", "new.txt");
    disk.link("open/out", "../shut/secret.txt");
    disk.link("open/near", "a.txt");
    disk.link("open/folder-out", "../shut");
    for path in ["dangling", "near-dangling", "out", "near"] {
        assert_eq!(disk.write(&format!("open/{path}")), "not a file", "{path}");
    }
    assert_eq!(disk.write("open/folder-out/new.txt"), "not allowed");
    assert_eq!(disk.write("open/folder-out/x/new.txt"), "not allowed");
    assert!(!disk.at("shut/new.txt").exists() && !disk.at("open/new.txt").exists() && !disk.at("shut/x").exists());

    fs::hard_link(disk.at("shut/secret.txt"), disk.at("open/hard")).unwrap();
    assert_eq!(disk.write("open/hard"), "wrote 3");
    assert_eq!((disk.text("shut/secret.txt").as_str(), disk.text("open/hard").as_str()), (SECRET, "new"));
}

/// Root may write everything, so for root it is the opposite.
#[test]
fn a_file_that_is_read_only_stays_as_it_is() {
    let disk = Disk::new();
    fs::set_permissions(disk.at("open/a.txt"), Permissions::from_mode(0o444)).unwrap();
    let is_root = fs::metadata(disk.at("open/a.txt")).unwrap().uid() == 0;
    let expected = if is_root { ("wrote 3", "new") } else { ("io PermissionDenied", "a") };
    assert_eq!((disk.write("open/a.txt").as_str(), disk.text("open/a.txt").as_str()), expected);
    assert_eq!(mode(&disk, "open/a.txt"), 0o444);
}

/// Under a limit on file sizes, as on a full disk, the old content stays and nothing is left beside it. Runs without
/// the limit too, by itself.
#[test]
fn under_a_limit_on_files() {
    let disk = Disk::new();
    let before = disk.names();
    let text = "x".repeat(1 << 20);
    let result = disk.trees().write_text(disk.at("open/a.txt"), &text);
    match getrlimit(Resource::Fsize).current {
        Some(limit) if limit < 1 << 20 => {
            assert!(matches!(result, Err(files::FileError::Io(_))), "{result:?}");
            assert_eq!(disk.text("open/a.txt"), "a");
            println!("refused");
        }
        _ => assert_eq!(disk.text("open/a.txt"), text),
    }
    assert_eq!(disk.names(), before);
}

#[test]
fn a_write_that_fails_keeps_the_old_content() {
    // Ignored signals and limits are inherited, so the shell sets both for this program.
    let script = r#"trap '' XFSZ; ulimit -f 64; exec "$0" --exact writing::under_a_limit_on_files --nocapture"#;
    let program = std::env::current_exe().unwrap();
    let output = Command::new("sh").arg("-c").arg(script).arg(program).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("refused"), "{told} {}", String::from_utf8_lossy(&output.stderr));
}

/// Readers see the old content or the new one, whole.
#[test]
fn a_reader_never_sees_half_of_a_write() {
    let disk = Disk::new();
    let texts = ["x".repeat(100_000), "y".repeat(200_000)];
    disk.trees().write_text(disk.at("open/a.txt"), &texts[0]).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for text in texts.iter().cycle().take(40) {
                disk.trees().write_text(disk.at("open/a.txt"), text).unwrap();
            }
        });
        while !writer.is_finished() {
            assert!(texts.contains(&disk.read("open/a.txt")));
        }
    });
}

#[test]
fn a_write_that_expects_something_else_changes_nothing() {
    let disk = Disk::new();
    let before = disk.names();
    let write = |path: &str, expected: &Expected| {
        let written = disk.trees().write_bytes(disk.at(path), b"new\0", expected);
        shown(written.map(|written| if written.is_new { "made" } else { "replaced" }.to_owned()))
    };
    let one_of =
        |contents: &[&str]| Expected::OneOf(contents.iter().map(|it| ContentHash::of(it.as_bytes())).collect());
    for (path, expected, result) in [
        ("open/a.txt", Expected::Nothing, "changed"),
        ("open/a.txt", one_of(&["b", "c"]), "changed"),
        ("open/a.txt", one_of(&[]), "changed"),
        ("open/new", Expected::AnyFile, "changed"),
        ("open/x/y/new", Expected::AnyFile, "changed"),
        ("open/x/y/new", one_of(&["a"]), "changed"),
        ("open/sub", Expected::AnyFile, "not a file"),
        ("shut/secret.txt", one_of(&[SECRET]), "not allowed"),
        ("shut/missing", Expected::Nothing, "not allowed"),
        ("open/.env", Expected::AnyFile, "not allowed"),
    ] {
        assert_eq!(write(path, &expected), result, "{path} {expected:?}");
    }
    assert_eq!((disk.names(), disk.text("open/a.txt")), (before, "a".to_owned()));
    assert_eq!(write("open/a.txt", &one_of(&["x", "a"])), "replaced");
    assert_eq!(write("open/a.txt", &one_of(&["x", "a"])), "replaced", "a repeat finds what it would write");
    assert_eq!(write("open/a.txt", &Expected::AnyFile), "replaced");
    assert_eq!(write("open/x/y/new", &Expected::Nothing), "made");
    assert_eq!(write("open/x/y/new", &Expected::Nothing), "changed");
    assert_eq!(disk.text("open/x/y/new"), "new\0");
}

/// A file that is too long to have a hash is what nobody expects; it is not read to find that out.
#[test]
fn a_huge_file_is_not_read_to_be_compared() {
    let disk = Disk::new();
    fs::File::create(disk.at("open/huge")).unwrap().set_len(1 << 40).unwrap();
    let expected = Expected::OneOf(vec![ContentHash::of(b"")]);
    let written = disk.trees().write_bytes(disk.at("open/huge"), b"x", &expected);
    assert_eq!(shown(written.map(|_| String::new())), "changed");
    assert_eq!(fs::metadata(disk.at("open/huge")).unwrap().len(), 1 << 40);
}

/// Of many that make one file only one does.
#[test]
fn a_file_that_must_be_new_is_made_once() {
    let disk = Disk::new();
    for round in 0..20 {
        let path = disk.at(&format!("open/once-{round}"));
        let make = |content: u8| disk.trees().write_bytes(&path, &[content], &Expected::Nothing);
        let made: Vec<u8> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..4).map(|n| (n, scope.spawn(move || make(n)))).collect();
            all.into_iter().filter_map(|(n, made)| made.join().unwrap().ok().map(|_| n)).collect()
        });
        assert_eq!(made.len(), 1, "{made:?}");
        assert_eq!(fs::read(&path).unwrap(), made);
    }
    assert!(!disk.names().iter().any(|name| name.contains(".tmp")), "{:?}", disk.names());
}

#[test]
fn a_directory_of_our_own_is_made_for_its_user_alone() {
    let disk = Disk::new();
    Tree::open_or_make(disk.at("own")).unwrap();
    assert_eq!(mode(&disk, "own"), 0o700);
    Tree::open_or_make(disk.at("own")).unwrap();
    assert!(Tree::open_or_make(disk.at("missing/own")).is_err() && !disk.at("missing").exists());
    assert!(Tree::open_or_make(disk.at("open/a.txt")).is_err());
}
