//! Contents, turns by number and by id, titles: TOC-01 to TOC-07, TOC-22, TOC-23.

use serde_json::{Value, json};

use crate::client::bearer;
use crate::support::World;

#[tokio::test]
async fn contents_have_a_line_a_turn_and_turns_know_their_neighbours() {
    let world = World::on_disk().await;
    let session = world.session().await;
    for text in ["say the upload test is flaky because of a shared port", "fail on purpose", "say done"] {
        world.turn(&session, text).await;
    }
    let toc = world.get(&format!("/api/v1/sessions/{session}/toc")).await.ok(200);
    assert_eq!((&toc["session_id"], &toc["total_turns"]), (&json!(session), &json!(3)));
    assert_eq!(toc["next_cursor"], Value::Null);
    let entries = toc["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 3);
    for (number, entry) in (1..).zip(entries) {
        assert_eq!(entry["turn"], json!(number));
        assert!(
            entry["summary"].as_str().is_some_and(|line| !line.is_empty() && line.chars().count() <= 100),
            "{entry}"
        );
        assert_eq!((&entry["has_prompt"], &entry["has_response"]), (&json!(true), &json!(true)), "{entry}");
        assert!(entry["prompt"].as_str().is_some_and(|line| !line.is_empty()), "{entry}");
        assert!(
            entry["id"].is_string() && entry["created"].is_string() && entry["tokens"].as_u64() > Some(0),
            "{entry}"
        );
        assert_eq!((&entry["state"], &entry["summary_by"]), (&json!("completed"), &json!("extract")));
    }
    let lines: Vec<String> =
        entries.iter().map(|entry| format!("{}. {}", entry["turn"], entry["summary"].as_str().unwrap())).collect();
    assert_eq!(toc["formatted"], json!(lines.join("\n")));

    let second = world.get(&format!("/api/v1/sessions/{session}/turns/t2")).await.ok(200);
    assert_eq!(
        (&second["turn"], &second["previous"]["turn"], &second["next"]["turn"]),
        (&json!(2), &json!(1), &json!(3))
    );
    let interaction = &second["interaction"];
    assert_eq!((&interaction["prompt"], &interaction["session_id"]), (&json!("fail on purpose"), &json!(session)));
    assert_eq!(
        (&interaction["tools"][0]["id"], &interaction["tools"][0]["status"]),
        (&json!("t2.1"), &json!("failed"))
    );
    let same = world.get(&format!("/api/v1/interactions/{}", interaction["id"].as_str().unwrap())).await.ok(200);
    assert_eq!(same, *interaction);
    let first = world.get(&format!("/api/v1/sessions/{session}/turns/1")).await.ok(200);
    assert_eq!(first.get("previous"), None);
    let range = world.get(&format!("/api/v1/sessions/{session}/turns?from=2&to=t20")).await.ok(200);
    let turns: Vec<&Value> = range["turns"].as_array().unwrap().iter().map(|turn| &turn["turn"]).collect();
    assert_eq!((turns, &range["total_turns"]), (vec![&json!(2), &json!(3)], &json!(3)));

    let page = world.get(&format!("/api/v1/sessions/{session}/toc?limit=2")).await.ok(200);
    assert_eq!((page["entries"].as_array().unwrap().len(), &page["next_cursor"]), (2, &json!("t2")));
    let rest = world.get(&format!("/api/v1/sessions/{session}/toc?after=t2")).await.ok(200);
    assert_eq!((rest["entries"].as_array().unwrap().len(), rest.get("next_cursor")), (1, None));

    // A restart changes nothing of it.
    let world = world.restart().await;
    assert_eq!(world.get(&format!("/api/v1/sessions/{session}/toc")).await.ok(200), toc);
    world.close().await;
}

#[tokio::test]
async fn bad_turns_are_refused_and_missing_ones_name_the_total() {
    let world = World::open().await;
    let session = world.session().await;
    world.turn(&session, "say one").await;
    for turn in ["0", "-1", "1.5", "abc", "9223372036854775808", "01", "%20"] {
        let answer = world.get(&format!("/api/v1/sessions/{session}/turns/{turn}")).await;
        assert_eq!(answer.status, 400, "{turn}: {}", answer.text());
    }
    let missing = world.get(&format!("/api/v1/sessions/{session}/turns/7")).await;
    assert_eq!(missing.status, 404);
    assert!(missing.text().contains("the newest is t1"), "{}", missing.text());
    for query in ["from=0&to=1", "from=3&to=1", "from=1&to=21", "from=1", "to=1", "from=a&to=b"] {
        let answer = world.get(&format!("/api/v1/sessions/{session}/turns?{query}")).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text());
    }
    for query in ["limit=0", "limit=501", "limit=x", "after=x", "other=1"] {
        let answer = world.get(&format!("/api/v1/sessions/{session}/toc?{query}")).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text());
    }
    for path in ["/interactions/abc", "/interactions/0190a8c0-0000-7000-8000-0000000000ff"] {
        assert_eq!(world.get(&format!("/api/v1{path}")).await.status, 404, "{path}");
    }
    world.close().await;
}

#[tokio::test]
async fn another_sessions_turns_are_out_of_reach_for_an_agent() {
    let world = World::open().await;
    let (own, other) = (world.session().await, world.session().await);
    world.turn(&other, "say secret").await;
    let token = world.agent_token(&own).await;
    let toc = world.get(&format!("/api/v1/sessions/{other}/toc")).await.ok(200);
    let interaction = toc["entries"][0]["id"].as_str().unwrap();
    for path in [
        format!("/sessions/{other}/toc"),
        format!("/sessions/{other}/search?q=secret"),
        format!("/interactions/{interaction}"),
    ] {
        let answer = world.call_as(bearer(&token), &format!("GET /api/v1{path}"), None).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
        assert!(!answer.text().contains("say secret"));
    }
    let all = world.call_as(bearer(&token), "GET /api/v1/search?q=secret", None).await;
    assert_eq!(all.status, 403);
    let deleted = world.call(&format!("DELETE /api/v1/sessions/{other}"), None).await;
    assert_eq!(deleted.status, 204);
    assert_eq!(world.get(&format!("/api/v1/interactions/{interaction}")).await.status, 404);
    world.close().await;
}

#[tokio::test]
async fn titles_are_recorded_newest_first_and_a_name_pins() {
    let world = World::on_disk().await;
    let session = world.session().await;
    world.turn(&session, "say we plan the migration of the billing database").await;
    let history = world.get(&format!("/api/v1/sessions/{session}/title-history")).await.ok(200);
    let titles = history["titles"].as_array().unwrap().clone();
    assert_eq!((titles.len(), &titles[0]["turn"], &history["pinned_title"]), (1, &json!(1), &Value::Null), "{history}");
    assert!(titles[0]["interaction_id"].is_string() && titles[0]["changed_at"].is_string());
    let automatic = titles[0]["title"].clone();
    let path = format!("PATCH /api/v1/sessions/{session}");
    world.call(&path, json!({ "name": "my own" })).await.ok(200);
    let pinned = world.get(&format!("/api/v1/sessions/{session}/title-history")).await.ok(200);
    assert_eq!((&pinned["pinned_title"], &pinned["session_name"]), (&json!("my own"), &json!("my own")));
    assert_eq!(pinned["titles"], json!(titles), "what the person chose is no automatic title");
    world.call(&path, json!({ "name": "" })).await.ok(200);
    let shown = world.get(&format!("/api/v1/sessions/{session}")).await.ok(200);
    assert_eq!(shown["title"], automatic);
    world.close().await;
}
