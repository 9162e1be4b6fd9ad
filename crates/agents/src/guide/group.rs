//! A program and everything that it starts: one process group that ends as one.
//!
//! Invariant: when a group is dropped, none of its processes runs on. Only a process that leaves its group on purpose
//! escapes; the supervisor ends those.

use std::io;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

#[derive(Debug)]
pub(super) struct ProcessGroup {
    child: Child,
    /// The leader's pid, which is also the group's. It is valid until the child is reaped.
    leader: Pid,
    is_reaped: bool,
}

impl ProcessGroup {
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let leader = id.ok_or_else(|| io::Error::other("the program has no process id"))?;
        Ok(Self { child, leader, is_reaped: false })
    }

    /// The program's pipes, once, if it was started with some.
    pub(super) fn pipes(&mut self) -> Option<(ChildStdout, ChildStdin)> {
        Some((self.child.stdout.take()?, self.child.stdin.take()?))
    }

    /// Returns when the leader has exited, without reaping it, so that its pid still names the group.
    ///
    /// A thread waits for it. That also keeps a paused clock from running while a real program does.
    pub(super) fn ended(&self) -> impl Future<Output = io::Result<()>> + use<> {
        let leader = self.leader;
        let wait = move || loop {
            match waitid(WaitId::Pid(leader), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Ok(_) => return Ok(()),
                Err(rustix::io::Errno::INTR) => (),
                Err(err) => return Err(io::Error::from(err)),
            }
        };
        let waiting = tokio::task::spawn_blocking(wait);
        async { waiting.await? }
    }

    pub(super) fn kill(&self) {
        if !self.is_reaped {
            // It fails only if nobody is left.
            kill_process_group(self.leader, Signal::KILL).ok();
        }
    }

    /// Kills what is left of the group and returns the leader's exit status.
    pub(super) async fn end(mut self) -> io::Result<ExitStatus> {
        self.kill();
        let status = self.child.wait().await;
        self.is_reaped = status.is_ok();
        status
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
