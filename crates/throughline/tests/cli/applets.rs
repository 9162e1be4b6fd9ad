//! Tests `throughline applets`: applets are listed, shown, opened and deleted, and go from one folder to another as a file.

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::Folder;
use crate::terminal::Terminal;

/// A small applet of the person's, as they would write it by hand.
const BOARD: &str = r#"{
  "throughline-applet": 1,
  "slug": "board",
  "name": "My board",
  "description": "Sorts tasks",
  "html": "<ul id=\"tasks\"></ul>",
  "js": "throughline.onState(() => {});",
  "params": { "list": { "required": true, "description": "Which list" } },
  "agentUsage": { "purpose": "Sorts tasks with the person.", "example": "load_applet({\"slug\": \"board\"})" },
  "state": { "tasks": ["a\u001b[31mred", "b"] }
}"#;

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Writes a file beside the sessions' directory, and gives its path.
fn written(folder: &Folder, name: &str, text: &str) -> PathBuf {
    let path = folder.work().join(name);
    fs::write(&path, text).unwrap();
    path
}

/// Runs a check twice: over the socket of a server, and in the command's own process.
fn with_and_without_a_server(check: impl Fn(&Folder)) {
    let folder = Folder::new();
    let server = folder.serve();
    check(&folder);
    server.stop();
    check(&Folder::new());
}

#[test]
fn an_applet_is_taken_in_listed_shown_and_deleted() {
    with_and_without_a_server(|folder| {
        let listed = folder.run(&["applets"]).ok();
        let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["SLUG", "NAME", "FROM", "SAVED", "DESCRIPTION"]);
        assert!(rows.iter().any(|row| row[..3] == ["counter", "Counter", "program"]), "{listed}");
        written(folder, "board.json", BOARD);
        assert_eq!(
            folder.run(&["applets", "import", "board.json", "--with-state"]).ok(),
            "My board (board) is saved with its state.\n`throughline applets open board` opens it.\n"
        );
        let listed = folder.run(&["applets", "list"]).ok();
        let first: Vec<&str> = listed.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(first, ["board", "My", "board", "yours", "now", "Sorts", "tasks"]);
        let rows = parsed(&folder.run(&["applets", "--json"]).ok());
        assert_eq!((&rows[0]["slug"], &rows[0]["bundled"]), (&"board".into(), &false.into()));

        let shown = folder.run(&["applets", "show", "board"]).ok();
        assert!(shown.starts_with("My board (board)\nSorts tasks\nYours, saved just now.\n"), "{shown}");
        for line in [
            "For agents: Sorts tasks with the person.",
            "list   yes     Which list",
            "    \"tasks\": [",
            "You have not allowed it to do anything beside keeping its state.",
            "  content.html  20 B",
        ] {
            assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
        }
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
        let shown = parsed(&folder.run(&["applets", "show", "board", "--json"]).ok());
        assert_eq!((&shown["state"]["tasks"][1], &shown["grants"]), (&"b".into(), &json!([])), "{shown}");
        let files = PathBuf::from(shown["folder"].as_str().unwrap());
        assert_eq!(fs::read_to_string(files.join("content.html")).unwrap(), "<ul id=\"tasks\"></ul>");
        let bundled = folder.run(&["applets", "show", "counter"]).ok();
        assert!(
            bundled.contains("\nIt comes with the program.\n") && bundled.contains("It has no files;"),
            "{bundled}"
        );

        assert_eq!(
            folder.run(&["applets", "delete", "board"]).failed(),
            "error: nobody can be asked here; add --yes if that is meant\n"
        );
        assert_eq!(folder.run(&["applets", "delete", "board", "--yes"]).ok(), "My board (board) is deleted.\n");
        assert!(!files.exists());
        assert!(folder.run(&["applets", "show", "board"]).failed().contains("there is no applet board; there are"));
        let refused = folder.run(&["applets", "delete", "counter", "--yes"]).failed();
        assert!(refused.contains("comes with the program"), "{refused}");
        for wrong in [&["applets", "show", "../etc"][..], &["applets", "delete", "_shown", "--yes"]] {
            assert_eq!(folder.run(wrong).code, Some(2), "{wrong:?}");
        }
    });
}

#[test]
fn an_applet_goes_from_one_folder_to_another_as_a_file() {
    let (here, there) = (Folder::new(), Folder::new());
    let server = there.serve();
    written(&here, "board.json", BOARD);
    assert_eq!(
        here.run(&["applets", "import", "board.json"]).ok(),
        "My board (board) is saved.\nThe file holds a state, too: with --replace --with-state it is set.\n`throughline applets open board` opens it.\n"
    );
    here.run(&["applets", "import", "board.json", "--replace", "--with-state"]).ok();
    let said = here.run(&["applets", "export", "board", "out.json", "--with-state"]).ok();
    assert_eq!(said, "My board is in out.json with its state\n");
    assert!(here.run(&["applets", "export", "board", "out.json"]).failed().contains("is there already"));
    let out = fs::read_to_string(here.work().join("out.json")).unwrap();
    assert!(out.starts_with("{\n  \"throughline-applet\": 1,\n  \"slug\": \"board\",\n"), "{out}");
    let (mut expected, mut found) = (parsed(BOARD), parsed(&out));
    assert_eq!(found["perSession"].take(), false);
    expected["perSession"] = Value::Null;
    assert_eq!(found, expected);
    // Without its state, and through a pipe.
    let piped = here.run(&["applets", "export", "board", "-"]).ok();
    assert!(parsed(&piped).get("state").is_none(), "{piped}");
    assert!(there.run_with_input(&["applets", "import", "-"], &piped).ok().starts_with("My board (board) is saved.\n"));

    let taken = there.run_with_input(&["applets", "import", "-"], &out).failed();
    assert!(taken.contains("there is an applet board already, My board (it is yours); --replace"), "{taken}");
    there.run_with_input(&["applets", "import", "-", "--as", "second", "--with-state"], &out).ok();
    let state = parsed(&there.run(&["applets", "show", "second", "--json"]).ok())["state"].take();
    assert_eq!(state["tasks"][1], "b");
    let never_set = there.run(&["applets", "show", "board"]).ok();
    assert!(never_set.contains("\nIts state was never set.\n"), "{never_set}");
    // One that comes with the program gives way only where that is meant, and is there again afterwards.
    let counter = there.run_with_input(&["applets", "import", "-", "--as", "counter"], &out).failed();
    assert!(counter.contains("Counter (it comes with the program)"), "{counter}");
    there.run_with_input(&["applets", "import", "-", "--as", "counter", "--replace"], &out).ok();
    assert_eq!(
        there.run(&["applets", "delete", "counter", "--yes"]).ok(),
        "My board (counter) is deleted.\nThe counter that comes with the program is there again.\n"
    );
    server.stop();
}

#[test]
fn what_is_no_applet_is_not_taken_in() {
    let folder = Folder::new();
    let refused = |text: &str, arguments: &[&str]| {
        written(&folder, "a.json", text);
        folder.run(&[&["applets", "import", "a.json"], arguments].concat()).failed()
    };
    assert!(refused("{}", &[]).contains("it is no applet that `throughline applets export` wrote"));
    assert!(refused(&BOARD.replace("-applet\": 1", "-applet\": 2"), &[]).contains("a newer version wrote it"));
    assert!(refused(&BOARD.replace("\"html\"", "\"HTML\""), &[]).contains("unknown field `HTML`"));
    assert!(refused(&BOARD.replace("\"board\"", "\"../x\""), &[]).contains("a slug has 1 to 64"));
    assert!(refused(&BOARD.replace("My board", ""), &[]).contains("(applet_invalid)"));
    let long = BOARD.replace("onState", &"x".repeat(1 << 20));
    assert!(refused(&long, &[]).contains("(applet_too_large)"));
    let nameless = BOARD.replace("\"slug\": \"board\",", "");
    assert!(refused(&nameless, &[]).contains("give it one with --as SLUG"));
    let stateless =
        BOARD.replace("\"state\"", "\"stateSchema\"").replace(r#"{ "tasks": ["a\u001b[31mred", "b"] }"#, "{}");
    assert!(refused(&stateless, &["--with-state"]).contains("holds no state"));
    let per_session = BOARD.replace("\"html\"", "\"perSession\": true, \"html\"");
    assert!(refused(&per_session, &["--with-state"]).contains("say which with --session SESSION"));
    assert!(folder.run(&["applets", "import", "gone.json"]).failed().contains("it can not be read"));
    let endless = folder.run(&["applets", "import", "/dev/zero"]).failed();
    assert!(endless.contains("it has more than 32 MiB"), "{endless}");
    assert!(!parsed(&folder.run(&["applets", "--json"]).ok()).to_string().contains("My board"));
}

#[test]
fn a_link_leads_a_browser_to_an_applet_and_signs_it_in() {
    let folder = Folder::new();
    assert!(folder.run(&["applets", "open", "counter"]).failed().contains("no server is running"));
    let server = folder.serve();
    assert!(folder.run(&["applets", "open", "counter", "--print"]).failed().contains("there is no session yet"));
    let id = parsed(&folder.run(&["new", "--json"]).ok())["id"].as_str().unwrap().to_owned();
    folder.run(&["new"]).ok();
    let link = |arguments: &[&str]| {
        let link = folder.run(&[&["applets", "open", "--print"], arguments].concat()).ok();
        let (address, code) = link.trim_end().split_once("#code=").unwrap();
        assert!(code.len() > 20, "{link}");
        address.to_owned()
    };
    assert_eq!(link(&["counter", "--session", &id]), format!("{}/s/{id}?applet=counter", server.url));
    let editor = link(&["text-editor", "path=src/a b&c.rs"]);
    assert!(!editor.contains(&id) && editor.ends_with("?applet=text-editor&path=src/a%20b%26c.rs"), "{editor}");
    assert!(folder.run(&["applets", "open", "nothing"]).failed().contains("there is no applet nothing"));
    assert!(folder.run(&["applets", "open", "_shown"]).failed().contains("shows no applet that is not saved"));
    written(&folder, "board.json", BOARD);
    folder.run(&["applets", "import", "board.json"]).ok();
    assert_eq!(
        folder.run(&["applets", "open", "board"]).failed(),
        "error: board needs to be given list, such as list=VALUE\n"
    );
    let many: Vec<String> = (0..21).map(|n| format!("k{n}=v")).collect();
    let many: Vec<&str> = ["applets", "open", "counter"].into_iter().chain(many.iter().map(String::as_str)).collect();
    assert!(folder.run(&many).failed().contains("at most 20"));
    server.stop();
}

#[test]
fn a_state_that_was_acknowledged_survives_a_kill() {
    let folder = Folder::new();
    let server = folder.serve();
    written(&folder, "board.json", BOARD);
    folder.run(&["applets", "import", "board.json"]).ok();
    let version = || parsed(&folder.run(&["applets", "show", "board", "--json"]).ok())["version"].as_u64().unwrap();
    for count in 1..=5 {
        written(&folder, "board.json", &BOARD.replace("\"b\"", &format!("\"{count}\"")));
        folder.run(&["applets", "import", "board.json", "--replace", "--with-state"]).ok();
    }
    let before = version();
    let (status, ..) = server.end(Signal::KILL);
    assert!(!status.success());
    let server = folder.serve();
    let shown = parsed(&folder.run(&["applets", "show", "board", "--json"]).ok());
    assert_eq!(shown["state"]["tasks"][1], "5");
    assert!(version() >= before, "versions only grow");
    server.stop();
}

#[test]
fn at_a_terminal_the_table_fits_and_a_delete_asks() {
    let folder = Folder::new().with_env("NO_COLOR", "1");
    written(&folder, "board.json", &BOARD.replace("Sorts tasks", &"long ".repeat(60)));
    folder.run(&["applets", "import", "board.json"]).ok();
    let (status, said) = Terminal::begin_sized(&folder, &["applets"], 80, 40).ended();
    assert!(status.success() && said.contains("long") && said.lines().all(|line| line.chars().count() <= 80), "{said}");
    let mut terminal = Terminal::begin(&folder, &["applets", "delete", "board"]);
    terminal.until("Delete My board (board) with its state, for every session? Nothing brings it back. [y/N]");
    terminal.type_line("n");
    let (status, said) = terminal.ended();
    assert!(!status.success() && said.contains("nothing was deleted"), "{said}");
    assert!(folder.run(&["applets"]).ok().contains("My board"));
}
