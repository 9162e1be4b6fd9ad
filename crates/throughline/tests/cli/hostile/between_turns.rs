//! Tests agents that ask while no turn runs: they are answered like others, and a kill leaves none of their questions
//! open.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::world::World;
use crate::client::{Client, Told};

const NOBODY: &str = r#"{"type":"nobody"}"#;

fn answer(client: &Client, session: &str, request: &str, option: &str) -> Told {
    let path = format!("POST /api/v1/sessions/{session}/permissions/{request}");
    client.call(&path, None, &json!({ "option": option })).unwrap()
}

/// A line for each question and answer, with its turn, if it has one.
fn asked(entries: &[Value]) -> Vec<String> {
    let about = entries.iter().filter(|entry| entry["type"].as_str().unwrap().starts_with("permission."));
    let line = |entry: &Value| {
        let data = &entry["data"];
        let what = data.get("subject").or(data.get("option")).unwrap_or(&data["by"]);
        let turn = data.get("turn").map(|turn| format!(" in {turn}")).unwrap_or_default();
        format!("p{} {}{turn}", data["request"], what.as_str().map_or_else(|| what.to_string(), str::to_owned))
    };
    about.map(line).collect()
}

fn open(show: &Value) -> Vec<&str> {
    let requests = show["openRequests"].as_array().unwrap().iter();
    requests.map(|open| open["request"].as_str().unwrap()).collect()
}

#[test]
fn a_question_before_the_first_prompt_and_one_after_a_turn_are_answered() {
    let world = World::new("", &[("early", "new:ask")]);
    let session = world.session("early");
    let show = world.until(&session, &["needs_you"]);
    assert_eq!((open(&show), &show["turns"]), (vec!["p1"], &json!(0)));
    let printed = world.folder.run(&["show", &session]).ok();
    assert!(printed.contains("? Watch?\n    | make watch\n") && printed.contains("--request p1 allow"), "{printed}");
    assert_eq!(answer(&world.client, &session, "p1", "maybe").status, 400);
    world.folder.run(&["answer", &session, "allow"]).ok();
    assert_eq!(world.noted(r#"{"outcome":"#), [r#"{"outcome":"selected","optionId":"y"}}"#]);
    let late = answer(&world.client, &session, "p1", "n");
    assert_eq!((late.status, &late.body["error"]["details"]["answer"]["option"]), (409, &json!("y")), "{}", late.body);

    world.turn(&session, "ask-late make test");
    let show = world.until(&session, &["needs_you"]);
    assert_eq!(open(&show), ["p2"]);
    // The agent waits; a turn runs beside its question and leaves it open.
    assert_eq!(world.turn(&session, "hello"), "needs_you\n  text: hello\n  turn completed\n");
    assert_eq!(answer(&world.client, &session, "p2", "n").status, 200);
    assert_eq!(world.noted_times(2, r#"{"outcome":"#)[1], r#"{"outcome":"selected","optionId":"n"}}"#);
    assert_eq!(world.show(&session)["state"], "idle");
    assert_eq!(asked(&world.entries(&session)), ["p1 make watch", "p1 y", "p2 make test", "p2 n"]);
    let printed = world.folder.run(&["show", &session]).ok();
    assert!(printed.contains("allowed once by command line") && printed.contains("rejected by"), "{printed}");
    world.guide_is_unharmed();
    world.server.stop();
}

#[test]
fn a_stop_withdraws_what_is_asked_beside_the_turns() {
    let world = World::new("", &[("early", "new:ask")]);
    let session = world.session("early");
    world.until(&session, &["needs_you"]);
    world.cancel(&session);
    assert_eq!(world.noted(r#"{"outcome":"#), [r#"{"outcome":"cancelled"}}"#]);
    assert_eq!(world.show(&session)["state"], "idle");
    let again = world.client.call(&format!("POST /api/v1/sessions/{session}/cancel"), None, &Value::Null).unwrap();
    assert_eq!(again.status, 409, "{}", again.body);
    world.guide_is_unharmed();
    world.server.stop();
}

#[test]
fn a_kill_withdraws_what_was_asked_and_the_session_goes_on() {
    let World { folder, server, client, .. } = {
        let world = World::new("", &[("late", "")]);
        world.guide_is_unharmed();
        world
    };
    let body = json!({ "agent": "late", "cwd": folder.work() });
    let session = client.call("POST /api/v1/sessions", None, &body).unwrap().body["id"].as_str().unwrap().to_owned();
    client.prompt(&session, "first", "ask-late make test").unwrap();
    client.until_entry(&session, |entry| entry["type"] == "permission.asked");
    server.end(Signal::KILL);

    let server = folder.serve();
    let client = Client::new(&folder, &server);
    let show = client.get(&format!("/sessions/{session}")).body;
    assert_eq!((show["state"].as_str(), open(&show)), (Some("idle"), vec![]), "{show}");
    let nobody = format!("p1 {NOBODY}");
    assert_eq!(asked(&client.entries(&session)), ["p1 make test", nobody.as_str()]);
    assert_eq!(answer(&client, &session, "p1", "y").status, 409);
    client.prompt(&session, "second", "hello").unwrap();
    client.until_entry(&session, |entry| entry["type"] == "turn.ended" && entry["data"]["turn"] == 2);
    let said =
        client.entries(&session).iter().any(|entry| entry["data"]["text"] == "hello" && entry["data"]["turn"] == 2);
    assert!(said, "the session is usable");
    server.stop();
}
