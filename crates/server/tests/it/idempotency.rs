//! Keys (R09): a request with one has one effect and one answer, however often and however it is repeated.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::client::{Answer, Live, bearer};
use crate::support::{CWD, World};

fn new_session() -> Value {
    json!({ "agent": "guide", "cwd": CWD })
}

/// Asks twice with one key; the second time nothing may happen. Gives the answer.
async fn twice(world: &World, key: &str, request: &str, body: Option<Value>) -> Answer {
    let first = world.keyed(key, request, body.clone()).await;
    assert!(first.status < 300, "{request}: {}", first.text());
    let before = world.position().await;
    let second = world.keyed(key, request, body).await;
    assert_eq!((first.status, first.text()), (second.status, second.text()), "{request}");
    assert_eq!(world.position().await, before, "{request} was carried out twice");
    first
}

/// A session in which a turn runs and two prompts wait; gives its path and the path of the first that waits.
async fn busy(world: &World) -> (String, String) {
    let session = world.session().await;
    world.prompt(&session, "slow 600").await;
    let waits = world.prompt(&session, "say one").await;
    world.prompt(&session, "say two").await;
    let path = format!("/api/v1/sessions/{session}");
    let prompt = format!("{path}/prompts/{waits}");
    (path, prompt)
}

#[tokio::test]
async fn every_mutation_is_answered_the_same_twice_and_done_once() {
    let world = World::on_disk().await;
    let created = world.keyed("create", "POST /api/v1/sessions", new_session()).await.ok(201);
    world.until_entry(created["id"].as_str().unwrap(), |entry| entry["data"]["state"] == "ready").await;
    assert_eq!(twice(&world, "create", "POST /api/v1/sessions", Some(new_session())).await.json(), created);
    let (path, prompt) = busy(&world).await;
    twice(&world, "patch", &format!("PATCH {path}"), Some(json!({ "name": "named" }))).await;
    twice(&world, "prompt", &format!("POST {path}/prompts"), Some(json!({ "text": "say three" }))).await;
    twice(&world, "change", &format!("PATCH {prompt}"), Some(json!({ "text": "say uno" }))).await;
    twice(&world, "remove", &format!("DELETE {prompt}"), None).await;

    let idle = world.session().await;
    let path = format!("/api/v1/sessions/{idle}");
    world.turn(&idle, "say hello").await;
    let observed = twice(&world, "observe", &format!("POST {path}/observe"), None).await;
    assert_eq!(observed.json()["wasUnobserved"], true, "the repeat tells what the first found");
    twice(&world, "delete", &format!("DELETE {path}"), None).await;
    twice(&world, "restore", &format!("POST {path}/restore"), None).await;
    // The key of an earlier state of things still stands for what it did then.
    let again = world.keyed("delete", &format!("DELETE {path}"), None).await;
    assert_eq!(again.summary(), "204");
    world.get(&path).await.ok(200);
    twice(&world, "purge", &format!("DELETE {path}?now=true"), None).await;
    world.close().await;
}

#[tokio::test]
async fn purging_what_was_deleted_is_answered_the_same_twice() {
    let world = World::on_disk().await;
    let path = format!("/api/v1/sessions/{}", world.session().await);
    world.call(&format!("DELETE {path}"), None).await.ok(204);
    twice(&world, "purge", &format!("DELETE {path}?now=true"), None).await;
    world.close().await;
}

#[tokio::test]
async fn a_repeated_cancel_stops_one_turn_only() {
    let world = World::open().await;
    let session = world.session().await;
    let cancel = format!("POST /api/v1/sessions/{session}/cancel");
    world.prompt(&session, "slow 600").await;
    let first = world.keyed("cancel", &cancel, None).await;
    assert_eq!(first.ok(202), json!({ "success": true }));
    world.until_entry(&session, |entry| entry["type"] == "turn.ended").await;
    world.prompt(&session, "slow 600").await;
    let second = world.keyed("cancel", &cancel, None).await;
    assert_eq!(second.ok(202), json!({ "success": true }));
    let eager = json!({ "text": "x", "whenBusy": "reject" });
    let eager = world.call(&format!("POST /api/v1/sessions/{session}/prompts"), eager).await;
    assert_eq!(eager.summary(), "409 turn_running", "the second turn was stopped as well");
    world.close().await;
}

#[tokio::test]
async fn a_key_stands_for_one_request() {
    let world = World::open().await;
    world.keyed("k", "POST /api/v1/sessions", new_session()).await.ok(201);
    let (path, prompt) = busy(&world).await;
    let before = world.position().await;
    for (request, body) in [
        ("POST /api/v1/sessions".to_owned(), Some(json!({ "agent": "guide", "cwd": CWD, "name": "other" }))),
        (format!("PATCH {path}"), Some(json!({ "name": "x" }))),
        (format!("POST {path}/prompts"), Some(json!({ "text": "x" }))),
        (format!("PATCH {prompt}"), Some(json!({ "text": "x" }))),
        (format!("DELETE {prompt}"), None),
        (format!("POST {path}/cancel"), None),
        (format!("POST {path}/observe"), None),
        (format!("POST {path}/restore"), None),
        (format!("DELETE {path}"), None),
        (format!("DELETE {path}?now=true"), None),
    ] {
        assert_eq!(world.keyed("k", &request, body).await.summary(), "409 key_reused", "{request}");
    }
    assert_eq!(world.position().await, before);

    // The same wish for another session, or with another ending, is another request.
    let other = world.session().await;
    world.keyed("o", &format!("POST {path}/observe"), None).await.ok(200);
    let elsewhere = world.keyed("o", &format!("POST /api/v1/sessions/{other}/observe"), None).await;
    assert_eq!(elsewhere.summary(), "409 key_reused");
    world.keyed("d", &format!("DELETE /api/v1/sessions/{other}"), None).await.ok(204);
    let now = world.keyed("d", &format!("DELETE /api/v1/sessions/{other}?now=true"), None).await;
    assert_eq!(now.summary(), "409 key_reused");
    world.close().await;
}

#[tokio::test]
async fn a_repeat_of_a_beginning_is_answered_as_it_began() {
    let world = World::open().await;
    let first = world.keyed("k", "POST /api/v1/sessions", new_session()).await.ok(201);
    let session = first["id"].as_str().unwrap();
    world.turn(session, "say hello").await;
    world.call(&format!("PATCH /api/v1/sessions/{session}"), json!({ "name": "renamed" })).await.ok(200);
    assert_eq!(world.keyed("k", "POST /api/v1/sessions", new_session()).await.ok(201), first);
    world.call(&format!("DELETE /api/v1/sessions/{session}"), None).await.ok(204);
    assert_eq!(world.keyed("k", "POST /api/v1/sessions", new_session()).await.ok(201), first);
    world.close().await;
}

#[tokio::test]
async fn a_key_may_come_in_the_header_or_in_the_body_and_is_the_callers_own() {
    let world = World::open().await;
    let mut with_key = new_session();
    with_key["key"] = json!("k");
    let first = world.keyed("k", "POST /api/v1/sessions", new_session()).await.ok(201);
    assert_eq!(world.call("POST /api/v1/sessions", with_key.clone()).await.ok(201), first);
    assert_eq!(world.keyed("k", "POST /api/v1/sessions", with_key.clone()).await.summary(), "400 invalid_key");
    // Under the other path it is the same request.
    assert_eq!(world.keyed("k", "POST /api/sessions", new_session()).await.ok(201), first);

    let other = world.call("POST /api/v1/tokens", json!({ "name": "other" })).await.ok(201);
    let other = bearer(other["secret"].as_str().unwrap());
    let second = world.call_as(other, "POST /api/v1/sessions", with_key).await.ok(201);
    assert_ne!(second["id"], first["id"], "another caller's key is another key");
    world.close().await;
}

#[tokio::test]
async fn keys_that_are_none_are_refused() {
    let world = World::open().await;
    let session = world.session().await;
    let before = world.position().await;
    let too_long = "k".repeat(201);
    for key in ["", "two words", "tab\there", too_long.as_str()] {
        let answer = world.keyed(key, "POST /api/v1/sessions", new_session()).await;
        assert_eq!(answer.summary(), "400 invalid_key", "{key:?}");
    }
    for key in ["", "two words", "schlüssel", "nul\0", too_long.as_str()] {
        let body = json!({ "text": "x", "key": key });
        let answer = world.call(&format!("POST /api/v1/sessions/{session}/prompts"), body).await;
        assert_eq!(answer.summary(), "400 invalid_key", "{key:?}");
    }
    let mut lines = world.bearer();
    lines.extend([("idempotency-key", "a".to_owned()), ("idempotency-key", "a".to_owned())]);
    let answer = world.call_as(lines, "POST /api/v1/sessions", new_session()).await;
    assert_eq!(answer.summary(), "400 invalid_key");
    assert_eq!(world.position().await, before);
    let longest = "k".repeat(200);
    world.keyed(&longest, "POST /api/v1/sessions", new_session()).await.ok(201);
    world.close().await;
}

/// A client that does not wait for its first try: whichever comes first, all are answered alike and one is carried out.
#[tokio::test(flavor = "multi_thread")]
async fn twenty_at_once_with_one_key_have_one_effect() {
    let world = World::on_disk().await;
    // A key is sent as a header, so it has no spaces.
    let ask = async |request: String, body: Option<Value>| {
        let key = request.replace([' ', '/', '?'], "-");
        let answers = join_all((0..20).map(|_| world.keyed(&key, &request, body.clone()))).await;
        let distinct: BTreeSet<(u16, String)> = answers.iter().map(|answer| (answer.status, answer.text())).collect();
        assert_eq!(distinct.len(), 1, "{request}: {distinct:?}");
        assert!(answers[0].status < 300, "{request}: {}", answers[0].text());
    };
    ask("POST /api/v1/sessions".to_owned(), Some(new_session())).await;
    assert_eq!(world.get("/api/v1/sessions").await.json()["sessions"].as_array().unwrap().len(), 1);

    let (path, prompt) = busy(&world).await;
    ask(format!("PATCH {path}"), Some(json!({ "name": "x" }))).await;
    ask(format!("POST {path}/prompts"), Some(json!({ "text": "say three" }))).await;
    assert_eq!(world.get(&path).await.json()["queue"].as_array().unwrap().len(), 3);
    ask(format!("PATCH {prompt}"), Some(json!({ "text": "say uno" }))).await;
    ask(format!("DELETE {prompt}"), None).await;

    let idle = world.session().await;
    let path = format!("/api/v1/sessions/{idle}");
    ask(format!("POST {path}/prompts"), Some(json!({ "text": "slow 600", "whenBusy": "reject" }))).await;
    ask(format!("POST {path}/cancel"), None).await;
    world.until_entry(&idle, |entry| entry["type"] == "turn.ended").await;
    ask(format!("POST {path}/observe"), None).await;
    ask(format!("DELETE {path}"), None).await;
    ask(format!("POST {path}/restore"), None).await;
    let entries = world.entries(&idle).await;
    for kind in ["prompt.sent", "turn.ended", "session.observed", "session.deleted", "session.restored"] {
        assert_eq!(entries.iter().filter(|entry| entry["type"] == kind).count(), 1, "{kind}");
    }
    ask(format!("DELETE {path}?now=true"), None).await;
    world.close().await;
}

#[tokio::test]
async fn a_key_outlives_the_server() {
    let world = World::on_disk().await;
    let created = world.keyed("create", "POST /api/v1/sessions", new_session()).await.ok(201);
    let session = created["id"].as_str().unwrap().to_owned();
    let prompt = format!("POST /api/v1/sessions/{session}/prompts");
    let accepted = world.keyed("prompt", &prompt, json!({ "text": "say once" })).await.ok(202);
    world.until_entry(&session, |entry| entry["type"] == "turn.ended").await;

    let world = world.restart().await;
    let before = world.position().await;
    assert_eq!(world.keyed("create", "POST /api/v1/sessions", new_session()).await.ok(201), created);
    assert_eq!(world.keyed("prompt", &prompt, json!({ "text": "say once" })).await.ok(202), accepted);
    let other = world.keyed("prompt", &prompt, json!({ "text": "say twice" })).await;
    assert_eq!(other.summary(), "409 key_reused");
    assert_eq!(world.position().await, before);
    world.close().await;
}

#[tokio::test]
async fn a_prompt_frame_with_a_key_is_the_same_request_as_over_http() {
    let world = World::open().await;
    let session = world.session().await;
    let mut live = Live::bearer(&world, &world.token).await;
    let frame = json!({ "type": "prompt", "session": session, "text": "say hi", "key": "k" });
    let first = live.call(frame.clone()).await;
    let second = live.call(frame).await;
    assert_eq!(first["type"], "ack");
    assert_eq!(first["result"], second["result"]);
    let http = world.keyed("k", &format!("POST /api/v1/sessions/{session}/prompts"), json!({ "text": "say hi" })).await;
    assert_eq!(http.ok(202), first["result"]);
    let reused = live.call(json!({ "type": "prompt", "session": session, "text": "other", "key": "k" })).await;
    assert_eq!((&reused["type"], &reused["error"]["code"]), (&json!("error"), &json!("key_reused")));
    world.close().await;
}

/// A key in the body counts like one in the header, also where the body holds nothing else.
#[tokio::test]
async fn a_key_may_come_in_a_body_that_holds_nothing_else() {
    let world = World::open().await;
    let session = world.session().await;
    let path = format!("/api/v1/sessions/{session}");
    world.turn(&session, "say hello").await;
    world.prompt(&session, "slow 600").await;
    for request in [
        format!("POST {path}/cancel"),
        format!("POST {path}/observe"),
        format!("DELETE {path}"),
        format!("POST {path}/restore"),
    ] {
        let body = json!({ "key": request.replace(' ', "-") });
        let first = world.call(&request, body.clone()).await;
        assert!(first.status < 300, "{request}: {}", first.text());
        if request.ends_with("/cancel") {
            world.until_entry(&session, |entry| entry["data"]["outcome"] == "cancelled").await;
        }
        let before = world.position().await;
        let second = world.call(&request, body).await;
        assert_eq!((first.status, first.text()), (second.status, second.text()), "{request}");
        assert_eq!(world.position().await, before, "{request} was carried out twice");
    }
    let both = world.keyed("one", &format!("POST {path}/observe"), json!({ "key": "two" })).await;
    assert_eq!(both.summary(), "400 invalid_key");
    world.close().await;
}

/// A secret can not be given twice, so a key that promises the same answer again is refused rather than ignored.
#[tokio::test]
async fn credentials_take_no_key() {
    let world = World::open().await;
    let token = world.call("POST /api/v1/tokens", json!({ "name": "x" })).await.ok(201);
    let revoke = format!("DELETE /api/v1/tokens/{}", token["token"]["id"].as_str().unwrap());
    let code = world.engine.offer_code();
    let exchange = json!({ "code": code.expose() });
    let before = world.position().await;
    for (request, body) in [
        ("POST /api/v1/tokens", Some(json!({ "name": "y" }))),
        ("POST /api/v1/tokens/rotate", None),
        ("POST /api/v1/tokens/link", None),
        (revoke.as_str(), None),
        ("POST /api/v1/auth/exchange", Some(exchange.clone())),
    ] {
        assert_eq!(world.keyed("k", request, body.clone()).await.summary(), "400 key_not_taken", "{request}");
        if body.is_none() {
            assert_eq!(world.call(request, json!({ "key": "k" })).await.summary(), "400 key_not_taken", "{request}");
        }
    }
    assert_eq!(world.position().await, before);
    world.call_as(vec![], "POST /api/v1/auth/exchange", exchange).await.ok(200);
    world.close().await;
}
