//! Tests `throughline outputs` and `throughline output`: what was shown is listed, searched, removed and pruned.

use std::fs;

use crate::support::Folder;
use crate::terminal::Terminal;

#[test]
fn what_was_shown_is_listed_removed_and_pruned() {
    let folder = Folder::new();
    fs::write(folder.work().join("notes.txt"), "hello").unwrap();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    for _ in 0..2 {
        folder.run(&["send", "last", "show notes.txt"]).ok();
    }
    let listed: serde_json::Value = serde_json::from_str(&folder.run(&["outputs", "last", "--json"]).ok()).unwrap();
    let ids: Vec<&str> = listed.as_array().unwrap().iter().map(|output| output["id"].as_str().unwrap()).collect();
    let [first, second] = ids[..] else { panic!("{listed}") };

    // Where nobody can be asked, nothing goes without a word that says so.
    for asking in [&["outputs", "last", "--remove", first][..], &["outputs", "--prune", "0"]] {
        assert!(folder.run(asking).failed().contains("nobody can be asked here; add --yes"), "{asking:?}");
    }
    let removed = folder.run(&["outputs", "last", "--remove", first, "--yes"]).ok();
    assert_eq!(removed, format!("{first} is removed.\n"));
    let shown = folder.run(&["outputs", "last"]).ok();
    assert!(!shown.contains(first) && shown.contains(second), "{shown}");
    let told = folder.run(&["show", "last"]).ok();
    assert!(told.contains(&format!("throughline output {second}]")), "{told}");
    // Also a turn by itself, which is read without the entry that removed its output.
    let told = folder.run(&["show", "last", "--turn", "1"]).ok();
    assert!(told.contains("notes.txt, 1 line; it was removed since]"), "{told}");
    let told = folder.run(&["show", "last", "--turn", "2"]).ok();
    assert!(told.contains(&format!("notes.txt, 1 line; throughline output {second}]")), "{told}");
    assert!(folder.run(&["output", first]).failed().contains("no such output"));
    assert!(folder.run(&["outputs", "last", "--remove", first, "--yes"]).failed().contains("has no output"));

    let would = "1 output of 1 session, 5 B, older than 0 days would be removed.\n";
    assert_eq!(folder.run(&["outputs", "--prune", "0", "--dry-run"]).ok(), would);
    assert_eq!(folder.run(&["outputs", "--prune", "90"]).ok(), "Nothing was shown more than 90 days ago.\n");
    // At a terminal it asks, and anything but a yes is a no.
    let mut terminal = Terminal::begin(&folder, &["outputs", "--prune", "0"]);
    terminal.until("Remove 1 output of 1 session, 5 B, older than 0 days? [y/N]");
    terminal.type_line("n");
    let (status, said) = terminal.ended();
    assert!(!status.success() && said.contains("nothing was removed"), "{said}");
    assert!(folder.run(&["outputs", "last"]).ok().contains(second));

    let done = "1 output of 1 session, 5 B, older than 0 days removed.\n";
    assert_eq!(folder.run(&["outputs", "--prune", "0", "--yes"]).ok(), done);
    let nothing = "Nothing was shown in this session, or nothing of it is kept any more.\n";
    assert_eq!(folder.run(&["outputs", "last"]).ok(), nothing);
    for wrong in [
        &["outputs"][..],
        &["outputs", "last", "--prune", "1"],
        &["outputs", "--remove", first],
        &["outputs", "last", "--dry-run"],
    ] {
        assert!(!folder.command(wrong).output().unwrap().status.success(), "{wrong:?}");
    }
    server.stop();
}

#[test]
fn lines_of_what_was_shown_are_found_by_a_text_in_them() {
    let folder = Folder::new();
    // More lines than one answer has; what is looked for may be on any page, and be a part of an address.
    let line = |n: u32| match n {
        3 => "Error: 50% & more\u{1b}[31m\n".to_owned(),
        12_000 => "another ERROR at the end\n".to_owned(),
        n => format!("line {n}\n"),
    };
    fs::write(folder.work().join("log.txt"), (1..=12_000).map(line).collect::<String>()).unwrap();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    folder.run(&["send", "last", "show log.txt"]).ok();
    let listed: serde_json::Value = serde_json::from_str(&folder.run(&["outputs", "last", "--json"]).ok()).unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    let found = |arguments: &[&str]| folder.run(&[&["output", id], arguments].concat()).ok();
    let errors = found(&["--grep", "error"]);
    assert!(errors.starts_with("     3: Error: 50% & more") && !errors.contains('\u{1b}'), "{errors:?}");
    assert!(errors.ends_with("[31m\n 12000: another ERROR at the end\n"), "{errors:?}");
    assert_eq!(found(&["--grep", "50% & more"]), found(&["--grep", "ERROR", "--lines", "1-11999"]));
    assert_eq!(found(&["--grep", "line 11999"]), " 11999: line 11999\n");
    // Whoever finds nothing is told why.
    let remark = |arguments: &[&str]| {
        let ran = folder.run(&[&["output", id], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{arguments:?}");
        ran.stderr
    };
    assert_eq!(remark(&["--grep", "nowhere"]), format!("note: no line of {id} has this text\n"));
    let none = format!("note: none of these lines of {id} has this text\n");
    assert_eq!(remark(&["--grep", "error", "--lines", "4-9"]), none);
    assert_eq!(remark(&["--lines", "12001-12010"]), format!("note: {id} has only 12,000 lines\n"));
    assert_eq!(found(&["--grep", "line 1", "--lines", "9-11"]), "    10: line 10\n    11: line 11\n");
    // All lines, through every page.
    assert_eq!(found(&["--grep", "line"]).lines().count(), 11_998);
    server.stop();
}
