//! `throughline show`: a session's transcript, folded here from its entries.

use anyhow::Result;
use model::{Entry, Item, Outcome, Transcript, TranscriptTurn};
use server::wire::{EntryPage, Session};

use crate::cli;
use crate::client::Client;
use crate::data_dir::DataDir;
use crate::terminal::{self, safe, safe_json};

pub(super) async fn run(data: &DataDir, show: &cli::Show) -> Result<()> {
    let client = Client::connect(data).await?;
    let session = client.find_session(&show.session).await?;
    let mut transcript = Transcript::default();
    let mut after = String::new();
    let read = loop {
        let page = client.get::<EntryPage>(&format!("/sessions/{}/entries?limit=1000{after}", session.row.id)).await;
        let page = match page {
            Ok(page) => page,
            Err(err) => break Err(err),
        };
        for entry in &page.entries {
            print_or_fold(entry, show.json, &mut transcript)?;
        }
        match page.next_cursor {
            Some(cursor) => after = format!("&after={cursor}"),
            None => break Ok(()),
        }
    };
    client.close().await;
    // What could be read is shown also where the rest is damaged; then that is said.
    if !show.json && (read.is_ok() || !transcript.turns.is_empty()) {
        print(&session, &transcript, read.is_ok())?;
    }
    read
}

fn print_or_fold(entry: &Entry, json: bool, transcript: &mut Transcript) -> Result<()> {
    if json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string(entry)?))?);
    }
    transcript.apply(entry);
    Ok(())
}

fn print(session: &Session, transcript: &Transcript, whole: bool) -> Result<()> {
    let title = session.row.title.as_deref().unwrap_or("(nothing said yet)");
    terminal::line(&safe(title))?;
    terminal::line(&safe(&format!("{} in {}", session.row.agent, session.row.cwd)))?;
    for turn in &transcript.turns {
        print_turn(turn, whole)?;
    }
    for prompt in &session.queue {
        terminal::line(&format!("\nwaits  {}", indent(&prompt.text)))?;
    }
    Ok(())
}

fn print_turn(turn: &TranscriptTurn, whole: bool) -> Result<()> {
    terminal::line(&format!("\n{} > {}", turn.turn, indent(&turn.prompt)))?;
    for item in &turn.items {
        if let Item::Text { text, .. } = item {
            terminal::line(&format!("\n  {}", indent(text)))?;
        }
    }
    let word = match turn.outcome {
        Some(Outcome::Completed) if turn.items.is_empty() => "no response",
        Some(Outcome::Completed) => return Ok(()),
        Some(Outcome::Cancelled) => "stopped by you",
        Some(Outcome::Failed) => "failed",
        Some(Outcome::Interrupted) => "interrupted",
        None if whole => "running …",
        None => "the rest can not be read",
    };
    let reason = turn.reason.as_deref().map(|reason| format!(": {}", safe(reason))).unwrap_or_default();
    Ok(terminal::line(&format!("\n  [{word}{reason}]"))?)
}

fn indent(text: &str) -> String {
    safe(text.trim_end()).replace('\n', "\n  ")
}
