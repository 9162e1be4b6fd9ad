//! What an agent says about itself in `initialize`, and what we say about ourselves.

use std::collections::BTreeMap;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, AuthCapabilities, AuthMethod, AuthMethodTerminal, BooleanConfigOptionCapabilities,
    ClientCapabilities, ClientSessionCapabilities, CompactionCapabilities, ElicitationCapabilities,
    ElicitationFormCapabilities, EnvVariable, FileSystemCapabilities, HttpHeader, Implementation, InitializeRequest,
    InitializeResponse, McpServer as AcpMcpServer, McpServerHttp, McpServerStdio, NoticeCapabilities,
    SessionConfigOptionsCapabilities,
};
use model::SignInMethod;

use super::connection::{Connection, RequestFailure};
use super::translate::{command_line, plain_line};
use crate::catalog::{CatalogEntry, Quirks};
use crate::{AgentLimits, McpServer};

/// Longest name of a program, in characters.
const MAX_NAME_CHARS: usize = 200;
/// Longest command line that is shown to a person to run, in characters.
const MAX_RUN_CHARS: usize = 2_000;

#[derive(Debug)]
pub(crate) struct AgentProfile {
    pub(super) capabilities: AgentCapabilities,
    /// The agent's own name with its version.
    pub(super) program: Option<String>,
    pub(super) sign_in: Vec<SignInMethod>,
    /// What the catalog knows about this agent beyond what it says itself.
    pub(super) quirks: Quirks,
    /// The mode that the configuration sets for it.
    pub(super) chosen_mode: Option<String>,
}

impl AgentProfile {
    /// Sends `initialize`, the first request on a connection, and reads the answer.
    pub(crate) async fn ask(
        connection: &Connection,
        limits: &AgentLimits,
        entry: &CatalogEntry,
    ) -> Result<Self, String> {
        match connection.ask(&initialize_request(&entry.quirks), limits.initialize).await {
            Ok(answer) => Self::read(answer, entry),
            Err(RequestFailure::Refused(refused)) => Err(format!("the agent refused to begin: {}", refused.message)),
            Err(RequestFailure::TooSlow) => {
                Err(format!("the agent did not say what it is within {} seconds", limits.initialize.as_secs_f32()))
            }
            Err(RequestFailure::Ended(why)) => Err(why),
            Err(RequestFailure::NotUnderstood) => {
                Err("the agent does not speak the Agent Client Protocol: its first answer is not understood".to_owned())
            }
        }
    }

    fn read(answer: InitializeResponse, entry: &CatalogEntry) -> Result<Self, String> {
        if answer.protocol_version != ProtocolVersion::V1 {
            let theirs = answer.protocol_version;
            return Err(format!("the agent speaks version {theirs} of its protocol, and only version 1 is known here"));
        }
        let program = answer.agent_info.map(|info| {
            let name = info.title.filter(|title| !title.trim().is_empty()).unwrap_or(info.name);
            plain_line(&format!("{name} {}", info.version), MAX_NAME_CHARS)
        });
        let sign_in = answer.auth_methods.into_iter().filter_map(|method| match method {
            AuthMethod::Agent(method) => {
                let id = method.id.0.to_string();
                Some(SignInMethod { id, name: method.name, description: method.description, run: None })
            }
            AuthMethod::Terminal(method) => terminal_sign_in(method, entry),
            _ => None,
        });
        Ok(Self {
            capabilities: answer.agent_capabilities,
            program,
            sign_in: sign_in.collect(),
            quirks: entry.quirks,
            chosen_mode: entry.chosen_mode.clone(),
        })
    }

    /// The MCP servers that this agent can use, in the protocol's form.
    pub(super) fn mcp_servers<'a>(&self, servers: impl Iterator<Item = &'a McpServer>) -> Vec<AcpMcpServer> {
        let servers = servers.filter_map(|server| match server {
            McpServer::Http { name, url, headers } if self.capabilities.mcp_capabilities.http => {
                let headers = headers.iter().map(|(name, value)| HttpHeader::new(name, value)).collect();
                Some(AcpMcpServer::Http(McpServerHttp::new(name, url).headers(headers)))
            }
            McpServer::Http { .. } => None,
            McpServer::Stdio { name, command, args, env } => {
                let env = env.iter().map(|(name, value)| EnvVariable::new(name, value)).collect();
                Some(AcpMcpServer::Stdio(McpServerStdio::new(name, command).args(args.clone()).env(env)))
            }
        });
        servers.collect()
    }
}

/// A sign-in method that needs a terminal with a person in front of it: the agent's own command with more arguments.
/// Variables that the configuration sets for the agent may be secret, so they are left out.
fn terminal_sign_in(method: AuthMethodTerminal, entry: &CatalogEntry) -> Option<SignInMethod> {
    let variables: BTreeMap<_, _> = method.env.into_iter().collect();
    let mut words: Vec<String> = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if !words.is_empty() {
        words.insert(0, "env".to_owned());
    }
    words.push(entry.command.clone());
    words.extend(entry.args.iter().chain(&method.args).cloned());
    let run = command_line(words.iter().map(String::as_str));
    // A command with invisible characters is not offered for copying.
    let is_seen = plain_line(&run, MAX_RUN_CHARS) == run;
    let id = method.id.0.to_string();
    is_seen.then_some(SignInMethod { id, name: method.name, description: method.description, run: Some(run) })
}

fn initialize_request(quirks: &Quirks) -> InitializeRequest {
    let files = !quirks.makes_its_own_files;
    let switches = SessionConfigOptionsCapabilities::new().boolean(BooleanConfigOptionCapabilities::new());
    let session = ClientSessionCapabilities::new()
        .compaction(CompactionCapabilities::new())
        .config_options(switches)
        .notices(NoticeCapabilities::new());
    let capabilities = ClientCapabilities::new()
        .fs(FileSystemCapabilities::new().read_text_file(files).write_text_file(files))
        .terminal(true)
        .auth(AuthCapabilities::new().terminal(true))
        .session(session)
        .elicitation(ElicitationCapabilities::new().form(ElicitationFormCapabilities::new()));
    let us = Implementation::new("throughline", env!("CARGO_PKG_VERSION")).title("Throughline".to_owned());
    InitializeRequest::new(ProtocolVersion::V1).client_capabilities(capabilities).client_info(us)
}
