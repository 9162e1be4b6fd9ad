//! Which files outside of the session's directories are opened.

use std::fs;

use model::{Entry, Session};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

/// A session in `work`, of which these events are told.
fn session(disk: &TempDir, events: &[Value]) -> Session {
    let root = disk.path().canonicalize().unwrap();
    let work = root.join("work");
    let created =
        json!({ "type": "session.created", "data": { "agent": "guide", "cwd": work, "project": work, "name": "" } });
    let entries = std::iter::once(&created).chain(events).zip(1..).map(|(event, seq)| {
        let mut entry = json!({ "seq": seq, "at": "2026-01-01T00:00:00.000Z" });
        entry.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        serde_json::from_value::<Entry>(entry).unwrap()
    });
    let entries: Vec<Entry> = entries.collect();
    let id = "0198c0de-0000-7000-8000-000000000001".parse().unwrap();
    let mut session = Session::begin(id, entries[0].borrowed()).unwrap();
    entries[1..].iter().for_each(|entry| session.apply(entry.borrowed()));
    session
}

fn told(read: Result<ShownFile, ShowError>) -> String {
    match read {
        Ok(ShownFile { content: FileContent::Text(text), outside, .. }) => {
            format!("{} {text}", if outside { "outside" } else { "inside" })
        }
        Ok(file) => panic!("{file:?}"),
        Err(err) => err.to_string(),
    }
}

#[test]
fn what_a_result_touched_outside_is_opened_and_what_an_agent_marked_is_not() {
    let disk = tempfile::tempdir().unwrap();
    let root = disk.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("work")).unwrap();
    for name in ["touched", "marked", "agents", "deleted"] {
        fs::write(root.join(name), name).unwrap();
    }
    let fact = |name: &str, file: &str| json!({ "name": name, "value": root.join(file), "rule": "r" });
    let set = |by: &str, files: &[&str]| {
        let items: Vec<_> = files.iter().map(|file| root.join(file)).collect();
        json!({ "type": "context.set", "data": { "set": "files", "items": items, "by": by } })
    };
    let facts = [fact("filesEdited", "touched"), fact("filesDeleted", "deleted"), fact("commands", "marked")];
    let proved = json!({ "type": "fact.proved", "data": { "turn": 1, "tool": 1, "entry": 2, "facts": facts } });
    let session = session(&disk, &[proved, set("agent", &["agents"]), set("person", &["agents", "marked"])]);
    let files = FileInspector::new(Deny::standard(), None);
    let read = |name: &str, outside| {
        let path = root.join(name).into_os_string().into_string().unwrap();
        told(FileAccess::of_session(&files, &session.row, &session.context, &path).read(
            &path,
            Amount::Beginning,
            outside,
        ))
    };
    for name in ["touched", "marked", "deleted"] {
        assert_eq!(read(name, Outside::Ask), ShowError::OutsideNeedsConfirmation.to_string(), "{name}");
        assert_eq!(read(name, Outside::Confirmed), format!("outside {name}"));
        assert_eq!(read(name, Outside::Never), FileError::NotAllowed.to_string(), "{name}");
    }
    // A change of the set alone does not make the person the marker of what is in it.
    for name in ["agents", "elsewhere"] {
        assert_eq!(read(name, Outside::Confirmed), FileError::NotAllowed.to_string(), "{name}");
    }
}

/// What lies there was never the session's.
#[test]
fn a_link_that_took_the_place_of_the_directory_is_not_followed() {
    let disk = tempfile::tempdir().unwrap();
    let root = disk.path().canonicalize().unwrap();
    for folder in ["work", "private"] {
        fs::create_dir_all(root.join(folder)).unwrap();
        fs::write(root.join(folder).join("notes"), folder).unwrap();
    }
    let mut session = session(&disk, &[]);
    let files = FileInspector::new(Deny::standard(), None);
    let path = root.join("work/notes").into_os_string().into_string().unwrap();
    let read = |session: &Session| {
        told(FileAccess::of_session(&files, &session.row, &session.context, &path).read(
            &path,
            Amount::Beginning,
            Outside::Confirmed,
        ))
    };
    assert_eq!(read(&session), "inside work");
    fs::rename(root.join("work"), root.join("moved")).unwrap();
    std::os::unix::fs::symlink(root.join("private"), root.join("work")).unwrap();
    assert_eq!(read(&session), FileError::NotAllowed.to_string());
    assert!(crate::open_directory(&session.row).is_err());
    // Another tool may have spelled its directory with a link.
    let (tool, source, mark) = ("claude".to_owned(), String::new(), String::new());
    session.row.imported = Some(model::Imported { tool, source, mark, continued: false });
    assert_eq!(read(&session), "inside private");
    fs::remove_file(root.join("work")).unwrap();
    fs::create_dir(root.join("work")).unwrap();
    session.row.imported = None;
    assert_eq!(read(&session), FileError::NotFound.to_string());
}
