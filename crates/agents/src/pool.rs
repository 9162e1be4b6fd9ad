//! Every agent of a server, and the processes that they share.
//!
//! Invariant: nothing that is started here outlives [`Agents::shutdown`].

use std::sync::Arc;

use model::AgentReport;
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use crate::{Agent, News, Settings, Start};

/// How many calls and how many pieces of news wait.
const QUEUE: usize = 256;

/// Every agent of a server. Its clones are the same.
#[derive(Debug, Clone)]
pub struct Agents {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    settings: Settings,
    tasks: TaskTracker,
}

impl Agents {
    /// None is started yet.
    pub fn new(settings: Settings) -> Self {
        Self { inner: Arc::new(Inner { settings, tasks: TaskTracker::new() }) }
    }

    /// Starts an agent. Everything else comes as news.
    pub fn start(&self, start: Start) -> Agent {
        let (calls, _calls) = mpsc::channel(QUEUE);
        let (news_out, news) = mpsc::channel(QUEUE);
        let known = self.inner.settings.programs.iter().any(|program| program.name == start.agent);
        self.inner.tasks.spawn(async move {
            let reason = if known { "not built yet" } else { "unknown agent" }.to_owned();
            drop(news_out.send(News::Report(AgentReport::Failed { reason })).await);
        });
        Agent { calls, news }
    }

    /// Ends all agents, within a limit.
    pub async fn shutdown(&self) {
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
    }
}
