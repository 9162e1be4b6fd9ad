//! Tests `throughline usage`, and what `status` and `show` say of tokens and cost.

use serde_json::Value;

use crate::support::{Folder, Running};

/// One server throughout: the guide says what its own life has cost, and forgets it when it ends.
fn spending() -> (Folder, Running) {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new", "--name", "the loom"]).ok();
    for prompt in ["spend 1200 300 0.25", "say hello", "spend 2000 500 0.5"] {
        folder.run(&["send", "last", prompt]).ok();
    }
    (folder, server)
}

#[test]
fn usage_is_printed_by_day_agent_and_session() {
    let (folder, _server) = spending();
    let by_agent = folder.run(&["usage", "--by", "agent"]).ok();
    assert!(by_agent.contains("guide  3      3.2k   0       800     0.750 USD + unknown"), "{by_agent}");
    assert!(by_agent.contains("1 turn did not report usage."), "{by_agent}");
    let of_session = folder.run(&["usage", "last"]).ok();
    assert!(of_session.starts_with("the loom\n4.0k tokens, 0.750 USD + unknown\n"), "{of_session}");
    assert!(of_session.contains("t2    unknown  unknown  unknown  unknown  unknown"), "{of_session}");
    let days = folder.run(&["usage", "--since", "7d"]).ok();
    assert!(days.contains("4.0k tokens, 0.750 USD + unknown") && days.contains("DAY "), "{days}");
    let json: Value = serde_json::from_str(&folder.run(&["usage", "--by", "model", "--json"]).ok()).unwrap();
    assert_eq!((&json["by"], &json["total"]["totalTokens"]), (&"model".into(), &4_000.into()), "{json}");
    let none = folder.run(&["usage", "--since", "soon"]);
    assert!(none.code == Some(2) && none.stderr.contains("as in 7d, 4w or 6m"), "{}", none.stderr);
    let shown = folder.run(&["show", "last"]).ok();
    assert!(shown.contains("\n4.0k tokens, 0.750 USD + unknown\n"), "{shown}");
}

#[test]
fn a_limit_that_is_crossed_is_told_and_stops_nothing() {
    let folder = Folder::new();
    folder.configure("[usage]\nwarn_session = \"0.3 USD\"\nwarn_day = \"0.3 USD\"\n");
    let server = folder.serve();
    folder.run(&["new", "--name", "the loom"]).ok();
    folder.run(&["send", "last", "spend 10 10 0.25"]).ok();
    let before = folder.run(&["status"]).ok();
    assert!(before.ends_with("Today: 20 tokens, 0.250 USD.\n"), "{before}");
    folder.run(&["send", "last", "spend 10 10 0.25"]).ok();
    let after = folder.run(&["status"]).ok();
    assert!(after.ends_with("Today has cost 0.500 USD, more than the 0.300 USD that you set.\n"), "{after}");
    let shown = folder.run(&["show", "last"]).ok();
    assert!(shown.contains("This session has cost 0.500 USD, more than the 0.300 USD that you set."), "{shown}");
    assert!(folder.run(&["send", "last", "say on"]).ok().contains("on"), "nothing is stopped");
    server.stop();
}
