//! Recorded wire logs of real agents and of a bad one (`fixtures/acp/`), translated into reports.

use std::collections::HashMap;
use std::fs;

use serde_json::Value;

use super::lines::lines;
use crate::acp::translate::tests::OneTerminal;
use crate::acp::translate::{QuestionRequest, Translator, TurnError};
use crate::acp::wire::{self, Incoming};

#[derive(serde::Deserialize)]
struct Passed {
    from: String,
    line: Value,
}

/// What a request of the client is expected to do.
enum Expectation {
    Begin,
    Load,
    Prompt,
    Other,
}

#[derive(Default)]
struct Life {
    translator: Translator,
    asked: HashMap<i64, Expectation>,
    session: String,
}

impl Life {
    /// Handles a line of the client; returns a line for the snapshot where it matters.
    fn client(&mut self, line: &Value) -> Option<String> {
        let method = line.get("method")?.as_str()?;
        let asked = match method {
            "initialize" => {
                *self = Self::default();
                Expectation::Other
            }
            "session/new" | "session/resume" => Expectation::Begin,
            "session/load" => {
                self.translator.begin_replay();
                Expectation::Load
            }
            "session/prompt" => {
                self.translator.begin_turn();
                Expectation::Prompt
            }
            _ => Expectation::Other,
        };
        if let Some(session) = line["params"]["sessionId"].as_str() {
            session.clone_into(&mut self.session);
        }
        if let Some(id) = line["id"].as_i64() {
            self.asked.insert(id, asked);
        }
        let words = line["params"]["prompt"][0]["text"].as_str().unwrap_or_default();
        Some(format!("> {method} {words}").trim_end().to_owned() + "\n")
    }

    fn agent(&mut self, line: &Value) -> String {
        let text = line.as_str().map_or_else(|| line.to_string(), str::to_owned);
        let terminals = &OneTerminal;
        let reports = match wire::read(&text) {
            Incoming::Junk => Vec::new(),
            Incoming::Notification { method, params } if method == "session/update" => {
                if params["sessionId"].as_str().is_none_or(|of| of != self.session && !self.session.is_empty()) {
                    return String::new();
                }
                self.translator.update(params["update"].clone(), terminals)
            }
            Incoming::Notification { .. } => Vec::new(),
            Incoming::Request { method, params, .. } if method == "session/request_permission" => {
                let Some(asking) = QuestionRequest::permission(&params) else {
                    return "withdrew a question\n".to_owned();
                };
                let mut asked = self.translator.ask(asking, terminals);
                asked.reports.push(model::AgentReport::Asked(asked.question));
                asked.reports
            }
            Incoming::Request { method, .. } => return format!("asked for {method}\n"),
            Incoming::Reply { id, result } => match (self.asked.remove(&id), result) {
                (Some(Expectation::Prompt), result) => {
                    let answer = result.map_err(|refused| TurnError { message: refused.message });
                    self.translator.end_turn(answer, terminals)
                }
                (Some(Expectation::Begin | Expectation::Load), Ok(reply)) => {
                    if let Some(session) = reply["sessionId"].as_str() {
                        session.clone_into(&mut self.session);
                    }
                    self.translator.end_replay();
                    let read = |name: &str| reply.get(name).cloned().unwrap_or_default();
                    let modes = serde_json::from_value(read("modes")).unwrap_or_default();
                    let options = serde_json::from_value(read("configOptions")).unwrap_or_default();
                    self.translator.offered(modes, options)
                }
                (Some(Expectation::Other | Expectation::Begin | Expectation::Load) | None, _) => Vec::new(),
            },
        };
        lines(&reports)
    }
}

fn retold(name: &str) -> String {
    let path = format!("{}/../../fixtures/acp/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let mut life = Life::default();
    let mut told = String::new();
    for line in fs::read_to_string(&path).unwrap().lines() {
        let Passed { from, line } = serde_json::from_str(line).unwrap();
        told += &if from == "client" { life.client(&line).unwrap_or_default() } else { life.agent(&line) };
    }
    told
}

#[test]
fn codex() {
    insta::assert_snapshot!(retold("codex"));
}

#[test]
fn opencode() {
    insta::assert_snapshot!(retold("opencode"));
}

#[test]
fn claude() {
    insta::assert_snapshot!(retold("claude"));
}

#[test]
fn gemini() {
    insta::assert_snapshot!(retold("gemini"));
}

#[test]
fn qwen() {
    insta::assert_snapshot!(retold("qwen"));
}

#[test]
fn kimi() {
    insta::assert_snapshot!(retold("kimi"));
}

#[test]
fn copilot() {
    insta::assert_snapshot!(retold("copilot"));
}

#[test]
fn a_bad_one() {
    insta::assert_snapshot!(retold("bad"));
}
