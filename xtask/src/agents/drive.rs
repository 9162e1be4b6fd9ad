//! One agent from end to end: the real server, its public API, and the agent behind it, through a kill and a restart.
//!
//! Invariant: only what a user could see is looked at: answers, entries, files and processes; beside them what reached
//! the scripted model and the lab's tools, which stand for the world outside.

mod leftovers;
pub(crate) mod session;

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::Lab;
use super::catalog::Agent;
use super::client::Permission;
use super::home::Home;
use super::notes;
use crate::kills::server::{self, Server};
use session::{Session, Turn};

const STOP_LIMIT: Duration = Duration::from_secs(15);
/// What the scripted model's command prints, which is not in the command itself.
const PRINTED: &str = "1235234";

/// What came of it.
pub(super) struct Driven {
    pub(super) agent: &'static Agent,
    /// From asking for a session until the agent was ready.
    pub(super) start: Option<Duration>,
    /// What it knew of the session when it took it up again, in the server's word.
    pub(super) memory: Option<String>,
    pub(super) passed: Vec<&'static str>,
    pub(super) failed: Option<(&'static str, anyhow::Error)>,
}

struct Step {
    name: &'static str,
    run: fn(&mut Drive) -> anyhow::Result<()>,
}

/// In this order; the first that fails ends the drive.
const STEPS: [Step; 13] = [
    Step { name: "start", run: Drive::start },
    Step { name: "prompt", run: Drive::prompt },
    Step { name: "tools listed", run: Drive::tools_are_listed },
    Step { name: "tool called", run: Drive::tool_is_called },
    Step { name: "marked", run: Drive::file_is_marked },
    Step { name: "allowed", run: Drive::permission_is_given },
    Step { name: "refused", run: Drive::permission_is_refused },
    Step { name: "proved", run: Drive::work_is_proved },
    Step { name: "cancelled", run: Drive::turn_is_cancelled },
    Step { name: "killed", run: Drive::server_is_killed },
    Step { name: "nothing left", run: Drive::nothing_is_left },
    Step { name: "resumed", run: Drive::session_is_resumed },
    Step { name: "stopped", run: Drive::server_stops },
];

pub(super) fn step_count() -> usize {
    STEPS.len()
}

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
    };
    drive.write_configuration()?;
    let (mut passed, mut failed) = (Vec::new(), None);
    for step in &STEPS {
        let began = Instant::now();
        match (step.run)(&mut drive) {
            Ok(()) => {
                println!("{}: {} ({:.1} s)", agent.name, step.name, began.elapsed().as_secs_f64());
                passed.push(step.name);
            }
            Err(err) => {
                println!("{}: {} failed: {err:#}", agent.name, step.name);
                failed = Some((step.name, err));
                break;
            }
        }
    }
    Ok(Driven { agent, start: drive.start, memory: drive.memory.take(), passed, failed })
}

impl Drive {
    /// As a person would: the agent's command line, and the tools that every session gets.
    fn write_configuration(&self) -> anyhow::Result<()> {
        let own = std::env::current_exe().context("could not find this program")?;
        let mut text = format!("[agents.{}]\n", self.agent.name);
        text += &format!("command = {}\n", quoted(&self.agent.program_in(&self.lab.tools).display().to_string()));
        text += &format!("args = {}\n", json!(self.agent.args));
        text += &format!("\n[agents.{}.env]\n", self.agent.name);
        for (name, value) in &self.home.environment {
            text += &format!("{name} = {}\n", quoted(value));
        }
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

    fn start(&mut self) -> anyhow::Result<()> {
        self.start_server()?;
        let asked_at = Instant::now();
        let endpoint = self.server()?.endpoint();
        let mut session = Session::create(endpoint, self.agent.name, &self.home.work)?;
        session.wait_until_ready()?;
        self.start = Some(asked_at.elapsed());
        self.session = Some(session);
        Ok(())
    }

    fn prompt(&mut self) -> anyhow::Result<()> {
        let turn = self.session()?.turn("hello there", Permission::Allow)?;
        turn.completed_with("You said: hello there")
    }

    /// The model saw the tools in the very first request, not behind a search.
    fn tools_are_listed(&mut self) -> anyhow::Result<()> {
        let seen = self.lab.model.seen();
        let first = seen.first().context("no request with tools reached the model")?;
        let offered = first.offers_lookup() && first.offers_marks();
        ensure!(offered, "the first request offers only: {}", first.tools.join(", "));
        Ok(())
    }

    fn tool_is_called(&mut self) -> anyhow::Result<()> {
        let turn = self.session()?.turn("please lookup kumquat", Permission::Allow)?;
        for way in ["http", "stdio"] {
            turn.completed_with(&notes::note("kumquat", way))?;
        }
        ensure!(self.lab.notes.looked_up() == ["kumquat"], "the tool was called with {:?}", self.lab.notes.looked_up());
        Ok(())
    }

    /// With the session's own tool, and without asking anybody.
    fn file_is_marked(&mut self) -> anyhow::Result<()> {
        let file = self.home.work.join("marked.md").display().to_string();
        let session = self.session()?;
        let turn = session.turn(&format!("please mark {file}"), Permission::Reject)?;
        turn.completed_with("files")?;
        ensure!(turn.asked.is_empty(), "it asked before it marked: {turn:?}");
        let context = session.context()?;
        ensure!(context["context"]["files"] == json!([file]), "the mark is not there: {context}");
        Ok(())
    }

    /// What its tools did is known, though it marked nothing of it.
    fn work_is_proved(&mut self) -> anyhow::Result<()> {
        let file = self.home.work.join("written.md");
        let session = self.session()?;
        session.turn(&format!("please write {}", file.display()), Permission::Allow)?;
        let facts = session.context()?["facts"].clone();
        let ran = facts["commands"].to_string();
        ensure!(ran.contains("touch allowed.txt"), "the command that was run is not proved: {facts}");
        ensure!(!ran.contains("refused"), "a command that was refused is proved: {facts}");
        // Codex has no tool that writes a file; it does so with commands and patches.
        let made = format!("{}{}", facts["filesCreated"], facts["filesEdited"]);
        ensure!(!file.exists() || made.contains("written.md"), "the file that was written is not proved: {facts}");
        Ok(())
    }

    fn permission_is_given(&mut self) -> anyhow::Result<()> {
        let turn = self.session()?.turn("please run allowed.txt", Permission::Allow)?;
        turn.asked_once_to("touch allowed.txt")?;
        ensure!(turn.outcome == "completed", "{turn:?}");
        ensure!(self.home.work.join("allowed.txt").exists(), "the allowed command did not run: {turn:?}");
        ensure!(turn.tools.contains(PRINTED), "what the command printed is not told: {turn:?}");
        Ok(())
    }

    /// Some agents go on after a "no" and some end the turn; the command is not run in either case.
    fn permission_is_refused(&mut self) -> anyhow::Result<()> {
        let turn = self.session()?.turn("please run refused.txt", Permission::Reject)?;
        turn.asked_once_to("touch refused.txt")?;
        ensure!(["completed", "cancelled"].contains(&turn.outcome.as_str()), "{turn:?}");
        ensure!(!self.home.work.join("refused.txt").exists(), "the refused command did run: {turn:?}");
        Ok(())
    }

    fn turn_is_cancelled(&mut self) -> anyhow::Result<()> {
        let session = self.session()?;
        session.send("please wait here")?;
        session.wait_for_words()?;
        session.cancel()?;
        let turn = session.end_of_turn(Permission::Allow)?;
        ensure!(turn.outcome == "cancelled", "{turn:?}");
        Ok(())
    }

    /// In the middle of a turn.
    fn server_is_killed(&mut self) -> anyhow::Result<()> {
        let session = self.session()?;
        session.send("please wait for the end")?;
        session.wait_for_words()?;
        let server = self.server.take().context("no server runs")?;
        let own = format!("{} ", server.pid());
        let others =
            leftovers::processes_of(&self.lab.folder)?.into_iter().filter(|process| !process.starts_with(&own));
        ensure!(others.count() > 0, "no process of the agent is seen, so none would be missed");
        server.kill()
    }

    fn nothing_is_left(&mut self) -> anyhow::Result<()> {
        leftovers::wait_until_gone(&self.lab.folder, STOP_LIMIT)
    }

    fn session_is_resumed(&mut self) -> anyhow::Result<()> {
        self.start_server()?;
        let endpoint = self.server()?.endpoint();
        let session = self.session.as_mut().context("no session was made")?;
        session.take_up_at(endpoint)?;
        let interrupted = session.end_of_turn(Permission::Allow)?;
        ensure!(interrupted.outcome == "interrupted", "{interrupted:?}");
        session.resume()?;
        self.memory = session.wait_until_ready()?;
        let turn = session.turn("and once more", Permission::Allow)?;
        turn.completed_with("You said: and once more")?;
        let remembered = self.lab.model.seen().last().is_some_and(|seen| seen.body.contains("kumquat"));
        ensure!(remembered, "the agent took the session up without what was said before");
        let seen = self.lab.model.seen();
        let told = &seen.last().context("no request reached the model")?.body;
        for part in ["[Session resumed.", "marked.md", "Ran touch allowed.txt"] {
            ensure!(told.contains(part), "the model's request does not hold {part:?}");
        }
        Ok(())
    }

    fn server_stops(&mut self) -> anyhow::Result<()> {
        let server = self.server.take().context("no server runs")?;
        let sent = Command::new("kill").args(["-TERM", &server.pid().to_string()]).status();
        ensure!(sent.context("could not start kill")?.success(), "could not send SIGTERM");
        let status = server.ended(STOP_LIMIT)?;
        ensure!(status.success(), "the server ended with {status}");
        leftovers::wait_until_gone(&self.lab.folder, STOP_LIMIT)
    }

    fn start_server(&mut self) -> anyhow::Result<()> {
        let mut command = server::command(&self.binary, &self.data);
        // So that whatever it starts can be told from everything else on the machine.
        command.env(leftovers::MARK, &self.lab.folder);
        self.server = Some(Server::launch(command, &self.data, &self.lab.folder.join("server.log"))?);
        Ok(())
    }

    fn server(&self) -> anyhow::Result<&Server> {
        self.server.as_ref().context("no server runs")
    }

    fn session(&mut self) -> anyhow::Result<&mut Session> {
        self.session.as_mut().context("no session was made")
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
