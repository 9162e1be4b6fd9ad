//! Tests sessions that are named, deleted and brought back, and the prompts that wait in them.

use serde_json::Value;

use crate::support::Folder;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_session_is_named_and_loses_its_name() {
    let folder = Folder::new();
    let session = json(&folder.run(&["new", "--json"]).ok())["id"].as_str().unwrap().to_owned();
    let short = &session[session.len() - 8..];
    folder.run(&["send", "last", "say hello"]).ok();
    let named = folder.run(&["rename", "last", "first \u{1b}[2Ksteps"]);
    assert!(named.failed().contains("(name_invalid)"), "{}", named.stderr);
    assert_eq!(
        folder.run(&["rename", "last", "first steps"]).ok(),
        format!("Session {short} is called: first steps\n")
    );
    assert!(folder.run(&["list"]).ok().contains("first steps"));
    let told = json(&folder.run(&["rename", &session, "", "--json"]).ok());
    assert_eq!((&told["id"], &told["name"]), (&session.clone().into(), &"".into()), "{told}");
    assert!(!folder.run(&["list"]).ok().contains("first steps"));
}

#[test]
fn sessions_are_pinned_archived_and_tagged() {
    let folder = Folder::new();
    let new =
        |name: &str| json(&folder.run(&["new", "--name", name, "--json"]).ok())["id"].as_str().unwrap().to_owned();
    let (first, second) = (new("first"), new("second"));
    let (one, two) = (&first[first.len() - 8..], &second[second.len() - 8..]);
    assert_eq!(folder.run(&["pin", one]).ok(), format!("Pinned: {one} first\n"));
    assert_eq!(folder.run(&["tag", one, "Bug", "area/io"]).ok(), format!("Session {one} has the tags: area/io, bug\n"));
    assert_eq!(folder.run(&["archive", one, two]).ok(), format!("Archived: {one} first\nArchived: {two} second\n"));
    assert!(folder.run(&["list"]).ok().starts_with("No sessions yet."));
    let archived = folder.run(&["list", "--archived", "--tag", "bug"]).ok();
    assert!(
        archived.contains("first") && archived.contains("area/io bug") && !archived.contains("second"),
        "{archived}"
    );
    assert!(archived.contains("(pinned) (archived)"), "{archived}");
    // Archived ones are still meant by their names.
    assert_eq!(folder.run(&["unarchive", two]).ok(), format!("In the list again: {two} second\n"));
    let listed = folder.run(&["list"]).ok();
    assert!(listed.contains("second") && !listed.contains("first"), "{listed}");
    let all = folder.run(&["list", "--all"]).ok();
    assert!(all.contains("second") && all.contains("first"), "{all}");
    assert_eq!(folder.run(&["tag", one, "--remove", "bug"]).ok(), format!("Session {one} has the tags: area/io\n"));
    let told = json(&folder.run(&["unpin", one, "--json"]).ok());
    let expected =
        serde_json::json!({ "id": first, "title": "first", "pinned": false, "archived": true, "tags": ["area/io"] });
    assert_eq!(told["sessions"][0], expected);
    assert!(folder.run(&["tag", one, "two words"]).failed().contains("(tag_invalid)"));
    assert!(folder.run(&["list", "--pinned"]).ok().starts_with("No session matches."));
}

/// Pinned ones stand first, also where they are older than all that are asked for.
#[test]
fn pinned_sessions_are_listed_first() {
    let folder = Folder::new();
    for name in ["first", "second", "third"] {
        folder.run(&["new", "--name", name]).ok();
    }
    let names = |arguments: &[&str]| -> Vec<String> {
        let page = json(&folder.run(arguments).ok());
        page["sessions"].as_array().unwrap().iter().map(|row| row["title"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&["list", "--json"]), ["third", "second", "first"]);
    let page = json(&folder.run(&["list", "--json"]).ok());
    folder.run(&["pin", page["sessions"][2]["id"].as_str().unwrap()]).ok();
    assert_eq!(names(&["list", "--json"]), ["first", "third", "second"]);
    assert_eq!(names(&["list", "--json", "--limit", "2"]), ["first", "third"]);
    assert_eq!(names(&["list", "--json", "--agent", "guide"]), ["first", "third", "second"]);
}

#[test]
fn a_session_is_deleted_and_comes_back_unless_it_is_gone_for_good() {
    let folder = Folder::new();
    let server = folder.serve();
    let session = json(&folder.run(&["new", "--json"]).ok())["id"].as_str().unwrap().to_owned();
    let short = &session[session.len() - 8..];
    assert_eq!(
        folder.run(&["delete", short]).ok(),
        format!("Session {short} is deleted.\nWithin seven days `throughline undelete {session}` brings it back.\n")
    );
    assert!(folder.run(&["list"]).ok().starts_with("No sessions yet."));
    assert_eq!(folder.run(&["undelete", &session]).ok(), format!("Session {short} is back.\n"));
    assert!(folder.run(&["undelete", &session]).failed().ends_with("(session_not_deleted)\n"));
    let told = json(&folder.run(&["delete", "last", "--now", "--json"]).ok());
    assert_eq!(told, serde_json::json!({ "id": session, "restorable": false }));
    assert!(folder.run(&["undelete", &session]).failed().ends_with("(session_not_found)\n"));
    let none = folder.run(&["undelete", "last"]).failed();
    assert_eq!(none, "error: no session was deleted in the last seven days\n");
    server.stop();
}

#[test]
fn a_deleted_session_is_meant_by_the_end_of_its_id_or_as_the_last() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["list", "--deleted"]).ok(), "No session was deleted in the last seven days.\n");
    let new = || json(&folder.run(&["new", "--json"]).ok())["id"].as_str().unwrap().to_owned();
    let sessions: Vec<String> = (0..3).map(|_| new()).collect();
    let short: Vec<&str> = sessions.iter().map(|id| &id[id.len() - 8..]).collect();
    folder.run(&["rename", short[0], "put away"]).ok();
    folder.run(&["delete", short[1]]).ok();
    folder.run(&["delete", short[0]]).ok();
    let listed = folder.run(&["list", "--deleted"]).ok();
    let ids: Vec<&str> = listed.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(ids, [short[0], short[1]], "{listed}");
    assert!(listed.contains("put away"), "{listed}");
    let told = json(&folder.run(&["list", "--deleted", "--json", "--limit", "1"]).ok());
    assert_eq!((&told["sessions"][0]["id"], told["nextCursor"].is_string()), (&sessions[0].clone().into(), true));

    let there = folder.run(&["undelete", short[2]]).failed();
    let expected = format!(
        "error: no deleted session's id ends or begins with {}; `throughline list --deleted` shows them\n",
        short[2]
    );
    assert_eq!(there, expected);
    assert_eq!(folder.run(&["undelete", "last"]).ok(), format!("Session {} is back.\n", short[0]));
    assert_eq!(folder.run(&["undelete", &short[1].to_uppercase()]).ok(), format!("Session {} is back.\n", short[1]));
    assert_eq!(json(&folder.run(&["list", "--json"]).ok())["sessions"].as_array().unwrap().len(), 3);
}

#[test]
fn prompts_that_wait_are_listed_and_taken_out() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    insta::assert_snapshot!(folder.run(&["queue", "last"]).ok(), @"No prompts wait.");
    for text in ["slow 3600", "say one\nmore", "say two", "say three"] {
        folder.run(&["send", "last", "--no-wait", text]).ok();
        folder.until_logged("turn.started");
    }
    let listed = folder.run(&["queue", "last"]).ok();
    let of = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        (words[0].to_owned(), words[3..].join(" "))
    };
    let rows: Vec<_> = listed.lines().skip(1).map(of).collect();
    let row = |place: &str, text: &str| (place.to_owned(), text.to_owned());
    assert_eq!(rows, [row("1", "say one more"), row("2", "say two"), row("3", "say three")], "{listed}");
    insta::assert_snapshot!(folder.run(&["unqueue", "last", "2"]).ok(), @"It will not be sent: say two");
    let queue = json(&folder.run(&["queue", "last", "--json"]).ok());
    let third = queue["queue"][1]["interactionId"].as_str().unwrap().to_owned();
    assert_eq!(json(&folder.run(&["unqueue", "last", &third, "--json"]).ok())["text"], "say three");
    insta::assert_snapshot!(folder.run(&["unqueue", "last", "2"]).failed(), @"error: no such prompt waits; 1 do, and `throughline queue` lists them");
    assert_eq!(folder.run(&["unqueue", "last", "0"]).code, Some(2));
    folder.run(&["unqueue", "last", "1"]).ok();
    folder.run(&["stop", "last"]).ok();
    server.stop();
}
