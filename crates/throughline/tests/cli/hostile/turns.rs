//! Tests agents that break, or send what they should not, in the middle of a turn.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;

use super::world::World;

/// Each in a session of its own; a turn after it shows that the session continues.
const WORDS: [&str; 11] = [
    "junk",
    "utf8",
    "unknown",
    "foreign",
    "twice",
    "stop telepathy",
    "error no luck",
    "crash",
    "quiet",
    "longline",
    "signout",
];

#[test]
fn whatever_is_said_in_a_turn_it_ends_and_the_session_goes_on() {
    let world = World::new("", &[("hostile", "")]);
    let mut told = String::new();
    for words in WORDS {
        let session = world.session("hostile");
        told.push_str(&format!("{words}: {}", world.turn(&session, words)));
        let next = world.turn(&session, "hello");
        assert!(next.starts_with("idle\n") && next.ends_with("  text: hello\n  turn completed\n"), "{words}: {next}");
    }
    assert_snapshot!(told, @r#"
    junk: idle
      text: still here
      turn completed
    utf8: idle
      text: a�b
      turn completed
    unknown: idle
      raw: {"sessionUpdate":"telepathy","strength":9}
      raw: {"method":"_hostile/pulse","params":{"sessionId":"s1"}}
      text: favour: -32601, read: -32602, other's: -32602
      turn completed
    foreign: idle
      text: mine
      turn completed
    twice: idle
      turn completed
    stop telepathy: idle
      turn completed: telepathy
    error no luck: idle
      turn failed: Internal error: no luck
    crash: failed
      failure: the agent ended (exit code 3): about to break / broke at prompt [31mred
      text: I was about to
      turn failed: the agent ended (exit code 3): about to break / broke at prompt [31mred
    quiet: failed
      failure: the agent closed its output and was ended (signal 9)
      turn failed: the agent closed its output and was ended (signal 9)
    longline: failed
      failure: the agent wrote a line of more than 16 MiB
      turn failed: the agent wrote a line of more than 16 MiB
    signout: needs_you
      turn failed: signed_out
    "#);
    world.guide_is_unharmed();
    world.server.stop();
}

/// Agents recognise a command only if it is the whole prompt: context for the agent goes with the next prompt that is
/// no command.
#[test]
fn a_slash_command_reaches_an_agent_that_takes_over_alone() {
    let world = World::new("", &[("hostile", "")]);
    let session = world.client.session();
    world.turn(&session, "say before");
    let other = serde_json::json!({ "agent": "hostile" });
    let resumed = world.client.call(&format!("POST /api/v1/sessions/{session}/resume"), None, &other).unwrap();
    assert!(resumed.status < 300, "{}", resumed.body);
    let blocks = |words: &str| {
        let told = world.turn(&session, words);
        let echoed =
            told.lines().find_map(|line| line.trim().strip_prefix("text: ")).unwrap_or_else(|| panic!("{told}"));
        let blocks: Vec<serde_json::Value> = serde_json::from_str(echoed).unwrap();
        blocks.iter().map(|block| block["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(blocks("/echo one"), ["/echo one"]);
    let two = blocks("echo two");
    let [record, words] = two.as_slice() else { panic!("{two:?}") };
    assert!(record.starts_with("[Context from Throughline") && record.contains("t1 person: say before"), "{record}");
    assert_eq!(words, "echo two");
    assert_eq!(blocks("echo three"), ["echo three"]);
    world.server.stop();
}

#[test]
fn a_flood_is_kept_word_for_word_and_drowns_nobody() {
    const UPDATES: u32 = 100_000;
    let world = World::new("", &[("hostile", "")]);
    let session = world.session("hostile");
    world.settled(&session);
    world.prompt(&session, &format!("flood {UPDATES}"));
    world.until(&session, &["running"]);
    world.guide_is_unharmed();
    world.settled(&session);
    let text = world.text(&session);
    let expected: String = (0..UPDATES).map(|n| format!("{n} ")).collect();
    assert!(text == expected, "{} of {} bytes", text.len(), expected.len());
    world.server.stop();
}

#[test]
fn files_outside_the_directory_are_out_of_reach() {
    let world = World::new("", &[("hostile", "")]);
    let (home, work) = (world.folder.home(), world.folder.work());
    fs::write(home.join("secret"), "canary").unwrap();
    fs::write(work.join(".env"), "canary").unwrap();
    std::os::unix::fs::symlink(home.join("secret"), work.join("link")).unwrap();
    let session = world.session("hostile");
    let outside = ["secret", "missing"].map(|name| home.join(name));
    let inside = ["link", ".env", "../home/secret"].map(|name| work.join(name));
    for path in outside.iter().chain(&inside).chain([&PathBuf::from("/proc/self/environ")]) {
        for deed in ["read", "write"] {
            let told = world.turn(&session, &format!("{deed} {}", path.display()));
            // The target of a link is not revealed either.
            let why = if deed == "write" && path.ends_with("link") {
                "this is no plain file"
            } else {
                "this path is outside"
            };
            assert!(told.contains("\"code\":-32602") && told.contains(why), "{deed} {}: {told}", path.display());
            assert!(told.ends_with("turn completed\n") && !told.contains("canary"), "{told}");
        }
    }
    assert_eq!(fs::read_to_string(home.join("secret")).unwrap(), "canary");
    assert_eq!(fs::read_to_string(work.join(".env")).unwrap(), "canary");
    assert!(!home.join("missing").exists());
    world.guide_is_unharmed();
    world.server.stop();
}
