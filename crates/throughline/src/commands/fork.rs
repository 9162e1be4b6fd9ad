//! `throughline fork`: begins a session that goes on from a turn of another one.

use anyhow::Result;
use model::{ForkOrigin, Origin, Turn};
use server::wire::{NewFork, Session};

use crate::cli;
use crate::client::Client;
use crate::commands::installed;
use crate::commands::list::tail;
use crate::data_dir::DataDir;
use crate::hint;
use crate::terminal::{self, safe, safe_json};

pub(super) async fn run(data: &DataDir, fork: cli::Fork) -> Result<()> {
    let client = Client::connect(data).await?;
    let done = carry_out(&client, fork).await;
    client.close().await;
    done
}

async fn carry_out(client: &Client, fork: cli::Fork) -> Result<()> {
    let session = client.find_session(&fork.session).await?;
    installed::check(client, fork.agent.as_deref().unwrap_or(&session.row.agent)).await?;
    let wish = NewFork { turn: fork.turn.map(Turn), agent: fork.agent, name: fork.name, ..NewFork::default() };
    let forked: Session = client.post(&format!("/sessions/{}/fork", session.row.id), Some(&wish)).await?;
    if fork.json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(&forked)?))?);
    }
    let place = match forked.row.from {
        Some(Origin::Fork(ForkOrigin { turn, .. })) if turn > Turn(0) => format!("{turn} of"),
        _ => "the beginning of".to_owned(),
    };
    let short = tail(forked.row.id);
    terminal::line(&safe(&format!(
        "Session {short} with {} in {}, forked from {place} {}",
        forked.row.agent,
        forked.row.cwd,
        tail(session.row.id)
    )))?;
    Ok(terminal::line(&format!("Talk to it: {}", hint::command(format_args!("send {short} \"…\""))))?)
}
