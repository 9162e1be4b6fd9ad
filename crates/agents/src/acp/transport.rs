//! The lines of an agent, whatever it runs in, and the end of that.

use std::io;
use std::pin::Pin;
use std::time::Duration;

use futures_util::{Sink, Stream};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::translate::plain_line;
use crate::process::{Ended, Faults, Launched, LineSink, Lines, Process};

/// How long a process may take to end whose output has ended.
const PATIENCE: Duration = Duration::from_secs(3);
/// Longest last words, in characters.
const MAX_LAST_WORDS: usize = 500;

pub(crate) struct Transport {
    pub(super) lines: Pin<Box<dyn Stream<Item = io::Result<String>> + Send>>,
    pub(super) sink: Pin<Box<dyn Sink<String, Error = io::Error> + Send>>,
    pub(super) body: Body,
    pub(super) faults: Faults,
}

/// What the agent runs in.
pub(crate) enum Body {
    Process(Process),
    /// A task of this process.
    Task(AbortOnDropHandle<()>),
}

impl Transport {
    pub(crate) fn process(launched: Launched) -> Self {
        let Launched { process, stdin, stdout } = launched;
        Self::new(stdout, stdin, Body::Process(process))
    }

    pub(crate) fn task(
        output: impl AsyncRead + Unpin + Send + 'static,
        input: impl AsyncWrite + Unpin + Send + 'static,
        task: AbortOnDropHandle<()>,
    ) -> Self {
        Self::new(output, input, Body::Task(task))
    }

    fn new(
        output: impl AsyncRead + Unpin + Send + 'static,
        input: impl AsyncWrite + Unpin + Send + 'static,
        body: Body,
    ) -> Self {
        let faults = Faults::default();
        let lines = Box::pin(Lines::new(output, &faults));
        Self { lines, sink: Box::pin(LineSink::new(input, &faults)), body, faults }
    }
}

impl Body {
    /// Its output has ended, and so will it. Says how.
    pub(super) async fn ended(self) -> String {
        match self {
            Self::Process(mut process) => match timeout(PATIENCE, process.ended()).await {
                Ok(ended) => told("the agent ended", &ended),
                Err(_) => told("the agent closed its output and was ended", &process.kill().await),
            },
            Self::Task(_) => "the agent ended".to_owned(),
        }
    }

    /// Its input has been closed. In peace, if it can be.
    pub(super) async fn stop(self) {
        match self {
            Self::Process(process) => drop(process.stop().await),
            Self::Task(task) => drop(timeout(PATIENCE, task).await),
        }
    }

    pub(super) async fn kill(self) {
        match self {
            Self::Process(process) => drop(process.kill().await),
            Self::Task(task) => task.abort(),
        }
    }
}

/// What is known of an end, for a person.
fn told(what: &str, ended: &Ended) -> String {
    let mut lines = ended.stderr.lines().rev().map(|line| plain_line(line, MAX_LAST_WORDS));
    match lines.find(|line| !line.is_empty()) {
        Some(last) => format!("{what} ({}): {last}", ended.exit),
        None => format!("{what} ({})", ended.exit),
    }
}
