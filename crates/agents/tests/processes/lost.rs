//! Tests what happens when the server, or a supervisor, is killed.

use std::thread;
use std::time::Duration;

use agents::process::{Exit, LaunchError, Launched, Launcher};
use rustix::process::Signal;

use crate::support::{Place, eventually, lives, parent_of, signal};

#[test]
fn a_server_that_is_killed_leaves_nothing() {
    let place = Place::new();
    let family = "sleep 1000 & (setsid sh -c 'trap \"\" TERM HUP; sleep 1000 & exec sleep 1000' &); echo ready; cat";
    let mut held = place.hold(&place.script(family));
    let agent: i32 = held.line().parse().unwrap();
    assert_eq!(held.line(), "ready");
    place.wait_for_tagged(5);
    assert!(place.tagged().contains(&agent));
    held.kill();
    place.wait_until_nobody_is_left();
}

#[test]
fn a_server_that_is_killed_lets_its_login_shell_clean_up() {
    let place = Place::new();
    let mut held = place.hold(&place.shell_with_lock());
    held.line();
    assert_eq!(held.line(), "ready");
    held.kill();
    place.wait_until_nobody_is_left();
    assert!(!place.is_locked());
}

#[test]
fn a_server_that_is_restarted_at_once_lets_the_login_shell_before_it_clean_up() {
    let place = Place::new();
    let mut held = place.hold(&place.shell_with_lock());
    held.line();
    assert_eq!(held.line(), "ready");
    held.kill();
    assert_eq!(place.end_leftovers(), 0, "it ends by itself");
    assert!(!place.is_locked());
    place.assert_nobody_is_left();
}

#[test]
fn a_server_that_is_restarted_ends_what_does_not_end_by_itself() {
    let place = Place::new();
    // Each has a keeper and a supervisor beside its own processes.
    let agent = (place.script("echo ready; while :; do sleep 0.05; done"), 3);
    let shell = (place.shell_with_lock(), 4);
    for (spec, at_least) in [agent, shell] {
        let mut held = place.hold(&spec);
        let supervisor = parent_of(held.line().parse().unwrap());
        assert_eq!(held.line(), "ready");
        signal(supervisor, Signal::STOP);
        held.kill();
        let ended = place.end_leftovers();
        assert!(ended >= at_least, "{ended}");
        assert!(!lives(supervisor));
        place.assert_nobody_is_left();
    }
}

#[test]
fn a_server_that_is_killed_while_it_starts_an_agent_leaves_nothing() {
    let place = Place::new();
    for moment in 0..20 {
        let held = place.hold(&place.script("setsid sleep 1000 & exec sleep 1000"));
        // Not to wait for something, but to be early, late and in between.
        thread::sleep(Duration::from_millis(moment));
        held.kill();
    }
    place.wait_until_nobody_is_left();
}

#[tokio::test]
async fn a_supervisor_that_is_killed_is_noticed_and_its_session_ended() {
    let place = Place::new();
    let script = "sleep 1000 & sh -c 'setsid sleep 1000 & wait' & echo words >&2; echo ready; cat";
    let Launched { mut process, stdin: _stdin, stdout: _stdout } = place.launch_ready(script).await;
    place.wait_for_tagged(4);
    signal(parent_of(process.pid()), Signal::KILL);
    assert_eq!(process.ended().await.exit, Exit::Unknown);
    place.assert_nobody_is_left();
}

/// Neither its session nor its environment shows whose it is, and its parent was the supervisor.
#[tokio::test]
async fn an_orphan_that_carries_nothing_ends_although_the_supervisor_was_killed() {
    let place = Place::new();
    let script = "(env -i setsid /bin/sh -c 'echo $$ > orphan; exec /bin/sleep 1000' &); echo ready; cat";
    let Launched { mut process, stdin: _stdin, stdout: _stdout } = place.launch_ready(script).await;
    let supervisor = parent_of(process.pid());
    let orphan = || std::fs::read_to_string(place.path().join("orphan")).ok()?.trim().parse().ok();
    eventually("an orphan", || orphan().is_some_and(|pid| parent_of(pid) == supervisor), String::new);
    let orphan = orphan().unwrap();
    signal(supervisor, Signal::KILL);
    assert_eq!(process.ended().await.exit, Exit::Unknown);
    eventually("no orphan", || !lives(orphan), || format!("{orphan}, child of {}", parent_of(orphan)));
    place.assert_nobody_is_left();
}

#[tokio::test]
async fn a_supervisor_that_was_stopped_does_its_duty_in_the_end() {
    let place = Place::new();
    let script = "(setsid sleep 1000 &); sleep 1000 & echo ready; cat";
    for by_dropping in [false, true] {
        let launched = place.launch_ready(script).await;
        place.wait_for_tagged(4);
        // An agent can do this to its own supervisor.
        signal(parent_of(launched.process.pid()), Signal::STOP);
        if by_dropping {
            drop(launched);
            place.launcher.wait_until_idle().await;
        } else {
            assert_eq!(launched.process.kill().await.exit, Exit::Signal(9));
        }
        place.assert_nobody_is_left();
    }
}

#[tokio::test]
async fn a_supervisor_that_does_not_answer_is_killed() {
    let place = Place::new();
    let tag = place.script("").env["TEST_TAG"].clone();
    let text = format!("#!/bin/sh\nTEST_TAG={tag} exec sleep 1000\n");
    let slow = Launcher::new(place.write_program("slow", &text, 0o755));
    tokio::time::pause();
    assert!(matches!(slow.spawn(place.script("true")).await, Err(LaunchError::TooSlow)));
    slow.wait_until_idle().await;
    place.assert_nobody_is_left();
}
