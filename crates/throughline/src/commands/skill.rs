//! `throughline skill`: lists, shows and installs the skills that come with the program.
//!
//! Invariant: it needs no server and no data folder.

mod folders;
mod install;

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use engine::{SKILL_FILE, SKILLS, Skill};
use serde_json::json;

use crate::cli;
use crate::terminal::{self, safe_json};

pub(super) fn run(skill: cli::Skill) -> Result<ExitCode> {
    match skill.command {
        None => list(skill.json)?,
        Some(cli::SkillCommand::Show { name, json }) => show(&name, json)?,
        Some(cli::SkillCommand::Install(wish)) => return install::run(&wish),
    }
    Ok(ExitCode::SUCCESS)
}

/// The skill of that name, or an error that lists them.
fn named(name: &str) -> Result<Skill> {
    Skill::find(name).with_context(|| {
        let names = SKILLS.map(|skill| skill.name);
        format!("there is no skill {name:?}; there are {}", names.join(" and "))
    })
}

fn list(json: bool) -> Result<()> {
    if json {
        let skills = SKILLS.map(|skill| {
            let files: Vec<_> = skill.files.iter().map(|file| file.path).collect();
            json!({ "name": skill.name, "description": skill.description(), "files": files })
        });
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(&json!({ "skills": skills }))?))?);
    }
    for skill in SKILLS {
        terminal::line(&format!("{}\n  {}", skill.name, skill.description()))?;
        for file in skill.files {
            terminal::line(&format!("  {}/{}", skill.name, file.path))?;
        }
        terminal::line("")?;
    }
    Ok(terminal::advice(
        "`throughline skill show NAME[/FILE]` prints one; `throughline skill install` puts them where your agents look.",
    )?)
}

fn show(name: &str, json: bool) -> Result<()> {
    let (skill, path) = name.split_once('/').unwrap_or((name, SKILL_FILE));
    let skill = named(skill)?;
    let file = skill.find_file(path).with_context(|| {
        let files: Vec<_> = skill.files.iter().map(|file| file.path).collect();
        format!("{} has no file {path:?}; it has {}", skill.name, files.join(", "))
    })?;
    if json {
        let shown = json!({ "skill": skill.name, "path": file.path, "text": file.text });
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(&shown)?))?);
    }
    Ok(terminal::print_text(file.text)?)
}
