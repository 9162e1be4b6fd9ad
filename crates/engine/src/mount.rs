//! The MCP mount as agents are handed it: our own address, a credential of their own, and the brief.
//!
//! Invariant: nothing is lent before the address is known, so a session whose server listens nowhere has no mount and is
//! told of none. A name is given to the mount here and can be taken by no other.

use agents::{Lent, McpServer, OWN_MCP_SERVER, OWN_TOOLS};
use model::SessionId;

use crate::tokens::Loan;
use crate::{OwnToolCheck, Shared};

/// Where agents reach the mount, and what its tools take.
#[derive(Debug)]
pub(crate) struct Mount {
    pub(crate) url: String,
    pub(crate) takes: OwnToolCheck,
}

impl Shared {
    /// What a session's agent is lent from now on, while the loan is held.
    pub(crate) fn lend(&self, session: SessionId) -> Option<(Lent, Loan)> {
        let url = self.mount.get()?.url.clone();
        let (secret, loan) = self.lend_token(session);
        let authorization = ("Authorization".to_owned(), format!("Bearer {}", secret.expose()));
        let server = McpServer::Http { name: OWN_MCP_SERVER.to_owned(), url, headers: vec![authorization] };
        let brief = self.agency.brief.clone();
        Some((Lent { server, unasked: OWN_TOOLS.map(str::to_owned).to_vec(), brief }, loan))
    }
}
