//! `cargo xtask agents`: runs real agents of others end to end through the real server, in pinned versions and
//! offline.
//!
//! Invariant: nothing here reaches the network except npm while it installs. The model is a script on loopback, each
//! agent has a home of its own, and its proxy is a closed port.

mod catalog;
pub(crate) mod client;
pub(crate) mod drive;
mod home;
mod http;
mod install;
mod model;
pub(crate) mod notes;
mod record;
mod report;
mod scrub;
pub(crate) mod tee;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};

use crate::run::{cargo, run as execute};
use crate::workspace::{self, Metadata};

use catalog::{AGENTS, Agent};
use drive::{AgentResult, Verdict};
use model::Model;
use notes::Notes;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Which of them: codex, opencode, claude, gemini, qwen, kimi, copilot; all without a name
    #[arg(value_name = "AGENT")]
    names: Vec<String>,
    /// Install them and stop
    #[arg(long)]
    install: bool,
    /// Write what goes over the wire into fixtures/acp instead
    #[arg(long, conflicts_with = "install")]
    record: bool,
    /// Use this program instead of building one
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
}

/// The environment of one agent: a folder of its own, the scripted model, the lab's tools.
struct Lab {
    tools: PathBuf,
    folder: PathBuf,
    model: Model,
    notes: Notes,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let wanted = wanted(&options.names)?;
    let metadata = Metadata::read()?;
    let tools = metadata.target_directory.join("tools").join("agents");
    install::install(&tools, &wanted)?;
    // opencode reads skills with it, and would fetch it from the network.
    if wanted.iter().any(|agent| agent.name == "opencode") {
        crate::tools::find_or_install_ripgrep(&metadata.target_directory);
    }
    if options.install {
        return Ok(());
    }
    let labs = metadata.target_directory.join("agents");
    if options.record {
        let fixtures = workspace::root().join("fixtures").join("acp");
        for agent in wanted {
            record::record(agent, &Lab::make(&tools, &labs.join(agent.name))?, &fixtures)?;
        }
        return Ok(());
    }
    let binary = match &options.binary {
        Some(path) => path.clone(),
        None => {
            execute(&mut cargo(&["build", "--package", "throughline"]))?;
            metadata.binary()
        }
    };
    let mut results = Vec::new();
    for agent in wanted {
        let lab = Lab::make(&tools, &labs.join(agent.name))?;
        results.push(drive::drive(agent, lab, &binary).unwrap_or_else(|err| AgentResult::failed(agent, &err)));
    }
    report::print(&results);
    report::write(&results, &workspace::root().join("docs").join("agents.md"))?;
    let verdicts = || results.iter().flat_map(|results| &results.verdicts);
    let failed = verdicts().filter(|verdict| matches!(verdict, Verdict::No(_))).count();
    ensure!(failed == 0, "{failed} of {} checks failed; the logs are in {}", verdicts().count(), labs.display());
    Ok(())
}

/// A Node that is new enough for the agents; installed if it is missing.
pub(crate) fn node(metadata: &Metadata) -> anyhow::Result<PathBuf> {
    let tools = metadata.target_directory.join("tools").join("agents");
    install::install(&tools, &[])?;
    Ok(catalog::programs_of(&tools, catalog::NODE.name).join("node"))
}

impl Lab {
    /// Empties the folder first; its contents stay afterwards for inspection.
    fn make(tools: &Path, folder: &Path) -> anyhow::Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("could not remove {}", folder.display()))?;
        }
        fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
        let model = Model::start(&folder.join("model.jsonl"))?;
        Ok(Self { tools: tools.to_owned(), folder: folder.to_owned(), model, notes: Notes::start()? })
    }
}

fn wanted(names: &[String]) -> anyhow::Result<Vec<&'static Agent>> {
    if names.is_empty() {
        return Ok(AGENTS.iter().collect());
    }
    let mut agents = Vec::new();
    for name in names {
        let Some(agent) = catalog::find(name) else {
            let known: Vec<_> = AGENTS.iter().map(|agent| agent.name).collect();
            bail!("no agent is called {name:?}; there are: {}", known.join(", "));
        };
        agents.push(agent);
    }
    Ok(agents)
}
