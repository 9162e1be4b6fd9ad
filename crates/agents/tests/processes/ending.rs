//! Tests that nothing that an agent started is left, however the agent ends.

use std::time::Duration;

use agents::process::{Exit, Launched};
use tokio::time::timeout;

use crate::support::Place;

/// Starts children in every way to escape: in the background, in a session of its own, and orphaned, with
/// grandchildren; six processes besides the agent.
const FAMILY: &str = "
    sleep 1000 &
    setsid sleep 1000 &
    (setsid sh -c 'sleep 1000 & exec sleep 1000' &)
    (sh -c 'trap \"\" TERM HUP INT; sleep 1000; exec sleep 1000' &)
";

fn family_then(rest: &str) -> String {
    format!("{FAMILY} echo ready; {rest}")
}

#[tokio::test]
async fn an_agent_that_obeys_the_end_of_its_input_ends_in_peace() {
    let place = Place::new();
    let Launched { process, stdin, stdout: _stdout } = place.launch("cat; exit 5").await;
    drop(stdin);
    assert_eq!(process.stop().await.exit, Exit::Code(5));
}

#[tokio::test]
async fn an_agent_that_obeys_sigterm_ends_in_peace() {
    let place = Place::new();
    let script = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done";
    let Launched { process, stdin, stdout: _stdout } = place.launch_ready(script).await;
    drop(stdin);
    assert_eq!(process.stop().await.exit, Exit::Code(7));
    place.wait_until_nobody_is_left();
}

#[tokio::test]
async fn an_agent_that_ignores_sigterm_is_killed() {
    let place = Place::new();
    let script = "trap '' TERM INT HUP; echo ready; while :; do sleep 0.05; done";
    let Launched { process, stdin, stdout: _stdout } = place.launch_ready(script).await;
    drop(stdin);
    assert_eq!(process.stop().await.exit, Exit::Signal(9));
    place.wait_until_nobody_is_left();
}

#[tokio::test]
async fn a_shell_that_is_hung_up_lets_what_it_runs_clean_up() {
    let place = Place::new();
    let Launched { process, stdin, stdout: _stdout } = place.launch_spec_ready(place.shell_with_lock()).await;
    drop(stdin);
    assert!(place.is_locked());
    assert_eq!(process.stop().await.exit, Exit::Signal(1));
    assert!(!place.is_locked());
    place.assert_nobody_is_left();
}

#[tokio::test]
async fn what_a_shell_has_left_when_it_exits_may_clean_up() {
    let place = Place::new();
    let spec = place.shell_that_leaves_its_lock();
    let Launched { mut process, stdin, stdout: _stdout } = place.launch_spec_ready(spec).await;
    assert!(place.is_locked());
    drop(stdin);
    assert_eq!(process.ended().await.exit, Exit::Code(1));
    assert!(!place.is_locked());
    place.assert_nobody_is_left();
}

#[tokio::test]
async fn an_agent_that_ends_by_itself_leaves_nothing() {
    let place = Place::new();
    let Launched { mut process, stdin, stdout: _stdout } = place.launch_ready(&family_then("read -r go; exit 4")).await;
    place.wait_for_tagged(7);
    drop(stdin);
    assert_eq!(process.ended().await.exit, Exit::Code(4));
    place.assert_nobody_is_left();
}

#[tokio::test]
async fn killing_leaves_nothing() {
    let place = Place::new();
    let Launched { process, stdin: _stdin, stdout: _stdout } = place.launch_ready(&family_then("cat")).await;
    place.wait_for_tagged(7);
    let ended = process.kill().await;
    assert_eq!((ended.exit, ended.survivors), (Exit::Signal(9), vec![]));
    place.assert_nobody_is_left();
}

#[tokio::test]
async fn dropping_leaves_nothing() {
    let place = Place::new();
    let launched = place.launch_ready(&family_then("cat")).await;
    place.wait_for_tagged(7);
    drop(launched);
    place.launcher.wait_until_idle().await;
    place.assert_nobody_is_left();
}

#[tokio::test]
async fn giving_up_the_start_leaves_nothing() {
    let place = Place::new();
    for moment in 0..20 {
        // Cancelled at its very beginning, and later and later, until some of them succeed.
        let start = place.launcher.spawn(place.script("exec sleep 1000"));
        drop(timeout(Duration::from_millis(moment), start).await);
    }
    place.launcher.wait_until_idle().await;
    place.assert_nobody_is_left();
}

// What multiplies in these tests does so with a bound, so that a failure does not take the machine down.

#[tokio::test]
async fn a_storm_of_processes_is_ended() {
    let place = Place::new();
    let storm = "n=0; while [ $n -lt 700 ]; do n=$((n + 1)); sleep 1000 & done; wait";
    let script = format!("sh -c '{storm}' & setsid sh -c '{storm}' & echo ready; {storm}");
    let Launched { process, stdin: _stdin, stdout: _stdout } = place.launch_ready(&script).await;
    place.wait_for_tagged(200);
    process.kill().await;
    place.wait_until_nobody_is_left();
}

#[tokio::test]
async fn a_chain_of_processes_that_never_stay_is_ended() {
    let place = Place::new();
    let chain = "hop() { [ $1 -eq 0 ] || hop $(($1 - 1)) & exit; }; hop 20000";
    let script = format!("sh -c '{chain}' & setsid sh -c '{chain}' & echo ready; cat");
    let Launched { process, stdin: _stdin, stdout: _stdout } = place.launch_ready(&script).await;
    process.kill().await;
    place.wait_until_nobody_is_left();
}

#[tokio::test]
async fn a_family_that_starts_itself_again_is_ended() {
    let place = Place::new();
    // Each of these restarts its child the moment that it dies.
    let keeper = "keep() { while :; do setsid sleep 1000; done; }";
    let keepers = "keep & keep & keep & keep & keep & keep & keep & keep &".repeat(3);
    let script = format!("{keeper}; {keepers} echo ready; cat");
    let Launched { process, stdin: _stdin, stdout: _stdout } = place.launch_ready(&script).await;
    place.wait_for_tagged(49);
    process.kill().await;
    place.wait_until_nobody_is_left();
}

#[tokio::test]
async fn nobody_gets_to_act_on_the_death_of_another() {
    let place = Place::new();
    // The first holds a pipe, the last learns from it when the first has exited, and in between there is time to act.
    let between = "setsid sleep 1000 & ".repeat(100);
    let last = "setsid sh -c 'read -r _ <pipe; echo >>noticed' &";
    let script = format!("mkfifo pipe; setsid sleep 1000 >pipe & {between} {last} echo ready; cat");
    let Launched { process, stdin: _stdin, stdout: _stdout } = place.launch_ready(&script).await;
    place.wait_for_tagged(104);
    process.kill().await;
    place.wait_until_nobody_is_left();
    assert!(!place.path().join("noticed").exists());
}
