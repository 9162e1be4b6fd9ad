//! The messages between server and supervisor on the control socket: one line of JSON each.
//!
//! Invariant: both ends are the same binary, so the lines have no versions.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What to start, where and with what. The first line that the supervisor gets.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// A full path, or a bare name that is looked up on the `PATH` of `env`. Never a shell's line.
    pub command: String,
    pub args: Vec<String>,
    /// The whole environment: nothing is inherited. [`super::environment()`] makes one.
    pub env: BTreeMap<String, String>,
    pub cwd: PathBuf,
    pub limits: ProcessLimits,
    pub ending: Ending,
}

/// How a program is asked to end, before it is killed with all that it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// By the end of its input, and by SIGTERM a second later. It is killed at once when the server is gone.
    ClosedInput,
    /// For an interactive shell, which has no input and ignores SIGTERM: by SIGHUP, and by SIGTERM to what it runs, at
    /// once and also when the server is gone. What it has left when it exits by itself is asked by SIGTERM as well. Killed in
    /// the middle of its files, what it runs would leave locks behind.
    HangUp,
}

/// Arguments and the values of variables may be secrets.
impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, args, env, cwd, limits, ending } = self;
        let mut spec = f.debug_struct("Spec");
        spec.field("command", command).field("args", &args.len()).field("env", &env.keys());
        spec.field("cwd", cwd).field("limits", limits).field("ending", ending).finish()
    }
}

/// The resources that the agent may use; each process that it starts has the same limits. The defaults stop runaway
/// programs and nothing that works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessLimits {
    /// Open files at a time; the system's own limit holds where it is lower.
    pub open_files: Option<u64>,
    /// Memory of one process for its data.
    pub memory_bytes: Option<u64>,
    /// Processes and threads of the user altogether, also those of other programs; beyond that the agent can not
    /// start another one. The limit does not apply to root.
    pub processes: Option<u64>,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        Self { open_files: Some(65_536), memory_bytes: None, processes: Some(32_768) }
    }
}

/// An order of the server, the most severe last. A closed control means [`Order::Kill`] too, but for a
/// program with [`Ending::HangUp`], which is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// Ends gracefully, as its [`Ending`] says; the program's input is closed by now, so that it can exit by itself.
    Stop,
    Kill,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SupervisorMessage {
    Started {
        pid: i32,
    },
    Failed(StartRefusal),
    /// The end of the agent's standard error, as it is now.
    Stderr(String),
    /// The last line: neither the agent nor any process that it started is left.
    Ended(Ended),
}

/// How an agent's process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    pub exit: Exit,
    /// The last 64 KiB, at most, of its standard error.
    pub stderr: String,
    /// Processes with another user's rights, which could not be ended.
    pub survivors: Vec<i32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// Nobody saw it: its supervisor was killed, or did not answer.
    Unknown,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

/// Why an agent was not started, for a person to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum StartRefusal {
    #[error("the command {command} was not found: install it, or give its full path")]
    CommandNotFound { command: String },
    #[error("the command {command} is neither a bare name nor a full path: write one of these")]
    CommandRelative { command: String },
    #[error("{} is there but may not be run: make it executable (chmod +x)", path.display())]
    NotExecutable { path: PathBuf },
    #[error("{} can not be run, for the program that its first line names is missing: install that", path.display())]
    InterpreterMissing { path: PathBuf },
    #[error("the directory {} is gone: make it again, or begin a session elsewhere", path.display())]
    DirectoryMissing { path: PathBuf },
    #[error("{} is not a directory: begin a session in one", path.display())]
    NotADirectory { path: PathBuf },
    #[error("the directory {} may not be entered: check its permissions", path.display())]
    DirectoryClosed { path: PathBuf },
    #[error("{} can not be given an argument or a variable with a zero byte: remove it", path.display())]
    ZeroByte { path: PathBuf },
    #[error("the agent's limits could not be set: {}", system(*code))]
    Limits { code: i32 },
    #[error("the system could not start {}: {}", path.display(), system(*code))]
    System { path: PathBuf, code: i32 },
}

fn system(code: i32) -> io::Error {
    io::Error::from_raw_os_error(code)
}
