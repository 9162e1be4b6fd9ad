//! `/sessions/{id}/changes?since=git` for repositories that are copied, sparse, damaged, large or full of odd names.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::changes::{begin, diff, git, list};
use crate::support::World;

/// A repository with one commit of these files, and a session in it.
async fn repository(world: &World, files: &[(String, Vec<u8>)]) -> (String, PathBuf) {
    let work = world.directory.path().canonicalize().unwrap().join("work");
    fs::create_dir_all(&work).unwrap();
    git(&work, &["init", "-q"]);
    for (name, content) in files {
        fs::create_dir_all(work.join(name).parent().unwrap()).unwrap();
        fs::write(work.join(name), content).unwrap();
    }
    if !files.is_empty() {
        git(&work, &["add", "-A"]);
        git(&work, &["commit", "-qm", "first"]);
    }
    (begin(world, &work).await, work)
}

fn file(name: &str, content: &str) -> (String, Vec<u8>) {
    (name.to_owned(), content.as_bytes().to_vec())
}

/// As a copy leaves them: what the files hold is the same, and their times are not.
fn touch(work: &Path, files: &[(String, Vec<u8>)]) {
    for (name, _) in files {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        File::options().write(true).open(work.join(name)).unwrap().set_modified(at).unwrap();
    }
}

async fn page(world: &World, session: &str) -> Value {
    world.get(&format!("/api/v1/sessions/{session}/changes?since=git")).await.ok(200)
}

#[tokio::test]
async fn of_a_copied_repository_only_what_differs_is_listed() {
    let world = World::open().await;
    let mut files: Vec<_> = (0..260).map(|n| file(&format!("{n:03}"), &format!("{n}\n"))).collect();
    files.extend([("picture".to_owned(), vec![0, 1, 2]), ("large".to_owned(), vec![b'x'; 2 << 20])]);
    files.extend([file("z-changed", "old\n"), file("z-gone", "gone\n"), file("z-large", &"y".repeat(2 << 20))]);
    let (session, work) = repository(&world, &files).await;
    touch(&work, &files);
    assert_eq!(list(&world, &session, "since=git").await, "");
    fs::write(work.join("z-changed"), "new\n").unwrap();
    fs::write(work.join("z-large"), "z".repeat(2 << 20)).unwrap();
    fs::remove_file(work.join("z-gone")).unwrap();
    let expected = "z-changed changed +1 -1 by outside []\n\
        z-gone deleted +0 -1 by outside []\n\
        z-large changed too_large by outside []";
    assert_eq!(list(&world, &session, "since=git").await, expected);
    world.close().await;
}

#[tokio::test]
async fn what_is_not_counted_was_looked_at_all_the_same() {
    let world = World::open().await;
    let mut files: Vec<_> = (0..203).map(|n| file(&format!("{n:03}"), &format!("{n}\n"))).collect();
    files.extend([file("y-same", "same\r\n"), file("z-gone", "gone\n"), file("z-kept", "kept\n")]);
    let (session, work) = repository(&world, &files).await;
    touch(&work, &files);
    for (name, _) in &files[..203] {
        fs::write(work.join(name), "changed\n").unwrap();
    }
    // Where line ends are the only difference, a file is the same.
    fs::write(work.join("y-same"), "same\n").unwrap();
    fs::remove_file(work.join("z-gone")).unwrap();
    fs::write(work.join("z-new"), "new\n").unwrap();
    let listed = list(&world, &session, "since=git").await;
    let listed: Vec<&str> = listed.lines().collect();
    assert_eq!((listed.len(), listed[199]), (205, "199 changed +1 -1 by outside []"));
    let rest = [
        "200 changed not_counted by outside []",
        "201 changed not_counted by outside []",
        "202 changed not_counted by outside []",
        "z-gone deleted not_counted by outside []",
        "z-new created not_counted by outside []",
    ];
    assert_eq!(listed[200..], rest);
    assert_eq!(diff(&world, &session, &work.join("202"), "since=git").await, "-202\n+changed");
    let page = page(&world, &session).await;
    assert!(page["incomplete"].is_null(), "{page}");
    world.close().await;
}

/// More than is read of a repository at once.
#[tokio::test]
async fn many_large_files_are_compared_some_at_a_time() {
    let world = World::open().await;
    let text = |n: usize| format!("{n}\n{}", format!("{}\n", "x".repeat(9_999)).repeat(100));
    let files: Vec<_> = (10..30).map(|n| file(&format!("{n}"), &text(n))).collect();
    let (session, work) = repository(&world, &files).await;
    touch(&work, &files);
    for n in [10, 29] {
        fs::write(work.join(format!("{n}")), text(n + 100)).unwrap();
    }
    let expected = "10 changed +1 -1 by outside []\n29 changed +1 -1 by outside []";
    assert_eq!(list(&world, &session, "since=git").await, expected);
    world.close().await;
}

#[tokio::test]
async fn a_branch_without_a_commit_is_no_damage_and_damage_is_no_such_branch() {
    let world = World::open().await;
    let (session, work) = repository(&world, &[]).await;
    fs::write(work.join("a"), "a\n").unwrap();
    git(&work, &["add", "-A"]);
    assert_eq!(list(&world, &session, "since=git").await, "a created +1 -0 by outside []");
    git(&work, &["checkout", "-q", "-b", "work"]);
    git(&work, &["commit", "-qm", "first"]);
    assert_eq!(list(&world, &session, "since=git").await, "");

    let (branch, head) = (work.join(".git/refs/heads/work"), work.join(".git/HEAD"));
    let missing = "1234567890123456789012345678901234567890\n";
    let route = format!("/api/v1/sessions/{session}/changes?since=git");
    for damage in ["", "nonsense\n", missing] {
        let kept = fs::read(&branch).unwrap();
        fs::write(&branch, damage).unwrap();
        assert_eq!(world.get(&route).await.summary(), "409 git_failed", "{damage:?}");
        fs::write(&branch, kept).unwrap();
    }
    fs::write(&head, missing).unwrap();
    assert_eq!(world.get(&route).await.summary(), "409 git_failed");
    world.close().await;
}

#[tokio::test]
async fn what_a_sparse_checkout_leaves_out_is_not_deleted() {
    let world = World::open().await;
    let files = [file("in/a", "a\n"), file("out/b", "b\n"), file("out/deep/c", "c\n"), file("promised", "p\n")];
    let (session, work) = repository(&world, &files).await;
    git(&work, &["sparse-checkout", "set", "in"]);
    assert!(!work.join("out").exists());
    git(&work, &["update-index", "--assume-unchanged", "promised"]);
    fs::write(work.join("promised"), "broken\n").unwrap();
    for since in ["since=git", "since=index"] {
        assert_eq!(list(&world, &session, since).await, "");
        let path = work.join("out/b");
        let route = format!("/api/v1/sessions/{session}/changes/file?{since}&path={}", path.display());
        assert_eq!(world.get(&route).await.summary(), "404 file_not_changed");
    }
    fs::remove_file(work.join("in/a")).unwrap();
    assert_eq!(list(&world, &session, "since=git").await, "in/a deleted +0 -1 by outside []");
    world.close().await;
}

/// T19: the objects of another repository are not read through this one.
#[tokio::test]
async fn linked_packs_of_another_repository_are_not_read() {
    let world = World::open().await;
    let (session, work) = repository(&world, &[]).await;
    let secret = world.directory.path().canonicalize().unwrap().join("secret");
    fs::create_dir_all(&secret).unwrap();
    git(&secret, &["init", "-q"]);
    fs::write(secret.join("plan.txt"), "the hidden plan\n").unwrap();
    git(&secret, &["add", "-A"]);
    git(&secret, &["commit", "-qm", "first"]);
    git(&secret, &["repack", "-adq"]);
    let route = format!("/api/v1/sessions/{session}/changes?since=git");
    assert_eq!(world.get(&route).await.status, 200);
    fs::remove_dir(work.join(".git/objects/pack")).unwrap();
    symlink(secret.join(".git/objects/pack"), work.join(".git/objects/pack")).unwrap();
    for file in ["HEAD", "index"] {
        fs::copy(secret.join(".git").join(file), work.join(".git").join(file)).unwrap();
    }
    let branch = fs::read_to_string(secret.join(".git/HEAD")).unwrap().replace("ref: ", "").trim().to_owned();
    fs::copy(secret.join(".git").join(&branch), work.join(".git").join(&branch)).unwrap();
    assert_eq!(world.get(&route).await.summary(), "409 repository_elsewhere");
    let heard = String::from_utf8_lossy(&world.heard.lock().unwrap()).into_owned();
    assert!(!heard.contains("plan.txt"), "{heard}");
    world.close().await;
}

#[tokio::test]
async fn odd_names_are_compared_and_of_too_many_it_is_said_that_there_may_be_more() {
    let world = World::open().await;
    let files = [file("a", "a\n"), file("a*", "star\n"), file(":(top)b", "top\n"), file("[x]", "x\n")];
    let (session, work) = repository(&world, &files).await;
    for (name, _) in &files[1..] {
        fs::write(work.join(name), "new\n").unwrap();
    }
    let expected =
        ":(top)b changed +1 -1 by outside []\n[x] changed +1 -1 by outside []\na* changed +1 -1 by outside []";
    assert_eq!(list(&world, &session, "since=git").await, expected);
    for (name, old) in [("a*", "star"), (":(top)b", "top"), ("%5Bx%5D", "x")] {
        assert_eq!(diff(&world, &session, &work.join(name), "since=git").await, format!("-{old}\n+new"));
    }
    let route = format!("/api/v1/sessions/{session}/changes/file?since=git&path=");
    for odd in ["a", "../work/a*", "./a*", "", "/a*"] {
        let path = format!("{}/{odd}", work.display());
        assert_eq!(world.get(&format!("{route}{path}")).await.summary(), "404 file_not_changed", "{path}");
    }
    for n in 0..1_300 {
        fs::write(work.join(format!("{n}{}", "x".repeat(220))), "").unwrap();
    }
    let page = page(&world, &session).await;
    let why = json!(["there are more untracked files than are listed"]);
    assert_eq!((&page["incomplete"], &page["leftOut"]), (&json!(true), &why));
    world.close().await;
}

/// A tracked file that can not be named may have changed all the same.
#[tokio::test]
async fn tracked_names_that_are_not_valid_utf_8_are_said_to_be_left_out() {
    let world = World::open().await;
    let (session, work) = repository(&world, &[file("a", "a\n")]).await;
    assert!(page(&world, &session).await["incomplete"].is_null());
    for name in [&b"caf\xe9.txt"[..], b"na\xefve.txt"] {
        fs::write(work.join(OsStr::from_bytes(name)), "old\n").unwrap();
    }
    git(&work, &["add", "-A"]);
    git(&work, &["commit", "-qm", "second"]);
    fs::write(work.join(OsStr::from_bytes(b"caf\xe9.txt")), "new\n").unwrap();
    let page = page(&world, &session).await;
    let why = json!(["2 files were not compared: their names are not valid UTF-8"]);
    assert_eq!((&page["incomplete"], &page["leftOut"]), (&json!(true), &why));
    assert_eq!(page["files"], json!([]));
    world.close().await;
}
