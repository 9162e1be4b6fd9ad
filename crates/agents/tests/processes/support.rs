//! A folder and a tag for each test, and a search in `/proc` for processes with the tag.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use agents::process::{Ending, Faults, Folder, Launched, Launcher, Lines, ProcessLimits, Spec, end_leftovers};
use futures_util::StreamExt as _;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::net::unix::pipe;

/// For what must happen, however slow the machine is.
const DEADLINE: Duration = Duration::from_secs(40);
pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

pub(crate) struct Place {
    folder: TempDir,
    pub(crate) launcher: Launcher,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), launcher: Launcher::new(PROGRAM.into()) }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Unique, because the folder is.
    fn tag(&self) -> String {
        format!("TEST_TAG={}", self.path().display())
    }

    pub(crate) fn spec(&self, command: &str, args: &[&str]) -> Spec {
        let (name, value) =
            self.tag().split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())).unwrap();
        Spec {
            command: command.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: BTreeMap::from([(name, value), ("PATH".to_owned(), PATH.to_owned())]),
            cwd: self.path().to_owned(),
            limits: ProcessLimits::default(),
            ending: Ending::ClosedInput,
        }
    }

    /// An agent that is a shell script.
    pub(crate) fn script(&self, script: &str) -> Spec {
        self.spec("/bin/sh", &["-c", script])
    }

    /// An interactive shell, which ignores SIGTERM. It runs a program that holds a lock and takes longer to release it than the
    /// shell takes to exit.
    pub(crate) fn shell_with_lock(&self) -> Spec {
        let holder =
            "trap '' HUP; trap 'sleep 0.2; rm lock; exit' TERM; : > lock; echo ready; while :; do sleep 0.05; done";
        fs::write(self.path().join("holder"), holder).unwrap();
        Spec { ending: Ending::HangUp, ..self.spec("/bin/sh", &["-i", "-c", "sh ./holder; sleep 1000"]) }
    }

    /// The same, but the shell leaves the program in the background and exits when its input ends.
    pub(crate) fn shell_that_leaves_its_lock(&self) -> Spec {
        let args = ["-i", "-c", "sh ./holder & read -r line"];
        Spec { args: args.map(str::to_owned).into(), ..self.shell_with_lock() }
    }

    pub(crate) fn is_locked(&self) -> bool {
        self.path().join("lock").exists()
    }

    pub(crate) async fn launch(&self, script: &str) -> Launched {
        self.launcher.spawn(self.script(script)).await.unwrap()
    }

    /// Starts a script and waits for its first line, which must be `ready`.
    pub(crate) async fn launch_ready(&self, script: &str) -> Launched {
        self.launch_spec_ready(self.script(script)).await
    }

    pub(crate) async fn launch_spec_ready(&self, spec: Spec) -> Launched {
        let mut launched = self.launcher.spawn(spec).await.unwrap();
        let mut lines = Lines::new(&mut launched.stdout, &Faults::default());
        assert_eq!(lines.next().await.unwrap().unwrap(), "ready");
        launched
    }

    pub(crate) fn write_program(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    /// Starts a server that starts the agent, so that the server can be killed.
    pub(crate) fn hold(&self, spec: &Spec) -> Held {
        let mut command = Command::new(PROGRAM);
        self.hold_with(spec, &mut command)
    }

    pub(crate) fn hold_with(&self, spec: &Spec, command: &mut Command) -> Held {
        command.arg("hold").arg(self.path()).arg(serde_json::to_string(spec).unwrap());
        let mut server = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(server.stdout.take().unwrap());
        Held { server, output }
    }

    /// What the next server does when it starts; returns how many processes it had to end.
    pub(crate) fn end_leftovers(&self) -> usize {
        end_leftovers(&Folder::of(self.path()).unwrap(), DEADLINE)
    }

    /// All living processes with the tag. The dead have no environment to read.
    pub(crate) fn tagged(&self) -> Vec<i32> {
        let tag = self.tag();
        let carries = |pid: &i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == tag.as_bytes())
        };
        pids().into_iter().filter(carries).collect()
    }

    pub(crate) fn wait_for_tagged(&self, at_least: usize) {
        eventually(&format!("{at_least} processes"), || self.tagged().len() >= at_least, || self.describe());
    }

    /// The remaining processes, as `/proc` shows them.
    fn describe(&self) -> String {
        let line = |pid: &i32| {
            let file = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
            format!("{}    {}\n", file("stat"), file("cmdline").replace('\0', " "))
        };
        let tagged = self.tagged();
        let parents = tagged.iter().map(|pid| parent_of(*pid));
        tagged.iter().copied().chain(parents).map(|pid| line(&pid)).collect()
    }

    /// Nobody is left by now.
    #[track_caller]
    pub(crate) fn assert_nobody_is_left(&self) {
        assert!(self.tagged().is_empty(), "{}", self.describe());
    }

    /// Waits until nobody is left, and nobody comes again.
    #[track_caller]
    pub(crate) fn wait_until_nobody_is_left(&self) {
        eventually("nobody left", || (0..5).all(|_| self.tagged().is_empty()), || self.describe());
    }
}

/// Ends whatever a failure left.
impl Drop for Place {
    fn drop(&mut self) {
        for order in [Signal::STOP, Signal::KILL].repeat(10) {
            for pid in self.tagged() {
                // It may exit by itself.
                let _ = kill_process(Pid::from_raw(pid).unwrap(), order);
            }
        }
    }
}

/// A server in a process of its own, with one agent.
pub(crate) struct Held {
    server: Child,
    output: BufReader<ChildStdout>,
}

impl Held {
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub(crate) fn rest(self) -> Vec<String> {
        let lines = self.output.lines().map(Result::unwrap).collect();
        let mut server = self.server;
        server.wait().unwrap();
        lines
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

/// It is the server, and its command `supervise` the supervisor.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_launch");

#[track_caller]
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool, found: impl Fn() -> String) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < DEADLINE, "never: {what}, but\n{}", found());
        thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) async fn lines_of(stdout: pipe::Receiver) -> Vec<String> {
    Lines::new(stdout, &Faults::default()).map(Result::unwrap).collect().await
}

pub(crate) fn signal(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

pub(crate) fn parent_of(pid: i32) -> i32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    fields.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Whether it exists and has not exited.
pub(crate) fn lives(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, fields)| !fields.trim_start().starts_with(['Z', 'X']))
}

fn pids() -> Vec<i32> {
    let names = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter_map(|name| name.parse().ok()).collect()
}
