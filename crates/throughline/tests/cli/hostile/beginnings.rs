//! Tests agents that break or hang before there is a session.

use insta::assert_snapshot;

use super::world::World;

const AGENTS: [(&str, &str); 9] = [
    ("crash-first", "initialize:crash"),
    ("hang-first", "initialize:hang"),
    ("junk-first", "initialize:junk"),
    ("refuse-first", "initialize:refuse"),
    ("other-version", "initialize:version"),
    ("crash-at-new", "new:crash"),
    ("hang-at-new", "new:hang"),
    ("refuse-new", "new:refuse"),
    ("signed-out", "new:signed-out"),
];

#[test]
fn whatever_does_not_begin_has_failed_and_says_why() {
    let world = World::new("agent_start_seconds = 5", &AGENTS);
    let sessions = AGENTS.map(|(agent, _)| (agent, world.session(agent)));
    let mut told = String::new();
    for (agent, session) in &sessions {
        world.settled(session);
        told.push_str(&format!("{agent}: {}", world.summary(session, 0)));
    }
    assert_snapshot!(told, @r#"
    crash-first: failed
      failure: the agent ended (exit code 3): about to break / broke at initialize [31mred
    hang-first: failed
      failure: the agent did not say what it is within 5 seconds
    junk-first: idle
    refuse-first: failed
      failure: the agent refused to begin: not today
    other-version: failed
      failure: the agent speaks version 2 of its protocol, and only version 1 is known here
    crash-at-new: failed
      failure: the agent ended (exit code 3): about to break / broke at new [31mred
    hang-at-new: failed
      failure: the agent did not begin a session within 5 seconds
    refuse-new: failed
      failure: the agent refused the session: no room
    signed-out: needs_you
    "#);
    world.guide_is_unharmed();
    // A prompt starts another attempt: it fails in the same way, and the prompt waits for the next one.
    let (_, crashed) = &sessions[0];
    world.prompt(crashed, "hello");
    world.settled(crashed);
    assert_snapshot!(world.summary(crashed, 0), @r#"
    failed
      failure: the agent ended (exit code 3): about to break / broke at initialize [31mred
    "#);
    assert_eq!(world.show(crashed)["queue"].as_array().unwrap().len(), 1);
    world.server.stop();
}
