//! Tests `throughline send` while the agent asks: at a terminal, beside other devices, and under rules.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::Folder;
use crate::terminal::Terminal;

const PROMPT: &str = "allow, always, deny: ";

#[test]
fn the_person_at_the_terminal_answers() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    let mut terminal = Terminal::begin(&folder, &["send", "last", "run echo it-ran"]);
    let asked = terminal.until(PROMPT);
    assert!(asked.contains("? ") && asked.contains("echo it-ran"), "{asked}");
    terminal.type_line("perhaps");
    terminal.until("the agent offers no such answer");
    terminal.until(PROMPT);
    terminal.type_line("allow");
    let (status, shown) = terminal.ended();
    assert!(status.success() && shown.contains("[done]") && shown.contains("it-ran"), "{status}: {shown}");
    assert!(!shown.contains("allowed once by"), "who typed it knows: {shown}");
    server.stop();
}

/// A second line is not taken for part of the first one's comment.
#[test]
fn a_command_of_two_lines_is_shown_on_two_lines() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    let mut terminal = Terminal::begin(&folder, &["send", "last", "run echo it-ran # listed\necho this-too"]);
    let asked = terminal.until(PROMPT);
    assert!(asked.contains("\n    | echo it-ran # listed\n    | echo this-too\n"), "{asked}");
    terminal.type_line("deny");
    assert!(terminal.ended().0.success());
    server.stop();
}

/// What a script reads counts as unseen.
#[test]
fn a_question_to_a_script_leaves_the_session_unseen() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    folder.run(&["send", "last", "say done"]).ok();
    let waits = folder.begin(&["send", "last", "run echo waits"]).until("? ");
    let list: Value = serde_json::from_str(&folder.run(&["list", "--json"]).ok()).unwrap();
    assert_eq!(list["sessions"][0]["unobserved"], true, "{list}");
    folder.run(&["answer", "last", "allow"]).ok();
    assert!(waits.ended().success());
    server.stop();
}

/// The terminal stops waiting once another device has answered, and says which.
#[test]
fn an_answer_from_elsewhere_is_told_and_the_turn_goes_on() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    let issued: Value = serde_json::from_str(&folder.run(&["token", "new", "laptop", "--json"]).ok()).unwrap();
    let list: Value = serde_json::from_str(&folder.run(&["list", "--json"]).ok()).unwrap();
    let session = list["sessions"][0]["id"].as_str().unwrap();
    let mut terminal = Terminal::begin(&folder, &["send", "last", "run echo it-ran"]);
    terminal.until(PROMPT);
    let bearer = format!("Authorization: Bearer {}\r\n", issued["secret"].as_str().unwrap());
    let option = json!({ "option": "allow-once" }).to_string();
    let answer = server.ask(&format!("POST /api/v1/sessions/{session}/permissions/p1"), &bearer, &option);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    terminal.until("allowed once by laptop");
    let (status, shown) = terminal.ended();
    assert!(status.success() && shown.contains("it-ran"), "{status}: {shown}");
    server.stop();
}

/// Nobody is asked what a rule answers at once.
#[test]
fn what_a_rule_answers_is_put_to_nobody() {
    let folder = Folder::new();
    folder.configure("[permissions]\ndefault = \"allow\"\n");
    let server = folder.serve();
    folder.run(&["new"]).ok();
    let said = folder.run(&["send", "last", "run echo it-ran"]).ok();
    assert!(
        said.contains("? ") && said.contains("allowed once by the rule default") && said.contains("it-ran"),
        "{said}"
    );
    let mut terminal = Terminal::begin(&folder, &["send", "last", "run echo again"]);
    let shown = terminal.until("allowed once by the rule default");
    assert!(!shown.contains(PROMPT), "{shown}");
    assert!(terminal.ended().0.success());
    server.stop();

    fs::remove_file(folder.file("config.toml")).unwrap();
    let server = folder.serve();
    let waits = folder.begin(&["send", "last", "run echo waits"]);
    folder.until_logged("permission.asked");
    folder.run(&["answer", "last", "allow"]).ok();
    let waits = waits.until("allowed once by command line");
    assert!(waits.ended().success());
    assert!(folder.log().contains("note: the agent waits: answer on the page"), "{}", folder.log());
    server.stop();
}

#[test]
fn the_answer_that_show_names_can_be_pasted() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    folder.run(&["send", "last", "--no-wait", "run echo it-ran"]).ok();
    folder.until_logged("permission.asked");
    let shown = folder.run(&["show", "last"]).ok();
    let command = shown.split_once("waits for you: `throughline ").unwrap().1.split_once('`').unwrap().0;
    let words: Vec<&str> = command.split(' ').collect();
    folder.run(&words).ok();
    folder.until_logged("turn.ended");
    assert!(folder.run(&["show", "last"]).ok().contains("it-ran"));
    server.stop();
}

#[test]
fn what_nobody_answered_before_the_server_died_is_shown_as_that() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    folder.run(&["send", "last", "--no-wait", "run echo it-ran"]).ok();
    folder.until_logged("permission.asked");
    server.end(Signal::KILL);
    let shown = folder.run(&["show", "last"]).ok();
    assert!(shown.contains("  not answered: it was withdrawn\n"), "{shown}");
}

/// Nothing is begun without an installed agent, and the error says what to do.
#[test]
fn more_agents_than_may_run_at_once_are_refused_in_words() {
    let folder = Folder::new();
    folder.configure("[limits]\nmax_agents = 1\n");
    let server = folder.serve();
    folder.run(&["new"]).ok();
    let waits = folder.begin(&["send", "last", "run echo waits"]).until("? ");
    let said = folder.run(&["new"]).failed();
    assert!(said.contains("may run at once (1)") && said.contains("limits.max_agents in config.toml"), "{said}");
    folder.run(&["answer", "last", "allow"]).ok();
    assert!(waits.ended().success());
    folder.run(&["new"]).ok();
    server.stop();
}
