//! `xtask tee FILE -- COMMAND…`: runs between a client and an agent and records every line in both directions.
//!
//! Invariant: bytes are passed on unchanged; the record is a copy. It exits with the agent, and the agent exits soon
//! after its client.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

/// How long an agent has to exit after its input has ended.
const LEAVE_LIMIT: Duration = Duration::from_secs(5);

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Lines are added to its end
    file: PathBuf,
    /// The agent's command line
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// Who sent a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    Agent,
    Client,
}

/// The file that both directions are recorded in.
#[derive(Clone)]
struct Record {
    file: Arc<Mutex<File>>,
    started: Instant,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let file = File::options()
        .create(true)
        .append(true)
        .open(&options.file)
        .with_context(|| format!("could not open {}", options.file.display()))?;
    let record = Record { file: Arc::new(Mutex::new(file)), started: Instant::now() };
    let (program, args) = options.command.split_first().expect("clap asks for at least one word");
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start {program}"))?;
    let input = child.stdin.take().expect("stdin is piped");
    let output = child.stdout.take().expect("stdout is piped");
    let to_agent = record.clone();
    let pid = child.id().to_string();
    // This thread ends with its input; when the agent exits first, the process exits and ends it.
    thread::spawn(move || {
        let passed = pass(io::stdin().lock(), input, From::Client, &to_agent);
        // Some agents do not exit when their input ends.
        thread::sleep(LEAVE_LIMIT);
        drop(Command::new("kill").arg(pid).status());
        passed
    });
    pass(BufReader::new(output), io::stdout().lock(), From::Agent, &record)
        .context("could not pass the agent's lines")?;
    let status = child.wait().context("could not wait for the agent")?;
    if !status.success() {
        bail!("{program} ended with {status}");
    }
    Ok(())
}

fn pass(mut reader: impl BufRead, mut writer: impl Write, from: From, record: &Record) -> io::Result<()> {
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        record.write(from, &line)?;
        writer.write_all(&line)?;
        writer.flush()?;
        line.clear();
    }
    Ok(())
}

impl Record {
    fn write(&self, from: From, line: &[u8]) -> io::Result<()> {
        let at_ms = self.started.elapsed().as_millis();
        let text = String::from_utf8_lossy(line);
        let mut entry = format!("{{\"atMs\":{at_ms},{}", entry(from, text.trim_end_matches(['\r', '\n'])).split_off(1));
        entry.push('\n');
        self.file.lock().expect("no writer panics").write_all(entry.as_bytes())
    }
}

/// `{"from": …, "line": …}` with the original text of the line: as it is if it is JSON, else as a string.
pub(super) fn entry(from: From, line: &str) -> String {
    let from = match from {
        From::Agent => "agent",
        From::Client => "client",
    };
    let is_message = serde_json::from_str::<Value>(line).is_ok_and(|value| value.is_object());
    let line = if is_message { line.to_owned() } else { json!(line).to_string() };
    format!("{{\"from\":\"{from}\",\"line\":{line}}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_kept_as_it_came() {
        assert_eq!(entry(From::Agent, r#"{ "b":1, "a":2 }"#), r#"{"from":"agent","line":{ "b":1, "a":2 }}"#);
        assert_eq!(entry(From::Client, "no JSON"), r#"{"from":"client","line":"no JSON"}"#);
        assert_eq!(entry(From::Agent, "17"), r#"{"from":"agent","line":"17"}"#);
    }

    #[test]
    fn what_passes_is_what_came() {
        let file = Arc::new(Mutex::new(tempfile()));
        let record = Record { file, started: Instant::now() };
        let (said, mut heard) = (b"{}\n\xff no text\nlast".as_slice(), Vec::new());
        pass(said, &mut heard, From::Agent, &record).unwrap();
        assert_eq!(heard, said);
    }

    fn tempfile() -> File {
        File::options().write(true).open("/dev/null").unwrap()
    }
}
