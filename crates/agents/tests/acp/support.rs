//! A folder with agents in it, and a session with one of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agents::catalog::{AsksIn, Brief, CatalogEntry, Quirks, Unasked};
use agents::process::{self, Launcher};
use agents::{Agent, AgentLimits, AgentRequest, AgentSettings, AgentStart, AgentUpdate, Agents};
use files::Deny;
use model::{AgentReport, Answerer, PermissionAnswer, SessionId};
use serde_json::json;
use tempfile::TempDir;
use tokio::time::timeout;

/// For what must happen, however slow the machine is.
const DEADLINE: Duration = Duration::from_secs(40);

pub(crate) struct Place {
    folder: TempDir,
    pub(crate) agents: Agents,
}

/// An agent named after its wishes, joined by spaces; `shared` and `stubborn` are wishes too.
fn hostile(wishes: &str, notes: &Path) -> CatalogEntry {
    let program = example("hostile").display().to_string();
    let mut args: Vec<String> = wishes.split_whitespace().map(str::to_owned).collect();
    args.push(format!("notes={}", notes.display()));
    let mut entry = CatalogEntry {
        name: wishes.to_owned(),
        title: String::new(),
        description: String::new(),
        command: program.clone(),
        args,
        env: BTreeMap::from([("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())]),
        pass_env: Vec::new(),
        shared: wishes.contains("shared"),
        quirks: quirks(wishes),
        own_tools: Vec::new(),
        chosen_mode: None,
        install: None,
        sign_in: None,
        notes: Vec::new(),
        version_args: Vec::new(),
        builtin: false,
    };
    if wishes.contains("stubborn") {
        // An ignored signal stays ignored in the program that replaces the shell.
        let run = "trap '' TERM; exec \"$0\" \"$@\"".to_owned();
        entry.args = ["-c".to_owned(), run, program].into_iter().chain(entry.args).collect();
        entry.command = "/bin/sh".to_owned();
    }
    entry
}

/// The quirks of an agent, also by its wishes.
fn quirks(wishes: &str) -> Quirks {
    let is_known = wishes.contains("known");
    Quirks {
        unasked: wishes.contains("unasked").then_some(Unasked::ClaudeCode),
        asks_in: if is_known { &[AsksIn { option: "mode", values: &["ask"] }] } else { &[] },
        hides_its_mode: wishes.contains("hidden"),
        titles_are_commands: wishes.contains("commanding"),
        titles_are_tool_names: wishes.contains("titled"),
        wraps_mcp_calls: wishes.contains("wrapping"),
        must_not_load: wishes.contains("harmed"),
        makes_its_own_files: wishes.contains("harmed"),
        brief: match () {
            () if wishes.contains("prompted") => Brief::SystemPrompt,
            () if wishes.contains("briefed") => Brief::FirstPrompt,
            () => Brief::Instructions,
        },
        ..Quirks::PLAIN
    }
}

impl Place {
    pub(crate) fn new(agents: &[&str]) -> Self {
        Self::with(agents, AgentLimits::default())
    }

    pub(crate) fn with(agents: &[&str], limits: AgentLimits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        fs::create_dir(&home).unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        let notes = folder.path().join("notes");
        let mut entries: Vec<_> = agents.iter().map(|wishes| Arc::new(hostile(wishes, &notes))).collect();
        let catalog = agents::catalog::Catalog::new("/no/such/program", &[], BTreeMap::new()).unwrap();
        entries.extend(catalog.find_entry("guide").cloned());
        let settings = AgentSettings {
            launcher: Launcher::new(env!("CARGO_BIN_EXE_launch").into()),
            entries,
            environment: BTreeMap::new(),
            process_limits: process::ProcessLimits::default(),
            mcp_servers: Vec::new(),
            deny: Deny::standard(),
            neutral_dir: home,
            limits,
            in_process_guide: true,
        };
        Self { folder, agents: Agents::new(settings) }
    }

    /// The working directory of sessions.
    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// The start of an agent with the defaults.
    pub(crate) fn asking(&self, agent: &str) -> AgentStart {
        AgentStart {
            agent: agent.to_owned(),
            session: SessionId::from_bytes([7; 16]),
            cwd: self.project(),
            earlier: None,
            options: BTreeMap::new(),
            lent: None,
        }
    }

    pub(crate) fn start(&self, agent: &str) -> Talk {
        self.start_with(self.asking(agent))
    }

    pub(crate) fn take_up(&self, agent: &str, earlier: &str) -> Talk {
        self.start_with(AgentStart { earlier: Some(earlier.to_owned()), ..self.asking(agent) })
    }

    pub(crate) fn start_with(&self, start: AgentStart) -> Talk {
        Talk { agent: self.agents.start(start), folder: self.folder.path().display().to_string() }
    }

    /// What the agents noted, without waiting.
    pub(crate) fn notes(&self) -> String {
        fs::read_to_string(self.folder.path().join("notes")).unwrap_or_default()
    }

    pub(crate) async fn noted(&self, line: &str) -> String {
        let wait = async {
            loop {
                let notes = self.notes();
                if let Some(found) = notes.lines().find(|noted| noted.starts_with(line)) {
                    return found.to_owned();
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(DEADLINE, wait).await.unwrap_or_else(|_| panic!("never noted: {line}; only {:?}", self.notes()))
    }
}

pub(crate) struct Talk {
    pub(crate) agent: Agent,
    folder: String,
}

impl Talk {
    pub(crate) async fn next(&mut self) -> Option<AgentUpdate> {
        timeout(DEADLINE, self.agent.updates.recv()).await.expect("news in time")
    }

    pub(crate) async fn call(&self, call: AgentRequest) {
        timeout(DEADLINE, self.agent.requests.send(call)).await.expect("a call is taken in time").unwrap();
    }

    pub(crate) async fn prompt(&self, words: &str) {
        self.call(AgentRequest::Prompt { text: words.to_owned(), images: Vec::new(), packet: None, beside: None })
            .await;
    }

    pub(crate) async fn answer(&self, key: u64, option: Option<&str>, fields: Option<serde_json::Value>) {
        let by = Answerer::Policy { rule: "test".to_owned() };
        let answer = PermissionAnswer { option: option.map(str::to_owned), kind: None, fields, by, remembered: None };
        self.call(AgentRequest::Answer { key, answer }).await;
    }

    /// All updates up to the one that matches, a line each, or up to the agent's end.
    pub(crate) async fn until(&mut self, is_last: impl Fn(&AgentUpdate) -> bool) -> String {
        let mut told = Vec::new();
        loop {
            let Some(news) = self.next().await else {
                return self.lines(&told) + "(the end)\n";
            };
            let is_over = is_last(&news);
            told.push(news);
            if is_over {
                return self.lines(&told);
            }
        }
    }

    /// Until it accepts prompts, wants somebody to sign in, or has failed.
    pub(crate) async fn begun(&mut self) -> String {
        self.until(|news| {
            use AgentReport::{Failed, Ready, SignedOut};
            matches!(news, AgentUpdate::Report(Ready { .. } | Failed { .. } | SignedOut { .. }))
        })
        .await
    }

    /// Until the turn is over, one way or another.
    pub(crate) async fn over(&mut self) -> String {
        self.until(|news| {
            use AgentReport::{Failed, SignedOut, Stopped};
            matches!(news, AgentUpdate::Report(Stopped(_) | Failed { .. } | SignedOut { .. }))
        })
        .await
    }

    pub(crate) async fn turn(&mut self, words: &str) -> String {
        self.prompt(words).await;
        self.over().await
    }

    /// Until it asks; returns the key of the question.
    pub(crate) async fn asked(&mut self) -> (u64, String) {
        let mut told = Vec::new();
        loop {
            let news = self.next().await.expect("a question before the end");
            let key = if let AgentUpdate::Asked { key, .. } = &news { Some(*key) } else { None };
            told.push(news);
            if let Some(key) = key {
                return (key, self.lines(&told));
            }
        }
    }

    pub(crate) async fn ended(&mut self) {
        assert_eq!(self.next().await, None);
    }

    fn lines(&self, news: &[AgentUpdate]) -> String {
        let mut text = String::new();
        let mut open = None;
        for news in news {
            let line = match news {
                AgentUpdate::Report(AgentReport::Text { block, text: words }) => {
                    // However it came: a word each or all at once.
                    if open != Some(*block) {
                        text.push_str(&format!("text {block} "));
                    } else {
                        text.pop();
                    }
                    open = Some(*block);
                    text.push_str(&words.replace(&self.folder, "/FOLDER"));
                    text.push('\n');
                    continue;
                }
                AgentUpdate::Report(report) => line(report),
                AgentUpdate::Asked { key, question, own_call } => {
                    let own = own_call
                        .as_ref()
                        .map_or_else(String::new, |call| format!(" own {} {}", call.tool, json!(call.input)));
                    format!("asked {key}{own} {}", json!(question))
                }
                AgentUpdate::Withdrawn { key } => format!("withdrawn {key}"),
            };
            open = None;
            text.push_str(&line.replace(&self.folder, "/FOLDER"));
            text.push('\n');
        }
        // A source file shall hold no character that changes the direction of others.
        text.replace('\u{202e}', "\\u{202e}")
    }
}

fn line(report: &AgentReport) -> String {
    match report {
        AgentReport::Ready { attached } => format!("ready {}", json!(attached)),
        AgentReport::SignedOut { methods } => format!("signed out {}", json!(methods)),
        AgentReport::Options(options) => format!("options {}", json!(options)),
        AgentReport::Commands(commands) => format!("commands {}", json!(commands)),
        AgentReport::ToolStarted { tool, call_id, change } => {
            format!("tool {tool} started {call_id} {}", json!(change))
        }
        AgentReport::ToolChanged { tool, change } => format!("tool {tool} {}", json!(change)),
        AgentReport::ToolText { tool, text } => format!("tool {tool} + {text:?}"),
        AgentReport::Noticed(notice) => format!("noticed {}", json!(notice)),
        AgentReport::Raw(value) => format!("raw {value}"),
        AgentReport::Stopped(stop) => format!("stopped {}", json!(stop)),
        AgentReport::Failed { reason } => format!("failed: {reason}"),
        other => format!("{other:?}"),
    }
}

fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples").join(name)
}

pub(crate) fn millis(limit: u64) -> Duration {
    Duration::from_millis(limit)
}
