//! Tests `run`: asking, running, showing.

use std::fs;
use std::process::Command;
use std::time::Duration;

use agent_client_protocol::v1::schema::PermissionOptionKind;

use crate::support::{Answer, World};

const ASKED: &str = "Allow once, Always allow this command, Reject";

/// What was received, without what a command had printed in the meantime, which depends on its speed.
fn settled(said: &str) -> Vec<&str> {
    said.lines().filter(|line| !line.starts_with("running: ")).collect()
}

#[tokio::test]
async fn an_allowed_command_runs_in_the_sessions_directory() {
    let world = World::new().await;
    let session = world.session().await;
    world.answer(Answer::Choose(PermissionOptionKind::AllowOnce));
    fs::write(world.cwd().join("here"), "").unwrap();
    let said = world.turn(&session, "run ls; echo oops >&2").await;
    assert_eq!(
        settled(&said),
        [
            "call ls; echo oops >&2 (Execute) pending input {\"command\":\"ls; echo oops >&2\"}",
            &format!("ask ls; echo oops >&2: {ASKED}"),
            "inprogress",
            "completed: here\\noops\\n output {\"exitCode\":0,\"output\":\"here\\noops\\n\"}",
            "> `ls; echo oops >&2` ended with exit code 0.",
            "title run ls; echo oops >&2",
            "usage 16 of 100000",
            "EndTurn",
        ],
        "{said}"
    );
    world.end().await;
}

/// What it says becomes the turn's line in the contents, so it says which command ended.
#[tokio::test]
async fn the_command_that_ended_is_named_unless_it_is_long_or_not_one_line_of_code() {
    let world = World::new().await;
    let session = world.session().await;
    world.answer(Answer::Choose(PermissionOptionKind::AllowOnce));
    let long = format!("true {}", "x".repeat(60));
    for (command, named) in [("true", "`true`"), ("true `true`", "It"), ("true\ntrue", "It"), (&long, "It")] {
        let said = world.turn(&session, &format!("run {command}")).await;
        assert!(said.contains(&format!("\n> {named} ended with exit code 0.\n")), "{said}");
    }
    world.end().await;
}

#[tokio::test]
async fn a_command_that_fails_is_a_call_that_fails() {
    let world = World::new().await;
    let session = world.session().await;
    world.answer(Answer::Choose(PermissionOptionKind::AllowOnce));
    for (command, code) in [("exit 3", 3), ("kill -9 $$", 137), ("not-a-program-anywhere 2>&-", 127)] {
        let said = world.turn(&session, &format!("run {command}")).await;
        assert!(said.contains(&format!("\nfailed:  output {{\"exitCode\":{code},\"output\":\"\"}}\n")), "{said}");
        assert!(said.ends_with("EndTurn"), "{said}");
    }
    world.end().await;
}

#[tokio::test]
async fn what_is_not_allowed_does_not_run() {
    let world = World::new().await;
    let session = world.session().await;
    for (answer, why) in [
        (Answer::Choose(PermissionOptionKind::RejectOnce), "You did not allow this."),
        (Answer::Refuse, "I could not ask whether this is allowed: Internal error"),
    ] {
        world.answer(answer);
        let said = world.turn(&session, "run touch made").await;
        assert!(said.contains(&format!("\nfailed: {why}\n> I did not run that.\n")), "{said}");
        assert!(said.ends_with("EndTurn"), "{said}");
    }
    world.answer(Answer::Cancelled);
    let said = world.turn(&session, "run touch made").await;
    assert!(said.contains("\nfailed: Cancelled.\n") && said.ends_with("\nCancelled"), "{said}");
    assert!(!world.cwd().join("made").exists());
    world.end().await;
}

#[tokio::test]
async fn what_is_always_allowed_is_asked_once() {
    let world = World::new().await;
    let session = world.session().await;
    world.answer(Answer::Choose(PermissionOptionKind::AllowAlways));
    assert!(world.turn(&session, "run true").await.contains("\nask true: "));
    world.answer(Answer::Choose(PermissionOptionKind::RejectOnce));
    let said = world.turn(&session, "run true").await;
    assert!(!said.contains("\nask ") && said.contains("\ncompleted: "), "{said}");
    let said = world.turn(&session, "run true; true").await;
    assert!(said.contains("\nask ") && said.contains("\nfailed: You"), "{said}");
    world.end().await;
}

#[tokio::test]
async fn output_is_shown_while_it_comes() {
    let world = World::new().await;
    let session = world.session().await;
    world.answer(Answer::Choose(PermissionOptionKind::AllowOnce));
    fifo(&world, "gate");
    let prompt = world.prompt(&session, "run echo first; cat gate; echo last");
    let meanwhile = async {
        world.until(&session, "running: first").await;
        let gate = world.cwd().join("gate");
        tokio::task::spawn_blocking(|| fs::write(gate, "through\n").unwrap()).await.unwrap();
    };
    let (stopped, ()) = tokio::join!(prompt, meanwhile);
    assert_eq!(stopped, "EndTurn");
    let said = world.take(&session);
    assert!(said.contains("\ncompleted: first\\nthrough\\nlast\\n output "), "{said}");
    world.end().await;
}

#[tokio::test]
async fn too_much_output_is_cut_and_counted() {
    let world = World::new().await;
    let session = world.session().await;
    world.answer(Answer::Choose(PermissionOptionKind::AllowOnce));
    let said = world.turn(&session, "run head -c 1000000 /dev/zero | tr '\\0' x").await;
    let shown = format!("\ncompleted: {}\\n… and {} bytes more output ", "x".repeat(65_536), 1_000_000 - 65_536);
    assert!(said.contains(&shown), "{}", &said[said.len() - 300..]);
    world.end().await;
}

/// The clock is paused while a program runs, until the test moves it.
#[tokio::test(start_paused = true)]
async fn a_command_is_stopped_after_a_minute() {
    let world = World::new().await;
    let session = world.session().await;
    world.answer(Answer::Choose(PermissionOptionKind::AllowOnce));
    let prompt = world.prompt(&session, "run echo up; sleep 1000");
    let meanwhile = async {
        world.until(&session, "running: up").await;
        tokio::time::advance(Duration::from_secs(61)).await;
    };
    let (stopped, ()) = tokio::join!(prompt, meanwhile);
    assert_eq!(stopped, "EndTurn");
    let said = world.take(&session);
    assert!(said.contains("\nfailed: up\\nStopped after 60 s. output {\"exitCode\":137,"), "{said}");
    world.end().await;
}

/// While the test waits for real programs only, a paused clock does not advance.
#[tokio::test(start_paused = true)]
async fn a_paused_clock_does_not_hurry_a_command() {
    let world = World::new().await;
    let session = world.session().await;
    world.answer(Answer::Choose(PermissionOptionKind::AllowOnce));
    let said = world.turn(&session, "run sleep 0.3; echo woke").await;
    assert!(said.contains("\ncompleted: woke\\n output "), "{said}");
    world.end().await;
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    let world = World::new().await;
    let session = world.session().await;
    world.answer(Answer::Choose(PermissionOptionKind::AllowOnce));
    let ended = held(&world, "hold");
    let said =
        world.turn(&session, "run (exec 3>hold; touch held; exec sleep 1000) & until [ -e held ]; do :; done").await;
    assert!(said.ends_with("EndTurn"), "{said}");
    ended.await.unwrap();
    world.end().await;
}

pub(crate) fn fifo(world: &World, name: &str) {
    assert!(Command::new("mkfifo").arg(world.cwd().join(name)).status().unwrap().success());
}

/// Returns when every process that opened this pipe for writing has exited.
pub(crate) fn held(world: &World, name: &str) -> tokio::task::JoinHandle<()> {
    fifo(world, name);
    let path = world.cwd().join(name);
    tokio::task::spawn_blocking(|| assert_eq!(fs::read(path).unwrap(), b""))
}

#[tokio::test]
async fn the_question_of_a_tour_goes_on_whatever_is_answered() {
    for (kind, outcome) in
        [(PermissionOptionKind::AllowOnce, "exit code 0"), (PermissionOptionKind::RejectOnce, "I did not run that.")]
    {
        let world = World::new().await;
        let session = world.session().await;
        world.answer(Answer::Choose(kind));
        let said = world.turn(&session, "tour question").await;
        assert!(said.contains(&format!("ask date: {ASKED}")) && said.contains(outcome), "{said}");
        assert!(said.contains("What you answered is stored") && said.ends_with("EndTurn"), "{said}");
        world.end().await;
    }
}
