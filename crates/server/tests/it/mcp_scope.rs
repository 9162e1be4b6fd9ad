//! Which sessions the tools of `/mcp` reach: those of the project, all where it is configured, deleted ones never (T29).

use serde_json::json;

use crate::client::bearer;
use crate::mcp::{Client, Era};
use crate::mcp_reading::{Written, said};
use crate::support::{World, id};

struct Scene {
    session: String,
    same: String,
    other: String,
    deleted: String,
}

async fn scene(world: &World) -> Scene {
    let session = world.session().await;
    world.turn(&session, "say The bell rang.").await;
    let mut written = Vec::new();
    for (nth, project) in [(1, "/usr"), (2, "/usr/lib"), (3, "/usr")] {
        let turns = vec![("Where is the medlar?", vec![said(1, "Behind the wall.")])];
        written.push(Written::new(world, nth, project, turns).await.id);
    }
    let [same, other, deleted] = written.try_into().unwrap();
    world.call(&format!("DELETE /api/v1/sessions/{deleted}"), None).await.ok(204);
    Scene { session, same, other, deleted }
}

async fn client(world: &World, session: &str) -> Client {
    Client::open(world, Era::Stateless, &world.agent_token(session).await).await
}

/// Every tool that reads another session.
fn readings(session: &str) -> [(&'static str, serde_json::Value); 5] {
    [
        ("search_session", json!({ "query": "medlar", "session_id": session })),
        ("session_toc", json!({ "session_id": session })),
        ("session_title_history", json!({ "session_id": session })),
        ("get_turn", json!({ "turn": "t1", "session_id": session })),
        ("get_turns", json!({ "from": "t1", "to": "t1", "session_id": session })),
    ]
}

async fn interaction_of(world: &World, session: &str) -> String {
    let page = world.get(&format!("/api/v1/sessions/{session}/turns/1")).await.ok(200);
    page["interaction"]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn tools_reach_the_project_and_count_the_rest() {
    let world = World::open().await;
    let Scene { session, same, other, deleted } = scene(&world).await;
    let mine = client(&world, &session).await;
    for (tool, arguments) in readings(&same) {
        let told = mine.call(tool, arguments).await;
        assert!(told.contains(&format!("{same} \"Written 1\"")) && !told.starts_with("FAILED"), "{tool}: {told}");
    }
    let told = mine.call("get_turn", json!({ "turn": "t1", "session_id": same })).await;
    assert!(told.contains("> Where is the medlar?") && told.contains("> Behind the wall."), "{told}");

    let unknown = id(0xabc);
    for hidden in [&other, &deleted] {
        for ((tool, arguments), (_, of_none)) in readings(hidden).into_iter().zip(readings(&unknown)) {
            let told = mine.call(tool, arguments).await;
            assert!(told.starts_with("FAILED ") && told.contains("out of scope"), "{tool}: {told}");
            assert!(!told.contains("medlar") && !told.contains("Written"), "{tool}: {told}");
            // As if it had never been.
            let nearest = |told: &str| told.split("the nearest").next().unwrap().to_owned();
            let none = mine.call(tool, of_none).await;
            assert_eq!(nearest(&told).replace(hidden.as_str(), "ID"), nearest(&none).replace(&unknown, "ID"));
        }
    }
    let theirs = interaction_of(&world, &other).await;
    let told = mine.call("get_interaction", json!({ "interaction_id": theirs })).await;
    assert!(told.starts_with("FAILED ") && told.contains("is not found") && !told.contains("medlar"), "{told}");
    let friend = interaction_of(&world, &same).await;
    let told = mine.call("get_interaction", json!({ "interaction_id": friend })).await;
    assert!(told.contains(&same) && told.contains("> Behind the wall."), "{told}");

    let listed = mine.call("list_sessions", json!({})).await;
    assert!(listed.contains("project /usr, most recently active first: 2 of 2."), "{listed}");
    assert!(listed.contains(&format!("{same} \"Written 1\", created 2025-11-15 03:00 UTC, 1 turn")), "{listed}");
    assert!(listed.contains(&session) && listed.contains("(current)"), "{listed}");
    assert!(listed.contains("1 session of another project is out of scope."), "{listed}");
    assert!(!listed.contains(&other) && !listed.contains(&deleted) && !listed.contains("/usr/lib"), "{listed}");

    // The reach is the mount's alone: over HTTP the same credential has its own session.
    let token = world.agent_token(&session).await;
    let answer = world.call_as(bearer(&token), &format!("GET /api/v1/sessions/{same}/toc"), None).await;
    assert_eq!(answer.summary(), "404 session_not_found");
    // And only for reading: what is marked is marked in the caller's own.
    mine.call("set_relevant_context", json!({ "setName": "files", "items": ["/a"] })).await;
    let shown = world.get(&format!("/api/v1/sessions/{same}/context")).await.ok(200);
    assert_eq!(shown["context"], json!({}), "{shown}");
    world.close().await;
}

#[tokio::test]
async fn a_list_goes_on_from_its_cursor() {
    let world = World::open().await;
    let session = world.session().await;
    for nth in 1..=7 {
        let project = if nth % 2 == 0 { "/usr/lib" } else { "/usr" };
        Written::new(&world, nth, project, Vec::new()).await;
    }
    let client = client(&world, &session).await;
    let mut arguments = json!({ "limit": 2 });
    let mut names = Vec::new();
    for expected in ["2 of 5", "2 of 5, going on", "1 of 5, going on"] {
        let page = client.call("list_sessions", arguments.clone()).await;
        assert!(page.contains(expected), "{page}");
        assert!(page.contains("3 sessions of other projects are out of scope."), "{page}");
        names.extend(page.lines().filter(|line| line.starts_with("0190")).map(|line| line[..36].to_owned()));
        if let Some((_, next)) = page.split_once("Next: list_sessions {") {
            arguments = serde_json::from_str(&format!("{{{next}")).unwrap();
            assert_eq!(arguments["limit"], 2);
        } else {
            assert!(page.contains("That is all."), "{page}");
        }
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 5);
    world.close().await;
}

#[tokio::test]
async fn a_switch_lets_an_agent_reach_all_but_deleted_sessions() {
    let world = World::reaching_everything().await;
    let Scene { session, other, deleted, .. } = scene(&world).await;
    let mine = client(&world, &session).await;
    for (tool, arguments) in readings(&other) {
        let told = mine.call(tool, arguments).await;
        assert!(told.contains(&format!("{other} \"Written 2\"")) && !told.starts_with("FAILED"), "{tool}: {told}");
    }
    for (tool, arguments) in readings(&deleted) {
        let told = mine.call(tool, arguments).await;
        assert!(told.starts_with("FAILED ") && told.contains("is not found; the nearest: "), "{tool}: {told}");
    }
    let listed = mine.call("list_sessions", json!({})).await;
    assert!(listed.contains("Sessions of all projects, most recently active first: 3 of 3."), "{listed}");
    assert!(listed.contains("project /usr/lib") && !listed.contains("out of scope"), "{listed}");
    world.close().await;
}

#[tokio::test]
async fn words_are_found_in_the_project_and_nowhere_else() {
    let world = World::open().await;
    let Scene { session, same, other, deleted } = scene(&world).await;
    world.turn(&session, "say The medlar is bletted.").await;
    let mine = client(&world, &session).await;
    let found = mine.call("search_all_sessions", json!({ "query": "medlar" })).await;
    assert!(found.contains("\"medlar\" in project /usr, best first: 2 of 2 sessions, 2 turns that match."), "{found}");
    assert!(found.contains(&format!("{same} \"Written 1\", created 2025-11-15 03:00 UTC, 1 turn:\n  t1. ")), "{found}");
    assert!(found.contains("(current)") && found.contains(" > Where is the medlar?"), "{found}");
    assert!(found.contains("1 session of another project is out of scope."), "{found}");
    assert!(!found.contains(&other) && !found.contains(&deleted) && !found.contains("/usr/lib"), "{found}");
    // What is said of other projects does not depend on what is looked for.
    let nothing = mine.call("search_all_sessions", json!({ "query": "persimmon" })).await;
    assert!(nothing.contains("0 of 0 sessions, 0 turns that match."), "{nothing}");
    assert!(nothing.contains("1 session of another project is out of scope."), "{nothing}");
    assert!(nothing.contains("Broader: search_all_sessions {\"query\":\"persi*\"}"), "{nothing}");
    let narrowed = mine.call("search_all_sessions", json!({ "query": "medlar project:/usr/lib" })).await;
    assert!(!narrowed.contains(&other) && narrowed.contains("0 of 0 sessions"), "{narrowed}");
    let one = mine.call("search_all_sessions", json!({ "query": "medlar", "limit": 1 })).await;
    assert!(one.contains("1 of at least 1 session") && one.contains("There are more sessions"), "{one}");
    let there = mine.call("search_session", json!({ "query": "medlar", "session_id": same })).await;
    assert!(there.contains("1 of 1 match") && there.contains(&format!("\"session_id\":\"{same}\"")), "{there}");
    world.close().await;

    let world = World::reaching_everything().await;
    let Scene { session, other, deleted, .. } = scene(&world).await;
    world.turn(&session, "say The bell again.").await;
    let mine = client(&world, &session).await;
    let found = mine.call("search_all_sessions", json!({ "query": "medlar" })).await;
    assert!(found.contains("in all projects") && found.contains(&other) && !found.contains(&deleted), "{found}");
    assert!(!found.contains("out of scope"), "{found}");
    world.close().await;
}
