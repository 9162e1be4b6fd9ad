//! The part of `config.toml` about the tools that agents get for their sessions.

use serde::{Deserialize, Serialize};
use server::AllSessions;

use super::Config;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ToolsSection {
    /// Whether the tools reach sessions of every project, not only of the agent's own.
    pub(crate) all_sessions: bool,
}

impl Config {
    /// Which agents' tools reach sessions of other projects: an agent's own setting comes before the general one.
    pub(crate) fn all_sessions(&self) -> AllSessions {
        let by_agent = self.agents.iter().filter_map(|(name, section)| Some((name.clone(), section.all_sessions?)));
        AllSessions { by_default: self.tools.all_sessions, by_agent: by_agent.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_stay_in_the_project_by_default() {
        assert_eq!(Config::parse("").unwrap().all_sessions(), AllSessions::default());
        let text = "[tools]\nall_sessions = true\n[agents.codex]\nall_sessions = false\n[agents.claude]\nshared = true";
        let by_agent = [("codex".to_owned(), false)].into();
        assert_eq!(Config::parse(text).unwrap().all_sessions(), AllSessions { by_default: true, by_agent });
    }

    #[test]
    fn a_misspelt_switch_is_refused() {
        let err = Config::parse("[tools]\nall_session = true").unwrap_err();
        assert!(err.to_string().contains("no key tools.all_session; did you mean tools.all_sessions?"), "{err:#}");
        let err = Config::parse("[tools]\nall_sessions = \"yes\"").unwrap_err();
        assert!(format!("{err:#}").contains("line 2, tools.all_sessions: expected true or false"), "{err:#}");
    }
}
