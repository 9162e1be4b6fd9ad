//! Ends process trees as `/proc` shows them: freezes, lists again until nobody is new, kills, reaps, and repeats
//! until nobody is left.

mod listing;

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpgrp, getpid, kill_process_group, pidfd_open};

use listing::{Identity, Listed};

use crate::process::mark::{Folder, Mark};
use crate::process::supervisor::SIGTERM_LIMIT;
use crate::process::wire::Ending;

const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// How long a shell that an earlier server's supervisor hangs up is waited for: a little longer than the supervisor waits.
const HANG_UP_PATIENCE: Duration = SIGTERM_LIMIT.saturating_add(Duration::from_millis(500));

/// Ends every descendant of this process, which must be a subreaper, and returns the pids that may not be signalled.
/// `reap` reaps the dead and says whether a child is left; nobody else may reap, for the dead still hold their
/// group's number.
pub(in crate::process) fn end_descendants(_agent: Pid, reap: &mut dyn FnMut() -> bool) -> Vec<i32> {
    let own = getpid();
    let family = ProcessTree { is_root: &|process| process.parent == Some(own), reaper: Some(own) };
    family.end(None, reap)
}

/// Ends a supervisor that does not answer, or what a dead one has left: the processes of its session and all that
/// carry the agent's mark, with their descendants. The supervisor must not have been reaped yet, so that its pid
/// still means its session.
pub(in crate::process) fn end_session(
    supervisor: Pid,
    _agent: Option<Pid>,
    mark: &Mark,
    patience: Duration,
) -> Vec<i32> {
    let is_root = |process: &Listed| {
        process.session == Some(supervisor)
            || process.identity.pid == supervisor
            || process.identity.has_variable(|variable| mark.matches(variable))
    };
    ProcessTree { is_root: &is_root, reaper: None }.end(Some(patience), &mut || false)
}

/// Ends what the agents of earlier owners of this folder have left, supervisors too, and returns the number of
/// processes. A shell that its supervisor is hanging up may still clean up, and is not counted if it ends by itself;
/// nothing else is waited for. The caller owns the folder, and has started no agent yet.
pub fn end_leftovers(folder: &Folder, patience: Duration) -> usize {
    let is_of_agent = |process: &Listed| has_mark(process, folder, Ending::ClosedInput);
    let is_of_shell = |process: &Listed| has_mark(process, folder, Ending::HangUp);
    let agents = living(&is_of_agent);
    let mut shells = living(&is_of_shell);
    // One of them is an ancestor of ours, as when an agent tries out the server that it works on: ending it would end
    // us.
    let own = getpid();
    if agents.iter().chain(&shells).any(|process| process.identity.pid == own) {
        return 0;
    }
    if !agents.is_empty() {
        ProcessTree { is_root: &is_of_agent, reaper: None }.end(Some(patience), &mut || false);
    }
    let given_up_at = Instant::now() + HANG_UP_PATIENCE;
    while !shells.is_empty() && Instant::now() < given_up_at {
        thread::sleep(LONGEST_PAUSE);
        shells = living(&is_of_shell);
    }
    if !shells.is_empty() {
        ProcessTree { is_root: &is_of_shell, reaper: None }.end(Some(patience), &mut || false);
    }
    agents.len() + shells.len()
}

/// Whether an agent of this folder with this ending has started it, or it belongs to such an agent's supervisor.
fn has_mark(process: &Listed, folder: &Folder, ending: Ending) -> bool {
    process.identity.has_variable(|variable| folder.ending_in(variable) == Some(ending))
}

fn living(is_wanted: &dyn Fn(&Listed) -> bool) -> Vec<Listed> {
    listing::all().into_iter().filter(|process| !process.is_dead && is_wanted(process)).collect()
}

/// A descriptor that becomes readable when the process exits; `None` where the sandbox does not allow it.
pub(in crate::process) fn exit_descriptor(process: Pid) -> Option<OwnedFd> {
    pidfd_open(process, PidfdFlags::empty()).ok()
}

struct ProcessTree<'a> {
    /// Which processes belong to the tree, besides all descendants of these.
    is_root: &'a dyn Fn(&Listed) -> bool,
    /// The process whose dead children stay in the listing: this one, if it is their reaper.
    reaper: Option<Pid>,
}

/// The processes that were stopped in one round.
#[derive(Default)]
struct Frozen {
    processes: HashSet<Identity>,
    groups: HashSet<Pid>,
}

impl ProcessTree<'_> {
    fn end(&self, patience: Option<Duration>, reap: &mut dyn FnMut() -> bool) -> Vec<i32> {
        let given_up_at = patience.map(|patience| Instant::now() + patience);
        let mut denied = HashSet::new();
        let mut pause = FIRST_PAUSE;
        loop {
            let frozen = self.freeze(&mut denied);
            if frozen.processes.is_empty() {
                return numbers(denied.iter().filter(|process: &&Identity| process.read_again().is_some()));
            }
            for process in &frozen.processes {
                // One that has exited needs no signal, and one that is denied is noted.
                let _ = process.signal(Signal::KILL);
            }
            for group in &frozen.groups {
                let _ = kill_process_group(*group, Signal::KILL);
            }
            reap();
            if given_up_at.is_some_and(|at| Instant::now() >= at) {
                return numbers(frozen.processes.iter().chain(&denied));
            }
            // Exiting takes a moment: memory is freed first.
            thread::sleep(pause);
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    /// Stops all processes of the tree, so that none starts another while the others are being killed.
    ///
    /// Processes that start others faster than they can be listed are caught by their groups: a signal to a group also
    /// reaches what its members are just starting. One that has died already still tells its group until it is reaped.
    fn freeze(&self, denied: &mut HashSet<Identity>) -> Frozen {
        let own_group = getpgrp();
        let mut frozen = Frozen::default();
        loop {
            let mut news = false;
            for process in self.members() {
                if denied.contains(&process.identity) || !frozen.processes.insert(process.identity) {
                    continue;
                }
                news = true;
                // A dead process in the listing is our own child, and keeps its group until we reap it.
                let group =
                    if process.is_dead { process.group } else { Self::stop(&process.identity, &mut frozen, denied) };
                // A signal to group 1 would reach everybody.
                if let Some(group) = group.filter(|group| *group != own_group && !group.is_init())
                    && frozen.groups.insert(group)
                {
                    let _ = kill_process_group(group, Signal::STOP);
                }
            }
            if !news {
                return frozen;
            }
        }
    }

    /// Stops a process and returns its group.
    fn stop(process: &Identity, frozen: &mut Frozen, denied: &mut HashSet<Identity>) -> Option<Pid> {
        match process.signal(Signal::STOP) {
            Ok(()) => process.read_again()?.group,
            Err(Errno::PERM) => {
                frozen.processes.remove(process);
                denied.insert(*process);
                None
            }
            Err(_) => None,
        }
    }

    /// All living processes of the tree, and the dead ones that only we can reap.
    fn members(&self) -> Vec<Listed> {
        let is_over = |process: &Listed| process.is_dead && (self.reaper.is_none() || process.parent != self.reaper);
        let mut members = listing::with_descendants(listing::all(), self.is_root);
        members.retain(|process| !is_over(process));
        members
    }
}

fn numbers<'a>(processes: impl Iterator<Item = &'a Identity>) -> Vec<i32> {
    processes.map(|process| process.pid.as_raw_nonzero().get()).collect()
}
