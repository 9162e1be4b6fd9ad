//! `/agents`: who can be named in a new session.

use serde_json::json;

use crate::support::World;

#[tokio::test]
async fn the_catalog_is_listed() {
    let world = World::open().await;
    let answer = world.get("/api/v1/agents").await.ok(200);
    let agents = answer["agents"].as_array().unwrap();
    let guide = json!({
        "name": "guide",
        "title": "Guide",
        "description":
            "Built in. Needs no key and no network; answers in set ways so that you can see how things work.",
        "installed": true,
        "version": env!("CARGO_PKG_VERSION"),
        "install": null,
        "signIn": null,
        "notes": [],
    });
    assert_eq!(agents[0], guide);
    let copilot = json!({
        "name": "copilot",
        "title": "GitHub Copilot",
        "description": "GitHub's coding agent.",
        "installed": false,
        "version": null,
        "install": "Run `npm install -g @github/copilot`.",
        "signIn": "Run `copilot login` once, or set COPILOT_GITHUB_TOKEN.",
        "notes": ["Of your own MCP servers it takes those with a url only."],
    });
    assert!(agents.contains(&copilot), "{answer}");
    assert!(agents[1..].iter().all(|agent| agent["installed"] == false), "{answer}");
    assert_eq!(world.get("/api/agents").await.ok(200), answer);
    world.close().await;
}
