//! `/mcp/show` and `/sessions/{id}/outputs`: what agents show stays, and nothing else can be shown.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::client::bearer;
use crate::mcp::{Client, Era};
use crate::support::World;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and so on \x00\xff";

/// A session in which a turn runs, and a client of its agent.
pub(crate) async fn showing(world: &World) -> (String, PathBuf, Client) {
    let (session, cwd) = session_in(world).await;
    world.prompt(&session, "slow 3600").await;
    world.until_entry(&session, |entry| entry["type"] == "turn.started").await;
    let token = world.agent_token(&session).await;
    let client = Client::open_at(&format!("http://{}/mcp/show", world.address), Era::Stateless, &token).await;
    (session, cwd, client)
}

/// A session in a directory of its own.
pub(crate) async fn session_in(world: &World) -> (String, PathBuf) {
    let cwd = world.directory.path().canonicalize().unwrap().join("work");
    fs::create_dir_all(&cwd).unwrap();
    let created = world.call("POST /api/v1/sessions", json!({ "agent": "guide", "cwd": cwd })).await.ok(201);
    let id = created["id"].as_str().unwrap().to_owned();
    world.until_entry(&id, |entry| entry["type"] == "agent.commands_changed").await;
    (id, cwd)
}

pub(crate) async fn listed(world: &World, session: &str) -> Vec<Value> {
    let page = world.get(&format!("/api/v1/sessions/{session}/outputs")).await.ok(200);
    page["outputs"].as_array().unwrap().clone()
}

#[tokio::test]
async fn what_is_shown_is_kept_byte_by_byte_also_after_a_restart() {
    let world = World::on_disk().await;
    let (session, cwd, agent) = showing(&world).await;
    let text = "fn main() {\n    println!(\"hi\");\n}\n\u{1b}[31mred\u{202e}\n";
    fs::write(cwd.join("main.rs"), text).unwrap();
    fs::write(cwd.join("plot.bin"), PNG).unwrap();
    let path = cwd.join("main.rs");
    let answer = agent.call("render_file_contents", json!({ "path": path, "startLine": 2, "endLine": 3 })).await;
    assert!(answer.starts_with("[output:out_") && answer.contains("lines 2 to 3 of 4, 22 bytes"), "{answer}");
    assert!(!answer.contains("println"), "{answer}");
    agent.call("render_file_contents", json!({ "path": "main.rs", "highlight": "rust" })).await;
    agent.call("display_image", json!({ "path": "plot.bin" })).await;
    fs::remove_file(cwd.join("main.rs")).unwrap();

    let outputs = listed(&world, &session).await;
    let [some, all, picture] = outputs.as_slice() else { panic!("{outputs:?}") };
    assert_eq!((&some["type"], &some["startLine"], &some["totalLines"]), (&json!("file"), &json!(2), &json!(4)));
    assert_eq!((&picture["mimeType"], &picture["turn"]), (&json!("image/png"), &json!(1)));
    let stored = world.entries(&session).await;
    let stored: Vec<_> = stored.iter().filter(|entry| entry["type"] == "output.stored").collect();
    assert_eq!(stored.len(), 3);
    let id = |output: &Value| output["id"].as_str().unwrap().to_owned();
    let (some, all, picture) = (id(some), id(all), id(picture));

    drop(agent);
    let world = world.restart().await;
    assert_eq!(listed(&world, &session).await, outputs);
    let base = format!("/api/v1/sessions/{session}/outputs");
    assert_eq!(world.get(&format!("{base}/{some}")).await.text(), "    println!(\"hi\");\n}\n");
    let whole = world.get(&format!("{base}/{all}")).await;
    assert_eq!((whole.status, whole.text().as_str()), (200, text));
    assert_eq!(whole.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(whole.header("x-content-type-options"), Some("nosniff"));
    assert!(whole.header("content-security-policy").unwrap().contains("sandbox"));
    let shown = world.get(&format!("/api/v1/outputs/{picture}")).await;
    assert_eq!(shown.body.as_ref(), PNG);
    let named = format!("inline; filename=\"{picture}.png\"; filename*=UTF-8''plot.bin");
    assert_eq!(shown.header("content-disposition"), Some(named.as_str()));
    let body = world.get(&format!("{base}/{all}?format=json")).await.ok(200);
    assert_eq!((&body["data"], &body["encoding"], &body["state"]), (&json!(text), &json!("utf-8"), &json!("kept")));
    let body = world.get(&format!("{base}/{picture}?format=json")).await.ok(200);
    assert_eq!(body["encoding"], "base64");
    let part = world
        .call_as([world.bearer(), vec![("range", "bytes=3-6".to_owned())]].concat(), &format!("GET {base}/{all}"), None)
        .await;
    assert_eq!((part.status, part.text().as_str()), (206, "main"));
    assert_eq!(part.header("content-range"), Some(format!("bytes 3-6/{}", text.len()).as_str()));
    let lines = world.get(&format!("{base}/{all}/lines?grep=PRINT")).await.ok(200);
    assert_eq!(lines, json!({ "lines": [{ "number": 2, "text": "    println!(\"hi\");" }], "next": null }));
    let lines = world.get(&format!("/api/v1/outputs/{all}/lines?first=1&last=9&limit=1")).await.ok(200);
    assert_eq!(lines["next"], 2);

    assert_eq!(world.get(&format!("{base}/{all}/state")).await.ok(200), json!({ "state": "kept" }));

    // Somebody edits one file and removes another.
    let folder = world.directory.path().join("sessions").join(&session).join("outputs");
    fs::write(folder.join(format!("{all}.txt")), "edited\n\nby hand").unwrap();
    fs::write(folder.join(format!("{picture}.png")), "edited\n").unwrap();
    fs::remove_file(folder.join(format!("{some}.txt"))).unwrap();
    assert_eq!(world.get(&format!("{base}/{all}?format=json")).await.ok(200)["state"], "changed");
    assert_eq!(world.get(&format!("{base}/{all}/state")).await.ok(200), json!({ "state": "changed", "lines": 3 }));
    assert_eq!(world.get(&format!("{base}/{picture}/state")).await.ok(200), json!({ "state": "changed" }));
    assert_eq!(world.get(&format!("{base}/{some}/state")).await.ok(200), json!({ "state": "gone" }));
    assert_eq!(world.get(&format!("{base}/{some}?format=json")).await.ok(200)["state"], "gone");
    assert_eq!(world.get(&format!("{base}/{some}")).await.summary(), "410 output_gone");
    world.close().await;
}

#[tokio::test]
async fn nothing_outside_or_protected_is_shown_and_nothing_is_left_behind() {
    let world = World::open().await;
    let (session, cwd, agent) = showing(&world).await;
    fs::write(world.directory.path().join("secret.txt"), "secret").unwrap();
    symlink(world.directory.path().join("secret.txt"), cwd.join("link.txt")).unwrap();
    fs::write(cwd.join(".env"), "KEY=1").unwrap();
    fs::write(cwd.join("zeros"), [0; 9]).unwrap();
    fs::File::create(cwd.join("sparse.txt")).unwrap().set_len(1 << 40).unwrap();
    fs::write(cwd.join("long.txt"), "x\n".repeat(600_000)).unwrap();
    fs::write(cwd.join("page.html"), "<script>alert(1)</script>").unwrap();
    let outside = world.directory.path().join("secret.txt");
    for (path, why) in [
        (outside.to_str().unwrap(), "outside the directories"),
        ("../secret.txt", "outside the directories"),
        ("link.txt", "outside the directories"),
        (".env", "outside the directories"),
        (".ENV", "outside the directories"),
        ("/nowhere/at/all", "outside the directories"),
        ("missing.txt", "there is nothing"),
        (".", "no plain file"),
        ("zeros", "no UTF-8 text"),
        ("sparse.txt", "no UTF-8 text"),
        ("long.txt", "more than 1 MiB"),
    ] {
        let answer = agent.call("render_file_contents", json!({ "path": path })).await;
        assert!(answer.starts_with("FAILED") && answer.contains(why), "{path}: {answer}");
    }
    let answer = agent.call("display_image", json!({ "path": "page.html" })).await;
    assert!(answer.contains("no PNG"), "{answer}");
    let answer = agent.call("render_file_contents", json!({ "path": "page.html", "startLine": 7 })).await;
    assert!(answer.contains("comes after the last line, 1"), "{answer}");
    assert_eq!(listed(&world, &session).await, Vec::<Value>::new());
    let folder = world.directory.path().join("sessions").join(&session).join("outputs");
    assert_eq!(fs::read_dir(folder).map_or(0, Iterator::count), 0);

    // Some of its lines fit, and the session has room for three such.
    for _ in 0..3 {
        let lines = json!({ "path": "long.txt", "startLine": 5, "endLine": 500_000 });
        let answer = agent.call("render_file_contents", lines).await;
        assert!(answer.contains("lines 5 to 500000 of 600000"), "{answer}");
    }
    let full = agent.call("render_file_contents", json!({ "path": "long.txt", "endLine": 500_000 })).await;
    assert!(full.contains("no room for another"), "{full}");
    world.close().await;
}

#[tokio::test]
async fn an_output_is_its_sessions_alone_and_only_while_a_turn_runs() {
    let world = World::open().await;
    let (session, cwd, agent) = showing(&world).await;
    fs::write(cwd.join("a.txt"), "one\ntwo error\nthree").unwrap();
    let answer = agent.call("render_file_contents", json!({ "path": "a.txt" })).await;
    let id = answer.split([':', ']']).nth(1).unwrap().to_owned();
    let found = agent.call("retrieve_output", json!({ "id": id, "grep": "ERROR" })).await;
    assert_eq!(found, "     2| two error\n");
    let found = agent.call("retrieve_output", json!({ "id": id, "startLine": 3 })).await;
    assert_eq!(found, "     3| three\n");

    let (other, _) = session_in(&world).await;
    let token = world.agent_token(&other).await;
    let stranger = Client::open_at(&format!("http://{}/mcp/show", world.address), Era::Handshake, &token).await;
    assert!(stranger.call("retrieve_output", json!({ "id": id })).await.contains("no output"), "{id}");
    let refused = stranger.call("render_file_contents", json!({ "path": "a.txt" })).await;
    assert!(refused.contains("no turn is running"), "{refused}");
    for path in
        [format!("sessions/{other}/outputs/{id}"), "outputs/out_1".to_owned(), format!("outputs/{}", id.to_uppercase())]
    {
        assert_eq!(world.get(&format!("/api/v1/{path}")).await.summary(), "404 output_not_found", "{path}");
    }
    for (path, answer) in [
        (format!("outputs/{id}"), "404 output_not_found"),
        (format!("sessions/{session}/outputs/{id}"), "404 session_not_found"),
    ] {
        let refused = world.call_as(bearer(&token), &format!("GET /api/v1/{path}"), None).await;
        assert_eq!(refused.summary(), answer, "{path}");
    }
    world.close().await;
}

/// The guide shows a file with what it was lent, and asks nobody.
#[tokio::test]
async fn the_guide_shows_a_file() {
    let world = World::open().await;
    world.engine.mount_at(server::mcp_url(world.address));
    let (session, cwd) = session_in(&world).await;
    fs::write(cwd.join("notes.txt"), "hello").unwrap();
    world.turn(&session, "show notes.txt").await;
    let entries = world.entries(&session).await;
    let kinds: Vec<_> = entries.iter().map(|entry| entry["type"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"output.stored") && !kinds.contains(&"permission.asked"), "{kinds:?}");
    let at = |kind: &str| kinds.iter().position(|other| *other == kind).unwrap();
    assert!(at("tool.started") < at("output.stored") && at("output.stored") < at("tool.ended"), "{kinds:?}");
    let markdown = world.get(&format!("/api/v1/sessions/{session}/markdown")).await.text();
    assert!(markdown.contains("notes.txt` *(file, 1 line, out_"), "{markdown}");
    world.close().await;
}

/// T33: a drawing with a script is a download, and a page's text is a text, by the route and by the ticket alike.
#[tokio::test]
async fn a_drawing_and_a_page_run_nothing() {
    const DRAWING: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>\n";
    const PAGE: &str = "<!doctype html><script>alert(1)</script>\n";
    let world = World::open().await;
    let (session, cwd, agent) = showing(&world).await;
    fs::write(cwd.join("a.svg"), DRAWING).unwrap();
    fs::write(cwd.join("a.html"), PAGE).unwrap();
    for (tool, path) in
        [("display_image", "a.svg"), ("render_file_contents", "a.svg"), ("render_file_contents", "a.html")]
    {
        let answer = agent.call(tool, json!({ "path": path })).await;
        assert!(answer.starts_with("[output:"), "{answer}");
    }
    let outputs = listed(&world, &session).await;
    let expected = [("attachment", "svg", DRAWING), ("inline", "txt", DRAWING), ("inline", "txt", PAGE)];
    for (output, (disposition, extension, text)) in outputs.iter().zip(expected) {
        let id = output["id"].as_str().unwrap();
        let route = format!("/api/v1/sessions/{session}/outputs/{id}");
        let ticket = world.call(&format!("POST {route}/ticket"), None).await.ok(201);
        for address in [route.as_str(), &format!("/api/v1/outputs/{id}"), ticket["url"].as_str().unwrap()] {
            let answer = world.get(address).await;
            assert_eq!((answer.status, answer.text().as_str()), (200, text), "{address}");
            let named = format!("{disposition}; filename=\"{id}.{extension}\"");
            let header = |name: &str| answer.header(name).unwrap_or_default().to_owned();
            assert!(header("content-disposition").starts_with(&named), "{}", header("content-disposition"));
            if disposition == "inline" {
                assert_eq!(header("content-type"), "text/plain; charset=utf-8");
            }
            assert_eq!(header("x-content-type-options"), "nosniff");
            let policy = "default-src 'none'; sandbox; frame-ancestors 'self'";
            assert_eq!(header("content-security-policy"), policy, "{address}");
        }
    }
    assert_eq!(outputs.len(), 3);
    world.close().await;
}
