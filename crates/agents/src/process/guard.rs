//! Watches over one supervisor from the server's side.
//!
//! Invariant: it ends only when the supervisor has. A supervisor that was killed, or that does not do what it is told, is
//! replaced by hand: its session is searched and ended from here. What has left the session by then is out of reach.

use std::future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::Child;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::launcher::LaunchError;
use super::lines::{Faults, Lines};
use super::tree::end_session;
use super::wire::{Ended, Exit, News, Order};

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
}

/// What came of a supervisor.
enum Outcome {
    /// It has told of the end, and ends itself.
    Told(Ended),
    /// Nobody wants the agent any more: it will kill when control is closed.
    Unwanted,
    /// It is dead, or does not answer.
    Lost,
}

impl Guard {
    pub(super) fn new(
        supervisor: Child,
        control: UnixStream,
        orders: mpsc::Receiver<Order>,
        seen: watch::Sender<Seen>,
    ) -> Self {
        let (news, control) = control.into_split();
        Self { supervisor, news: Lines::new(news, &Faults::default()), control, orders, seen }
    }

    /// From the first line to the end of the supervisor.
    pub(super) async fn keep(mut self, first_line: String, mut started: oneshot::Sender<Result<i32, LaunchError>>) {
        let start = tokio::select! {
            start = timeout(START_LIMIT, self.start(first_line)) => start.unwrap_or(Err(LaunchError::TooSlow)),
            // Whoever asked does not wait any more.
            () = started.closed() => return self.conclude(Outcome::Unwanted, None).await,
        };
        match start {
            Ok(agent) => {
                // Who asked may be gone by now: then orders are closed too.
                drop(started.send(Ok(agent)));
                let outcome = self.attend().await;
                self.conclude(outcome, Pid::from_raw(agent)).await;
            }
            Err(failure) => {
                let is_lost = matches!(failure, LaunchError::SupervisorLost);
                drop(started.send(Err(failure)));
                self.conclude(if is_lost { Outcome::Lost } else { Outcome::Unwanted }, None).await;
            }
        }
    }

    async fn start(&mut self, mut line: String) -> Result<i32, LaunchError> {
        line.push('\n');
        self.control.write_all(line.as_bytes()).await.map_err(|_| LaunchError::SupervisorLost)?;
        match next(&mut self.news).await {
            Some(News::Started { pid }) => Ok(pid),
            Some(News::Failed(refusal)) => Err(refusal.into()),
            Some(News::Stderr(_) | News::Ended(_)) | None => Err(LaunchError::SupervisorLost),
        }
    }

    /// Passes on orders and news until it is clear what came of the supervisor.
    async fn attend(&mut self) -> Outcome {
        let mut limit = None;
        loop {
            tokio::select! {
                news = next(&mut self.news) => match news {
                    Some(News::Stderr(text)) => self.seen.send_modify(|seen| seen.stderr = text.into()),
                    Some(News::Ended(ended)) => return Outcome::Told(ended),
                    Some(News::Started { .. } | News::Failed(_)) | None => return Outcome::Lost,
                },
                order = self.orders.recv() => {
                    let Some(order) = order else { return Outcome::Unwanted };
                    if self.pass_on(order).await.is_err() {
                        return Outcome::Lost;
                    }
                    limit = Some(Instant::now() + match order {
                        Order::Stop => STOP_LIMIT,
                        Order::Kill => KILL_LIMIT,
                    });
                }
                () = reached(limit) => return Outcome::Lost,
            }
        }
    }

    async fn pass_on(&mut self, order: Order) -> io::Result<()> {
        wake(&self.supervisor);
        let mut line = serde_json::to_vec(&order)?;
        line.push(b'\n');
        self.control.write_all(&line).await
    }

    async fn conclude(self, outcome: Outcome, agent: Option<Pid>) {
        let Self { mut supervisor, news, control, orders, seen } = self;
        let stderr = seen.borrow().stderr.to_string();
        let unseen = |survivors| Ended { exit: Exit::Unknown, stderr, survivors };
        let publish = |ended: Ended| {
            seen.send_modify(|seen| {
                seen.stderr = ended.stderr.as_str().into();
                seen.ended = Some(ended);
            });
        };
        drop((news, control));
        wake(&supervisor);
        match outcome {
            Outcome::Told(ended) => {
                publish(ended);
                if timeout(KILL_LIMIT, supervisor.wait()).await.is_err() {
                    search(&mut supervisor, agent).await;
                }
            }
            Outcome::Unwanted => {
                let survivors = match timeout(KILL_LIMIT, supervisor.wait()).await {
                    Ok(_) => Vec::new(),
                    Err(_) => search(&mut supervisor, agent).await,
                };
                publish(unseen(survivors));
            }
            Outcome::Lost => {
                let survivors = search(&mut supervisor, agent).await;
                publish(unseen(survivors));
            }
        }
        drop(orders);
    }
}

/// An agent can stop its own supervisor, as it can every process of its user.
fn wake(supervisor: &Child) {
    if let Some(pid) = pid_of(supervisor) {
        // One that is gone can not be woken.
        let _ = kill_process(pid, Signal::CONT);
    }
}

/// As long as the supervisor has not been collected, the number is its own.
fn pid_of(supervisor: &Child) -> Option<Pid> {
    Pid::from_raw(supervisor.id()?.cast_signed())
}

/// Ends the supervisor's session from here, and then collects the supervisor: before, its number must not be free.
async fn search(supervisor: &mut Child, agent: Option<Pid>) -> Vec<i32> {
    let Some(pid) = pid_of(supervisor) else { return Vec::new() };
    tracing::warn!(supervisor = %pid.as_raw_nonzero(), "an agent's supervisor is gone or does not answer; ending its session");
    let ended = tokio::task::spawn_blocking(move || end_session(pid, agent, SEARCH_LIMIT)).await;
    // One that can not even be killed is left to the runtime, which reaps it whenever it ends.
    drop(timeout(KILL_LIMIT, supervisor.wait()).await);
    ended.unwrap_or_default()
}

/// The next line; nothing, if there is none or it makes no sense. Safe to be given up while it waits.
async fn next(news: &mut Lines<OwnedReadHalf>) -> Option<News> {
    let line = news.next().await?.ok()?;
    serde_json::from_str(&line).ok()
}

async fn reached(limit: Option<Instant>) {
    match limit {
        Some(limit) => sleep_until(limit).await,
        None => future::pending().await,
    }
}
