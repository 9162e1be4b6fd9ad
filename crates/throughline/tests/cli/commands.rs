//! Tests `new`, `list`, `show`, `send`, `config`: the same with a server and without one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Folder, Running};

/// Runs a check twice: over the socket of a server, and in the command's own process.
fn with_and_without_a_server(check: impl Fn(&Folder)) {
    let folder = Folder::new();
    let server: Running = folder.serve();
    check(&folder);
    server.stop();
    check(&Folder::new());
}

#[test]
fn a_session_is_begun_talked_to_listed_and_shown() {
    with_and_without_a_server(|folder| {
        insta::allow_duplicates! {
            insta::assert_snapshot!(folder.run(&["list"]).ok(), @"No sessions yet. `throughline new` begins one in this directory.");
            insta::assert_snapshot!(folder.run(&["show", "last"]).failed(), @"error: there is no session yet; `throughline new` begins one");

            let new = folder.run(&["new", "--name", "first steps"]).ok();
            insta::assert_snapshot!(folder.named(&new), @r#"
            Session TAIL with guide in WORK
            Talk to it: throughline send TAIL "say hello"
            "#);
            let tail = new.split(' ').nth(1).unwrap().to_owned();
            insta::assert_snapshot!(folder.run(&["send", &tail, "say hello there"]).ok(), @"hello there");
            insta::assert_snapshot!(folder.run_with_input(&["send", "last", "-"], "say from\nstandard input").ok(), @r"
            from
            standard input
            ");
            insta::assert_snapshot!(folder.named(&folder.run(&["list"]).ok()), @r"
            ID        STATE   TURNS  ACTIVE  AGENT  TITLE        PROJECT
            TAIL  idle *  2      now     guide  first steps  WORK
            ");
            // Without a server each command starts its own agent, which gets the earlier turns again.
            let shown = folder.run(&["show", &tail]).ok().replace("  [the agent was told what came before]\n", "");
            insta::assert_snapshot!(folder.named(&shown), @r"
            first steps
            guide in WORK

            t1 > say hello there

              hello there

            t2 > say from
              standard input

              from
              standard input
            ");
        }
    });
}

#[test]
fn programs_get_json() {
    with_and_without_a_server(|folder| {
        let new: Value = serde_json::from_str(&folder.run(&["new", "--json"]).ok()).unwrap();
        assert_eq!((&new["state"], &new["agent"]), (&"starting".into(), &"guide".into()));
        let id = new["id"].as_str().unwrap();
        let sent = folder.run(&["send", id, "--json", "say hi"]).ok();
        let kinds: Vec<Value> =
            sent.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].clone()).collect();
        let turn: Vec<&Value> =
            kinds.iter().filter(|kind| *kind != "prompt.queued" && *kind != "agent.commands_changed").collect();
        assert_eq!(turn, ["turn.started", "prompt.sent", "text.part", "title.set", "usage.reported", "turn.ended"]);

        let shown = folder.run(&["show", id, "--json"]).ok();
        let entries: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let seqs: Vec<u64> = entries.iter().map(|entry| entry["seq"].as_u64().unwrap()).collect();
        assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
        let list: Value = serde_json::from_str(&folder.run(&["list", "--json"]).ok()).unwrap();
        assert_eq!((&list["sessions"][0]["id"], &list["nextCursor"]), (&new["id"], &Value::Null));
    });
}

#[test]
fn a_prompt_can_be_left_with_a_server_and_only_with_one() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    assert_eq!(folder.run(&["send", "last", "--no-wait", "say later"]).ok(), "Stored.\n");
    let accepted = folder.run(&["send", "last", "--no-wait", "--json", "say more"]).ok();
    assert!(serde_json::from_str::<Value>(&accepted).unwrap()["interactionId"].is_string());
    server.stop();
    insta::assert_snapshot!(folder.run(&["send", "last", "--no-wait", "x"]).failed(), @"error: no server is running that could answer later; leave out --no-wait, or start one with `throughline`");
}

/// Faster than previews can be followed: a file still gets every word once.
#[test]
fn an_answer_that_comes_faster_than_it_is_heard_is_written_whole() {
    with_and_without_a_server(|folder| {
        folder.run(&["new"]).ok();
        let words: String = (0..600).map(|number| format!("{} ", number % 10)).collect();
        let answer = folder.run_with_input(&["send", "last", "-"], &format!("say {words}end")).ok();
        assert!(answer == format!("{words}end\n"), "{} bytes of {}", answer.len(), words.len() + 4);
    });
}

#[test]
fn whoever_stops_listening_is_told_what_becomes_of_the_turn() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    let leave = || {
        let (status, _, _) = folder.begin(&["send", "last", "--json", "slow 60"]).until("prompt.sent").end(Signal::INT);
        assert_eq!(status.code(), Some(1));
        folder.log()
    };
    assert!(leave().contains("the turn goes on"), "{}", folder.log());
    assert!(folder.run(&["show", "last"]).ok().contains("[running …]"));
    server.stop();
    assert!(leave().contains("the turn ends here"), "{}", folder.log());
    assert!(
        folder.run(&["show", "last"]).ok().ends_with("[interrupted: the server was shut down while this turn ran]\n")
    );
}

#[test]
fn a_server_that_is_killed_under_a_prompt_is_told_with_the_way_to_what_it_stored() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    let session = folder.run(&["list"]).ok().lines().nth(1).unwrap()[..8].to_owned();
    let sent = folder.begin(&["send", "last", "--json", "slow 60"]).until("prompt.sent");
    server.end(Signal::KILL);
    assert_eq!(sent.ended().code(), Some(1));
    let told = format!("error: the server went away; what it stored is there: `throughline show {session}`\n");
    assert!(folder.log().ends_with(&told), "{}", folder.log());
    assert!(folder.run(&["show", &session]).ok().contains("1 > slow 60"));
}

#[test]
fn mistakes_are_told_in_one_line() {
    with_and_without_a_server(|folder| {
        folder.run(&["new"]).ok();
        let home = folder.home();
        let home = home.to_str().unwrap();
        insta::allow_duplicates! {
            insta::assert_snapshot!(folder.run(&["show", "00000000"]).failed(), @"error: no session's id ends or begins with 00000000; `throughline list` shows them");
            insta::assert_snapshot!(folder.run(&["send", "last", " "]).failed(), @"error: the prompt is empty (prompt_empty)");
            insta::assert_snapshot!(folder.run(&["new", "--agent", "nobody"]).failed(), @"error: there is no agent named nobody; there are: claude, codex, gemini, copilot, opencode, qwen, kimi, goose, cline, pi, cursor, kiro, vibe, auggie, droid, kilo, qoder, guide (unknown_agent)");
            insta::assert_snapshot!(folder.run(&["new", "--cwd", "missing"]).failed(), @"error: there is no directory that can be entered at this path (directory_not_found)");
            insta::assert_snapshot!(folder.run(&["new", "--cwd", home]).failed(), @"error: an agent there could reach everything you have; add --confirm if that is meant");
            insta::assert_snapshot!(folder.run(&["--no-open", "list"]).failed(), @"error: --listen and --no-open belong to `throughline serve`; write them after it");
        }
        folder.run(&["new", "--cwd", home, "--confirm"]).ok();
        let unknown = folder.run(&["show", "nonsense"]);
        assert_eq!(unknown.code, Some(2), "{}", unknown.stderr);
        let too_long = folder.run_with_input(&["send", "last", "-"], &"x".repeat((1 << 20) + 1)).failed();
        assert!(too_long.contains("the prompt is too long"), "{too_long}");
    });
}

/// The text of an agent, a prompt or a name never controls the terminal.
#[test]
fn escape_codes_do_not_reach_the_terminal() {
    with_and_without_a_server(|folder| {
        folder.run(&["new"]).ok();
        let evil = "say \u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J\u{202e}back\r\u{8}end";
        let sent = folder.run(&["send", "last", evil]).ok();
        assert!(sent.contains("red") && sent.contains("end"), "{sent:?}");
        for (what, shown) in [
            ("send", sent),
            ("show", folder.run(&["show", "last"]).ok()),
            ("list", folder.run(&["list"]).ok()),
            ("show --json", folder.run(&["show", "last", "--json"]).ok()),
            ("list --json", folder.run(&["list", "--json"]).ok()),
        ] {
            let bad = shown.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
            assert_eq!(bad, None, "{what}: {shown:?}");
        }
    });
}

#[test]
fn a_misspelt_key_is_answered_with_the_nearest() {
    let folder = Folder::new();
    folder.configure("[server]\nhost = [\"box.example\"]\n");
    for command in [&["config"][..], &["config", "check"], &["serve", "--no-open"], &["list"]] {
        let said = folder.run(command).failed();
        assert!(said.contains("there is no key server.host; did you mean server.hosts?"), "{command:?}: {said}");
    }
    folder.configure("[limits]\nconnections = 0\n");
    insta::assert_snapshot!(folder.named(&folder.run(&["config", "check"]).failed()), @r"
    error: DATA/config.toml cannot be used
      because limits are at least 1
    ");
    folder.configure("[limits]\nconnections = 9\n[brief]\ntext = \"Mark what you read.\"\n");
    insta::assert_snapshot!(folder.named(&folder.run(&["config", "check"]).ok()), @"DATA/config.toml is sound");
    insta::assert_snapshot!(folder.named(&folder.run(&["config", "path"]).ok()), @"DATA/config.toml");
    insta::assert_snapshot!(folder.named(&folder.run(&["config"]).ok()), @r#"
    # from DATA/config.toml
    [server]
    listen = "127.0.0.1:7417"
    hosts = []
    behind_proxy = false

    [limits]
    connections = 9
    requests_per_second = 2000.0
    max_agents = 64
    silence_minutes = 10.0
    agent_start_seconds = 60.0
    agent_stop_seconds = 40.0

    [permissions]
    default = "ask"

    [brief]
    enabled = true
    text = "Mark what you read."

    [tools]
    all_sessions = false
    show = true

    [page]
    specs_label = "Specs"

    [outputs]
    max_mb = 100
    session_mb = 2048
    session_count = 10000
    shape_terminal = true
    command_seconds = 60

    [summaries]
    allow_plain = false
    daily_calls = 1000
    titles = true
    "#);
}

/// T42: what may be a secret is neither printed nor quoted in an error.
#[test]
fn secrets_in_the_configuration_are_not_printed() {
    let folder = Folder::new();
    let key = folder.data().join("model-key");
    folder.configure(&format!(
        r#"
        [agents.claude]
        env = {{ ANTHROPIC_API_KEY = "canary-1" }}

        [mcp_servers.notes]
        url = "https://notes.example/mcp?key=canary-2"
        headers = {{ Authorization = "Bearer canary-3" }}

        [brief]
        text = "Mark what you read."

        [summaries]
        provider = "ollama"
        model = "small-1"
        key_file = {key:?}
        "#
    ));
    fs::write(&key, "canary-4").unwrap();
    let others_read = folder.run(&["config", "check"]).failed();
    assert!(others_read.contains("chmod 600") && !others_read.contains("canary"), "{others_read}");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    for command in [&["config"][..], &["config", "show", "--json"], &["config", "check"]] {
        let said = folder.run(command).ok();
        assert!(!said.contains("canary"), "{command:?}: {said}");
    }
    insta::assert_snapshot!(folder.named(&folder.run(&["config"]).ok()), @r#"
    # from DATA/config.toml
    [server]
    listen = "127.0.0.1:7417"
    hosts = []
    behind_proxy = false

    [limits]
    connections = 4096
    requests_per_second = 2000.0
    max_agents = 64
    silence_minutes = 10.0
    agent_start_seconds = 60.0
    agent_stop_seconds = 40.0

    [agents.claude.env]
    ANTHROPIC_API_KEY = "[secret]"

    [mcp_servers.notes]
    url = "https://notes.example/mcp?[secret]"

    [mcp_servers.notes.headers]
    Authorization = "[secret]"

    [permissions]
    default = "ask"

    [brief]
    enabled = true
    text = "Mark what you read."

    [tools]
    all_sessions = false
    show = true

    [page]
    specs_label = "Specs"

    [outputs]
    max_mb = 100
    session_mb = 2048
    session_count = 10000
    shape_terminal = true
    command_seconds = 60

    [summaries]
    provider = "ollama"
    model = "small-1"
    key_file = "DATA/model-key"
    allow_plain = false
    daily_calls = 1000
    titles = true
    "#);
    folder.configure("[mcp_servers.notes]\nheaders = { A = \"canary\", B = 5 }\n");
    let said = folder.run(&["config", "check"]).failed();
    assert!(said.contains("line 2") && !said.contains("canary"), "{said}");
}

/// A data folder in the working directory is never used: a cloned repository could bring it.
#[test]
fn the_working_directory_is_not_looked_at() {
    let folder = Folder::new();
    fs::create_dir(folder.work().join(".throughline")).unwrap();
    folder.run(&["new"]).ok();
    assert_eq!(fs::read_dir(folder.work().join(".throughline")).unwrap().count(), 0);
}
