//! The command line of the skills that agents load.

use clap::{Args, Subcommand};

pub(super) const SKILL_HELP: &str = "\
A skill is a folder with a SKILL.md that an agent reads when it fits the task:
  throughline    how to end an answer with a button that goes on in a fresh session, and how to show cards
  pipeline       an example: from research to build in six phases, a session each

Agents that are hosted here know of the button anyway; a skill makes them use it well, and pipeline uses it all the way.

Examples:
  throughline skill show throughline/references/next.md    read what agents read
  throughline skill install                                for you, in all projects
  throughline skill install --project --agent claude       for this project, and only for Claude Code";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Skill {
    #[command(subcommand)]
    pub(crate) command: Option<SkillCommand>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SkillCommand {
    /// Print a skill, or one file of it
    Show {
        /// Its name, such as `throughline`, or a file of it, such as `throughline/references/next.md`
        #[arg(value_name = "NAME[/FILE]")]
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write skills into the folders in which your agents look for them
    #[command(after_help = INSTALL_HELP)]
    Install(InstallSkill),
}

const INSTALL_HELP: &str = "\
Where they go:
  --agent claude                                         ~/.claude/skills, or .claude/skills of the project
  --agent codex, copilot, gemini, goose, kimi, opencode  ~/.agents/skills, or .agents/skills: one folder for all of these
  --agent qwen                                           ~/.qwen/skills, or .qwen/skills
Without --agent the first two are written.

Each file is put in its place whole. One that you changed is kept, and said so, unless you give --force; one that an earlier
version wrote is brought up to date. To take a skill away, delete its folder.";

#[derive(Debug, Args)]
pub(crate) struct InstallSkill {
    /// Only this one [default: all]
    pub(crate) name: Option<String>,
    /// For this agent; may be given more than once
    #[arg(long, value_enum, value_name = "AGENT")]
    pub(crate) agent: Vec<SkillAgent>,
    /// Into this project: the git repository that you are in, else this directory
    #[arg(long, conflicts_with = "user")]
    pub(crate) project: bool,
    /// Into your home, for all projects (the default)
    #[arg(long)]
    pub(crate) user: bool,
    /// Also replace files that somebody changed
    #[arg(long)]
    pub(crate) force: bool,
    /// Say what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SkillAgent {
    Claude,
    Codex,
    Copilot,
    Gemini,
    Goose,
    Kimi,
    Opencode,
    Qwen,
}
