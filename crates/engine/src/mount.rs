//! Hands an agent the MCP mount: our own address, a credential of its own, and the brief.
//!
//! Invariant: nothing is lent before the address is known, so the agents of a server that listens nowhere have no mount. The
//! name of the mount is fixed here, and no other MCP server can take it.

use agents::{Lent, McpServer, OWN_MCP_SERVER};
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
    /// The names of those that agents may call without asking anybody.
    pub unasked: Vec<String>,
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
    pub(crate) fn lend(&self, session: SessionId) -> Option<(Lent, Loan)> {
        let url = self.mount_url.get()?.clone();
        let (secret, loan) = self.lend_token(session);
        let authorization = ("Authorization".to_owned(), format!("Bearer {}", secret.expose()));
        let server = McpServer::Http { name: OWN_MCP_SERVER.to_owned(), url, headers: vec![authorization] };
        let (unasked, brief) = (self.agency.own_tools.unasked.clone(), self.agency.brief.clone());
        Some((Lent { server, unasked, brief }, loan))
    }
}
