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
/// Longest last words, in characters, and of how many lines: some runtimes say their version after what went wrong.
const MAX_LAST_WORDS: usize = 500;
const MAX_LAST_LINES: usize = 8;

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
                Ok(ended) => describe_end("the agent ended", &ended),
                Err(_) => describe_end("the agent closed its output and was ended", &process.kill().await),
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
fn describe_end(what: &str, ended: &Ended) -> String {
    match last_words(&ended.stderr).as_str() {
        "" => format!("{what} ({})", ended.exit),
        words => format!("{what} ({}): {words}", ended.exit),
    }
}

/// The last lines that are not empty, as one; the newest are kept whole where not all have room.
fn last_words(stderr: &str) -> String {
    let mut words = String::new();
    let lines = stderr.lines().rev().map(|line| plain_line(line, MAX_LAST_WORDS)).filter(|line| !line.is_empty());
    for line in lines.take(MAX_LAST_LINES) {
        if words.is_empty() {
            words = line;
        } else if words.chars().count() + line.chars().count() < MAX_LAST_WORDS {
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
        assert_eq!(last_words(node), words);
        assert_eq!(last_words("\n \n"), "");
        assert_eq!(last_words(&"a\n".repeat(100)), ["a"; MAX_LAST_LINES].join(" / "));
        let long = format!("{}\nshort\n", "x".repeat(2 * MAX_LAST_WORDS));
        assert_eq!(last_words(&long), "short");
    }
}
