//! Tests what an agent starts with, and why one does not start.

use std::fs;
use std::path::PathBuf;

use agents::process::{Exit, LaunchError, Launched, Launcher, ProcessLimits, Spec, StartRefusal};

use crate::support::{PATH, PROGRAM, Place, lines_of};

async fn refusal(place: &Place, spec: Spec) -> StartRefusal {
    match place.launcher.spawn(spec).await {
        Err(LaunchError::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_agent_gets_its_environment_and_nothing_else() {
    let place = Place::new();
    let mut spec = place.spec("env", &[]);
    spec.env.insert("ODD".to_owned(), "a=b c".to_owned());
    let expected: Vec<String> = spec.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let launched = place.launcher.spawn(spec).await.unwrap();
    let mut lines = lines_of(launched.stdout).await;
    lines.sort();
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn an_agent_gets_its_arguments_and_its_directory_as_they_are() {
    let place = Place::new();
    let spec = place.spec("sh", &["-c", "pwd; printf '%s\\n' \"$@\"", "sh", "a b", "$HOME;`id`", ""]);
    let launched = place.launcher.spawn(spec).await.unwrap();
    let cwd = fs::canonicalize(place.path()).unwrap();
    assert_eq!(lines_of(launched.stdout).await, [cwd.to_str().unwrap(), "a b", "$HOME;`id`"]);
}

#[test]
fn an_agent_inherits_no_open_file() {
    let place = Place::new();
    let spec = place.script("ls /proc/$$/fd");
    // A server that was itself started with open files that it knows nothing of.
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "exec 7</dev/null 8>/dev/null; exec \"$0\" \"$@\""]).arg(PROGRAM);
    let mut held = place.hold_with(&spec, &mut command);
    held.line();
    assert_eq!(held.rest(), ["0", "1", "2"]);
}

#[tokio::test]
async fn an_agent_has_its_limits() {
    let place = Place::new();
    let mut spec = place.spec("cat", &["/proc/self/limits"]);
    spec.limits = ProcessLimits { open_files: Some(123), memory_bytes: Some(512 * 1024 * 1024), processes: Some(4567) };
    let launched = place.launcher.spawn(spec).await.unwrap();
    let limits = lines_of(launched.stdout).await;
    let limit = |name: &str| {
        let line = limits.iter().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_ascii_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(limit("Max core file size"), "0 0");
    assert_eq!(limit("Max open files"), "123 123");
    assert_eq!(limit("Max data size"), "536870912 536870912");
    assert_eq!(limit("Max processes"), "4567 4567");
}

#[tokio::test]
async fn an_agent_that_takes_more_memory_than_it_may_fails_alone() {
    let place = Place::new();
    let mut spec = place.script("exec dd if=/dev/zero of=/dev/null bs=400M count=1");
    spec.limits.memory_bytes = Some(64 * 1024 * 1024);
    let Launched { mut process, stdin: _stdin, stdout: _stdout } = place.launcher.spawn(spec).await.unwrap();
    let ended = process.ended().await;
    assert_ne!(ended.exit, Exit::Code(0));
    assert!(ended.stderr.contains("memory"), "{}", ended.stderr);
}

#[tokio::test]
async fn a_command_that_is_missing_is_named() {
    let place = Place::new();
    for command in ["no-such-agent", "/no/such/agent"] {
        let expected = StartRefusal::CommandNotFound { command: command.to_owned() };
        assert_eq!(refusal(&place, place.spec(command, &[])).await, expected);
    }
    let mut spec = place.spec("sh", &[]);
    spec.env.clear();
    assert_eq!(refusal(&place, spec).await, StartRefusal::CommandNotFound { command: "sh".to_owned() });
}

#[tokio::test]
async fn the_directory_does_not_choose_the_program() {
    let place = Place::new();
    place.write_program("agent", "#!/bin/sh\n", 0o755);
    let mut spec = place.spec("agent", &[]);
    let from_the_root = place.path().strip_prefix("/").unwrap().display();
    spec.env.insert("PATH".to_owned(), format!(".::{from_the_root}:{PATH}"));
    assert_eq!(refusal(&place, spec).await, StartRefusal::CommandNotFound { command: "agent".to_owned() });
    let expected = StartRefusal::CommandRelative { command: "./agent".to_owned() };
    assert_eq!(refusal(&place, place.spec("./agent", &[])).await, expected);
}

#[tokio::test]
async fn a_command_that_can_not_be_run_says_why() {
    let place = Place::new();
    let plain = place.write_program("plain", "text", 0o644);
    assert_eq!(
        refusal(&place, place.spec(plain.to_str().unwrap(), &[])).await,
        StartRefusal::NotExecutable { path: plain }
    );

    let script = place.write_program("script", "#!/no/such/interpreter\n", 0o755);
    let expected = StartRefusal::InterpreterMissing { path: script.clone() };
    assert_eq!(refusal(&place, place.spec(script.to_str().unwrap(), &[])).await, expected);

    let zero = refusal(&place, place.spec("sh", &["a\0b"])).await;
    assert!(matches!(zero, StartRefusal::ZeroByte { .. }), "{zero:?}");
}

#[tokio::test]
async fn a_directory_that_is_gone_is_named() {
    let place = Place::new();
    let gone = place.path().join("gone");
    let mut spec = place.script("true");
    spec.cwd.clone_from(&gone);
    assert_eq!(refusal(&place, spec.clone()).await, StartRefusal::DirectoryMissing { path: gone.clone() });
    fs::write(&gone, "a file").unwrap();
    assert_eq!(refusal(&place, spec).await, StartRefusal::NotADirectory { path: gone });
}

#[tokio::test]
async fn refusals_are_sentences_that_say_what_to_do() {
    let place = Place::new();
    let refused = place.launcher.spawn(place.spec("claude-acp", &[])).await.unwrap_err();
    assert_eq!(refused.to_string(), "the command claude-acp was not found: install it, or give its full path");
}

#[tokio::test]
async fn a_supervisor_that_is_none_is_noticed() {
    let place = Place::new();
    let missing = Launcher::new(PathBuf::from("/no/such/program"));
    assert!(matches!(missing.spawn(place.script("true")).await, Err(LaunchError::Supervisor(_))));
    let other = Launcher::new(PathBuf::from("/bin/true"));
    assert!(matches!(other.spawn(place.script("true")).await, Err(LaunchError::SupervisorLost)));
}

#[tokio::test]
async fn what_has_a_secret_does_not_print_it() {
    let mut spec = Place::new().spec("env", &[]);
    spec.env.insert("API_KEY".to_owned(), "hunter2".to_owned());
    let printed = format!("{spec:?}");
    assert!(printed.contains("API_KEY") && !printed.contains("hunter2"), "{printed}");
}
