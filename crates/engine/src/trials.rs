//! Tries an agent out for a person who wants to know whether it works.

use agents::Trial;

use crate::{Agency, Engine};

/// Why an agent was not tried.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
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
}

impl Engine {
    /// Starts an agent, begins a conversation with it and ends it; nothing of it is written into the log, and its process
    /// is gone when this returns.
    pub async fn try_agent(&self, name: &str) -> Result<Trial, TrialError> {
        let Agency { agents, catalog, .. } = &self.shared.agency;
        let Some(entry) = catalog.find_entry(name) else {
            return Err(TrialError::UnknownAgent { name: name.to_owned(), known: self.known_agents() });
        };
        if !catalog.is_installed(entry, agents.path().await).await {
            return Err(TrialError::NotInstalled { install: entry.install.clone() });
        }
        Ok(agents.try_out(name).await)
    }
}
