//! Tests agents whose questions mislead, and deceptive names.

use serde_json::{Value, json};

use super::world::World;

#[test]
fn a_request_shows_what_is_to_be_done_whatever_it_is_called() {
    let world = World::new("", &[("hostile", "")]);
    let cases = [
        ("ask rm -rf ~", "rm -rf ~"),
        ("disguise ; rm -rf ~", "command: ls\ndescription: Lists files\nargs: [\"-l\",\"; rm -rf ~\"]"),
    ];
    for (words, subject) in cases {
        let session = world.session("hostile");
        world.settled(&session);
        world.prompt(&session, words);
        let show = world.until(&session, &["needs_you"]);
        let open = show["openRequests"][0]["request"].as_str().unwrap().to_owned();
        let entries = world.entries(&session);
        let asked = entries.iter().find(|entry| entry["type"] == "permission.asked").unwrap();
        // The command by itself, or the whole input if there is more.
        assert_eq!(asked["data"]["subject"], subject, "{asked}");
        // The label is the agent's own, unchanged: each output makes it harmless.
        assert_eq!(asked["data"]["title"], "List\u{1b}[2K files\u{202e}");
        let path = format!("POST /api/v1/sessions/{session}/permissions/{open}");
        let told = world.client.call(&path, None, &json!({ "option": "n" })).unwrap();
        assert_eq!(told.status, 200, "{}", told.body);
        world.settled(&session);
        let summary = world.summary(&session, 0);
        assert!(summary.contains(r#""optionId":"n""#) && summary.ends_with("turn completed\n"), "{summary}");
    }
    world.guide_is_unharmed();
    world.server.stop();
}

#[test]
fn titles_are_kept_whole_and_reach_no_terminal_as_they_are() {
    let world = World::new("", &[("hostile", "")]);
    let session = world.session("hostile");
    world.turn(&session, "titles Tidy");
    let title = "Tidy\u{1b}]0;x\u{7}\u{1b}[2K\u{202e}dne\u{e0041}\u{9b}31m";
    assert_eq!(world.show(&session)["title"], title);
    let of =
        |kind: &str, entries: &[Value]| entries.iter().find(|entry| entry["type"] == kind).unwrap()["data"].clone();
    let entries = world.entries(&session);
    assert_eq!(of("tool.started", &entries)["title"], title);
    assert_eq!(of("agent.noticed", &entries)["notice"]["title"], title);
    for command in [&["list"][..], &["list", "--json"], &["show", &session], &["show", &session, "--json"]] {
        let printed = world.folder.run(command).ok();
        assert!(printed.contains("Tidy"), "{command:?}: {printed}");
        let is_harmful =
            |letter: char| (letter.is_control() && !"\n\t".contains(letter)) || "\u{202e}\u{e0041}".contains(letter);
        assert!(!printed.contains(is_harmful), "{command:?}: {printed:?}");
    }
    world.guide_is_unharmed();
    world.server.stop();
}
