//! `/tokens`: made, listed, ended; what a credential opened is closed with it (T07).

use serde_json::{Value, json};

use crate::client::{Live, bearer};
use crate::support::{CWD, Way, World, id};

#[tokio::test]
async fn a_credential_is_shown_once_and_listed_without_its_secret() {
    let world = World::on_disk().await;
    let session = world.session().await;
    let issued = world.call("POST /api/v1/tokens", json!({ "name": "laptop" })).await.ok(201);
    let at = "2025-11-15T03:00:00.000Z";
    let laptop = json!({ "id": id(3), "kind": "person", "name": "laptop", "session": null, "issuedAt": at });
    assert_eq!(issued["token"], laptop);
    let secret = issued["secret"].as_str().unwrap();
    assert_eq!(secret.len(), 64);
    world.call_as(bearer(secret), "GET /api/v1/sessions", None).await.ok(200);

    let agent = world.call("POST /api/v1/tokens", json!({ "name": "agent", "session": session })).await.ok(201);
    let expected = json!({
        "tokens": [
            { "id": id(1), "kind": "person", "name": "token file", "session": null, "issuedAt": at },
            laptop,
            { "id": id(4), "kind": "agent", "name": "agent", "session": session, "issuedAt": at },
        ],
        "own": id(1),
    });
    assert_eq!(agent["token"], expected["tokens"][2]);
    assert_eq!(world.get("/api/v1/tokens").await.ok(200), expected);

    let world = world.restart().await;
    assert_eq!(world.get("/api/v1/tokens").await.ok(200), expected);
    world.call_as(bearer(secret), "GET /api/v1/sessions", None).await.ok(200);
    world.close().await;
}

#[tokio::test]
async fn a_revoked_credential_closes_its_own_sockets_and_no_others() {
    let world = World::open().await;
    let session = world.session().await;
    let issued = world.call("POST /api/v1/tokens", json!({ "name": "laptop" })).await.ok(201);
    let (laptop, laptop_id) = (issued["secret"].as_str().unwrap(), issued["token"]["id"].as_str().unwrap());
    let browser = world.sign_in().await;
    let mut ended = [Live::bearer(&world, laptop).await, Live::bearer(&world, laptop).await];
    let mut others =
        [Live::bearer(&world, &world.token).await, Live::browser(&world, &browser).await, Live::local(&world).await];
    for live in ended.iter_mut().chain(&mut others) {
        live.ask(json!({ "type": "follow", "session": session })).await;
        live.until("caught_up").await;
    }

    assert_eq!(world.call(&format!("DELETE /api/v1/tokens/{laptop_id}"), None).await.summary(), "204");
    assert_eq!(world.call(&format!("DELETE /api/v1/tokens/{laptop_id}"), None).await.summary(), "404 token_not_found");
    assert_eq!(world.call_as(bearer(laptop), "GET /api/v1/whoami", None).await.summary(), "401 unauthenticated");
    for live in &mut ended {
        let (frames, code) = live.until_closed().await;
        assert_eq!(code, 4003);
        let bye = frames.last().unwrap();
        assert_eq!((&bye["type"], &bye["reason"]), (&json!("bye"), &json!("signed out")));
        assert!(bye["cursors"][&session].is_string(), "{bye}");
    }
    world.turn(&session, "say still here").await;
    for live in &mut others {
        live.until_that(|frame| frame["entry"]["type"] == "turn.ended").await;
    }
    world.close().await;
}

#[tokio::test]
async fn rotating_ends_everything_that_was_signed_in() {
    let world = World::on_disk().await;
    let session = world.session().await;
    let browser = world.sign_in().await;
    let agent = world.agent_token(&session).await;
    let mut sockets = vec![
        Live::bearer(&world, &world.token).await,
        Live::browser(&world, &browser).await,
        Live::open(&world, Way::Port, bearer(&agent)).await.unwrap(),
    ];
    assert_eq!(sockets[2].next().await["type"], "hello");
    let mut local = Live::local(&world).await;

    let rotated = world.call("POST /api/v1/tokens/rotate", None).await.ok(200);
    let keys: std::collections::BTreeSet<&str> = rotated.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["id", "issuedAt", "kind", "name", "session"].into());
    for live in &mut sockets {
        assert_eq!(live.until_closed().await.1, 4003);
    }
    for lines in [bearer(&world.token), bearer(&agent), world.page_lines(&browser)] {
        let answer = world.call_as(lines, "GET /api/v1/whoami", None).await;
        assert_eq!(answer.summary(), "401 unauthenticated");
    }
    let new = world.token_file();
    assert_ne!(new, world.token);
    let tokens = world.call_as(bearer(&new), "GET /api/v1/tokens", None).await.ok(200);
    assert_eq!(tokens["tokens"], json!([rotated]));
    assert_eq!(local.call(json!({ "type": "ping" })).await["type"], "ack", "the person's own socket stays");

    let world = world.restart().await;
    assert_eq!(world.token, new);
    for lines in [bearer(&agent), world.page_lines(&browser)] {
        assert_eq!(world.call_as(lines, "GET /api/v1/whoami", None).await.summary(), "401 unauthenticated");
    }
    world.close().await;
}

/// A socket that is still being greeted when its credential ends is closed as well. The list is larger than what the
/// kernel keeps for a reader, so the server is still sending it when the credential is revoked.
#[tokio::test]
async fn a_credential_that_ends_during_the_greeting_closes_the_socket() {
    let world = World::open().await;
    let mut deep = world.directory.path().to_path_buf();
    for _ in 0..12 {
        deep.push("d".repeat(250));
    }
    std::fs::create_dir_all(&deep).unwrap();
    for _ in 0..50 {
        world.call("POST /api/v1/sessions", json!({ "agent": "guide", "cwd": deep })).await.ok(201);
    }
    let issued = world.call("POST /api/v1/tokens", json!({ "name": "short" })).await.ok(201);
    let mut live = Live::open(&world, Way::Socket, bearer(issued["secret"].as_str().unwrap())).await.unwrap();
    let revoke = format!("DELETE /api/v1/tokens/{}", issued["token"]["id"].as_str().unwrap());
    assert_eq!(world.call(&revoke, None).await.summary(), "204");
    let (frames, code) = live.until_closed().await;
    assert_eq!(code, 4003);
    let greeting = &frames[1];
    assert!(greeting["type"] == "list" && greeting.to_string().len() > 250_000, "the list did not fill the socket");
    world.close().await;
}

#[tokio::test]
async fn a_token_of_a_deleted_session_reaches_nothing() {
    let world = World::open().await;
    let session = world.session().await;
    let agent = world.agent_token(&session).await;
    let path = format!("GET /api/v1/sessions/{session}");
    world.call_as(bearer(&agent), &path, None).await.ok(200);
    world.call(&format!("DELETE /api/v1/sessions/{session}"), None).await.ok(204);
    assert_eq!(world.call_as(bearer(&agent), &path, None).await.summary(), "404 session_not_found");
    world.close().await;
}

/// The browser that uses the link is called what the person called its device.
#[tokio::test]
async fn a_link_names_the_browser_that_uses_it() {
    let world = World::open().await;
    let link = world.call("POST /api/v1/tokens/link", json!({ "name": "phone" })).await.ok(201);
    assert_eq!((&link["expiresAt"], &link["localOnly"]), (&json!("2025-11-15T03:15:00.000Z"), &json!(true)));
    let code = link["url"].as_str().unwrap().split_once("/#code=").unwrap().1;
    world.call_as(vec![], "POST /api/v1/auth/exchange", json!({ "code": code })).await.ok(200);
    world.sign_in().await;
    let tokens = world.get("/api/v1/tokens").await.ok(200);
    let browsers = tokens["tokens"].as_array().unwrap().iter().filter(|token| token["kind"] == "browser");
    assert_eq!(browsers.map(|token| token["name"].as_str().unwrap()).collect::<Vec<_>>(), ["phone", "browser"]);
    for name in ["", "two\nlines", &"x".repeat(101)] {
        let answer = world.call("POST /api/v1/tokens/link", json!({ "name": name })).await;
        assert_eq!(answer.summary(), "400 invalid_name", "{name:?}");
    }
    world.close().await;
}

/// Whoever looks at the list sees which of them would sign it out itself.
#[tokio::test]
async fn the_list_says_which_credential_is_the_callers_own() {
    let world = World::open().await;
    let browser = world.sign_in().await;
    let listed = world.call_as(world.page_lines(&browser), "GET /api/v1/tokens", None).await.ok(200);
    let own = listed["tokens"].as_array().unwrap().iter().find(|token| token["id"] == listed["own"]);
    assert_eq!(own.unwrap()["kind"], "browser");
    let listed = world.get("/api/v1/tokens").await.ok(200);
    let own = listed["tokens"].as_array().unwrap().iter().find(|token| token["id"] == listed["own"]);
    assert_eq!(own.unwrap()["kind"], "person");
    world.close().await;
}

/// A code that no phone could follow is not drawn.
#[tokio::test]
async fn a_link_that_others_reach_comes_with_its_picture() {
    let world = World::open().await;
    let link = world.call("POST /api/v1/tokens/link", json!({ "name": "phone" })).await.ok(201);
    assert_eq!((&link["localOnly"], &link["picture"]), (&json!(true), &json!(null)));
    world.close().await;
    let world = World::secure().await;
    let link = world.call("POST /api/v1/tokens/link", json!({ "name": "phone" })).await.ok(201);
    let squares = server::QrSquares::of(link["url"].as_str().unwrap()).unwrap();
    assert_eq!(link["picture"], json!({ "side": squares.side(), "path": squares.path() }));
    world.close().await;
}

/// Issued to many at once, each is its own.
#[tokio::test(flavor = "multi_thread")]
async fn credentials_made_at_once_are_all_kept() {
    let world = World::on_disk().await;
    let made = (0..20).map(|n| world.call("POST /api/v1/tokens", json!({ "name": format!("n{n}") })));
    let secrets: Vec<Value> =
        futures_util::future::join_all(made).await.iter().map(|answer| answer.ok(201)["secret"].clone()).collect();
    for secret in &secrets {
        world.call_as(bearer(secret.as_str().unwrap()), "GET /api/v1/whoami", None).await.ok(200);
    }
    assert_eq!(world.get("/api/v1/tokens").await.ok(200)["tokens"].as_array().unwrap().len(), 21);
    let body = json!({ "agent": "guide", "cwd": CWD });
    world.call_as(bearer(secrets[0].as_str().unwrap()), "POST /api/v1/sessions", body).await.ok(201);
    world.close().await;
}
