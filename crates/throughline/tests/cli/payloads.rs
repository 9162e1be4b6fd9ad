//! Tests what becomes of payloads when the server dies between the bytes and their entry, and when the disk is full: no entry
//! names what is not there, nothing is left over, and what comes next is kept byte for byte.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;

use serde_json::{Value, json};

use crate::client::Client;
use crate::support::Folder;

const SIGABRT: i32 = 6;
/// Room for a start and a few turns.
const ROOM_BYTES: u64 = 2_000_000;
const NO_SPACE: &str = "no space is left on the disk";

/// 100 lines of 480 bytes: too long for an entry, and short enough for the guide to read out.
pub(crate) fn long_text() -> String {
    (1..=100).map(|n| format!("{n:>3} {}a\n", "abcde ".repeat(79))).collect()
}

/// A session in the working directory; its id.
fn session(folder: &Folder) -> String {
    let new: Value = serde_json::from_str(&folder.run(&["new", "--json"]).ok()).unwrap();
    new["id"].as_str().unwrap().to_owned()
}

/// The payloads of a session that are on the disk, by their paths.
pub(crate) fn payload_files(folder: &Folder, session: &str) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for kind in ["outputs", "bodies"] {
        let Ok(files) = fs::read_dir(folder.file("sessions").join(session).join(kind)) else { continue };
        for file in files.map(Result::unwrap) {
            let name = file.file_name().into_string().unwrap();
            found.insert(format!("{kind}/{name}"), fs::read(file.path()).unwrap());
        }
    }
    found
}

/// The paths of the payloads that entries name.
fn named_payloads(entries: &[Value]) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for entry in entries {
        let data = &entry["data"];
        match entry["type"].as_str().unwrap() {
            "output.stored" => drop(named.insert(format!("outputs/{}.txt", data["output"]["id"].as_str().unwrap()))),
            "output.removed" => drop(named.remove(&format!("outputs/{}.txt", data["id"].as_str().unwrap()))),
            _ => (),
        }
        let bodies = data["bodies"].as_array().into_iter().flatten();
        named.extend(bodies.filter_map(|body| body["sha256"].as_str()).map(|hash| format!("bodies/{hash}")));
    }
    named
}

/// Shows and reads the long text once more: both are kept as they are.
fn show_and_read(folder: &Folder, session: &str) {
    let before = payload_files(folder, session);
    folder.run(&["send", session, "show long.txt"]).ok();
    folder.run(&["send", session, "read long.txt"]).ok();
    let after = payload_files(folder, session);
    let new: Vec<_> = after.iter().filter(|(path, _)| !before.contains_key(*path)).collect();
    let text = long_text();
    let [(_, body), (output, shown)] = new.as_slice() else { panic!("{:?}", after.keys()) };
    assert!(*body == text.as_bytes() && *shown == text.as_bytes(), "{:?}", after.keys());
    let id = output.strip_prefix("outputs/").unwrap().strip_suffix(".txt").unwrap();
    assert_eq!(folder.run(&["output", id]).ok(), text);
}

/// The process dies right after the bytes were stored and before the entry that names them, or right after the entry that removes
/// them and before they are gone.
#[test]
fn a_crash_between_payload_and_entry_leaves_neither_without_the_other() {
    for (point, prompt) in
        [("output-stored", "show long.txt"), ("body-stored", "read long.txt"), ("output-removed", "slow 3600")]
    {
        let folder = Folder::new();
        fs::write(folder.work().join("long.txt"), long_text()).unwrap();
        fs::write(folder.work().join("short.txt"), "short\n").unwrap();
        let server = folder.serve();
        let session = session(&folder);
        folder.run(&["send", &session, "show short.txt"]).ok();
        server.stop();
        let first = payload_files(&folder, &session);
        let [path] = first.keys().collect::<Vec<_>>()[..] else { panic!("{:?}", first.keys()) };
        let id = path.strip_prefix("outputs/").unwrap().strip_suffix(".txt").unwrap();

        let server = folder.serve_failing(&format!("{point}=panic"));
        let client = Client::new(&folder, &server);
        client.prompt(&session, "dies", prompt);
        if point == "output-removed" {
            client.until_entry(&session, |entry| entry["type"] == "turn.started" && entry["data"]["turn"] == 2);
            let removal = format!("DELETE /api/v1/sessions/{session}/outputs/{id}");
            assert_eq!(client.call(&removal, None, &Value::Null), None, "it is not acknowledged");
        }
        assert_eq!(server.ended().signal(), Some(SIGABRT), "{point}: {}", folder.log());
        let left = payload_files(&folder, &session);
        let orphans = if point == "output-removed" { 0 } else { 1 };
        assert_eq!(left.len(), 1 + orphans, "{point}: {:?}", left.keys());

        let server = folder.serve();
        let client = Client::new(&folder, &server);
        let entries = client.entries(&session);
        let named = named_payloads(&entries);
        let there = payload_files(&folder, &session);
        assert_eq!(there.keys().cloned().collect::<BTreeSet<_>>(), named, "{point}");
        assert_eq!(named.len(), orphans, "{point}");
        let ended = entries.iter().rfind(|entry| entry["type"] == "turn.ended").unwrap();
        assert_eq!((&ended["data"]["turn"], &ended["data"]["outcome"]), (&json!(2), &json!("interrupted")), "{point}");
        show_and_read(&folder, &session);
        server.stop();
        let said = folder.run(&["doctor", "--all"]).ok();
        assert!(said.contains(&format!("{} payloads verified", named.len() + 2)), "{point}: {said}");
        assert!(!said.contains("no entry names"), "{point}: {said}");
    }
}

/// The process dies when the payloads of a bundle are stored and its entries are not.
#[test]
fn a_crash_while_a_bundle_is_taken_in_leaves_nothing_of_it() {
    let (folder, other) = (Folder::new(), Folder::new());
    fs::write(folder.work().join("long.txt"), long_text()).unwrap();
    // Nothing can be shown without a server.
    let server = folder.serve();
    let session = session(&folder);
    show_and_read(&folder, &session);
    server.stop();
    let bundle = folder.work().join("loom.tar");
    folder.run(&["export", &session, "--to", bundle.to_str().unwrap()]).ok();
    let shown = payload_files(&folder, &session);
    assert_eq!(shown.len(), 2);

    let import = ["import", bundle.to_str().unwrap()];
    let killed = other.command(&import).env("FAILPOINTS", "bundle-stored=panic").output().unwrap();
    assert_eq!(killed.status.signal(), Some(SIGABRT), "{}", String::from_utf8_lossy(&killed.stderr));
    assert_eq!(payload_files(&other, &session), shown);
    // It says that it has removed the copy of the bundle too.
    assert_eq!(other.run(&["list"]).code, Some(0));
    let left: Vec<_> = fs::read_dir(other.file("sessions")).unwrap().map(|left| left.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains(&session)), "{left:?}");
    other.run(&import).ok();
    assert_eq!(payload_files(&other, &session), shown);
}

/// R17: what is shown does not fit, and nothing of it stays on the disk that is full.
#[test]
fn a_file_that_does_not_fit_on_the_disk_is_not_shown() {
    let folder = Folder::new();
    fs::write(folder.work().join("long.txt"), long_text()).unwrap();
    fs::write(folder.work().join("big.txt"), long_text().repeat(50)).unwrap();
    let server = folder.serve_with_room_for(ROOM_BYTES);
    let session = session(&folder);
    folder.run(&["send", &session, "show big.txt"]).ok();
    let log = folder.run(&["show", &session, "--json"]).ok();
    assert!(log.contains(NO_SPACE) && !log.contains("output.stored"), "{log}");
    assert_eq!(payload_files(&folder, &session), BTreeMap::new());
    show_and_read(&folder, &session);
    server.lift_limit();
    folder.run(&["send", &session, "show big.txt"]).ok();
    let shown = payload_files(&folder, &session);
    assert!(shown.values().any(|bytes| *bytes == long_text().repeat(50).into_bytes()), "{:?}", shown.keys());
    server.stop();
}

/// R17: the disk has room for the first piece of an output and no more, and none for a long result, which keeps its beginning.
#[test]
fn a_long_result_without_room_keeps_its_beginning() {
    let folder = Folder::new();
    fs::write(folder.work().join("long.txt"), long_text()).unwrap();
    fs::write(folder.work().join("big.txt"), long_text().repeat(50)).unwrap();
    let server = folder.serve_failing("payload-write=1*off->2*return");
    let client = Client::new(&folder, &server);
    let session = session(&folder);
    folder.run(&["send", &session, "show big.txt"]).ok();
    folder.run(&["send", &session, "read long.txt"]).ok();
    assert_eq!(payload_files(&folder, &session), BTreeMap::new());
    let entries = client.entries(&session);
    assert!(entries.iter().any(|entry| entry.to_string().contains(NO_SPACE)), "{entries:?}");
    assert_eq!(named_payloads(&entries), BTreeSet::new());
    let read = entries.iter().rfind(|entry| entry["type"] == "tool.ended").unwrap();
    let (head, body) = (read["data"]["content"][0]["text"].as_str().unwrap(), &read["data"]["bodies"][0]);
    assert!(head.len() == 4096 && long_text().starts_with(head), "{head}");
    assert_eq!((&body["bytes"], &body["sha256"]), (&json!(long_text().len()), &Value::Null));
    let written = folder.run(&["export", &session]).ok();
    assert!(written.contains("were not kept: there was no room for them"), "{written}");
    // The same process, once there is room again.
    show_and_read(&folder, &session);
    server.stop();
}

/// R17: a session that comes as a bundle comes whole or not at all.
#[test]
fn a_bundle_that_does_not_fit_on_the_disk_is_not_taken_in() {
    const NAME: &str = "0190a8c0-0000-7000-8000-0000000000b1";
    let (folder, other) = (Folder::new(), Folder::new());
    fs::write(folder.work().join("big.txt"), long_text().repeat(50)).unwrap();
    let server = folder.serve();
    let session = session(&folder);
    folder.run(&["send", &session, "show big.txt"]).ok();
    let bundle = folder.work().join("loom.tar");
    folder.run(&["export", &session, "--as", "bundle", "--to", bundle.to_str().unwrap()]).ok();
    let shown = payload_files(&folder, &session);
    server.stop();

    let server = other.serve_with_room_for(ROOM_BYTES);
    let client = Client::new(&other, &server);
    fs::create_dir_all(other.file("incoming")).unwrap();
    fs::copy(&bundle, other.file("incoming").join(format!("{NAME}.tar"))).unwrap();
    let take_in = || client.call("POST /api/v1/imports/bundle", None, &json!({ "name": NAME })).unwrap();
    assert_eq!(take_in().summary(), "507 storage_full");
    assert_eq!(payload_files(&other, &session), BTreeMap::new());
    assert_eq!(client.get(&format!("/sessions/{session}")).summary(), "404 session_not_found");
    server.lift_limit();
    assert_eq!(take_in().summary(), "200");
    assert_eq!(payload_files(&other, &session), shown);
    server.stop();
}
