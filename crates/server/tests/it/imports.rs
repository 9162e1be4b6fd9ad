//! Other tools' records become sessions: read-only, searched, brought in once, taken over by an agent.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use crate::support::World;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/history")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

async fn import(world: &World) -> Value {
    world.call("POST /api/v1/imports", json!({})).await.ok(202);
    loop {
        let imports = world.get("/api/v1/imports").await.ok(200);
        if imports["progress"]["running"] == json!(false) {
            return imports["progress"].clone();
        }
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn transcripts_are_brought_in_once_found_read_and_continued() {
    let world = World::on_disk().await;
    let home = world.directory.path().join("home");
    assert_eq!(world.get("/api/v1/imports").await.ok(200)["sources"], json!([]));
    copy(&fixtures().join("claude/projects"), &home.join(".claude/projects"));
    copy(&fixtures().join("codex"), &home.join(".codex"));
    let before = listing(&home);
    let sources = world.get("/api/v1/imports").await.ok(200)["sources"].clone();
    let tools: Vec<&str> = sources.as_array().unwrap().iter().map(|source| source["tool"].as_str().unwrap()).collect();
    assert_eq!(tools, ["claude", "codex"]);
    assert!(sources.as_array().unwrap().iter().all(|source| source["known"] == 0), "{sources}");

    let first = import(&world).await;
    let added = first["added"].as_u64().unwrap();
    assert!(added >= 3 && first["turns"].as_u64() >= Some(added), "{first}");
    assert_eq!((&first["failed"], &first["updated"]), (&json!(0), &json!(0)), "{first}");
    assert_eq!(listing(&home), before, "nothing of theirs is changed");

    let sessions = world.get("/api/v1/sessions").await.ok(200)["sessions"].clone();
    let sessions = sessions.as_array().unwrap();
    assert_eq!(sessions.len() as u64, added);
    assert!(
        sessions.iter().all(|row| row["readOnly"] == "imported" && row["unobserved"] == json!(false)),
        "{sessions:?}"
    );
    let claude = sessions.iter().find(|row| row["agent"] == "claude").unwrap();
    let id = claude["id"].as_str().unwrap();
    let toc = world.get(&format!("/api/v1/sessions/{id}/toc")).await.ok(200);
    let line = toc["entries"][0]["summary"].as_str().unwrap();
    assert!(!line.is_empty());
    let prompt = world.get(&format!("/api/v1/sessions/{id}/turns/1")).await.ok(200)["interaction"]["prompt"].clone();
    let word = prompt.as_str().unwrap().split_whitespace().max_by_key(|word| word.len()).unwrap();
    let page = world.get(&format!("/api/v1/search?q=agent:claude%20{word}")).await.ok(200);
    assert!(page["results"].as_array().unwrap().iter().any(|hit| hit["session_id"] == id), "{word}: {page}");

    // Again: nothing new, in this life and the next.
    let again = import(&world).await;
    assert_eq!((&again["added"], &again["turns"]), (&json!(0), &json!(0)), "{again}");
    let world = world.restart().await;
    let sources = world.get("/api/v1/imports").await.ok(200)["sources"].clone();
    assert!(sources.as_array().unwrap().iter().all(|source| source["known"] == source["sessions"]), "{sources}");
    let again = import(&world).await;
    assert_eq!(
        (&again["added"], &again["updated"], &again["unchanged"]),
        (&json!(0), &json!(0), &json!(added)),
        "{again}"
    );

    // It takes no prompts until an agent takes it over; from then on it is left alone.
    let refused = world.call(&format!("POST /api/v1/sessions/{id}/prompts"), json!({ "text": "go on" })).await;
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (409, &json!("session_imported")));
    let resumed = world.call(&format!("POST /api/v1/sessions/{id}/resume"), json!({ "agent": "guide" })).await;
    assert!(resumed.status < 300, "{}", resumed.text());
    world.turn(id, "say we go on").await;
    let shown = world.get(&format!("/api/v1/sessions/{id}")).await.ok(200);
    assert_eq!((&shown["readOnly"], &shown["agent"]), (&Value::Null, &json!("guide")));
    let entries = world.entries(id).await;
    assert!(entries.iter().any(|entry| entry["type"] == "resume.sent"), "the agent is told of the earlier turns");
    let other = sessions.iter().find(|row| row["id"] != id).unwrap()["id"].as_str().unwrap();
    assert_eq!(world.call(&format!("DELETE /api/v1/sessions/{other}?now=true"), None).await.status, 204);
    let world = world.restart().await;
    let later = import(&world).await;
    let left = later["leftAlone"].as_u64().unwrap();
    assert_eq!((&later["added"], left >= 2), (&json!(0), true), "{later}");
    world.close().await;
}

#[tokio::test]
async fn torn_huge_and_foreign_files_are_survived() {
    let world = World::open().await;
    let folder = world.directory.path().join("home/.claude/projects/-lab");
    fs::create_dir_all(&folder).unwrap();
    let whole = fs::read(fixtures().join("claude/projects/-lab/9bf7a1e5-6ce6-452b-a8f6-5a3bacacc4ed.jsonl")).unwrap();
    fs::write(folder.join("9bf7a1e5-6ce6-452b-a8f6-5a3bacacc4ed.jsonl"), &whole[..whole.len() - 40]).unwrap();
    fs::write(folder.join("00000000-0000-4000-8000-000000000001.jsonl"), [0x89, b'P', b'N', b'G', 0, 0xff, 0xfe])
        .unwrap();
    fs::write(folder.join("00000000-0000-4000-8000-000000000002.jsonl"), vec![b'x'; 20 << 20]).unwrap();
    fs::write(folder.join("00000000-0000-4000-8000-000000000003.jsonl"), b"").unwrap();
    fs::write(folder.join("00000000-0000-4000-8000-000000000004.jsonl"), b"{}\n[]\nnull\n\"x\"\n{\"type\":\"user\"}\n")
        .unwrap();
    let progress = import(&world).await;
    assert_eq!(progress["done"], progress["total"], "{progress}");
    assert!(progress["added"].as_u64() <= Some(1), "{progress}");
    world.close().await;
}

#[tokio::test]
async fn every_one_of_many_conversations_is_found_at_once_and_after_a_restart() {
    const MANY: usize = 120;
    let world = World::on_disk().await;
    let folder = world.directory.path().join("home/.claude/projects/-flood");
    fs::create_dir_all(&folder).unwrap();
    for number in 0..MANY {
        let id = format!("00000000-0000-4000-8000-{number:012x}");
        let record = |kind: &str, message: Value| {
            json!({
                "parentUuid": null, "isSidechain": false, "type": kind, "message": message, "uuid": format!("{kind}{id}"),
                "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/flood", "sessionId": id, "version": "2.1.312",
            })
        };
        let asked = record("user", json!({ "role": "user", "content": format!("Where is heron{number:03}?") }));
        let told = json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
            "content": [{ "type": "text", "text": "By the lake." }], "usage": { "input_tokens": 1, "output_tokens": 1 },
        });
        let lines = format!("{asked}\n{}\n", record("assistant", told));
        fs::write(folder.join(format!("{id}.jsonl")), lines).unwrap();
    }
    let progress = import(&world).await;
    assert_eq!((&progress["added"], &progress["turns"]), (&json!(MANY), &json!(MANY)), "{progress}");
    let all_are_found = async |world: &World| {
        for number in 0..MANY {
            let page = loop {
                let page = world.get(&format!("/api/v1/search?q=heron{number:03}")).await.ok(200);
                if page["indexing"].is_null() {
                    break page;
                }
            };
            assert_eq!(page["results"].as_array().unwrap().len(), 1, "{number}: {page}");
        }
    };
    all_are_found(&world).await;
    let world = world.restart().await;
    all_are_found(&world).await;
}

#[tokio::test]
async fn unknown_tools_are_refused_by_name() {
    let world = World::open().await;
    let refused = world.call("POST /api/v1/imports", json!({ "tools": ["clippy"] })).await;
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("clippy") && refused.text().contains("claude, codex"), "{}", refused.text());
    world.close().await;
}

/// Every file below, with its bytes.
fn listing(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            files.extend(listing(&entry.path()));
        } else {
            files.push((entry.path(), fs::read(entry.path()).unwrap()));
        }
    }
    files.sort();
    files
}
