//! `throughline resume`: starts a session's agent again, or hands the session to another.

use anyhow::Result;
use server::wire::{Resume, Resumed};

use crate::cli;
use crate::client::Client;
use crate::commands::installed;
use crate::data_dir::DataDir;
use crate::terminal::{self, safe, safe_json};

pub(super) async fn run(data: &DataDir, resume: cli::Resume) -> Result<()> {
    let client = Client::connect(data).await?;
    let session = client.find_session(&resume.session).await?;
    installed::check(&client, resume.agent.as_deref().unwrap_or(&session.row.agent)).await?;
    let wish = Resume { agent: resume.agent, key: None };
    let resumed = client.post::<Resumed>(&format!("/sessions/{}/resume", session.row.id), Some(&wish)).await;
    client.close().await;
    let resumed = resumed?;
    if resume.json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string(&resumed)?))?);
    }
    if let Some(instead) = &resumed.fallback {
        terminal::remark(&format!("the session's directory is gone; it goes on in {instead}"));
    }
    Ok(terminal::line(&safe(&format!("{} starts in {}.", resumed.agent, resumed.cwd)))?)
}
