//! Which agents are driven, in which versions: the one table of pins.
//!
//! Invariant: every version is exact. With a range npm takes what suits the Node that runs it, silently and old.

use std::path::{Path, PathBuf};

pub(super) struct Agent {
    pub(super) name: &'static str,
    /// The agent itself first, then what it would otherwise choose by itself.
    pub(super) packages: &'static [Package],
    pub(super) program: &'static str,
    pub(super) args: &'static [&'static str],
    pub(super) settings: Settings,
    /// What the server's own catalog sets for it. A bare client sets it too; a drive leaves it to the server.
    pub(super) set_by_server: &'static [(&'static str, &'static str)],
}

#[derive(Clone, Copy)]
pub(super) struct Package {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
}

/// Whose way of being configured it follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settings {
    Codex,
    Opencode,
    Claude,
}

/// The agents ask for Node 22 or newer; what is on the machine may be older.
pub(super) const NODE: Package = Package { name: "node", version: "24.21.0" };

pub(super) const AGENTS: [Agent; 3] = [
    Agent {
        name: "codex",
        packages: &[
            Package { name: "@agentclientprotocol/codex-acp", version: "2.6.0" },
            Package { name: "@openai/codex", version: "0.166.0" },
        ],
        program: "codex-acp",
        args: &[],
        settings: Settings::Codex,
        // In the mode that it would choose a model reviews what it wants to do, and the person is not asked.
        set_by_server: &[("INITIAL_AGENT_MODE", "workspace-write")],
    },
    Agent {
        name: "opencode",
        packages: &[Package { name: "opencode-ai", version: "1.18.33" }],
        program: "opencode",
        args: &["acp"],
        settings: Settings::Opencode,
        set_by_server: &[("OPENCODE_DISABLE_AUTOUPDATE", "1")],
    },
    Agent {
        name: "claude",
        packages: &[Package { name: "@agentclientprotocol/claude-agent-acp", version: "0.99.0" }],
        program: "claude-agent-acp",
        args: &[],
        settings: Settings::Claude,
        // Without the second, tools of MCP servers are hidden behind a search.
        set_by_server: &[("DISABLE_AUTOUPDATER", "1"), ("ENABLE_TOOL_SEARCH", "false")],
    },
];

pub(super) fn find(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.name == name)
}

impl Agent {
    /// What the table calls its version.
    pub(super) fn versions(&self) -> String {
        self.packages.iter().map(|package| package.spec()).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn program_in(&self, agents: &Path) -> PathBuf {
        programs_of(agents, self.name).join(self.program)
    }
}

impl Package {
    /// As npm is asked for it.
    pub(super) fn spec(self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

/// Where npm puts the programs of what was installed in a folder of this name.
pub(super) fn programs_of(agents: &Path, name: &str) -> PathBuf {
    agents.join(name).join("node_modules").join(".bin")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_is_exact() {
        for package in AGENTS.iter().flat_map(|agent| agent.packages).chain([&NODE]) {
            let numbers: Vec<_> = package.version.split('.').collect();
            assert_eq!(numbers.len(), 3, "{}", package.spec());
            assert!(numbers.iter().all(|number| number.parse::<u32>().is_ok()), "{}", package.spec());
        }
    }
}
