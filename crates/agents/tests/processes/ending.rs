//! However an agent ends, or is ended, nothing that it started is left.

use agents::process::{Exit, Launched};

use crate::support::Place;

/// Starts children in every way to get away: in the background, in a session of its own, and orphaned, with
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
async fn an_agent_that_ends_by_itself_leaves_nothing() {
    let place = Place::new();
    let Launched { mut process, stdin, stdout: _stdout } = place.launch_ready(&family_then("read -r go; exit 4")).await;
    place.wait_for_tagged(7);
    drop(stdin);
    assert_eq!(process.ended().await.exit, Exit::Code(4));
    assert!(place.tagged().is_empty());
}

#[tokio::test]
async fn killing_leaves_nothing() {
    let place = Place::new();
    let Launched { process, stdin: _stdin, stdout: _stdout } = place.launch_ready(&family_then("cat")).await;
    place.wait_for_tagged(7);
    let ended = process.kill().await;
    assert_eq!((ended.exit, ended.survivors), (Exit::Signal(9), vec![]));
    assert!(place.tagged().is_empty());
}

#[tokio::test]
async fn dropping_leaves_nothing() {
    let place = Place::new();
    let launched = place.launch_ready(&family_then("cat")).await;
    place.wait_for_tagged(7);
    drop(launched);
    place.launcher.wait_until_idle().await;
    assert!(place.tagged().is_empty());
}

#[tokio::test]
async fn giving_up_the_start_leaves_nothing() {
    let place = Place::new();
    for polls in 1..20 {
        let mut start = Box::pin(place.launcher.spawn(place.script("exec sleep 1000")));
        for _ in 0..polls {
            drop(futures_util::poll!(start.as_mut()));
            tokio::task::yield_now().await;
        }
    }
    place.launcher.wait_until_idle().await;
    assert!(place.tagged().is_empty());
}

#[tokio::test]
async fn a_storm_of_processes_is_ended() {
    let place = Place::new();
    let script = "storm() { while :; do sleep 1000 & done; }; storm & setsid sh -c 'while :; do sleep 1000 & done' & \
                  echo ready; storm";
    let Launched { process, stdin: _stdin, stdout: _stdout } = place.launch_ready(script).await;
    place.wait_for_tagged(200);
    process.kill().await;
    place.wait_until_nobody_is_left();
}

#[tokio::test]
async fn a_chain_of_processes_that_never_stay_is_ended() {
    let place = Place::new();
    let script = "hop() { hop & exit; }; hop & setsid sh -c 'hop() { hop & exit; }; hop' & echo ready; cat";
    let Launched { process, stdin: _stdin, stdout: _stdout } = place.launch_ready(script).await;
    process.kill().await;
    place.wait_until_nobody_is_left();
}

#[tokio::test]
async fn a_family_that_starts_itself_again_is_ended() {
    let place = Place::new();
    // Each of these brings its child back the moment that it dies.
    let keeper = "keep() { while :; do setsid sleep 1000; done; }";
    let keepers = "keep & keep & keep & keep & keep & keep & keep & keep &".repeat(3);
    let script = format!("{keeper}; {keepers} echo ready; cat");
    let Launched { process, stdin: _stdin, stdout: _stdout } = place.launch_ready(&script).await;
    place.wait_for_tagged(49);
    process.kill().await;
    place.wait_until_nobody_is_left();
}
