//! What turns used and cost: of a session, and by anything.

use serde_json::{Value, json};

use crate::client::bearer;
use crate::support::World;

async fn spent(world: &World) -> String {
    let session = world.session().await;
    for text in ["spend 1200 300 0.25", "say hello", "spend 2000 500 0.5"] {
        world.turn(&session, text).await;
    }
    session
}

fn usd(amount: &str) -> Value {
    json!([{ "amount": amount, "currency": "USD" }])
}

#[tokio::test]
async fn a_session_and_each_of_its_turns_tell_what_they_used() {
    let world = World::on_disk().await;
    let session = spent(&world).await;
    let path = format!("/api/v1/sessions/{session}/usage");
    let usage = world.get(&path).await.ok(200);
    let total = &usage["total"];
    assert_eq!((&total["totalTokens"], &total["turns"], &total["unknownTurns"]), (&json!(4_000), &json!(3), &json!(1)));
    assert_eq!((&total["cost"], &total["basis"]), (&usd("0.75"), &json!("stated")));
    let turns = usage["turns"].as_array().unwrap();
    let brief: Vec<_> =
        turns.iter().map(|turn| (&turn["turn"], &turn["used"]["totalTokens"], &turn["used"]["cost"])).collect();
    assert_eq!(
        brief,
        [
            (&json!(1), &json!(1_500), &usd("0.25")),
            // Nobody said anything: that is no zero.
            (&json!(2), &json!(0), &json!([])),
            (&json!(3), &json!(2_500), &usd("0.5")),
        ]
    );
    assert_eq!(turns[1]["used"]["basis"], json!("unknown"));
    let limit =
        json!({ "limit": { "amount": "0.6", "currency": "USD" }, "spent": { "amount": "0.75", "currency": "USD" } });
    assert_eq!(usage["warning"], limit);

    let page = world.get(&format!("{path}?limit=2")).await.ok(200);
    assert_eq!((page["turns"].as_array().unwrap().len(), &page["nextCursor"]), (2, &json!("2")));
    let rest = world.get(&format!("{path}?after=t2")).await.ok(200);
    assert_eq!((rest["turns"].as_array().unwrap().len(), &rest["nextCursor"]), (1, &Value::Null));
    assert_eq!(rest["total"], usage["total"], "all of it, whatever is shown");

    // Nothing is counted again by a restart, nor by what the agent says after it.
    let world = world.restart().await;
    assert_eq!(world.get(&path).await.ok(200), usage);
    world.turn(&session, "spend 10 10 0.01").await;
    let after = world.get(&path).await.ok(200);
    assert_eq!((&after["total"]["cost"], &after["total"]["totalTokens"]), (&usd("0.76"), &json!(4_020)));
    world.close().await;
}

#[tokio::test]
async fn usage_is_summed_up_by_anything() {
    let world = World::open().await;
    let session = spent(&world).await;
    for (by, key) in
        [("agent", json!("guide")), ("model", Value::Null), ("session", json!(session)), ("work", Value::Null)]
    {
        let page = world.get(&format!("/api/v1/usage?by={by}")).await.ok(200);
        assert_eq!((&page["by"], &page["rows"][0]["key"]), (&json!(by), &key));
        assert_eq!((&page["total"]["cost"], &page["total"]["turns"]), (&usd("0.75"), &json!(3)), "{by}");
    }
    let days = world.get("/api/v1/usage").await.ok(200);
    assert_eq!(days["rows"].as_array().unwrap().len(), 1);
    assert_eq!((&days["rows"][0]["key"], &days["today"]["day"]), (&days["to"], &days["to"]));
    assert_eq!((&days["today"]["used"]["cost"], &days["today"]["warning"]), (&usd("0.75"), &Value::Null));
    world.turn(&session, "spend 1 1 0.5").await;
    let days = world.get("/api/v1/usage?limit=1").await.ok(200);
    assert_eq!(days["today"]["warning"]["spent"], json!({ "amount": "1.25", "currency": "USD" }));
    let before = world.get("/api/v1/usage?from=2001-01-01&to=2001-01-31").await.ok(200);
    assert_eq!((&before["rows"], &before["total"]["basis"]), (&json!([]), &json!("unknown")));
    // A deleted session takes its usage along.
    world.call(&format!("DELETE /api/v1/sessions/{session}"), None).await.ok(204);
    assert_eq!(world.get("/api/v1/usage?by=agent").await.ok(200)["rows"], json!([]));
    world.close().await;
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let world = World::open().await;
    for query in [
        "by=hour",
        "from=yesterday",
        "from=2026-02-30",
        "from=2026-11-02&to=2026-11-01",
        "from=1990-01-01",
        "offset=900",
        "offset=far",
        "offset=-2147483648",
        "limit=0",
        "limit=401",
        "after=x",
        "since=7d",
    ] {
        let answer = world.get(&format!("/api/v1/usage?{query}")).await;
        assert_eq!(answer.summary(), "400 invalid_query", "{query}");
    }
    let session = world.session().await;
    let answer = world.get(&format!("/api/v1/sessions/{session}/usage?limit=501")).await;
    assert_eq!(answer.summary(), "400 invalid_query");
    let missing = "0190a8c0-0000-7000-8000-0000000000c1";
    let answer = world.get(&format!("/api/v1/sessions/{missing}/usage")).await;
    assert_eq!(answer.summary(), "404 session_not_found");
    world.close().await;
}

#[tokio::test]
async fn an_agent_sees_its_own_session_alone() {
    let world = World::open().await;
    let (own, other) = (world.session().await, world.session().await);
    let token = world.agent_token(&own).await;
    for (path, expected) in [
        (format!("/api/v1/sessions/{own}/usage"), "200"),
        (format!("/api/v1/sessions/{other}/usage"), "404 session_not_found"),
        ("/api/v1/usage".to_owned(), "403 forbidden"),
    ] {
        assert_eq!(world.call_as(bearer(&token), &format!("GET {path}"), None).await.summary(), expected);
    }
    world.close().await;
}
