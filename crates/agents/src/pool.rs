//! Every agent of a server, and the processes that they share.
//!
//! Invariant: nothing that is started here outlives [`Agents::shutdown`]. A process that is shared serves sessions of
//! one command, one list of arguments and one environment; when it dies the next session gets another.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::AgentReport;
use tokio::sync::{OnceCell, mpsc};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::acp::{About, Connection, Ends, Lease, Session, Transport};
use crate::process::{Limits as ProcessLimits, Spec};
use crate::{Agent, Call, News, Program, Settings, Start};

/// How many calls and how many pieces of news wait.
const QUEUE: usize = 256;

/// Every agent of a server. Its clones are the same.
#[derive(Debug, Clone)]
pub struct Agents {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    settings: Arc<Settings>,
    tasks: TaskTracker,
    stopping: CancellationToken,
    shared: Mutex<HashMap<Program, Arc<OnceCell<Shared>>>>,
}

/// A process that sessions share.
#[derive(Debug)]
struct Shared {
    connection: Connection,
    about: Arc<About>,
}

impl Agents {
    /// None is started yet.
    pub fn new(settings: Settings) -> Self {
        Self {
            inner: Arc::new(Inner {
                settings: Arc::new(settings),
                tasks: TaskTracker::new(),
                stopping: CancellationToken::new(),
                shared: Mutex::default(),
            }),
        }
    }

    /// Starts an agent. Everything else comes as news.
    pub fn start(&self, start: Start) -> Agent {
        let (calls, calls_in) = mpsc::channel(QUEUE);
        let (news_out, news) = mpsc::channel(QUEUE);
        let inner = self.inner.clone();
        self.inner.tasks.spawn(async move {
            let stopping = inner.stopping.clone();
            let held = inner.hold(start, calls_in, news_out);
            // Sessions are settled by whoever stops us; here they only end.
            stopping.run_until_cancelled(held).await;
        });
        Agent { calls, news }
    }

    /// Ends all agents, within a limit.
    pub async fn shutdown(&self) {
        self.inner.stopping.cancel();
        self.inner.tasks.close();
        if timeout(self.inner.settings.limits.shutdown, self.inner.tasks.wait()).await.is_err() {
            tracing::error!("not all agents have ended in time");
        }
    }
}

impl Inner {
    async fn hold(&self, start: Start, calls: mpsc::Receiver<Call>, news: mpsc::Sender<News>) {
        let connected = tokio::select! {
            biased;
            () = news.closed() => return,
            connected = self.connect(&start) => connected,
        };
        match connected {
            Ok((lease, about, env)) => {
                let ends = Ends { calls, news };
                Session::new(self.settings.clone(), about, lease, env, start, ends).run().await;
            }
            Err(reason) => drop(news.send(News::Report(AgentReport::Failed { reason })).await),
        }
    }
}
