//! Lists the conversations that an agent itself keeps, and which of them are sessions here.

use std::collections::HashMap;

use agents::{Record, Records, RecordsError, RecordsWish};
use model::SessionId;

use crate::{Agency, Engine, ReadError};

/// A page of what an agent keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSessions {
    /// In the agent's own order.
    pub sessions: Vec<AgentSession>,
    /// The agent's own word for where the next page begins.
    pub next_cursor: Option<String>,
}

/// A conversation that an agent keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSession {
    /// As the agent lists it.
    pub record: Record,
    /// The session here whose conversation it is, deleted or not.
    pub session: Option<SessionId>,
}

/// Why it is not known what an agent keeps.
#[derive(Debug, thiserror::Error)]
pub enum AgentSessionsError {
    /// The catalog has no such agent.
    #[error("there is no agent named {name}; there are: {known}")]
    UnknownAgent {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// Its program was not found.
    #[error("this agent is not installed. {}", install.as_deref().unwrap_or("Its program is not on the PATH of the server."))]
    NotInstalled {
        /// How it is installed, in a sentence.
        install: Option<String>,
    },
    /// It does not list them.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl Engine {
    /// Asks an agent which conversations it keeps; it is started for that if it is not there.
    pub async fn agent_sessions(&self, name: &str, wish: RecordsWish) -> Result<AgentSessions, AgentSessionsError> {
        let Agency { agents, catalog, .. } = &self.shared.agency;
        let Some(entry) = catalog.find_entry(name) else {
            return Err(AgentSessionsError::UnknownAgent { name: name.to_owned(), known: self.known_agents() });
        };
        if !catalog.is_installed(entry, agents.path().await).await {
            return Err(AgentSessionsError::NotInstalled { install: entry.install.clone() });
        }
        let Records { records, next_cursor } = agents.records(name, wish).await?;
        let ids = records.iter().map(|record| record.id.clone()).collect();
        let ours: HashMap<_, _> = self.shared.store.attached(name, ids).await?.into_iter().collect();
        let sessions =
            records.into_iter().map(|record| AgentSession { session: ours.get(&record.id).copied(), record });
        Ok(AgentSessions { sessions: sessions.collect(), next_cursor })
    }
}
