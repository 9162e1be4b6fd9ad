//! `/settings`: what the server was started with, for the person alone.

use serde_json::json;

use crate::client::bearer;
use crate::support::World;

#[tokio::test]
async fn settings_are_shown_with_their_source_and_the_line_that_changes_them() {
    let world = World::open().await;
    let listen = json!({
        "key": "server.listen",
        "about": "Where the server listens.",
        "value": "\"127.0.0.1:7417\"",
        "source": { "type": "config", "line": 2 },
        "change": { "text": "listen = \"127.0.0.1:7417\"", "place": { "type": "replace", "line": 2 } },
    });
    let expected = json!({
        "file": "/home/ada/.throughline/config.toml",
        "hasFile": true,
        "url": "http://127.0.0.1:7417",
        "localOnly": true,
        "values": [listen],
    });
    assert_eq!(world.get("/api/v1/settings").await.ok(200), expected);
    world.close().await;
}

/// Commands, addresses and keys are never set over HTTP.
#[tokio::test]
async fn settings_are_read_by_the_person_and_changed_by_nobody() {
    let world = World::open().await;
    let session = world.session().await;
    let agent = world.agent_token(&session).await;
    assert_eq!(world.call_as(bearer(&agent), "GET /api/v1/settings", None).await.summary(), "403 forbidden");
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let answer = world.call(&format!("{method} /api/v1/settings"), json!({ "server.listen": "0.0.0.0:1" })).await;
        assert_eq!(answer.summary(), "405 method_not_allowed", "{method}");
    }
    assert_eq!(world.get("/api/v1/settings?key=x").await.summary(), "400 invalid_query");
    world.close().await;
}
