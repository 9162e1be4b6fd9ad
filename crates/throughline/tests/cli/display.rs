//! Tests commands that are shown, with the real binary: asked about at the command line, printed safely, and gone with a
//! server that is killed.

use std::fs;
use std::path::Path;

use rustix::process::Signal;

use crate::support::{Folder, until};

fn id_in(listed: &str) -> String {
    listed.split_whitespace().find(|word| word.starts_with("out_")).unwrap_or_else(|| panic!("{listed}")).to_owned()
}

#[test]
fn a_command_is_allowed_shown_and_read_without_what_controls_a_terminal() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    let line = r"display printf 'one\n\033]52;c;aGk=\007\033[31mtwo\342\200\256\n\377\n'; exit 3";
    folder.run(&["send", "last", "--no-wait", line]).ok();
    folder.until_logged("permission.asked");
    let shown = folder.run(&["show", "last"]).ok();
    assert!(shown.contains("exit 3") && shown.contains(&format!("in {}", folder.work().display())), "{shown}");
    folder.run(&["answer", "last", "allow"]).ok();
    folder.until_logged("turn.ended");
    let log = folder.run(&["show", "last", "--json"]).ok();
    assert_eq!(log.matches("\"permission.asked\"").count(), 1, "one question a call");

    let listed = folder.run(&["outputs", "last"]).ok();
    assert!(listed.contains("terminal  3 lines"), "{listed}");
    let id = id_in(&listed);
    let lines = folder.run(&["output", &id, "--lines", "1-9"]).ok();
    assert!(lines.starts_with("one\n") && lines.contains("two"), "{lines:?}");
    assert!(!lines.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{lines:?}");
    let shown = folder.run(&["show", "last"]).ok();
    assert!(
        shown.contains(&format!("throughline output {id}]")) && shown.contains("failed with exit code 3"),
        "{shown}"
    );
    assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
    // A program gets the bytes as they came.
    let bytes = folder.command(&["output", &id]).output().unwrap().stdout;
    assert_eq!(bytes, b"one\n\x1b]52;c;aGk=\x07\x1b[31mtwo\xe2\x80\xae\n\xff\n");
    server.stop();
}

#[test]
fn a_refused_command_does_not_run_and_a_rule_refuses_without_a_question() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    folder.run(&["send", "last", "--no-wait", "display touch ran.txt"]).ok();
    folder.until_logged("permission.asked");
    folder.run(&["answer", "last", "deny"]).ok();
    folder.until_logged("turn.ended");
    assert!(!folder.work().join("ran.txt").exists());
    assert!(folder.run(&["show", "last"]).ok().contains("Refused:"));
    server.stop();

    folder.configure("[permissions.rules]\n\"*.execute\" = \"deny\"\n");
    let server = folder.serve();
    folder.run(&["send", "last", "display touch ran.txt"]).ok();
    assert!(!folder.work().join("ran.txt").exists());
    assert!(folder.run(&["outputs", "last"]).ok().contains("Nothing was shown"));
    server.stop();
}

/// `kill -9` of the server ends the command with all that it started, and nothing of it is left to be shown.
#[test]
fn a_killed_server_leaves_nothing_running_and_no_half_output() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    let line = "display (setsid sleep 3600 & echo $! > pid.new; mv pid.new pid; wait) & echo begun; wait";
    folder.run(&["send", "last", "--no-wait", line]).ok();
    folder.until_logged("permission.asked");
    folder.run(&["answer", "last", "allow"]).ok();
    let pid = folder.work().join("pid");
    until(|| "the command has not begun".to_owned(), || pid.exists());
    let process = format!("/proc/{}/cmdline", fs::read_to_string(&pid).unwrap().trim());
    let runs = || fs::read_to_string(&process).is_ok_and(|line| line.contains("sleep"));
    assert!(runs());
    server.end(Signal::KILL);
    until(|| "it still runs".to_owned(), || !runs());

    let server = folder.serve();
    assert!(folder.run(&["outputs", "last"]).ok().contains("Nothing was shown"));
    let sessions = fs::read_dir(folder.data().join("sessions")).unwrap();
    for session in sessions {
        let outputs = session.unwrap().path().join("outputs");
        assert!(!outputs.exists() || is_empty(&outputs), "{}", outputs.display());
    }
    let log = folder.run(&["show", "last", "--json"]).ok();
    assert!(!log.contains("output.stored") && log.contains("server_restart"), "{log}");
    server.stop();
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}
