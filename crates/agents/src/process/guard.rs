//! Watches over one supervisor and its keeper from the server's side, which are one process to it: the keeper's.
//!
//! Invariant: it ends only when the supervisor has. A supervisor that was killed with its keeper, or that does not do what
//! it is told, is replaced by hand: its session, and what else carries the agent's mark, is searched and ended from here.

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

/// How long it may take to start an agent.
const START_LIMIT: Duration = Duration::from_secs(10);
/// How long an agent may take to be ended in peace; the supervisor needs three seconds of it.
const STOP_LIMIT: Duration = Duration::from_secs(10);
/// How long a supervisor may take to kill, or to end when control is closed.
const KILL_LIMIT: Duration = Duration::from_secs(10);
/// How long is tried to end what a supervisor has left.
const SEARCH_LIMIT: Duration = Duration::from_secs(10);

/// What the server knows of an agent's process.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) stderr: Arc<str>,
    pub(super) ended: Option<Ended>,
}

impl Default for Seen {
    fn default() -> Self {
        Self { stderr: "".into(), ended: None }
    }
}

pub(super) struct Guard {
    supervisor: Child,
    news: Lines<OwnedReadHalf>,
    control: OwnedWriteHalf,
    orders: mpsc::Receiver<Order>,
    seen: watch::Sender<Seen>,
    mark: Mark,
}

/// What came of a supervisor.
enum Outcome {
    /// It has told of the end, and ends itself.
    Told(Ended),
    /// It has started nothing, and ends itself.
    Idle,
    /// It is dead, or does not answer.
    Lost,
}

impl Guard {
    pub(super) fn new(
        supervisor: Child,
        control: UnixStream,
        orders: mpsc::Receiver<Order>,
        seen: watch::Sender<Seen>,
        mark: Mark,
    ) -> Self {
        let (news, control) = control.into_split();
        Self { supervisor, news: Lines::new(news, &Faults::default()), control, orders, seen, mark }
    }

    /// From the first line to the end of the supervisor.
    pub(super) async fn keep(mut self, first_line: String, mut started: oneshot::Sender<Result<i32, LaunchError>>) {
        let start = tokio::select! {
            start = timeout(START_LIMIT, self.start(first_line)) => start.unwrap_or(Err(LaunchError::TooSlow)),
            // Whoever asked does not wait any more.
            () = started.closed() => Err(LaunchError::TooSlow),
        };
        let (agent, outcome) = match start {
            Ok(agent) => {
                // Who asked may be gone: then there will be no orders either.
                drop(started.send(Ok(agent)));
                (Pid::from_raw(agent), self.attend().await)
            }
            Err(failure) => {
                let known = match &failure {
                    LaunchError::Refused(_) => Some(Outcome::Idle),
                    LaunchError::SupervisorLost => Some(Outcome::Lost),
                    LaunchError::TooSlow | LaunchError::Supervisor(_) | LaunchError::NotText(_) => None,
                };
                drop(started.send(Err(failure)));
                match known {
                    Some(outcome) => (None, outcome),
                    None => (None, self.call_off().await),
                }
            }
        };
        self.conclude(outcome, agent).await;
    }

    async fn start(&mut self, mut line: String) -> Result<i32, LaunchError> {
        line.push('\n');
        self.control.write_all(line.as_bytes()).await.map_err(|_| LaunchError::SupervisorLost)?;
        match next(&mut self.news).await {
            Some(SupervisorMessage::Started { pid }) => Ok(pid),
            Some(SupervisorMessage::Failed(refusal)) => Err(refusal.into()),
            Some(SupervisorMessage::Stderr(_) | SupervisorMessage::Ended(_)) | None => Err(LaunchError::SupervisorLost),
        }
    }

    /// Passes on orders and news until it is clear what came of the supervisor.
    async fn attend(&mut self) -> Outcome {
        let mut given = None;
        let mut limit = None;
        loop {
            tokio::select! {
                news = next(&mut self.news) => match news {
                    Some(SupervisorMessage::Stderr(text)) => self.seen.send_modify(|seen| seen.stderr = text.into()),
                    Some(SupervisorMessage::Ended(ended)) => return Outcome::Told(ended),
                    Some(SupervisorMessage::Started { .. } | SupervisorMessage::Failed(_)) | None => return Outcome::Lost,
                },
                order = self.orders.recv(), if given != Some(Order::Kill) => {
                    // Nobody holds the process any more.
                    let order = order.unwrap_or(Order::Kill);
                    if self.pass_on(order).await.is_err() {
                        return Outcome::Lost;
                    }
                    given = Some(order);
                    limit = Some(Instant::now() + match order {
                        Order::Stop => STOP_LIMIT,
                        Order::Kill => KILL_LIMIT,
                    });
                }
                () = reached(limit) => return Outcome::Lost,
            }
        }
    }

    /// For when the first line may not have got there whole. The other direction stays open, to hear of the end.
    async fn call_off(&mut self) -> Outcome {
        wake(&self.supervisor);
        let heard = async {
            self.control.shutdown().await.ok()?;
            loop {
                match next(&mut self.news).await? {
                    SupervisorMessage::Started { .. } | SupervisorMessage::Stderr(_) => {}
                    SupervisorMessage::Failed(_) => return Some(Outcome::Idle),
                    SupervisorMessage::Ended(ended) => return Some(Outcome::Told(ended)),
                }
            }
        };
        timeout(KILL_LIMIT, heard).await.ok().flatten().unwrap_or(Outcome::Lost)
    }

    async fn pass_on(&mut self, order: Order) -> io::Result<()> {
        wake(&self.supervisor);
        let mut line = serde_json::to_vec(&order)?;
        line.push(b'\n');
        self.control.write_all(&line).await
    }

    /// Sees the supervisor off. Its number must not be free before its session has been searched, if that is needed.
    async fn conclude(mut self, outcome: Outcome, agent: Option<Pid>) {
        let unseen =
            |survivors| Ended { exit: Exit::Unknown, stderr: self.seen.borrow().stderr.to_string(), survivors };
        let ended = match outcome {
            Outcome::Told(ended) => ended,
            Outcome::Idle => unseen(Vec::new()),
            Outcome::Lost => unseen(search(&self.supervisor, agent, &self.mark).await),
        };
        self.seen.send_modify(|seen| {
            seen.stderr = ended.stderr.as_str().into();
            seen.ended = Some(ended);
        });
        drop((self.news, self.control));
        if timeout(KILL_LIMIT, self.supervisor.wait()).await.is_err() {
            search(&self.supervisor, agent, &self.mark).await;
            // One that can not even be killed is left to the runtime, which collects it whenever it ends.
            drop(timeout(KILL_LIMIT, self.supervisor.wait()).await);
        }
    }
}

/// An agent can stop its own supervisor, as it can every process of its user.
fn wake(supervisor: &Child) {
    if let Some(pid) = pid_of(supervisor) {
        // The keeper leads the group that the supervisor is in. One that is gone can not be woken.
        let _ = kill_process_group(pid, Signal::CONT).or_else(|_| kill_process(pid, Signal::CONT));
    }
}

/// As long as the supervisor has not been collected, the number is its own.
fn pid_of(supervisor: &Child) -> Option<Pid> {
    Pid::from_raw(supervisor.id()?.cast_signed())
}

/// Ends the supervisor, if it is there, and its session from here.
async fn search(supervisor: &Child, agent: Option<Pid>, mark: &Mark) -> Vec<i32> {
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

/// The next line; nothing, if there is none or it makes no sense. Safe to be given up while it waits.
async fn next(news: &mut Lines<OwnedReadHalf>) -> Option<SupervisorMessage> {
    let line = news.next().await?.ok()?;
    serde_json::from_str(&line).ok()
}

async fn reached(limit: Option<Instant>) {
    match limit {
        Some(limit) => sleep_until(limit).await,
        None => future::pending().await,
    }
}
