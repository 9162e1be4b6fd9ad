//! One agent from end to end: the real server, its public API, and the agent behind it, through a kill and a restart.
//!
//! Invariant: only what a user could see is looked at: answers, entries, files and processes; beside them what reached
//! the scripted model and the lab's tools, which stand for the world outside. A check that fails does not end the drive.

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
/// For all checks of an agent together.
const DRIVE_LIMIT: Duration = Duration::from_secs(20 * 60);
/// For a turn that a check before it left running.
const SETTLE_LIMIT: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(200);

/// What came of it.
pub(super) struct Driven {
    pub(super) agent: &'static Agent,
    /// From asking for a session until the agent was ready.
    pub(super) start: Option<Duration>,
    /// What it knew of the session when it took it up again, in the server's word.
    pub(super) memory: Option<String>,
    /// One for each check, in their order.
    pub(super) verdicts: Vec<Verdict>,
}

pub(super) enum Verdict {
    Yes,
    /// The agent's own doing.
    OwnLimit(&'static OwnLimit),
    No(String),
}

pub(super) struct Check {
    pub(super) name: &'static str,
    run: fn(&mut Drive) -> anyhow::Result<()>,
}

/// In this order; each takes what it needs from those before it as it finds it.
pub(super) const CHECKS: [Check; 15] = [
    Check { name: "catalog", run: Drive::is_in_catalog },
    Check { name: "prompt", run: Drive::answers_prompt },
    Check { name: "tools offered", run: Drive::is_offered_tools },
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
    /// Why the skills are not installed.
    skills_failure: Option<String>,
}

pub(super) fn drive(agent: &'static Agent, lab: Lab, binary: &Path) -> anyhow::Result<Driven> {
    let home = Home::make(agent, &lab.tools, &lab.folder, lab.model.address)?;
    let data = lab.folder.join("data");
    // The server takes no folder that others can get into.
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
    // What goes on after the last check would be in the way of the next agent.
    drop(drive.server.take());
    leftovers::wait_until_gone(&drive.lab.folder, STOP_LIMIT)?;
    Ok(Driven { agent, start: drive.start, memory: drive.memory.take(), verdicts })
}

impl Driven {
    /// Nothing could be checked, or what it left behind is in the way.
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
        // Nothing of this machine goes into the page.
        let says = format!("{err:#}").replace(&self.lab.folder.display().to_string(), "LAB");
        let says = says.replace(&self.lab.tools.display().to_string(), "TOOLS");
        println!("{}: {}: no ({seconds:.1} s): {says}", self.agent.name, check.name);
        let mut limits = self.agent.own_limits.iter();
        match limits.find(|limit| limit.check == check.name && says.contains(limit.says)) {
            Some(limit) => Verdict::OwnLimit(limit),
            None => Verdict::No(says),
        }
    }

    /// As a person would: what the agent is to have in its environment, and the tools that every session gets.
    fn write_configuration(&self) -> anyhow::Result<()> {
        let own = std::env::current_exe().context("could not find this program")?;
        let mut text = format!("[agents.{}.env]\n", self.agent.name);
        for (name, value) in &self.home.environment {
            text += &format!("{name} = {}\n", quoted(value));
        }
        // The lab's machine may have other work.
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

    /// A session that waits for a prompt: the one before if it does, else another.
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
        // It looks for agents, skills and histories where the agent keeps them. The mark tells whatever it starts from
        // everything else on the machine.
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

    /// Asks until the answer is as it should be.
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

/// Ends what a check left running; false if it does not end.
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

    /// A person is shown the very command.
    fn asked_once_to(&self, command: &str) -> anyhow::Result<()> {
        let is_so = self.asked.len() == 1 && self.asked[0].contains(command);
        ensure!(is_so, "expected one question, about {command:?}: {self:?}");
        Ok(())
    }
}

/// JSON's strings are TOML's too.
fn quoted(text: &str) -> Value {
    json!(text)
}
