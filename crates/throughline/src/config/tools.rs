//! The part of `config.toml` about the tools that agents get for their sessions.

use engine::AgentSwitch;
use serde::{Deserialize, Serialize};

use super::Config;
use super::agents::AgentSection;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ToolsSection {
    /// Whether the tools reach sessions of every project, not only of the agent's own.
    pub(crate) all_sessions: bool,
    /// Whether agents get the tools that show something.
    pub(crate) show: bool,
}

impl Default for ToolsSection {
    fn default() -> Self {
        Self { all_sessions: false, show: true }
    }
}

impl Config {
    /// Which agents' tools reach sessions of other projects.
    pub(crate) fn all_sessions(&self) -> AgentSwitch {
        self.agent_switch(self.tools.all_sessions, |section| section.all_sessions)
    }

    /// Which agents get the tools that show something.
    pub(crate) fn show_tools(&self) -> AgentSwitch {
        self.agent_switch(self.tools.show, |section| section.show)
    }

    /// An agent's own setting comes before the general one.
    fn agent_switch(&self, by_default: bool, own: impl Fn(&AgentSection) -> Option<bool>) -> AgentSwitch {
        let by_agent = self.agents.iter().filter_map(|(name, section)| Some((name.clone(), own(section)?)));
        AgentSwitch { by_default, by_agent: by_agent.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_stay_in_the_project_by_default() {
        assert_eq!(Config::parse("").unwrap().all_sessions(), AgentSwitch::default());
        let text = "[tools]\nall_sessions = true\n[agents.codex]\nall_sessions = false\n[agents.claude]\nshared = true";
        let by_agent = [("codex".to_owned(), false)].into();
        assert_eq!(Config::parse(text).unwrap().all_sessions(), AgentSwitch { by_default: true, by_agent });
    }

    #[test]
    fn every_agent_may_show_unless_it_is_said_otherwise() {
        assert_eq!(Config::parse("").unwrap().show_tools(), AgentSwitch::on());
        let text = "[tools]\nshow = false\n[agents.codex]\nshow = true";
        let by_agent = [("codex".to_owned(), true)].into();
        assert_eq!(Config::parse(text).unwrap().show_tools(), AgentSwitch { by_default: false, by_agent });
    }

    #[test]
    fn a_misspelt_switch_is_refused() {
        let err = Config::parse("[tools]\nall_session = true").unwrap_err();
        assert!(err.to_string().contains("no key tools.all_session; did you mean tools.all_sessions?"), "{err:#}");
        let err = Config::parse("[tools]\nall_sessions = \"yes\"").unwrap_err();
        assert!(format!("{err:#}").contains("line 2, tools.all_sessions: expected true or false"), "{err:#}");
    }
}
