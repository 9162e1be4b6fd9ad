//! The checks that outlast an agent's process: a kill, another agent, a restart, a conversation held elsewhere.

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::super::client::{Cancel, Client, Permission};
use super::checks::GREETING;
use super::{Drive, STOP_LIMIT, leftovers};

const FIND_LIMIT: Duration = Duration::from_secs(30);
const IMPORT_LIMIT: Duration = Duration::from_secs(60);
const BARE_LIMIT: Duration = Duration::from_secs(120);
/// The prompt that is sent without the server.
const OUTSIDE: &str = "hello papaya";

impl Drive {
    /// SIGKILL in the middle of a turn leaves no process; the next server records how the turn ended, and the agent
    /// knows what was said, marked and done.
    pub(super) fn outlives_a_kill(&mut self) -> anyhow::Result<()> {
        let session = self.session()?;
        let context = session.context()?;
        session.send("please wait for the end")?;
        session.wait_for_words()?;
        let server = self.server.take().context("no server runs")?;
        let own = format!("{} ", server.pid());
        let others = leftovers::processes_of(&self.lab.folder)?;
        let count = others.iter().filter(|process| !process.starts_with(&own)).count();
        server.kill()?;
        ensure!(count > 0, "no process of the agent is seen, so none would be missed");
        leftovers::wait_until_gone(&self.lab.folder, STOP_LIMIT)?;

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
        let told = self.lab.model.asked("and once more")?.body;
        let mut parts = vec![GREETING, "[Session resumed."];
        if context["context"].to_string().contains("marked.md") {
            parts.push("marked.md");
        }
        if context["facts"].to_string().contains("touch allowed.txt") {
            parts.push("touch allowed.txt && expr");
        }
        for part in parts {
            ensure!(told.contains(part), "the model's request does not hold {part:?}");
        }
        Ok(())
    }

    /// The session is handed to the guide, and back with what was said there.
    pub(super) fn is_handed_over_and_back(&mut self) -> anyhow::Result<()> {
        let agent = self.agent.name;
        let session = self.session()?;
        let before = session.prompts().last().cloned().unwrap_or_default();
        session.hand_over("guide")?;
        session.wait_until_ready()?;
        let turn = session.turn("hello tangerine", Permission::Allow)?;
        ensure!(turn.outcome == "completed" && !turn.text.is_empty(), "the guide: {turn:?}");
        session.hand_over(agent)?;
        session.wait_until_ready()?;
        let turn = session.turn("and back again", Permission::Allow)?;
        turn.completed_with("You said: and back again")?;
        let told = self.lab.model.asked("and back again")?.body;
        for part in ["hello tangerine", &before] {
            ensure!(told.contains(part), "the model's request does not hold {part:?}");
        }
        Ok(())
    }

    /// The session is found by a word of its first prompt after the server was restarted.
    pub(super) fn is_found_again(&mut self) -> anyhow::Result<()> {
        self.session()?;
        self.stop_server()?;
        let session = self.session()?.id().to_owned();
        let found = self.sessions_with("marmalade")?;
        ensure!(found == [session], "the search for a word of its first prompt gives {found:?}");
        Ok(())
    }

    /// A conversation that the agent held without the server is imported, and hosted ones are not imported again.
    pub(super) fn history_is_imported(&mut self) -> anyhow::Result<()> {
        self.session()?;
        self.talk_outside()?;
        let name = self.agent.name;
        let sessions =
            |api: &mut super::Api| Ok::<_, anyhow::Error>(count(&api.get("/sessions?limit=200")?["sessions"]));
        let before = sessions(&mut self.api()?)?;
        self.api()?.post("/imports", &json!({ "tools": [name] }))?;
        let progress = self.poll("the import does not end", IMPORT_LIMIT, |api| {
            let progress = api.get("/imports")?["progress"].take();
            Ok(if progress["running"] == false { Ok(progress) } else { Err(progress) })
        })?;
        let after = sessions(&mut self.api()?)?;
        let is_one = progress["added"] == 1 && after == before + 1;
        ensure!(is_one, "one conversation was held outside; {before} sessions became {after}: {progress}");
        ensure!(progress["failed"] == 0, "{progress}");
        let found = self.sessions_with("papaya")?;
        let [imported] = &found[..] else { bail!("the search for what was said outside gives {found:?}") };
        let turn = self.api()?.get(&format!("/sessions/{imported}/turns/1"))?;
        let answer = turn["interaction"]["response"].to_string();
        ensure!(answer.contains(&format!("You said: {OUTSIDE}")), "the imported turn: {turn}");
        ensure!(turn["interaction"]["prompt"] == OUTSIDE, "the imported prompt: {turn}");
        Ok(())
    }

    /// Two turns with a bare client: the second shows that the first has ended.
    fn talk_outside(&self) -> anyhow::Result<()> {
        let mut command = Command::new(self.agent.program_in(&self.lab.tools));
        let errors = fs::File::create(self.lab.folder.join("outside.stderr.txt")).context("could not make a file")?;
        command
            .args(self.agent.args)
            .current_dir(&self.home.work)
            .env_clear()
            .envs(&self.home.environment)
            .envs(self.agent.set_by_server.iter().copied())
            .stderr(errors);
        let mut client = Client::start(command)?;
        let mut ask = |method: &str, params: &Value| {
            let answer = client.ask(method, params, Permission::Allow, Cancel::Never, BARE_LIMIT)?;
            answer.map_err(|error| anyhow::anyhow!("outside, {method} was refused: {error}"))
        };
        ask(
            "initialize",
            &json!({
                "protocolVersion": 1,
                "clientCapabilities": { "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false },
            }),
        )?;
        let session = ask("session/new", &json!({ "cwd": self.home.work, "mcpServers": [] }))?["sessionId"].clone();
        for words in [OUTSIDE, "and goodbye"] {
            ask("session/prompt", &json!({ "sessionId": session, "prompt": [{ "type": "text", "text": words }] }))?;
        }
        client.stop()
    }

    /// The sessions whose turns hold this word; the index may lag a moment.
    fn sessions_with(&self, word: &str) -> anyhow::Result<Vec<String>> {
        self.poll(&format!("nothing is found for {word}"), FIND_LIMIT, |api| {
            let answer = api.get(&format!("/search?q={word}&limit=50"))?;
            let results = answer["results"].as_array().into_iter().flatten();
            let mut ids: Vec<_> = results.filter_map(|turn| turn["session_id"].as_str().map(str::to_owned)).collect();
            ids.sort();
            ids.dedup();
            Ok(if ids.is_empty() { Err(answer) } else { Ok(ids) })
        })
    }
}

fn count(list: &Value) -> usize {
    list.as_array().map_or(0, Vec::len)
}
