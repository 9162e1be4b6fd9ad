//! `throughline skill install`: skills as files in the folders in which agents look for them.
//!
//! Invariant: a file is put in its place whole, and one that is not as we left it is replaced only when the person says so.
//! What we left is known by its digest, in a hidden record beside it; without a record nothing is taken for ours. Below a project
//! no link leads out of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use engine::{SKILLS, Skill};
use files::{FileError, Tree, Trees};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::named;
use super::places::{Base, Place, places, project_here};
use crate::agency::own_environment;
use crate::cli;
use crate::host::home;
use crate::terminal::{self, counted, safe, safe_json};

/// Beside a skill's files: which digest each had when it was written.
const RECORD: &str = ".throughline-skill.json";
/// Far more than any of ours has.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// What is to be done, or was done, about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum State {
    New,
    /// It is the same already.
    Unchanged,
    /// As an earlier version wrote it.
    Updated,
    /// Somebody changed it.
    Kept,
    /// Somebody changed it, and the person wants ours.
    Replaced,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Unchanged => "unchanged",
            Self::Updated => "updated",
            Self::Kept => "kept",
            Self::Replaced => "replaced",
        }
    }

    fn is_written(self) -> bool {
        match self {
            Self::New | Self::Updated | Self::Replaced => true,
            Self::Unchanged | Self::Kept => false,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Installed {
    skill: &'static str,
    folder: PathBuf,
    agents: Vec<&'static str>,
    files: Vec<InstalledFile>,
}

#[derive(Debug, Serialize)]
struct InstalledFile {
    path: &'static str,
    state: State,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    dry_run: bool,
    installed: Vec<Installed>,
}

pub(super) fn run(wish: &cli::InstallSkill) -> Result<ExitCode> {
    let skills = match &wish.name {
        Some(name) => vec![named(name)?],
        None => SKILLS.to_vec(),
    };
    let (base_folder, found);
    let environment = own_environment();
    let claude = environment.get("CLAUDE_CONFIG_DIR").map(Path::new).filter(|path| path.is_absolute());
    let base = if wish.project {
        base_folder = project_here()?;
        Base::Project(&base_folder)
    } else {
        found = home().context("your home is not known: HOME is not set; --project installs into this project")?;
        Base::Home { home: &found, claude }
    };
    let mut report = Report { dry_run: wish.dry_run, installed: Vec::new() };
    for place in places(base, &wish.agent) {
        for skill in &skills {
            report.installed.push(install(base, &place, *skill, wish)?);
        }
    }
    print(&report, wish.json)?;
    let states = || report.installed.iter().flat_map(|installed| &installed.files).map(|file| file.state);
    let kept = states().filter(|state| *state == State::Kept).count() as u64;
    if let Some(kept) = counted(kept, "file was changed and is", "files were changed and are") {
        terminal::remark(&format!("{kept} kept as somebody left it; --force puts ours there"));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn install(base: Base<'_>, place: &Place, skill: Skill, wish: &cli::InstallSkill) -> Result<Installed> {
    let folder = place.folder.join(skill.name);
    let trees = open(base, &folder)?;
    let about = |path: &Path| format!("{} can not be used", path.display());
    let record_path = folder.join(RECORD);
    let old_record: BTreeMap<String, String> = match read(&trees, &record_path) {
        Ok(bytes) => bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default(),
        Err(err) => return Err(err).with_context(|| about(&record_path)),
    };
    let mut record = old_record.clone();
    let mut files = Vec::new();
    for file in skill.files {
        let path = folder.join(file.path);
        let there = read(&trees, &path).with_context(|| about(&path))?;
        let state = match there {
            None => State::New,
            Some(there) if there == file.text.as_bytes() => State::Unchanged,
            Some(there) if old_record.get(file.path) == Some(&digest(&there)) => State::Updated,
            Some(_) if wish.force => State::Replaced,
            Some(_) => State::Kept,
        };
        if state.is_written() && !wish.dry_run {
            trees.write_text(&path, file.text).with_context(|| about(&path))?;
        }
        if state != State::Kept {
            record.insert(file.path.to_owned(), digest(file.text.as_bytes()));
        }
        files.push(InstalledFile { path: file.path, state });
    }
    if record != old_record && !wish.dry_run {
        let text = format!("{}\n", serde_json::to_string_pretty(&record)?);
        trees.write_text(&record_path, &text).with_context(|| about(&record_path))?;
    }
    Ok(Installed { skill: skill.name, folder, agents: place.agents.clone(), files })
}

/// What may be written to. A person's own folders may be links to wherever they are kept; those of a project, which
/// somebody else may have made, lead nowhere else.
fn open(base: Base<'_>, folder: &Path) -> Result<Trees> {
    let root = match base {
        Base::Project(project) => project,
        Base::Home { .. } => match folder.ancestors().find(|above| above.is_dir()) {
            Some(above) => above,
            None => bail!("{} is nowhere", folder.display()),
        },
    };
    let tree = Tree::open(root).with_context(|| format!("{} can not be opened", root.display()))?;
    Ok(Trees::new(vec![tree]))
}

/// What a file holds; `None` if there is none.
fn read(trees: &Trees, path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    match trees.read_bytes(path, MAX_FILE_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(FileError::NotFound) => Ok(None),
        // No file of ours is so long: somebody changed it.
        Err(FileError::TooLarge { .. }) => Ok(Some(Vec::new())),
        Err(err) => Err(err),
    }
}

fn digest(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

fn print(report: &Report, json: bool) -> Result<()> {
    if json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(report)?))?);
    }
    let (mut written, mut kept) = (0, false);
    for Installed { folder, agents, files, .. } in &report.installed {
        terminal::line(&format!("{}, for {}", safe(&folder.display().to_string()), agents.join(", ")))?;
        for InstalledFile { path, state } in files {
            terminal::line(&format!("  {:<9}  {path}", state.word()))?;
            written += u64::from(state.is_written());
            kept |= *state == State::Kept;
        }
    }
    let files = counted(written, "file", "files");
    let sum = match (files, report.dry_run) {
        (None, _) if kept => "Nothing was written.".to_owned(),
        (None, _) => "Everything is there already.".to_owned(),
        (Some(files), true) => format!("Nothing was written; without --dry-run {files} would be."),
        (Some(files), false) => format!(
            "{files} written. Agents see them in their next session; one that runs already may have to be started anew."
        ),
    };
    Ok(terminal::line(&sum)?)
}
