//! A program together with whatever it starts: one process group that ends as one.
//!
//! Invariant: when a `Group` is dropped, nothing of it runs on. Only a process that leaves its group on purpose gets
//! away, and whoever hosts the guide looks after those.

use std::io;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

#[derive(Debug)]
pub(super) struct Group {
    child: Child,
    /// Names the group too. It stays ours until the child is reaped.
    leader: Pid,
    is_reaped: bool,
}

impl Group {
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let leader = id.ok_or_else(|| io::Error::other("the program has no process id"))?;
        Ok(Self { child, leader, is_reaped: false })
    }

    /// The program's own ends of its pipes, once, if it was started with some.
    pub(super) fn pipes(&mut self) -> Option<(ChildStdout, ChildStdin)> {
        Some((self.child.stdout.take()?, self.child.stdin.take()?))
    }

    /// Returns when the leader has ended, but leaves it to be reaped, so that its id still names the group.
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
            // The only failure is that nobody is left.
            kill_process_group(self.leader, Signal::KILL).ok();
        }
    }

    /// Ends what is left of the group and tells how the leader ended.
    pub(super) async fn end(mut self) -> io::Result<ExitStatus> {
        self.kill();
        let status = self.child.wait().await;
        self.is_reaped = status.is_ok();
        status
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
