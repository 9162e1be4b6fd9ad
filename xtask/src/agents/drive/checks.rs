//! The checks of what an agent does during a session.

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::super::catalog::{SKILL_HEADING, SlashEffect};
use super::super::client::Permission;
use super::super::notes;
use super::Drive;

/// The output of the scripted model's command; it is not in the command itself.
const PRINTED: &str = "1235234";
const VERSION_LIMIT: Duration = Duration::from_secs(75);
/// The first prompt, which a later check searches for.
pub(super) const GREETING: &str = "hello marmalade";

impl Drive {
    /// The agent is found along `PATH`, with its version.
    pub(super) fn is_in_catalog(&mut self) -> anyhow::Result<()> {
        self.start_server()?;
        let name = self.agent.name;
        let listed = self.poll("it has no version", VERSION_LIMIT, |api| {
            let answer = api.get("/agents")?;
            let listed = answer["agents"].as_array().into_iter().flatten().find(|agent| agent["name"] == name);
            let listed = listed.with_context(|| format!("it is not in the catalog: {answer}"))?;
            ensure!(listed["installed"] == true, "it is not found: {listed}");
            Ok(if listed["version"].is_string() { Ok(listed.clone()) } else { Err(listed.clone()) })
        })?;
        let version = listed["version"].as_str().unwrap_or_default();
        ensure!(self.agent.packages.iter().any(|package| version.contains(package.version)), "{listed}");
        Ok(())
    }

    /// Installs the skills, as a person would before a session.
    pub(super) fn install_skills(&self) -> anyhow::Result<()> {
        let mut install = Command::new(&self.binary);
        install.args(["skill", "install", "--agent", self.agent.name]).envs(&self.home.environment);
        let output = install.output().context("could not start the program")?;
        ensure!(output.status.success(), "the skills are not installed: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    pub(super) fn answers_prompt(&mut self) -> anyhow::Result<()> {
        let turn = self.session()?.turn(GREETING, Permission::Allow)?;
        turn.completed_with(&format!("You said: {GREETING}"))
    }

    /// The model gets the session's own tools in the very first request, not behind a search, and nobody is asked
    /// when it calls them.
    pub(super) fn is_offered_tools(&mut self) -> anyhow::Result<()> {
        let file = self.home.work.join("marked.md");
        fs::write(&file, "What matters.\n").with_context(|| format!("could not write {}", file.display()))?;
        let file = file.display().to_string();
        let session = self.session()?;
        let turn = session.turn(&format!("please mark {file}"), Permission::Allow)?;
        let context = session.context()?;
        let seen = self.lab.model.seen();
        let first = seen.first().context("no request with tools reached the model")?;
        let offered = first.offers_lookup() && first.offers_marks();
        ensure!(offered, "the first request offers only: {}", first.tools.join(", "));
        ensure!(turn.asked.is_empty(), "it asked before it marked: {:?}", turn.asked);
        ensure!(context["context"]["files"] == json!([file]), "the mark is not there: {context}; {turn:?}");
        Ok(())
    }

    /// A file is shown and read again without a question, and a command with exactly one.
    pub(super) fn shows_things(&mut self) -> anyhow::Result<()> {
        let file = self.home.work.join("shown.md");
        fs::write(&file, "Quinces.\n").with_context(|| format!("could not write {}", file.display()))?;
        let session = self.session()?;
        let turn = session.turn(&format!("please show {}", file.display()), Permission::Allow)?;
        ensure!(turn.asked.is_empty(), "it asked before it showed a file: {:?}", turn.asked);
        let shown = session.outputs()?;
        let id = shown[0]["id"].as_str().with_context(|| format!("nothing was shown: {turn:?}"))?.to_owned();
        let turn = session.turn(&format!("please retrieve {id}"), Permission::Allow)?;
        turn.completed_with("Quinces.")?;
        ensure!(turn.asked.is_empty(), "it asked before it read what was shown: {:?}", turn.asked);
        let turn = session.turn("please display displayed.txt", Permission::Allow)?;
        turn.asked_once_to("touch displayed.txt && expr 1234 '*' 1001")?;
        let shown = session.outputs()?;
        ensure!(shown[1]["exitCode"] == json!(0), "what the command printed is not shown: {shown}; {turn:?}");
        Ok(())
    }

    /// An applet is shown without a question, and what the person does in it is read in the next turn.
    pub(super) fn makes_an_applet(&mut self) -> anyhow::Result<()> {
        let session = self.session()?;
        let turn = session.turn("please make an applet", Permission::Allow)?;
        ensure!(turn.asked.is_empty(), "it asked before it showed an applet: {:?}", turn.asked);
        let shown = session.outputs()?;
        let is_shown = shown.as_array().is_some_and(|shown| shown.iter().any(|output| output["type"] == "applet"));
        ensure!(is_shown, "no applet was shown: {shown}; {turn:?}");
        session.set_applet_state(&json!({ "quinces": 4711 }))?;
        let turn = session.turn("please read the applet", Permission::Allow)?;
        turn.completed_with("4711")?;
        ensure!(turn.asked.is_empty(), "it asked before it read the state: {:?}", turn.asked);
        Ok(())
    }

    /// The agent calls the session's own tools and those of the person's MCP servers.
    pub(super) fn calls_tools(&mut self) -> anyhow::Result<()> {
        let turn = self.session()?.turn("please recall everything", Permission::Allow)?;
        turn.completed_with("marmalade")?;
        let turn = self.session()?.turn("please lookup kumquat", Permission::Allow)?;
        turn.completed_with(&notes::note("kumquat", "http"))?;
        if self.agent.takes_stdio_tools {
            turn.completed_with(&notes::note("kumquat", "stdio"))?;
        }
        ensure!(self.lab.notes.looked_up() == ["kumquat"], "the tool was called with {:?}", self.lab.notes.looked_up());
        Ok(())
    }

    /// An allowed command runs and its output is reported; a refused one does not run. After a refusal some agents
    /// continue and some end the turn.
    pub(super) fn asks_with_whole_command(&mut self) -> anyhow::Result<()> {
        let turn = self.session()?.turn("please run allowed.txt", Permission::Allow)?;
        turn.asked_once_to("touch allowed.txt && expr 1234 '*' 1001")?;
        ensure!(turn.outcome == "completed", "{turn:?}");
        ensure!(self.home.work.join("allowed.txt").exists(), "the allowed command did not run: {turn:?}");
        let is_output_told = turn.tools.contains(PRINTED);
        let turn = self.session()?.turn("please run refused.txt", Permission::Reject)?;
        turn.asked_once_to("touch refused.txt && expr 1234 '*' 1001")?;
        ensure!(["completed", "cancelled"].contains(&turn.outcome.as_str()), "{turn:?}");
        ensure!(!self.home.work.join("refused.txt").exists(), "the refused command did run: {turn:?}");
        let facts = self.session()?.context()?["facts"].clone();
        let ran = facts["commands"].to_string();
        ensure!(ran.contains("touch allowed.txt && expr"), "the command that was run is not proved: {facts}");
        ensure!(!ran.contains("refused"), "a command that was refused is proved: {facts}");
        // Checked last, because only the agent can report it.
        ensure!(is_output_told, "what the command printed is not told");
        Ok(())
    }

    /// The files that its tools changed become facts, though it marked none of them.
    pub(super) fn edit_is_a_fact(&mut self) -> anyhow::Result<()> {
        let file = self.home.work.join("written.md");
        let session = self.session()?;
        let wrote = session.turn(&format!("please write {}", file.display()), Permission::Allow)?;
        ensure!(file.exists(), "no file was written: {wrote:?}");
        let facts = session.context()?["facts"].clone();
        ensure!(facts["filesCreated"].to_string().contains("written.md"), "the new file is not proved: {facts}");
        let edited = session.turn(&format!("please edit {}", file.display()), Permission::Allow)?;
        let text = fs::read_to_string(&file).context("the written file is gone")?;
        ensure!(text == "another line\n", "the file holds {text:?}: {edited:?}");
        let facts = session.context()?["facts"].clone();
        ensure!(facts["filesEdited"].to_string().contains("written.md"), "the edit is not proved: {facts}");
        Ok(())
    }

    /// Both are reported, and another mode can be chosen and left again.
    pub(super) fn modes_and_models(&mut self) -> anyhow::Result<()> {
        let session = self.session()?;
        let options = session.options()?;
        let of = |category: &str| options.iter().find(|option| option["category"] == category);
        let mode = of("mode").with_context(|| format!("it tells no modes: {options:?}"))?;
        let id = mode["id"].as_str().context("an option without an id")?;
        let before = mode["value"].as_str().context("an option without a value")?;
        let choices: Vec<_> = mode["choices"].as_array().into_iter().flatten().filter_map(value_of).collect();
        // A mode that permits no more than before, if there is one.
        let plan = choices.iter().find(|choice| choice.ends_with("plan"));
        let other =
            plan.or_else(|| choices.iter().find(|choice| **choice != before)).context("it has one mode only")?;
        session.choose(id, other)?;
        session.choose(id, before)?;
        let model = of("model").with_context(|| format!("it tells no models: {options:?}"))?;
        ensure!(model["choices"].as_array().is_some_and(|choices| !choices.is_empty()), "no model: {model}");
        Ok(())
    }

    pub(super) fn turn_is_cancelled(&mut self) -> anyhow::Result<()> {
        let session = self.session()?;
        session.send("please wait here")?;
        session.wait_for_words()?;
        session.cancel()?;
        let turn = session.end_of_turn(Permission::Allow)?;
        ensure!(turn.outcome == "cancelled", "{turn:?}");
        Ok(())
    }

    pub(super) fn usage_is_told(&mut self) -> anyhow::Result<()> {
        let usage = self.session()?.usage()?;
        let of_models = |usage: &Value| usage["turn"]["models"].as_array().cloned().unwrap_or_default();
        let is_counted = |usage: &Value| {
            usage["used"].as_u64() > Some(0) || of_models(usage).iter().any(|model| model["input"].as_u64() > Some(0))
        };
        ensure!(usage.iter().any(is_counted), "no tokens are told: {usage:?}");
        Ok(())
    }

    /// A step that sends a slash command, as the phases of a pipeline do.
    pub(super) fn next_block_runs_command(&mut self) -> anyhow::Result<()> {
        let slash = self.agent.slash;
        let endpoint = self.server()?.endpoint();
        let deadline = self.deadline;
        let session = self.session()?;
        session.turn(&format!("please offer {}", slash.command), Permission::Allow)?;
        session.wait_for_command(slash.command.trim_start_matches('/'))?;
        let step = session.open_step()?;
        let block = step["id"].as_str().context("a step without an id")?;
        let mut fresh = session.take_step(endpoint, block)?.until(deadline);
        let turn = fresh.end_of_turn(Permission::Allow)?;
        ensure!(turn.outcome == "completed", "{turn:?}");
        ensure!(fresh.prompts() == [slash.command], "it was sent {:?}", fresh.prompts());
        match slash.runs {
            SlashEffect::AndAnswers(words) => turn.completed_with(words),
            SlashEffect::AndTellsModel(words) => {
                let told = self.lab.model.seen().iter().any(|seen| seen.words.contains(words));
                ensure!(told, "the command was not run: {turn:?}");
                Ok(())
            }
        }
    }

    /// The agent loads a skill that `throughline skill install` wrote.
    pub(super) fn loads_skill(&mut self) -> anyhow::Result<()> {
        if let Some(failure) = &self.skills_failure {
            bail!("{failure}");
        }
        let before = self.lab.model.seen().len();
        let turn = self.session()?.turn("please load the skill", Permission::Allow)?;
        ensure!(turn.outcome == "completed", "{turn:?}");
        // As a tool's result, or as a message of its own.
        let is_told = self.lab.model.seen()[before..].iter().any(|seen| seen.body.contains(SKILL_HEADING));
        ensure!(is_told, "the model was not told what the skill says: {turn:?}");
        Ok(())
    }
}

fn value_of(choice: &Value) -> Option<&str> {
    choice["value"].as_str()
}
