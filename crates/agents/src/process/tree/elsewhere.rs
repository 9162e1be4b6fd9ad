//! Ends process trees where there is no `/proc`, by process group. Processes that have left the group or the session
//! are not reached.

use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::process::mark::{Folder, Mark};

/// Kills the agent's group and reaps until no child is left.
pub(in crate::process) fn end_descendants(agent: Pid, reap: &mut dyn FnMut() -> bool) -> Vec<i32> {
    // One that has exited needs no signal.
    let _ = kill_process_group(agent, Signal::KILL);
    while reap() {
        thread::sleep(Duration::from_millis(5));
    }
    Vec::new()
}

/// Kills a supervisor that does not answer, and the agent's group.
pub(in crate::process) fn end_session(
    supervisor: Pid,
    agent: Option<Pid>,
    _mark: &Mark,
    _patience: Duration,
) -> Vec<i32> {
    // One that has exited needs no signal.
    let _ = kill_process(supervisor, Signal::KILL);
    if let Some(agent) = agent {
        let _ = kill_process_group(agent, Signal::KILL);
    }
    Vec::new()
}

/// Does nothing: the environment of other processes can not be read here.
pub fn end_leftovers(_folder: &Folder, _patience: Duration) -> usize {
    0
}

/// Always `None`: the caller has to poll.
pub(in crate::process) fn exit_descriptor(_process: Pid) -> Option<OwnedFd> {
    None
}
