//! `/sessions/{id}/prompts`: sent, queued, rewritten, taken back, refused.

use serde_json::{Value, json};

use crate::client::Live;
use crate::support::{World, id};

#[tokio::test]
async fn a_prompt_becomes_a_turn_with_its_answer() {
    let world = World::on_disk().await;
    let session = world.session().await;
    let request = format!("POST /api/v1/sessions/{session}/prompts");
    let accepted = world.call(&request, json!({ "text": "say hello there" })).await.ok(202);
    assert_eq!(accepted, json!({ "interactionId": id(3), "turn": 1 }));
    world.until_entry(&session, |entry| entry["type"] == "turn.ended").await;

    let at = "2025-11-15T03:00:00.000Z";
    let entry = |seq: u32, kind: &str, data: Value| json!({ "seq": seq, "at": at, "type": kind, "data": data });
    let created = json!({ "agent": "guide", "cwd": "/usr", "project": "/usr", "name": "" });
    // What the agent tells of itself stands between, and what the turn was about after it.
    let about = ["agent.options_changed", "agent.commands_changed", "title.set", "usage.reported", "summary.set"];
    let entries = world.entries(&session).await;
    let told: Vec<Value> =
        entries.into_iter().filter(|entry| !about.contains(&entry["type"].as_str().unwrap())).collect();
    let attached = told[2]["data"]["attached"].clone();
    assert_eq!((&attached["memory"], &attached["program"]), (&json!("new"), &json!("Guide 0.1.0")));
    assert_eq!(
        told,
        [
            entry(1, "session.created", created),
            entry(2, "agent.state_changed", json!({ "state": "starting" })),
            entry(4, "agent.state_changed", json!({ "state": "ready", "attached": attached })),
            entry(6, "turn.started", json!({ "turn": 1, "interactionId": id(3) })),
            entry(
                7,
                "prompt.sent",
                json!({ "interactionId": id(3), "text": "say hello there", "by": token_file(&world).await })
            ),
            entry(8, "text.part", json!({ "turn": 1, "block": 0, "text": "hello there" })),
            entry(11, "turn.ended", json!({ "turn": 1, "outcome": "completed" })),
        ]
    );
    let shown = world.get(&format!("/api/v1/sessions/{session}")).await.ok(200);
    assert_eq!((&shown["turns"], &shown["state"], &shown["unobserved"]), (&json!(1), &json!("idle"), &json!(true)));
    world.close().await;
}

/// The author of whatever is asked with a stored credential of this name.
async fn person(world: &World, name: &str) -> Value {
    let tokens = world.get("/api/v1/tokens").await.ok(200);
    let token = tokens["tokens"].as_array().unwrap().iter().find(|token| token["name"] == name).unwrap();
    json!({ "type": "person", "tokenId": token["id"], "name": name })
}

async fn token_file(world: &World) -> Value {
    person(world, "token file").await
}

/// Words that begin as the prompts of agents once did are a person's like any others, through every door.
#[tokio::test]
async fn who_wrote_a_prompt_follows_from_the_credential_and_never_from_the_words() {
    let world = World::on_disk().await;
    let session = world.session().await;
    let text = format!("[agent:{session}] say hi");
    world.prompt(&session, "slow 600").await;
    world.prompt(&session, &text).await;
    let mut local = Live::local(&world).await;
    local.call(json!({ "type": "prompt", "session": session, "text": text })).await;
    let browser = world.sign_in().await;
    let rewritten = world.prompt(&session, "say something else").await;
    let request = format!("PATCH /api/v1/sessions/{session}/prompts/{rewritten}");
    world.call_as(world.page_lines(&browser), &request, json!({ "text": text })).await.ok(200);
    let (file, page) = (token_file(&world).await, person(&world, "browser").await);
    let by = [&file, &json!({ "type": "person", "name": "command line" }), &page];
    let told = |list: &[Value]| list.iter().map(|each| (each["text"].clone(), each["by"].clone())).collect::<Vec<_>>();
    let expected: Vec<_> = by.map(|by| (json!(text), by.clone())).into();
    let shown = world.get(&format!("/api/v1/sessions/{session}")).await.ok(200);
    assert_eq!(told(shown["queue"].as_array().unwrap()), expected);

    world.call(&format!("POST /api/v1/sessions/{session}/cancel"), None).await.ok(202);
    world.until_entry(&session, |entry| entry["type"] == "turn.ended" && entry["data"]["turn"] == 4).await;
    let entries = world.entries(&session).await;
    let sent = entries.iter().filter(|entry| entry["type"] == "prompt.sent").map(|entry| entry["data"].clone());
    assert_eq!(told(&sent.skip(1).collect::<Vec<_>>()), expected);
    let read = world.get(&format!("/api/v1/sessions/{session}/turns/t2")).await.ok(200)["interaction"].clone();
    assert_eq!((&read["prompt"], &read["by"]), (&json!(text), &file));
    assert!(read["summary"].as_str().unwrap().starts_with("[agent:"), "{read}");
    world.close().await;
}

/// `POST /api/…` without the version is the same route.
#[tokio::test]
async fn the_version_can_be_left_out() {
    let world = World::open().await;
    let session = world.session().await;
    let accepted = world.call(&format!("POST /api/sessions/{session}/prompts"), json!({ "text": "say hi" })).await;
    assert_eq!(accepted.ok(202)["turn"], 1);
    world.until_entry(&session, |entry| entry["type"] == "turn.ended").await;
    world.close().await;
}

#[tokio::test]
async fn a_prompt_is_taken_while_the_agent_starts() {
    let world = World::open().await;
    let created = world.call("POST /api/v1/sessions", json!({ "agent": "guide", "cwd": "/usr" })).await.ok(201);
    world.turn(created["id"].as_str().unwrap(), "say early").await;
    world.close().await;
}

#[tokio::test]
async fn prompts_that_meet_a_turn_wait_and_can_be_changed_until_they_are_sent() {
    let world = World::on_disk().await;
    let session = world.session().await;
    let prompts = format!("/api/v1/sessions/{session}/prompts");
    let running = world.prompt(&session, "slow 600").await;
    let queued = world.call(&format!("POST {prompts}"), json!({ "text": "say one", "whenBusy": "queue" })).await;
    assert_eq!(queued.ok(202), json!({ "interactionId": id(4), "turn": null }));
    let (one, two) = (id(4), world.prompt(&session, "say two").await);

    let shown = world.get(&format!("/api/v1/sessions/{session}")).await.ok(200);
    let (at, by) = ("2025-11-15T03:00:00.000Z", token_file(&world).await);
    assert_eq!(
        shown["queue"],
        json!([
            { "interactionId": one, "text": "say one", "queuedAt": at, "by": by },
            { "interactionId": two, "text": "say two", "queuedAt": at, "by": by },
        ])
    );

    let changed = world.call(&format!("PATCH {prompts}/{one}"), json!({ "text": "say uno" })).await;
    assert_eq!(changed.ok(200), json!({ "success": true }));
    assert_eq!(world.call(&format!("DELETE {prompts}/{two}"), None).await.summary(), "204");
    let shown = world.get(&format!("/api/v1/sessions/{session}")).await.ok(200);
    assert_eq!(shown["queue"], json!([{ "interactionId": one, "text": "say uno", "queuedAt": at, "by": by }]));

    // What runs, what is gone and what never was does not wait.
    for interaction in [&running, &two, &id(99), &"nonsense".to_owned()] {
        let change = world.call(&format!("PATCH {prompts}/{interaction}"), json!({ "text": "x" })).await;
        assert_eq!(change.summary(), "404 prompt_not_queued", "{interaction}");
        let remove = world.call(&format!("DELETE {prompts}/{interaction}"), None).await;
        assert_eq!(remove.summary(), "404 prompt_not_queued", "{interaction}");
    }

    world.call(&format!("POST /api/v1/sessions/{session}/cancel"), None).await.ok(202);
    world.until_entry(&session, |entry| entry["type"] == "turn.ended" && entry["data"]["turn"] == 2).await;
    let entries = world.entries(&session).await;
    let sent: Vec<&Value> =
        entries.iter().filter(|entry| entry["type"] == "prompt.sent").map(|entry| &entry["data"]["text"]).collect();
    assert_eq!(sent, [&json!("slow 600"), &json!("say uno")]);
    world.close().await;
}

#[tokio::test]
async fn a_prompt_that_will_not_wait_is_refused_while_a_turn_runs() {
    let world = World::open().await;
    let session = world.session().await;
    let request = format!("POST /api/v1/sessions/{session}/prompts");
    let eager = json!({ "text": "say now", "whenBusy": "reject" });
    assert_eq!(world.call(&request, eager.clone()).await.ok(202)["turn"], 1);
    world.until_entry(&session, |entry| entry["type"] == "turn.ended").await;
    world.prompt(&session, "slow 600").await;
    let before = world.position().await;
    assert_eq!(world.call(&request, eager).await.summary(), "409 turn_running");
    assert_eq!(world.position().await, before);
    world.close().await;
}

#[tokio::test]
async fn fifty_prompts_may_wait_and_no_more() {
    let world = World::open().await;
    let session = world.session().await;
    world.prompt(&session, "slow 600").await;
    for n in 0..50 {
        world.prompt(&session, &format!("say {n}")).await;
    }
    let request = format!("POST /api/v1/sessions/{session}/prompts");
    assert_eq!(world.call(&request, json!({ "text": "say no" })).await.summary(), "409 queue_full");
    world.close().await;
}
