//! Lists the processes in `/proc`, with their parents.
//!
//! Invariant: an ancestor is never younger than its descendant. Where two lines of a listing say so, one of the two
//! pids was reused meanwhile, and they are not taken for relatives.

use std::collections::HashMap;
use std::fs;

use rustix::io::{Errno, Result};
use rustix::process::{Pid, PidfdFlags, RawPid, Signal, kill_process, pidfd_open, pidfd_send_signal};

/// Identifies a process even when its pid has been reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    pub(super) pid: Pid,
    /// In ticks since the machine was started.
    started: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Listed {
    pub(super) identity: Identity,
    /// None for processes that the kernel started.
    pub(super) parent: Option<Pid>,
    pub(super) group: Option<Pid>,
    pub(super) session: Option<Pid>,
    /// All of its threads are dead: a process whose first thread alone has ended goes on.
    pub(super) is_dead: bool,
}

impl Identity {
    /// The process as it is now, if it still exists.
    pub(super) fn read_again(&self) -> Option<Listed> {
        Listed::read(self.pid).filter(|now| now.identity == *self)
    }

    /// Whether it was started with such a variable, given as `NAME=value`. The environment of other users' processes
    /// is not readable.
    pub(super) fn has_variable(&self, is_it: impl Fn(&[u8]) -> bool) -> bool {
        let environment = fs::read(format!("/proc/{}/environ", self.pid.as_raw_nonzero())).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(is_it)
    }

    pub(super) fn signal(&self, signal: Signal) -> Result<()> {
        match pidfd_open(self.pid, PidfdFlags::empty()) {
            // The pidfd holds the process that has the pid now, so the check comes after opening it.
            Ok(held) => match self.read_again() {
                Some(_) => pidfd_send_signal(held, signal),
                None => Err(Errno::SRCH),
            },
            Err(Errno::SRCH) => Err(Errno::SRCH),
            // Not in this kernel, or not in this sandbox.
            Err(_) => kill_process(self.pid, signal),
        }
    }
}

impl Listed {
    fn read(pid: Pid) -> Option<Self> {
        let stat = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        Self::parse(pid, &stat)
    }

    /// `pid (name) state parent group session …`; the name may hold anything, spaces and parentheses too.
    fn parse(pid: Pid, stat: &[u8]) -> Option<Self> {
        let name_end = stat.iter().rposition(|byte| *byte == b')')?;
        let fields: Vec<&str> = std::str::from_utf8(&stat[name_end + 1..]).ok()?.split_ascii_whitespace().collect();
        // Counted from the state, which proc(5) calls the third.
        let [state, parent, group, session] = fields.get(..4)?.try_into().ok()?;
        let threads: u32 = fields.get(17)?.parse().ok()?;
        let started = fields.get(19)?.parse().ok()?;
        // A process that is just being removed has no group any more, which is shown as -1.
        let pid_of = |field: &str| field.parse::<RawPid>().ok().filter(|pid| *pid > 0).and_then(Pid::from_raw);
        Some(Self {
            identity: Identity { pid, started },
            parent: pid_of(parent),
            group: pid_of(group),
            session: pid_of(session),
            is_dead: matches!(state, "Z" | "X") && threads <= 1,
        })
    }
}

pub(super) fn all() -> Vec<Listed> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| Pid::from_raw(entry.ok()?.file_name().to_str()?.parse().ok()?));
    pids.filter_map(Listed::read).collect()
}

pub(super) fn with_descendants(all: Vec<Listed>, is_root: &dyn Fn(&Listed) -> bool) -> Vec<Listed> {
    let mut children: HashMap<Pid, Vec<Listed>> = HashMap::new();
    let mut found = Vec::new();
    for process in all {
        if is_root(&process) {
            found.push(process);
        } else if let Some(parent) = process.parent {
            children.entry(parent).or_default().push(process);
        }
    }
    let mut next = 0;
    while let Some(parent) = found.get(next).map(|process| process.identity) {
        let younger = children.remove(&parent.pid).unwrap_or_default();
        found.extend(younger.into_iter().filter(|child| child.identity.started >= parent.started));
        next += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(pid: i32, parent: i32, started: u64) -> Listed {
        let stat = format!("{pid} (a) b) S {parent} {pid} 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {started} 0");
        Listed::parse(Pid::from_raw(pid).unwrap(), stat.as_bytes()).unwrap()
    }

    fn descendants(all: &[Listed], of: i32) -> Vec<i32> {
        let of = Pid::from_raw(of);
        let found = with_descendants(all.to_vec(), &|process| process.parent == of);
        found.iter().map(|process| process.identity.pid.as_raw_nonzero().get()).collect()
    }

    #[test]
    fn children_of_children_belong_to_the_family() {
        let all = [listed(9, 7, 30), listed(5, 1, 10), listed(7, 5, 20), listed(8, 1, 20), listed(10, 7, 30)];
        assert_eq!(descendants(&all, 5), [7, 9, 10]);
    }

    #[test]
    fn who_is_older_than_its_parent_is_somebody_elses() {
        let all = [listed(7, 5, 20), listed(9, 7, 15)];
        assert_eq!(descendants(&all, 5), [7]);
    }

    #[test]
    fn a_process_that_lists_itself_as_its_parent_ends_no_search() {
        let all = [listed(7, 5, 20), listed(8, 8, 30)];
        assert_eq!(descendants(&all, 5), [7]);
    }

    #[test]
    fn who_has_no_group_any_more_is_read_as_such() {
        let stat = b"4 (x) X 0 -1 -1 0 -1 4228108 0 0 0 0 0 0 0 0 20 0 0 0 99 0";
        let read = Listed::parse(Pid::from_raw(4).unwrap(), stat).unwrap();
        assert_eq!((read.parent, read.group, read.session, read.is_dead), (None, None, None, true));
    }

    #[test]
    fn the_dead_are_those_without_a_living_thread() {
        let parse = |text: &str| Listed::parse(Pid::from_raw(4).unwrap(), text.as_bytes()).unwrap();
        let zombie = "4 (x) Z 1 4 4 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 99 0";
        let first_thread_gone = "4 (x) Z 1 4 4 0 -1 0 0 0 0 0 0 0 0 0 20 0 3 0 99 0";
        assert!(parse(zombie).is_dead);
        assert!(!parse(first_thread_gone).is_dead);
    }
}
