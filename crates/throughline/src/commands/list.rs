//! `throughline list`: lists the sessions.

use anyhow::Result;
use engine::{Clock as _, SystemClock};
use model::SessionId;
use server::wire::{DeletedPage, DeletedSession, ReadOnly, SessionPage, SessionRow};

use crate::cli;
use crate::client::Client;
use crate::data_dir::DataDir;
use crate::terminal::{self, ago, cut, safe_json, table};

const TITLE_COLUMNS: usize = 48;
const WORK_COLUMNS: usize = 24;
/// The column before the title; it is left out if no session belongs to a work.
const WORK_PLACE: usize = 5;
/// The title of a session without one.
pub(super) const NO_TITLE: &str = "(nothing said yet)";
/// Enough of an id's random end to tell sessions apart.
const TAIL_CHARS: usize = 8;

pub(super) async fn run(data: &DataDir, list: &cli::List) -> Result<()> {
    let client = Client::connect(data).await?;
    if list.deleted {
        let page = client.get(&format!("/deleted-sessions?limit={}", list.limit)).await;
        client.close().await;
        return deleted(&page?, list.json);
    }
    let page: SessionPage = client.get(&format!("/sessions?limit={}", list.limit)).await?;
    client.close().await;
    if list.json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(&page)?))?);
    }
    if page.sessions.is_empty() {
        return Ok(terminal::advice("No sessions yet. `throughline new` begins one in this directory.")?);
    }
    let now = SystemClock.now();
    let work_of = |row: &SessionRow| {
        let work = page.meta_contexts.iter().find(|work| Some(work.id) == row.meta_context_id);
        work.map_or_else(String::new, |work| cut(&work.name, WORK_COLUMNS))
    };
    let mut header = vec!["ID", "STATE", "TURNS", "ACTIVE", "AGENT", "TITLE", "PROJECT"];
    let has_work = !page.meta_contexts.is_empty();
    if has_work {
        header.insert(WORK_PLACE, "WORK");
    }
    let of = |row: &SessionRow| {
        let mut cells = vec![
            tail(row.id),
            state(row),
            row.turns.0.to_string(),
            ago(row.active_at, now),
            row.agent.clone(),
            cut(row.title.as_deref().unwrap_or(NO_TITLE), TITLE_COLUMNS),
            row.project.clone(),
        ];
        if has_work {
            cells.insert(WORK_PLACE, work_of(row));
        }
        cells
    };
    let rows: Vec<Vec<String>> = page.sessions.iter().map(of).collect();
    for line in table(&header, &rows) {
        terminal::line(&line)?;
    }
    if page.next_cursor.is_some() {
        terminal::line(&format!("(the newest {}; --limit shows more)", page.sessions.len()))?;
    }
    Ok(())
}

fn deleted(page: &DeletedPage, json: bool) -> Result<()> {
    if json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(page)?))?);
    }
    if page.sessions.is_empty() {
        return Ok(terminal::line("No session was deleted in the last seven days.")?);
    }
    let now = SystemClock.now();
    let of = |row: &DeletedSession| {
        vec![
            tail(row.id),
            ago(row.deleted_at, now),
            row.turns.0.to_string(),
            row.agent.clone(),
            cut(row.title.as_deref().unwrap_or(NO_TITLE), TITLE_COLUMNS),
            row.project.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = page.sessions.iter().map(of).collect();
    for line in table(&["ID", "DELETED", "TURNS", "AGENT", "TITLE", "PROJECT"], &rows) {
        terminal::line(&line)?;
    }
    if page.next_cursor.is_some() {
        terminal::line(&format!("(the newest {}; --limit shows more)", page.sessions.len()))?;
    }
    Ok(())
}

/// The end of a session's id, by which people name it.
pub(crate) fn tail(session: SessionId) -> String {
    let id = session.to_string();
    id[id.len() - TAIL_CHARS..].to_owned()
}

pub(super) fn state(row: &SessionRow) -> String {
    match row.read_only {
        Some(ReadOnly::Damaged) => return "damaged".to_owned(),
        Some(ReadOnly::Newer) => return "newer".to_owned(),
        Some(ReadOnly::Imported) => return "imported".to_owned(),
        None => (),
    }
    let word =
        serde_json::to_value(row.state).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default();
    // The mark of a session that came to rest unseen.
    if row.unobserved { format!("{word} *") } else { word }
}
