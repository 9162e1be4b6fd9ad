//! Tests a step during which the process dies, at each point of the way: it leads to one session of one work, whose
//! agent is sent one prompt, and taking it again has the same result. The same for a fork.

use std::os::unix::process::ExitStatusExt as _;

use serde_json::{Value, json};

use crate::client::{Client, Told};
use crate::support::Folder;

const SIGABRT: i32 = 6;

/// How many entries of a log are of this kind.
fn count(entries: &[Value], kind: &str) -> usize {
    entries.iter().filter(|entry| entry["type"] == kind).count()
}

fn click(client: &Client, session: &str) -> Option<Told> {
    client.call(&format!("POST /api/v1/sessions/{session}/next/t1.n1"), None, &json!({}))
}

/// Every work, as its name and its sessions.
fn works(client: &Client) -> Vec<(String, Vec<String>)> {
    let page = client.get("/meta-contexts");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let sessions = |work: &Value| work["sessionIds"].as_array().unwrap().iter().map(text).collect();
    page.body["metaContexts"].as_array().unwrap().iter().map(|work| (text(&work["name"]), sessions(work))).collect()
}

/// What was stored when the process died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Nothing,
    /// The click and everything that follows from it.
    Click,
    /// Also that the prompt was sent: it is not sent again.
    Sent,
}

/// Takes a step with a server that dies at this point, and then with one that does not; returns what the first one
/// stored.
fn die_at(points: &str) -> Kept {
    let folder = Folder::new();
    let server = folder.serve();
    let client = Client::new(&folder, &server);
    let session = client.session();
    client.prompt(&session, "offer", "next Go on | say hello | loom").unwrap();
    client.until_entry(&session, |entry| entry["type"] == "turn.ended");
    server.stop();

    let server = folder.serve_failing(points);
    let told = click(&Client::new(&folder, &server), &session);
    assert_eq!(server.ended().signal(), Some(SIGABRT), "{points}: {}", folder.log());

    let server = folder.serve();
    let client = Client::new(&folder, &server);
    let after_crash = works(&client);
    let kept = match after_crash.as_slice() {
        [] => Kept::Nothing,
        [(name, sessions)] => {
            assert_eq!((name.as_str(), sessions.len()), ("loom", 1), "{points}");
            // It continues without another request.
            client.until_entry(&sessions[0], |entry| entry["type"] == "turn.ended");
            match client.entries(&sessions[0]).iter().find(|entry| entry["type"] == "turn.ended") {
                Some(ended) if ended["data"]["outcome"] == "interrupted" => Kept::Sent,
                Some(_) | None => Kept::Click,
            }
        }
        several => panic!("{points}: {several:?}"),
    };

    let again = click(&client, &session).unwrap();
    assert_eq!(again.status, 200, "{points}: {}", again.body);
    assert!(told.as_ref().is_none_or(|told| *told == again), "{points}: {told:?} became {again:?}");
    assert_eq!(click(&client, &session), Some(again.clone()), "{points}");
    let begun = again.body["sessionId"].as_str().unwrap();
    client.until_entry(begun, |entry| entry["type"] == "turn.ended");
    server.stop();

    // Another restart adds nothing.
    let server = folder.serve();
    let client = Client::new(&folder, &server);
    assert_eq!(click(&client, &session), Some(again.clone()), "{points}");
    assert_eq!(works(&client), [("loom".to_owned(), vec![begun.to_owned()])], "{points}");
    assert!(after_crash.is_empty() || after_crash == works(&client), "{points}: {after_crash:?}");
    assert_eq!(client.get("/sessions").body["sessions"].as_array().unwrap().len(), 2, "{points}");
    let entries = client.entries(begun);
    for kind in ["session.created", "prompt.queued", "turn.started", "prompt.sent", "turn.ended"] {
        assert_eq!(count(&entries, kind), 1, "{points}: {kind} in {entries:#?}");
    }
    assert_eq!(count(&client.entries(&session), "next.clicked"), 1, "{points}");
    server.stop();
    kept
}

#[test]
fn a_crash_before_a_click_is_stored_leaves_nothing_of_it() {
    for points in ["click-decided=panic", "store-commit=panic"] {
        assert_eq!(die_at(points), Kept::Nothing, "{points}");
    }
}

#[test]
fn a_click_that_is_stored_goes_on_by_itself_after_a_crash() {
    for points in [
        "store-committed=panic",
        "engine-appended=panic",
        "engine-published=panic",
        "click-appended=panic",
        "click-published=panic",
        "work-start=panic",
    ] {
        assert_eq!(die_at(points), Kept::Click, "{points}");
    }
}

/// The commits after the click's own: the agent starts, is ready and is sent the prompt, and answers.
#[test]
fn a_crash_while_the_agent_of_a_new_session_starts_sends_its_prompt_once() {
    let kept: Vec<Kept> = ["store-commit", "store-committed", "engine-appended", "engine-published"]
        .into_iter()
        .flat_map(|point| (1..=3).map(move |commits| format!("{point}={commits}*off->panic")))
        .chain(["work-started=panic".to_owned()])
        .map(|points| die_at(&points))
        .collect();
    assert!(!kept.contains(&Kept::Nothing), "{kept:?}");
    // Both cases occurred: before and after the prompt was sent.
    assert!(kept.contains(&Kept::Click) && kept.contains(&Kept::Sent), "{kept:?}");
}

/// A fork and its first prompt are one append: what is stored of it when the process dies goes on by itself, once.
#[test]
fn a_fork_that_is_stored_goes_on_by_itself_after_a_crash() {
    for points in ["store-committed=panic", "engine-published=panic", "work-start=panic"] {
        let folder = Folder::new();
        let server = folder.serve();
        let client = Client::new(&folder, &server);
        let session = client.session();
        client.prompt(&session, "first", "say one").unwrap();
        client.until_entry(&session, |entry| entry["type"] == "turn.ended");
        server.stop();

        let server = folder.serve_failing(points);
        let fork = json!({ "turn": 1, "prompt": "say two" });
        Client::new(&folder, &server).call(&format!("POST /api/v1/sessions/{session}/fork"), Some("fork"), &fork);
        assert_eq!(server.ended().signal(), Some(SIGABRT), "{points}: {}", folder.log());

        let server = folder.serve();
        let client = Client::new(&folder, &server);
        let sessions = client.get("/sessions").body["sessions"].clone();
        let ids: Vec<&str> = sessions.as_array().unwrap().iter().filter_map(|row| row["id"].as_str()).collect();
        let [begun] = ids.into_iter().filter(|id| *id != session).collect::<Vec<_>>()[..] else {
            panic!("{points}: {sessions}")
        };
        client.until_entry(begun, |entry| entry["type"] == "turn.ended");
        let entries = client.entries(begun);
        for kind in ["session.created", "prompt.queued", "turn.started", "prompt.sent", "turn.ended"] {
            assert_eq!(count(&entries, kind), 1, "{points}: {kind} in {entries:#?}");
        }
        assert_eq!(count(&client.entries(&session), "session.forked"), 1, "{points}");
        server.stop();
    }
}
