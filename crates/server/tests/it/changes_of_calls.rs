//! `/sessions/{id}/changes` for sessions whose calls stand in the log as agents report them: moves, parts of files, and
//! directories that are gone.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use model::{Fact, FactShape, Seq, SessionEvent, ToolChange, ToolKind, ToolStatus, Turn};
use serde_json::{Value, json};

use crate::changes::{diff, list};
use crate::mcp_reading::Written;
use crate::support::World;

/// A call of a turn that has no other: what it was given, and what it proved.
struct Call {
    kind: ToolKind,
    input: Value,
    facts: Vec<(&'static str, PathBuf)>,
}

impl Call {
    fn write(file: &PathBuf, fact: &'static str, text: &str) -> Self {
        let input = json!({ "file_path": file, "content": text });
        Self { kind: ToolKind::Edit, input, facts: vec![(fact, file.clone())] }
    }

    fn replace(file: &PathBuf, old: &str, new: &str) -> Self {
        let input = json!({ "file_path": file, "old_string": old, "new_string": new });
        Self { kind: ToolKind::Edit, input, facts: vec![("filesEdited", file.clone())] }
    }

    fn rename(from: &PathBuf, to: &PathBuf) -> Self {
        let facts = vec![("filesDeleted", from.clone()), ("filesCreated", to.clone())];
        Self { kind: ToolKind::Move, input: json!({ "from": from, "to": to }), facts }
    }

    fn events(self, turn: u32) -> Vec<SessionEvent> {
        let Self { kind, input, facts } = self;
        // The session was created; of each turn this entry is the fourth of six.
        let entry = Seq(u64::from(turn - 1) * 6 + 5);
        let (turn, tool) = (Turn(turn), 1);
        let begun = ToolChange { kind: Some(kind), input: Some(input), ..ToolChange::default() };
        let ended = ToolChange { status: Some(ToolStatus::Completed), ..ToolChange::default() };
        let facts = facts.into_iter().map(|(name, path)| Fact {
            name: name.to_owned(),
            shape: FactShape::List,
            value: path.into_os_string().into_string().unwrap(),
            rule: "test".to_owned(),
            exit_code: None,
            file: None,
        });
        vec![
            SessionEvent::ToolStarted { turn, tool, call_id: "1".to_owned(), change: begun },
            SessionEvent::ToolEnded { turn, tool, change: ended },
            SessionEvent::FactProved { turn, tool, entry, facts: facts.collect() },
        ]
    }
}

/// A directory of its own for the `nth` session, and a session in it whose turns have a call each.
async fn session(world: &World, nth: u64, calls: impl FnOnce(&PathBuf) -> Vec<Call>) -> (String, PathBuf) {
    let work = world.directory.path().canonicalize().unwrap().join(format!("work{nth}"));
    fs::create_dir_all(&work).unwrap();
    let turns = (1..).zip(calls(&work)).map(|(turn, call)| ("go on", call.events(turn))).collect();
    (Written::new(world, nth, work.to_str().unwrap(), turns).await.id, work)
}

#[tokio::test]
async fn a_file_that_was_written_and_then_moved_is_one_file() {
    let world = World::open().await;
    let (made, work) = session(&world, 1, |work| {
        let (a, b) = (work.join("a"), work.join("b"));
        let written = Call::write(&a, "filesCreated", "one\n");
        vec![written, Call::rename(&a, &b), Call::replace(&b, "one", "two")]
    })
    .await;
    fs::write(work.join("b"), "two\n").unwrap();
    assert_eq!(list(&world, &made, "").await, "b created +1 -0 by session [1,2,3]");
    assert_eq!(list(&world, &made, "since=t2").await, "b moved +1 -1 by session [2,3]");
    assert_eq!(list(&world, &made, "turn=t1").await, "a created +1 -0 by session [1]");
    assert_eq!(list(&world, &made, "turn=t2").await, "b moved +0 -0 by session [2]");
    assert_eq!(diff(&world, &made, &work.join("b"), "").await, "+two");
    assert_eq!(diff(&world, &made, &work.join("b"), "since=t2").await, "-one\n+two");
    assert_eq!(diff(&world, &made, &work.join("a"), "turn=t1").await, "+one");

    let (changed, work) = session(&world, 2, |work| {
        let (a, b) = (work.join("a"), work.join("b"));
        vec![Call::replace(&a, "zero", "one"), Call::rename(&a, &b)]
    })
    .await;
    fs::write(work.join("b"), "one\n").unwrap();
    assert_eq!(list(&world, &changed, "").await, "b moved +1 -1 by session [1,2]");
    let page = world.get(&format!("/api/v1/sessions/{changed}/changes")).await.ok(200);
    assert_eq!(page["files"][0]["from"], "a");
    assert_eq!(diff(&world, &changed, &work.join("b"), "").await, "-zero\n+one");
    world.close().await;
}

/// T19: a secret stays one under another name.
#[tokio::test]
async fn what_was_protected_before_it_was_moved_is_not_shown() {
    let world = World::open().await;
    let (moved, work) = session(&world, 1, |work| {
        let (secret, plain) = (work.join(".env"), work.join("plain"));
        vec![Call::write(&secret, "filesCreated", "KEY=hidden-secret\n"), Call::rename(&secret, &plain)]
    })
    .await;
    fs::write(work.join("plain"), "KEY=hidden-secret\n").unwrap();
    assert_eq!(list(&world, &moved, "").await, "plain created protected by session [1,2]");
    assert_eq!(diff(&world, &moved, &work.join("plain"), "").await, "");
    world.close().await;
}

#[tokio::test]
async fn where_the_directory_is_gone_its_files_are_gone_and_not_protected() {
    let world = World::open().await;
    let (gone, work) = session(&world, 1, |work| vec![Call::write(&work.join("a"), "filesCreated", "one\n")]).await;
    fs::remove_dir_all(&work).unwrap();
    assert_eq!(list(&world, &gone, "").await, "a created +1 -0 by both [1]");
    assert_eq!(diff(&world, &gone, &work.join("a"), "").await, "+one\noutside:\n-one");
    // A file stands where it was.
    fs::write(&work, "").unwrap();
    assert_eq!(list(&world, &gone, "").await, "a created +1 -0 by both [1]");
    world.close().await;
}

#[tokio::test]
async fn a_link_that_leads_out_is_not_read_and_not_called_protected() {
    let world = World::open().await;
    let (linked, work) = session(&world, 1, |work| {
        let write = |name: &str| Call::write(&work.join(name), "filesCreated", "one\n");
        vec![write("out"), write("nowhere"), write("secret"), write("folder/in")]
    })
    .await;
    let elsewhere = world.directory.path().canonicalize().unwrap().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(elsewhere.join("in"), "hidden words\n").unwrap();
    fs::write(work.join(".env"), "hidden words\n").unwrap();
    symlink(elsewhere.join("in"), work.join("out")).unwrap();
    symlink(elsewhere.join("none"), work.join("nowhere")).unwrap();
    symlink(".env", work.join("secret")).unwrap();
    symlink(&elsewhere, work.join("folder")).unwrap();
    let page = world.get(&format!("/api/v1/sessions/{linked}/changes")).await.ok(200);
    let compared =
        page["files"].as_array().unwrap().iter().map(|file| format!("{} {}", file["name"], file["compared"]));
    let expected =
        ["\"folder/in\" \"elsewhere\"", "\"nowhere\" \"link\"", "\"out\" \"elsewhere\"", "\"secret\" \"protected\""];
    assert_eq!(compared.collect::<Vec<_>>(), expected);
    assert_eq!(diff(&world, &linked, &work.join("out"), "").await, "+one");
    let heard = String::from_utf8_lossy(&world.heard.lock().unwrap()).into_owned();
    assert!(!heard.contains("hidden words"), "{heard}");
    world.close().await;
}

#[tokio::test]
async fn what_is_left_out_of_a_change_outside_is_mentioned() {
    let world = World::open().await;
    let (session, work) = session(&world, 1, |work| vec![Call::write(&work.join("a"), "filesCreated", "one\n")]).await;
    let route = format!("/api/v1/sessions/{session}/changes/file?path={}", work.join("a").display());
    for (lines, is_cut) in [(1_990, Value::Null), (3_000, json!(true))] {
        fs::write(work.join("a"), (0..lines).map(|n| format!("{n}\n")).collect::<String>()).unwrap();
        let diff = world.get(&route).await.ok(200);
        assert_eq!(diff["outsideCut"], is_cut);
    }
    world.close().await;
}
