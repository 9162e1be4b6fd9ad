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
    /// A command that it has, as a next block sends it.
    pub(super) slash: Slash,
    /// It takes MCP servers that are started as programs.
    pub(super) takes_stdio_tools: bool,
    /// What does not work with it, whatever a server does.
    pub(super) own_limits: &'static [OwnLimit],
}

/// A slash command, and what shows that the agent ran it and did not take it for words.
#[derive(Clone, Copy)]
pub(super) struct Slash {
    pub(super) command: &'static str,
    pub(super) runs: Runs,
}

#[derive(Clone, Copy)]
pub(super) enum Runs {
    /// By itself: its answer holds this.
    AndAnswers(&'static str),
    /// By telling its model this.
    AndTellsModel(&'static str),
}

/// A check that fails in a known way by the agent's own doing.
pub(super) struct OwnLimit {
    pub(super) check: &'static str,
    /// What the failure says; another one is a failure all the same.
    pub(super) says: &'static str,
    pub(super) reason: &'static str,
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
    Gemini,
    Qwen,
    Kimi,
    Copilot,
}

/// The first heading of the skill `throughline`, which comes with the program and is installed for every agent.
pub(super) const SKILL_HEADING: &str = "Blocks that Throughline draws";
const SKILL_COMMAND: Slash = Slash { command: "/throughline", runs: Runs::AndTellsModel(SKILL_HEADING) };

/// The agents ask for Node 22 or newer; what is on the machine may be older.
pub(super) const NODE: Package = Package { name: "node", version: "24.21.0" };

pub(super) const AGENTS: [Agent; 7] = [
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
        // Its skills are no slash commands: they are called with a dollar sign.
        slash: Slash { command: "/status", runs: Runs::AndAnswers("scripted") },
        takes_stdio_tools: true,
        own_limits: &[],
    },
    Agent {
        name: "opencode",
        packages: &[Package { name: "opencode-ai", version: "1.18.33" }],
        program: "opencode",
        args: &["acp"],
        settings: Settings::Opencode,
        set_by_server: &[("OPENCODE_DISABLE_AUTOUPDATE", "1")],
        slash: SKILL_COMMAND,
        takes_stdio_tools: true,
        own_limits: &[],
    },
    Agent {
        name: "claude",
        packages: &[Package { name: "@agentclientprotocol/claude-agent-acp", version: "0.99.0" }],
        program: "claude-agent-acp",
        args: &[],
        settings: Settings::Claude,
        // Without the second, tools of MCP servers are hidden behind a search.
        set_by_server: &[("DISABLE_AUTOUPDATER", "1"), ("ENABLE_TOOL_SEARCH", "false")],
        slash: SKILL_COMMAND,
        takes_stdio_tools: true,
        own_limits: &[],
    },
    Agent {
        name: "gemini",
        packages: &[Package { name: "@google/gemini-cli", version: "0.61.0" }],
        program: "gemini",
        args: &["--acp"],
        settings: Settings::Gemini,
        set_by_server: &[],
        // Over ACP it has no command for a skill, nor any of the person's own.
        slash: Slash { command: "/about", runs: Runs::AndAnswers("0.61.0") },
        takes_stdio_tools: true,
        own_limits: &[OwnLimit {
            check: "question",
            says: "what the command printed is not told",
            reason: "all of it but the output: over ACP it ends a shell command with `content: []`, whatever was printed",
        }],
    },
    Agent {
        name: "qwen",
        packages: &[Package { name: "@qwen-code/qwen-code", version: "0.24.4" }],
        program: "qwen",
        args: &["--acp"],
        settings: Settings::Qwen,
        set_by_server: &[],
        slash: SKILL_COMMAND,
        takes_stdio_tools: true,
        own_limits: &[],
    },
    Agent {
        name: "kimi",
        packages: &[Package { name: "@moonshot-ai/kimi-code", version: "2.1.0" }],
        program: "kimi",
        args: &["acp"],
        settings: Settings::Kimi,
        set_by_server: &[("KIMI_CODE_NO_AUTO_UPDATE", "1")],
        slash: Slash { command: "/skill:throughline", ..SKILL_COMMAND },
        takes_stdio_tools: true,
        own_limits: &[],
    },
    Agent {
        name: "copilot",
        packages: &[Package { name: "@github/copilot", version: "1.0.102" }],
        program: "copilot",
        args: &["--acp"],
        settings: Settings::Copilot,
        set_by_server: &[("COPILOT_AUTO_UPDATE", "false")],
        slash: SKILL_COMMAND,
        // "Rejecting non-http/sse MCP server", says its log.
        takes_stdio_tools: false,
        own_limits: &[OwnLimit {
            check: "modes and models",
            says: "it tells no models",
            reason: "modes are told and chosen; with a model of one's own, as the lab's, it tells no models",
        }],
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

    #[test]
    fn every_limit_is_of_a_check() {
        let names: Vec<_> = super::super::drive::CHECKS.iter().map(|check| check.name).collect();
        for limit in AGENTS.iter().flat_map(|agent| agent.own_limits) {
            assert!(names.contains(&limit.check), "{}", limit.check);
        }
    }
}
