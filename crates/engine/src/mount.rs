//! The MCP mount as agents are handed it: our own address, a credential of their own, and the brief.
//!
//! Invariant: nothing is lent before the address is known, so a session whose server listens nowhere has no mount and is
//! told of none. A name is given to the mount here and can be taken by no other.

use agents::{Lent, McpServer, OWN_MCP_SERVER};
use model::SessionId;

use crate::Shared;
use crate::tokens::Loan;

/// The tools of the mount that only note and read: an agent that can be told so does not ask before it calls them.
pub const UNASKED_TOOLS: [&str; 11] = [
    "set_relevant_context",
    "get_relevant_context",
    "current_session",
    "session_toc",
    "session_title_history",
    "search_session",
    "search_all_sessions",
    "list_sessions",
    "get_turn",
    "get_turns",
    "get_interaction",
];

impl Shared {
    /// What a session's agent is lent from now on, while the loan is held.
    pub(crate) fn lend(&self, session: SessionId) -> Option<(Lent, Loan)> {
        let url = self.mount.get()?.clone();
        let (secret, loan) = self.lend_token(session);
        let authorization = ("Authorization".to_owned(), format!("Bearer {}", secret.expose()));
        let server = McpServer::Http { name: OWN_MCP_SERVER.to_owned(), url, headers: vec![authorization] };
        let brief = self.agency.brief.clone();
        Some((Lent { server, unasked: UNASKED_TOOLS.map(str::to_owned).to_vec(), brief }, loan))
    }
}
