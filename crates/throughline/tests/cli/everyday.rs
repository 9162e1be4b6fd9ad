//! Tests the commands of every day: status, list, watch, open, export of a session, stop-server.

use std::fs;
use std::time::Instant;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{DEADLINE, Folder};
use crate::terminal::Terminal;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn status_says_whether_a_server_runs_and_what_needs_you() {
    let folder = Folder::new();
    let none = folder.run(&["status"]).ok();
    assert!(none.starts_with("No server is running.\n`throughline` starts one on "), "{none}");
    assert_eq!(json(&folder.run(&["status", "--json"]).ok())["running"], false);
    assert!(!folder.data().exists(), "asking makes nothing");

    let server = folder.serve();
    let idle = folder.run(&["status"]).ok();
    assert!(idle.contains(&format!("Running at {} (pid {})", server.url, server.pid())), "{idle}");
    assert!(idle.ends_with("Nothing runs, nothing needs you.\n"), "{idle}");
    folder.run(&["new", "--name", "the loom"]).ok();
    folder.run(&["send", "last", "--no-wait", "run echo hi"]).ok();
    folder.until_logged("permission.asked");
    let waiting = folder.run(&["status"]).ok();
    assert!(waiting.contains("1 needs you.\n") && waiting.contains("needs you     the loom"), "{waiting}");
    folder.run(&["new", "--name", "the shed"]).ok();
    folder.run(&["send", "last", "say done"]).ok();
    let counted = folder.run(&["status"]).ok();
    assert!(counted.contains("\n1 needs you, 1 is unseen.\n"), "one that needs you counts as nothing else: {counted}");
    let told = json(&folder.run(&["status", "--json"]).ok());
    assert_eq!((&told["running"], &told["needsYou"][0]["title"]), (&true.into(), &"the loom".into()), "{told}");
    server.stop();
}

#[test]
fn a_list_is_narrowed_by_words_agent_project_and_need() {
    let folder = Folder::new();
    let other = folder.home().join("other");
    fs::create_dir(&other).unwrap();
    for name in ["upload fails", "the loom"] {
        folder.run(&["new", "--name", name]).ok();
    }
    folder.run(&["new", "--name", "Upload elsewhere", "--cwd", other.to_str().unwrap()]).ok();
    let found = |arguments: &[&str]| {
        let arguments: Vec<&str> = ["list", "--json"].iter().chain(arguments).copied().collect();
        let page = json(&folder.run(&arguments).ok());
        let titles = page["sessions"].as_array().unwrap().iter().map(|row| row["title"].as_str().unwrap().to_owned());
        titles.collect::<Vec<_>>()
    };
    assert_eq!(found(&["upload"]), ["Upload elsewhere", "upload fails"]);
    assert_eq!(found(&["upload", "--here"]), ["upload fails"]);
    assert_eq!(found(&["--agent", "codex"]), Vec::<String>::new());
    assert_eq!(found(&["--needs-you"]), Vec::<String>::new());
    assert_eq!(found(&["--all"]).len(), 3);
    folder.run(&["tag", "last", "bug"]).ok();
    assert_eq!((found(&["BUG"]), found(&["guide"]).len()), (vec!["Upload elsewhere".to_owned()], 3));
    assert_eq!(found(&["--limit", "1"]), ["Upload elsewhere"]);
    assert!(folder.run(&["list", "--limit", "1"]).ok().ends_with("(the newest 1; --limit or --all shows more)\n"));
    assert_eq!(folder.run(&["list", "nothing", "has", "these"]).ok(), "No session matches.\n");
}

#[test]
fn a_list_fits_the_terminal() {
    let folder = Folder::new();
    let name = "a title that goes on and on ".repeat(6);
    folder.run(&["new", "--name", name.trim()]).ok();
    let (status, shown) = Terminal::begin_sized(&folder, &["list"], 80, 24).ended();
    assert!(status.success());
    let plain = without_colours(&shown);
    assert!(plain.lines().all(|line| line.chars().count() <= 80), "{plain}");
    assert!(plain.contains("…") && shown.contains("\u{1b}["), "{shown}");
    let (_, bare) = Terminal::begin_sized(&folder.with_env("NO_COLOR", "1"), &["list"], 80, 24).ended();
    assert!(!bare.contains('\u{1b}'), "{bare:?}");
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

/// An id used to be taken for the name of a file that everything was written into.
#[test]
fn a_session_is_exported_as_markdown_or_as_its_entries() {
    let folder = Folder::new();
    let id = json(&folder.run(&["new", "--name", "the loom", "--json"]).ok())["id"].as_str().unwrap().to_owned();
    folder.run(&["send", "last", "say warp and weft"]).ok();
    let text = folder.run(&["export", "last"]).ok();
    let head = format!("# the loom\n\nSession {id} with `guide` in `{}`, begun ", folder.work().display());
    assert!(text.starts_with(&head) && text.ends_with("\n## 1\n\n> say warp and weft\n\nwarp and weft\n"), "{text}");
    assert!(!folder.work().join(&id).exists());

    let said = folder.run(&["export", &id, "loom.md"]).ok();
    assert_eq!(said, format!("Session {} is in loom.md\n", &id[id.len() - 8..]));
    assert_eq!(fs::read_to_string(folder.work().join("loom.md")).unwrap(), text);
    assert!(folder.run(&["export", &id, "loom.md"]).failed().contains("loom.md is there already"));
    let lines = folder.run(&["export", &id, "--json"]).ok();
    assert_eq!(lines, folder.run(&["show", &id, "--json"]).ok());
    let none = folder.run(&["export", "everything.jsonl"]);
    assert!(none.code == Some(2) && none.stderr.contains("expected a session's id"), "{}", none.stderr);
    let none = folder.run(&["export"]);
    assert!(none.code == Some(2) && none.stderr.contains("<SESSION>"), "{}", none.stderr);
}

#[test]
fn a_session_is_watched_whoever_sends_to_it() {
    let folder = Folder::new();
    assert!(folder.run(&["watch", "last"]).failed().contains("no server is running"));
    let server = folder.serve();
    folder.run(&["new", "--name", "the loom"]).ok();
    folder.run(&["send", "last", "say first words"]).ok();
    let watching = folder.begin(&["watch", "last"]).until("t1 > say first words").until("first words");
    folder.run(&["send", "last", "say second words"]).ok();
    let watching = watching.until("t2 > say second words").until("second words");
    folder.run(&["send", "last", "fail over there"]).ok();
    let watching = watching.until("t3 > fail over there");
    let (status, _, _) = watching.end(Signal::INT);
    assert!(status.success(), "{status}");
    server.stop();
}

/// Watching only reads: what the agent asks is answered elsewhere.
#[test]
fn whoever_watches_is_not_asked() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    folder.run(&["send", "last", "say before"]).ok();
    let mut watching = Terminal::begin(&folder, &["watch", "last"]);
    watching.until("before\n");
    folder.run(&["send", "last", "--no-wait", "run echo hi"]).ok();
    let shown = watching.until("the agent waits: answer on the page");
    assert!(!shown.contains("allow, always, deny"), "{shown}");
    folder.run(&["answer", "last", "allow"]).ok();
    watching.until("allowed once by command line");
    server.stop();
}

#[test]
fn a_link_leads_a_browser_to_a_turn_and_signs_it_in() {
    let folder = Folder::new();
    assert!(folder.run(&["open"]).failed().contains("no server is running"));
    let server = folder.serve();
    let id = json(&folder.run(&["new", "--json"]).ok())["id"].as_str().unwrap().to_owned();
    let link = folder.run(&["open", "last", "--turn", "t7", "--print"]).ok();
    let (address, rest) = link.trim_end().split_once("#code=").unwrap();
    assert_eq!(address, format!("{}/s/{id}", server.url));
    assert!(rest.ends_with("&at=t7") && rest.len() > 20, "{link}");
    server.stop();
}

#[test]
fn the_server_is_stopped_from_elsewhere() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["stop-server"]).ok(), "No server is running.\n");
    let server = folder.serve();
    let pid = server.pid();
    // Nobody waits for the server's process meanwhile, so it stays as a zombie.
    assert_eq!(folder.run(&["stop-server"]).ok(), format!("The server (pid {pid}) has stopped.\n"));
    assert!(server.ended().success());
    assert_eq!(folder.run(&["stop-server"]).ok(), "No server is running.\n");
}

/// A plan was printed anew for every step.
#[test]
fn a_plan_is_printed_once_and_then_its_changes() {
    let folder = Folder::new();
    folder.run(&["new"]).ok();
    let said = folder.run(&["send", "last", "plan warp; weft; cut"]).ok();
    let count = |words: &str| said.lines().filter(|line| line.ends_with(words)).count();
    assert_eq!((count("[x] warp"), count("[x] cut")), (1, 1), "{said}");
    assert!(count("] warp") <= 3 && count("] cut") <= 3, "{said}");
    assert!(said.ends_with("The plan is done.\n"), "{said}");
}

/// Words that are not stored yet could still be lost: a terminal is shown none of them, whoever asked for the turn.
#[test]
fn a_terminal_prints_stored_words_only() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new", "--name", "the loom"]).ok();
    let mut watching = Terminal::begin(&folder, &["watch", "last"]);
    watching.until("the loom");
    let mut sending = Terminal::begin(&folder, &["send", "last", "long 4000"]);
    let sent = sending.until("word200 ");
    let watched = watching.until("word200 ");
    server.end(Signal::KILL);
    let stored = folder.run(&["show", "last"]).stdout;
    for printed in [sent + &sending.ended().1, watched + &watching.ended().1] {
        let words: Vec<&str> =
            printed.split_inclusive(char::is_whitespace).filter(|word| word.starts_with("word")).collect();
        let last = words.iter().rfind(|word| word.ends_with(char::is_whitespace)).unwrap().trim();
        assert!(stored.split_whitespace().any(|word| word == last), "{last} was printed and is not stored");
    }
}

/// Whether the only session is marked as unseen in the list.
fn is_unseen(folder: &Folder) -> bool {
    let page = json(&folder.run(&["list", "--json"]).ok());
    page["sessions"][0]["unobserved"].as_bool().unwrap()
}

/// Who reads a session at a terminal has seen it; a script has not.
#[test]
fn what_is_read_at_a_terminal_is_seen() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    folder.run(&["send", "last", "say one"]).ok();
    assert!(is_unseen(&folder), "nobody reads a pipe");
    for piped in [&["show", "last"][..], &["show", "last", "--json"]] {
        folder.run(piped).ok();
        assert!(is_unseen(&folder), "{piped:?}");
    }
    assert!(Terminal::begin(&folder, &["show", "last", "--json"]).ended().0.success());
    assert!(is_unseen(&folder), "JSON is for programs");
    assert!(Terminal::begin(&folder, &["show", "last"]).ended().0.success());
    assert!(!is_unseen(&folder), "show");

    assert!(Terminal::begin(&folder, &["send", "last", "--json", "say two"]).ended().0.success());
    assert!(is_unseen(&folder), "JSON is for programs");
    assert!(Terminal::begin(&folder, &["show", "last", "--turn", "t1"]).ended().0.success());
    assert!(is_unseen(&folder), "an older turn is not what came last");
    assert!(Terminal::begin(&folder, &["show", "last", "--turn", "t2"]).ended().0.success());
    assert!(!is_unseen(&folder), "the newest turn is");
    assert!(Terminal::begin(&folder, &["send", "last", "say three"]).ended().0.success());
    assert!(!is_unseen(&folder), "send");

    folder.run(&["send", "last", "say four"]).ok();
    assert!(is_unseen(&folder));
    let mut watching = Terminal::begin(&folder, &["watch", "last"]);
    watching.until("four");
    // It is marked once the end of the turn is printed.
    let started = Instant::now();
    while is_unseen(&folder) {
        assert!(started.elapsed() < DEADLINE, "watch");
    }
    server.stop();
}

/// The same without a server: the command does the work itself.
#[test]
fn what_is_read_at_a_terminal_is_seen_without_a_server() {
    let folder = Folder::new();
    folder.run(&["new"]).ok();
    folder.run(&["send", "last", "say one"]).ok();
    assert!(is_unseen(&folder));
    assert!(Terminal::begin(&folder, &["show", "last"]).ended().0.success());
    assert!(!is_unseen(&folder));
}
