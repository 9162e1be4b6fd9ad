//! A small ACP client for recording: it sends requests, waits, and answers permissions as told. It ignores updates.
//!
//! Invariant: every request of the agent is answered, so that no recording hangs on the client.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

const STOP_LIMIT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(20);

pub(super) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    requests: u64,
}

/// How to answer a permission request of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permission {
    Allow,
    Reject,
}

/// When to cancel a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cancel {
    Never,
    AtFirstText,
}

impl Client {
    pub(super) fn start(mut command: Command) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("could not start {}", command.get_program().display()))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let (sender, lines) = mpsc::sync_channel(1024);
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, input, lines, requests: 0 })
    }

    /// Sends a request and waits for the result; an error of the agent is the inner error.
    pub(super) fn ask(
        &mut self,
        method: &str,
        params: &Value,
        permission: Permission,
        cancel: Cancel,
        limit: Duration,
    ) -> anyhow::Result<Result<Value, Value>> {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        let asked_at = Instant::now();
        let mut cancelled = cancel == Cancel::Never;
        loop {
            let left = limit.saturating_sub(asked_at.elapsed());
            let line = match self.lines.recv_timeout(left) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => bail!("{method} was not answered within {limit:?}"),
                Err(RecvTimeoutError::Disconnected) => bail!("the agent went away before it answered {method}"),
            };
            // A line that is no message is only recorded.
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            if message.get("method").is_some() {
                let first_text = message["params"]["update"]["sessionUpdate"] == "agent_message_chunk";
                if first_text && !cancelled {
                    cancelled = true;
                    let session = &message["params"]["sessionId"];
                    self.send(
                        &json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } }),
                    )?;
                }
                self.answer(&message, permission)?;
            } else if message["id"] == json!(id) {
                return Ok(match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                });
            }
        }
    }

    fn answer(&mut self, message: &Value, permission: Permission) -> anyhow::Result<()> {
        let Some(id) = message.get("id") else { return Ok(()) };
        let answer = if message["method"] == "session/request_permission" {
            let outcome = match pick(&message["params"]["options"], permission) {
                Some(option) => json!({ "outcome": "selected", "optionId": option }),
                None => json!({ "outcome": "cancelled" }),
            };
            json!({ "jsonrpc": "2.0", "id": id, "result": { "outcome": outcome } })
        } else {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "no such method" } })
        };
        self.send(&answer)
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("the agent's input is closed")?;
        writeln!(input, "{message}").and_then(|()| input.flush()).context("could not write to the agent")
    }

    /// Closes its input and waits; an agent that does not exit is killed.
    pub(super) fn stop(mut self) -> anyhow::Result<()> {
        self.input = None;
        let asked_at = Instant::now();
        while asked_at.elapsed() < STOP_LIMIT {
            if self.child.try_wait().context("could not ask after the agent")?.is_some() {
                return Ok(());
            }
            thread::sleep(POLL);
        }
        Ok(())
    }
}

impl Drop for Client {
    /// Kills an agent that still runs.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Picks an option by its kind: each agent has its own ids.
pub(super) fn pick(options: &Value, permission: Permission) -> Option<&str> {
    let wanted = match permission {
        Permission::Allow => "allow_once",
        Permission::Reject => "reject_once",
    };
    let option = options.as_array()?.iter().find(|option| option["kind"] == wanted)?;
    option["optionId"].as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_picked_by_kind() {
        let options = json!([
            { "optionId": "always", "kind": "allow_always" },
            { "optionId": "approved", "kind": "allow_once" },
        ]);
        assert_eq!(pick(&options, Permission::Allow), Some("approved"));
        assert_eq!(pick(&options, Permission::Reject), None);
    }
}
