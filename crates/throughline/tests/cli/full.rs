//! R17: a full disk is an error that passes, not damage and not the end.
//!
//! A limit on the size of files stands for the disk here, since it needs no rights; `cargo xtask faults` fills a real one.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::client::Client;
use crate::support::{DEADLINE, Folder, Running};

/// Room for a start and a few long prompts.
const ROOM_BYTES: u64 = 2_000_000;

/// What a server answers that takes no more.
const FULL: &str = "507 storage_full";

/// Sends prompts to the session, shorter and shorter, until not even the shortest is taken; gives those that were.
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

/// A server that is full, with a session in which a turn runs that has words to write, and one that was filled.
fn full(folder: &Folder) -> (Running, Client, String, String, Vec<String>) {
    let server = folder.serve_with_room_for(ROOM_BYTES);
    let client = Client::new(folder, &server);
    let (streams, filled) = (client.session(), client.session());
    client.until_entry(&filled, |entry| entry["data"]["state"] == "ready");
    // In the way of the prompts to come: they wait and are one write each.
    client.prompt(&filled, "first", "slow 3600").unwrap();
    assert_eq!(client.prompt(&streams, "words", "long 700").unwrap().status, 202);
    let taken = fill(&client, &filled);
    // The words that stream meanwhile meet the end of the room too.
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

    // Reads and replay go on, and hold what was taken and nothing that was refused.
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

    // There is room again: the same process takes writes, and no word of the turn that streamed was lost.
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
    // What was refused can be sent again, with the key it had.
    let again = client.prompt(&filled, "1-0", "1-0 x").unwrap();
    assert_eq!(again.status, 202, "{}", again.body);
    server.stop();
}

/// R28: also a server that has no room to write down how things ended stops in time and as asked; the next one says it.
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
