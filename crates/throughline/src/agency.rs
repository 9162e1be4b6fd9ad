//! Opens the agents with what they need of the machine: our own program, the environment, and where their programs
//! are.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;

use agents::process::{self, Folder, Launcher};
use agents::{AgentSettings, Agents};
use anyhow::{Context as _, Result};
use engine::Agency;
use files::Deny;

use crate::config::Config;
use crate::data_dir::DataDir;
use crate::host::home;

/// The folder for files of the person and the agents: notes, tickets, whatever they keep there.
pub(crate) const FILES: &str = "files";
/// The folder for the files of applets.
pub(crate) const APPLETS: &str = "applets";
/// The folders of the data folder that are the person's own, as plain files.
pub(crate) const FOLDERS: [&str; 2] = [FILES, APPLETS];

/// The agents as configured; none is started yet.
pub(crate) fn open(config: &Config, data: &DataDir) -> Result<Agency> {
    let own = std::env::current_exe().context("this program can not find itself")?;
    let own_path = own.to_str().context("this program lies at a path that is not text")?;
    let catalog = config.catalog(own_path)?;
    let neutral_dir = data.agents();
    let folder = Folder::of(data.path()).context("the data folder can not be looked at")?;
    let deny = Deny::standard().with_folder_but(data.path(), &FOLDERS);
    let deny = deny.context("the data folder can not be protected from agents")?;
    let deny = home().into_iter().fold(deny, |deny, home| deny.with_home(&home));
    let files = FOLDERS.map(|name| data.path().join(name)).to_vec();
    let applets = Some(data.path().join(APPLETS));
    DirBuilder::new().recursive(true).mode(0o700).create(&neutral_dir)?;
    let settings = AgentSettings {
        launcher: Launcher::new(own.clone()).for_folder(folder),
        entries: catalog.entries().to_vec(),
        environment: own_environment(),
        process_limits: process::ProcessLimits {
            memory_bytes: config.limits.agent_memory_mb.map(|megabytes| megabytes << 20),
            ..process::ProcessLimits::default()
        },
        mcp_servers: config.mcp_servers()?,
        deny: deny.clone(),
        neutral_dir,
        limits: config.agent_limits(),
        in_process_guide: false,
    };
    let (policy, brief) = (config.permission_policy()?, config.brief.in_force());
    let max_agents = config.limits.max_agents;
    let (own_tools, show_tools) = (server::own_tools(), config.show_tools());
    Ok(Agency {
        agents: Agents::new(settings),
        catalog,
        policy,
        deny,
        files,
        applets,
        brief,
        own_tools,
        show_tools,
        max_agents,
    })
}

/// The environment of this process. Variables that are not UTF-8 are left out.
pub(crate) fn own_environment() -> BTreeMap<String, String> {
    let texts = std::env::vars_os().map(|(name, value)| (name.into_string(), value.into_string()));
    texts.filter_map(|(name, value)| Some((name.ok()?, value.ok()?))).collect()
}
