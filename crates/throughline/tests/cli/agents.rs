//! Tests a session that changes agents, permission rules, and a session whose directory is gone.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::Value;

use crate::client::Client;
use crate::support::Folder;

#[test]
fn another_agent_takes_over_is_told_and_goes_on_where_the_directory_is_gone() {
    let folder = Folder::new();
    folder.run(&["list"]).ok();
    let program = env!("CARGO_BIN_EXE_throughline");
    let config = format!(
        "[agents.second]\ncommand = {program:?}\nargs = [\"guide\"]\n\n[permissions]\nrules = {{ \"guide.execute\" = \"allow\" }}\n"
    );
    fs::write(folder.file("config.toml"), config).unwrap();
    let (project, inside) = (folder.work().join("project"), folder.work().join("project/inside"));
    fs::create_dir_all(project.join(".git")).unwrap();
    fs::create_dir(&inside).unwrap();

    folder.run(&["new", "--cwd", inside.to_str().unwrap()]).ok();
    assert!(folder.run(&["send", "last", "--json", "run echo by the rule"]).ok().contains("by the rule"));
    folder.run(&["resume", "last", "--agent", "second"]).ok();
    assert_eq!(folder.run(&["send", "last", "say taken over"]).ok(), "taken over\n");
    fs::remove_dir(&inside).unwrap();
    assert_eq!(folder.run(&["send", "last", "say elsewhere"]).ok(), "elsewhere\n");

    let shown = folder.run(&["show", "last", "--json"]).ok();
    let entries: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| -> Vec<&Value> {
        entries.iter().filter(|entry| entry["type"] == kind).map(|entry| &entry["data"]).collect()
    };
    assert_eq!(of("permission.answered")[0]["by"]["rule"], "guide.execute");
    let told = of("resume.sent");
    // The second agent knows nothing; resumed in another directory it knows its turns.
    assert_eq!((told.len(), &told[0]["turn"], &told[1]["turn"]), (2, &2.into(), &3.into()));
    assert!(!told[1]["text"].as_str().unwrap().contains("person:"), "{told:?}");
    assert!(told[0]["text"].as_str().unwrap().contains("t1 person: run echo by the rule"), "{told:?}");
    let changes = of("session.changed");
    assert_eq!(changes[0]["agent"], "second");
    let shown = folder.run(&["show", "last"]).ok();
    let after = shown.split_once("-- handed over from guide to second --\n").expect(&shown).1;
    assert!(after.starts_with("\nt2 > say taken over\n"), "{shown}");
    assert_eq!(changes[1]["cwd"].as_str(), project.to_str());
}

#[test]
fn a_session_is_not_given_to_an_agent_that_is_not_there() {
    let folder = Folder::new();
    folder.configure("[agents.claude]\ncommand = \"/nowhere/claude\"\n\n[agents.mine]\ncommand = \"/nowhere/mine\"\n");
    let server = folder.serve();
    folder.run(&["new"]).ok();
    insta::allow_duplicates! {
        for command in [&["new", "--agent", "claude"][..], &["resume", "last", "--agent", "claude"]] {
            insta::assert_snapshot!(folder.run(command).failed(), @"error: claude is not installed here, and nothing was changed. Run `npm install -g @agentclientprotocol/claude-agent-acp`: Claude Code is used through this adapter, also where `claude` itself is installed.");
        }
        for command in [&["new", "--agent", "mine"][..], &["resume", "last", "--agent", "mine"]] {
            insta::assert_snapshot!(folder.run(command).failed(), @"error: mine is not installed here, and nothing was changed. Its program is the `command` of [agents.mine].");
        }
    }
    let list: Value = serde_json::from_str(&folder.run(&["list", "--json"]).ok()).unwrap();
    let sessions = list["sessions"].as_array().unwrap();
    assert_eq!((sessions.len(), &sessions[0]["agent"]), (1, &"guide".into()), "{list}");
    assert_eq!(folder.run(&["send", "last", "say still here"]).ok(), "still here\n");
    server.stop();
}

#[test]
fn a_prompt_to_an_agent_that_is_gone_waits_and_that_is_said() {
    let folder = Folder::new();
    let program = folder.work().join("mine");
    symlink(env!("CARGO_BIN_EXE_throughline"), &program).unwrap();
    folder.configure(&format!("[agents.mine]\ncommand = {program:?}\nargs = [\"guide\"]\n"));
    folder.run(&["new", "--agent", "mine"]).ok();
    fs::remove_file(&program).unwrap();
    let server = folder.serve();

    let said = folder.run(&["send", "last", "say later"]).failed();
    let session = folder.run(&["list"]).ok().lines().nth(1).unwrap()[..8].to_owned();
    assert!(said.starts_with("error: the agent failed: "), "{said}");
    let kept = format!(
        "The prompt is kept and waits: it goes out when the agent is back, as after `throughline resume {session}`."
    );
    assert!(said.contains(&kept), "{said}");
    assert!(folder.run(&["show", "last"]).ok().contains("waits  say later"));

    symlink(env!("CARGO_BIN_EXE_throughline"), &program).unwrap();
    folder.run(&["resume", &session]).ok();
    folder.until_logged("turn.ended");
    assert!(folder.run(&["show", "last"]).ok().contains("1 > say later\n\n  later\n"));
    server.stop();
}

#[test]
fn agents_are_listed_with_how_to_get_them() {
    let folder = Folder::new();
    let program = env!("CARGO_BIN_EXE_throughline");
    folder.configure(&format!("[agents.mine]\ncommand = {program:?}\ntitle = \"Mine\"\n"));
    let listed = folder.run(&["agents"]).ok();
    let line = |name: &str| {
        let found = listed.lines().find(|line| line.starts_with(&format!("{name} "))).expect(&listed);
        found.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("NAME"), "NAME AGENT INSTALLED VERSION, OR HOW TO GET IT");
    assert_eq!(line("guide"), format!("guide Guide yes {}", env!("CARGO_PKG_VERSION")));
    assert!(line("mine").starts_with("mine Mine yes"), "{listed}");
    assert_eq!(line("copilot"), "copilot GitHub Copilot no Run `npm install -g @github/copilot`.");
    let page: Value = serde_json::from_str(&folder.run(&["agents", "--json"]).ok()).unwrap();
    assert_eq!(page["agents"][1]["name"], "guide", "{page}");

    insta::assert_snapshot!(folder.run(&["agents", "guide"]).failed(), @"error: this agent does not tell which sessions it keeps (not_supported)");
    insta::assert_snapshot!(folder.run(&["agents", "copilot"]).failed(), @"error: this agent is not installed. Run `npm install -g @github/copilot`. (agent_not_installed)");
    let unknown = folder.run(&["agents", "no/body"]).failed();
    assert!(unknown.starts_with("error: there is no agent named no/body; there are: "), "{unknown}");
}

/// A shell that hangs, as over a lock that nobody releases, holds nobody up who does not wait for it.
#[test]
fn agents_are_listed_while_the_login_shell_hangs() {
    let folder = Folder::new();
    let (shell, answered) = (folder.home().join("shell"), folder.home().join("answered"));
    let script = format!("#!/bin/sh\nwhile [ ! -e '{0}.stop' ]; do sleep 0.1; done\ntouch '{0}'\n", answered.display());
    fs::write(&shell, script).unwrap();
    fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).unwrap();
    let folder = folder.with_env("SHELL", shell.to_str().unwrap());
    let server = folder.serve();
    let answer = Client::new(&folder, &server).get("/agents?soFar=true");
    assert_eq!((answer.status, &answer.body["agents"][0]["name"]), (200, &"guide".into()));
    assert!(!answered.exists());
    fs::write(folder.home().join("answered.stop"), "").unwrap();
    server.stop();
}
