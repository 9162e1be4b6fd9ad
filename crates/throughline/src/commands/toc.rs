//! `throughline toc`: prints a session's contents, a line a turn.

use anyhow::Result;
use server::wire::{Toc, TocEntry, TurnState};

use crate::cli;
use crate::client::Client;
use crate::commands::list::NO_TITLE;
use crate::data_dir::DataDir;
use crate::paging::PageCursor;
use crate::terminal::{self, safe, safe_json};

pub(super) async fn run(data: &DataDir, toc: &cli::Toc) -> Result<()> {
    let client = Client::connect(data).await?;
    let session = client.find_session(&toc.session).await?;
    let mut cursor = PageCursor::default();
    let mut whole: Option<Toc> = None;
    loop {
        let page: Toc = client.get(&format!("/sessions/{}/toc{}", session.row.id, cursor.parameter("?after"))).await?;
        let next = page.next_cursor.clone();
        match &mut whole {
            None => whole = Some(page),
            Some(whole) => {
                whole.entries.extend(page.entries);
                whole.formatted = format!("{}\n{}", whole.formatted, page.formatted);
                whole.next_cursor = None;
            }
        }
        if !cursor.advance(next)? {
            break;
        }
    }
    client.close().await;
    let Some(contents) = whole else { return Ok(()) };
    if toc.json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(&contents)?))?);
    }
    let title = Some(contents.session_name.as_str()).filter(|name| !name.is_empty()).unwrap_or(NO_TITLE);
    terminal::line(&safe(title))?;
    let width = contents.total_turns.to_string().len();
    for entry in &contents.entries {
        terminal::line(&format!("{:>width$}. {}{}", entry.turn, safe(&entry.summary), mark(entry)))?;
    }
    if contents.entries.is_empty() {
        terminal::line("No turns yet.")?;
    }
    Ok(())
}

/// The mark behind a turn's line.
pub(super) fn mark(entry: &TocEntry) -> &'static str {
    match entry.state {
        TurnState::Completed => "",
        TurnState::Running => "  (running)",
        TurnState::Cancelled => "  (stopped)",
        TurnState::Failed => "  (failed)",
        TurnState::Interrupted => "  (interrupted)",
    }
}
