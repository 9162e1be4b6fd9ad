//! Tests failures in or around the server that must not end it: a log that can not be written, a part that panics, a
//! closed terminal.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use rustix::io::ioctl_fionbio;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::client::Client;
use crate::support::{Folder, Running, mode, until};

/// Panics at these points are faults of one thread, not crashes.
fn serve_panicking(folder: &Folder, points: &str) -> Running {
    folder.serve_failing(&format!("panics-unwind=off;{points}"))
}

/// A session whose agent has answered a prompt, with the answer stored.
fn answered(client: &Client, text: &str) -> String {
    let session = client.session();
    let told = client.prompt(&session, "first", text).unwrap();
    assert_eq!(told.status, 202, "{}", told.body);
    client.until_entry(&session, |entry| entry["type"] == "turn.ended");
    let entries = client.entries(&session);
    let ended = entries.iter().find(|entry| entry["type"] == "turn.ended").unwrap();
    assert_eq!(ended["data"]["outcome"], "completed", "{ended}");
    session
}

/// A session with a turn that runs until somebody ends it.
fn running(client: &Client) -> String {
    let session = client.session();
    assert_eq!(client.prompt(&session, "slow", "slow 600").unwrap().status, 202);
    client.until_entry(&session, |entry| entry["type"] == "turn.started");
    session
}

fn health(client: &Client) -> Value {
    client.call("GET /healthz", None, &Value::Null).unwrap().body["status"].clone()
}

/// A server that logs everything, to where it can not be written: agents and writes work, and it stops as asked.
fn serves_although_it_can_not_log(log: impl Into<Stdio>) {
    let folder = Folder::new().with_env("THROUGHLINE_LOG", "trace");
    let server = folder.serve_logging_to(log);
    let client = Client::new(&folder, &server);
    answered(&client, "long 200");
    assert_eq!(health(&client), "ok");
    let (status, _, _) = server.end(Signal::TERM);
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_log_on_a_full_disk_costs_log_lines_only() {
    serves_although_it_can_not_log(OpenOptions::new().write(true).open("/dev/full").unwrap());
}

#[test]
fn a_log_whose_reader_is_gone_costs_log_lines_only() {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    serves_although_it_can_not_log(writer);
}

#[test]
fn a_log_that_nobody_reads_holds_nobody_up() {
    let (mut reader, mut writer) = io::pipe().unwrap();
    ioctl_fionbio(&writer, true).unwrap();
    while writer.write(b"full").is_ok() {}
    ioctl_fionbio(&writer, false).unwrap();
    serves_although_it_can_not_log(writer);
    let mut log = String::new();
    reader.read_to_string(&mut log).unwrap();
    assert_eq!(log.replace("full", ""), "", "something else was written to a pipe that is full");
}

/// The store's writer is gone, so nothing can be stored any more: the server says so and exits with a failure.
#[test]
fn a_panic_of_the_stores_writer_ends_the_server_with_a_failure() {
    let folder = Folder::new();
    let server = serve_panicking(&folder, "store-commit=6*off->1*panic");
    let client = Client::new(&folder, &server);
    let mut taken = Vec::new();
    let session = client.session();
    let refused = loop {
        assert!(taken.len() < 40, "nothing fails");
        let key = format!("p{}", taken.len());
        match client.prompt(&session, &key, "slow 600") {
            Some(told) if told.status == 202 => taken.push(told.body["interactionId"].clone()),
            told => break told,
        }
    };
    let refused = refused.map_or_else(|| "gone".to_owned(), |told| told.summary());
    assert!(["503 storage_failed", "503 stopping", "gone"].contains(&refused.as_str()), "{refused}");
    assert_eq!(server.ended().code(), Some(1), "{}", folder.log());
    let log = folder.log();
    assert!(log.contains("error: the store can not be written any more"), "{log}");
    assert!(log.contains("because the writer panicked"), "{log}");

    let server = folder.serve();
    let kept = Client::new(&folder, &server).entries(&session);
    for id in taken {
        assert!(kept.iter().any(|entry| entry["data"]["interactionId"] == id), "{id} was acknowledged and is lost");
    }
    server.stop();
}

/// More queries than there are threads panic, and the next one is answered.
#[test]
fn a_panic_of_a_reader_fails_one_question() {
    let folder = Folder::new();
    let server = serve_panicking(&folder, "store-read=200*off->100*panic");
    let client = Client::new(&folder, &server);
    let session = client.session();
    let mut failed = 0;
    for _ in 0..400 {
        let told = client.get(&format!("/sessions/{session}"));
        match told.status {
            200 => (),
            500 | 503 => failed += 1,
            status => panic!("{status}: {}", told.body),
        }
    }
    assert!(failed > 20, "only {failed} questions failed");
    assert_eq!(client.get(&format!("/sessions/{session}")).status, 200);
    server.stop();
}

/// The session's task is gone with its agent: the turn is interrupted, and the session continues from its log.
#[test]
fn a_panic_of_a_sessions_task_interrupts_its_turn_and_no_more() {
    let folder = Folder::new();
    let server = serve_panicking(&folder, "session-input=2*off->1*panic");
    let client = Client::new(&folder, &server);
    let session = running(&client);
    let rename = |name: &str| {
        let request = format!("PATCH /api/v1/sessions/{session}");
        client.call(&request, None, &json!({ "name": name })).unwrap().summary()
    };
    assert_eq!(rename("one"), "500 internal");
    client.until_entry(&session, |entry| entry["type"] == "turn.ended");
    let entries = client.entries(&session);
    let ended = entries.iter().find(|entry| entry["type"] == "turn.ended").unwrap();
    assert_eq!(
        (&ended["data"]["outcome"], &ended["data"]["reason"]),
        (&json!("interrupted"), &json!("internal_error"))
    );
    assert_eq!(rename("two"), "200");
    assert_eq!(client.prompt(&session, "again", "say hello").unwrap().status, 202);
    client.until_entry(&session, |entry| entry["type"] == "turn.ended" && entry["data"]["outcome"] == "completed");
    server.stop();
}

/// Each part restarts by itself, the server reports meanwhile that it is degraded, and nothing is missing in the end.
#[test]
fn a_part_that_panics_starts_again() {
    for (part, point) in [
        ("housekeeping", "housekeeping"),
        ("copies", "copies-round"),
        ("summaries", "summaries"),
        ("search", "search-follow"),
    ] {
        let folder = Folder::new();
        let server = serve_panicking(&folder, &format!("{point}=2*panic"));
        let client = Client::new(&folder, &server);
        let session = answered(&client, "say marmalade");
        until(
            || format!("{part} did not panic twice: {}", folder.log()),
            || folder.log().matches(&format!("starts again after a pause part=\"{part}\"")).count() == 2,
        );
        assert_eq!(health(&client), "degraded", "{part}");
        until(
            || format!("nothing is found after {part}"),
            || {
                let found = client.get("/search?q=marmalade");
                found.body["results"].as_array().is_some_and(|found| !found.is_empty())
            },
        );
        until(
            || format!("there is no copy after {part}"),
            || folder.file("sessions").join(&session).join("transcript.jsonl").exists(),
        );
        server.stop();
    }
}

/// Closing the terminal is a usual end, as SIGTERM is.
#[test]
fn a_closed_terminal_settles_the_server() {
    let folder = Folder::new();
    let server = folder.serve();
    let client = Client::new(&folder, &server);
    let session = running(&client);
    let (status, _, _) = server.end(Signal::HUP);
    assert_eq!(status.code(), Some(0), "{}", folder.log());
    assert!(!folder.file("server.json").exists());
    let server = folder.serve();
    let entries = Client::new(&folder, &server).entries(&session);
    let ended = entries.iter().find(|entry| entry["type"] == "turn.ended").unwrap();
    assert_eq!(ended["data"]["reason"], "server_shutdown", "{ended}");
    server.stop();
}

#[test]
fn a_server_under_nohup_outlives_its_terminal() {
    let folder = Folder::new();
    let server = folder.serve_ignoring_hang_up();
    server.signal(Signal::HUP);
    answered(&Client::new(&folder, &server), "say still here");
    server.stop();
}

/// Clients without a credential take all the connections that there are: agents still start, and their text is found.
#[test]
fn a_flood_of_connections_leaves_room_for_agents_and_search() {
    let folder = Folder::new();
    let server = folder.serve_with_open_files(1_000);
    let limits = fs::read_to_string(format!("/proc/{}/limits", server.pid())).unwrap();
    let open_files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_eq!(open_files.split_whitespace().nth(3), Some("1000"), "it was not raised: {open_files}");
    let flood: Vec<_> = (0..900).map(|_| TcpStream::connect(server.address())).collect();
    assert!(flood.iter().filter(|stream| stream.is_ok()).count() > 500, "there was no flood");
    folder.run(&["new"]).ok();
    assert!(folder.run(&["send", "last", "say marmalade"]).ok().contains("marmalade"));
    assert!(folder.run(&["search", "marmalade"]).ok().contains("marmalade"));
    drop(flood);
    server.stop();
}

/// Whatever the umask is, others have no permission on anything in the folder.
#[test]
fn nothing_in_the_folder_is_open_to_others_whatever_the_mask() {
    let folder = Folder::new();
    let server = folder.serve_without_umask();
    let session = answered(&Client::new(&folder, &server), "say marmalade");
    until(
        || "there is no copy".to_owned(),
        || folder.file("sessions").join(&session).join("transcript.jsonl").exists(),
    );
    folder.run(&["search", "marmalade"]).ok();
    server.stop();
    let mut folders = vec![folder.data()];
    let mut seen = 0;
    while let Some(path) = folders.pop() {
        for entry in fs::read_dir(&path).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
            if path.is_dir() {
                folders.push(path);
            }
            seen += 1;
        }
    }
    assert!(seen > 15, "only {seen} files were looked at");
}
