//! `/agents`: who can be named in a new session.

use serde_json::json;

use crate::support::World;

#[tokio::test]
async fn the_catalog_is_listed() {
    let world = World::open().await;
    let expected = json!({ "agents": [{
        "name": "guide",
        "title": "Guide",
        "description":
            "Built in. Needs no key and no network; answers in set ways so that you can see how things work.",
    }] });
    assert_eq!(world.get("/api/v1/agents").await.ok(200), expected);
    assert_eq!(world.get("/api/agents").await.ok(200), expected);
    world.close().await;
}
