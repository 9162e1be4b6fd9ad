//! Checks that an agent is installed before a session is given to it.
//!
//! Invariant: it changes nothing. An unknown name is left to the server, which says which agents there are.

use anyhow::{Result, bail};
use server::wire::AgentPage;

use crate::client::Client;

/// Part of this program. Asking the server would run every other agent's program for its version.
const BUILT_IN: &str = "guide";

/// Refuses an agent whose program is not on this machine, and says how to install it.
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
