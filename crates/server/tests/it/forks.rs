//! `/sessions/{id}/fork`: a session that goes on from a turn of another one.

use serde_json::{Value, json};

use crate::client::Live;
use crate::mcp::{Client, Era};
use crate::support::{CWD, World, id};

fn fork(session: &str) -> String {
    format!("POST /api/v1/sessions/{session}/fork")
}

impl World {
    /// A session with three turns.
    async fn with_turns(&self) -> String {
        let session = self.session().await;
        for text in ["say one", "say two", "say three"] {
            self.turn(&session, text).await;
        }
        session
    }

    /// Forks, and gives the new session's id.
    async fn forked(&self, session: &str, wish: Value) -> String {
        self.call(&fork(session), wish).await.ok(201)["id"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn a_fork_says_where_it_comes_from_and_its_agent_is_told_of_the_turns_up_to_there() {
    let world = World::open().await;
    let session = world.with_turns().await;
    let wish = json!({ "turn": 2, "prompt": "say otherwise", "name": "another way" });
    let begun = world.call(&fork(&session), wish).await.ok(201);
    let forked = begun["id"].as_str().unwrap();
    assert_eq!(begun["from"], json!({ "session": session, "turn": 2 }));
    assert_eq!(
        (&begun["agent"], &begun["cwd"], &begun["title"]),
        (&json!("guide"), &json!(CWD), &json!("another way"))
    );
    assert_eq!((&begun["previous"], &begun["metaContextId"]), (&Value::Null, &Value::Null));
    assert_eq!(begun["queue"][0]["text"], "say otherwise");
    assert_eq!(begun["queue"][0]["by"]["type"], "person");

    let told = world.until_entry(forked, |entry| entry["type"] == "resume.sent").await;
    let told = told["data"]["text"].as_str().unwrap();
    assert!(told.contains("t2 agent: two") && !told.contains("three"), "{told}");
    world.until_entry(forked, |entry| entry["type"] == "turn.ended").await;

    let note = world.until_entry(&session, |entry| entry["type"] == "session.forked").await;
    assert_eq!((&note["data"]["turn"], &note["data"]["session"]), (&json!(2), &json!(forked)));
    assert_eq!(note["data"]["by"]["type"], "person");
    let markdown = world.get(&format!("/api/v1/sessions/{session}/markdown")).await;
    assert_eq!(markdown.status, 200, "a session with a note is written down as before");
}

#[tokio::test]
async fn a_fork_needs_nothing_but_the_session() {
    let world = World::open().await;
    let session = world.with_turns().await;
    let begun = world.call(&fork(&session), None).await.ok(201);
    assert_eq!(begun["from"], json!({ "session": session, "turn": 3 }), "from the newest turn");
    assert_eq!(begun["queue"], json!([]));
    let first = world.call(&fork(&session), json!({ "turn": 0 })).await.ok(201);
    assert_eq!(first["from"]["turn"], 0);
    // Pictures alone say something, too.
    let image = json!({ "mimeType": "image/png", "data": "iVBORw0KGgo=" });
    let shown = world.call(&fork(&session), json!({ "turn": 1, "images": [image] })).await.ok(201);
    assert_eq!((&shown["queue"][0]["text"], &shown["queue"][0]["images"][0]), (&json!(""), &image));
}

#[tokio::test]
async fn what_can_not_be_forked_is_refused() {
    let world = World::open().await;
    let session = world.with_turns().await;
    for (wish, refusal) in [
        (json!({ "turn": 4 }), "404 turn_not_found"),
        (json!({ "turn": -1 }), "400 invalid_body"),
        (json!({ "turn": 1, "prompt": " " }), "400 prompt_empty"),
        (json!({ "turn": 1, "name": "a\nb" }), "400 name_invalid"),
        (json!({ "turn": 1, "agent": "nobody" }), "400 unknown_agent"),
        (json!({ "turn": 1, "after": 2 }), "400 invalid_body"),
    ] {
        assert_eq!(world.call(&fork(&session), wish.clone()).await.summary(), refusal, "{wish}");
    }
    assert_eq!(world.call(&fork(&id(99)), None).await.summary(), "404 session_not_found");
    let list = world.get("/api/v1/sessions").await.ok(200);
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1);

    world.prompt(&session, "slow 60").await;
    world.until_entry(&session, |entry| entry["type"] == "turn.started" && entry["data"]["turn"] == 4).await;
    assert_eq!(world.call(&fork(&session), json!({ "turn": 4 })).await.summary(), "409 turn_running");
    let begun = world.call(&fork(&session), None).await.ok(201);
    assert_eq!(begun["from"]["turn"], 3, "the newest that has ended");
    world.call(&format!("POST /api/v1/sessions/{session}/cancel"), None).await.ok(202);
}

/// The same pictures are taken and refused as with a prompt.
#[tokio::test]
async fn what_is_no_picture_is_refused_by_every_door() {
    let world = World::open().await;
    let session = world.with_turns().await;
    let picture = |kind: &str, data: &str| json!({ "mimeType": kind, "data": data });
    let cases = [
        json!([picture("text/html", "aGk=")]),
        json!([picture("image/svg+xml", "aGk=")]),
        json!([picture("image/png", "not base64!")]),
        json!([picture("image/png", "")]),
        json!(vec![picture("image/png", "aGk="); model::MAX_IMAGES + 1]),
    ];
    for images in cases {
        let forked = world.call(&fork(&session), json!({ "turn": 1, "prompt": "look", "images": images })).await;
        assert_eq!(forked.summary(), "400 images_invalid", "{images}");
        let prompts = format!("POST /api/v1/sessions/{session}/prompts");
        let sent = world.call(&prompts, json!({ "text": "look", "images": images })).await;
        assert_eq!(sent.summary(), "400 images_invalid", "{images}");
    }
    let list = world.get("/api/v1/sessions").await.ok(200);
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_repeat_leads_to_the_same_fork() {
    let world = World::open().await;
    let session = world.with_turns().await;
    let wish = json!({ "turn": 1, "prompt": "say again" });
    let first = world.keyed("k1", &fork(&session), wish.clone()).await.ok(201);
    world.until_entry(first["id"].as_str().unwrap(), |entry| entry["type"] == "turn.ended").await;
    assert_eq!(world.keyed("k1", &fork(&session), wish).await.ok(201), first);
    let other = world.keyed("k1", &fork(&session), json!({ "turn": 2 })).await;
    assert_eq!(other.summary(), "409 key_reused");
}

/// Every list that is open hears of it, with what it comes from.
#[tokio::test]
async fn lists_know_what_a_fork_comes_from() {
    let world = World::open().await;
    let session = world.with_turns().await;
    let mut live = Live::local(&world).await;
    let forked = world.forked(&session, json!({ "turn": 1 })).await;
    let heard = live
        .until_that(|frame| frame["session"]["id"] == forked.as_str() && frame["session"]["from"]["turn"] == 1)
        .await;
    assert_eq!(heard.last().unwrap()["session"]["from"]["session"], session.as_str());
}

/// An agent that looks the session up is told what it was forked from.
#[tokio::test]
async fn an_agent_can_tell_where_its_session_comes_from() {
    let world = World::open().await;
    let session = world.with_turns().await;
    let forked = world.forked(&session, json!({ "turn": 2 })).await;
    let client = Client::open(&world, Era::Stateless, &world.agent_token(&forked).await).await;
    let told = client.call("current_session", json!({})).await;
    assert!(told.contains(&format!("Forked from session {session}, after its turn t2")), "{told}");
}
