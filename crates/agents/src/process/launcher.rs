//! Starts agents and holds their processes, on the server's side.
//!
//! Invariant: dropping a [`Process`] ends its agent and every process that the agent started.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::task::TaskTracker;

use super::guard::{Guard, ProcessState};
use super::mark::{Folder, Mark, Marks};
use super::wire::{Ended, Exit, Order, Spec, StartRefusal};

/// Why an agent could not be started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The spec can not be carried out; the text is for the person.
    #[error(transparent)]
    Refused(#[from] StartRefusal),
    #[error("the agent was not started within 10 seconds: the machine may be overloaded; try again")]
    TooSlow,
    #[error("the agent's supervisor ended before it had started the agent: try again")]
    SupervisorLost,
    #[error("the agent's supervisor could not be started: look at the limits on processes, files and memory")]
    Supervisor(#[source] io::Error),
    #[error("the agent's directory can not be written as text: rename it")]
    NotText(#[source] serde_json::Error),
}

/// Starts agents, each under a supervisor of its own.
#[derive(Debug)]
pub struct Launcher {
    program: PathBuf,
    guards: TaskTracker,
    marks: Marks,
}

/// A running agent and its pipes. They are separate, so that each can be given to its user.
#[derive(Debug)]
pub struct Launched {
    pub process: Process,
    /// To be dropped before [`Process::stop`]: a well-behaved agent exits when its input is closed.
    pub stdin: pipe::Sender,
    /// Ends when no process has the other end open.
    pub stdout: pipe::Receiver,
}

/// An agent's process. Dropping it kills the agent and all that it started.
#[derive(Debug)]
pub struct Process {
    pid: i32,
    orders: mpsc::Sender<Order>,
    seen: watch::Receiver<ProcessState>,
}

impl Launcher {
    /// `program` is our own binary, which has the commands `keep` and `supervise`. It must be the running
    /// one: after an upgrade the file of that name is another one, but `/proc/self/exe` is not.
    pub fn new(program: PathBuf) -> Self {
        Self { program, guards: TaskTracker::new(), marks: Marks::default() }
    }

    /// Marks agents that are started from now on with this folder, so that they are found whatever happens to their
    /// supervisor.
    #[must_use]
    pub fn for_folder(self, folder: Folder) -> Self {
        Self { marks: Marks::of(folder), ..self }
    }

    /// Starts an agent. Dropping the future ends what has been started so far.
    pub async fn spawn(&self, mut spec: Spec) -> Result<Launched, LaunchError> {
        let mark = self.marks.next(spec.ending);
        mark.put_into(&mut spec.env);
        let first_line = serde_json::to_string(&spec).map_err(LaunchError::NotText)?;
        let (supervisor, control, stdin, stdout) = self.spawn_supervisor(&mark).map_err(LaunchError::Supervisor)?;
        let (orders, received) = mpsc::channel(1);
        let (now, seen) = watch::channel(ProcessState::default());
        let (started, answer) = oneshot::channel();
        self.guards.spawn(Guard::new(supervisor, control, received, now, mark).watch(first_line, started));
        let pid = answer.await.unwrap_or(Err(LaunchError::SupervisorLost))?;
        Ok(Launched { process: Process { pid, orders, seen }, stdin, stdout })
    }

    /// Waits until every started agent has ended. It ends none: the holder of the [`Process`] does.
    pub async fn wait_until_idle(&self) {
        self.guards.close();
        self.guards.wait().await;
        self.guards.reopen();
    }

    fn spawn_supervisor(
        &self,
        mark: &Mark,
    ) -> io::Result<(tokio::process::Child, tokio::net::UnixStream, pipe::Sender, pipe::Receiver)> {
        let (control, their_control) = UnixStream::pair()?;
        let (their_stdin, stdin) = io::pipe()?;
        let (stdout, their_stdout) = io::pipe()?;
        let mut command = Command::new(&self.program);
        command.arg("keep").env_clear().envs(mark.variable()).current_dir("/");
        command.stdin(OwnedFd::from(their_control)).stdout(their_stdout).stderr(their_stdin);
        let supervisor = command.spawn()?;
        control.set_nonblocking(true)?;
        Ok((
            supervisor,
            tokio::net::UnixStream::from_std(control)?,
            pipe::Sender::from_owned_fd(stdin.into())?,
            pipe::Receiver::from_owned_fd(stdout.into())?,
        ))
    }
}

impl Process {
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// The end of the agent's standard error, at most half a second old.
    pub fn stderr_tail(&self) -> Arc<str> {
        self.seen.borrow().stderr.clone()
    }

    /// Waits until the agent and every process that it started have ended. May be called again.
    pub async fn ended(&mut self) -> Ended {
        let lost = || Ended { exit: Exit::Unknown, stderr: String::new(), survivors: Vec::new() };
        match self.seen.wait_for(|seen| seen.ended.is_some()).await {
            Ok(seen) => seen.ended.clone().unwrap_or_else(lost),
            // The runtime shuts down and has dropped the guard, which kills the agent as well.
            Err(_) => lost(),
        }
    }

    /// Ends the agent: it has one second after the end of its input, two more after SIGTERM, and is killed then. A
    /// shell that is hung up (see [`super::Ending`]) has two seconds.
    pub async fn stop(self) -> Ended {
        self.end(Order::Stop).await
    }

    /// Kills the agent and every process that it started, and waits until they have ended.
    pub async fn kill(self) -> Ended {
        self.end(Order::Kill).await
    }

    async fn end(mut self, order: Order) -> Ended {
        // A guard that takes no more orders has seen the end already.
        let _ = self.orders.send(order).await;
        self.ended().await
    }
}
