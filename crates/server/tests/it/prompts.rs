//! `/sessions/{id}/prompts`: sent, queued, rewritten, taken back, refused.

use serde_json::{Value, json};

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
            entry(7, "prompt.sent", json!({ "interactionId": id(3), "text": "say hello there" })),
            entry(8, "text.part", json!({ "turn": 1, "block": 0, "text": "hello there" })),
            entry(11, "turn.ended", json!({ "turn": 1, "outcome": "completed" })),
        ]
    );
    let shown = world.get(&format!("/api/v1/sessions/{session}")).await.ok(200);
    assert_eq!((&shown["turns"], &shown["state"], &shown["unobserved"]), (&json!(1), &json!("idle"), &json!(true)));
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
    let at = "2025-11-15T03:00:00.000Z";
    assert_eq!(
        shown["queue"],
        json!([
            { "interactionId": one, "text": "say one", "queuedAt": at },
            { "interactionId": two, "text": "say two", "queuedAt": at },
        ])
    );

    let changed = world.call(&format!("PATCH {prompts}/{one}"), json!({ "text": "say uno" })).await;
    assert_eq!(changed.ok(200), json!({ "success": true }));
    assert_eq!(world.call(&format!("DELETE {prompts}/{two}"), None).await.summary(), "204");
    let shown = world.get(&format!("/api/v1/sessions/{session}")).await.ok(200);
    assert_eq!(shown["queue"], json!([{ "interactionId": one, "text": "say uno", "queuedAt": at }]));

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
