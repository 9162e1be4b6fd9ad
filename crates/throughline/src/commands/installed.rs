//! Whether an agent can be had, asked before a session is given to it.
//!
//! Invariant: it changes nothing; a name that nobody knows is left to the server, which says which there are.

use anyhow::{Result, bail};
use server::wire::AgentPage;

use crate::client::Client;

/// Is part of this program. Asking would have every other program say its version.
const BUILT_IN: &str = "guide";

/// Refuses an agent whose program is not on this machine, and says how to get it.
pub(super) async fn check(client: &Client, agent: &str) -> Result<()> {
    if agent == BUILT_IN {
        return Ok(());
    }
    let page: AgentPage = client.get("/agents").await?;
    let Some(missing) = page.agents.into_iter().find(|known| known.name == agent && !known.installed) else {
        return Ok(());
    };
    let how = missing.install.unwrap_or_else(|| format!("Its program is the `command` of [agents.{agent}]."));
    bail!("{agent} is not installed here, and nothing was changed. {how}")
}
