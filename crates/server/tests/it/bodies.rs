//! `/sessions/{id}/bodies`, and everything that needs all of what is too long for an entry: search, changes, turns, Markdown.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::client::bearer;
use crate::support::{World, within};

/// A session in a directory of its own.
async fn session_in(world: &World, name: &str) -> (String, PathBuf) {
    let cwd = world.directory.path().canonicalize().unwrap().join(name);
    fs::create_dir_all(&cwd).unwrap();
    let created = world.call("POST /api/v1/sessions", json!({ "agent": "guide", "cwd": cwd })).await.ok(201);
    let id = created["id"].as_str().unwrap().to_owned();
    world.until_entry(&id, |entry| entry["type"] == "agent.commands_changed").await;
    (id, cwd)
}

/// 195 lines of 320 bytes; the last but one has a word of its own.
fn long_text() -> String {
    let mut lines: Vec<String> = (1..=195).map(|n| format!("line{n} {}", "abcde ".repeat(52))).collect();
    lines[193].push_str("kingfisher");
    lines.join("\n")
}

fn ended(entries: &[Value]) -> &Value {
    entries.iter().find(|entry| entry["type"] == "tool.ended").unwrap()
}

async fn until_found(world: &World, word: &str, expected: &str) {
    within("what was searched for", async {
        loop {
            let answer = world.get(&format!("/api/v1/search?q={word}")).await;
            let page = if answer.status == 200 { answer.ok(200) } else { json!({ "results": [] }) };
            let snippet = page["results"][0]["snippet"].to_string();
            if page["results"][0]["session_id"] == expected && snippet.contains(word) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_long_result_is_beside_the_log_and_found_by_its_last_words() {
    let world = World::on_disk().await;
    let (session, cwd) = session_in(&world, "work").await;
    let text = long_text();
    fs::write(cwd.join("long.txt"), &text).unwrap();
    world.turn(&session, "read long.txt").await;
    let entries = world.entries(&session).await;
    assert!(entries.iter().all(|entry| entry.to_string().len() < 10_000));
    let data = &ended(&entries)["data"];
    let head = data["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with(head) && head.len() == 4096, "{}", head.len());
    let body = &data["bodies"][0];
    assert_eq!((&body["head"], &body["bytes"]), (&json!(4096), &json!(text.len())));
    let hash = body["sha256"].as_str().unwrap().to_owned();
    until_found(&world, "kingfisher", &session).await;
    let inside = world.get(&format!("/api/v1/sessions/{session}/search?q=kingfisher")).await.ok(200);
    assert_eq!(inside["entries"].as_array().unwrap().len(), 1, "{inside}");

    // After a restart, and with an index that is made anew.
    let index = world.directory.path().join("search");
    let world = world.restart_between(|| fs::remove_dir_all(&index).unwrap()).await;
    until_found(&world, "kingfisher", &session).await;

    // It is data to a browser.
    let path = format!("/api/v1/sessions/{session}/bodies/{hash}");
    let whole = world.get(&path).await;
    assert_eq!((whole.status, whole.text()), (200, text.clone()));
    assert_eq!(whole.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(whole.header("x-content-type-options"), Some("nosniff"));
    assert!(whole.header("content-security-policy").unwrap().contains("sandbox"));
    let lines = world.bearer().into_iter().chain([("range", "bytes=7-9".to_owned())]).collect();
    let some = world.call_as(lines, &format!("GET {path}"), None).await;
    assert_eq!((some.status, some.text().as_str()), (206, &text[7..10]));

    // Nobody else has it, and nothing else is found there.
    let (other, _) = session_in(&world, "other").await;
    for elsewhere in [
        format!("/api/v1/sessions/{other}/bodies/{hash}"),
        format!("{path}0"),
        path.replace(&hash, &hash.to_uppercase()),
    ] {
        assert_eq!(world.get(&elsewhere).await.summary(), "404 body_not_found", "{elsewhere}");
    }
    let agent = world.agent_token(&other).await;
    assert_eq!(world.call_as(bearer(&agent), &format!("GET {path}"), None).await.status, 404);

    // Whoever reads the turn or keeps it gets all.
    let turn = world.get(&format!("/api/v1/sessions/{session}/turns/1")).await.ok(200);
    let output = turn["interaction"]["tools"][0]["output"].as_str().unwrap_or_else(|| panic!("{turn}")).to_owned();
    assert!(
        output.contains("characters are left out")
            && output.trim_end().ends_with(text.lines().last().unwrap().trim_end()),
        "{output}"
    );

    // Its file is edited, then removed; the session goes on.
    let file = world.directory.path().join("sessions").join(&session).join("bodies").join(&hash);
    fs::write(&file, "something else").unwrap();
    assert_eq!(world.get(&path).await.summary(), "410 body_changed");
    fs::remove_file(&file).unwrap();
    assert_eq!(world.get(&path).await.summary(), "410 body_gone");
    let turn = world.get(&format!("/api/v1/sessions/{session}/turns/1")).await.ok(200);
    assert!(turn.to_string().contains("more bytes are gone"), "{turn}");
    let markdown = world.get(&format!("/api/v1/sessions/{session}/markdown")).await;
    assert_eq!(markdown.status, 200);
    world.turn(&session, "say on").await;
    world.close().await;
}

#[tokio::test]
async fn the_change_of_a_long_file_is_compared_line_by_line() {
    let world = World::on_disk().await;
    let (session, cwd) = session_in(&world, "work").await;
    let before: String = (1..=5_000).map(|n| format!("line {n} of the loom\n")).collect();
    let after = before.replace("line 4000 of the loom", "line 4000 of the kingfisher");
    world.turn(&session, &format!("write loom.txt {before}")).await;
    world.turn(&session, &format!("write loom.txt {after}")).await;
    let entries = world.entries(&session).await;
    let calls = entries.iter().filter(|entry| entry["type"].as_str().unwrap().starts_with("tool."));
    assert!(calls.into_iter().all(|entry| entry.to_string().len() < 20_000));
    let path = cwd.join("loom.txt");
    let diff = world.get(&format!("/api/v1/sessions/{session}/changes/file?path={}&since=t2", path.display())).await;
    let diff = diff.ok(200);
    let lines = diff["hunks"][0]["lines"].to_string();
    assert!(lines.contains("line 4000 of the kingfisher") && lines.contains("line 4000 of the loom"), "{diff}");
    assert_eq!(diff["file"]["lines"], json!({ "added": 1, "removed": 1 }), "{diff}");
    let markdown = world.get(&format!("/api/v1/sessions/{session}/markdown")).await.text();
    assert!(markdown.contains("+line 4000 of the kingfisher"), "{}", markdown.len());
    until_found(&world, "kingfisher", &session).await;
    world.close().await;
}

#[tokio::test]
async fn a_prompts_picture_is_read_by_itself_and_nobody_names_one() {
    let world = World::on_disk().await;
    let (session, _) = session_in(&world, "work").await;
    let png: Vec<u8> = b"\x89PNG\r\n\x1a\n".iter().copied().chain((0..200_000_u32).map(|n| (n % 251) as u8)).collect();
    let image = json!({ "mimeType": "image/png", "data": BASE64_STANDARD.encode(&png) });
    let prompts = format!("POST /api/v1/sessions/{session}/prompts");
    world.call(&prompts, json!({ "text": "look", "images": [image] })).await.ok(202);
    world.until_entry(&session, |entry| entry["type"] == "turn.ended").await;
    let entries = world.entries(&session).await;
    let sent = entries.iter().find(|entry| entry["type"] == "prompt.sent").unwrap();
    let kept = &sent["data"]["images"][0];
    assert_eq!((&kept["data"], &kept["body"]["bytes"]), (&json!(""), &json!(png.len())));
    let answer = entries
        .iter()
        .filter(|entry| entry["type"] == "text.part")
        .map(|entry| entry["data"]["text"].as_str().unwrap());
    assert!(answer.collect::<String>().contains(&format!("image/png, {} bytes", png.len())));
    let hash = kept["body"]["sha256"].as_str().unwrap();
    let shown = world.get(&format!("/api/v1/sessions/{session}/bodies/{hash}")).await;
    assert_eq!((shown.header("content-type"), shown.body.as_ref()), (Some("image/png"), png.as_slice()));
    // A caller sends data, and refers to nothing.
    let named = world.call(&prompts, json!({ "text": "look", "images": [kept] })).await;
    assert_eq!(named.status, 400, "{}", named.text());
    world.close().await;
}
