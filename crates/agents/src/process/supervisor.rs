//! The supervisor: a small process of our own binary that stands between the server and one agent.
//!
//! Invariant: it ends only after every descendant has, and it outlives neither the agent nor the server. One thread
//! does everything, so that nobody is reaped while its number is still in use here.

mod control;

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{ChildStderr, ExitCode};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, wait};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::start::{Ends, start};
use super::tail::Tail;
use super::tree::{end_descendants, exit_descriptor};
use super::wire::{Ended, Exit, Order, SupervisorMessage};
use control::Control;

/// How long an agent whose input is closed may take to end by itself.
const PATIENCE_WITH_CLOSED_INPUT: Duration = Duration::from_secs(1);
/// How long one may take that was asked to terminate.
const PATIENCE_WITH_SIGTERM: Duration = Duration::from_secs(2);
/// How often at most the server hears of the agent's standard error.
const BETWEEN_STDERR_NEWS: Duration = Duration::from_millis(500);
/// How long an orphan that has died may wait to be reaped.
const BETWEEN_REAPINGS: Duration = Duration::from_secs(1);

/// What the hidden command `supervise` does, which the keeper runs. Its standard input is control, its standard output will be the agent's,
/// and its standard error is the end to read from that will be the agent's input: so the pipes are inherited, and
/// nothing but a socket and two pipes has to be handed over.
pub fn supervise() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // There is nobody to tell: the server sees that control was closed before the last line.
        Err(_) => ExitCode::FAILURE,
    }
}

fn run() -> io::Result<()> {
    // What the server itself was started with and could not know of would otherwise reach the agent.
    close_fds::set_fds_cloexec(3, &[]);
    let (mut control, ends) = take_standard_streams()?;
    // On Linux the keeper has done it.
    #[cfg(not(target_os = "linux"))]
    rustix::process::setsid()?;
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let spec = control.spec()?;
    let mut child = match start(&spec, ends) {
        Ok(child) => child,
        Err(refusal) => return control.send(&SupervisorMessage::Failed(refusal)),
    };
    let pid = Pid::from_child(&child);
    let mut agent = Agent { pid, exit: None, stderr: child.stderr.take(), tail: Tail::default() };
    // From here on nothing may return before the descendants are ended; a server that is gone is no reason to.
    let told = control.send(&SupervisorMessage::Started { pid: pid.as_raw_nonzero().get() });
    if told.is_ok() {
        attend(&mut control, &mut agent);
    }
    let survivors = end_descendants(pid, &mut || agent.reap());
    let ended = Ended { exit: agent.last_words(), stderr: agent.tail.text(), survivors };
    control.send(&SupervisorMessage::Ended(ended))
}

/// Makes control and the agent's ends our own, and leaves nothing under the standard numbers.
fn take_standard_streams() -> io::Result<(Control, Ends)> {
    let control = Control::new(io::stdin().as_fd().try_clone_to_owned()?);
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    let stdin = io::stderr().as_fd().try_clone_to_owned()?;
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    dup2_stderr(&nothing)?;
    Ok((control, Ends { stdin, stdout }))
}

struct Agent {
    pid: Pid,
    exit: Option<Exit>,
    stderr: Option<ChildStderr>,
    tail: Tail,
}

/// How far the end is that somebody asked for.
#[derive(Clone, Copy)]
enum Phase {
    Running,
    InputClosed { until: Instant },
    Terminating { until: Instant },
}

/// Returns when the agent has ended, or is to be ended by force.
fn attend(control: &mut Control, agent: &mut Agent) {
    let exit = exit_descriptor(agent.pid);
    let mut phase = Phase::Running;
    let mut stderr_told_at: Option<Instant> = None;
    let mut stderr_is_new = false;
    loop {
        let next_news = stderr_is_new.then(|| stderr_told_at.map_or_else(Instant::now, |at| at + BETWEEN_STDERR_NEWS));
        let ready = wait_for_something(control, agent, exit.as_ref(), until(phase).into_iter().chain(next_news));
        if ready.control {
            match control.order() {
                Ok(None) => {}
                Ok(Some(Order::Stop)) => {
                    if matches!(phase, Phase::Running) {
                        phase = Phase::InputClosed { until: Instant::now() + PATIENCE_WITH_CLOSED_INPUT };
                    }
                }
                Ok(Some(Order::Kill)) | Err(_) => return,
            }
        }
        if ready.stderr {
            stderr_is_new |= agent.read_stderr();
        }
        agent.reap();
        if agent.exit.is_some() {
            return;
        }
        let now = Instant::now();
        match phase {
            Phase::InputClosed { until } if until <= now => {
                // Not reaped, so the group is still its own.
                let _ = kill_process_group(agent.pid, Signal::TERM);
                phase = Phase::Terminating { until: now + PATIENCE_WITH_SIGTERM };
            }
            Phase::Terminating { until } if until <= now => return,
            Phase::Running | Phase::InputClosed { .. } | Phase::Terminating { .. } => {}
        }
        if next_news.is_some_and(|at| at <= now) {
            stderr_is_new = false;
            stderr_told_at = Some(now);
            if control.send(&SupervisorMessage::Stderr(agent.tail.text())).is_err() {
                return;
            }
        }
    }
}

fn until(phase: Phase) -> Option<Instant> {
    match phase {
        Phase::Running => None,
        Phase::InputClosed { until } | Phase::Terminating { until } => Some(until),
    }
}

#[derive(Default)]
struct Ready {
    control: bool,
    stderr: bool,
}

fn wait_for_something(
    control: &Control,
    agent: &Agent,
    exit: Option<&OwnedFd>,
    moments: impl Iterator<Item = Instant>,
) -> Ready {
    let longest = if exit.is_some() { BETWEEN_REAPINGS } else { Duration::from_millis(50) };
    let now = Instant::now();
    let pause = moments.map(|at| at.saturating_duration_since(now)).fold(longest, Duration::min);
    let mut awaited = vec![PollFd::new(control, PollFlags::IN)];
    // Nothing is awaited of it but that the pause ends.
    awaited.extend(exit.map(|exit| PollFd::new(exit, PollFlags::IN)));
    awaited.extend(agent.stderr.as_ref().map(|stderr| PollFd::new(stderr, PollFlags::IN)));
    let pause = Timespec::try_from(pause).ok();
    if poll(&mut awaited, pause.as_ref()).is_err() {
        return Ready::default();
    }
    let is_ready = |awaited: Option<&PollFd<'_>>| awaited.is_some_and(|awaited| !awaited.revents().is_empty());
    Ready { control: is_ready(awaited.first()), stderr: agent.stderr.is_some() && is_ready(awaited.last()) }
}

impl Agent {
    /// Reads once, and says whether there was something.
    fn read_stderr(&mut self) -> bool {
        let mut piece = [0; 16 * 1024];
        match self.stderr.as_mut().map(|stderr| stderr.read(&mut piece)) {
            Some(Ok(0) | Err(_)) => self.stderr = None,
            Some(Ok(length)) => {
                self.tail.push(&piece[..length]);
                return true;
            }
            None => {}
        }
        false
    }

    /// Collects whoever has died, the agent and orphans that came to us, and says whether a child is left.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.pid => self.exit = Some(exit_of(status)),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// All are gone: what is left is to look at the agent's status and at the rest of its standard error.
    fn last_words(&mut self) -> Exit {
        while let Some(stderr) = &self.stderr {
            // A survivor may hold the other end: what is there is read, nothing is waited for.
            let mut awaited = [PollFd::new(stderr, PollFlags::IN)];
            let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
            match poll(&mut awaited, Some(&at_once)) {
                Ok(1..) => self.read_stderr(),
                Ok(0) | Err(_) => break,
            };
        }
        self.exit.unwrap_or(Exit::Unknown)
    }
}

fn exit_of(status: WaitStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}
