//! `/permissions`: an answer is remembered, listed and forgotten, by persons alone (T35, T36).

use serde_json::{Value, json};

use crate::client::{Live, bearer};
use crate::support::World;

/// Has the guide ask about `command`, and gives the path at which that is answered.
async fn ask(world: &World, session: &str, command: &str) -> (String, Value) {
    let before = world.entries_count(session).await;
    world.prompt(session, &format!("run {command}")).await;
    let asked = world
        .until_entry(session, |entry| entry["type"] == "permission.asked" && entry["seq"].as_u64() > Some(before))
        .await;
    let path = format!("POST /api/v1/sessions/{session}/permissions/p{}", asked["data"]["request"]);
    (path, asked["data"].clone())
}

/// What counted as the answer to the newest request.
async fn answered(world: &World, session: &str, request: &Value) -> Value {
    let is_it = |entry: &Value| entry["type"] == "permission.answered" && entry["data"]["request"] == *request;
    world.until_entry(session, is_it).await["data"].clone()
}

#[tokio::test]
async fn an_answer_is_remembered_until_it_is_forgotten() {
    let world = World::on_disk().await;
    let session = world.session().await;
    assert_eq!(world.get("/api/v1/permissions").await.ok(200), json!({ "permissions": [] }));
    let (answer, asked) = ask(&world, &session, "true").await;
    world.call(&answer, json!({ "option": "allow-once", "remember": true })).await.ok(200);
    let first = answered(&world, &session, &asked["request"]).await;
    let id = first["remembered"].as_str().unwrap().to_owned();
    world.until_entry(&session, |entry| entry["type"] == "turn.ended").await;

    let listed = world.get("/api/v1/permissions").await.ok(200);
    let row = &listed["permissions"][0];
    assert_eq!(listed["permissions"].as_array().unwrap().len(), 1);
    assert_eq!((&row["id"], &row["subject"], &row["digest"]), (&json!(id), &json!("true"), &asked["digest"]));
    assert_eq!((&row["agent"], &row["kind"], &row["decision"]), (&json!("guide"), &json!("execute"), &json!("allow")));
    assert_eq!(row["project"], world.get(&format!("/api/v1/sessions/{session}")).await.ok(200)["project"]);
    assert_eq!(row["by"], first["by"]);
    assert!(row["rememberedAt"].is_string());

    let world = world.restart().await;
    assert_eq!(world.get("/api/v1/permissions").await.ok(200), listed);
    let (_, again) = ask(&world, &session, "true").await;
    let second = answered(&world, &session, &again["request"]).await;
    assert_eq!((&second["by"], &second["option"]), (&json!({ "type": "remembered", "id": id }), &json!("allow-once")));

    let forget = format!("DELETE /api/v1/permissions/{id}");
    world.keyed("k", &forget, None).await.ok(204);
    world.keyed("k", &forget, None).await.ok(204);
    assert_eq!(world.call(&forget, None).await.summary(), "404 permission_not_found");
    assert_eq!(world.call("DELETE /api/v1/permissions/nonsense", None).await.summary(), "404 permission_not_found");
    assert_eq!(world.get("/api/v1/permissions").await.ok(200), json!({ "permissions": [] }));
    let (answer, asked) = ask(&world, &session, "true").await;
    world.call(&answer, json!({ "option": "reject-once" })).await.ok(200);
    assert_eq!(answered(&world, &session, &asked["request"]).await["by"]["type"], "person");
    world.close().await;
}

#[tokio::test]
async fn a_socket_remembers_too() {
    let world = World::open().await;
    let session = world.session().await;
    let mut live = Live::local(&world).await;
    let (_, asked) = ask(&world, &session, "true").await;
    let request = format!("p{}", asked["request"]);
    let answer =
        json!({ "type": "answer", "session": session, "request": request, "option": "reject-once", "remember": true });
    live.ask(answer).await;
    live.until("ack").await;
    let listed = world.get("/api/v1/permissions").await.ok(200);
    assert_eq!((&listed["permissions"][0]["decision"], &listed["permissions"][1]), (&json!("deny"), &Value::Null));
    world.close().await;
}

/// An agent that could remember, or see what is, would need no person any more.
#[tokio::test]
async fn an_agents_token_neither_remembers_nor_lists_nor_forgets() {
    let world = World::open().await;
    let session = world.session().await;
    let agent = world.agent_token(&session).await;
    let (answer, _) = ask(&world, &session, "true").await;
    let remember = json!({ "option": "allow-once", "remember": true });
    assert_eq!(world.call_as(bearer(&agent), &answer, remember.clone()).await.summary(), "403 forbidden");
    assert_eq!(world.get("/api/v1/permissions").await.ok(200), json!({ "permissions": [] }));
    world.call(&answer, remember).await.ok(200);
    let id = world.get("/api/v1/permissions").await.ok(200)["permissions"][0]["id"].as_str().unwrap().to_owned();
    for request in ["GET /api/v1/permissions".to_owned(), format!("DELETE /api/v1/permissions/{id}")] {
        assert_eq!(world.call_as(bearer(&agent), &request, None).await.summary(), "403 forbidden", "{request}");
    }
    assert_eq!(world.get("/api/v1/permissions").await.ok(200)["permissions"].as_array().unwrap().len(), 1);
    world.close().await;
}
