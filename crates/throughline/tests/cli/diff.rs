//! Tests `throughline diff`: what changed in a session's files.

use std::fs;
use std::process::Command;

use crate::support::Folder;
use crate::terminal::Terminal;

#[test]
fn a_diff_is_printed_for_the_session_a_turn_and_git() {
    let folder = Folder::new();
    let work = folder.work();
    fs::write(work.join("notes.md"), "one\ntwo\nthree").unwrap();
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]).args(args).current_dir(&work);
        assert!(command.env("GIT_CONFIG_GLOBAL", "/dev/null").status().unwrap().success(), "git {args:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "first"]);
    folder.run(&["new"]).ok();
    assert_eq!(folder.run(&["diff", "last"]).ok(), "No file changed.\n");
    folder.run(&["send", "last", "write notes.md one\n2\nthree"]).ok();
    folder.run(&["send", "last", "write new.txt hello"]).ok();

    let all = folder.run(&["diff", "last"]).ok();
    let notes = "--- a/notes.md\n+++ b/notes.md\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    let new = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,1 @@\n+hello\n";
    assert_eq!(all, format!("{new}{notes}"));
    assert_eq!(folder.run(&["diff", "last", "1"]).ok(), notes);
    assert_eq!(folder.run(&["diff", "last", "--since", "t2"]).ok(), new);
    let stat = " new.txt  |    1 +\n notes.md |    2 +-\n 2 files changed, 2 added, 1 removed\n";
    assert_eq!(folder.run(&["diff", "last", "--stat"]).ok(), stat);
    fs::write(work.join("by-hand"), "x\n").unwrap();
    let git_stat = folder.run(&["diff", "last", "--git", "--stat"]).ok();
    assert!(git_stat.contains(" by-hand  |    1 +  not by an edit of this session\n"), "{git_stat}");
    let told: serde_json::Value = serde_json::from_str(&folder.run(&["diff", "last", "--json"]).ok()).unwrap();
    assert_eq!(told[1]["hunks"][0]["lines"][1]["text"], "two");

    let (_, shown) = Terminal::begin_sized(&folder, &["diff", "last", "1"], 80, 24).ended();
    assert!(shown.contains("\u{1b}[31m-two") && shown.contains("\u{1b}[32m+2"), "{shown:?}");
    assert!(folder.run(&["diff", "last", "9"]).failed().contains("there is no turn t9"));
}
