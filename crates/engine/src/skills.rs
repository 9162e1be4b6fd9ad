//! The skills that come with the program: how agents write the blocks that the page renders, and an example pipeline.
//!
//! Invariant: they are texts and nothing more. No part of the server acts on what they say; `skills/` holds them as any
//! agent's own folder would, and each file of it is here.

/// A folder that an agent can read, with `SKILL.md` first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skill {
    /// Also the name of its folder.
    pub name: &'static str,
    pub files: &'static [SkillFile],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkillFile {
    /// Below the skill's folder, with slashes.
    pub path: &'static str,
    pub text: &'static str,
}

/// The file that agents read first.
pub const SKILL_FILE: &str = "SKILL.md";

macro_rules! skill {
    ($name:literal: $($path:literal),+ $(,)?) => {
        Skill {
            name: $name,
            files: &[$(SkillFile {
                path: $path,
                text: include_str!(concat!("../../../skills/", $name, "/", $path)),
            }),+],
        }
    };
}

/// All of them, in the order in which they are listed.
pub const SKILLS: [Skill; 2] = [
    skill!(
        "throughline": "SKILL.md",
        "references/next.md",
        "references/usecase.md",
        "references/eventmodel.md",
        "references/tasks.md",
    ),
    skill!(
        "pipeline": "SKILL.md",
        "phases/research.md",
        "phases/requirements.md",
        "phases/architecture.md",
        "phases/plan.md",
        "phases/tasks.md",
        "phases/build.md",
    ),
];

impl Skill {
    pub fn find(name: &str) -> Option<Self> {
        SKILLS.into_iter().find(|skill| skill.name == name)
    }

    pub fn find_file(&self, path: &str) -> Option<SkillFile> {
        self.files.iter().copied().find(|file| file.path == path)
    }

    /// When it is to be used, as its own head says.
    pub fn description(&self) -> &'static str {
        let head = self.find_file(SKILL_FILE).and_then(|file| file.text.strip_prefix("---\n"));
        let head = head.and_then(|text| text.split_once("\n---\n")).map_or("", |(head, _)| head);
        head.lines().find_map(|line| line.strip_prefix("description: ")).unwrap_or_default()
    }
}

impl SkillFile {
    /// Its first heading.
    pub fn title(&self) -> &'static str {
        self.text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(self.path)
    }
}

#[cfg(test)]
mod tests;
