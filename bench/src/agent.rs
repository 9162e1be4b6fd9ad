//! An agent that stamps its output with the time, and a bare relay from it to a follower: both are this program,
//! started again.
//!
//! The agent speaks ACP by hand. A prompt is its script: `words 200 2000` makes it send 2,000 words, 200 a second,
//! each of which is the time at which it was sent; `calls 100 1000` begins tool calls with such titles. Invariant: it
//! keeps its pace by the clock, whatever the reader does, so that a slow reader is measured as late.

use std::env;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{self, Message};

use crate::cost::Meter;
use crate::stamp;

/// The agent's name in the server's configuration.
pub(crate) const NAME: &str = "bench";
pub(crate) const AGENT: &str = "as-agent";
const RELAY: &str = "as-relay";

/// The role of this program, if a person has not started it.
pub(crate) fn started_role(word: &str) -> Option<fn() -> Result<()>> {
    match word {
        AGENT => Some(run_agent),
        RELAY => Some(run_relay),
        _ => None,
    }
}

/// How fast an agent sends, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) what: ScriptKind,
    pub(crate) a_second: usize,
    pub(crate) count: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScriptKind {
    Words,
    Calls,
    /// One message of so many bytes.
    Long,
}

impl Script {
    pub(crate) fn text(self) -> String {
        let what = match self.what {
            ScriptKind::Words => "words",
            ScriptKind::Calls => "calls",
            ScriptKind::Long => "long",
        };
        format!("{what} {} {}", self.a_second, self.count)
    }

    fn read(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let what = match words.next()? {
            "words" => ScriptKind::Words,
            "calls" => ScriptKind::Calls,
            "long" => ScriptKind::Long,
            _ => return None,
        };
        Some(Self { what, a_second: words.next()?.parse().ok()?, count: words.next()?.parse().ok()? })
    }
}

fn run_agent() -> Result<()> {
    let mut calls = 0;
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let (id, params) = (&message["id"], &message["params"]);
        let result = match message["method"].as_str() {
            Some("initialize") => json!({ "protocolVersion": 1, "agentCapabilities": {} }),
            Some("session/new") => json!({ "sessionId": "bench" }),
            Some("session/prompt") => {
                let blocks = params["prompt"].as_array().context("a prompt without blocks")?;
                let script = blocks.iter().filter_map(|block| Script::read(block["text"].as_str()?)).next_back();
                perform(script.context("a prompt that is no script")?, &mut calls)?;
                json!({ "stopReason": "end_turn" })
            }
            Some(_) | None => continue,
        };
        if !id.is_null() {
            say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string())?;
        }
    }
    Ok(())
}

fn perform(script: Script, calls: &mut u64) -> Result<()> {
    if script.what == ScriptKind::Long {
        let text = "some words of a long answer ".repeat(script.count / 28 + 1);
        let content = json!({ "type": "text", "text": &text[..script.count] });
        return say_update(&json!({ "sessionUpdate": "agent_message_chunk", "content": content }).to_string());
    }
    let started = Instant::now();
    let pause = Duration::from_secs(1) / u32::try_from(script.a_second)?;
    for number in 1..=u32::try_from(script.count)? {
        thread::sleep((started + pause * number).saturating_duration_since(Instant::now()));
        let now = stamp::word();
        let update = match script.what {
            ScriptKind::Words => {
                format!(r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{now}"}}}}"#)
            }
            ScriptKind::Long => continue,
            ScriptKind::Calls => {
                *calls += 1;
                format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"c{calls}","title":"{now}","kind":"read"}}"#)
            }
        };
        say_update(&update)?;
    }
    Ok(())
}

fn say_update(update: &str) -> Result<()> {
    say(&format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"bench","update":{update}}}}}"#))
}

fn say(line: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Reads an agent's lines and writes each as a frame, as directly as a program can.
fn run_relay() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    say(&listener.local_addr()?.to_string())?;
    let mut agent = Command::new(env::current_exe()?).arg(AGENT).stdout(Stdio::piped()).spawn()?;
    let lines = BufReader::new(agent.stdout.take().context("stdout is piped")?).lines();
    let (stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    let mut socket = tungstenite::accept(stream).context("the follower did not shake hands")?;
    for line in lines {
        socket.send(Message::text(line?))?;
    }
    agent.wait()?;
    Ok(())
}

/// The same agent with nothing between it and its follower.
pub(crate) struct Relay {
    child: Child,
    stdin: ChildStdin,
    pub(crate) address: SocketAddr,
}

impl Relay {
    pub(crate) fn start() -> Result<Self> {
        let mut child = Command::new(env::current_exe()?)
            .arg(RELAY)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("could not start the relay")?;
        let stdin = child.stdin.take().context("stdin is piped")?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("stdout is piped")?).read_line(&mut line)?;
        let address = line.trim().parse().context("the relay did not start")?;
        Ok(Self { child, stdin, address })
    }

    pub(crate) fn meter(&self) -> Result<Meter> {
        Meter::of(self.child.id())
    }

    pub(crate) fn prompt(&mut self, script: Script) -> Result<()> {
        let prompt = json!({ "prompt": [{ "type": "text", "text": script.text() }] });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": prompt });
        Ok(self.stdin.write_all(format!("{message}\n").as_bytes())?)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // Its agent ends with its input, which closes here.
        drop((self.child.kill(), self.child.wait()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_as_it_was_written() {
        let script = Script { what: ScriptKind::Calls, a_second: 100, count: 1_000 };
        assert_eq!(script.text(), "calls 100 1000");
        assert_eq!(Script::read(&script.text()), Some(script));
        assert_eq!(Script::read("say hello"), None);
    }
}
