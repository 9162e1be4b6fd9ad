//! Tests `doctor` on a real store, damaged by hand: what it reports, what it leaves alone, and that the rest works
//! (R18).

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::Folder;

/// Alters every occurrence of `word` in a file silently, as a failing disk would.
fn damage(path: &Path, word: &str) {
    let mut bytes = fs::read(path).unwrap();
    let places: Vec<usize> = bytes
        .windows(word.len())
        .enumerate()
        .filter(|(_, bytes)| *bytes == word.as_bytes())
        .map(|(at, _)| at)
        .collect();
    assert!(!places.is_empty(), "{word} is not in {}", path.display());
    for at in places {
        bytes[at] ^= 0x20;
    }
    fs::write(path, bytes).unwrap();
}

/// A prompt before its agent is ready waits, which is one more entry.
fn uncounted(text: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    for at in 1..words.len() {
        if words[at].starts_with("entries") {
            words[at - 1] = "N";
        }
    }
    words.join(" ")
}

/// The first entry that contains `word`.
fn seq_of(folder: &Folder, session: &str, word: &str) -> u64 {
    let shown = folder.run(&["show", session, "--json"]).ok();
    let line = shown.lines().find(|line| line.contains(word)).unwrap();
    serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap()
}

fn session(folder: &Folder, name: &str) -> String {
    let new: Value = serde_json::from_str(&folder.run(&["new", "--name", name, "--json"]).ok()).unwrap();
    new["id"].as_str().unwrap().to_owned()
}

/// One flipped bit in the name by which a session's entries are found: the next start repairs it from the log.
#[test]
fn a_damaged_name_of_a_stream_is_set_right_by_itself() {
    let folder = Folder::new();
    let id = session(&folder, "one");
    folder.run(&["send", &id, "say hello"]).ok();
    let told = || (folder.run(&["show", &id]).ok(), folder.run(&["list", "--json"]).ok());
    let before = told();
    damage(&folder.file("throughline.db"), &format!("session/{id}"));
    assert_eq!(folder.run(&["doctor", "--all"]).code, Some(1));
    assert_eq!(told(), before);
    folder.run(&["doctor", "--all"]).ok();
}

#[test]
fn a_sound_store_is_whole_with_a_server_and_without_one() {
    let folder = Folder::new();
    let said = folder.run(&["doctor"]).failed();
    assert_eq!(said, format!("error: there is no store in {} yet\n", folder.data().display()));
    assert!(!folder.data().exists(), "looking makes no folder");
    let server = folder.serve();
    session(&folder, "one");
    folder.run(&["send", "last", "say hello"]).ok();
    let beside = folder.run(&["doctor", "--all"]).ok();
    insta::assert_snapshot!(uncounted(&folder.named(&beside)), @"
    DATA/throughline.db is whole.
    All 2 streams were looked at, N entries verified.
    ");
    let report: Value = serde_json::from_str(&folder.run(&["doctor", "--json"]).ok()).unwrap();
    assert_eq!(
        (&report["damaged"], &report["findings"], &report["streams"]),
        (&false.into(), &Value::Array(vec![]), &2.into())
    );
    let said = folder.run(&["doctor", "--rebuild"]).failed();
    let (url, pid) = (&server.url, server.pid());
    assert!(said.contains(&format!("at {url} (pid {pid}); stop it first")), "{said}");
    server.stop();
    insta::assert_snapshot!(uncounted(&folder.named(&folder.run(&["doctor", "--rebuild"]).ok())), @"
    The tables were made anew: 6 rows from N entries.
    DATA/throughline.db is whole.
    All 2 streams were looked at, N entries verified.
    Readable copies: 1 looked at, all as the log has it.
    ");
    assert!(folder.run(&["show", "last"]).ok().contains("hello"));
}

/// A copy that was changed by hand is reported, is no damage, and is rewritten after a rebuild.
#[test]
fn a_copy_that_differs_is_named_and_can_be_had_again() {
    let folder = Folder::new();
    let id = session(&folder, "one");
    folder.run(&["send", "last", "say hello"]).ok();
    let transcript = folder.file("sessions").join(&id).join("transcript.jsonl");
    let whole = fs::read_to_string(&transcript).unwrap();
    fs::write(&transcript, whole.replace("hello", "HELLO")).unwrap();
    let said = folder.run(&["doctor"]).ok();
    assert!(said.contains(&format!("session {id} differs from its transcript.jsonl")), "{said}");
    folder.run(&["doctor", "--rebuild"]).ok();
    folder.run(&["list"]).ok();
    assert_eq!(fs::read_to_string(&transcript).unwrap(), whole);
    let report: Value = serde_json::from_str(&folder.run(&["doctor", "--json"]).ok()).unwrap();
    assert_eq!(report["copies"], serde_json::json!({ "sessions": 1, "differences": [], "works": "right" }));
}

/// The same for the copy of the works.
#[test]
fn a_copy_of_works_that_differs_is_told_and_can_be_had_again() {
    let folder = Folder::new();
    for work in ["loom", "loom", "weft"] {
        folder.run(&["new", "--work", work]).ok();
    }
    let works =
        || serde_json::from_str::<Value>(&folder.run(&["doctor", "--json"]).ok()).unwrap()["copies"]["works"].clone();
    assert_eq!(works(), "right");
    folder.run(&["work", "rename", "weft", "warp"]).ok();
    folder.run(&["delete", "last"]).ok();
    assert_eq!(works(), "right", "what changed was copied");

    let file = folder.file("state").join("meta-contexts.json");
    let whole = fs::read_to_string(&file).unwrap();
    for broken in [Some(whole.replace("loom", "doom")), None] {
        match broken {
            Some(broken) => fs::write(&file, broken).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        assert_eq!(works(), "different");
        let said = folder.named(&folder.run(&["doctor"]).ok());
        assert!(said.contains("Pieces of work: DATA/state/meta-contexts.json is not as the log has it."), "{said}");
        folder.run(&["doctor", "--rebuild"]).ok();
        folder.run(&["list"]).ok();
        assert_eq!((fs::read_to_string(&file).unwrap(), works()), (whole.clone(), "right".into()));
    }

    fs::rename(folder.file("state"), folder.file("elsewhere")).unwrap();
    fs::write(folder.file("state"), "mine").unwrap();
    assert_eq!(works(), "foreign");
    let said = folder.named(&folder.run(&["doctor"]).ok());
    assert!(said.contains("something else lies in the place of DATA/state. Move it away"), "{said}");
}

/// It can be requested beside a running server, and begins with the next stored text.
#[test]
fn a_search_index_is_made_anew_on_request() {
    let folder = Folder::new();
    session(&folder, "one");
    folder.run(&["send", "last", "say a heron"]).ok();
    let server = folder.serve();
    assert!(folder.run(&["search", "heron"]).ok().contains("heron"));
    let said = folder.run(&["doctor", "--rebuild-search"]).ok();
    assert!(said.contains("The search index is made anew"), "{said}");
    assert!(folder.file("search").join("rebuild").exists());
    folder.run(&["send", "last", "say a stork"]).ok();
    assert!(folder.run(&["search", "heron"]).ok().contains("heron"));
    server.stop();
    let _server = folder.serve();
    assert!(folder.run(&["search", "stork"]).ok().contains("stork"));
}

/// The doctor's advice must not make a loss final.
#[test]
fn a_database_that_lost_entries_is_told_and_a_rebuild_hides_nothing() {
    let folder = Folder::new();
    let id = session(&folder, "one");
    let old = fs::read(folder.file("throughline.db")).unwrap();
    folder.run(&["send", "last", "say this gets lost"]).ok();
    let transcript = fs::read(folder.file("sessions").join(&id).join("transcript.jsonl")).unwrap();
    fs::write(folder.file("throughline.db"), old).unwrap();
    for arguments in [["doctor"].as_slice(), &["doctor", "--rebuild"], &["doctor"]] {
        let said = folder.run(arguments).ok();
        assert!(said.contains("they know more than the database"), "{said}");
        assert!(!said.contains("--rebuild"), "{said}");
    }
    let report: Value = serde_json::from_str(&folder.run(&["doctor", "--json"]).ok()).unwrap();
    assert_eq!(report["copies"], serde_json::json!({ "ahead": true }));
    let listed = folder.run(&["list"]);
    assert!(listed.stderr.contains("entries were lost"), "{}", listed.stderr);
    let aside = fs::read_dir(folder.data()).unwrap().map(|entry| entry.unwrap().path());
    let aside: Vec<_> = aside.filter(|path| path.to_str().unwrap().contains("sessions.before-")).collect();
    let [aside] = aside.as_slice() else { panic!("{aside:?}") };
    assert_eq!(fs::read(aside.join(&id).join("transcript.jsonl")).unwrap(), transcript);
}

/// A session loses an entry to the disk: it is named, the server starts, and everything else works.
#[test]
fn a_damaged_session_is_named_and_the_others_work() {
    let folder = Folder::new();
    let server = folder.serve();
    let damaged = session(&folder, "damaged");
    folder.run(&["send", "last", "say kept"]).ok();
    folder.run(&["send", "last", "say UNMISTAKABLE"]).ok();
    let seq = seq_of(&folder, &damaged, "UNMISTAKABLE");
    let sound = session(&folder, "sound");
    folder.run(&["send", "last", "say hello"]).ok();
    let backup = folder.work().join("backup");
    folder.run(&["backup", backup.to_str().unwrap()]).ok();
    server.stop();
    damage(&folder.file("throughline.db"), "UNMISTAKABLE");

    let server = folder.serve();
    assert!(folder.run(&["list"]).ok().contains("sound"));
    assert_eq!(folder.run(&["send", &sound, "say still here"]).ok(), "still here\n");
    let beside = folder.run(&["doctor"]);
    assert_eq!((beside.code, beside.stderr.as_str()), (Some(1), ""), "{}", beside.stdout);
    let named = |text: &str| {
        let text = text.replace(&damaged, "DAMAGED").replace(&format!("entry {seq}:"), "entry SEQ:");
        uncounted(&folder.named(&text))
    };
    let (url, pid) = (server.url.clone(), server.pid().to_string());
    insta::assert_snapshot!(named(&beside.stdout).replace(&url, "URL").replace(&pid, "PID"), @"
    DATA/throughline.db is damaged.
    All 3 streams were looked at, N entries verified.

    session DAMAGED, entry SEQ: its checksum does not match

    What is damaged can be read up to its damage; a damaged session takes no more prompts. A backup from before has it whole: `throughline restore`.
    ");
    server.stop();

    let alone = folder.run(&["doctor"]);
    assert_eq!((alone.code, alone.stderr.as_str()), (Some(1), ""), "{}", alone.stdout);
    insta::assert_snapshot!(named(&alone.stdout), @"
    DATA/throughline.db is damaged.
    All 3 streams were looked at, N entries verified.
    Readable copies: 1 looked at, all as the log has it.

    session DAMAGED, entry SEQ: its checksum does not match

    What is damaged can be read up to its damage; a damaged session takes no more prompts. A backup from before has it whole: `throughline restore`.
    ");
    let shown = folder.run(&["show", &damaged]);
    assert_eq!(shown.code, Some(1));
    assert!(shown.stdout.contains("1 > say kept\n\n  kept\n"), "{}", shown.stdout);
    assert!(shown.stdout.ends_with("  [the rest can not be read]\n"), "{}", shown.stdout);
    assert!(shown.stderr.contains(&format!("is damaged from entry {seq} on")), "{}", shown.stderr);
    assert!(folder.run(&["list"]).ok().contains("  damaged  "));
    let report: Value = serde_json::from_str(&folder.run(&["doctor", "--json"]).stdout).unwrap();
    let finding = serde_json::json!({
        "kind": "entry",
        "stream": format!("session/{damaged}"),
        "seq": seq,
        "what": "its checksum does not match",
        "fenced": true,
    });
    assert_eq!(report["findings"], serde_json::json!([finding]));

    // What can be read is exported, and the exit code says that it is not everything.
    let exported = folder.run(&["export", "--all", "-"]);
    assert_eq!(exported.code, Some(1));
    assert_eq!(exported.stderr, "1 session ends at its damage; `throughline doctor --all` says more\n");
    let line = format!(r#"{{"damaged":"session/{damaged}","seq":{seq},"what":"its checksum does not match"}}"#);
    assert!(exported.stdout.lines().any(|found| found == line), "{}", exported.stdout);

    // The backup has it whole.
    folder.run(&["restore", backup.to_str().unwrap(), "--replace"]).ok();
    folder.run(&["doctor", "--all"]).ok();
    assert!(folder.run(&["show", &damaged]).ok().contains("UNMISTAKABLE"));
}

/// If nothing can be written, here because a folder is in the way of the lock, the findings are reported all the
/// same.
#[test]
fn a_store_that_cannot_be_owned_is_told_about() {
    let folder = Folder::new();
    let damaged = session(&folder, "UNMISTAKABLE");
    damage(&folder.file("throughline.db"), "UNMISTAKABLE");
    fs::remove_file(folder.file("throughline.db.lock")).unwrap();
    fs::create_dir(folder.file("throughline.db.lock")).unwrap();
    let told = folder.run(&["doctor"]);
    assert_eq!((told.code, told.stderr.as_str()), (Some(1), ""), "{}", told.stdout);
    assert!(
        told.stdout.contains(&format!("session {damaged}, entry 1: its checksum does not match")),
        "{}",
        told.stdout
    );
    assert!(told.stdout.contains("No fence could be set or lifted: could not open the store"), "{}", told.stdout);
}
