//! The list as the person keeps it: pinned, archived, tagged, filtered, and counted in whole.

use serde_json::{Value, json};

use crate::client::Live;
use crate::support::World;

async fn ids(world: &World, query: &str) -> Vec<String> {
    let page = world.get(&format!("/api/v1/sessions?{query}")).await.ok(200);
    page["sessions"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

async fn file(world: &World, session: &str, patch: Value) {
    world.call(&format!("PATCH /api/v1/sessions/{session}"), patch).await.ok(200);
}

#[tokio::test]
async fn a_session_is_pinned_archived_and_tagged_and_the_list_is_filtered_by_it() {
    let world = World::open().await;
    let (a, b, c) = (world.session().await, world.session().await, world.session().await);
    file(&world, &a, json!({ "pinned": true, "name": "Flaky upload" })).await;
    file(&world, &b, json!({ "archived": true, "tags": ["Bug", "#api"] })).await;
    file(&world, &c, json!({ "addTags": ["bug"] })).await;
    let row = world.get(&format!("/api/v1/sessions/{b}")).await.ok(200);
    assert_eq!((&row["tags"], row["archivedAt"].is_string()), (&json!(["api", "bug"]), true));

    assert_eq!(ids(&world, "").await, [&*c, &*a]);
    assert_eq!(ids(&world, "archived=only").await, [&*b]);
    assert_eq!(ids(&world, "archived=any").await, [&*c, &*b, &*a]);
    assert_eq!(ids(&world, "archived=any&tag=BUG").await, [&*c, &*b]);
    assert_eq!(ids(&world, "pinned=true").await, [&*a]);
    assert_eq!(ids(&world, "text=upload%20flaky").await, [&*a]);
    assert_eq!(ids(&world, "text=nothing").await, Vec::<String>::new());
    assert_eq!(ids(&world, "agent=guide&project=usr").await, [&*c, &*a]);
    assert_eq!(ids(&world, "state=running").await, Vec::<String>::new());
    let first = world.get("/api/v1/sessions?limit=1").await.ok(200);
    assert_eq!(first["foremost"][0]["id"], a, "however far down it is: {first}");
    let filtered = world.get("/api/v1/sessions?archived=any&tag=bug&limit=1").await.ok(200);
    assert_eq!((&filtered["sessions"][0]["id"], &filtered["foremost"]), (&json!(c), &json!([])));
    let cursor = filtered["nextCursor"].as_str().unwrap();
    assert_eq!(ids(&world, &format!("archived=any&tag=bug&limit=1&after={cursor}")).await, [&*b]);

    let tags = world.get("/api/v1/tags").await.ok(200);
    let expected = json!({ "tags": [{ "tag": "bug", "sessions": 2 }, { "tag": "api", "sessions": 1 }] });
    assert_eq!(tags, expected);

    // Its next turn brings it back; taking everything away leaves it as it was. The clock stands still, so ids decide.
    world.turn(&b, "say here").await;
    assert_eq!(ids(&world, "").await, [&*c, &*b, &*a]);
    file(&world, &a, json!({ "pinned": false })).await;
    file(&world, &b, json!({ "removeTags": ["api", "bug"] })).await;
    assert_eq!(world.get("/api/v1/sessions").await.ok(200)["foremost"], json!([]));
    assert_eq!(ids(&world, "tag=bug").await, [&*c]);
    world.close().await;
}

#[tokio::test]
async fn what_does_not_fit_is_refused_in_words() {
    let world = World::open().await;
    let session = world.session().await;
    let path = format!("PATCH /api/v1/sessions/{session}");
    let many: Vec<String> = (0..13).map(|n| format!("t{n}")).collect();
    for (patch, expected) in [
        (json!({ "tags": ["two words"] }), "400 tag_invalid"),
        (json!({ "addTags": ["x".repeat(33)] }), "400 tag_invalid"),
        (json!({ "tags": many }), "409 too_many_tags"),
        (json!({ "tags": ["a"], "addTags": ["b"] }), "400 invalid_body"),
    ] {
        let refused = world.call(&path, patch.clone()).await;
        assert!(refused.summary().starts_with(expected), "{patch}: {}", refused.summary());
    }
    for query in ["archived=maybe", "state=asleep", "tag=two%20words", &format!("text={}", "x".repeat(201)), "foo=1"] {
        let refused = world.get(&format!("/api/v1/sessions?{query}")).await;
        assert!(refused.summary().starts_with("400"), "{query}: {}", refused.summary());
    }
    // An agent's own token does not sort the person's list.
    let agent = world.agent_token(&session).await;
    let refused = world.call_as(crate::client::bearer(&agent), &path, json!({ "pinned": true })).await;
    assert!(refused.summary().starts_with("403"), "{}", refused.summary());
    world.close().await;
}

#[tokio::test]
async fn what_needs_the_person_is_counted_whole_and_is_not_put_out_of_sight() {
    let world = World::open().await;
    let asking = world.session().await;
    let mut live = Live::local(&world).await;
    world.prompt(&asking, "run true").await;
    let frames = live.until_that(|frame| frame["type"] == "row" && frame["session"]["state"] == "needs_you").await;
    assert_eq!(frames.last().unwrap()["needsYouCount"], 1);
    for _ in 0..2 {
        world.session().await;
    }
    let found = live.call(json!({ "type": "list", "query": { "state": "needs_you" } })).await;
    assert_eq!((&found["sessions"][0]["id"], found["sessions"].as_array().unwrap().len()), (&json!(asking), 1));
    let page = world.get("/api/v1/sessions?limit=1").await.ok(200);
    assert_eq!((&page["needsYouCount"], &page["foremost"][0]["id"]), (&json!(1), &json!(asking)));
    let archive = json!({ "archived": true });
    let refused = world.call(&format!("PATCH /api/v1/sessions/{asking}"), archive.clone()).await;
    assert!(refused.summary().starts_with("409 requests_open"), "{}", refused.summary());

    world.call(&format!("POST /api/v1/sessions/{asking}/cancel"), None).await.ok(202);
    world.until_entry(&asking, |entry| entry["type"] == "turn.ended").await;
    let page = world.get("/api/v1/sessions").await.ok(200);
    assert_eq!((&page["needsYouCount"], &page["unobservedCount"]), (&json!(0), &json!(1)));
    // Out of sight is seen.
    file(&world, &asking, archive).await;
    assert_eq!(world.get("/api/v1/sessions").await.ok(200)["unobservedCount"], 0);
    world.close().await;
}
