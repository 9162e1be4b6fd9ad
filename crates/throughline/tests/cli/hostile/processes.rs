//! Tests that no process that an agent started is left.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

use super::world::{World, gone};

/// An agent in the middle of a turn, whose child has moved to a session of its own: supervisor, agent and child.
fn with_daemon(world: &World) -> [String; 3] {
    let session = world.session("hostile");
    world.settled(&session);
    world.prompt(&session, "daemon");
    let child = world.noted("child ").remove(0);
    let agent = world.noted("pid ").remove(0);
    [parent_of(&agent), agent, child]
}

fn parent_of(pid: &str) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().to_owned()
}

fn signal(pid: &str, signal: Signal) {
    kill_process(Pid::from_raw(pid.parse().unwrap()).unwrap(), signal).unwrap();
}

#[test]
fn what_left_for_a_session_of_its_own_ends_although_the_supervisor_was_killed() {
    let world = World::new("", &[("hostile", "pids")]);
    let pids = with_daemon(&world);
    // The keeper too, or it would do the work.
    signal(&parent_of(&pids[0]), Signal::KILL);
    signal(&pids[0], Signal::KILL);
    pids.iter().for_each(|pid| gone(pid));
    world.guide_is_unharmed();
    world.server.stop();
}

#[test]
fn what_a_stopped_supervisor_left_behind_ends_when_the_next_server_starts() {
    let world = World::new("", &[("hostile", "pids")]);
    let pids = with_daemon(&world);
    signal(&pids[0], Signal::STOP);
    let World { server, folder, .. } = world;
    server.end(Signal::KILL);
    let server = folder.serve();
    pids.iter().for_each(|pid| gone(pid));
    assert!(folder.log().contains("processes that agents had left running were ended"), "{}", folder.log());
    server.stop();
}

#[test]
fn what_an_agent_forks_away_ends_with_it() {
    let world = World::new("", &[("hostile", "pids")]);
    let session = world.session("hostile");
    assert_eq!(
        world.turn(&session, "fork"),
        "failed\n  failure: the agent ended (exit code 4)\n  turn failed: the agent ended (exit code 4)\n"
    );
    for pid in [world.noted("child "), world.noted("pid ")].concat() {
        gone(&pid);
    }
    world.guide_is_unharmed();
    world.server.stop();
}

#[test]
fn an_agent_that_ignores_every_signal_it_can_ends_with_the_server() {
    for signal in [Signal::TERM, Signal::KILL] {
        let world = World::new("", &[("stubborn", "trap pids stays")]);
        let session = world.session("stubborn");
        world.settled(&session);
        world.prompt(&session, "deaf");
        world.until(&session, &["running"]);
        let pids = world.noted("pid ");
        world.guide_is_unharmed();
        let World { server, .. } = world;
        let (status, ..) = server.end(signal);
        assert_eq!(status.success(), signal == Signal::TERM, "{status}");
        pids.iter().for_each(|pid| gone(pid));
    }
}
