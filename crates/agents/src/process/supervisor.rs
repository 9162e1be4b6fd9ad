//! The supervisor: a small process of our own binary between the server and one agent.
//!
//! Invariant: it exits only after every descendant has. When the agent has exited or the server is gone, it kills at once
//! what is left, and exits; only a shell ([`Ending::HangUp`]) and what it has left get up to two seconds to clean up
//! first. One thread does everything, so that no process is reaped while its pid is still in use here.

mod control;

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{ChildStderr, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process, kill_process_group,
    test_kill_process_group, wait, waitid,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::start::{InheritedPipes, start};
use super::tail::Tail;
use super::tree::{end_descendants, exit_descriptor};
use super::wire::{Ended, Ending, Exit, Order, SupervisorMessage};
use control::Control;

/// How long an agent whose input is closed may take to exit by itself.
const CLOSED_INPUT_LIMIT: Duration = Duration::from_secs(1);
/// How long an agent may take to exit after SIGTERM, and a shell that is hung up.
pub(super) const SIGTERM_LIMIT: Duration = Duration::from_secs(2);
/// How often it is looked whether a shell that was hung up has ended.
const HANG_UP_PAUSE: Duration = Duration::from_millis(10);
/// How often at most the agent's standard error is sent to the server.
const STDERR_INTERVAL: Duration = Duration::from_millis(500);
/// How long a dead orphan may wait to be reaped.
const REAP_INTERVAL: Duration = Duration::from_secs(1);

/// Runs the hidden command `supervise`, which the keeper starts. Its standard input is control. Its standard output
/// becomes the agent's. Its standard error is the read end of the agent's input. So the pipes are inherited, and
/// nothing but a socket and two pipes has to be handed over.
pub fn supervise() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // There is nobody to report to: the server sees that control was closed before the last line.
        Err(_) => ExitCode::FAILURE,
    }
}

fn run() -> io::Result<()> {
    // Closes descriptors that the server itself inherited without knowing; they would otherwise reach the agent.
    close_fds::set_fds_cloexec(3, &[]);
    let (mut control, ends) = take_standard_streams()?;
    // On Linux the keeper has called it.
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
    let mut agent = Agent { pid, ending: spec.ending, exit: None, stderr: child.stderr.take(), tail: Tail::default() };
    // From here on nothing may return before the descendants are ended, not even if the server is gone.
    drop(control.send(&SupervisorMessage::Started { pid: pid.as_raw_nonzero().get() }));
    watch_agent(&mut control, &mut agent);
    let survivors = end_descendants(pid, &mut || agent.reap());
    let ended = Ended { exit: agent.collect_exit(), stderr: agent.tail.text(), survivors };
    control.send(&SupervisorMessage::Ended(ended))
}

/// Takes control and the agent's pipe ends from the standard streams, and puts nothing in their place.
fn take_standard_streams() -> io::Result<(Control, InheritedPipes)> {
    let control = Control::new(io::stdin().as_fd().try_clone_to_owned()?);
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    let stdin = io::stderr().as_fd().try_clone_to_owned()?;
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    dup2_stderr(&nothing)?;
    Ok((control, InheritedPipes { stdin, stdout }))
}

struct Agent {
    pid: Pid,
    ending: Ending,
    exit: Option<Exit>,
    stderr: Option<ChildStderr>,
    tail: Tail,
}

/// How far a requested stop has got.
#[derive(Clone, Copy)]
enum StopPhase {
    Running,
    InputClosed { phase_deadline: Instant },
    Terminating { phase_deadline: Instant },
}

/// Returns when what is left, the agent or what it has started, is to be killed.
fn watch_agent(control: &mut Control, agent: &mut Agent) {
    let exit = exit_descriptor(agent.pid);
    let mut phase = StopPhase::Running;
    let mut stderr_told_at: Option<Instant> = None;
    let mut stderr_is_new = false;
    loop {
        let next_news = stderr_is_new.then(|| stderr_told_at.map_or_else(Instant::now, |at| at + STDERR_INTERVAL));
        let ready = poll_inputs(control, agent, exit.as_ref(), phase_deadline(phase).into_iter().chain(next_news));
        if ready.control {
            match control.order() {
                Ok(None) => {}
                Ok(Some(Order::Stop)) | Err(_) if agent.ending == Ending::HangUp => return agent.hang_up(),
                Ok(Some(Order::Stop)) => {
                    if matches!(phase, StopPhase::Running) {
                        phase = StopPhase::InputClosed { phase_deadline: Instant::now() + CLOSED_INPUT_LIMIT };
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
            if agent.ending == Ending::HangUp {
                agent.hang_up();
            }
            return;
        }
        let now = Instant::now();
        match phase {
            StopPhase::InputClosed { phase_deadline } if phase_deadline <= now => {
                // Not reaped yet, so the group is still its own.
                let _ = kill_process_group(agent.pid, Signal::TERM);
                phase = StopPhase::Terminating { phase_deadline: now + SIGTERM_LIMIT };
            }
            StopPhase::Terminating { phase_deadline } if phase_deadline <= now => return,
            StopPhase::Running | StopPhase::InputClosed { .. } | StopPhase::Terminating { .. } => {}
        }
        if next_news.is_some_and(|at| at <= now) {
            stderr_is_new = false;
            stderr_told_at = Some(now);
            // That control is closed is seen when it is read.
            drop(control.send(&SupervisorMessage::Stderr(agent.tail.text())));
        }
    }
}

fn phase_deadline(phase: StopPhase) -> Option<Instant> {
    match phase {
        StopPhase::Running => None,
        StopPhase::InputClosed { phase_deadline } | StopPhase::Terminating { phase_deadline } => Some(phase_deadline),
    }
}

#[derive(Default)]
struct ReadyInputs {
    control: bool,
    stderr: bool,
}

fn poll_inputs(
    control: &Control,
    agent: &Agent,
    exit: Option<&OwnedFd>,
    moments: impl Iterator<Item = Instant>,
) -> ReadyInputs {
    let longest = if exit.is_some() { REAP_INTERVAL } else { Duration::from_millis(50) };
    let now = Instant::now();
    let pause = moments.map(|at| at.saturating_duration_since(now)).fold(longest, Duration::min);
    let mut awaited = vec![PollFd::new(control, PollFlags::IN)];
    // Polled only to end the wait.
    awaited.extend(exit.map(|exit| PollFd::new(exit, PollFlags::IN)));
    awaited.extend(agent.stderr.as_ref().map(|stderr| PollFd::new(stderr, PollFlags::IN)));
    let pause = Timespec::try_from(pause).ok();
    if poll(&mut awaited, pause.as_ref()).is_err() {
        return ReadyInputs::default();
    }
    let is_ready = |awaited: Option<&PollFd<'_>>| awaited.is_some_and(|awaited| !awaited.revents().is_empty());
    ReadyInputs { control: is_ready(awaited.first()), stderr: agent.stderr.is_some() && is_ready(awaited.last()) }
}

impl Agent {
    /// Hangs a shell up and waits for it and for what it runs, within a limit. The shell itself ignores SIGTERM, and what it runs
    /// may ignore SIGHUP, as under `nohup`. What the shell runs may take longer to clean up than the shell to exit. A
    /// shell that has exited by itself may have left something in the background, which gets the same time.
    fn hang_up(&mut self) {
        let deadline = Instant::now() + SIGTERM_LIMIT;
        if self.has_its_group() {
            let _ = kill_process_group(self.pid, Signal::TERM);
        }
        if self.exit.is_none() {
            let _ = kill_process(self.pid, Signal::HUP);
        }
        loop {
            self.reap();
            // A group lives on in its members when its first one has been reaped.
            let is_over = self.exit.is_some() && test_kill_process_group(self.pid).is_err();
            if is_over || Instant::now() >= deadline {
                return;
            }
            thread::sleep(HANG_UP_PAUSE);
        }
    }

    /// Whether the number of its group still means this group: until it is reaped, and after that while a member is our
    /// child, since nobody else reaps that one. A member whose parent has exited becomes our child, where there are subreapers.
    fn has_its_group(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.exit.is_none() || waitid(WaitId::Pgid(Some(self.pid)), look).is_ok()
    }

    /// Reads once from standard error; returns whether there was something.
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

    /// Reaps dead children, the agent and adopted orphans; returns whether a child is left.
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

    /// Reads the rest of the agent's standard error and its exit status, after all processes have exited.
    fn collect_exit(&mut self) -> Exit {
        while let Some(stderr) = &self.stderr {
            // A survivor may hold the other end: what is there is read, without waiting for more.
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
