//! The keeper: a process of our own binary that starts one supervisor and takes over if the agent kills it.
//!
//! Invariant: its only children are the supervisor and the orphans that the supervisor's death leaves to it. So every
//! descendant is the agent's, whatever its session or environment, and the keeper exits when none is left. It does
//! nothing else. The server watches over it: control is closed only when both have exited.
//!
//! The server itself is not the subreaper instead, because the browser that it opens for the person would become its
//! child too, and could not be told from a process that an agent has left.

use std::fs::File;
use std::io;
use std::process::{Command, ExitCode};

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper, setsid, wait};
use rustix::stdio::{dup2_stderr, dup2_stdout};

use super::tree::end_descendants;

/// Runs the hidden command `keep`: hands its standard streams to the supervisor, and keeps control open.
pub fn keep() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // There is nobody to report to: the server sees that control was closed before the last line.
        Err(_) => ExitCode::FAILURE,
    }
}

fn run() -> io::Result<()> {
    close_fds::set_fds_cloexec(3, &[]);
    setsid()?;
    set_child_subreaper(Some(getpid()))?;
    // The file of our name may be another version by now.
    let supervisor = Pid::from_child(&Command::new("/proc/self/exe").arg("supervise").spawn()?);
    // The pipes are the agent's: they must close with the last process that it started.
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdout(&nothing)?;
    dup2_stderr(&nothing)?;
    wait_for(supervisor);
    end_descendants(supervisor, &mut is_child_left);
    Ok(())
}

fn wait_for(supervisor: Pid) {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, _))) if pid == supervisor => return,
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Reaps dead children; returns whether a child is left.
fn is_child_left() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}
