//! `cargo xtask faults`: tests what the real program does when a disk fails, fills up or is read-only, when it is killed at
//! any system call of a migration, and when what is protected is mounted where agents read.
//!
//! Invariant: as with `kills`, only the program's answers to its clients count. A scene that lacks what it needs is
//! left out, and the table says so; a broken promise is a failure.

mod disks;
mod flushes;
mod migrations;
mod mounts;
mod story;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::run::{cargo, find_program, run as execute};
use crate::workspace::Metadata;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Use this program instead of building one
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
    /// Only these scenes
    #[arg(value_name = "SCENE")]
    only: Vec<String>,
    /// Play one scene here, in the mount namespace that was made for it
    #[arg(long, hide = true, value_name = "FOLDER")]
    inside: Option<PathBuf>,
}

/// The result of a scene that broke no promise.
enum Verdict {
    Held(String),
    LeftOut(String),
}

struct Scene {
    name: &'static str,
    promises: &'static str,
    play: fn(&SceneContext) -> anyhow::Result<Verdict>,
}

const SCENES: [Scene; 5] = [
    Scene { name: "flushes", promises: "R01 R03 R04", play: flushes::play },
    Scene { name: "migrations", promises: "R24", play: migrations::play },
    Scene { name: "full", promises: "R17 R28", play: |context| disks::in_a_namespace(context, "full") },
    Scene { name: "mounts", promises: "T16", play: |context| disks::in_a_namespace(context, "mounts") },
    Scene { name: "read-only", promises: "R24", play: |context| disks::in_a_namespace(context, "read-only") },
];

/// What the scenes share.
struct SceneContext {
    binary: PathBuf,
    /// A folder of the scene's own; kept when it fails, for inspection.
    folder: PathBuf,
    metadata: Metadata,
}

impl SceneContext {
    fn log(&self) -> PathBuf {
        self.folder.join("server.log")
    }
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if let Some(name) = options.only.iter().find(|name| !SCENES.iter().any(|scene| scene.name == **name)) {
        let known: Vec<_> = SCENES.iter().map(|scene| scene.name).collect();
        bail!("no scene is called {name:?}; there are: {}", known.join(", "));
    }
    let metadata = Metadata::read()?;
    if let (Some(folder), Some(binary), [scene]) = (&options.inside, &options.binary, options.only.as_slice()) {
        return disks::inside(&SceneContext { binary: binary.clone(), folder: folder.clone(), metadata }, scene);
    }
    let binary = match &options.binary {
        Some(path) => fs::canonicalize(path).with_context(|| format!("there is no {}", path.display()))?,
        None => {
            execute(&mut cargo(&["build", "--package", "throughline"]))?;
            metadata.binary()
        }
    };
    let all = metadata.target_directory.join("faults");
    let mut context = SceneContext { binary, folder: PathBuf::new(), metadata };
    let mut lines = Vec::new();
    for scene in SCENES.iter().filter(|scene| options.only.is_empty() || options.only.iter().any(|n| n == scene.name)) {
        println!("\n== {}", scene.name);
        context.folder = fresh_folder(&all.join(scene.name))?;
        let started = Instant::now();
        let outcome = (scene.play)(&context);
        lines.push((scene, started.elapsed(), outcome));
    }
    report(&all, &lines)
}

fn report(all: &Path, lines: &[(&Scene, Duration, anyhow::Result<Verdict>)]) -> anyhow::Result<()> {
    println!("\n{:<12} {:<12} {:>6}  result", "scene", "promises", "took");
    for (scene, took, outcome) in lines {
        let said = match outcome {
            Ok(Verdict::Held(what)) => format!("held: {what}"),
            Ok(Verdict::LeftOut(why)) => format!("LEFT OUT: {why}"),
            Err(err) => format!("BROKEN: {err:#}"),
        };
        println!("{:<12} {:<12} {:>4} s  {said}", scene.name, scene.promises, took.as_secs());
    }
    match lines.iter().filter(|(_, _, outcome)| outcome.is_err()).count() {
        0 => fs::remove_dir_all(all).with_context(|| format!("could not remove {}", all.display())),
        broken => bail!("{broken} of {} scenes; data and logs in {}", lines.len(), all.display()),
    }
}

fn fresh_folder(path: &Path) -> anyhow::Result<PathBuf> {
    if path.exists() {
        fs::remove_dir_all(path).with_context(|| format!("could not remove {}", path.display()))?;
    }
    fs::create_dir_all(path).with_context(|| format!("could not make {}", path.display()))?;
    Ok(path.to_owned())
}

/// Why a scene that needs these programs can not be run, if it can not.
fn lacks(programs: &[&str]) -> Option<Verdict> {
    let missing = programs.iter().find(|name| find_program(name).is_none())?;
    Some(Verdict::LeftOut(format!("there is no {missing} here; install it and run this again")))
}
