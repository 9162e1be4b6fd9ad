//! The seam between a live session and its agent: calls one way, news the other, both bounded.
//!
//! Invariant: an agent never writes the log. Its news is one more input of its session, which decides what to keep.

use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use crate::guide;

const QUEUE: usize = 256;

/// What a session asks of its agent.
#[derive(Debug)]
#[expect(dead_code, reason = "the built-in guide does not listen to all of it yet")]
pub(crate) enum Call {
    Prompt { text: String, images: Vec<model::Image>, packet: Option<String> },
    Cancel,
    Answer { key: u64, answer: model::PermissionAnswer },
    SetOption { option: String, value: String },
    SignIn { method: String },
}

/// What an agent tells its session.
#[derive(Debug)]
#[expect(dead_code, reason = "the built-in guide does not ask yet")]
pub(crate) enum News {
    Report(model::AgentReport),
    Asked { key: u64, question: model::Question },
}

/// A started agent. Dropping it ends the agent.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) calls: mpsc::Sender<Call>,
    /// Ends when the agent does.
    pub(crate) news: mpsc::Receiver<News>,
}

impl Agent {
    /// One that has ended already.
    pub(crate) fn missing() -> Self {
        Self { calls: mpsc::channel(1).0, news: mpsc::channel(1).1 }
    }
}

/// An agent that sessions can be started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogEntry {
    /// Its name, as sessions carry it.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// What it is, in a sentence.
    pub description: &'static str,
}

/// Every agent this server can start.
pub const CATALOG: &[CatalogEntry] = &[CatalogEntry {
    name: "guide",
    title: "Guide",
    description: "Built in. Needs no key and no network; answers in set ways so that you can see how things work.",
}];

/// The names in the catalog, for people.
pub(crate) fn names() -> String {
    CATALOG.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

pub(crate) fn start(name: &str, tasks: &TaskTracker) -> Option<Agent> {
    let entry = CATALOG.iter().find(|entry| entry.name == name)?;
    let (calls, calls_in) = mpsc::channel(QUEUE);
    let (news_out, news) = mpsc::channel(QUEUE);
    match entry.name {
        "guide" => tasks.spawn(guide::run(calls_in, news_out)),
        other => unreachable!("catalog entry {other} has no way to start"),
    };
    Some(Agent { calls, news })
}
