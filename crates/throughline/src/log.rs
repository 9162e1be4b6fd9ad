//! The server's log: a thread of its own writes its lines to standard error.
//!
//! Invariant: logging neither waits nor fails. A full disk, and a reader that is gone or does not read, cost log
//! lines and nothing else; how many is logged as soon as a line can be written again.

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _, Write};
use std::panic::PanicHookInfo;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use tracing_subscriber::EnvFilter;

/// Libraries log steps that are of no use here; they are shown when something is wrong.
const DEFAULT_LOG: &str = "warn,throughline=info,agents=info,doors=info,engine=info,files=info,model=info,search=info,\
                           server=info,store=info";
/// The variable that says how much is logged.
pub(crate) const LOG_VARIABLE: &str = "THROUGHLINE_LOG";
/// How many bytes may wait to be written.
const MAX_WAITING_BYTES: usize = 4 << 20;
/// A longer line is cut.
const MAX_LINE_BYTES: usize = 64 << 10;
/// How long the end of the program waits for unwritten lines.
const FLUSH_LIMIT: Duration = Duration::from_secs(1);

/// The log of this process, once it serves.
static LOG: OnceLock<&'static Log> = OnceLock::new();

/// Sends traces and panics to the log from now on.
pub(crate) fn start() -> Result<()> {
    let log = Log::start(io::stderr()).context("could not start the thread that writes the log")?;
    LOG.set(log).ok().context("the log was started before")?;
    let filter = EnvFilter::try_from_env(LOG_VARIABLE).unwrap_or_else(|_| EnvFilter::new(DEFAULT_LOG));
    // These libraries log frames unchanged, with a browser's proof in them.
    let filter = ["tungstenite=off", "tokio_tungstenite=off"].into_iter().fold(filter, |filter, quiet| {
        filter.add_directive(quiet.parse().expect("a directive of our own is well-formed"))
    });
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_target(false).log_internal_errors(false);
    lines.with_writer(move || log).with_ansi(io::stderr().is_terminal()).init();
    // The default hook writes to standard error itself, and waits where that is not read.
    if !crate::panics_are_crashes() {
        std::panic::set_hook(Box::new(log_panic));
    }
    Ok(())
}

/// Writes text to standard error: through the log, if there is one, so that nobody waits for the reader.
pub(crate) fn write_stderr(text: &str) {
    match LOG.get() {
        Some(log) => log.push(text.as_bytes()),
        // Nothing can be done about a closed standard error.
        None => drop(io::stderr().write_all(text.as_bytes())),
    }
}

/// Waits a moment for unwritten lines.
pub(crate) fn flush() {
    if let Some(log) = LOG.get() {
        log.flush(FLUSH_LIMIT);
    }
}

fn log_panic(panic: &PanicHookInfo<'_>) {
    let thread = thread::current();
    let message = panic.payload_as_str().unwrap_or("no message");
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(thread = thread.name().unwrap_or("unnamed"), place, "panicked: {message}");
}

/// Lines that wait for the writing thread.
struct Log {
    waiting: Mutex<WaitingLines>,
    changed: Condvar,
}

#[derive(Default)]
struct WaitingLines {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    is_writing: bool,
    /// Lines that were dropped and not reported yet.
    lost: u64,
}

impl Log {
    fn start(out: impl Write + Send + 'static) -> io::Result<&'static Self> {
        // It lives as long as the process: a thread may log until the very end.
        let log: &'static Self = Box::leak(Box::new(Self { waiting: Mutex::default(), changed: Condvar::new() }));
        thread::Builder::new().name("log".to_owned()).spawn(move || log.write_lines(out))?;
        Ok(log)
    }

    fn push(&self, line: &[u8]) {
        let mut waiting = self.waiting();
        if waiting.bytes + line.len().min(MAX_LINE_BYTES) > MAX_WAITING_BYTES {
            waiting.lost += 1;
            return;
        }
        let line = match line.get(..MAX_LINE_BYTES) {
            Some(start) => [start, "…\n".as_bytes()].concat(),
            None => line.to_vec(),
        };
        waiting.bytes += line.len();
        waiting.lines.push_back(line);
        self.changed.notify_all();
    }

    fn flush(&self, limit: Duration) {
        let is_left = |waiting: &mut WaitingLines| waiting.is_writing || !waiting.lines.is_empty();
        drop(self.changed.wait_timeout_while(self.waiting(), limit, is_left));
    }

    fn write_lines(&self, mut out: impl Write) {
        loop {
            let mut waiting = self.waiting();
            waiting.is_writing = false;
            self.changed.notify_all();
            let waits = self.changed.wait_while(waiting, |waiting| waiting.lines.is_empty());
            let mut waiting = waits.unwrap_or_else(PoisonError::into_inner);
            let Some(line) = waiting.lines.pop_front() else { continue };
            waiting.bytes -= line.len();
            waiting.is_writing = true;
            let lost = std::mem::take(&mut waiting.lost);
            drop(waiting);
            let told = match lost {
                0 => Ok(()),
                lost => writeln!(out, "{lost} log lines were lost, because they could not be written"),
            };
            if let Err(missed) = told.map_err(|_| lost).and_then(|()| out.write_all(&line).map_err(|_| 0)) {
                self.waiting().lost += missed + 1;
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, WaitingLines> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One event of the subscriber is one write.
impl Write for &Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
