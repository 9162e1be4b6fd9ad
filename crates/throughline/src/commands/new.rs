//! `throughline new`: begins a session.

use anyhow::{Context as _, Result, anyhow};
use server::wire::{NewSession, Session};

use crate::cli;
use crate::client::Client;
use crate::commands::installed;
use crate::commands::list::tail;
use crate::data_dir::DataDir;
use crate::hint;
use crate::terminal::{self, safe, safe_json};

pub(super) async fn run(data: &DataDir, new: cli::New) -> Result<()> {
    let cwd = match new.cwd {
        Some(cwd) => std::path::absolute(cwd)?,
        None => std::env::current_dir().context("this directory cannot be found")?,
    };
    let cwd = cwd.into_os_string().into_string().ok().context("the directory's path is not valid UTF-8")?;
    let client = Client::connect(data).await?;
    installed::check(&client, &new.agent).await?;
    let body =
        NewSession { agent: new.agent, cwd, name: new.name, meta_context: new.work, confirm: new.confirm, key: None };
    let begun = client.post("/sessions", Some(&body)).await;
    let session: Session = begun.map_err(|err| match err.to_string().ends_with("(confirm_required)") {
        true => anyhow!("an agent there could reach everything you have; add --confirm if that is meant"),
        false => err,
    })?;
    client.close().await;
    if new.json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(&session)?))?);
    }
    let work = session.meta_context.as_ref().map(|work| format!(", part of {}", work.name)).unwrap_or_default();
    let begun = format!("Session {} with {} in {}{work}", tail(session.row.id), session.row.agent, session.row.cwd);
    terminal::line(&safe(&begun))?;
    Ok(terminal::line(&format!(
        "Talk to it: {}",
        hint::command(format_args!("send {} \"say hello\"", tail(session.row.id)))
    ))?)
}
