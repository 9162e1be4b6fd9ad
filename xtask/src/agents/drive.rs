//! Tests one agent from end to end: the real server, its public API, and the agent behind it, through a kill and a
//! restart.
//!
//! Invariant: only what a user could see is checked: answers, entries, files and processes; and the requests that
//! reached the scripted model and the lab's tools. A check that fails does not end the run.

pub(crate) mod api;
mod checks;
mod leftovers;
mod lives;
pub(crate) mod session;

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::Lab;
use super::catalog::{Agent, OwnLimit};
use super::home::Home;
use super::notes;
use crate::kills::server::{self, Server};
use api::Api;
use session::{Session, Turn};

const STOP_LIMIT: Duration = Duration::from_secs(15);
/// The time limit for all checks of an agent together.
const DRIVE_LIMIT: Duration = Duration::from_secs(20 * 60);
/// The time limit for a turn that an earlier check left running.
const SETTLE_LIMIT: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(200);

/// The results of one agent.
pub(super) struct AgentResult {
    pub(super) agent: &'static Agent,
    /// From the request for a session until the agent was ready.
    pub(super) start: Option<Duration>,
    /// What the agent remembered when the session was resumed, in the server's word.
    pub(super) memory: Option<String>,
    /// One for each check, in order.
    pub(super) verdicts: Vec<Verdict>,
}

pub(super) enum Verdict {
    Yes,
    /// The agent itself is the cause.
    OwnLimit(&'static OwnLimit),
    No(String),
}

pub(super) struct Check {
    pub(super) name: &'static str,
    run: fn(&mut Drive) -> anyhow::Result<()>,
}

/// In this order; a check uses what the earlier ones have left.
pub(super) const CHECKS: [Check; 17] = [
    Check { name: "catalog", run: Drive::is_in_catalog },
    Check { name: "prompt", run: Drive::answers_prompt },
    Check { name: "tools offered", run: Drive::is_offered_tools },
    Check { name: "showing", run: Drive::shows_things },
    Check { name: "applet", run: Drive::makes_an_applet },
    Check { name: "question", run: Drive::asks_with_whole_command },
    Check { name: "edit", run: Drive::edit_is_a_fact },
    Check { name: "modes and models", run: Drive::modes_and_models },
    Check { name: "cancel", run: Drive::turn_is_cancelled },
    Check { name: "kill and resume", run: Drive::outlives_a_kill },
    Check { name: "usage", run: Drive::usage_is_told },
    Check { name: "hand-over", run: Drive::is_handed_over_and_back },
    Check { name: "found again", run: Drive::is_found_again },
    Check { name: "tools called", run: Drive::calls_tools },
    Check { name: "next block", run: Drive::next_block_runs_command },
    Check { name: "skill", run: Drive::loads_skill },
    Check { name: "import", run: Drive::history_is_imported },
];

struct Drive {
    agent: &'static Agent,
    lab: Lab,
    binary: PathBuf,
    home: Home,
    data: PathBuf,
    server: Option<Server>,
    session: Option<Session>,
    start: Option<Duration>,
    memory: Option<String>,
    deadline: Instant,
    /// Why the skills could not be installed.
    skills_failure: Option<String>,
}

pub(super) fn drive(agent: &'static Agent, lab: Lab, binary: &Path) -> anyhow::Result<AgentResult> {
    let home = Home::make(agent, &lab.tools, &lab.folder, lab.model.address)?;
    let data = lab.folder.join("data");
    // The server refuses a folder that others can access.
    let made = DirBuilder::new().mode(0o700).create(&data);
    made.with_context(|| format!("could not make {}", data.display()))?;
    let mut drive = Drive {
        agent,
        lab,
        binary: binary.to_owned(),
        home,
        data,
        server: None,
        session: None,
        start: None,
        memory: None,
        deadline: Instant::now() + DRIVE_LIMIT,
        skills_failure: None,
    };
    drive.write_configuration()?;
    drive.skills_failure = drive.install_skills().err().map(|err| format!("{err:#}"));
    let verdicts = CHECKS.iter().map(|check| drive.judge(check)).collect();
    // A turn that runs on after the last check would disturb the next agent.
    drop(drive.server.take());
    leftovers::wait_until_gone(&drive.lab.folder, STOP_LIMIT)?;
    Ok(AgentResult { agent, start: drive.start, memory: drive.memory.take(), verdicts })
}

impl AgentResult {
    /// No check could be made, or its leftovers are in the way.
    pub(super) fn failed(agent: &'static Agent, err: &anyhow::Error) -> Self {
        println!("{}: {err:#}", agent.name);
        let verdicts = CHECKS.iter().map(|_| Verdict::No(format!("{err:#}"))).collect();
        Self { agent, start: None, memory: None, verdicts }
    }
}

impl Drive {
    fn judge(&mut self, check: &Check) -> Verdict {
        let began = Instant::now();
        let result = if began < self.deadline { (check.run)(self) } else { Err(anyhow::anyhow!("no time was left")) };
        let seconds = began.elapsed().as_secs_f64();
        let Err(err) = result else {
            println!("{}: {}: yes ({seconds:.1} s)", self.agent.name, check.name);
            return Verdict::Yes;
        };
        // The page shall name no folder of this machine.
        let says = format!("{err:#}").replace(&self.lab.folder.display().to_string(), "LAB");
        let says = says.replace(&self.lab.tools.display().to_string(), "TOOLS");
        println!("{}: {}: no ({seconds:.1} s): {says}", self.agent.name, check.name);
        let mut limits = self.agent.own_limits.iter();
        match limits.find(|limit| limit.check == check.name && says.contains(limit.says)) {
            Some(limit) => Verdict::OwnLimit(limit),
            None => Verdict::No(says),
        }
    }

    /// Writes the configuration as a person would: the agent's environment, and the tools of every session.
    fn write_configuration(&self) -> anyhow::Result<()> {
        let own = std::env::current_exe().context("could not find this program")?;
        let mut text = format!("[agents.{}.env]\n", self.agent.name);
        for (name, value) in &self.home.environment {
            text += &format!("{name} = {}\n", quoted(value));
        }
        // The machine may be busy with other work.
        text += "\n[limits]\nagent_start_seconds = 140\n";
        text +=
            &format!("\n[mcp_servers.notes]\nurl = {}\n", quoted(&format!("http://{}/mcp", self.lab.notes.address)));
        text += &format!("headers = {{ Authorization = {} }}\n", quoted(&format!("Bearer {}", notes::TOKEN)));
        text += &format!(
            "\n[mcp_servers.stdionotes]\ncommand = {}\nargs = [\"notes\"]\n",
            quoted(&own.display().to_string())
        );
        let path = self.data.join("config.toml");
        fs::write(&path, text).with_context(|| format!("could not write {}", path.display()))
    }

    /// A session that is ready for a prompt: the current one if it is idle, else a new one.
    fn session(&mut self) -> anyhow::Result<&mut Session> {
        if self.server.is_none() {
            self.start_server()?;
            if let Some(session) = &mut self.session {
                session.take_up_at(self.server.as_ref().context("no server runs")?.endpoint())?;
            }
        }
        let is_free = match &mut self.session {
            Some(session) => settle(session)?,
            None => false,
        };
        if !is_free {
            self.session = None;
            self.session = Some(self.begin_session()?);
        }
        self.session.as_mut().context("no session was made")
    }

    fn begin_session(&mut self) -> anyhow::Result<Session> {
        let asked_at = Instant::now();
        let session = Session::create(self.server()?.endpoint(), self.agent.name, &self.home.work)?;
        let mut session = session.until(self.deadline);
        session.wait_until_ready()?;
        self.start.get_or_insert(asked_at.elapsed());
        Ok(session)
    }

    fn start_server(&mut self) -> anyhow::Result<()> {
        let mut command = server::command(&self.binary, &self.data);
        // The server looks for agents, skills and histories where the agent keeps them. The mark identifies every
        // process that it starts.
        command.envs(&self.home.environment).env(leftovers::MARK, &self.lab.folder);
        self.server = Some(Server::launch(command, &self.data, &self.lab.folder.join("server.log"))?);
        Ok(())
    }

    fn stop_server(&mut self) -> anyhow::Result<()> {
        let server = self.server.take().context("no server runs")?;
        let sent = Command::new("kill").args(["-TERM", &server.pid().to_string()]).status();
        ensure!(sent.context("could not start kill")?.success(), "could not send SIGTERM");
        let status = server.ended(STOP_LIMIT)?;
        ensure!(status.success(), "the server ended with {status}");
        leftovers::wait_until_gone(&self.lab.folder, STOP_LIMIT)
    }

    fn server(&self) -> anyhow::Result<&Server> {
        self.server.as_ref().context("no server runs")
    }

    fn api(&self) -> anyhow::Result<Api> {
        Ok(Api::new(self.server()?.endpoint()))
    }

    /// Polls until the answer is as expected.
    fn poll<T>(
        &self,
        what: &str,
        limit: Duration,
        mut ask: impl FnMut(&mut Api) -> anyhow::Result<Result<T, Value>>,
    ) -> anyhow::Result<T> {
        let mut api = self.api()?;
        let end = self.deadline.min(Instant::now() + limit);
        loop {
            match ask(&mut api)? {
                Ok(found) => return Ok(found),
                Err(answer) if Instant::now() > end => bail!("{what}, after {limit:?}: {answer}"),
                Err(_) => std::thread::sleep(POLL),
            }
        }
    }
}

/// Cancels a turn that a check left running; false if it does not end.
fn settle(session: &mut Session) -> anyhow::Result<bool> {
    let end = Instant::now() + SETTLE_LIMIT;
    let mut is_cancelled = false;
    loop {
        match session.state()?.as_str() {
            "idle" | "interrupted" => return Ok(true),
            "failed" => return Ok(false),
            _ if Instant::now() > end => return Ok(false),
            "running" | "needs_you" if !is_cancelled => {
                is_cancelled = true;
                // It may have ended just now.
                drop(session.cancel());
            }
            _ => std::thread::sleep(POLL),
        }
    }
}

impl Turn {
    fn completed_with(&self, words: &str) -> anyhow::Result<()> {
        if self.outcome != "completed" || !self.text.contains(words) {
            bail!("expected a turn that is completed and says {words:?}: {self:?}");
        }
        Ok(())
    }

    /// Whether a person was asked once, with the exact command.
    fn asked_once_to(&self, command: &str) -> anyhow::Result<()> {
        let is_so = self.asked.len() == 1 && self.asked[0].contains(command);
        ensure!(is_so, "expected one question, about {command:?}: {self:?}");
        Ok(())
    }
}

/// JSON strings are valid in TOML.
fn quoted(text: &str) -> Value {
    json!(text)
}
