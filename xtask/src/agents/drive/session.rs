//! A session as a program sees it: what it asks for over HTTP, and the entries that come of it.
//!
//! Invariant: every entry is looked at once, in order; what one step leaves unread the next one finds.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::super::client::Permission;
use crate::kills::http::{Http, Request};
use crate::kills::server::Endpoint;

const LIMIT: Duration = Duration::from_secs(240);
const POLL: Duration = Duration::from_millis(50);

/// How many this process has asked for.
static CREATED: AtomicU64 = AtomicU64::new(0);

pub(crate) struct Session {
    http: Http,
    id: String,
    /// The newest entry that was looked at.
    seq: u64,
    /// The words of the turn that runs.
    text: String,
    requests: u64,
}

#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) outcome: String,
    pub(crate) text: String,
    /// What permission was asked for in it, each by what was to be done.
    pub(crate) asked: Vec<String>,
    /// What was told of its tools, as it stands in the entries.
    pub(crate) tools: String,
}

impl Session {
    pub(crate) fn create(endpoint: Endpoint, agent: &str, cwd: &Path) -> anyhow::Result<Self> {
        // Its key is to be its own: others may be created at the same server, in the same directory too.
        let id = format!("session-{}", CREATED.fetch_add(1, Ordering::Relaxed));
        let mut session = Self { http: Http::new(endpoint), id, seq: 0, text: String::new(), requests: 0 };
        let created = session.post("/sessions", &json!({ "agent": agent, "cwd": cwd }))?;
        session.id = created["id"].as_str().context("the answer names no session")?.to_owned();
        Ok(session)
    }

    /// Goes on with another life of the server.
    pub(crate) fn take_up_at(&mut self, endpoint: Endpoint) -> anyhow::Result<()> {
        self.http = Http::new(endpoint);
        self.get(&format!("/sessions/{}", self.id)).map(drop)
    }

    /// What the agent knows of the turns before, in the server's word.
    pub(crate) fn wait_until_ready(&mut self) -> anyhow::Result<Option<String>> {
        self.wait("the agent is ready", |_, entry| {
            if entry["type"] != "agent.state_changed" {
                return Ok(None);
            }
            match entry["data"]["state"].as_str() {
                Some("ready") => Ok(Some(entry["data"]["attached"]["memory"].as_str().map(str::to_owned))),
                Some("failed" | "signed_out" | "unresponsive") => bail!("the agent did not get ready: {entry}"),
                Some(_) | None => Ok(None),
            }
        })
    }

    /// Sends a prompt and waits for the end of its turn, answering what is asked meanwhile.
    pub(crate) fn turn(&mut self, words: &str, permission: Permission) -> anyhow::Result<Turn> {
        self.send(words)?;
        self.end_of_turn(permission)
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The id of the interaction that it begins.
    pub(crate) fn send(&mut self, words: &str) -> anyhow::Result<String> {
        self.text.clear();
        let accepted = self.post(&self.path("/prompts"), &json!({ "text": words }))?;
        Ok(accepted["interactionId"].as_str().context("the answer names no interaction")?.to_owned())
    }

    pub(crate) fn wait_for_words(&mut self) -> anyhow::Result<()> {
        self.wait("the agent says something", |session, entry| {
            session.keep_words(entry);
            ensure!(entry["type"] != "turn.ended", "the turn ended without a word: {entry}");
            Ok((!session.text.is_empty()).then_some(()))
        })
    }

    pub(crate) fn end_of_turn(&mut self, permission: Permission) -> anyhow::Result<Turn> {
        let (mut asked, mut tools) = (Vec::new(), String::new());
        let outcome = self.wait("the turn ends", |session, entry| {
            session.keep_words(entry);
            match entry["type"].as_str() {
                Some("permission.asked") => {
                    asked.push(entry["data"]["subject"].as_str().unwrap_or_default().to_owned());
                    session.answer(&entry["data"], permission)?;
                    Ok(None)
                }
                Some("tool.started" | "tool.changed" | "tool.part" | "tool.ended") => {
                    tools += &entry["data"].to_string();
                    Ok(None)
                }
                Some("turn.ended") => Ok(Some(entry["data"]["outcome"].as_str().unwrap_or_default().to_owned())),
                Some(_) | None => Ok(None),
            }
        })?;
        Ok(Turn { outcome, text: std::mem::take(&mut self.text), asked, tools })
    }

    /// What the agent would be told if the session were resumed now.
    pub(crate) fn resume_packet(&mut self) -> anyhow::Result<Value> {
        self.get(&self.path("/resume-packet"))
    }

    /// What the session is about.
    pub(crate) fn context(&mut self) -> anyhow::Result<Value> {
        self.get(&self.path("/context"))
    }

    pub(crate) fn change(&mut self, body: &Value) -> anyhow::Result<()> {
        self.requests += 1;
        let idempotency_key = Some(format!("{}-{}", self.id, self.requests));
        let path = format!("/api/v1{}", self.path(""));
        self.ask(&Request { method: "PATCH", path, body: Some(body.to_string()), idempotency_key }).map(drop)
    }

    pub(crate) fn cancel(&mut self) -> anyhow::Result<()> {
        self.post(&self.path("/cancel"), &json!({})).map(drop)
    }

    pub(crate) fn resume(&mut self) -> anyhow::Result<()> {
        self.post(&self.path("/resume"), &json!({})).map(drop)
    }

    /// By the kind of the option, as a person would go by what it says.
    fn answer(&mut self, question: &Value, permission: Permission) -> anyhow::Result<()> {
        let session = self.get(&self.path(""))?;
        ensure!(session["state"] == "needs_you", "a permission is open, and the session is {}", session["state"]);
        let request =
            question["request"].as_u64().with_context(|| format!("a request without its number: {question}"))?;
        let wanted = match permission {
            Permission::Allow => "allow_once",
            Permission::Reject => "reject_once",
        };
        let option = question["options"]
            .as_array()
            .and_then(|options| options.iter().find(|option| option["kind"] == wanted))
            .and_then(|option| option["id"].as_str())
            .with_context(|| format!("no option means {wanted}: {question}"))?;
        self.post(&self.path(&format!("/permissions/p{request}")), &json!({ "option": option })).map(drop)
    }

    fn keep_words(&mut self, entry: &Value) {
        if entry["type"] == "text.part" {
            self.text += entry["data"]["text"].as_str().unwrap_or_default();
        }
    }

    /// Looks at the entries that follow until one of them is what was waited for.
    fn wait<T>(
        &mut self,
        what: &str,
        mut look: impl FnMut(&mut Self, &Value) -> anyhow::Result<Option<T>>,
    ) -> anyhow::Result<T> {
        let began = Instant::now();
        while began.elapsed() < LIMIT {
            let page = self.get(&self.path(&format!("/entries?after={}&limit=500", self.seq)))?;
            for entry in page["entries"].as_array().context("the answer has no entries")? {
                self.seq = entry["seq"].as_u64().with_context(|| format!("an entry without a seq: {entry}"))?;
                if let Some(found) = look(self, entry)? {
                    return Ok(found);
                }
            }
            thread::sleep(POLL);
        }
        bail!("waited {LIMIT:?} until {what}; the last entry seen is {}", self.seq)
    }

    fn path(&self, rest: &str) -> String {
        format!("/sessions/{}{rest}", self.id)
    }

    fn get(&mut self, path: &str) -> anyhow::Result<Value> {
        self.ask(&Request::get(format!("/api/v1{path}")))
    }

    fn post(&mut self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.requests += 1;
        self.ask(&Request {
            method: "POST",
            path: format!("/api/v1{path}"),
            body: Some(body.to_string()),
            idempotency_key: Some(format!("{}-{}", self.id, self.requests)),
        })
    }

    fn ask(&mut self, request: &Request) -> anyhow::Result<Value> {
        let what = format!("{} {}", request.method, request.path);
        let answer = self.http.send(request).with_context(|| format!("{what} was not answered"))?;
        ensure!(answer.is_success(), "{what}: {} {}", answer.status, answer.body);
        if answer.body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&answer.body).with_context(|| format!("{what}: not JSON"))
    }
}
