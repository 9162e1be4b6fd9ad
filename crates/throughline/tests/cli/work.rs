//! Tests works at the command line, and the steps from one of their sessions to the next.

use std::fs;

use serde_json::Value;

use crate::support::{Folder, Running};
use crate::terminal::Terminal;

const OFFER: &str = "next Go on | say hello | loom";

/// Runs a check twice: over the socket of a server, and in the command's own process.
fn with_and_without_a_server(check: impl Fn(&Folder)) {
    let folder = Folder::new();
    let server: Running = folder.serve();
    check(&folder);
    server.stop();
    check(&Folder::new());
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Begins a session and returns its id.
fn begin(folder: &Folder, arguments: &[&str]) -> String {
    let arguments = [&["new", "--json"], arguments].concat();
    json(&folder.run(&arguments).ok())["id"].as_str().unwrap().to_owned()
}

fn short(id: &str) -> &str {
    &id[id.len() - 8..]
}

/// The sessions of the work of this name.
fn members(folder: &Folder, name: &str) -> Vec<String> {
    let shown = json(&folder.run(&["work", "show", name, "--json"]).ok());
    let ids = shown["sessions"].as_array().unwrap().iter();
    ids.map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_step_is_listed_taken_and_shown_where_it_led() {
    with_and_without_a_server(|folder| {
        let first = begin(folder, &[]);
        let a = short(&first);
        assert_eq!(folder.run(&["next", a]).ok(), format!("The agent of session {a} offers no steps.\n"));
        folder.run(&["send", a, OFFER]).ok();
        let step =
            format!("-> t1.n1  Go on  (work: loom)\n   | say hello\n   open: `throughline next {a} t1.n1` takes it\n");
        assert_eq!(folder.run(&["next", a]).ok(), step);
        let open = json(&folder.run(&["next", a, "--json"]).ok());
        assert_eq!(
            (&open["blocks"][0]["id"], &open["blocks"][0]["state"]),
            (&"t1.n1".into(), &"open".into()),
            "{open}"
        );
        let shown = folder.run(&["show", a]).ok();
        assert!(shown.contains("  -> t1.n1  Go on  (work: loom)\n     | say hello\n     open: "), "{shown}");
        assert!(!shown.contains("```") && !shown.contains("metaContext"), "{shown}");

        let taken = folder.run(&["next", a, "t1.n1"]).ok();
        let second = members(folder, "loom").pop().unwrap();
        let b = short(&second);
        assert_eq!(taken, format!("t1.n1 is taken: session {b} with guide, part of loom\n   | say hello\nhello\n"));
        let shown = folder.run(&["show", a]).ok();
        assert!(shown.contains(&format!("     taken: session {b}\n")), "{shown}");
        let shown = folder.run(&["show", b]).ok();
        assert!(shown.contains(&format!("\npart of loom, started from t1.n1 of session {a}\n")), "{shown}");
        assert!(shown.contains("t1 > (step t1.n1) say hello\n"), "{shown}");
        // Once more: it leads to the same session.
        let again = folder.run(&["next", a, "t1.n1", "--json"]).ok();
        assert_eq!(json(&again)["sessionId"], second.as_str(), "{again}");
        let told = format!(
            "t1.n1 was taken already: session {b} with guide, part of loom\n   | say hello\n`throughline show {b}` prints it.\n"
        );
        assert_eq!(folder.run(&["next", a, "t1.n1"]).ok(), told);
        assert_eq!(members(folder, "loom"), [second]);
    });
}

#[test]
fn an_answer_with_blocks_is_printed_as_people_read_it() {
    with_and_without_a_server(|folder| {
        let first = begin(folder, &[]);
        let a = short(&first);
        let step = format!("-> t1.n1  Go on  (`throughline next {a} t1.n1` takes it)");
        let said = folder.run(&["send", a, OFFER]).ok();
        assert!(said.lines().any(|line| line == step), "{said}");
        let requirements = folder.run(&["send", a, "phase requirements loom"]).ok();
        let shown = folder.run(&["show", a, "--turn", "2"]).ok();
        let cards = |said: &str| {
            let cards = said.lines().map(str::trim_start).filter(|line| line.starts_with("[use case]"));
            cards.map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(!cards(&requirements).is_empty() && cards(&requirements) == cards(&shown), "{requirements}\n{shown}");
        for said in [said, requirements] {
            assert!(!said.contains("```") && !said.contains("metaContext"), "{said}");
        }
        let code = "say look:\n```rust\nlet a = `1`;\n```\ndone";
        assert_eq!(folder.run(&["send", a, code]).ok(), format!("{}\n", &code[4..]));
    });
}

#[test]
fn a_terminal_shows_no_fence_of_a_block() {
    let folder = Folder::new();
    let first = begin(&folder, &[]);
    let (status, said) = Terminal::begin(&folder, &["send", &first, OFFER]).ended();
    assert!(status.success(), "{said}");
    assert!(said.contains("-> t1.n1  Go on  (`throughline next"), "{said}");
    assert!(!said.contains("```") && !said.contains("metaContext"), "{said}");
}

#[test]
fn a_work_is_listed_shown_and_read_as_one() {
    with_and_without_a_server(|folder| {
        assert!(folder.run(&["work"]).ok().starts_with("No pieces of work yet."));
        let first = begin(folder, &["--work", " loom "]);
        let a = short(&first);
        folder.run(&["send", a, "say one"]).ok();
        folder.run(&["send", a, OFFER]).ok();
        folder.run(&["next", a, "--take"]).ok();
        let ids = members(folder, "loom");
        assert_eq!((ids.len(), &ids[0]), (2, &first), "{ids:?}");
        let b = short(&ids[1]);

        let listed = folder.run(&["work"]).ok();
        let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["ID", "SESSIONS", "TURNS", "ACTIVE", "NAME"]);
        assert_eq!(rows[1][1..], ["2", "3", "now", "loom"]);
        let id = rows[1][0].to_owned();
        let shown = folder.run(&["work", "show", &id]).ok();
        let rows: Vec<Vec<&str>> = shown.lines().map(|line| line.split_whitespace().collect()).collect();
        assert!(shown.starts_with("loom\n2 sessions, 3 turns, in "), "{shown}");
        assert_eq!((rows[4][0], rows[5][0]), (a, b), "{shown}");
        assert!(shown.lines().nth(5).unwrap().contains(&format!("t2.n1 of {a}")), "{shown}");

        let toc = folder.run(&["work", "toc", "loom"]).ok();
        let lines: Vec<&str> = toc.lines().collect();
        assert_eq!((lines[0], lines[3], lines[7]), ("loom", "1. say one  [t1]", "3. say hello  [t1]"), "{toc}");
        assert!(lines[2].ends_with(&format!("({a})")) && lines[6].ends_with(&format!("({b})")), "{toc}");
        let toc = json(&folder.run(&["work", "toc", &id, "--json"]).ok());
        assert_eq!((&toc["total_turns"], &toc["entries"][2]["number"]), (&3.into(), &3.into()), "{toc}");

        let listed = folder.run(&["list"]).ok();
        assert!(listed.lines().next().unwrap().contains("WORK") && listed.matches("loom").count() >= 2, "{listed}");

        let renamed = folder.run(&["work", "rename", "loom", "weave"]).ok();
        assert_eq!(renamed, "loom is called weave now. Blocks that use an old name still lead to it.\n");
        folder.run(&["send", b, OFFER]).ok();
        folder.run(&["next", b, "--take"]).ok();
        assert_eq!(members(folder, "weave").len(), 3);
        let told = folder.run(&["work", "delete", "weave"]).failed();
        assert_eq!(told, "error: nobody can be asked here; add --yes if that is meant\n");
        assert_eq!(folder.run(&["work", "delete", "weave", "--yes"]).ok(), "weave is deleted. Its 3 sessions stay.\n");
        assert!(folder.run(&["work"]).ok().starts_with("No pieces of work yet."));
        assert!(!folder.run(&["list"]).ok().contains("WORK"));
        assert!(folder.run(&["show", b]).ok().contains("t1 > (step t2.n1) say hello\n"));
    });
}

/// More turns than a page of the contents holds, and a session that is split between pages.
#[test]
fn the_contents_of_a_long_work_are_read_to_the_end() {
    let folder = Folder::new();
    let server = folder.serve();
    let first = begin(&folder, &["--work", "loom"]);
    let client = crate::client::Client::new(&folder, &server);
    // As many at once as may wait.
    for last in (50..=500).step_by(50) {
        for number in last - 49..=last {
            let told = client.prompt(&first, &number.to_string(), &format!("say number {number}")).unwrap();
            assert_eq!(told.status, 202, "{}", told.body);
        }
        client.until_entry(&first, |entry| entry["type"] == "turn.ended" && entry["data"]["turn"] == last);
    }
    folder.run(&["send", &first, "say the last"]).ok();
    let second = begin(&folder, &["--work", "loom"]);
    folder.run(&["send", &second, "say the very last"]).ok();
    let toc = folder.run(&["work", "toc", "loom"]).ok();
    assert_eq!(toc.lines().filter(|line| line.ends_with(']')).count(), 502, "{toc}");
    assert_eq!(toc.matches(&format!("({})", short(&first))).count(), 1, "{toc}");
    assert!(toc.ends_with(&format!("({})\n502. say the very last  [t1]\n", short(&second))), "{toc}");
    let toc = json(&folder.run(&["work", "toc", "loom", "--json"]).ok());
    assert_eq!(toc["entries"].as_array().unwrap().len(), 502);
    // A line a turn and one before each session.
    assert_eq!(toc["formatted"].as_str().unwrap().lines().count(), 504);
    server.stop();
}

#[test]
fn a_name_of_several_projects_is_meant_where_one_stands() {
    let mut folder = Folder::new();
    for project in ["one", "two"] {
        let path = folder.work().join(project);
        fs::create_dir_all(path.join(".git")).unwrap();
        fs::create_dir(path.join("deep")).unwrap();
        begin(&folder, &["--work", "loom", "--cwd", path.to_str().unwrap()]);
    }
    let (one, two) = (folder.work().join("one"), folder.work().join("two"));
    let told = folder.run(&["work", "show", "loom"]).failed();
    assert!(
        told.starts_with("error: 2 projects have a piece of work called loom; go to one of them, or say its id:\n"),
        "{told}"
    );
    assert!(told.contains(one.to_str().unwrap()) && told.contains(two.to_str().unwrap()), "{told}");
    let listed = folder.run(&["work"]).ok();
    assert!(listed.contains("PROJECT") && listed.contains(one.to_str().unwrap()), "{listed}");
    folder.stand_in(two.join("deep"));
    assert!(folder.run(&["work", "show", "loom"]).ok().contains(two.to_str().unwrap()));
    let told = folder.run(&["work", "rename", "lom", "weave"]).failed();
    assert_eq!(told, "error: no piece of work is called lom; did you mean loom?\n");
    folder.run(&["work", "rename", "loom", "weave"]).ok();
    // Only one has this name.
    assert!(folder.run(&["work", "show", "loom"]).ok().contains(one.to_str().unwrap()));
    folder.stand_in(one.clone());
    folder.run(&["work", "rename", "loom", "weft"]).ok();
    // Both had it, and the same holds.
    assert!(folder.run(&["work", "show", "loom"]).ok().starts_with("weft\n"));
    folder.stand_in(folder.work());
    let told = folder.run(&["work", "show", "loom"]).failed();
    assert!(
        told.starts_with("error: 2 projects have a piece of work that was called loom; go to one of them"),
        "{told}"
    );
    folder.run(&["work", "delete", "weft", "--yes"]).ok();
    let told = folder.run(&["work", "delete", "loom", "--yes"]).failed();
    assert_eq!(told, "error: loom is called weave now; say that if it is meant\n");
    assert!(folder.run(&["work", "show", "loom"]).ok().starts_with("weave\n"), "wherever one stands");
}

#[test]
fn a_work_whose_sessions_are_gone_is_there_by_its_name() {
    with_and_without_a_server(|folder| {
        let only = begin(folder, &["--work", "loom"]);
        folder.run(&["delete", &only]).ok();
        assert!(!folder.run(&["work"]).ok().contains("loom"));
        let shown = folder.run(&["work", "show", "loom"]).ok();
        assert!(shown.starts_with("loom\nno session, "), "{shown}");
        folder.run(&["work", "rename", "loom", "weave"]).ok();
        folder.run(&["work", "delete", "weave", "--yes"]).ok();
        assert_eq!(
            folder.run(&["work", "show", "weave"]).failed(),
            "error: no piece of work is called weave; `throughline work` lists them\n"
        );
    });
}

#[test]
fn steps_that_can_not_be_taken_say_why_and_what_to_do() {
    with_and_without_a_server(|folder| {
        let first = begin(folder, &[]);
        let a = short(&first);
        folder.run(&["send", a, OFFER]).ok();
        folder.run(&["send", a, "next Nowhere | say x | "]).ok();
        folder.run(&["send", a, "next Weave | say y | weave"]).ok();
        folder.run(&["send", a, "next Again | say hello again | loom"]).ok();
        insta::allow_duplicates! {
            let failed = |arguments: &[&str]| folder.run(arguments).failed().replace(a, "A");
            insta::assert_snapshot!(failed(&["next", a, "t1.n1"]), @"error: t1.n1 is old: a later turn offers a step of the same work. The newest: `throughline next A t4.n1`");
            insta::assert_snapshot!(failed(&["next", a, "t2.n1"]), @"error: t2.n1 leads nowhere: the agent did not say which piece of work it belongs to. Ask it to offer the step again, with a metaContext");
            insta::assert_snapshot!(failed(&["next", a, "t9.n1"]), @"error: session A offers no step t9.n1; `throughline next A` lists what it offers");
            insta::assert_snapshot!(failed(&["next", a, "--take"]), @"error: 2 steps are open: t4.n1, t3.n1. Say which, as in `throughline next A t4.n1`");
            insta::assert_snapshot!(failed(&["next", a, "t4.n1", "--agent", "nobody"]), @"error: there is no agent named nobody; there are: claude, codex, gemini, copilot, opencode, qwen, kimi, goose, cline, pi, cursor, kiro, vibe, auggie, droid, kilo, qoder, guide (unknown_agent)");
        }
        let listed = folder.run(&["next", a]).ok();
        let standing: Vec<&str> =
            listed.lines().filter(|line| !line.contains('|') && !line.starts_with("->")).collect();
        assert_eq!(
            standing[2..],
            ["   leads nowhere: the agent did not say which work it belongs to", "   t4 offers a later step"],
            "{listed}"
        );
        for wrong in [&["next", a, "n1"][..], &["next", a, "--model", "x"], &["next", a, "t1.n1", "--take"]] {
            assert_eq!(folder.run(wrong).code, Some(2), "{wrong:?}");
        }
        folder.run(&["next", a, "t4.n1"]).ok();
        folder.run(&["next", a, "--take"]).ok();
        insta::allow_duplicates! {
            insta::assert_snapshot!(folder.run(&["next", a, "--take"]).failed().replace(a, "A"), @"error: no step of session A is open; `throughline next A` lists what became of them");
        }
    });
}

/// The new session's entries come a line each, after the result of the step.
#[test]
fn programs_take_steps_too() {
    with_and_without_a_server(|folder| {
        let first = begin(folder, &[]);
        folder.run(&["send", &first, OFFER]).ok();
        let told = folder.run(&["next", &first, "t1.n1", "--json"]).ok();
        let lines: Vec<Value> = told.lines().map(json).collect();
        assert!(lines[0]["metaContextId"].is_string(), "{told}");
        let begun = lines[0]["sessionId"].as_str().unwrap();
        assert_ne!(begun, first);
        let kinds: Vec<&str> = lines[1..].iter().map(|entry| entry["type"].as_str().unwrap()).collect();
        assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("prompt.queued", "turn.ended"), "{told}");
        assert_eq!(kinds.iter().filter(|kind| **kind == "prompt.sent").count(), 1, "{told}");
    });
}

#[test]
fn a_step_can_be_left_with_a_server_and_only_with_one() {
    let folder = Folder::new();
    let server = folder.serve();
    let first = begin(&folder, &[]);
    folder.run(&["send", &first, "next Slowly | slow 3600 | loom"]).ok();
    folder.run(&["next", &first, "--take", "--detach"]).ok();
    folder.until_logged("turn.started");
    let begun = members(&folder, "loom").pop().unwrap();
    assert!(folder.run(&["show", &begun]).ok().ends_with("[running …]\n"));
    server.stop();
    folder.run(&["send", &first, OFFER]).ok();
    insta::assert_snapshot!(folder.run(&["next", &first, "--take", "--detach"]).failed(), @"error: no server is running that could go on with it; leave out --detach, or start one with `throughline`");
    assert_eq!(members(&folder, "loom").len(), 1);
}

/// Without a server the command that took it is all there is; the next one continues.
#[test]
fn a_step_whose_command_was_killed_goes_on_when_it_is_taken_again() {
    for point in ["click-appended", "work-start", "work-started"] {
        let folder = Folder::new();
        let first = begin(&folder, &[]);
        folder.run(&["send", &first, OFFER]).ok();
        let killed = folder.command(&["next", &first, "--take"]).env("FAILPOINTS", format!("{point}=panic")).output();
        assert_eq!(killed.unwrap().status.code(), None, "{point}");
        let again = folder.run(&["next", &first, "t1.n1"]).ok();
        let begun = members(&folder, "loom");
        let told = format!("t1.n1 was taken already: session {} with guide, part of loom\n", short(&begun[0]));
        assert_eq!((again, begun.len()), (format!("{told}   | say hello\nhello\n"), 1), "{point}");
    }
}

#[test]
fn a_person_is_asked_before_a_work_is_taken_apart() {
    let folder = Folder::new();
    begin(&folder, &["--work", "loom"]);
    for (answer, left) in [("n", true), ("", true), ("y", false)] {
        let mut terminal = Terminal::begin(&folder, &["work", "delete", "loom"]);
        terminal.until("Delete loom? Its session stays. [y/N] ");
        terminal.type_line(answer);
        let (status, shown) = terminal.ended();
        assert_eq!(status.success(), !left, "{shown}");
        assert!(
            shown.ends_with(if left {
                "error: nothing was deleted\n"
            } else {
                "loom is deleted. Its session stays.\n"
            }),
            "{shown}"
        );
    }
    assert!(folder.run(&["work"]).ok().starts_with("No pieces of work yet."));
}

#[test]
fn a_fork_goes_on_from_a_turn_in_a_session_of_its_own() {
    with_and_without_a_server(|folder| {
        let first = begin(folder, &["--name", "the loom"]);
        let a = short(&first);
        for text in ["say one", "say two"] {
            folder.run(&["send", a, text]).ok();
        }
        let forked = json(&folder.run(&["fork", a, "t1", "--name", "aside", "--json"]).ok());
        assert_eq!(forked["from"], serde_json::json!({ "session": first, "turn": 1 }), "{forked}");
        let b = short(forked["id"].as_str().unwrap()).to_owned();
        let shown = folder.run(&["show", &b]).ok();
        assert!(shown.contains(&format!("forked from t1 of session {a}\n")), "{shown}");
        assert_eq!(folder.run(&["send", &b, "say on"]).ok(), "on\n");
        let noted = folder.run(&["show", a]).ok();
        assert!(noted.contains(&format!("-- forked from t1 into session {b} --\n")), "{noted}");

        let told = folder.run(&["fork", a]).ok();
        assert!(told.contains(&format!(", forked from t2 of {a}\nTalk to it: throughline")), "{told}");
        let none = folder.run(&["fork", a, "7"]).failed();
        assert!(none.contains("there is no turn t7; the newest is t2"), "{none}");
    });
}
