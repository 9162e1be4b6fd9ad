//! `cargo xtask agents --record`: runs the agents with a bare client and stores the wire traffic in `fixtures/acp/`,
//! for the tests of the translation.
//!
//! Invariant: a fixture names no folder, home or key of the machine that made it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::Lab;
use super::catalog::Agent;
use super::client::{Cancel, Client, Permission};
use super::home::Home;
use super::notes;
use super::scrub;

const LIMIT: Duration = Duration::from_secs(90);

pub(super) fn record(agent: &Agent, lab: &Lab, fixtures: &Path) -> anyhow::Result<()> {
    let home = Home::make(agent, &lab.tools, &lab.folder, lab.model.address)?;
    let wire = lab.folder.join("wire.jsonl");
    let mut recording = Recording { agent, lab, home: &home, wire: &wire };
    recording.all()?;
    let raw = fs::read_to_string(&wire).with_context(|| format!("could not read {}", wire.display()))?;
    let text = scrub::fixture(&raw, &lab.folder)?;
    let path = fixtures.join(format!("{}.jsonl", agent.name));
    fs::write(&path, &text).with_context(|| format!("could not write {}", path.display()))?;
    println!("{}: {} lines, {} kB", path.display(), text.lines().count(), text.len() / 1000);
    Ok(())
}

struct Recording<'a> {
    agent: &'a Agent,
    lab: &'a Lab,
    home: &'a Home,
    wire: &'a Path,
}

impl Recording<'_> {
    /// Runs the agent three times: with a new session, with the same one loaded, and with the same one resumed.
    fn all(&mut self) -> anyhow::Result<()> {
        let (mut client, capabilities) = self.start()?;
        let place = json!({ "cwd": self.home.work, "mcpServers": self.mcp_servers()? });
        let session = answer("session/new", ask(&mut client, "session/new", &place)?)?;
        let id = session["sessionId"].as_str().context("session/new gave no session")?.to_owned();
        prompt(&mut client, &id, "please lookup kumquat", Permission::Allow, Cancel::Never)?;
        prompt(&mut client, &id, "please run allowed.txt", Permission::Allow, Cancel::Never)?;
        prompt(&mut client, &id, "please run refused.txt", Permission::Reject, Cancel::Never)?;
        prompt(&mut client, &id, "please write written.txt", Permission::Allow, Cancel::Never)?;
        prompt(&mut client, &id, "please plan dinner", Permission::Allow, Cancel::Never)?;
        prompt(&mut client, &id, "please think about rivers", Permission::Allow, Cancel::Never)?;
        prompt(&mut client, &id, "please wait here", Permission::Allow, Cancel::AtFirstText)?;
        if !capabilities["sessionCapabilities"]["list"].is_null() {
            answer("session/list", ask(&mut client, "session/list", &json!({ "cwd": self.home.work }))?)?;
        }
        client.stop()?;
        ensure!(self.home.work.join("allowed.txt").exists(), "the allowed command did not run");
        ensure!(!self.home.work.join("refused.txt").exists(), "the refused command did run");

        let mut again = place;
        again["sessionId"] = json!(id);
        if capabilities["loadSession"] == true {
            self.go_on("session/load", &again, "hello again")?;
        }
        if !capabilities["sessionCapabilities"]["resume"].is_null() {
            self.go_on("session/resume", &again, "and once more")?;
        }
        Ok(())
    }

    fn go_on(&mut self, method: &str, params: &Value, words: &str) -> anyhow::Result<()> {
        let (mut client, _) = self.start()?;
        answer(method, ask(&mut client, method, params)?)?;
        let id = params["sessionId"].as_str().expect("it was put there");
        prompt(&mut client, id, words, Permission::Allow, Cancel::Never)?;
        client.stop()
    }

    fn start(&self) -> anyhow::Result<(Client, Value)> {
        println!("{}: starting", self.agent.name);
        let mut command = Command::new(std::env::current_exe().context("could not find this program")?);
        command
            .arg("tee")
            .arg(self.wire)
            .arg("--")
            .arg(self.agent.program_in(&self.lab.tools))
            .args(self.agent.args)
            .current_dir(&self.home.work)
            .env_clear()
            .envs(&self.home.environment)
            .envs(self.agent.set_by_server.iter().copied())
            .stderr(fs::File::options().create(true).append(true).open(self.lab.folder.join("stderr.txt"))?);
        let mut client = Client::start(command)?;
        let params = json!({
            "protocolVersion": 1,
            "clientCapabilities": { "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false },
            "clientInfo": { "name": "throughline", "version": env!("CARGO_PKG_VERSION") },
        });
        let answer = answer("initialize", ask(&mut client, "initialize", &params)?)?;
        Ok((client, answer["agentCapabilities"].clone()))
    }

    fn mcp_servers(&self) -> anyhow::Result<Value> {
        let own = std::env::current_exe().context("could not find this program")?;
        Ok(json!([
            {
                "type": "http", "name": "notes", "url": format!("http://{}/mcp", self.lab.notes.address),
                "headers": [{ "name": "Authorization", "value": format!("Bearer {}", notes::TOKEN) }],
            },
            { "name": "stdionotes", "command": own, "args": ["notes"], "env": [] },
        ]))
    }
}

fn ask(client: &mut Client, method: &str, params: &Value) -> anyhow::Result<Result<Value, Value>> {
    client.ask(method, params, Permission::Allow, Cancel::Never, LIMIT)
}

fn prompt(
    client: &mut Client,
    session: &str,
    words: &str,
    permission: Permission,
    cancel: Cancel,
) -> anyhow::Result<()> {
    let params = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": words }] });
    let result = answer(words, client.ask("session/prompt", &params, permission, cancel, LIMIT)?)?;
    println!("  {words}: {}", result["stopReason"]);
    Ok(())
}

fn answer(what: &str, result: Result<Value, Value>) -> anyhow::Result<Value> {
    match result {
        Ok(value) => Ok(value),
        Err(error) => bail!("the agent refused {what}: {error}"),
    }
}
