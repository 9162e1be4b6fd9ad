//! Where there is no `/proc`: process groups. What has left its group, or its session, is out of reach.

use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::process::mark::{Folder, Mark};

/// Ends the agent's group and reaps until no child is left.
pub(in crate::process) fn end_descendants(agent: Pid, reap: &mut dyn FnMut() -> bool) -> Vec<i32> {
    // One that is gone needs no signal.
    let _ = kill_process_group(agent, Signal::KILL);
    while reap() {
        thread::sleep(Duration::from_millis(5));
    }
    Vec::new()
}

/// Ends a supervisor that does not answer, and the agent's group.
pub(in crate::process) fn end_session(
    supervisor: Pid,
    agent: Option<Pid>,
    _mark: &Mark,
    _patience: Duration,
) -> Vec<i32> {
    // One that is gone needs no signal.
    let _ = kill_process(supervisor, Signal::KILL);
    if let Some(agent) = agent {
        let _ = kill_process_group(agent, Signal::KILL);
    }
    Vec::new()
}

/// Ends none: the environment of other processes can not be read here.
pub fn end_leftovers(_folder: &Folder, _patience: Duration) -> usize {
    0
}

/// There is none: whoever waits has to look from time to time.
pub(in crate::process) fn exit_descriptor(_process: Pid) -> Option<OwnedFd> {
    None
}
