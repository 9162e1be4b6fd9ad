//! The agents that are tested and their pinned versions.
//!
//! Invariant: every version is exact. With a range npm silently takes an old version that suits the Node that runs
//! it.

use std::path::{Path, PathBuf};

pub(super) struct Agent {
    pub(super) name: &'static str,
    /// The agent itself first, then dependencies that it would otherwise choose by itself.
    pub(super) packages: &'static [Package],
    pub(super) program: &'static str,
    pub(super) args: &'static [&'static str],
    pub(super) settings: Settings,
    /// Variables that the server's own catalog sets for it. A bare client sets them too; a test with the server
    /// leaves them to the server.
    pub(super) set_by_server: &'static [(&'static str, &'static str)],
    /// A slash command that it has, which a next block sends.
    pub(super) slash: Slash,
    /// It supports MCP servers that are started as programs.
    pub(super) takes_stdio_tools: bool,
    /// What does not work with it, whatever a server does.
    pub(super) own_limits: &'static [OwnLimit],
}

/// A slash command, and how to see that the agent ran it instead of taking it for text.
#[derive(Clone, Copy)]
pub(super) struct Slash {
    pub(super) command: &'static str,
    pub(super) runs: SlashEffect,
}

#[derive(Clone, Copy)]
pub(super) enum SlashEffect {
    /// By itself: its answer holds this.
    AndAnswers(&'static str),
    /// By sending its model this.
    AndTellsModel(&'static str),
}

/// A check that fails in a known way because of the agent itself.
pub(super) struct OwnLimit {
    pub(super) check: &'static str,
    /// The text of the failure; any other failure counts.
    pub(super) says: &'static str,
    pub(super) reason: &'static str,
}

#[derive(Clone, Copy)]
pub(super) struct Package {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
}

/// Which agent's configuration format it uses.
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
const SKILL_COMMAND: Slash = Slash { command: "/throughline", runs: SlashEffect::AndTellsModel(SKILL_HEADING) };

/// The agents need Node 22 or newer; the machine's own may be older.
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
        // In its own default mode a model reviews what it wants to do, and the person is not asked.
        set_by_server: &[("INITIAL_AGENT_MODE", "workspace-write")],
        // Its skills are no slash commands: they are called with a dollar sign.
        slash: Slash { command: "/status", runs: SlashEffect::AndAnswers("scripted") },
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
        // Without the second, MCP tools are hidden behind a search.
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
        // Over ACP it has no command for a skill, nor the person's own commands.
        slash: Slash { command: "/about", runs: SlashEffect::AndAnswers("0.61.0") },
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
        // Its log says "Rejecting non-http/sse MCP server".
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
    /// The version in the table.
    pub(super) fn versions(&self) -> String {
        self.packages.iter().map(|package| package.spec()).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn program_in(&self, agents: &Path) -> PathBuf {
        programs_of(agents, self.name).join(self.program)
    }
}

impl Package {
    /// The package in npm's notation.
    pub(super) fn spec(self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

/// Where npm puts the programs of packages that were installed in a folder of this name.
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
