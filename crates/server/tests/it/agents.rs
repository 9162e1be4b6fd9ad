//! `/agents`: who can be named in a new session.

use serde_json::json;

use crate::client::bearer;
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
    let mut so_far = world.get("/api/v1/agents?soFar=true").await.ok(200);
    assert_eq!(so_far["agents"][0]["version"].take(), json!(null), "no program was asked");
    so_far["agents"][0]["version"] = json!(env!("CARGO_PKG_VERSION"));
    assert_eq!(so_far, answer);
    assert_eq!(world.get("/api/v1/agents?sofar=true").await.summary(), "400 invalid_query");
    world.close().await;
}

#[tokio::test]
async fn what_an_agent_keeps_is_for_the_person_alone() {
    let world = World::open().await;
    for (path, summary) in [
        ("guide/sessions", "409 not_supported"),
        ("copilot/sessions", "409 agent_not_installed"),
        ("nobody/sessions", "404 unknown_agent"),
        ("guide/sessions?cwd=usr", "400 invalid_query"),
        ("guide/sessions?limit=1", "400 invalid_query"),
    ] {
        let answer = world.get(&format!("/api/v1/agents/{path}")).await;
        assert_eq!(answer.summary(), summary, "{path}");
    }
    let session = world.session().await;
    let agent = world.agent_token(&session).await;
    let answer = world.call_as(bearer(&agent), "GET /api/v1/agents/guide/sessions", None).await;
    assert_eq!(answer.summary(), "403 forbidden");
    world.close().await;
}

#[tokio::test]
async fn an_agent_is_tested_without_a_session_here() {
    let world = World::with_agents().await;
    let before = world.position().await;
    let tested = world.call("POST /api/v1/agents/guide/test", None).await.ok(200);
    let program = format!("Guide {}", env!("CARGO_PKG_VERSION"));
    assert_eq!(tested, json!({ "program": program, "outcome": "ready", "methods": [], "reason": null }));
    for (name, summary) in [("copilot", "409 agent_not_installed"), ("nobody", "404 unknown_agent")] {
        let answer = world.call(&format!("POST /api/v1/agents/{name}/test"), None).await;
        assert_eq!(answer.summary(), summary, "{name}");
    }
    assert_eq!(world.position().await, before, "nothing was written down");
    let session = world.session().await;
    let agent = world.agent_token(&session).await;
    let answer = world.call_as(bearer(&agent), "POST /api/v1/agents/guide/test", None).await;
    assert_eq!(answer.summary(), "403 forbidden");
    world.close().await;
}
