//! The terminals of a session: commands that the agent has us run, in the session's directory and with the agent's
//! environment.
//!
//! Invariant: only the end of a command's output is kept, up to the limit; a command ends with its session at the
//! latest.

mod output;
mod run;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, KillTerminalResponse, ReleaseTerminalResponse, TerminalId, TerminalOutputResponse,
    WaitForTerminalExitResponse,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::translate::{TerminalOutput, TerminalOutputs, TerminalPart, command_run};
use crate::AgentSettings;
use output::Output;
use run::Run;

/// How many terminals a session may have, including released ones whose call has not ended yet.
const MAX_TERMINALS: usize = 64;

pub(super) struct Terminals {
    settings: Arc<AgentSettings>,
    env: BTreeMap<String, String>,
    cwd: PathBuf,
    next: u64,
    terminals: HashMap<String, Terminal>,
}

struct Terminal {
    command: String,
    output: Arc<Output>,
    kill: CancellationToken,
    /// The agent has released it; a tool call may still show it.
    is_released: bool,
}

impl Terminals {
    pub(super) fn new(settings: Arc<AgentSettings>, env: BTreeMap<String, String>, cwd: PathBuf) -> Self {
        Self { settings, env, cwd, next: 0, terminals: HashMap::new() }
    }

    /// Adds a terminal and returns its run, which has to be spawned.
    pub(super) fn create(&mut self, request: CreateTerminalRequest) -> Result<Run, Error> {
        if self.terminals.len() >= MAX_TERMINALS {
            return Err(Error::internal_error().data("too many terminals at a time: release some"));
        }
        self.next += 1;
        let id = format!("term-{}", self.next);
        let limit = self.settings.limits.terminal_bytes;
        let limit =
            request.output_byte_limit.map_or(limit, |wanted| limit.min(usize::try_from(wanted).unwrap_or(limit)));
        let output = Arc::new(Output::new(limit));
        let kill = CancellationToken::new();
        let args: Vec<&str> = request.args.iter().map(String::as_str).collect();
        let command = command_run(&request.command, &args);
        let terminal = Terminal { command, output: output.clone(), kill: kill.clone(), is_released: false };
        self.terminals.insert(id.clone(), terminal);
        Ok(Run::new(id, request, self.settings.clone(), &self.env, &self.cwd, output, kill))
    }

    pub(super) fn output(&self, id: &TerminalId) -> Result<Value, Error> {
        let output = &self.find(id)?.output;
        let (text, is_cut) = output.text();
        Ok(json!(TerminalOutputResponse::new(text, is_cut).exit_status(output.exit_status())))
    }

    /// Waits for the command's end.
    pub(super) fn wait(&self, id: &TerminalId) -> Result<impl Future<Output = Value> + Send + 'static, Error> {
        let output = self.find(id)?.output.clone();
        Ok(async move { json!(WaitForTerminalExitResponse::new(output.ended().await)) })
    }

    /// Kills the command; its output stays.
    pub(super) fn kill(&self, id: &TerminalId) -> Result<Value, Error> {
        self.find(id)?.kill.cancel();
        Ok(json!(KillTerminalResponse::new()))
    }

    /// Kills the command; the agent can not ask for the terminal again.
    pub(super) fn release(&mut self, id: &TerminalId) -> Result<Value, Error> {
        self.find(id)?.kill.cancel();
        if let Some(terminal) = self.terminals.get_mut(&*id.0) {
            terminal.is_released = true;
        }
        Ok(json!(ReleaseTerminalResponse::new()))
    }

    /// Removes released terminals, once no call shows them any more.
    pub(super) fn forget_released(&mut self) {
        self.terminals.retain(|_, terminal| !terminal.is_released);
    }

    fn find(&self, id: &TerminalId) -> Result<&Terminal, Error> {
        let found = self.terminals.get(&*id.0).filter(|terminal| !terminal.is_released);
        found.ok_or_else(|| Error::invalid_params().data("no such terminal"))
    }
}

impl TerminalOutputs for Terminals {
    fn find(&self, id: &str, look: TerminalPart) -> Option<TerminalOutput> {
        let terminal = self.terminals.get(id)?;
        let mut screen = TerminalOutput { command: terminal.command.clone(), ..TerminalOutput::default() };
        if look == TerminalPart::Whole {
            let exit_code = terminal.output.exit_status().and_then(|status| status.exit_code);
            screen.output = terminal.output.text().0;
            screen.exit_code = exit_code.and_then(|code| i32::try_from(code).ok());
        }
        Some(screen)
    }
}
