//! Installs Node and the agents into `target/tools/agents`, a folder each.
//!
//! Invariant: a folder is used only with a stamp that names exactly the wanted packages; an interrupted install has
//! none.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::Context as _;

use super::catalog::{self, Agent, NODE, Package};
use crate::environment;
use crate::run::run;

const STAMP: &str = ".complete-for";

/// Installs what is missing. Node comes first, because npm must run on it to choose the right dependencies.
pub(super) fn install(agents: &Path, wanted: &[&Agent]) -> anyhow::Result<()> {
    let total = wanted.len() + 1;
    install_one(agents, NODE.name, &[NODE], &format!("1/{total}"))?;
    for (index, agent) in wanted.iter().enumerate() {
        install_one(agents, agent.name, agent.packages, &format!("{}/{total}", index + 2))?;
    }
    Ok(())
}

fn install_one(agents: &Path, name: &str, packages: &[Package], progress: &str) -> anyhow::Result<()> {
    let folder = agents.join(name);
    let stamp_path = folder.join(STAMP);
    let specs: Vec<_> = packages.iter().map(|package| package.spec()).collect();
    let wanted = specs.join("\n") + "\n";
    match fs::read_to_string(&stamp_path) {
        Ok(found) if found == wanted => {
            println!("[{progress}] {name}: {} is there", specs.join(", "));
            return Ok(());
        }
        Ok(_) => (),
        Err(err) if err.kind() == ErrorKind::NotFound => (),
        Err(err) => return Err(err).with_context(|| format!("could not read {}", stamp_path.display())),
    }
    println!("[{progress}] {name}: installing {}; an agent is up to half a gigabyte", specs.join(", "));
    let started = Instant::now();
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("could not remove {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
    fs::write(folder.join("package.json"), "{ \"name\": \"tools\", \"private\": true }\n")
        .with_context(|| format!("could not write into {}", folder.display()))?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--save-exact", "--no-audit", "--no-fund"])
        .args(&specs)
        .current_dir(&folder)
        .env("PATH", search_path(agents, None)?);
    run(&mut npm)?;
    fs::write(&stamp_path, wanted).with_context(|| format!("could not write {}", stamp_path.display()))?;
    println!("[{progress}] {name}: installed in {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// The machine's search path with our Node before all others, and with an agent's programs and those that it needs.
pub(super) fn search_path(agents: &Path, agent: Option<&Agent>) -> anyhow::Result<String> {
    let own = agent.map(|agent| catalog::programs_of(agents, agent.name));
    let needed = agents.with_file_name("bin");
    let folders = [catalog::programs_of(agents, NODE.name)].into_iter().chain(own).chain([needed]);
    let folders = folders.chain(environment::search_path());
    let joined = std::env::join_paths(folders).context("a folder of PATH has a name that PATH cannot hold")?;
    joined.into_string().map_err(|_| anyhow::anyhow!("PATH is not UTF-8"))
}
