//! Tests the hidden commands between the server and an agent, in the real binary.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use agents::process::{Ending, Exit, Faults, Launched, Launcher, LineSink, Lines, ProcessLimits, Spec};
use futures_util::{SinkExt as _, StreamExt as _};

use crate::support::Folder;

const PROGRAM: &str = env!("CARGO_BIN_EXE_throughline");

#[tokio::test]
async fn an_agent_runs_under_the_binary_itself() {
    let folder = Folder::new();
    let spec = Spec {
        command: "/bin/sh".to_owned(),
        args: vec!["-c".to_owned(), "sleep 1000 & read -r line; echo \"$line, $!\"; exit 3".to_owned()],
        env: BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
        cwd: folder.work(),
        limits: ProcessLimits::default(),
        ending: Ending::ClosedInput,
    };
    let Launched { mut process, stdin, stdout } = Launcher::new(PROGRAM.into()).spawn(spec).await.unwrap();
    let faults = Faults::default();
    LineSink::new(stdin, &faults).send("hello".to_owned()).await.unwrap();
    let answer = Lines::new(stdout, &faults).next().await.unwrap().unwrap();
    let left_behind = answer.strip_prefix("hello, ").unwrap();
    assert_eq!(process.ended().await.exit, Exit::Code(3));
    assert!(!std::fs::exists(format!("/proc/{left_behind}")).unwrap());
}

#[test]
fn without_a_server_it_ends_at_once() {
    let (ours, control) = UnixStream::pair().unwrap();
    drop(ours);
    let with = |command: &str, stdin: Stdio, code: i32| {
        let output = Command::new(PROGRAM).arg(command).env_clear().stdin(stdin).output().unwrap();
        assert_eq!((output.status.code(), output.stdout, output.stderr), (Some(code), vec![], vec![]));
    };
    with("supervise", std::os::fd::OwnedFd::from(control).into(), 1);
    with("supervise", Stdio::null(), 1);
    with("keep", Stdio::null(), 0);
}

#[test]
fn help_does_not_name_it() {
    let help = Folder::new().run(&["--help"]).ok();
    assert!(!help.contains("supervise") && !help.contains("keep  "), "{help}");
}
