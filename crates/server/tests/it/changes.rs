//! `/sessions/{id}/changes`: what changed in a session's files, by its log, its directory and git; also where a repository
//! means harm.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::client::bearer;
use crate::support::World;

/// A session in `work`.
async fn session(world: &World) -> (String, PathBuf) {
    let work = world.directory.path().canonicalize().unwrap().join("work");
    fs::create_dir_all(&work).unwrap();
    (begin(world, &work).await, work)
}

pub(crate) async fn begin(world: &World, work: &Path) -> String {
    let begun = world.call("POST /api/v1/sessions", json!({ "agent": "guide", "cwd": work })).await.ok(201);
    begun["id"].as_str().unwrap().to_owned()
}

pub(crate) fn git(work: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "protocol.file.allow=always"]);
    command.args(args).current_dir(work).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success(), "git {args:?}");
}

/// Each file in a line.
pub(crate) async fn list(world: &World, session: &str, query: &str) -> String {
    let page = world.get(&format!("/api/v1/sessions/{session}/changes?{query}")).await.ok(200);
    let files = page["files"].as_array().unwrap().iter().map(|file| {
        let word = |name: &str| file[name].as_str().unwrap().to_owned();
        let counts = match &file["lines"] {
            Value::Null => word("compared"),
            lines => format!("+{} -{}", lines["added"], lines["removed"]),
        };
        let turns: Vec<String> = file["turns"].as_array().unwrap().iter().map(ToString::to_string).collect();
        format!("{} {} {counts} by {} [{}]", word("name"), word("status"), word("by"), turns.join(","))
    });
    files.collect::<Vec<_>>().join("\n")
}

/// The lines of a diff, with their signs.
pub(crate) async fn diff(world: &World, session: &str, path: &Path, query: &str) -> String {
    let path = path.to_str().unwrap();
    let diff = world.get(&format!("/api/v1/sessions/{session}/changes/file?path={path}&{query}")).await.ok(200);
    let lines = |hunks: &Value| {
        let hunks = hunks.as_array().into_iter().flatten();
        let lines = hunks.flat_map(|hunk| hunk["lines"].as_array().unwrap().clone()).map(|line| {
            let sign = match line["kind"].as_str().unwrap() {
                "same" => " ",
                "removed" => "-",
                "added" => "+",
                other => panic!("{other}"),
            };
            format!("{sign}{}", line["text"].as_str().unwrap())
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    match lines(&diff["outside"]) {
        outside if outside.is_empty() => lines(&diff["hunks"]),
        outside => format!("{}\noutside:\n{outside}", lines(&diff["hunks"])),
    }
}

#[tokio::test]
async fn the_log_says_what_the_session_and_each_turn_changed() {
    let world = World::open().await;
    let (session, work) = session(&world).await;
    let notes = work.join("notes.md");
    fs::write(&notes, "one\ntwo\nthree").unwrap();
    assert_eq!(list(&world, &session, "").await, "");
    world.turn(&session, "write notes.md one\n2\nthree").await;
    world.turn(&session, "write new.txt hello").await;
    world.turn(&session, "write notes.md one\n2\n3").await;

    let all = "new.txt created +1 -0 by session [2]\nnotes.md changed +2 -2 by session [1,3]";
    assert_eq!(list(&world, &session, "since=session").await, all);
    assert_eq!(list(&world, &session, "turn=t1").await, "notes.md changed +1 -1 by session [1]");
    assert_eq!(list(&world, &session, "turn=2").await, "new.txt created +1 -0 by session [2]");
    assert_eq!(list(&world, &session, "since=t3").await, "notes.md changed +1 -1 by session [3]");
    assert_eq!(diff(&world, &session, &notes, "since=session").await, " one\n-two\n-three\n+2\n+3");
    assert_eq!(diff(&world, &session, &notes, "turn=t1").await, " one\n-two\n+2\n three");
    assert_eq!(diff(&world, &session, &notes, "since=t3").await, " one\n 2\n-three\n+3");
    assert_eq!(diff(&world, &session, &work.join("new.txt"), "").await, "+hello");

    // By hand, since.
    fs::write(&notes, "one\n2\n3\nfour").unwrap();
    fs::remove_file(work.join("new.txt")).unwrap();
    let both = "new.txt created +1 -0 by both [2]\nnotes.md changed +2 -2 by both [1,3]";
    assert_eq!(list(&world, &session, "").await, both);
    assert_eq!(diff(&world, &session, &notes, "").await, " one\n-two\n-three\n+2\n+3\noutside:\n one\n 2\n 3\n+four");

    // Back as it was: nothing changed.
    world.turn(&session, "write notes.md one\ntwo\nthree").await;
    assert_eq!(list(&world, &session, "").await, "new.txt created +1 -0 by both [2]");
    world.close().await;
}

#[tokio::test]
async fn git_says_how_the_directory_stands_and_facts_say_who_did_it() {
    let world = World::open().await;
    let (_, work) = session(&world).await;
    git(&work, &["init", "-q"]);
    for (name, text) in [("kept.txt", "kept\n"), ("edited.txt", "a\nb\n"), ("gone.txt", "gone\n"), ("hand.txt", "x\n")]
    {
        fs::write(work.join(name), text).unwrap();
    }
    fs::write(work.join("picture"), b"\x00\x01").unwrap();
    fs::write(work.join(".gitignore"), "ignored\n").unwrap();
    symlink("kept.txt", work.join("link")).unwrap();
    git(&work, &["add", "-A"]);
    git(&work, &["commit", "-qm", "first"]);
    let session = begin(&world, &work).await;
    world.turn(&session, "write edited.txt a\nB").await;
    fs::write(work.join("hand.txt"), "y\n").unwrap();
    fs::write(work.join("new.txt"), "new\n").unwrap();
    fs::write(work.join("ignored"), "not shown\n").unwrap();
    fs::write(work.join("picture"), b"\x00\x02").unwrap();
    fs::remove_file(work.join("gone.txt")).unwrap();
    let expected = "edited.txt changed +1 -1 by session [1]\n\
        gone.txt deleted +0 -1 by outside []\n\
        hand.txt changed +1 -1 by outside []\n\
        new.txt created +1 -0 by outside []\n\
        picture changed binary by outside []";
    assert_eq!(list(&world, &session, "since=git").await, expected);
    assert_eq!(diff(&world, &session, &work.join("hand.txt"), "since=git").await, "-x\n+y");
    assert_eq!(diff(&world, &session, &work.join("gone.txt"), "since=git").await, "-gone");

    // What is staged is compared with what is there.
    git(&work, &["add", "-A"]);
    assert_eq!(list(&world, &session, "since=index").await, "");
    assert_eq!(list(&world, &session, "since=git").await, expected);
    let page = world.get(&format!("/api/v1/sessions/{session}/changes")).await.ok(200);
    assert_eq!(page["git"], true);
    world.close().await;
}

/// T19: names that hold secrets are said, and nothing more of them, on either side.
#[tokio::test]
async fn a_protected_file_shows_neither_side() {
    let world = World::open().await;
    let (_, work) = session(&world).await;
    git(&work, &["init", "-q"]);
    fs::write(work.join(".env"), "KEY=old-secret\n").unwrap();
    fs::write(work.join("plain"), "plain\n").unwrap();
    git(&work, &["add", "-A"]);
    git(&work, &["commit", "-qm", "first"]);
    fs::write(work.join(".env"), "KEY=new-secret\n").unwrap();
    fs::remove_file(work.join("plain")).unwrap();
    symlink(".env", work.join("plain")).unwrap();
    let session = begin(&world, &work).await;
    let expected = ".env changed protected by outside []\nplain changed protected by outside []";
    assert_eq!(list(&world, &session, "since=git").await, expected);
    for name in [".env", "plain"] {
        assert_eq!(diff(&world, &session, &work.join(name), "since=git").await, "");
    }
    let heard = String::from_utf8_lossy(&world.heard.lock().unwrap()).into_owned();
    assert!(!heard.contains("-secret"), "{heard}");
    world.close().await;
}

/// Every way that a repository's own settings could run something.
#[tokio::test]
async fn a_hostile_repository_runs_nothing() {
    let world = World::open().await;
    let (_, work) = session(&world).await;
    let (trap, pwned) = (work.join("trap.sh"), work.join("pwned"));
    fs::write(&trap, format!("#!/bin/sh\ntouch '{}'\ncat\n", pwned.display())).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    git(&work, &["init", "-q"]);
    fs::write(work.join("a.txt"), "old\n").unwrap();
    fs::write(work.join(".gitignore"), "pwned\n").unwrap();
    git(&work, &["add", "-A"]);
    git(&work, &["commit", "-qm", "first"]);
    let trap = trap.to_str().unwrap();
    for setting in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "diff.external",
        "diff.trap.textconv",
        "diff.trap.command",
        "filter.trap.clean",
        "filter.trap.smudge",
        "filter.trap.process",
        "credential.helper",
        "gpg.program",
        "pager.ls-files",
        "pager.ls-tree",
        "pager.cat-file",
        "uploadpack.packObjectsHook",
        "alias.ls-files",
    ] {
        git(&work, &["config", setting, trap]);
    }
    git(&work, &["config", "core.hooksPath", work.to_str().unwrap()]);
    for hook in ["post-index-change", "fsmonitor-watchman", "pre-commit", "reference-transaction"] {
        fs::copy(trap, work.join(".git/hooks").join(hook)).unwrap();
        fs::copy(trap, work.join(hook)).unwrap();
    }
    fs::write(work.join(".gitattributes"), "* filter=trap diff=trap\n").unwrap();
    fs::write(work.join("a.txt"), "new\n").unwrap();
    // A time that the index does not have, so that git itself would read the file through its filter.
    let session = begin(&world, &work).await;
    for since in ["since=git", "since=index", "since=session"] {
        list(&world, &session, since).await;
    }
    assert_eq!(diff(&world, &session, &work.join("a.txt"), "since=git").await, "-old\n+new");
    assert!(!pwned.exists(), "something of the repository ran");
    world.close().await;
}

/// T19: a `.git` that leads to another repository shows nothing of that one.
#[tokio::test]
async fn another_repository_is_not_read_through_this_one() {
    let world = World::open().await;
    let root = world.directory.path().canonicalize().unwrap();
    let (secret, work) = (root.join("secret"), root.join("work"));
    for folder in [&secret, &work] {
        fs::create_dir_all(folder).unwrap();
    }
    git(&secret, &["init", "-q"]);
    fs::write(secret.join("plan.txt"), "the hidden plan\n").unwrap();
    git(&secret, &["add", "-A"]);
    git(&secret, &["commit", "-qm", "first"]);
    let session = begin(&world, &work).await;
    let route = format!("/api/v1/sessions/{session}/changes");
    assert_eq!(world.get(&format!("{route}?since=git")).await.summary(), "409 no_repository");
    fs::write(work.join(".git"), format!("gitdir: {}\n", secret.join(".git").display())).unwrap();
    assert_eq!(world.get(&format!("{route}?since=git")).await.summary(), "409 repository_elsewhere");
    let page = world.get(&route).await.ok(200);
    assert_eq!(page["git"], false);
    assert!(page["gitTrouble"].as_str().unwrap().contains("lies elsewhere"), "{page}");
    fs::remove_file(work.join(".git")).unwrap();
    // Its work tree is where the session is, whatever its settings say.
    git(&work, &["init", "-q"]);
    git(&work, &["config", "core.worktree", secret.to_str().unwrap()]);
    assert_eq!(list(&world, &session, "since=git").await, "");
    let path = secret.join("plan.txt");
    let answer = world.get(&format!("{route}/file?since=git&path={}", path.display())).await;
    assert_eq!(answer.summary(), "404 file_not_changed");
    let heard = String::from_utf8_lossy(&world.heard.lock().unwrap()).into_owned();
    assert!(!heard.contains("hidden plan"));
    world.close().await;
}

/// T19: files are read for it, so it is for persons.
#[tokio::test]
async fn only_the_person_is_told_and_wrong_questions_are_refused() {
    let world = World::open().await;
    let (session, work) = session(&world).await;
    world.turn(&session, "write a.txt hello").await;
    let route = format!("/api/v1/sessions/{session}/changes");
    let file = format!("{route}/file?path={}", work.join("a.txt").display());
    let agent = world.agent_token(&session).await;
    for route in [&route, &file] {
        assert_eq!(world.call_as(bearer(&agent), &format!("GET {route}"), None).await.summary(), "403 forbidden");
        assert_eq!(world.call_as(vec![], &format!("GET {route}"), None).await.summary(), "401 unauthenticated");
    }
    for (question, expected) in [
        (format!("{route}?since=yesterday"), "400 invalid_query"),
        (format!("{route}?since=session&turn=t1"), "400 invalid_query"),
        (format!("{route}?path=a"), "400 invalid_query"),
        (format!("{route}?turn=t9"), "404 turn_not_found"),
        (format!("{route}?since=t9"), "404 turn_not_found"),
        (format!("{route}/file"), "400 invalid_query"),
        (format!("{route}/file?path=/etc/passwd"), "404 file_not_changed"),
        (format!("{route}/file?path=a.txt"), "404 file_not_changed"),
    ] {
        assert_eq!(world.get(&question).await.summary(), expected, "{question}");
    }
    assert!(world.get(&file).await.ok(200)["hunks"].is_array());
    world.close().await;
}
