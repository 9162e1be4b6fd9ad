//! `/healthz` for anyone, `/metrics` for those who may see all of the server.

use serde_json::json;

use crate::client::bearer;
use crate::support::World;

#[tokio::test]
async fn health_needs_no_credential_and_says_nothing() {
    let world = World::open().await;
    let answer = world.call_as(vec![], "GET /healthz", None).await;
    assert_eq!(answer.ok(200), json!({ "status": "ok" }));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    world.close().await;
}

#[tokio::test]
async fn counters_need_a_credential() {
    let world = World::open().await;
    let session = world.session().await;
    assert_eq!(world.call_as(vec![], "GET /metrics", None).await.summary(), "401 unauthenticated");
    let agent = world.agent_token(&session).await;
    assert_eq!(world.call_as(bearer(&agent), "GET /metrics", None).await.summary(), "403 forbidden");
    let answer = world.get("/metrics").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/plain; version=0.0.4; charset=utf-8")));
    assert!(answer.text().contains("doors_connections_opened_total"), "{}", answer.text());
    world.close().await;
}
