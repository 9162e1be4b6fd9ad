//! The pipes of an agent, whether it runs as a process or as a task, and how to end it.

use std::io;
use std::pin::Pin;
use std::time::Duration;

use futures_util::{Sink, Stream};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::translate::plain_line;
use crate::process::{Ended, Faults, Launched, LineSink, Lines, Process};

/// How long an agent whose output is closed may take to exit.
const EXIT_LIMIT: Duration = Duration::from_secs(3);
/// The longest quote from the agent's standard error, in characters and in lines. Some runtimes print their version
/// after the error, so one line is not enough.
const MAX_EXCERPT_CHARS: usize = 500;
const MAX_EXCERPT_LINES: usize = 8;

pub(crate) struct Transport {
    pub(super) lines: Pin<Box<dyn Stream<Item = io::Result<String>> + Send>>,
    pub(super) sink: Pin<Box<dyn Sink<String, Error = io::Error> + Send>>,
    pub(super) host: AgentHost,
    pub(super) faults: Faults,
}

/// What the agent runs as.
pub(crate) enum AgentHost {
    Process(Process),
    /// A task in this process.
    Task(AbortOnDropHandle<()>),
}

impl Transport {
    pub(crate) fn process(launched: Launched) -> Self {
        let Launched { process, stdin, stdout } = launched;
        Self::new(stdout, stdin, AgentHost::Process(process))
    }

    pub(crate) fn task(
        output: impl AsyncRead + Unpin + Send + 'static,
        input: impl AsyncWrite + Unpin + Send + 'static,
        task: AbortOnDropHandle<()>,
    ) -> Self {
        Self::new(output, input, AgentHost::Task(task))
    }

    fn new(
        output: impl AsyncRead + Unpin + Send + 'static,
        input: impl AsyncWrite + Unpin + Send + 'static,
        host: AgentHost,
    ) -> Self {
        let faults = Faults::default();
        let lines = Box::pin(Lines::new(output, &faults));
        Self { lines, sink: Box::pin(LineSink::new(input, &faults)), host, faults }
    }
}

impl AgentHost {
    /// Waits for an agent whose output is closed to exit, and describes the exit in words.
    pub(super) async fn ended(self) -> String {
        match self {
            Self::Process(mut process) => match timeout(EXIT_LIMIT, process.ended()).await {
                Ok(ended) => describe_end("the agent ended", &ended),
                Err(_) => describe_end("the agent closed its output and was ended", &process.kill().await),
            },
            Self::Task(_) => "the agent ended".to_owned(),
        }
    }

    /// Ends an agent whose input is closed: waits for it to exit by itself first.
    pub(super) async fn stop(self) {
        match self {
            Self::Process(process) => drop(process.stop().await),
            Self::Task(task) => drop(timeout(EXIT_LIMIT, task).await),
        }
    }

    pub(super) async fn kill(self) {
        match self {
            Self::Process(process) => drop(process.kill().await),
            Self::Task(task) => task.abort(),
        }
    }
}

/// Describes an agent's exit for a person, with the end of its standard error.
fn describe_end(what: &str, ended: &Ended) -> String {
    match stderr_excerpt(&ended.stderr).as_str() {
        "" => format!("{what} ({})", ended.exit),
        words => format!("{what} ({}): {words}", ended.exit),
    }
}

/// The last non-empty lines of standard error, joined into one line; where not all fit, the newest are kept whole.
fn stderr_excerpt(stderr: &str) -> String {
    let mut words = String::new();
    let lines = stderr.lines().rev().map(|line| plain_line(line, MAX_EXCERPT_CHARS)).filter(|line| !line.is_empty());
    for line in lines.take(MAX_EXCERPT_LINES) {
        if words.is_empty() {
            words = line;
        } else if words.chars().count() + line.chars().count() < MAX_EXCERPT_CHARS {
            words = format!("{line} / {words}");
        } else {
            break;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_are_the_newest_lines_within_a_bound() {
        let node = "x.js:1\n\u{1b}[31mimport a\n^\n\nSyntaxError: no export\n    at m.js:3\n\nNode.js v18\n";
        let words = "x.js:1 / [31mimport a / ^ / SyntaxError: no export / at m.js:3 / Node.js v18";
        assert_eq!(stderr_excerpt(node), words);
        assert_eq!(stderr_excerpt("\n \n"), "");
        assert_eq!(stderr_excerpt(&"a\n".repeat(100)), ["a"; MAX_EXCERPT_LINES].join(" / "));
        let long = format!("{}\nshort\n", "x".repeat(2 * MAX_EXCERPT_CHARS));
        assert_eq!(stderr_excerpt(&long), "short");
    }
}
