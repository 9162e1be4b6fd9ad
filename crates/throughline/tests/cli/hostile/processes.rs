//! What agents leave running, and that nothing of it is left.

use rustix::process::Signal;

use super::world::{World, gone};

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
