//! Tests that words are found whatever the index is busy with.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Client;
use crate::support::{DEADLINE, Folder, until};

/// Longer than new text waits for a commit of the index.
const LONG_ENOUGH: Duration = Duration::from_millis(2_500);

#[test]
fn a_commit_of_the_index_that_never_ends_keeps_nothing_from_being_found() {
    let folder = Folder::new();
    let server = folder.serve_failing("index-commit=pause");
    let client = Client::new(&folder, &server);
    let session = client.session();
    let started = Instant::now();
    let mut renamed = 0;
    while started.elapsed() < LONG_ENOUGH {
        let name = format!("needle{renamed:04}x");
        let told = client.call(&format!("PATCH /api/v1/sessions/{session}"), None, &json!({ "name": name }));
        assert_eq!(told.unwrap().status, 200);
        let found = client.get(&format!("/search?q={name}"));
        assert_eq!(found.body["total"], 1, "{name}: {}", found.body);
        renamed += 1;
    }
}

/// Whatever an entry does to the index, the others are found, and what is not found is reported.
fn one_is_set_aside_and_the_rest_goes_on(points: &str) {
    let folder = Folder::new();
    let server = folder.serve_failing(points);
    let client = Client::new(&folder, &server);
    let session = client.session();
    let rename = |name: &str| {
        let told = client.call(&format!("PATCH /api/v1/sessions/{session}"), None, &json!({ "name": name }));
        assert_eq!(told.unwrap().status, 200);
    };
    (0..12).for_each(|n| rename(&format!("needle{n}x")));
    // While the index is reopened there is no answer.
    let started = Instant::now();
    let mut found = client.get("/search?q=needle11x");
    while found.body["total"] != 1 || found.body["notes"].is_null() {
        assert!(started.elapsed() < DEADLINE * 2, "{}\n{}", found.body, folder.log());
        found = client.get("/search?q=needle11x");
    }
    let note = "one entry could not be indexed and is not found; `throughline doctor` names it";
    assert_eq!(found.body["notes"], json!([note]));
    let lost = (0..12).filter(|n| client.get(&format!("/search?q=needle{n}x")).body["total"] == 0).count();
    assert!(lost <= 1, "{lost} are not found");
    assert!(folder.log().contains(&session) && folder.log().contains("is set aside"), "{}", folder.log());
    let metrics = server.ask("GET /metrics", &format!("Authorization: Bearer {}\r\n", client.token()), "");
    assert!(metrics.contains("search_entries_set_aside_total 1"), "{metrics}");
    // It is still known after a restart, until the index is rebuilt with it.
    server.stop();
    let doctor = folder.run(&["doctor"]).ok();
    assert!(doctor.contains("The search index lacks what it could not take") && doctor.contains(&session), "{doctor}");
    let server = folder.serve();
    let client = Client::new(&folder, &server);
    assert_eq!(client.get("/search?q=needle11x").body["notes"], json!([note]));
    server.stop();
    folder.run(&["doctor", "--rebuild-search"]).ok();
    let server = folder.serve();
    let client = Client::new(&folder, &server);
    let started = Instant::now();
    while !client.get("/search?q=needle11x").body["notes"].is_null() {
        assert!(started.elapsed() < DEADLINE * 2, "{}", folder.log());
    }
    server.stop();
    assert!(!folder.run(&["doctor"]).ok().contains("lacks"));
}

#[test]
fn an_entry_that_can_not_be_folded_keeps_no_other_from_being_found() {
    one_is_set_aside_and_the_rest_goes_on("index-fold=4*off->1*return->off");
}

#[test]
fn an_entry_that_breaks_the_index_is_found_out_and_keeps_no_other_from_being_found() {
    one_is_set_aside_and_the_rest_goes_on("index-add=2*off->2*return->off");
}

/// A file in the place of the index's folder, as a mistaken copy leaves it.
#[test]
fn an_index_that_can_not_be_opened_is_told_and_the_rest_goes_on() {
    let folder = Folder::new();
    folder.serve().stop();
    fs::remove_dir_all(folder.file("search")).unwrap();
    fs::write(folder.file("search"), "").unwrap();
    let server = folder.serve();
    let client = Client::new(&folder, &server);
    let session = client.session();
    let health = || client.call("GET /healthz", None, &Value::Null).unwrap().body;
    until(|| health().to_string(), || health()["status"] == "degraded");
    assert_eq!(health()["search"], "not available: its folder can not be used: entity already exists");
    let found = client.get("/search?q=anything");
    assert_eq!((found.status, &found.body["error"]["code"]), (503, &json!("search_unavailable")), "{}", found.body);
    let told = found.body["error"]["message"].as_str().unwrap();
    assert!(told.contains(folder.file("search").to_str().unwrap()), "{told}");
    let doctor = folder.run(&["doctor"]).ok();
    assert!(doctor.contains("Search: not available, the search folder"), "{doctor}");
    folder.run(&["send", &session, "say hello"]).ok();
    // Once the place is free, the index is made automatically.
    fs::remove_file(folder.file("search")).unwrap();
    until(|| health().to_string(), || health() == json!({ "status": "ok" }));
    assert_eq!(folder.log().matches("the search index can not be opened").count(), 1, "{}", folder.log());
    server.stop();
}
