//! `throughline skill install`: writes skills into the folders in which agents look for them.
//!
//! Invariant: a file is written whole, and one that somebody changed is replaced only when the person says so. Our
//! own files are recognised by their digests, in a hidden record beside them; without a record nothing counts as
//! ours. In a project no link leads out of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use engine::{SKILLS, Skill};
use files::{FileError, Tree, Trees};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::folders::{Base, SkillFolder, project_here, skill_folders};
use super::named;
use crate::agency::own_environment;
use crate::cli;
use crate::host::home;
use crate::terminal::{self, counted, safe, safe_json};

/// The record beside a skill's files: the digest of each when it was written.
const RECORD: &str = ".throughline-skill.json";
/// Far more than any of ours has.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// What is to be done, or was done, with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum FileState {
    New,
    /// It is the same already.
    Unchanged,
    /// It is as an earlier version wrote it.
    Updated,
    /// Somebody changed it.
    Kept,
    /// Somebody changed it, and the person wants ours.
    Replaced,
}

impl FileState {
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
    state: FileState,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct InstallReport {
    dry_run: bool,
    installed: Vec<Installed>,
}

pub(super) fn run(options: &cli::InstallSkill) -> Result<ExitCode> {
    let skills = match &options.name {
        Some(name) => vec![named(name)?],
        None => SKILLS.to_vec(),
    };
    let (base_folder, found);
    let environment = own_environment();
    let claude = environment.get("CLAUDE_CONFIG_DIR").map(Path::new).filter(|path| path.is_absolute());
    let base = if options.project {
        base_folder = project_here()?;
        Base::Project(&base_folder)
    } else {
        found = home().context("your home is not known: HOME is not set; --project installs into this project")?;
        Base::Home { home: &found, claude }
    };
    let mut report = InstallReport { dry_run: options.dry_run, installed: Vec::new() };
    for place in skill_folders(base, &options.agent) {
        for skill in &skills {
            report.installed.push(install(base, &place, *skill, options)?);
        }
    }
    print(&report, options.json)?;
    let states = || report.installed.iter().flat_map(|installed| &installed.files).map(|file| file.state);
    let kept = states().filter(|state| *state == FileState::Kept).count() as u64;
    if let Some(kept) = counted(kept, "file was changed and is", "files were changed and are") {
        terminal::remark(&format!("{kept} kept as somebody left it; --force puts ours there"));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn install(base: Base<'_>, place: &SkillFolder, skill: Skill, options: &cli::InstallSkill) -> Result<Installed> {
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
            None => FileState::New,
            Some(there) if there == file.text.as_bytes() => FileState::Unchanged,
            Some(there) if old_record.get(file.path) == Some(&digest(&there)) => FileState::Updated,
            Some(_) if options.force => FileState::Replaced,
            Some(_) => FileState::Kept,
        };
        if state.is_written() && !options.dry_run {
            trees.write_text(&path, file.text).with_context(|| about(&path))?;
        }
        if state != FileState::Kept {
            record.insert(file.path.to_owned(), digest(file.text.as_bytes()));
        }
        files.push(InstalledFile { path: file.path, state });
    }
    if record != old_record && !options.dry_run {
        let text = format!("{}\n", serde_json::to_string_pretty(&record)?);
        trees.write_text(&record_path, &text).with_context(|| about(&record_path))?;
    }
    Ok(Installed { skill: skill.name, folder, agents: place.agents.clone(), files })
}

/// Opens the folder for writing. A person's own folders may be links to anywhere; those of a project, which somebody
/// else may have made, may not lead out of it.
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

/// The content of a file; `None` if it does not exist.
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

fn print(report: &InstallReport, json: bool) -> Result<()> {
    if json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(report)?))?);
    }
    let (mut written, mut kept) = (0, false);
    for Installed { folder, agents, files, .. } in &report.installed {
        terminal::line(&format!("{}, for {}", safe(&folder.display().to_string()), agents.join(", ")))?;
        for InstalledFile { path, state } in files {
            terminal::line(&format!("  {:<9}  {path}", state.word()))?;
            written += u64::from(state.is_written());
            kept |= *state == FileState::Kept;
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
