//! A folder of its own for each test, the binary in it, and a small HTTP client.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use tempfile::TempDir;

const SERVE: [&str; 4] = ["serve", "--listen", "127.0.0.1:0", "--no-open"];
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// Polls until it holds; a server in another process offers no other way.
pub(crate) fn until(found: impl Fn() -> String, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < DEADLINE, "{}", found());
    }
}

pub(crate) struct Folder {
    root: TempDir,
    environment: Vec<(&'static str, String)>,
    /// The working directory of commands.
    cwd: PathBuf,
}

/// The result of a command.
const LEFT_RUNNING: &str = " processes that agents had left running were ended";

#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Standard output of a command that must have succeeded and has nothing to remark. Right after a server was killed, some
    /// of its agents' processes may still be about to end, or not; that is no remark of the command's own.
    #[track_caller]
    pub(crate) fn ok(&self) -> String {
        let remarks: Vec<&str> = self.stderr.lines().filter(|line| !line.ends_with(LEFT_RUNNING)).collect();
        assert_eq!((self.code, remarks), (Some(0), Vec::new()), "{}", self.stdout);
        self.stdout.clone()
    }

    /// Standard error of a command that must have failed.
    #[track_caller]
    pub(crate) fn failed(&self) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (Some(1), ""), "{}", self.stderr);
        self.stderr.clone()
    }
}

impl Folder {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for name in ["home", "work"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        let cwd = root.path().join("work");
        Self { root, environment: Vec::new(), cwd }
    }

    /// Changes the working directory of the following commands.
    pub(crate) fn stand_in(&mut self, cwd: PathBuf) {
        self.cwd = cwd;
    }

    pub(crate) fn with_env(mut self, name: &'static str, value: &str) -> Self {
        self.environment.push((name, value.to_owned()));
        self
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The working directory of sessions, as the server names it.
    pub(crate) fn work(&self) -> PathBuf {
        self.root.path().join("work").canonicalize().unwrap()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.data().join(name)
    }

    /// Every file of the readable copies with its content, except for their cursor.
    pub(crate) fn copies(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.file("sessions")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path != self.file("sessions/copies.json") {
                    let content = fs::read_to_string(&path).unwrap();
                    found.insert(path, content);
                }
            }
        }
        found
    }

    /// Removes the database with everything that belongs to it.
    pub(crate) fn lose_database(&self) {
        for entry in fs::read_dir(self.data()).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap().to_str().unwrap().starts_with("throughline.db") {
                fs::remove_file(path).unwrap();
            }
        }
    }

    pub(crate) fn configure(&self, text: &str) {
        drop(fs::DirBuilder::new().mode(0o700).create(self.data()));
        fs::write(self.file("config.toml"), text).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_throughline"));
        command.args(arguments).current_dir(&self.cwd).stdin(Stdio::null());
        command.env_clear().env("HOME", self.home()).env("THROUGHLINE_HOME", self.data());
        command.envs(self.environment.iter().map(|(name, value)| (*name, value.as_str())));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with_input(arguments, "")
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that does not read its input has closed it; its output is what counts.
        drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
        let pid = child.id();
        let (ended, end) = mpsc::channel();
        thread::spawn(move || ended.send(child.wait_with_output()));
        let output = end.recv_timeout(DEADLINE).unwrap_or_else(|_| {
            kill(pid, Signal::KILL);
            panic!("{arguments:?} did not end")
        });
        let output = output.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Starts a command and kills it as soon as it has begun a database beside the final place.
    pub(crate) fn kill_soon(&self, arguments: &[&str]) {
        let mut child = self.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while !self.file("throughline.db.hydrating").exists() && child.try_wait().unwrap().is_none() {
            thread::yield_now();
        }
        // It may have exited by itself.
        drop(child.kill());
        child.wait().unwrap();
    }

    /// What is printed, with placeholders for what differs from run to run.
    pub(crate) fn named(&self, text: &str) -> String {
        let text = text.replace(self.work().to_str().unwrap(), "WORK").replace(self.data().to_str().unwrap(), "DATA");
        match self.last_session() {
            Some(id) => text.replace(&id, "SESSION").replace(&id[id.len() - 8..], "TAIL"),
            None => text,
        }
    }

    /// The id of the session that was active last.
    fn last_session(&self) -> Option<String> {
        let list: serde_json::Value = serde_json::from_str(&self.run(&["list", "--json"]).stdout).ok()?;
        Some(list["sessions"][0]["id"].as_str()?.to_owned())
    }

    pub(crate) fn serve(&self) -> Running {
        self.start(self.command(&SERVE))
    }

    /// A server whose disk fails, or which dies, at these fail points.
    pub(crate) fn serve_failing(&self, points: &str) -> Running {
        let mut command = self.command(&SERVE);
        command.env("FAILPOINTS", points);
        self.start(command)
    }

    /// A server that writes its log to this file.
    pub(crate) fn serve_logging_to(&self, log: impl Into<Stdio>) -> Running {
        let mut command = self.command(&SERVE);
        command.stderr(log);
        self.start_logging_anywhere(command)
    }

    /// A server that was started as by `nohup`, with SIGHUP ignored.
    pub(crate) fn serve_ignoring_hang_up(&self) -> Running {
        self.start(self.through_shell("trap '' HUP; exec \"$0\" \"$@\""))
    }

    /// A server that may open so many files, and begins with a fifth of them.
    pub(crate) fn serve_with_open_files(&self, files: u32) -> Running {
        let script = format!("ulimit -S -n {}; ulimit -H -n {files}; exec \"$0\" \"$@\"", files / 5);
        self.start(self.through_shell(&script))
    }

    /// A server whose umask lets everybody write to its files, unless it sets their modes itself.
    pub(crate) fn serve_without_umask(&self) -> Running {
        self.start(self.through_shell("umask 0; exec \"$0\" \"$@\""))
    }

    /// A server in which no file can grow beyond so many bytes, until [`Running::lift_limit`].
    pub(crate) fn serve_with_room_for(&self, bytes: u64) -> Running {
        self.start(self.through_shell(&format!("ulimit -S -f {}; exec \"$0\" \"$@\"", bytes / 512)))
    }

    /// A server with a limit on its address space, as has each process that it starts. An allocation beyond it ends
    /// the process.
    pub(crate) fn serve_within(&self, bytes: u64) -> Running {
        // Each of glibc's arenas reserves 64 MiB that nobody uses; how many there are is a matter of chance.
        let mut shell = self.through_shell(&format!("ulimit -v {}; exec \"$0\" \"$@\"", bytes / 1024));
        shell.env("MALLOC_ARENA_MAX", "4");
        self.start(shell)
    }

    /// A server that a shell starts, after a command of its own.
    fn through_shell(&self, script: &str) -> Command {
        let plain = self.command(&[]);
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg(plain.get_program()).args(SERVE);
        shell.current_dir(self.work()).stdin(Stdio::null()).env_clear();
        for (name, value) in plain.get_envs() {
            shell.env(name, value.unwrap_or_default());
        }
        shell
    }

    /// Waits until the newest session's log has this kind of entry.
    pub(crate) fn until_logged(&self, kind: &str) {
        let started = Instant::now();
        while !self.run(&["show", "last", "--json"]).ok().contains(kind) {
            assert!(started.elapsed() < Duration::from_secs(20), "there is no {kind}");
        }
    }

    /// A command that runs on after its first line.
    pub(crate) fn begin(&self, arguments: &[&str]) -> Running {
        self.start(self.command(arguments))
    }

    fn start(&self, mut command: Command) -> Running {
        let log = fs::OpenOptions::new().create(true).append(true).open(self.root.path().join("log")).unwrap();
        command.stderr(log);
        self.start_logging_anywhere(command)
    }

    fn start_logging_anywhere(&self, mut command: Command) -> Running {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut link = String::new();
        stdout.read_line(&mut link).unwrap();
        assert!(link.ends_with('\n'), "no link but {link:?}: {}", self.log());
        let url = link.split_once("/#").map_or("", |(url, _)| url).to_owned();
        Running { child: Some(child), stdout, link: link.trim_end().to_owned(), url }
    }

    /// What servers in this folder wrote to standard error.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.root.path().join("log")).unwrap_or_default()
    }
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A running server or other command; killed when it is dropped.
pub(crate) struct Running {
    child: Option<Child>,
    stdout: BufReader<std::process::ChildStdout>,
    pub(crate) link: String,
    pub(crate) url: String,
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Its peak memory, in bytes.
    pub(crate) fn peak_bytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
    }

    /// From now on files may grow as far as the disk allows.
    pub(crate) fn lift_limit(&self) {
        let pid = Pid::from_raw(self.pid().try_into().unwrap());
        prlimit(pid, Resource::Fsize, Rlimit { current: None, maximum: None }).unwrap();
    }

    pub(crate) fn code(&self) -> &str {
        self.link.split_once("/#code=").unwrap().1
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal);
    }

    /// Reads on until a line has this word.
    pub(crate) fn until(mut self, word: &str) -> Self {
        let mut line = self.link.clone();
        while !line.contains(word) {
            line.clear();
            assert_ne!(self.stdout.read_line(&mut line).unwrap(), 0, "it ended before it said {word}");
        }
        self
    }

    /// Sends a signal and waits for the exit; returns the status, how long it took, and the remaining output.
    pub(crate) fn end(mut self, signal: Signal) -> (ExitStatus, Duration, String) {
        let started = Instant::now();
        kill(self.pid(), signal);
        let status = self.wait();
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (status, started.elapsed(), rest)
    }

    /// Waits for an exit that nobody asked for.
    pub(crate) fn ended(mut self) -> ExitStatus {
        self.wait()
    }

    fn wait(&mut self) -> ExitStatus {
        let mut child = self.child.take().unwrap();
        let pid = child.id();
        let (ended, end) = mpsc::channel();
        thread::spawn(move || ended.send(child.wait()));
        let status = end.recv_timeout(DEADLINE).unwrap_or_else(|_| {
            kill(pid, Signal::KILL);
            panic!("the server did not end")
        });
        status.unwrap()
    }

    pub(crate) fn stop(self) {
        let (status, _, _) = self.end(Signal::TERM);
        assert!(status.success(), "{status}");
    }

    pub(crate) fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    /// Sends one request; returns the whole response as text. `lines` end in CRLF.
    pub(crate) fn ask(&self, request: &str, lines: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        let length = body.len();
        let head = format!("{request} HTTP/1.1\r\nHost: {}\r\n{lines}Connection: close\r\n", self.address());
        let kind = format!("Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}");
        stream.write_all((head + &kind).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Status of a request with a bearer token.
    pub(crate) fn status(&self, token: &str) -> String {
        let answer = self.ask("GET /api/v1/whoami", &format!("Authorization: Bearer {token}\r\n"), "");
        answer.split(' ').nth(1).unwrap().to_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have exited by itself.
            drop(child.kill());
            drop(child.wait());
        }
    }
}

fn kill(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), signal).unwrap();
}
