//! The server's side of one supervisor and its keeper. To the server they are one child process, the keeper's.
//!
//! Invariant: the guard ends only after the supervisor has. If a supervisor was killed with its keeper, or does not
//! obey, the guard does its work: it ends the processes of the supervisor's session and all that carry the agent's
//! mark.

use std::future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::Child;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::launcher::LaunchError;
use super::lines::{Faults, Lines};
use super::mark::Mark;
use super::tree::end_session;
use super::wire::{Ended, Exit, Order, SupervisorMessage};

/// Time limit for starting an agent.
const START_LIMIT: Duration = Duration::from_secs(10);
/// Time limit for a graceful stop; the supervisor needs three seconds of it.
const STOP_LIMIT: Duration = Duration::from_secs(10);
/// Time limit for a supervisor to kill, or to exit when control is closed.
const KILL_LIMIT: Duration = Duration::from_secs(10);
/// Time limit for ending what a supervisor has left.
const SEARCH_LIMIT: Duration = Duration::from_secs(10);

/// What the server knows of an agent's process.
#[derive(Debug, Clone)]
pub(super) struct ProcessState {
    pub(super) stderr: Arc<str>,
    pub(super) ended: Option<Ended>,
}

impl Default for ProcessState {
    fn default() -> Self {
        Self { stderr: "".into(), ended: None }
    }
}

pub(super) struct Guard {
    supervisor: Child,
    news: Lines<OwnedReadHalf>,
    control: OwnedWriteHalf,
    orders: mpsc::Receiver<Order>,
    seen: watch::Sender<ProcessState>,
    mark: Mark,
}

/// How a supervisor ended.
enum SupervisorOutcome {
    /// It has reported the agent's end, and exits.
    Reported(Ended),
    /// It has started nothing, and exits.
    Idle,
    /// It is dead, or does not answer.
    Lost,
}

impl Guard {
    pub(super) fn new(
        supervisor: Child,
        control: UnixStream,
        orders: mpsc::Receiver<Order>,
        seen: watch::Sender<ProcessState>,
        mark: Mark,
    ) -> Self {
        let (news, control) = control.into_split();
        Self { supervisor, news: Lines::new(news, &Faults::default()), control, orders, seen, mark }
    }

    /// Runs from the first line to the supervisor's exit.
    pub(super) async fn watch(mut self, first_line: String, mut started: oneshot::Sender<Result<i32, LaunchError>>) {
        let start = tokio::select! {
            start = timeout(START_LIMIT, self.start(first_line)) => start.unwrap_or(Err(LaunchError::TooSlow)),
            // The caller does not wait any more.
            () = started.closed() => Err(LaunchError::TooSlow),
        };
        let (agent, outcome) = match start {
            Ok(agent) => {
                // If the caller is gone, the order channel is closed as well.
                drop(started.send(Ok(agent)));
                (Pid::from_raw(agent), self.run_until_outcome().await)
            }
            Err(failure) => {
                let known = match &failure {
                    LaunchError::Refused(_) => Some(SupervisorOutcome::Idle),
                    LaunchError::SupervisorLost => Some(SupervisorOutcome::Lost),
                    LaunchError::TooSlow | LaunchError::Supervisor(_) | LaunchError::NotText(_) => None,
                };
                drop(started.send(Err(failure)));
                match known {
                    Some(outcome) => (None, outcome),
                    None => (None, self.cancel_start().await),
                }
            }
        };
        self.finish(outcome, agent).await;
    }

    async fn start(&mut self, mut line: String) -> Result<i32, LaunchError> {
        line.push('\n');
        self.control.write_all(line.as_bytes()).await.map_err(|_| LaunchError::SupervisorLost)?;
        match next_message(&mut self.news).await {
            Some(SupervisorMessage::Started { pid }) => Ok(pid),
            Some(SupervisorMessage::Failed(refusal)) => Err(refusal.into()),
            Some(SupervisorMessage::Stderr(_) | SupervisorMessage::Ended(_)) | None => Err(LaunchError::SupervisorLost),
        }
    }

    /// Forwards orders and messages until the supervisor's outcome is known.
    async fn run_until_outcome(&mut self) -> SupervisorOutcome {
        let mut given = None;
        let mut limit = None;
        loop {
            tokio::select! {
                news = next_message(&mut self.news) => match news {
                    Some(SupervisorMessage::Stderr(text)) => self.seen.send_modify(|seen| seen.stderr = text.into()),
                    Some(SupervisorMessage::Ended(ended)) => return SupervisorOutcome::Reported(ended),
                    Some(SupervisorMessage::Started { .. } | SupervisorMessage::Failed(_)) | None => return SupervisorOutcome::Lost,
                },
                order = self.orders.recv(), if given != Some(Order::Kill) => {
                    // Nobody holds the process any more.
                    let order = order.unwrap_or(Order::Kill);
                    if self.forward(order).await.is_err() {
                        return SupervisorOutcome::Lost;
                    }
                    given = Some(order);
                    limit = Some(Instant::now() + match order {
                        Order::Stop => STOP_LIMIT,
                        Order::Kill => KILL_LIMIT,
                    });
                }
                () = reached(limit) => return SupervisorOutcome::Lost,
            }
        }
    }

    /// Cancels a start whose first line may not have been written whole. The other direction stays open for the
    /// report of the end.
    async fn cancel_start(&mut self) -> SupervisorOutcome {
        continue_stopped(&self.supervisor);
        let heard = async {
            self.control.shutdown().await.ok()?;
            loop {
                match next_message(&mut self.news).await? {
                    SupervisorMessage::Started { .. } | SupervisorMessage::Stderr(_) => {}
                    SupervisorMessage::Failed(_) => return Some(SupervisorOutcome::Idle),
                    SupervisorMessage::Ended(ended) => return Some(SupervisorOutcome::Reported(ended)),
                }
            }
        };
        timeout(KILL_LIMIT, heard).await.ok().flatten().unwrap_or(SupervisorOutcome::Lost)
    }

    async fn forward(&mut self, order: Order) -> io::Result<()> {
        continue_stopped(&self.supervisor);
        let mut line = serde_json::to_vec(&order)?;
        line.push(b'\n');
        self.control.write_all(&line).await
    }

    /// Waits for the supervisor's exit. If its session has to be searched, that happens before it is reaped, while
    /// its pid is its own.
    async fn finish(mut self, outcome: SupervisorOutcome, agent: Option<Pid>) {
        let unseen =
            |survivors| Ended { exit: Exit::Unknown, stderr: self.seen.borrow().stderr.to_string(), survivors };
        let ended = match outcome {
            SupervisorOutcome::Reported(ended) => ended,
            SupervisorOutcome::Idle => unseen(Vec::new()),
            SupervisorOutcome::Lost => unseen(end_session_of(&self.supervisor, agent, &self.mark).await),
        };
        self.seen.send_modify(|seen| {
            seen.stderr = ended.stderr.as_str().into();
            seen.ended = Some(ended);
        });
        drop((self.news, self.control));
        if timeout(KILL_LIMIT, self.supervisor.wait()).await.is_err() {
            end_session_of(&self.supervisor, agent, &self.mark).await;
            // A supervisor that cannot even be killed is left to the runtime, which reaps it when it exits.
            drop(timeout(KILL_LIMIT, self.supervisor.wait()).await);
        }
    }
}

/// Continues a stopped supervisor: an agent can stop its own supervisor, as it can every process of its user.
fn continue_stopped(supervisor: &Child) {
    if let Some(pid) = pid_of(supervisor) {
        // The keeper leads the process group of the supervisor. One that has exited needs no signal.
        let _ = kill_process_group(pid, Signal::CONT).or_else(|_| kill_process(pid, Signal::CONT));
    }
}

/// The supervisor's pid; it is valid until the supervisor has been reaped.
fn pid_of(supervisor: &Child) -> Option<Pid> {
    Pid::from_raw(supervisor.id()?.cast_signed())
}

/// Kills the supervisor, if it still runs, and ends its session from here.
async fn end_session_of(supervisor: &Child, agent: Option<Pid>, mark: &Mark) -> Vec<i32> {
    let Some(pid) = pid_of(supervisor) else { return Vec::new() };
    if agent.is_some() {
        tracing::warn!(
            supervisor = pid.as_raw_nonzero(),
            "an agent's supervisor is gone; its session is ended from here"
        );
    }
    let mark = mark.clone();
    let ended = tokio::task::spawn_blocking(move || end_session(pid, agent, &mark, SEARCH_LIMIT)).await;
    ended.unwrap_or_default()
}

/// The next message; `None` if there is none or it can not be parsed. Cancel-safe.
async fn next_message(news: &mut Lines<OwnedReadHalf>) -> Option<SupervisorMessage> {
    let line = news.next().await?.ok()?;
    serde_json::from_str(&line).ok()
}

async fn reached(limit: Option<Instant>) {
    match limit {
        Some(limit) => sleep_until(limit).await,
        None => future::pending().await,
    }
}
