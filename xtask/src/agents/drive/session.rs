//! A session as a program uses it: requests over HTTP, and the resulting entries.
//!
//! Invariant: every entry is read once, in order; what one step leaves unread the next one reads.

use std::collections::VecDeque;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::super::client::Permission;
use super::api::Api;
use crate::kills::server::Endpoint;

/// The time limit of a wait; agents start slowly on a busy machine.
const LIMIT: Duration = Duration::from_secs(150);
const COMMANDS_LIMIT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(50);

pub(crate) struct Session {
    api: Api,
    id: String,
    /// The newest entry that was fetched.
    seq: u64,
    /// Entries that were fetched and not read yet.
    unread: VecDeque<Value>,
    /// The text of the running turn.
    text: String,
    /// No wait goes beyond it.
    deadline: Option<Instant>,
    seen: ReportedState,
}

/// What the entries reported besides the turns.
#[derive(Default)]
struct ReportedState {
    options: Vec<Value>,
    commands: Vec<String>,
    usage: Vec<Value>,
    prompts: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) outcome: String,
    pub(crate) text: String,
    /// The subjects of the permissions that were asked for.
    pub(crate) asked: Vec<String>,
    /// The tool events, as in the entries.
    pub(crate) tools: String,
}

impl Session {
    pub(crate) fn create(endpoint: Endpoint, agent: &str, cwd: &Path) -> anyhow::Result<Self> {
        let mut api = Api::new(endpoint.clone());
        let created = api.post("/sessions", &json!({ "agent": agent, "cwd": cwd }))?;
        Ok(Self::of(endpoint, created["id"].as_str().context("the answer names no session")?))
    }

    /// Opens an existing session.
    pub(crate) fn of(endpoint: Endpoint, id: &str) -> Self {
        let (api, id, text) = (Api::new(endpoint), id.to_owned(), String::new());
        Self { api, id, seq: 0, unread: VecDeque::new(), text, deadline: None, seen: ReportedState::default() }
    }

    pub(crate) fn until(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Continues at a restarted server.
    pub(crate) fn take_up_at(&mut self, endpoint: Endpoint) -> anyhow::Result<()> {
        self.api = Api::new(endpoint);
        self.api.get(&self.path("")).map(drop)
    }

    /// Waits until the agent is ready; returns what it remembers, in the server's word.
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

    /// Sends a prompt and waits for the end of its turn, answering questions meanwhile.
    pub(crate) fn turn(&mut self, words: &str, permission: Permission) -> anyhow::Result<Turn> {
        self.send(words)?;
        self.end_of_turn(permission)
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Sends a prompt; returns the id of its interaction.
    pub(crate) fn send(&mut self, words: &str) -> anyhow::Result<String> {
        self.text.clear();
        let accepted = self.api.post(&self.path("/prompts"), &json!({ "text": words }))?;
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
                    if session.answer(&entry["data"], permission)? {
                        asked.push(subject_of(&entry["data"]));
                    }
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

    /// The packet that the agent would get if the session were resumed now.
    pub(crate) fn resume_packet(&mut self) -> anyhow::Result<Value> {
        self.api.get(&self.path("/resume-packet"))
    }

    /// The session's context.
    pub(crate) fn context(&mut self) -> anyhow::Result<Value> {
        self.api.get(&self.path("/context"))
    }

    /// What was shown in it.
    pub(crate) fn outputs(&mut self) -> anyhow::Result<Value> {
        Ok(self.api.get(&self.path("/outputs"))?["outputs"].take())
    }

    /// Sets keys of the state of the applet that it shows, as the page does for the person.
    pub(crate) fn set_applet_state(&mut self, keys: &Value) -> anyhow::Result<()> {
        let path = format!("/storage/applet/_shown/state?session={}", self.id);
        self.api.post_without_key(&path, &json!({ "merge": keys })).map(drop)
    }

    pub(crate) fn change(&mut self, body: &Value) -> anyhow::Result<()> {
        self.api.patch(&self.path(""), body).map(drop)
    }

    pub(crate) fn cancel(&mut self) -> anyhow::Result<()> {
        self.api.post(&self.path("/cancel"), &json!({})).map(drop)
    }

    pub(crate) fn resume(&mut self) -> anyhow::Result<()> {
        self.api.post(&self.path("/resume"), &json!({})).map(drop)
    }

    /// Hands the session over to another agent.
    pub(crate) fn hand_over(&mut self, agent: &str) -> anyhow::Result<()> {
        self.api.post(&self.path("/resume"), &json!({ "agent": agent })).map(drop)
    }

    /// Sets an option, and waits until the agent confirms it.
    pub(crate) fn choose(&mut self, option: &str, value: &str) -> anyhow::Result<()> {
        self.api.post(&self.path(&format!("/options/{option}")), &json!({ "value": value }))?;
        self.wait(&format!("{option} is {value}"), |session, _| {
            Ok(session.option(option).is_some_and(|option| option["value"] == value).then_some(()))
        })
    }

    /// The options that the agent reported last.
    pub(crate) fn options(&mut self) -> anyhow::Result<Vec<Value>> {
        self.read_new()?;
        Ok(self.seen.options.clone())
    }

    /// Waits until the agent has reported a command, named without its slash; some do so only after a turn.
    pub(crate) fn wait_for_command(&mut self, name: &str) -> anyhow::Result<()> {
        let end = Instant::now() + COMMANDS_LIMIT;
        loop {
            self.read_new()?;
            let commands = &self.seen.commands;
            if commands.iter().any(|command| command == name) {
                return Ok(());
            }
            ensure!(Instant::now() < end, "it does not tell of {name}, only of {commands:?}");
            thread::sleep(POLL);
        }
    }

    pub(crate) fn usage(&mut self) -> anyhow::Result<Vec<Value>> {
        self.read_new()?;
        Ok(self.seen.usage.clone())
    }

    /// The prompts that were sent to the agent so far.
    pub(crate) fn prompts(&self) -> &[String] {
        &self.seen.prompts
    }

    pub(crate) fn state(&mut self) -> anyhow::Result<String> {
        Ok(self.api.get(&self.path(""))?["state"].as_str().unwrap_or_default().to_owned())
    }

    /// The newest step that is offered and not taken.
    pub(crate) fn open_step(&mut self) -> anyhow::Result<Value> {
        let steps = self.api.get(&self.path("/next"))?;
        let open = steps["blocks"].as_array().into_iter().flatten().find(|block| block["state"] == "open");
        open.cloned().with_context(|| format!("no step is open: {steps}"))
    }

    /// Takes a step; returns the session that it led to.
    pub(crate) fn take_step(&mut self, endpoint: Endpoint, block: &str) -> anyhow::Result<Self> {
        let taken = self.api.post(&self.path(&format!("/next/{block}")), &json!({}))?;
        Ok(Self::of(endpoint, taken["sessionId"].as_str().context("the answer names no session")?))
    }

    fn option(&self, id: &str) -> Option<&Value> {
        self.seen.options.iter().find(|option| option["id"] == id)
    }

    /// Answers by the kind of the option, as a person would go by its label. False if nobody had to be asked: the
    /// server had its answer.
    fn answer(&mut self, question: &Value, permission: Permission) -> anyhow::Result<bool> {
        let request =
            question["request"].as_u64().with_context(|| format!("a request without its number: {question}"))?;
        let session = self.api.get(&self.path(""))?;
        let id = format!("p{request}");
        if !session["openRequests"].to_string().contains(&format!("\"{id}\"")) {
            return Ok(false);
        }
        ensure!(session["state"] == "needs_you", "a permission is open, and the session is {}", session["state"]);
        let wanted = match permission {
            Permission::Allow => "allow_once",
            Permission::Reject => "reject_once",
        };
        let option = question["options"]
            .as_array()
            .and_then(|options| options.iter().find(|option| option["kind"] == wanted))
            .and_then(|option| option["id"].as_str())
            .with_context(|| format!("no option means {wanted}: {question}"))?;
        self.api.post(&self.path(&format!("/permissions/{id}")), &json!({ "option": option }))?;
        Ok(true)
    }

    fn keep_words(&mut self, entry: &Value) {
        if entry["type"] == "text.part" {
            self.text += entry["data"]["text"].as_str().unwrap_or_default();
        }
    }

    /// Reads the following entries until one matches.
    fn wait<T>(
        &mut self,
        what: &str,
        mut read_new: impl FnMut(&mut Self, &Value) -> anyhow::Result<Option<T>>,
    ) -> anyhow::Result<T> {
        let began = Instant::now();
        let end = self.deadline.map_or(began + LIMIT, |deadline| deadline.min(began + LIMIT));
        loop {
            while let Some(entry) = self.unread.pop_front() {
                if let Some(found) = read_new(self, &entry)? {
                    return Ok(found);
                }
            }
            if self.fetch()? > 0 {
                continue;
            }
            if Instant::now() > end {
                bail!("waited {:.0} s until {what}; the last entry is {}", began.elapsed().as_secs_f64(), self.seq);
            }
            thread::sleep(POLL);
        }
    }

    /// Reads what was stored meanwhile.
    fn read_new(&mut self) -> anyhow::Result<()> {
        while self.fetch()? > 0 {}
        Ok(())
    }

    /// Fetches new entries; returns how many.
    fn fetch(&mut self) -> anyhow::Result<usize> {
        let mut page = self.api.get(&self.path(&format!("/entries?after={}&limit=500", self.seq)))?;
        let Value::Array(entries) = page["entries"].take() else { bail!("the answer has no entries: {page}") };
        if let Some(last) = entries.last() {
            self.seq = last["seq"].as_u64().with_context(|| format!("an entry without a seq: {last}"))?;
        }
        let count = entries.len();
        entries.iter().for_each(|entry| self.seen.keep(entry));
        self.unread.extend(entries);
        Ok(count)
    }

    fn path(&self, rest: &str) -> String {
        format!("/sessions/{}{rest}", self.id)
    }
}

impl ReportedState {
    fn keep(&mut self, entry: &Value) {
        let data = &entry["data"];
        let list = |name: &str| data[name].as_array().cloned().unwrap_or_default();
        match entry["type"].as_str() {
            Some("agent.options_changed") => self.options = list("options"),
            Some("agent.commands_changed") => {
                let name = |command: &Value| command["name"].as_str().unwrap_or_default().to_owned();
                self.commands = list("commands").iter().map(name).collect();
            }
            // What the former agent had.
            Some("session.changed") if data["agent"].is_string() => {
                (self.options, self.commands) = (Vec::new(), Vec::new());
            }
            Some("usage.reported") => self.usage.push(data.clone()),
            Some("prompt.sent") => self.prompts.push(data["text"].as_str().unwrap_or_default().to_owned()),
            Some(_) | None => (),
        }
    }
}

/// The subject of a question, as the person sees it.
fn subject_of(question: &Value) -> String {
    question["subject"].as_str().or(question["title"].as_str()).unwrap_or_default().to_owned()
}
