//! Hands an agent the MCP mount: our own address, a credential of its own, and the brief.
//!
//! Invariant: nothing is lent before the address is known, so the agents of a server that listens nowhere have no mount. The
//! names of the mounts are fixed, and no other MCP server can take them.

use agents::{Lent, McpServer, OWN_MCP_SERVER, OWN_SHOW_SERVER, OwnTool};
use model::SessionId;
use serde_json::{Map, Value};

use crate::Shared;
use crate::tokens::Loan;

/// The instructions of the mount for an agent that is given the brief in another way.
pub(crate) const WHAT_THE_TOOLS_ARE_FOR: &str =
    "Marks what this session is about, and looks back into its earlier turns and into other sessions.";

/// The tools of the mount, as far as has to be known of them here. Whoever serves them says which they are.
#[derive(Debug, Clone)]
pub struct OwnTools {
    /// Those that agents may call without asking anybody.
    pub unasked: Vec<OwnTool>,
    /// Says whether a tool would take this input, by its own schema.
    pub takes: fn(tool: &str, input: &Map<String, Value>) -> bool,
    /// Names those that an earlier session is read with; empty if there are none.
    pub for_looking_back: String,
}

impl OwnTools {
    /// No tools, for an engine that nobody serves.
    pub fn none() -> Self {
        Self { unasked: Vec::new(), takes: |_, _| false, for_looking_back: String::new() }
    }
}

impl Shared {
    /// What a session's agent is lent from now on, while the loan is held.
    pub(crate) fn lend(&self, session: SessionId, agent: &str) -> Option<(Lent, Loan)> {
        let url = self.mount_url.get()?.clone();
        let (secret, loan) = self.lend_token(session);
        let authorization = ("Authorization".to_owned(), format!("Bearer {}", secret.expose()));
        let shows = self.agency.show_tools.is_on_for(agent);
        let show_server = shows.then(|| (OWN_SHOW_SERVER, format!("{url}/show")));
        let servers = std::iter::once((OWN_MCP_SERVER, url)).chain(show_server).map(|(name, url)| McpServer::Http {
            name: name.to_owned(),
            url,
            headers: vec![authorization.clone()],
        });
        let mut unasked = self.agency.own_tools.unasked.clone();
        unasked.retain(|tool| shows || tool.server != OWN_SHOW_SERVER);
        Some((Lent { servers: servers.collect(), unasked, brief: self.agency.brief.clone() }, loan))
    }
}
