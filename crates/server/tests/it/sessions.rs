//! `/sessions` and `/sessions/{id}`: begun, listed, looked at, renamed, put away, brought back, purged.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Live;
use crate::support::{CWD, INCARNATION, World, id, nothing_proved};

#[tokio::test]
async fn a_new_session_is_answered_at_once_and_shown_the_same_under_both_paths() {
    let world = World::open().await;
    let body = json!({ "agent": "guide", "cwd": CWD, "name": "first steps" });
    let created = world.call("POST /api/v1/sessions", body).await.ok(201);
    let expected = json!({
        "id": id(2),
        "agent": "guide",
        "cwd": "/usr",
        "project": "/usr",
        "title": "first steps",
        "state": "starting",
        "readOnly": null,
        "failure": null,
        "turns": 0,
        "unobserved": false,
        "metaContextId": null,
        "metaContext": null,
        "from": null,
        "previous": null,
        "createdAt": "2025-11-15T03:00:00.000Z",
        "activeAt": "2025-11-15T03:00:00.000Z",
        "deletedAt": null,
        "pinnedAt": null,
        "archivedAt": null,
        "tags": [],
        "meta": {
            "name": "first steps",
            "lastObservedAt": null,
            "lastIdleAt": null,
            "currentIntent": null,
            "envHint": null,
            "context": {},
        },
        "facts": nothing_proved(),
        "queue": [],
        "openRequests": [],
        "cursor": format!("{INCARNATION}.2"),
    });
    assert_eq!(created, expected);

    world.until_entry(&id(2), |entry| entry["type"] == "agent.commands_changed").await;
    let shown = world.get(&format!("/api/v1/sessions/{}", id(2))).await.ok(200);
    assert_eq!((&shown["state"], &shown["cursor"]), (&json!("idle"), &json!(format!("{INCARNATION}.5"))));
    assert_eq!(world.get(&format!("/api/sessions/{}", id(2))).await.ok(200), shown);

    let list = world.get("/api/v1/sessions").await.ok(200);
    assert_eq!(world.get("/api/sessions").await.ok(200), list);
    let mut row = shown.as_object().unwrap().clone();
    row.retain(|key, _| !["metaContext", "previous", "queue", "openRequests", "cursor"].contains(&key.as_str()));
    // What a session is about is told for one at a time.
    row.remove("facts").unwrap();
    row["meta"].as_object_mut().unwrap().remove("context").unwrap();
    let counts = json!({ "unobservedCount": 0, "needsYouCount": 0, "foremost": [], "nextCursor": null });
    let mut expected = json!({ "sessions": [row], "metaContexts": [] });
    expected.as_object_mut().unwrap().extend(counts.as_object().unwrap().clone());
    assert_eq!(list, expected);
    world.close().await;
}

#[tokio::test]
async fn a_pinned_title_stays_until_it_is_taken_away() {
    let world = World::open().await;
    let session = world.session().await;
    let path = format!("/api/v1/sessions/{session}");
    let change = format!("PATCH {path}");
    world.turn(&session, "say this is it").await;
    let called = world.get(&path).await.ok(200)["title"].clone();

    world.call(&change, json!({ "pinnedTitle": "mine" })).await.ok(200);
    let history = world.get(&format!("{path}/title-history")).await.ok(200);
    assert_eq!((&history["session_name"], &history["pinned_title"]), (&json!("mine"), &json!("mine")));
    // What is not told changes nothing.
    world.call(&change, json!({ "envHint": "in a container" })).await.ok(200);
    assert_eq!(world.get(&path).await.ok(200)["meta"]["name"], "mine");

    world.call(&change, json!({ "pinnedTitle": null })).await.ok(200);
    let shown = world.get(&path).await.ok(200);
    assert_eq!((&shown["title"], &shown["meta"]["name"]), (&called, &json!("")));
    let both = world.call(&change, json!({ "name": "a", "pinnedTitle": "b" })).await;
    assert_eq!(both.summary(), "400 invalid_body");
    world.close().await;
}

#[tokio::test]
async fn a_session_is_titled_by_its_name_else_by_its_first_prompt() {
    let world = World::open().await;
    let session = world.session().await;
    let path = format!("/api/v1/sessions/{session}");
    assert_eq!(world.get(&path).await.ok(200)["title"], Value::Null);
    world.turn(&session, "say this is it\nand more").await;
    assert_eq!(world.get(&path).await.ok(200)["title"], "say this is it");

    let change = format!("PATCH {path}");
    let patch = |body: Value| world.call(&change, body);
    let success = json!({ "success": true });
    assert_eq!(patch(json!({ "name": "named", "envHint": "in a container" })).await.ok(200), success);
    let shown = world.get(&path).await.ok(200);
    assert_eq!(
        (&shown["title"], &shown["meta"]["name"], &shown["meta"]["envHint"]),
        (&json!("named"), &json!("named"), &json!("in a container"))
    );

    // What is absent stays, what is empty goes, what is the same is no news.
    patch(json!({ "envHint": "" })).await.ok(200);
    let before = world.position().await;
    assert_eq!(patch(json!({ "name": "named" })).await.ok(200), success);
    assert_eq!(patch(json!({})).await.ok(200), success);
    assert_eq!(world.position().await, before);
    let shown = world.get(&path).await.ok(200);
    assert_eq!((&shown["meta"]["name"], &shown["meta"]["envHint"]), (&json!("named"), &Value::Null));
    patch(json!({ "name": "" })).await.ok(200);
    assert_eq!(world.get(&path).await.ok(200)["title"], "say this is it");
    world.close().await;
}

#[tokio::test]
async fn far_reaching_directories_need_a_second_word() {
    let world = World::open().await;
    let new = |cwd: &str, confirm: bool| {
        world.call("POST /api/v1/sessions", json!({ "agent": "guide", "cwd": cwd, "confirm": confirm }))
    };
    // / reaches every home, and so does the folder that the world's own home lies in.
    assert_eq!(new("/", false).await.summary(), "409 confirm_required");
    assert_eq!(new("/usr/../", false).await.summary(), "409 confirm_required");
    for folder in [world.directory.path().to_owned(), world.directory.path().join("home")] {
        assert_eq!(new(folder.to_str().unwrap(), false).await.summary(), "409 confirm_required");
    }
    assert_eq!(new("/", true).await.summary(), "201");
    world.close().await;
}

#[tokio::test]
async fn what_nobody_has_seen_is_counted_until_it_is_observed() {
    let world = World::open().await;
    let (one, two) = (world.session().await, world.session().await);
    world.turn(&one, "say one").await;
    world.turn(&two, "say two").await;
    let list = world.get("/api/v1/sessions").await.ok(200);
    assert_eq!(list["unobservedCount"], 2);
    assert!(list["sessions"].as_array().unwrap().iter().all(|row| row["unobserved"] == true));

    world.clock.advance(Duration::from_secs(60));
    let observe = format!("POST /api/v1/sessions/{one}/observe");
    let first = json!({ "success": true, "wasUnobserved": true, "unobservedCount": 1 });
    assert_eq!(world.call(&observe, None).await.ok(200), first);
    let second = json!({ "success": true, "wasUnobserved": false, "unobservedCount": 1 });
    assert_eq!(world.call(&observe, None).await.ok(200), second);
    let shown = world.get(&format!("/api/v1/sessions/{one}")).await.ok(200);
    assert_eq!(shown["unobserved"], false);
    assert_eq!(shown["meta"]["lastObservedAt"], "2025-11-15T03:01:00.000Z");
    assert_eq!(shown["meta"]["lastIdleAt"], "2025-11-15T03:00:00.000Z");
    world.close().await;
}

#[tokio::test]
async fn a_deleted_session_is_gone_at_once_and_can_be_brought_back() {
    let world = World::on_disk().await;
    let session = world.session().await;
    world.turn(&session, "say hello").await;
    let path = format!("/api/v1/sessions/{session}");
    let delete = format!("DELETE {path}");
    let restore = format!("POST {path}/restore");

    assert_eq!(world.call(&restore, None).await.summary(), "409 session_not_deleted");
    assert_eq!(world.call(&delete, None).await.summary(), "204");
    let list = world.get("/api/v1/sessions").await.ok(200);
    assert_eq!((&list["sessions"], &list["unobservedCount"]), (&json!([]), &json!(0)));
    for (request, body, expected) in [
        (format!("GET {path}"), None, "404 session_not_found"),
        (format!("GET {path}/entries"), None, "404 session_not_found"),
        (format!("PATCH {path}"), Some(json!({ "name": "x" })), "404 session_deleted"),
        (format!("POST {path}/prompts"), Some(json!({ "text": "x" })), "404 session_deleted"),
        (format!("POST {path}/cancel"), None, "404 session_deleted"),
        (format!("POST {path}/observe"), None, "404 session_deleted"),
        (delete.clone(), None, "404 session_deleted"),
    ] {
        assert_eq!(world.call(&request, body).await.summary(), expected, "{request}");
    }

    let deleted = world.get("/api/v1/deleted-sessions").await.ok(200);
    let known = &deleted["sessions"][0];
    assert_eq!((&known["id"], &known["title"]), (&json!(session), &json!("say hello")), "{deleted}");
    assert_eq!((&known["turns"], &deleted["nextCursor"]), (&json!(1), &Value::Null), "{deleted}");
    for (query, expected) in [("limit=0", "400 invalid_query"), ("after=x", "400 invalid_cursor")] {
        assert_eq!(world.get(&format!("/api/v1/deleted-sessions?{query}")).await.summary(), expected);
    }
    assert_eq!(world.call(&restore, None).await.ok(200), json!({ "success": true }));
    assert_eq!(world.get("/api/v1/deleted-sessions").await.ok(200)["sessions"], json!([]));
    assert_eq!(world.get(&path).await.ok(200)["title"], "say hello");
    assert_eq!(world.get("/api/v1/sessions").await.ok(200)["sessions"].as_array().unwrap().len(), 1);
    world.turn(&session, "say again").await;
    let kinds: Vec<Value> = world.entries(&session).await.iter().map(|entry| entry["type"].clone()).collect();
    assert!(kinds.contains(&json!("session.deleted")) && kinds.contains(&json!("session.restored")), "{kinds:?}");
    world.close().await;
}

#[tokio::test]
async fn purging_leaves_nothing_to_restore() {
    let world = World::on_disk().await;
    for deleted_before in [false, true] {
        let session = world.session().await;
        world.turn(&session, "say hello").await;
        let path = format!("/api/v1/sessions/{session}");
        if deleted_before {
            world.call(&format!("DELETE {path}"), None).await.ok(204);
        }
        assert_eq!(world.call(&format!("DELETE {path}?now=true"), None).await.summary(), "204");
        for request in [
            format!("GET {path}"),
            format!("GET {path}/entries"),
            format!("POST {path}/restore"),
            format!("POST {path}/observe"),
            format!("DELETE {path}"),
            format!("DELETE {path}?now=true"),
        ] {
            assert_eq!(world.call(&request, None).await.summary(), "404 session_not_found", "{request}");
        }
        let prompt = world.call(&format!("POST {path}/prompts"), json!({ "text": "x" })).await;
        assert_eq!(prompt.summary(), "404 session_not_found");
    }
    assert_eq!(world.get("/api/v1/sessions").await.ok(200)["sessions"], json!([]));
    world.close().await;
}

#[tokio::test]
async fn nothing_is_deleted_under_a_running_turn() {
    let world = World::open().await;
    let session = world.session().await;
    world.prompt(&session, "slow 600").await;
    for query in ["", "?now=true", "?now=false"] {
        let answer = world.call(&format!("DELETE /api/v1/sessions/{session}{query}"), None).await;
        assert_eq!(answer.summary(), "409 turn_running");
    }
    assert_eq!(world.get(&format!("/api/v1/sessions/{session}")).await.ok(200)["state"], "running");
    world.close().await;
}

#[tokio::test]
async fn a_cancelled_turn_ends_and_what_waits_goes_on() {
    let world = World::open().await;
    let session = world.session().await;
    let cancel = format!("POST /api/v1/sessions/{session}/cancel");
    assert_eq!(world.call(&cancel, None).await.summary(), "409 no_turn_running");
    world.prompt(&session, "slow 600").await;
    world.prompt(&session, "say next").await;
    assert_eq!(world.call(&cancel, None).await.ok(202), json!({ "success": true }));
    let ended = world.until_entry(&session, |entry| entry["type"] == "turn.ended").await;
    assert_eq!(ended["data"], json!({ "turn": 1, "outcome": "cancelled" }));
    let ended = world.until_entry(&session, |entry| entry["type"] == "turn.ended" && entry["data"]["turn"] == 2).await;
    assert_eq!(ended["data"]["outcome"], "completed");
    world.close().await;
}

/// Pages go on where they were although the list changes under the reader: nothing is shown twice, and nothing is
/// missed but what has moved to the top meanwhile, where the reader began.
#[tokio::test]
async fn paging_the_list_is_stable_under_activity() {
    let world = World::on_disk().await;
    let mut sessions = Vec::new();
    for _ in 0..9 {
        sessions.push(world.session().await);
        world.clock.advance(Duration::from_secs(1));
    }
    // Newest first.
    sessions.reverse();
    let mut seen: Vec<String> = Vec::new();
    let mut after = String::new();
    for page in 0.. {
        let list = world.get(&format!("/api/v1/sessions?limit=2{after}")).await.ok(200);
        let rows = list["sessions"].as_array().unwrap();
        seen.extend(rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()));
        let Some(cursor) = list["nextCursor"].as_str() else { break };
        after = format!("&after={cursor}");
        assert_eq!(rows.len(), 2);
        world.clock.advance(Duration::from_secs(1));
        match page {
            0 => world.turn(&sessions[7], "say up").await,
            1 => world.turn(&sessions[0], "say up").await,
            _ => {
                world.call(&format!("DELETE /api/v1/sessions/{}", sessions[8]), None).await.ok(204);
                world.session().await;
            }
        }
    }
    assert_eq!(seen, sessions[..7]);
    world.close().await;
}

/// One session, fifty clients at once (R05): the numbers have no gap and each prompt is there once.
#[tokio::test(flavor = "multi_thread")]
async fn fifty_clients_prompt_one_session_at_once() {
    let world = World::on_disk().await;
    let session = world.session().await;
    let request = format!("POST /api/v1/sessions/{session}/prompts");
    let prompts = (0..50).map(|n| world.call(&request, json!({ "text": format!("say number {n}") })));
    let answers = futures_util::future::join_all(prompts).await;
    let mut interactions: Vec<String> =
        answers.iter().map(|answer| answer.ok(202)["interactionId"].as_str().unwrap().to_owned()).collect();
    interactions.sort();
    interactions.dedup();
    assert_eq!(interactions.len(), 50);

    let mut live = Live::local(&world).await;
    live.ask(json!({ "type": "follow", "session": session })).await;
    let frames =
        live.until_that(|frame| frame["entry"]["type"] == "turn.ended" && frame["entry"]["data"]["turn"] == 50).await;
    let entries: Vec<&Value> = frames.iter().map(|frame| &frame["entry"]).filter(|entry| entry.is_object()).collect();
    let seqs: Vec<u64> = entries.iter().map(|entry| entry["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    let of = |kind: &str, field: &str| {
        let entries = entries.iter().filter(|entry| entry["type"] == kind);
        let mut values: Vec<String> = entries.map(|entry| entry["data"][field].as_str().unwrap().to_owned()).collect();
        values.sort();
        values
    };
    assert_eq!(of("prompt.sent", "interactionId"), interactions);
    // An answer is in one part or in two, as the prompts that came between had it.
    let mut answers = std::collections::BTreeMap::<u64, String>::new();
    for entry in entries.iter().filter(|entry| entry["type"] == "text.part") {
        let words = answers.entry(entry["data"]["turn"].as_u64().unwrap()).or_default();
        words.push_str(entry["data"]["text"].as_str().unwrap());
    }
    let mut answers: Vec<String> = answers.into_values().collect();
    answers.sort();
    let mut words: Vec<String> = (0..50).map(|n| format!("number {n}")).collect();
    words.sort();
    assert_eq!(answers, words);
    world.close().await;
}
