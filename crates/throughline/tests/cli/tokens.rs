//! Tests `throughline token`: who may come in, and who no longer.

use std::fs;

use serde_json::Value;

use crate::support::{Folder, mode};
use crate::terminal::Terminal;

#[test]
fn a_link_signs_one_browser_in_once() {
    let folder = Folder::new();
    insta::assert_snapshot!(folder.run(&["token", "link"]).failed(), @"error: no server is running to sign in to; start one with `throughline`");
    let server = folder.serve();
    let link = folder.run(&["token", "link"]).ok();
    let (url, code) = link.trim_end().split_once("/#code=").unwrap();
    assert_eq!(url, server.url);
    for (code, expected) in [(code, "200"), (code, "401"), (server.code(), "200"), (server.code(), "401")] {
        let answer = server.ask("POST /api/v1/auth/exchange", "", &format!("{{\"code\":\"{code}\"}}"));
        assert_eq!(answer.split(' ').nth(1), Some(expected), "{answer}");
    }
    server.stop();
}

#[test]
fn rotating_writes_a_new_token_file_that_only_its_owner_reads() {
    for with_server in [true, false] {
        let folder = Folder::new();
        let server = folder.serve();
        let token = || fs::read_to_string(folder.file("token")).unwrap();
        let first = token();
        let server = if with_server {
            server
        } else {
            server.stop();
            let said = folder.run(&["token", "rotate"]).ok();
            insta::assert_snapshot!(folder.named(&said), @r"
            Every credential has ended. The new token is in DATA/token.
            `throughline token link` signs a browser in again.
            ");
            folder.serve()
        };
        if with_server {
            folder.run(&["token", "rotate"]).ok();
        }
        assert_ne!(token(), first);
        assert_eq!(mode(&folder.file("token")), 0o600);
        assert_eq!((server.status(&first), server.status(&token())), ("401".to_owned(), "200".to_owned()));
        server.stop();
    }
}

#[test]
fn whoever_sits_there_is_asked_before_every_device_is_cut_off() {
    let folder = Folder::new();
    folder.serve().stop();
    let token = || fs::read_to_string(folder.file("token")).unwrap();
    let first = token();
    let mut terminal = Terminal::begin(&folder, &["token", "rotate"]);
    terminal.until("End every credential? Each browser, phone and program has to be signed in again. [y/N] ");
    terminal.type_line("");
    let (status, said) = terminal.ended();
    assert!(!status.success() && said.contains("error: nothing was changed"), "{said}");
    assert_eq!(token(), first);
    for answer in [Some("y"), None] {
        let before = token();
        let yes: &[&str] = if answer.is_some() { &[] } else { &["--yes"] };
        let mut terminal = Terminal::begin(&folder, &[&["token", "rotate"], yes].concat());
        if let Some(answer) = answer {
            terminal.until("[y/N] ");
            terminal.type_line(answer);
        }
        let (status, said) = terminal.ended();
        assert!(status.success() && said.contains("Every credential has ended."), "{said}");
        assert_ne!(token(), before);
    }
}

#[test]
fn every_answer_can_be_had_as_json() {
    let folder = Folder::new();
    let server = folder.serve();
    let json = |arguments: &[&str]| -> Value { serde_json::from_str(&folder.run(arguments).ok()).unwrap() };
    assert!(json(&["token", "link", "--json"])["url"].as_str().unwrap().starts_with(&server.url));
    let issued = json(&["token", "new", "laptop", "--json"]);
    assert_eq!(server.status(issued["secret"].as_str().unwrap()), "200");
    let id = issued["token"]["id"].as_str().unwrap();
    assert_eq!(json(&["token", "revoke", id, "--json"]), serde_json::json!({ "success": true }));
    assert_eq!(json(&["token", "rotate", "--json"])["name"], "token file");
    assert_eq!(json(&["config", "show", "--json"])["server"]["listen"], "127.0.0.1:7417");
    server.stop();
}

/// The token stays the same over restarts, so that programs keep theirs.
#[test]
fn the_token_file_outlives_the_server() {
    let folder = Folder::new();
    folder.serve().stop();
    let first = fs::read_to_string(folder.file("token")).unwrap();
    let server = folder.serve();
    assert_eq!(fs::read_to_string(folder.file("token")).unwrap(), first);
    assert_eq!(server.status(&first), "200");
    server.stop();
    fs::write(folder.file("token"), "not one of ours").unwrap();
    let server = folder.serve();
    assert_eq!(server.status(&fs::read_to_string(folder.file("token")).unwrap()), "200");
    server.stop();
}

#[test]
fn credentials_are_made_listed_and_ended() {
    let folder = Folder::new();
    let server = folder.serve();
    let secret = folder.run(&["token", "new", "laptop"]).ok();
    let secret = secret.trim_end();
    assert_eq!(server.status(secret), "200");
    let list: Value = serde_json::from_str(&folder.run(&["token", "list", "--json"]).ok()).unwrap();
    let names: Vec<&str> =
        list["tokens"].as_array().unwrap().iter().map(|token| token["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["token file", "laptop"]);
    let shown = folder.run(&["token", "list"]).ok();
    assert!(shown.starts_with("ID ") && shown.contains("laptop") && !shown.contains(secret), "{shown}");
    let id = list["tokens"][1]["id"].as_str().unwrap();
    assert_eq!(folder.run(&["token", "revoke", id]).ok(), "It opens nothing any more.\n");
    assert_eq!(server.status(secret), "401");
    assert!(folder.run(&["token", "revoke", id]).failed().contains("(token_not_found)"));
    server.stop();
}
