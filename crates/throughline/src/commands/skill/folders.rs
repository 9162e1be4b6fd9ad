//! The folders in which agents look for skills, as their own manuals say.
//!
//! Invariant: a folder is listed once, with all requested agents that read it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::cli::SkillAgent;

/// A folder for skills, and the agents that read it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SkillFolder {
    pub(super) folder: PathBuf,
    pub(super) agents: Vec<&'static str>,
}

/// Where the folders are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Base<'a> {
    Project(&'a Path),
    Home {
        home: &'a Path,
        /// `CLAUDE_CONFIG_DIR`: Claude Code's folder is there instead.
        claude: Option<&'a Path>,
    },
}

/// The default agents: two folders that all of these read.
const DEFAULT_AGENTS: [SkillAgent; 7] = [
    SkillAgent::Claude,
    SkillAgent::Codex,
    SkillAgent::Copilot,
    SkillAgent::Gemini,
    SkillAgent::Goose,
    SkillAgent::Kimi,
    SkillAgent::Opencode,
];

pub(super) fn skill_folders(base: Base<'_>, agents: &[SkillAgent]) -> Vec<SkillFolder> {
    let agents = if agents.is_empty() { &DEFAULT_AGENTS } else { agents };
    let mut skill_folders: Vec<SkillFolder> = Vec::new();
    for agent in agents {
        let folder = folder(base, *agent);
        let name = name(*agent);
        match skill_folders.iter_mut().find(|place| place.folder == folder) {
            Some(place) if place.agents.contains(&name) => (),
            Some(place) => place.agents.push(name),
            None => skill_folders.push(SkillFolder { folder, agents: vec![name] }),
        }
    }
    skill_folders
}

fn folder(base: Base<'_>, agent: SkillAgent) -> PathBuf {
    let own = match agent {
        SkillAgent::Claude => ".claude",
        SkillAgent::Codex
        | SkillAgent::Copilot
        | SkillAgent::Gemini
        | SkillAgent::Goose
        | SkillAgent::Kimi
        | SkillAgent::Opencode => ".agents",
        SkillAgent::Qwen => ".qwen",
    };
    let own = match (base, agent) {
        (Base::Home { claude: Some(claude), .. }, SkillAgent::Claude) => claude.to_owned(),
        (Base::Home { home, .. }, _) => home.join(own),
        (Base::Project(project), _) => project.join(own),
    };
    own.join("skills")
}

fn name(agent: SkillAgent) -> &'static str {
    match agent {
        SkillAgent::Claude => "claude",
        SkillAgent::Codex => "codex",
        SkillAgent::Copilot => "copilot",
        SkillAgent::Gemini => "gemini",
        SkillAgent::Goose => "goose",
        SkillAgent::Kimi => "kimi",
        SkillAgent::Opencode => "opencode",
        SkillAgent::Qwen => "qwen",
    }
}

/// The git repository of this directory, else the directory.
pub(super) fn project_here() -> Result<PathBuf> {
    let here = std::env::current_dir().context("this directory cannot be found")?;
    let root = here.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok());
    Ok(root.unwrap_or(&here).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(base: Base<'_>, agents: &[SkillAgent]) -> Vec<String> {
        let shown = |place: SkillFolder| format!("{}: {}", place.folder.display(), place.agents.join(" "));
        skill_folders(base, agents).into_iter().map(shown).collect()
    }

    #[test]
    fn agents_that_share_a_folder_are_told_together() {
        let home = Base::Home { home: Path::new("/h"), claude: None };
        let usual = ["/h/.claude/skills: claude", "/h/.agents/skills: codex copilot gemini goose kimi opencode"];
        assert_eq!(shown(home, &[]), usual);
        let twice = [SkillAgent::Goose, SkillAgent::Qwen, SkillAgent::Codex, SkillAgent::Goose];
        assert_eq!(shown(home, &twice), ["/h/.agents/skills: goose codex", "/h/.qwen/skills: qwen"]);
        assert_eq!(shown(Base::Project(Path::new("/p")), &[SkillAgent::Claude]), ["/p/.claude/skills: claude"]);
    }

    #[test]
    fn claude_may_keep_its_own_folder_elsewhere() {
        let home = Base::Home { home: Path::new("/h"), claude: Some(Path::new("/c")) };
        assert_eq!(
            shown(home, &[SkillAgent::Claude, SkillAgent::Codex]),
            ["/c/skills: claude", "/h/.agents/skills: codex"]
        );
    }
}
