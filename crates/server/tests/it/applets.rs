//! Applets over HTTP and the socket: read, saved, their states followed, what is granted, and the document that a frame shows.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Live, bearer};
use crate::mcp::{Client, Era};
use crate::support::{World, within};

const APPLET: &str = "/api/v1/storage/applet";

fn board(html: &str) -> Value {
    json!({ "name": "A board", "description": "Keeps notes", "html": html, "js": "run();", "css": "p {}" })
}

async fn save(world: &World, slug: &str, html: &str) {
    world.call(&format!("PUT {APPLET}/{slug}"), board(html)).await;
}

async fn hash(world: &World, slug: &str) -> String {
    let shown = world.get(&format!("{APPLET}/{slug}")).await.ok(200);
    shown["hash"].as_str().unwrap().to_owned()
}

/// A session in a directory of its own, beside the data folder.
async fn session_in(world: &World) -> (String, PathBuf) {
    let cwd = world.directory.path().canonicalize().unwrap().join("work");
    fs::create_dir_all(&cwd).unwrap();
    let created = world.call("POST /api/v1/sessions", json!({ "agent": "guide", "cwd": cwd })).await.ok(201);
    (created["id"].as_str().unwrap().to_owned(), cwd)
}

/// An agent whose turn runs.
async fn showing(world: &World) -> (String, Client) {
    let (session, _) = session_in(world).await;
    world.prompt(&session, "slow 3600").await;
    world.until_entry(&session, |entry| entry["type"] == "turn.started").await;
    let token = world.agent_token(&session).await;
    let client = Client::open_at(&format!("http://{}/mcp/show", world.address), Era::Stateless, &token).await;
    (session, client)
}

fn state_of(frames: &[Value]) -> Vec<&Value> {
    frames.iter().filter(|frame| frame["type"] == "applet_state").collect()
}

#[tokio::test]
async fn an_applet_is_saved_read_replaced_and_deleted() {
    let world = World::keeping_files().await;
    let put = format!("PUT {APPLET}/board");
    let made = world.call(&put, board("<p>one</p>")).await.ok(201);
    assert_eq!((&made["slug"], &made["bundled"], &made["perSession"]), (&json!("board"), &json!(false), &json!(false)));
    world.call(&put, board("<p>two</p>")).await.ok(200);
    let shown = world.get(&format!("{APPLET}/board")).await.ok(200);
    assert_eq!((&shown["html"], &shown["js"], &shown["css"]), (&json!("<p>two</p>"), &json!("run();"), &json!("p {}")));
    assert_eq!((&shown["state"], &shown["version"]), (&json!({}), &json!(0)));
    let listed = world.get("/api/v1/storage/applets").await.ok(200);
    assert_eq!(listed[0]["slug"], "board");
    let bundled: Vec<_> = listed.as_array().unwrap().iter().filter(|row| row["bundled"] == true).collect();
    assert_eq!(bundled.len(), 8);
    world.call(&format!("DELETE {APPLET}/board"), None).await.ok(204);
    assert_eq!(world.get(&format!("{APPLET}/board")).await.summary(), "404 applet_not_found");
    assert_eq!(world.call(&format!("DELETE {APPLET}/board"), None).await.summary(), "404 applet_not_found");
    assert_eq!(world.call(&format!("DELETE {APPLET}/counter"), None).await.summary(), "409 applet_bundled");
}

#[tokio::test]
async fn what_is_no_applet_is_refused_and_changes_nothing() {
    let world = World::keeping_files().await;
    for slug in ["_shown", "A", "a--", "-a", "a.b", "..", "%2e%2e", "a%2Fb", "a%00b", "%C3%A4", &"x".repeat(65)] {
        let refused = world.call(&format!("PUT {APPLET}/{slug}"), board("x")).await;
        assert!(matches!(refused.status, 400 | 404 | 405), "{slug}: {}", refused.summary());
    }
    let with = |name: &str, value: Value| {
        let mut body = board("x");
        body[name] = value;
        body
    };
    for (body, refusal) in [
        (with("name", json!("two\nlines")), "400 applet_invalid"),
        (with("name", json!("")), "400 applet_invalid"),
        (with("description", json!("x".repeat(2_000))), "400 applet_invalid"),
        (with("html", json!("x".repeat(1 << 20))), "413 applet_too_large"),
        (with("colour", json!("red")), "400 invalid_body"),
        (json!({ "name": "x", "html": " " }), "400 applet_invalid"),
    ] {
        assert_eq!(world.call(&format!("PUT {APPLET}/board"), body).await.summary(), refusal);
    }
    assert!(!world.directory.path().join("data/applets").exists());
    let (session, _) = session_in(&world).await;
    let none = world.get(&format!("{APPLET}/_shown?session={session}")).await;
    assert_eq!(none.summary(), "404 no_applet_shown");
    assert_eq!(world.get(&format!("{APPLET}/_shown")).await.summary(), "400 invalid_query");
}

#[tokio::test]
async fn a_state_is_followed_on_every_device_and_goes_back_to_a_version() {
    let world = World::keeping_files().await;
    let (session, _) = session_in(&world).await;
    save(&world, "board", "x").await;
    let (mut phone, mut laptop) = (Live::local(&world).await, Live::local(&world).await);
    let open = json!({ "type": "applet_open", "session": session, "applet": "board", "params": { "a": "b" } });
    for live in [&mut phone, &mut laptop] {
        assert_eq!(live.call(open.clone()).await["type"], "ack");
        let first = live.until("applet_state").await;
        assert_eq!(state_of(&first)[0]["state"], json!({}));
    }
    let write =
        json!({ "type": "applet_state", "session": session, "applet": "board", "merge": { "n": 1 }, "writer": "w1" });
    let written = phone.call(write).await;
    let version = written["result"]["version"].as_u64().unwrap();
    let heard = laptop.until_that(|frame| frame["state"] == json!({ "n": 1 })).await;
    let newest = heard.last().unwrap();
    assert_eq!(
        (&newest["version"], &newest["writer"], &newest["applet"]),
        (&json!(version), &json!("w1"), &json!("board"))
    );

    let state = format!("{APPLET}/board/state");
    let stale = world.call(&format!("POST {state}"), json!({ "state": {}, "version": version - 1 })).await;
    assert_eq!(stale.summary(), "409 applet_state_conflict");
    assert_eq!(stale.json()["error"]["details"]["version"], json!(version));
    world.call(&format!("POST {state}"), json!({ "state": { "n": 2 }, "version": version })).await.ok(200);
    laptop.until_that(|frame| frame["state"] == json!({ "n": 2 })).await;
    for (body, refusal) in [
        (json!({}), "400 invalid_body"),
        (json!({ "state": {}, "merge": {} }), "400 invalid_body"),
        (json!({ "state": [] }), "400 invalid_body"),
        (json!({ "merge": { "x": "y".repeat(300_000) } }), "413 applet_state_too_large"),
        (json!({ "merge": {}, "writer": "w".repeat(101) }), "400 invalid_body"),
    ] {
        assert_eq!(world.call(&format!("POST {state}"), body).await.summary(), refusal);
    }
    assert_eq!(world.get(&state).await.ok(200)["state"], json!({ "n": 2 }));
    // A version is kept at most once a second.
    let kept = async || loop {
        let versions = world.get(&format!("{APPLET}/board/versions")).await.ok(200);
        if let Some(newest) = versions["versions"][0]["version"].as_u64() {
            break newest;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let kept = within("a version", kept()).await;
    let old = world.get(&format!("{APPLET}/board/versions/{kept}")).await.ok(200);
    assert!(old["state"]["n"].is_number(), "{old}");
    assert_eq!(world.get(&format!("{APPLET}/board/versions/7")).await.summary(), "404 no_such_version");

    save(&world, "board", "other").await;
    let changed = laptop.until("applet_changed").await;
    assert_eq!(changed.last().unwrap()["hash"], json!(hash(&world, "board").await));
    world.call(&format!("DELETE {APPLET}/board"), None).await.ok(204);
    let gone = laptop.until("applet_changed").await;
    assert_eq!(gone.last().unwrap()["hash"], Value::Null);
    let refused = phone.call(json!({ "type": "applet_open", "session": session, "applet": "board" })).await;
    assert_eq!(refused["error"]["code"], "applet_not_found");
}

/// They are acknowledged each, and none that was taken in is lost, however many come at once.
#[tokio::test]
async fn many_writes_of_one_socket_are_all_taken_in_their_order() {
    let world = World::keeping_files().await;
    let (session, _) = session_in(&world).await;
    let mut live = Live::local(&world).await;
    let mut last = 0;
    for round in 0..10 {
        let mut asked = Vec::new();
        for n in 0..20 {
            let write = json!({ "type": "applet_state", "session": session, "applet": "counter", "merge": { "n": round * 20 + n } });
            asked.push(live.ask(write).await);
        }
        // Each comes once its write is flushed, and several are flushed at once.
        let mut versions = vec![0; asked.len()];
        while versions.contains(&0) {
            let frame = live.next().await;
            let place = asked.iter().position(|id| frame["id"] == id.as_str()).unwrap();
            versions[place] = frame["result"]["version"].as_u64().unwrap();
        }
        assert!(versions[0] > last && versions.is_sorted_by(|a, b| a < b), "{versions:?} after {last}");
        last = versions[19];
    }
    assert_eq!(
        world.get(&format!("{APPLET}/counter/state")).await.ok(200),
        json!({ "state": { "n": 199 }, "version": last })
    );
}

#[tokio::test]
async fn a_state_that_waited_goes_with_the_next_prompt() {
    let world = World::keeping_files().await;
    let (session, _) = session_in(&world).await;
    let prompt = json!({ "text": "hello", "appletState": { "applet": "counter", "merge": { "count": 5 } } });
    world.call(&format!("POST /api/v1/sessions/{session}/prompts"), prompt).await.ok(202);
    assert_eq!(world.get(&format!("{APPLET}/counter/state")).await.ok(200)["state"], json!({ "count": 5 }));
    let prompts = |entries: Vec<Value>| {
        entries.iter().filter(|entry| entry["type"].as_str().unwrap().starts_with("prompt.")).count()
    };
    let before = prompts(world.entries(&session).await);
    let prompt = json!({ "text": "hello", "appletState": { "applet": "never", "merge": {} } });
    let refused = world.call(&format!("POST /api/v1/sessions/{session}/prompts"), prompt).await;
    assert_eq!(refused.summary(), "404 applet_not_found");
    assert_eq!(prompts(world.entries(&session).await), before);
}

/// Whoever repeats a prompt, for they got no answer, may repeat it after somebody else has written.
#[tokio::test]
async fn a_prompt_that_is_repeated_sets_no_state_again() {
    let world = World::keeping_files().await;
    let (session, _) = session_in(&world).await;
    let prompts = format!("POST /api/v1/sessions/{session}/prompts");
    let prompt =
        |count: i64| json!({ "text": "hello", "appletState": { "applet": "counter", "merge": { "count": count } } });
    let first = world.keyed("k", &prompts, prompt(1)).await.ok(202);
    world.call(&format!("POST {APPLET}/counter/state"), json!({ "merge": { "count": 2 } })).await.ok(200);
    assert_eq!(world.keyed("k", &prompts, prompt(1)).await.ok(202), first);
    assert_eq!(world.keyed("k", &prompts, prompt(3)).await.summary(), "409 key_reused");
    let elsewhere = "POST /api/v1/sessions/01900000-0000-7000-8000-000000000000/prompts";
    assert_eq!(world.call(elsewhere, prompt(4)).await.summary(), "404 session_not_found");
    assert_eq!(world.get(&format!("{APPLET}/counter/state")).await.ok(200)["state"], json!({ "count": 2 }));
}

/// What was granted holds for what the page was told that it shows; an agent may write the files at any moment.
#[tokio::test]
async fn a_frame_shows_the_content_that_its_ticket_names_or_none() {
    let world = World::keeping_files().await;
    let (session, _) = session_in(&world).await;
    save(&world, "board", "seen").await;
    let ticket = world.call(&format!("POST {APPLET}/board/ticket?session={session}"), None).await.ok(201);
    let frame = format!("GET {}", ticket["url"].as_str().unwrap());
    let page = world.directory.path().join("data/applets/board/content.html");
    fs::write(&page, "another").unwrap();
    let other = world.call_as(vec![], &frame, None).await;
    assert_eq!(other.summary(), "409 applet_changed");
    fs::write(&page, "seen").unwrap();
    assert!(world.call_as(vec![], &frame, None).await.text().contains("seen"));
}

/// A page that comes back may have missed a change of either.
#[tokio::test]
async fn whoever_opens_an_applet_hears_its_content_and_its_state() {
    let world = World::keeping_files().await;
    let (session, _) = session_in(&world).await;
    save(&world, "board", "x").await;
    let mut live = Live::local(&world).await;
    live.ask(json!({ "type": "applet_open", "session": session, "applet": "board", "params": {} })).await;
    let frames = live.until_that(|frame| frame["type"] == "applet_state").await;
    let changed = frames.iter().find(|frame| frame["type"] == "applet_changed").unwrap();
    assert_eq!(changed["hash"], hash(&world, "board").await);
}

/// A page that asks and does not read costs the server no more than one that reads.
#[tokio::test]
async fn what_is_opened_again_and_again_is_told_once() {
    const TIMES: usize = 200;
    let world = World::keeping_files().await;
    let (session, _) = session_in(&world).await;
    world.call(&format!("POST {APPLET}/counter/state"), json!({ "state": { "count": 1 } })).await.ok(200);
    let mut live = Live::local(&world).await;
    let open = json!({ "type": "applet_open", "session": session, "applet": "counter", "params": {} });
    let asked = live.ask_often(open, TIMES).await;
    let mut frames = live.until_that(|frame| frame["id"] == asked.as_str()).await;
    // What waited comes before what is written now.
    world.call(&format!("POST {APPLET}/counter/state"), json!({ "state": { "count": 2 } })).await.ok(200);
    frames.extend(live.until_that(|frame| frame["state"] == json!({ "count": 2 })).await);
    assert!(state_of(&frames).len() < TIMES / 2, "{}", state_of(&frames).len());
}

#[tokio::test]
async fn only_the_person_grants_and_only_to_what_they_saw() {
    let world = World::keeping_files().await;
    let (session, cwd) = session_in(&world).await;
    fs::write(cwd.join("a.txt"), "one").unwrap();
    save(&world, "board", "x").await;
    let seen = hash(&world, "board").await;
    let file = |path: &str, hash: &str| {
        let path = cwd.join(path).display().to_string();
        format!("/api/v1/storage/file?session={session}&applet=board&hash={hash}&path={path}")
    };
    let list = format!("/api/v1/storage/list?session={session}&applet=board&hash={seen}");
    let grants = format!("{APPLET}/board/grants");
    assert_eq!(world.get(&file("a.txt", &seen)).await.summary(), "403 not_granted");
    assert_eq!(world.get(&list).await.summary(), "403 not_granted");
    let grant = |name: &str, hash: &str| json!({ "grant": name, "hash": hash, "granted": true });
    let token = world.agent_token(&session).await;
    let asked = world.call_as(bearer(&token), &format!("POST {grants}"), grant("files.read", &seen)).await;
    assert_eq!(asked.status, 403, "{}", asked.text());
    let other = world.call(&format!("POST {grants}"), grant("files.read", &"0".repeat(64))).await;
    assert_eq!(other.summary(), "409 applet_changed");
    assert_eq!(world.call(&format!("POST {grants}"), grant("files.all", &seen)).await.summary(), "400 invalid_body");

    world.call(&format!("POST {grants}"), grant("files.read", &seen)).await.ok(200);
    assert_eq!(world.get(&file("a.txt", &seen)).await.ok(200)["content"], "one");
    assert_eq!(world.get(&list).await.ok(200)["files"][0]["name"], "a.txt");
    let write = format!("POST {}", file("a.txt", &seen));
    assert_eq!(world.call(&write, json!({ "content": "two" })).await.summary(), "403 not_granted");
    world.call(&format!("POST {grants}"), grant("files.write", &seen)).await.ok(200);
    world.call(&write, json!({ "content": "two" })).await.ok(200);
    assert_eq!(fs::read_to_string(cwd.join("a.txt")).unwrap(), "two");
    let applets = world.directory.path().join("data/applets/board/content.html").canonicalize().unwrap();
    let own = format!("/api/v1/storage/file?session={session}&applet=board&hash={seen}&path={}", applets.display());
    assert_eq!(
        world.call(&format!("POST {own}"), json!({ "content": "mine" })).await.summary(),
        "403 path_not_allowed"
    );
    for half in ["applet=board", "hash=x", "applet=board&hash=x"] {
        let path = cwd.join("a.txt");
        let asked = world.get(&format!("/api/v1/storage/file?{half}&path={}", path.display())).await;
        assert_eq!(asked.summary(), "400 invalid_query", "{half}");
    }

    let prompts = format!("POST /api/v1/sessions/{session}/prompts");
    let prompt = json!({ "text": "hello", "applet": { "applet": "board", "hash": seen } });
    assert_eq!(world.call(&prompts, prompt.clone()).await.summary(), "403 not_granted");
    world.call(&format!("POST {grants}"), grant("message", &seen)).await.ok(200);
    let mut keyed = prompt.clone();
    keyed["key"] = json!("k1");
    let sent = world.call(&prompts, keyed.clone()).await.ok(202);

    save(&world, "board", "changed").await;
    assert_eq!(world.call(&prompts, prompt).await.summary(), "409 applet_changed");
    assert_eq!(world.call(&prompts, keyed).await.ok(202), sent, "what was taken stays taken");
    let entries = world.entries(&session).await;
    let sent: Vec<_> = entries.iter().filter(|entry| entry["data"]["text"] == "hello").collect();
    assert!(!sent.is_empty());
    for prompt in sent {
        assert_eq!(prompt["data"]["by"], json!({ "type": "applet", "name": "board" }), "{prompt}");
    }
    assert_eq!(world.get(&file("a.txt", &seen)).await.summary(), "409 applet_changed");
    assert_eq!(world.get(&grants).await.ok(200)["grants"], json!([]));
}

#[tokio::test]
async fn the_document_is_a_frames_alone_and_has_no_origin_and_no_network() {
    let world = World::keeping_files().await;
    let (session, agent) = showing(&world).await;
    agent.call("set_applet", json!({ "html": "<p>first</p>", "js": "const a = '</script>';", "title": "One" })).await;
    let entries = world.entries(&session).await;
    let shown = entries.iter().find(|entry| entry["type"] == "applet.shown").unwrap();
    let output = shown["data"]["output"].as_str().unwrap().to_owned();
    agent.call("set_applet", json!({ "html": "<p>second</p>" })).await;

    let browser = world.sign_in().await;
    let ticket = async |query: &str| {
        let request = format!("POST {APPLET}/_shown/ticket?session={session}{query}");
        world.call_as(world.page_lines(&browser), &request, None).await.ok(201)
    };
    let (now, then) = (ticket("").await, ticket(&format!("&output={output}")).await);
    assert_ne!(now["hash"], then["hash"]);
    let frame = |destination: &str| {
        vec![
            ("sec-fetch-site", "same-origin".to_owned()),
            ("sec-fetch-dest", destination.to_owned()),
            ("sec-fetch-mode", "navigate".to_owned()),
        ]
    };
    let url = now["url"].as_str().unwrap();
    let document = world.call_as(frame("iframe"), &format!("GET {url}"), None).await;
    assert_eq!(document.status, 200, "{}", document.text());
    let policy = document.header("content-security-policy").unwrap();
    for rule in ["sandbox allow-scripts;", "default-src 'none'", "connect-src 'none'", "frame-ancestors 'self'"] {
        assert!(policy.contains(rule), "{policy}");
    }
    assert!(!policy.contains("allow-same-origin") && !policy.contains("http"), "{policy}");
    for (name, value) in [
        ("connection-allowlist", "()"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
        ("content-type", "text/html; charset=utf-8"),
    ] {
        assert_eq!(document.header(name), Some(value));
    }
    assert!(document.header("permissions-policy").unwrap().contains("camera=()"));
    assert!(document.text().contains("<p>second</p>") && !document.text().contains(&world.token));
    let then = world.call_as(frame("iframe"), &format!("GET {}", then["url"].as_str().unwrap()), None).await.text();
    assert!(then.contains("<p>first</p>") && then.contains(r"const a = '\x3c/script>'"), "{then}");

    for destination in ["document", "empty", "image", "script", "object", "frame"] {
        let refused = world.call_as(frame(destination), &format!("GET {url}"), None).await;
        assert!(refused.status == 403, "{destination}: {}", refused.summary());
    }
    // Neither kind of ticket opens what the other is for.
    let secret = url.rsplit('/').next().unwrap();
    assert_eq!(world.get(&format!("/api/v1/tickets/{secret}")).await.summary(), "404 ticket_not_found");
    let of_output = format!("POST /api/v1/sessions/{session}/outputs/{output}/ticket");
    let of_output = world.call_as(world.page_lines(&browser), &of_output, None).await.ok(201);
    let secret = of_output["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let refused = world.call_as(frame("iframe"), &format!("GET /applet-frame/{secret}"), None).await;
    assert_eq!(refused.summary(), "404 ticket_not_found");
    assert_eq!(world.get("/applet-frame/unknown").await.status, 404);
    let page = world.get("/").await;
    let own = format!("frame-src {}/applet-frame/", world.address);
    assert!(page.header("content-security-policy").unwrap().contains(&own), "{own}");
}

#[tokio::test]
async fn an_agent_reaches_the_applets_of_its_own_session_and_writes_none_here() {
    let world = World::keeping_files().await;
    let (session, _) = session_in(&world).await;
    let other = world.session().await;
    let token = world.agent_token(&session).await;
    let as_agent =
        async |request: String, body: Option<Value>| world.call_as(bearer(&token), &request, body).await.status;
    assert_eq!(as_agent(format!("GET {APPLET}/counter?session={session}"), None).await, 200);
    assert_eq!(as_agent(format!("GET {APPLET}/counter?session={other}"), None).await, 404);
    assert_eq!(as_agent(format!("GET {APPLET}/counter"), None).await, 403);
    assert_eq!(as_agent("GET /api/v1/storage/applets".to_owned(), None).await, 403);
    assert_eq!(as_agent(format!("PUT {APPLET}/counter"), Some(board("x"))).await, 403);
    assert_eq!(as_agent(format!("DELETE {APPLET}/counter"), None).await, 403);
    let write = format!("POST {APPLET}/counter/state?session={session}");
    assert_eq!(as_agent(write, Some(json!({ "merge": {} }))).await, 403);
}

/// The page notes which applet was open beside a session, by that session's name, perhaps late: it is a mark like any other.
#[tokio::test]
async fn a_late_note_of_the_open_applet_is_taken_as_it_comes() {
    let world = World::keeping_files().await;
    let (left, now) = (session_in(&world).await.0, world.session().await);
    let note = |items: Value| json!({ "setContext": { "setName": "applet", "items": items, "mode": "replace" } });
    let patch = async |session: &str, items: Value| {
        world.call(&format!("PATCH /api/v1/sessions/{session}"), note(items)).await.ok(200);
    };
    patch(&now, json!(["counter"])).await;
    patch(&left, json!(["text-editor", "path=/a b"])).await;
    let set = async |session: &str| {
        let shown = world.get(&format!("/api/v1/sessions/{session}")).await.ok(200);
        shown["meta"]["context"]["applet"].clone()
    };
    assert_eq!(set(&left).await, json!(["text-editor", "path=/a b"]));
    assert_eq!(set(&now).await, json!(["counter"]));
    patch(&left, json!(["counter"])).await;
    assert_eq!(set(&left).await, json!(["counter"]), "the last one holds");
}
