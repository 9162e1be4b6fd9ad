//! Tests how much memory one long message, or many of them in a turn, cost the server.
//!
//! Invariant: no more than a few times their size, whatever reads them: the agent's line, the log, the index, the
//! copies, an import, a follower, and the next start. A server that needs more than its limit would end.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::client::Client;
use crate::hostile::world::example;
use crate::support::{DEADLINE, Folder, Running};

/// A chunk that still fits into an agent's line.
const LONG_BYTES: u64 = 14 << 20;
/// The memory of the index, however little text it gets.
const INDEXING_BYTES: u64 = 32 << 20;
/// The limit of the address space, with the stacks and arenas of all threads.
const WITHIN_BYTES: u64 = 1 << 30;

/// What may wait for an agent that does not read, with what is being made for it.
const UNREAD_BYTES: u64 = 200 << 20;

/// The id of the imported transcript.
const SOURCE: &str = "0190a8c0-0000-4000-8000-000000000001";

fn hostile() -> Folder {
    let folder = Folder::new();
    folder.configure(&format!("[agents.hostile]\ncommand = {:?}\n", example()));
    folder
}

/// Waits until a search finds so many turns, and everything is indexed.
fn until_found(client: &Client, word: &str, turns: u64) {
    let started = Instant::now();
    loop {
        let found = client.get(&format!("/search?q={word}"));
        assert!(started.elapsed() < DEADLINE * 10, "{word} is not found: {}", found.body);
        if found.status == 200 && found.body["total"] == turns && found.body["indexing"].is_null() {
            return;
        }
        std::thread::yield_now();
    }
}

/// Has the agent send text in a session of its own, and follows it to its end; returns how many bytes were sent.
fn say(folder: &Folder, client: &Client, words: &str) -> u64 {
    let body = json!({ "agent": "hostile", "cwd": folder.work() });
    let created = client.call("POST /api/v1/sessions", None, &body).unwrap();
    let session = created.body["id"].as_str().unwrap().to_owned();
    let mut follower = client.follow(&session);
    assert_eq!(client.prompt(&session, &session, words).unwrap().status, 202);
    let (asked_at, mut said) = (Instant::now(), 0);
    loop {
        let entry = follower.next()["entry"].take();
        assert!(asked_at.elapsed() < DEADLINE * 10, "{words} does not end");
        match entry["type"].as_str() {
            Some("text.part") => said += entry["data"]["text"].as_str().unwrap().len() as u64,
            Some("turn.ended") => return said,
            _ => (),
        }
    }
}

/// Starts again within the same limits, without an index, and finds the word again.
fn found_again(folder: &Folder, server: Running, word: &str) {
    server.stop();
    fs::remove_dir_all(folder.file("search")).unwrap();
    let server = folder.serve_within(WITHIN_BYTES);
    until_found(&Client::new(folder, &server), word, 1);
    server.stop();
}

#[test]
fn one_very_long_message_costs_a_few_times_its_size() {
    let folder = hostile();
    let server = folder.serve_within(WITHIN_BYTES);
    let client = Client::new(&folder, &server);
    say(&folder, &client, "long 1 1000");
    until_found(&client, "lastword", 1);
    let before = server.peak_bytes();
    assert_eq!(say(&folder, &client, &format!("long 1 {LONG_BYTES}")), LONG_BYTES);
    until_found(&client, "lastword", 2);
    let more = server.peak_bytes() - before;
    assert!(more <= 5 * LONG_BYTES + INDEXING_BYTES, "it took {} MiB more", more >> 20);
    server.stop();
}

#[test]
fn many_long_messages_in_a_turn_are_said_found_and_survive_a_start() {
    let folder = hostile();
    let server = folder.serve_within(WITHIN_BYTES);
    let client = Client::new(&folder, &server);
    assert_eq!(say(&folder, &client, "long 24 1000000"), 24_000_000);
    until_found(&client, "lastword", 1);
    found_again(&folder, server, "lastword");
}

/// An agent requests a long file sixty times and reads no answer: the waiting answers are bounded in bytes.
#[test]
fn answers_that_an_agent_leaves_unread_are_bounded_in_bytes() {
    let folder = hostile();
    folder.configure(&format!("[agents.hostile]\ncommand = {:?}\n[limits]\nagent_stop_seconds = 3\n", example()));
    let file = folder.work().join("long.txt");
    fs::write(&file, "y".repeat(7 << 20)).unwrap();
    let server = folder.serve();
    let client = Client::new(&folder, &server);
    say(&folder, &client, "hello");
    let before = server.peak_bytes();
    let body = json!({ "agent": "hostile", "cwd": folder.work() });
    let created = client.call("POST /api/v1/sessions", None, &body).unwrap();
    let session = created.body["id"].as_str().unwrap().to_owned();
    assert_eq!(client.prompt(&session, &session, &format!("hoard {}", file.display())).unwrap().status, 202);
    client.until_entry(&session, |entry| entry["type"] == "text.part");
    assert_eq!(client.call(&format!("POST /api/v1/sessions/{session}/cancel"), None, &json!({})).unwrap().status, 202);
    client.until_entry(&session, |entry| entry["type"] == "turn.ended");
    let more = server.peak_bytes() - before;
    assert!(more <= UNREAD_BYTES, "it took {} MiB more", more >> 20);
    server.stop();
}

/// A transcript as Claude Code writes it: a prompt, and answers of so many bytes each.
fn transcript(folder: &Folder, answers: usize, bytes: usize) {
    let project = folder.home().join(".claude/projects/-w");
    fs::create_dir_all(&project).unwrap();
    let mut file = BufWriter::new(fs::File::create(project.join(format!("{SOURCE}.jsonl"))).unwrap());
    let mut line = |kind: &str, n: usize, content: Value| {
        let message = json!({ "role": kind, "content": content });
        let record = json!({ "type": kind, "uuid": format!("u{n}"), "sessionId": SOURCE, "cwd": "/w", "version": "2.0.0",
            "timestamp": "2026-01-02T03:04:05.000Z", "message": message });
        writeln!(file, "{record}").unwrap();
    };
    line("user", 0, json!("say much"));
    for n in 1..=answers {
        let end = if n == answers { " lastword" } else { " more" };
        let words = "some words of a long answer\n".repeat(bytes / 28);
        line("assistant", n, json!([{ "type": "text", "text": words + end }]));
    }
    line("assistant", answers + 1, json!([{ "type": "text", "text": "x".repeat(17 << 20) }]));
    // Nobody writes it any more.
    let file = file.into_inner().unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_323_045)).unwrap();
}

#[test]
fn a_transcript_with_long_answers_is_brought_in_found_and_survives_a_start() {
    let folder = Folder::new();
    transcript(&folder, 24, 1_000_000);
    let server = folder.serve_within(WITHIN_BYTES);
    let client = Client::new(&folder, &server);
    assert_eq!(client.call("POST /api/v1/imports", None, &json!({})).unwrap().status, 202);
    until_found(&client, "lastword", 1);
    let started = Instant::now();
    let progress = loop {
        let imports = client.get("/imports").body;
        assert!(started.elapsed() < DEADLINE, "it does not end: {imports}");
        if imports["progress"]["running"] == false {
            break imports["progress"].clone();
        }
        std::thread::yield_now();
    };
    // What is too long to be read is left out and reported.
    assert_eq!((&progress["added"], &progress["failed"]), (&json!(1), &json!(0)), "{progress}");
    assert_eq!(progress["skipped"]["a record that is too long"], 1, "{progress}");
    found_again(&folder, server, "lastword");
}

/// A file of a bundle, as a tar file has it.
fn member(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut block = vec![0; 512];
    block[..name.len()].copy_from_slice(name.as_bytes());
    block[124..136].copy_from_slice(format!("{:011o}\0", bytes.len()).as_bytes());
    block[148..156].copy_from_slice(b"        ");
    block[156] = b'0';
    block[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block.extend(bytes);
    block.resize(block.len().next_multiple_of(512), 0);
    block
}

/// Decoded, such entries would have 24 and 80 times their size, and those of older versions are decoded twice.
#[test]
fn an_entry_of_a_bundle_that_is_all_values_costs_a_few_times_its_size() {
    let folder = Folder::new();
    let server = folder.serve();
    let bundle = folder.work().join("loom.tar");
    let path = bundle.to_str().unwrap();
    folder.run(&["new"]).ok();
    folder.run(&["export", "last", "--to", path]).ok();
    // The first file and what is about it.
    let header = fs::read(&bundle).unwrap()[..1_024].to_vec();
    let before = server.peak_bytes();
    for (value, version) in
        [("[]", model::EVENT_VERSION), ("[]", model::EVENT_VERSION - 1), (r#"{"":0}"#, model::EVENT_VERSION)]
    {
        let values = vec![value; usize::try_from(LONG_BYTES).unwrap() / (value.len() + 1)].join(",");
        let data = format!(r#"{{"message":[{values}]}}"#);
        let place = format!(r#""seq":1,"at":"2026-01-02T03:04:05.000Z","version":{version},"type":"agent.raw""#);
        let line = format!("{{{place},\"data\":{data}}}\n");
        fs::write(&bundle, [header.clone(), member("entries/000001.jsonl", line.as_bytes())].concat()).unwrap();
        let said = folder.run(&["import", path]).failed();
        assert!(said.contains("bytes of JSON values in one entry are more than is taken in"), "{said}");
    }
    let more = server.peak_bytes() - before;
    assert!(more <= 5 * LONG_BYTES, "it took {} MiB more", more >> 20);
    server.stop();
}

/// As many requests as one caller of each kind might begin, and their size.
const UNFINISHED: usize = 30;
const UNFINISHED_BYTES: usize = 11 << 20;

/// Begins a body and does not end it; a refusal comes while it is written.
fn unfinished(server: &Running, route: &str, credential: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let head = format!("POST {route} HTTP/1.1\r\nHost: {}\r\n{credential}", server.address());
    let kind = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunk = format!("{UNFINISHED_BYTES:x}\r\n\"{}", "x".repeat(UNFINISHED_BYTES - 1));
    stream.set_write_timeout(Some(DEADLINE)).unwrap();
    drop(stream.write_all((head + kind + &chunk).as_bytes()));
    stream
}

/// How much of an incomplete body is kept depends on who sends it, and is bounded.
#[test]
fn unfinished_bodies_hold_little_whoever_sends_them() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    let bearer = |arguments: &[&str]| {
        let issued: Value = serde_json::from_str(&folder.run(arguments).ok()).unwrap();
        format!("Authorization: Bearer {}\r\n", issued["secret"].as_str().unwrap())
    };
    let agent = bearer(&["token", "new", "robot", "--session", "last", "--json"]);
    let person = bearer(&["token", "new", "laptop", "--json"]);
    let session = Client::new(&folder, &server).get("/sessions").body["sessions"][0]["id"].clone();
    let prompts = format!("/api/v1/sessions/{}/prompts", session.as_str().unwrap());
    let before = server.peak_bytes();
    for (who, route, credential, most) in [
        ("strangers", "/api/v1/auth/exchange", "", 16 << 20),
        ("an agent", prompts.as_str(), agent.as_str(), 48 << 20),
        ("a person", prompts.as_str(), person.as_str(), 240 << 20),
    ] {
        let all: Vec<TcpStream> = (0..UNFINISHED).map(|_| unfinished(&server, route, credential)).collect();
        let more = server.peak_bytes() - before;
        assert!(more <= most, "{UNFINISHED} bodies of {who} took {} MiB more", more >> 20);
        // Another request of theirs is answered meanwhile.
        let health = server.ask("GET /healthz", "", "");
        assert!(health.starts_with("HTTP/1.1 200"), "{health}");
        drop(all);
    }
    server.stop();
}
