//! Tests that a session that is deleted for good leaves no word in any file of the data folder, nor in a backup.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::Folder;

/// In a name, a prompt, an answer and a title. The index's dictionaries spell no word out; its own tests check them.
const WORDS: [&str; 2] = ["xylophagous", "quincunxial"];

fn holding(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path));
            continue;
        }
        // Sockets have no bytes.
        let Ok(bytes) = fs::read(&path) else { continue };
        let holds = |word: &str| bytes.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()));
        if WORDS.into_iter().any(holds) {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_purged_session_is_in_no_file_and_in_no_backup() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new", "--name", "stays"]).ok();
    folder.run(&["send", "last", "say something else"]).ok();
    folder.run(&["new", "--name", "a quincunxial name"]).ok();
    folder.run(&["send", "last", "say a xylophagous beetle"]).ok();
    assert!(folder.run(&["search", "xylophagous"]).ok().contains("xylophagous"));
    assert!(!holding(&folder.data()).is_empty());
    folder.run(&["delete", "last", "--now"]).ok();
    folder.run(&["new", "--name", "comes after"]).ok();
    let backup = folder.work().join("kept");
    folder.run(&["backup", backup.to_str().unwrap()]).ok();
    server.stop();
    assert_eq!(holding(&folder.data()), Vec::<PathBuf>::new());
    assert_eq!(holding(&backup), Vec::<PathBuf>::new());
    assert!(folder.run(&["search", "something"]).ok().contains("something"));
}

/// What was shown can not be written again from the log: it goes with the session, or stays with it.
#[test]
fn a_purge_that_is_killed_takes_all_of_a_session_or_nothing() {
    for (point, stays) in [("purge-begun", true), ("purge-logged", false)] {
        let folder = Folder::new();
        fs::write(folder.work().join("beetle.txt"), "a xylophagous beetle\n").unwrap();
        let server = folder.serve();
        folder.run(&["new"]).ok();
        folder.run(&["send", "last", "show beetle.txt"]).ok();
        server.stop();
        let list: serde_json::Value = serde_json::from_str(&folder.run(&["list", "--json"]).ok()).unwrap();
        let session = list["sessions"][0]["id"].as_str().unwrap().to_owned();
        let outputs = folder.file("sessions").join(&session).join("outputs");
        let shown = || if outputs.exists() { holding(&outputs) } else { Vec::new() };
        let before = shown();
        assert_eq!(before.len(), 1);
        let killed = folder.command(&["delete", "last", "--now"]).env("FAILPOINTS", format!("{point}=panic")).output();
        assert_eq!(killed.unwrap().status.code(), None, "{point}");
        assert_eq!(shown().len(), 0, "{point}");
        // Until the next start settles it, it is put away, and not missing.
        let (backup, lines) = (folder.work().join("kept"), folder.work().join("all.jsonl"));
        let counted = if stays { "1 payloads verified" } else { "1 of its payloads are left" };
        let said = folder.run(&["doctor", "--all"]).ok();
        assert!(said.contains(counted), "{point}: {said}");
        folder.run(&["backup", backup.to_str().unwrap()]).ok();
        assert_eq!(backup.join("sessions").join(&session).join("outputs").exists(), stays, "{point}");
        folder.run(&["export", "--all", lines.to_str().unwrap()]).ok();
        assert_eq!(shown().len(), 0, "{point}");
        folder.run(&["list"]).ok();
        if stays {
            folder.run(&["undelete", &session]).ok();
            assert_eq!(shown(), before);
            assert!(folder.run(&["show", &session]).ok().contains("show beetle.txt"));
        } else {
            assert_eq!(holding(&folder.file("sessions")), Vec::<PathBuf>::new());
        }
    }
}
