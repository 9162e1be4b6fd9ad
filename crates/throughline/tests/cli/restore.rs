//! Tests `backup`, `export` and `restore` on a real server's store; R08: cursors from before a restore are
//! recognised.

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, Message};

use crate::support::{DEADLINE, Folder, Running, mode};

/// Entries of a session after a cursor, from the real server.
fn entries(folder: &Folder, server: &Running, session: &str, after: &str) -> (String, Value) {
    let token = fs::read_to_string(folder.file("token")).unwrap();
    let answer = server.ask(
        &format!("GET /api/v1/sessions/{session}/entries?limit=3{after}"),
        &format!("Authorization: Bearer {token}\r\n"),
        "",
    );
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().to_owned(), serde_json::from_str(body).unwrap())
}

/// The live socket's answer to a follow from a cursor, after its own list.
fn follow(folder: &Folder, server: &Running, session: &str, cursor: &str) -> Value {
    let token = fs::read_to_string(folder.file("token")).unwrap();
    let mut request = format!("ws://{}/api/v1/live", server.address()).into_client_request().unwrap();
    request.headers_mut().insert("Authorization", format!("Bearer {token}").parse().unwrap());
    let stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let (mut socket, _) = tungstenite::client(request, stream).unwrap();
    let ask = json!({ "type": "follow", "id": "1", "session": session, "after": cursor });
    socket.send(Message::text(ask.to_string())).unwrap();
    loop {
        // The first ping may come before the answer.
        let Message::Text(frame) = socket.read().unwrap() else { continue };
        let frame: Value = serde_json::from_str(&frame).unwrap();
        assert!(frame["type"] != "entry" && frame["type"] != "error", "{frame}");
        if frame["type"] == "reset" {
            return frame;
        }
    }
}

fn new_session(folder: &Folder) -> String {
    let new: Value = serde_json::from_str(&folder.run(&["new", "--json"]).ok()).unwrap();
    new["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_backup_beside_a_running_server_comes_back() {
    let folder = Folder::new();
    folder.configure("# mine\n");
    let server = folder.serve();
    let session = new_session(&folder);
    folder.run(&["send", "last", "say kept"]).ok();
    let said = folder.run(&["backup", "kept/"]).ok();
    let (counts, said) = said.split_once(", are").unwrap();
    assert!(counts.contains(" entries, ") && counts.ends_with(" KiB"), "{counts}");
    insta::assert_snapshot!(folder.named(said), @"
     in WORK/kept
    `throughline restore WORK/kept` brings them back.
    ");
    let kept = folder.work().join("kept");
    let mut names: Vec<_> = fs::read_dir(&kept).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(
        (names, mode(&kept)),
        (["backup.json", "config.toml", "files", "throughline.db"].map(Into::into).to_vec(), 0o700)
    );
    folder.run(&["send", "last", "say lost"]).ok();
    let (_, page) = entries(&folder, &server, &session, "");
    let cursor = page["nextCursor"].as_str().unwrap();
    assert_eq!(entries(&folder, &server, &session, &format!("&after={cursor}")).0, "200");

    let said = folder.run(&["restore", "kept", "--replace"]).failed();
    assert!(said.contains(&format!("(pid {}); stop it first", server.pid())), "{said}");
    server.stop();
    let said = folder.run(&["restore", "kept"]).failed();
    assert!(said.contains("--replace moves it aside and removes nothing"), "{said}");
    let said = folder.run(&["restore", "kept", "--replace"]).ok();
    let aside = fs::read_dir(folder.data()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let aside = aside.into_iter().find(|name| name.starts_with("throughline.db.before-")).unwrap();
    assert!(said.contains(&aside), "{said}");
    assert_eq!(mode(&folder.file("throughline.db")), 0o600);

    let server = folder.serve();
    let shown = folder.run(&["show", &session]).ok();
    assert!(shown.contains("say kept") && !shown.contains("say lost"), "{shown}");
    // The seqs are used again for other text: the old cursor must not be answered with it.
    folder.run(&["send", "last", "say other"]).ok();
    let (status, body) = entries(&folder, &server, &session, &format!("&after={cursor}"));
    assert_eq!((status.as_str(), &body["error"]["code"]), ("409", &"cursor_reset".into()));
    assert_eq!(follow(&folder, &server, &session, cursor)["reason"], "other_incarnation");
    server.stop();
}

/// The person's own files and applets are no entries, and come back all the same, where nothing is in their place.
#[test]
fn a_backup_brings_the_persons_own_folders_back() {
    let folder = Folder::new();
    new_session(&folder);
    let state = folder.file("applets").join("board").join("state.json");
    fs::create_dir_all(state.parent().unwrap()).unwrap();
    fs::write(&state, "{\"n\":1}").unwrap();
    folder.run(&["backup", "kept"]).ok();
    fs::write(&state, "{\"n\":2}").unwrap();
    folder.run(&["restore", "kept", "--replace"]).ok();
    assert_eq!(fs::read_to_string(&state).unwrap(), "{\"n\":2}", "what is there stays");
    fs::remove_dir_all(folder.file("applets")).unwrap();
    let said = folder.run(&["restore", "kept", "--replace"]).ok();
    assert!(said.contains("/applets was put back with them."), "{said}");
    assert_eq!(fs::read_to_string(&state).unwrap(), "{\"n\":1}");
}

#[test]
fn an_export_makes_a_new_store() {
    let folder = Folder::new();
    let session = new_session(&folder);
    folder.run(&["send", "last", "say \u{1b}[31mwords\u{9b}"]).ok();
    let piped = folder.run(&["export", "--all", "-"]).ok();
    let said = folder.run(&["export", "--all", "all.jsonl"]).ok();
    let file = folder.work().join("all.jsonl");
    assert_eq!(mode(&file), 0o600);
    let lines = fs::read_to_string(&file).unwrap();
    let count = lines.lines().count() - 2;
    assert_eq!(said, format!("{count} entries are in all.jsonl\n"));
    let body = |text: &str| {
        text.lines().skip(1).map(|line| line.split(",\"sha256\"").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(body(&piped), body(&lines));
    assert!(folder.run(&["export", "--all", "all.jsonl"]).failed().contains("is there already"));

    let other = Folder::new();
    let said = other.run(&["restore", file.to_str().unwrap(), "--json"]).ok();
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&said["entries"], &said["moved"]), (&count.into(), &Value::Array(vec![])));
    assert_eq!(mode(&other.data()), 0o700);
    assert_eq!(body(&other.run(&["export", "--all", "-"]).ok()), body(&lines));
    assert_eq!(other.run(&["show", &session, "--json"]).ok(), folder.run(&["show", &session, "--json"]).ok());
    other.run(&["doctor", "--all"]).ok();

    // A truncated export changes nothing.
    let third = Folder::new();
    fs::write(&file, &lines[..lines.len() - 10]).unwrap();
    let said = third.run(&["restore", file.to_str().unwrap()]).failed();
    assert!(said.contains(&format!("is cut off after line {}", count + 1)), "{said}");
    assert!(!third.file("throughline.db").exists() && !third.file("throughline.db.restoring").exists());
    third.run(&["list"]).ok();
}

/// A file in an export's way stays as it is; what an interrupted export has left does not count.
#[test]
fn an_export_writes_over_nothing() {
    let folder = Folder::new();
    folder.run(&["new"]).ok();
    let (file, partial) = (folder.work().join("all.jsonl"), folder.work().join("all.jsonl.partial"));
    let mine = folder.work().join("mine");
    fs::write(&mine, "words").unwrap();
    symlink(&mine, &partial).unwrap();
    assert!(folder.run(&["export", "--all", "all.jsonl"]).failed().contains("could not write all.jsonl.partial"));
    fs::remove_file(&partial).unwrap();
    fs::write(&partial, "words").unwrap();
    assert!(folder.run(&["export", "--all", "all.jsonl"]).failed().contains("could not write all.jsonl.partial"));
    assert_eq!((fs::read(&mine).unwrap(), fs::read(&partial).unwrap()), (b"words".to_vec(), b"words".to_vec()));
    symlink("nowhere", &file).unwrap();
    assert!(folder.run(&["export", "--all", "all.jsonl"]).failed().contains("is there already"));
    fs::remove_file(&file).unwrap();
    fs::write(&partial, r#"{"throughline":"export","vers"#).unwrap();
    folder.run(&["export", "--all", "all.jsonl"]).ok();
    assert!(file.exists() && !partial.exists());
}

/// A folder that others can access is not filled with somebody's text.
#[test]
fn a_restore_needs_a_closed_folder() {
    let folder = Folder::new();
    folder.run(&["new"]).ok();
    folder.run(&["backup", "backups/monday"]).ok();
    fs::set_permissions(folder.data(), fs::Permissions::from_mode(0o755)).unwrap();
    let said = folder.run(&["restore", "backups/monday", "--replace"]).failed();
    assert!(said.contains("others can get into the folder"), "{said}");
}
