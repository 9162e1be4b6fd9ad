//! `/sessions/{id}/unsent`: what is being written follows the person, and is no part of the log.

use serde_json::{Value, json};

use crate::client::Live;
use crate::support::{World, id};

fn path(session: &str) -> String {
    format!("/api/v1/sessions/{session}/unsent")
}

impl World {
    async fn write(&self, session: &str, text: &str, writer: &str) {
        let wish = json!({ "text": text, "writer": writer });
        self.call(&format!("PATCH {}", path(session)), wish).await.ok(200);
    }

    async fn unsent(&self, session: &str) -> Value {
        self.get(&path(session)).await.ok(200)
    }
}

#[tokio::test]
async fn the_last_words_are_kept_and_every_follower_hears_of_them() {
    let world = World::open().await;
    let session = world.session().await;
    assert_eq!(world.unsent(&session).await, json!({ "text": null, "writer": null }), "nothing is known of any");
    let before = world.entries_count(&session).await;
    let mut live = Live::local(&world).await;
    live.ask(json!({ "type": "follow", "session": session })).await;
    live.until("caught_up").await;
    world.write(&session, "mend the", "phone").await;
    world.write(&session, "mend the loom", "laptop").await;
    let heard = live.until_that(|frame| frame["text"] == "mend the loom").await;
    let words: Vec<&Value> = heard.iter().filter(|frame| frame["type"] == "unsent").collect();
    let said =
        |text: &str, writer: &str| json!({ "type": "unsent", "session": session, "text": text, "writer": writer });
    assert_eq!(words, [&said("mend the", "phone"), &said("mend the loom", "laptop")]);
    assert_eq!(world.unsent(&session).await, json!({ "text": "mend the loom", "writer": "laptop" }));
    world.write(&session, "", "laptop").await;
    assert_eq!(world.unsent(&session).await["text"], "", "it was emptied, which is not the same as nothing known");
    assert_eq!(world.entries_count(&session).await, before, "the log says nothing of it");
}

#[tokio::test]
async fn what_is_too_long_or_of_no_session_is_refused() {
    let world = World::open().await;
    let session = world.session().await;
    let patch = format!("PATCH {}", path(&session));
    let long = json!({ "text": "x".repeat((64 << 10) + 1), "writer": "p" });
    assert_eq!(world.call(&patch, long).await.summary(), "413 unsent_too_long");
    assert_eq!(world.call(&patch, json!({ "text": "x" })).await.summary(), "400 invalid_body");
    assert_eq!(world.unsent(&session).await["text"], Value::Null);
    world.write(&session, "x", &"w".repeat(1_000)).await;
    assert_eq!(world.unsent(&session).await["writer"].as_str().unwrap().len(), 64);
    assert_eq!(world.get(&path(&id(99))).await.summary(), "404 session_not_found");
    world.call(&format!("DELETE /api/v1/sessions/{session}"), None).await.ok(204);
    assert_eq!(world.get(&path(&session)).await.status, 404);
}

/// An agent reads and writes nothing of what the person is about to say.
#[tokio::test]
async fn an_agent_does_not_see_what_is_being_written() {
    let world = World::open().await;
    let session = world.session().await;
    world.write(&session, "not yet", "phone").await;
    let token = world.agent_token(&session).await;
    let lines = crate::client::bearer(&token);
    let asked = world.call_as(lines, &format!("GET {}", path(&session)), None).await;
    assert_eq!(asked.status, 403, "{}", asked.text());
}
