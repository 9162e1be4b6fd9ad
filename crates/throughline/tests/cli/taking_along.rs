//! Tests that what was shown goes where the session goes: in bundles, backups, exports, and a folder without its database.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::client::Client;
use crate::payloads::{long_text, payload_files};
use crate::support::{Folder, Running, mode};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and so on \x00\xff";

/// What a session has beside its log.
struct Shown {
    session: String,
    /// A text and a picture that were shown, with the bytes they have.
    outputs: Vec<(Value, Vec<u8>)>,
    /// Those and two bodies, a long result and a prompt's picture, by their paths.
    files: BTreeMap<String, Vec<u8>>,
}

impl Shown {
    /// The path of the body that has these bytes.
    fn body(&self, bytes: &[u8]) -> &str {
        let is_it = |(path, found): &(&String, &Vec<u8>)| path.starts_with("bodies/") && *found == bytes;
        self.files.iter().find(is_it).unwrap().0
    }
}

/// More than an entry takes, and no text.
fn picture() -> Vec<u8> {
    b"\x89PNG\r\n\x1a\n\0".repeat(5_000)
}

fn shown(folder: &Folder, server: &Running) -> Shown {
    fs::write(folder.work().join("main.rs"), "fn main() {}\n").unwrap();
    fs::write(folder.work().join("plot.png"), PNG).unwrap();
    fs::write(folder.work().join("long.txt"), long_text()).unwrap();
    let new: Value = serde_json::from_str(&folder.run(&["new", "--name", "the loom", "--json"]).ok()).unwrap();
    let session = new["id"].as_str().unwrap().to_owned();
    let client = Client::new(folder, server);
    let image = json!({ "mimeType": "image/png", "data": "iVBORw0KGgoA".repeat(5_000) });
    let prompt = json!({ "text": "say what this is", "images": [image] });
    let sent = client.call(&format!("POST /api/v1/sessions/{session}/prompts"), None, &prompt).unwrap();
    assert_eq!(sent.status, 202, "{}", sent.body);
    client.until_entry(&session, |entry| entry["type"] == "turn.ended");
    folder.run(&["send", "last", "read long.txt"]).ok();
    folder.run(&["send", "last", "show main.rs"]).ok();
    folder.run(&["send", "last", "image plot.png"]).ok();
    let outputs: Value = serde_json::from_str(&folder.run(&["outputs", "last", "--json"]).ok()).unwrap();
    let outputs = outputs["outputs"].as_array().or(outputs.as_array()).unwrap().clone();
    let outputs = outputs.into_iter().zip([b"fn main() {}\n".to_vec(), PNG.to_vec()]).collect();
    let files = payload_files(folder, &session);
    let shown = Shown { session, outputs, files };
    assert_eq!(shown.files.len(), 4);
    shown.body(long_text().as_bytes());
    shown.body(&picture());
    shown
}

fn bytes_of(folder: &Folder, output: &Value) -> Vec<u8> {
    let ran = folder.command(&["output", output["id"].as_str().unwrap()]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    ran.stdout
}

fn file_of(folder: &Folder, output: &Value) -> PathBuf {
    let id = output["id"].as_str().unwrap();
    let mut sessions =
        fs::read_dir(folder.file("sessions")).unwrap().map(|entry| entry.unwrap().path().join("outputs"));
    let outputs = sessions.find(|path| path.is_dir()).unwrap();
    let mut files = fs::read_dir(outputs).unwrap().map(|entry| entry.unwrap().path());
    files.find(|path| path.file_stem().is_some_and(|stem| stem == id)).unwrap()
}

#[test]
fn a_session_is_exported_in_every_form_and_taken_in_elsewhere() {
    let (folder, other) = (Folder::new(), Folder::new());
    let server = folder.serve();
    let shown = shown(&folder, &server);
    let html = folder.work().join("loom.html");
    let said = folder.run(&["export", "last", "--as", "html", "--to", html.to_str().unwrap()]).ok();
    assert!(said.contains("is in") && mode(&html) == 0o600, "{said}");
    let page = fs::read_to_string(&html).unwrap();
    assert!(page.contains("<li>fn main() {}</li>") && page.contains("data:image/png;base64,"), "{page}");
    let again = folder.run(&["export", "last", "--as", "html", "--to", html.to_str().unwrap()]).failed();
    assert!(again.contains("is there already"), "{again}");
    // Without --as the file's ending says it.
    let by_ending = |name: &str| {
        folder.run(&["export", "last", "--to", name]).ok();
        fs::read(folder.work().join(name)).unwrap()
    };
    assert!(by_ending("a.html").starts_with(b"<!") && by_ending("b.HTM").starts_with(b"<!"));
    assert!(by_ending("c.tar").starts_with(b"throughline-bundle.json\0"));
    assert!(by_ending("d.md").starts_with(b"# ") && by_ending("e").starts_with(b"# "));
    let markdown = folder.run(&["export", "last"]).ok();
    assert!(
        markdown.contains("```\nfn main() {}\n```") || markdown.contains("```rust\nfn main() {}\n```"),
        "{markdown}"
    );

    let bundle = folder.work().join("loom.tar");
    let bundle = bundle.to_str().unwrap();
    folder.run(&["export", "last", "--as", "bundle", "--to", bundle]).ok();
    let entries = folder.run(&["export", "last", "--json"]).ok();
    server.stop();

    let said = other.run(&["import", bundle]).ok();
    assert!(said.contains("4 files beside the log") && said.contains("throughline resume"), "{said}");
    assert_eq!(payload_files(&other, &shown.session), shown.files);
    assert!(other.run(&["export", "last", "--json"]).ok().starts_with(&entries));
    let said = other.run(&["import", bundle]).ok();
    assert!(said.contains("is here already"), "{said}");
    let refused = other.run(&["send", "last", "say on"]).failed();
    assert!(refused.contains("resume"), "{refused}");
    for (output, bytes) in &shown.outputs {
        assert_eq!(bytes_of(&other, output), *bytes);
    }
    assert_eq!(fs::read_dir(other.file("incoming")).unwrap().count(), 0, "nothing is left behind");
    other.run(&["resume", "last", "--agent", "guide"]).ok();
    other.run(&["send", "last", "say on"]).ok();
    let refused = other.run(&["import", html.to_str().unwrap()]).failed();
    assert!(refused.contains("is no bundle"), "{refused}");
    let refused = other.run(&["import", "nowhere.tar"]).failed();
    assert!(refused.contains("could not read nowhere.tar"), "{refused}");
}

/// Whoever goes on elsewhere learns at both ends what did not come along.
#[test]
fn a_bundle_says_how_many_payloads_it_lacks() {
    let (folder, other) = (Folder::new(), Folder::new());
    let server = folder.serve();
    let shown = shown(&folder, &server);
    fs::remove_file(file_of(&folder, &shown.outputs[1].0)).unwrap();
    let lost = folder.file("sessions").join(&shown.session).join(shown.body(&picture()));
    fs::remove_file(lost).unwrap();
    let bundle = folder.work().join("loom.tar");
    let bundle = bundle.to_str().unwrap();
    let exported = folder.run(&["export", "last", "--to", bundle]);
    let said = "note: 2 files beside the log are gone or can not be read, and are not in the bundle\n";
    assert_eq!((exported.code, exported.stderr.as_str()), (Some(0), said), "{}", exported.stdout);
    server.stop();

    let server = other.serve();
    let imported = other.run(&["import", bundle]);
    let said = "note: 2 files beside the log are not in the bundle: they were gone when that was written\n";
    assert_eq!((imported.code, imported.stderr.as_str()), (Some(0), said), "{}", imported.stdout);
    assert!(imported.stdout.contains("2 files beside the log"), "{}", imported.stdout);
    let again: Value = serde_json::from_str(&other.run(&["import", bundle, "--json"]).ok()).unwrap();
    assert_eq!((&again["payloads"], &again["missing"], &again["wasHere"]), (&json!(2), &json!(2), &json!(true)));
    server.stop();
}

#[test]
fn backups_and_exports_bring_back_what_was_shown() {
    let folder = Folder::new();
    let server = folder.serve();
    let shown = shown(&folder, &server);
    let said = folder.run(&["backup", "kept"]).ok();
    assert!(said.contains("4 files beside the log"), "{said}");
    let said = folder.run(&["export", "--all", "all.jsonl"]).ok();
    assert!(said.contains("4 files beside the log"), "{said}");
    let said = folder.run(&["doctor"]).ok();
    assert!(said.contains("4 payloads verified"), "{said}");
    server.stop();
    for from in ["kept", "all.jsonl"] {
        let said = folder.run(&["restore", from, "--replace"]).ok();
        assert!(said.contains("With them came 4 files beside the log"), "{said}");
        for (output, bytes) in &shown.outputs {
            assert_eq!(bytes_of(&folder, output), *bytes, "{from}");
        }
        assert_eq!(payload_files(&folder, &shown.session), shown.files, "{from}");
        folder.run(&["doctor", "--rebuild"]).ok();
    }
    // What is missing or was edited is named, and harms nothing else.
    fs::write(file_of(&folder, &shown.outputs[0].0), "edited").unwrap();
    fs::remove_file(file_of(&folder, &shown.outputs[1].0)).unwrap();
    let (text, picture) = (long_text(), picture());
    let (edited, lost) = (shown.body(text.as_bytes()), shown.body(&picture));
    let beside = folder.file("sessions").join(&shown.session);
    fs::write(beside.join(edited), text.replace("abcde", "edcba")).unwrap();
    fs::remove_file(beside.join(lost)).unwrap();
    let checked = folder.run(&["doctor"]);
    assert_eq!(checked.code, Some(1));
    let found = |what: &str| checked.stdout.matches(what).count();
    assert_eq!((found(" is missing\n"), found(" is not what was stored\n")), (2, 2), "{}", checked.stdout);
    for named in [format!("{lost} is missing"), format!("{edited} is not what was stored")] {
        assert_eq!(found(&named), 1, "{named}: {}", checked.stdout);
    }
    let said = folder.run(&["backup", "second"]).ok();
    assert!(said.contains("Missing, so shown as gone") && said.contains("Edited since it was shown"), "{said}");
    assert!(said.contains(edited) && said.contains(lost), "{said}");
    folder.run(&["doctor", "--rebuild"]);
    folder.run(&["send", "last", "say on"]).ok();
}

#[test]
fn a_folder_without_its_database_comes_back_with_what_was_shown() {
    let folder = Folder::new();
    let server = folder.serve();
    let shown = shown(&folder, &server);
    server.stop();
    folder.lose_database();
    for (output, bytes) in &shown.outputs {
        assert_eq!(bytes_of(&folder, output), *bytes);
    }
    let server = folder.serve();
    // Before a session stores its next body, what no entry names goes; these are named.
    fs::write(folder.work().join("long.txt"), long_text().repeat(2)).unwrap();
    folder.run(&["send", "last", "read long.txt"]).ok();
    let files = payload_files(&folder, &shown.session);
    assert!(shown.files.iter().all(|(path, bytes)| files.get(path) == Some(bytes)), "{:?}", files.keys());
    fs::write(file_of(&folder, &shown.outputs[0].0), "edited").unwrap();
    fs::remove_file(file_of(&folder, &shown.outputs[1].0)).unwrap();
    let token = fs::read_to_string(folder.file("token")).unwrap();
    let ask = |output: &Value, query: &str| {
        let request = format!("GET /api/v1/outputs/{}{query}", output["id"].as_str().unwrap());
        server.ask(&request, &format!("Authorization: Bearer {token}\r\n"), "")
    };
    assert!(ask(&shown.outputs[0].0, "?format=json").contains(r#""state":"changed""#));
    assert!(ask(&shown.outputs[1].0, "?format=json").contains(r#""state":"gone""#));
    assert!(ask(&shown.outputs[1].0, "").starts_with("HTTP/1.1 410"));
    server.stop();
}
