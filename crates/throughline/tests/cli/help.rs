//! Tests the binary's help texts.

use crate::support::Folder;

#[test]
fn every_command_says_what_it_needs() {
    let folder = Folder::new();
    let help = folder.run(&["--help"]).ok();
    for command in [
        "serve",
        "new",
        "list",
        "show",
        "applets",
        "work",
        "next",
        "send",
        "queue",
        "unqueue",
        "rename",
        "delete",
        "undelete",
        "agents",
        "skill",
        "token",
        "doctor",
        "backup",
        "restore",
        "export",
        "config",
        "completions",
    ] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(command)), "{command} is not in {help}");
    }
    for (command, words) in [
        (&["serve"][..], &["--listen <ADDR>", "--no-open", "127.0.0.1:7417"][..]),
        (&["new"], &["--agent", "--cwd <DIR>", "--name", "--work <NAME>", "--confirm", "--json"]),
        (
            &["applets"],
            &["list", "show", "open", "delete", "export", "import", "--json", "throughline applets open counter"],
        ),
        (&["applets", "show"], &["<SLUG>", "`_shown`", "--session <SESSION>", "--json"]),
        (&["applets", "open"], &["<SLUG>", "[KEY=VALUE]...", "--session <SESSION>", "--print"]),
        (&["applets", "delete"], &["<SLUG>", "--yes", "--json"]),
        (&["applets", "export"], &["<SLUG>", "<FILE>", "--with-state", "--session <SESSION>", "standard output"]),
        (&["applets", "import"], &["<FILE>", "--as <SLUG>", "--replace", "--with-state", "--json"]),
        (&["work"], &["show", "toc", "rename", "delete", "--limit", "--json", "throughline work toc loom"]),
        (&["work", "show"], &["<NAME|ID>", "--json"]),
        (&["work", "rename"], &["<NAME|ID>", "<NEW>", "--json"]),
        (&["work", "delete"], &["<NAME|ID>", "--yes", "--json"]),
        (&["next"], &["<SESSION>", "[BLOCK]", "--take", "--agent", "--model", "--mode", "--detach", "taken once"]),
        (&["list"], &["--limit", "--json"]),
        (&["show"], &["<SESSION>", "`last`", "--json"]),
        (&["send"], &["<SESSION>", "<TEXT>", "`-` reads it from standard input", "--no-wait", "--json"]),
        (&["answer"], &["<SESSION>", "<OPTION>", "--remember", "--json"]),
        (&["permissions"], &["forget", "--json"]),
        (&["permissions", "forget"], &["<ID>", "--json"]),
        (&["token"], &["link", "new", "list", "revoke", "rotate"]),
        (&["token", "link"], &["15 minutes"]),
        (&["token", "new"], &["[NAME]", "--session <SESSION>", "--device <NAME>", "--url <URL>", "QR code"]),
        (&["token", "revoke"], &["<ID>"]),
        (&["queue"], &["<SESSION>", "--json"]),
        (&["unqueue"], &["<SESSION>", "<PROMPT>", "--json"]),
        (&["rename"], &["<SESSION>", "<NAME>", "--json"]),
        (&["delete"], &["<SESSION>", "--now", "--yes", "--json"]),
        (&["undelete"], &["<SESSION>", "--json"]),
        (&["agents"], &["[NAME]", "--cwd <DIR>", "--cursor <CURSOR>", "--json"]),
        (&["skill"], &["show", "install", "--json", "goes on in a fresh session", "skill show throughline/references"]),
        (&["skill", "show"], &["<NAME[/FILE]>", "--json"]),
        (
            &["skill", "install"],
            &["[NAME]", "--agent", "--project", "--user", "--force", "--dry-run", "~/.agents/skills", "--json"],
        ),
        (&["doctor"], &["--all", "--rebuild", "the server must be stopped", "--rebuild-search", "--json"]),
        (&["backup"], &["<DIR>", "--json"]),
        (&["restore"], &["<PATH>", "--replace", "nothing is removed", "only one that you trust", "--json"]),
        (&["export"], &["[SESSION]", "[FILE]", "--all <FILE>", "`-` is standard output"]),
        (&["config"], &["show", "check", "path"]),
        (&["completions"], &["<SHELL>", "bash", "zsh", "fish"]),
    ] {
        let mut arguments = command.to_vec();
        arguments.push("--help");
        let help = folder.run(&arguments).ok();
        for word in words.iter().chain(&["--data-dir <DIR>"]) {
            assert!(help.contains(word), "{command:?} does not say {word}: {help}");
        }
    }
    assert!(!folder.data().exists(), "help makes no folder");
}

#[test]
fn completions_are_printed_for_common_shells() {
    let folder = Folder::new();
    for (shell, word) in [("bash", "complete -F"), ("zsh", "#compdef throughline"), ("fish", "complete -c throughline")]
    {
        let script = folder.run(&["completions", shell]).ok();
        assert!(script.contains(word) && script.contains("no-wait"), "{shell}: {script:.200}");
    }
    assert_eq!(folder.run(&["completions", "nonsense"]).code, Some(2));
}

#[test]
fn it_has_a_version() {
    let said = Folder::new().run(&["--version"]).ok();
    assert_eq!(said, format!("throughline {}\n", env!("CARGO_PKG_VERSION")));
}
