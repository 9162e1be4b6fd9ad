//! R17: a full disk is a temporary error, not damage and not the end.
//!
//! A limit on file sizes stands for the disk here, since it needs no privileges; `cargo xtask faults` fills a real
//! one.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::client::Client;
use crate::support::{DEADLINE, Folder, Running};

/// Room for a start and a few long prompts.
const ROOM_BYTES: u64 = 2_000_000;

/// The answer of a server that is full.
const FULL: &str = "507 storage_full";

/// Sends prompts to the session, shorter and shorter, until not even the shortest is accepted; returns the accepted
/// ones.
fn fill(client: &Client, session: &str) -> Vec<String> {
    let mut taken = Vec::new();
    for bytes in [200_000, 20_000, 2_000, 1] {
        for n in 0.. {
            assert!(n < 100, "there is room for everything");
            let text = format!("{bytes}-{n} {}", "x".repeat(bytes));
            let told = client.prompt(session, &format!("{bytes}-{n}"), &text).unwrap();
            if told.status == 202 {
                taken.push(text);
                continue;
            }
            assert_eq!(told.summary(), FULL);
            let message = told.body["error"]["message"].as_str().unwrap();
            assert!(message.contains("free some") && message.contains("send it again"), "{message}");
            break;
        }
    }
    assert!(!taken.is_empty(), "there is room for nothing");
    taken
}

/// A server that is full, with a session whose running turn has text to write, and one that was filled.
fn full(folder: &Folder) -> (Running, Client, String, String, Vec<String>) {
    let server = folder.serve_with_room_for(ROOM_BYTES);
    let client = Client::new(folder, &server);
    let (streams, filled) = (client.session(), client.session());
    client.until_entry(&filled, |entry| entry["data"]["state"] == "ready");
    // Blocks the following prompts: they wait and are one write each.
    client.prompt(&filled, "first", "slow 3600").unwrap();
    assert_eq!(client.prompt(&streams, "words", "long 700").unwrap().status, 202);
    let taken = fill(&client, &filled);
    // The streamed text meets the limit too.
    let started = Instant::now();
    while !folder.log().contains("could not write what the agent did") {
        assert!(started.elapsed() < DEADLINE, "{}", folder.log());
        assert_eq!(client.call("GET /healthz", None, &Value::Null).unwrap().status, 200);
    }
    (server, client, streams, filled, taken)
}

fn waiting(session: &Value) -> Vec<&str> {
    session["queue"].as_array().unwrap().iter().map(|prompt| prompt["text"].as_str().unwrap()).collect()
}

#[test]
fn a_full_disk_refuses_writes_keeps_reads_and_passes_without_a_restart() {
    let folder = Folder::new();
    let (server, client, streams, filled, taken) = full(&folder);

    // Reads and replay still work, and have what was accepted and nothing that was refused.
    let shown = client.get(&format!("/sessions/{filled}")).body;
    assert_eq!(waiting(&shown), taken);
    let mut follower = client.follow(&filled);
    while follower.next()["type"] != "caught_up" {}
    assert_eq!(client.get("/sessions").body["sessions"].as_array().unwrap().len(), 2);
    let rename = |name: &str| {
        let request = format!("PATCH /api/v1/sessions/{filled}");
        client.call(&request, None, &json!({ "name": name.repeat(60) })).unwrap().summary()
    };
    assert_eq!(rename("no"), FULL);

    // There is room again: the same process accepts writes, and no word of the streaming turn was lost.
    server.lift_limit();
    let ended = |entry: &Value| entry["type"] == "turn.ended";
    client.until_entry(&streams, ended);
    assert_eq!(rename("on"), "200");
    let entries = client.entries(&streams);
    let words: String = entries
        .iter()
        .filter(|entry| entry["type"] == "text.part")
        .map(|entry| entry["data"]["text"].as_str().unwrap())
        .collect();
    assert_eq!(words, (1..=700).map(|n| format!("word{n} ")).collect::<String>());
    let last_turn = entries.iter().rfind(|entry| ended(entry)).unwrap();
    assert_eq!(last_turn["data"]["outcome"], "completed");
    // A refused prompt can be sent again with the same key.
    let again = client.prompt(&filled, "1-0", "1-0 x").unwrap();
    assert_eq!(again.status, 202, "{}", again.body);
    server.stop();
}

/// R28: a server without room to record how things ended still stops in time; the next one records it.
#[test]
fn a_server_that_is_full_can_be_stopped() {
    let folder = Folder::new();
    let (server, _, streams, filled, taken) = full(&folder);
    let (status, took, _) = server.end(Signal::TERM);
    assert_eq!((status.code(), took < Duration::from_secs(10)), (Some(0), true), "{took:?}: {}", folder.log());

    let server = folder.serve();
    let client = Client::new(&folder, &server);
    let shown = client.get(&format!("/sessions/{filled}")).body;
    assert_eq!(
        (waiting(&shown), shown["state"].as_str()),
        (taken.iter().map(String::as_str).collect(), Some("interrupted"))
    );
    let last_turn = client.entries(&streams).into_iter().rfind(|entry| entry["type"] == "turn.ended").unwrap();
    assert_eq!(last_turn["data"]["outcome"], "interrupted");
    server.stop();
}
