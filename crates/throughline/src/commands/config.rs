//! `throughline config`: prints the configuration in force, and checks the file.

use agents::provider::Provider;
use anyhow::{Context as _, Result};

use crate::agency::own_environment;
use crate::cli;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::terminal::{self, safe_json};

pub(super) fn run(data: &DataDir, command: Option<cli::Config>) -> Result<()> {
    let path = data.config();
    match command.unwrap_or(cli::Config::Show { json: false }) {
        cli::Config::Path => terminal::line(&path.display().to_string())?,
        cli::Config::Show { json: true } => {
            terminal::line(&safe_json(&serde_json::to_string_pretty(&Config::load(&path)?)?))?;
        }
        cli::Config::Show { json: false } => {
            let config = Config::load(&path)?;
            let from = if path.exists() { "from" } else { "defaults; to change them, write" };
            terminal::line(&format!("# {from} {}", path.display()))?;
            terminal::print_text(&toml::to_string(&config)?)?;
        }
        cli::Config::Check => {
            let config = Config::load(&path)?;
            config.transport()?.may_bind(config.server.listen)?;
            config.check_reachable()?;
            if let Some(settings) = config.summaries.provider(&own_environment())? {
                Provider::new(settings).context("the provider of summaries can not be used")?;
            }
            let what = if path.exists() { "is sound" } else { "is not there; the defaults hold" };
            terminal::line(&format!("{} {what}", path.display()))?;
        }
    }
    Ok(())
}
