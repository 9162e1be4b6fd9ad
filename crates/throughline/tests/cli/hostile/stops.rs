//! Tests agents that are told to stop, and those that do not.

use insta::assert_snapshot;

use super::world::World;

const AGENTS: [(&str, &str); 2] = [("hostile", ""), ("stubborn", "trap stays")];
/// An agent and a prompt that is cancelled in the middle.
const CASES: [(&str, &str); 6] = [
    ("hostile", "hang"),
    ("hostile", "brittle"),
    ("hostile", "deaf"),
    ("hostile", "asleep"),
    ("hostile", "babble"),
    ("stubborn", "deaf"),
];

#[test]
fn a_turn_that_is_stopped_ends_whatever_the_agent_does() {
    let world = World::new("agent_stop_seconds = 2", &AGENTS);
    let sessions = CASES.map(|(agent, words)| {
        let session = world.session(agent);
        world.settled(&session);
        world.prompt(&session, words);
        world.until(&session, &["running"]);
        if words == "babble" {
            world.client.until_entry(&session, |entry| entry["type"] == "text.part");
        }
        world.cancel(&session);
        session
    });
    let mut told = String::new();
    for ((agent, words), session) in CASES.iter().zip(&sessions) {
        world.settled(session);
        let summary = world.summary(session, 0);
        let lines = summary.lines().filter(|line| !line.starts_with("  text: "));
        told.push_str(&format!("{agent}, {words}: {}\n", lines.collect::<Vec<_>>().join("\n")));
    }
    assert_snapshot!(told, @r#"
    hostile, hang: idle
      turn cancelled
    hostile, brittle: failed
      failure: the agent ended (exit code 3): about to break / broke at cancel [31mred
      turn failed: the agent ended (exit code 3): about to break / broke at cancel [31mred
    hostile, deaf: failed
      failure: the agent did not stop within 2 seconds after it was told to
      unresponsive
      turn failed: the agent did not stop within 2 seconds after it was told to
    hostile, asleep: failed
      failure: the agent did not stop within 2 seconds after it was told to
      unresponsive
      turn failed: the agent did not stop within 2 seconds after it was told to
    hostile, babble: failed
      failure: the agent did not stop within 2 seconds after it was told to
      unresponsive
      turn failed: the agent did not stop within 2 seconds after it was told to
    stubborn, deaf: failed
      failure: the agent did not stop within 2 seconds after it was told to
      unresponsive
      turn failed: the agent did not stop within 2 seconds after it was told to
    "#);
    for session in &sessions {
        assert_eq!(world.turn(session, "hello"), "idle\n  text: hello\n  turn completed\n");
    }
    world.guide_is_unharmed();
    world.server.stop();
}

/// A prompt that is longer than a pipe holds waits for an agent that never reads it; a stop does not wait.
#[test]
fn an_agent_that_leaves_its_prompt_unread_is_stopped_like_any_other() {
    let world = World::new("agent_stop_seconds = 2", &[("blocked", "begun:hang")]);
    let session = world.session("blocked");
    world.settled(&session);
    world.prompt(&session, &"x".repeat(900 << 10));
    world.until(&session, &["running"]);
    world.cancel(&session);
    world.settled(&session);
    assert_snapshot!(world.summary(&session, 0), @r#"
    failed
      failure: the agent did not stop within 2 seconds after it was told to
      unresponsive
      turn failed: the agent did not stop within 2 seconds after it was told to
    "#);
    world.guide_is_unharmed();
    world.server.stop();
}

#[test]
fn an_agent_that_falls_silent_is_unresponsive_until_it_speaks_or_is_stopped() {
    let world = World::new("silence_minutes = 0.05", &AGENTS);
    let session = world.session("hostile");
    world.settled(&session);
    world.prompt(&session, "hang");
    world.until(&session, &["unresponsive"]);
    world.cancel(&session);
    world.settled(&session);
    assert_snapshot!(world.summary(&session, 0), @r#"
    idle
      unresponsive
      turn cancelled
    "#);
    world.guide_is_unharmed();
    world.server.stop();
}

/// It is sent answers that it never reads: neither its session's clock nor a stop waits for that.
#[test]
fn an_agent_that_does_not_read_has_failed_and_holds_nobody_up() {
    let world = World::new("agent_stop_seconds = 2", &AGENTS);
    let session = world.session("hostile");
    assert_snapshot!(world.turn(&session, "plugged"), @r#"
    failed
      failure: the agent does not read its input: more is waiting than it could be sent
      turn failed: the agent does not read its input: more is waiting than it could be sent
    "#);
    world.guide_is_unharmed();
    world.server.stop();
}
