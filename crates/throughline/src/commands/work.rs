//! `throughline work`: lists works, and shows, renames or deletes one.

mod find;
mod toc;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use engine::{Clock as _, SystemClock};
use model::{ForkOrigin, Origin, SessionId, StepOrigin, Timestamp};
use serde::Serialize;
use serde_json::json;
use server::wire::{MetaContext, MetaContextPage, MetaContextPatch, Session, SessionPage, SessionRow};

use self::find::{find, find_as_called, tail};
use crate::cli::{self, WorkCommand};
use crate::client::Client;
use crate::commands::list::{self, NO_TITLE, state};
use crate::data_dir::DataDir;
use crate::terminal::{self, ago, counted, cut, safe, safe_json, table};

const NAME_COLUMNS: usize = 48;
/// How many pages of the list are searched for sessions before they are requested one by one.
const LIST_PAGES: usize = 5;

pub(super) async fn run(data: &DataDir, work: cli::Work) -> Result<()> {
    let client = Client::connect(data).await?;
    let done = match work.command {
        None => list(&client, work.limit, work.json).await,
        Some(WorkCommand::Show(show)) => self::show(&client, &show, show.json || work.json).await,
        Some(WorkCommand::Toc(toc)) => toc::print(&client, &toc, toc.json || work.json).await,
        Some(WorkCommand::Rename(rename)) => self::rename(&client, &rename, rename.json || work.json).await,
        Some(WorkCommand::Delete(delete)) => self::delete(&client, &delete, delete.json || work.json).await,
    };
    client.close().await;
    done
}

async fn list(client: &Client, limit: u32, json: bool) -> Result<()> {
    let page: MetaContextPage = client.get(&format!("/meta-contexts?limit={limit}")).await?;
    if json {
        return print_json(&page);
    }
    let works = &page.meta_contexts;
    if works.is_empty() {
        terminal::advice(
            "No pieces of work yet. One begins when you take a step that an agent offers (`throughline next`),",
        )?;
        return Ok(terminal::advice("or with `throughline new --work NAME`.")?);
    }
    let sessions = sessions_of(client, works).await?;
    let now = SystemClock.now();
    let repeats = |work: &MetaContext| works.iter().filter(|other| other.name == work.name).count() > 1;
    let any_repeats = works.iter().any(repeats);
    let mut header = vec!["ID", "SESSIONS", "TURNS", "ACTIVE", "NAME"];
    if any_repeats {
        header.push("PROJECT");
    }
    let row = |work: &MetaContext| {
        let total = Total::of(work, &sessions);
        let mut cells = vec![
            tail(work.id),
            work.session_ids.len().to_string(),
            total.turns.to_string(),
            ago(total.active_at, now),
            cut(&work.name, NAME_COLUMNS),
        ];
        if any_repeats {
            cells.push(if repeats(work) { work.project.clone() } else { String::new() });
        }
        cells
    };
    let rows: Vec<Vec<String>> = works.iter().map(row).collect();
    for line in table(&header, &rows) {
        terminal::line(&line)?;
    }
    if page.next_cursor.is_some() {
        terminal::line(&format!("(the newest {}; --limit shows more)", works.len()))?;
    }
    Ok(())
}

async fn show(client: &Client, show: &cli::NamedWork, json: bool) -> Result<()> {
    let work = find(client, &show.work).await?;
    let sessions = sessions_of(client, std::slice::from_ref(&work)).await?;
    let members: Vec<&SessionRow> = work.session_ids.iter().filter_map(|id| sessions.get(id)).collect();
    if json {
        return print_json(&json!({ "metaContext": work, "sessions": members }));
    }
    terminal::line(&safe(&work.name))?;
    let total = Total::of(&work, &sessions);
    let size = counted(work.session_ids.len() as u64, "session", "sessions").unwrap_or_else(|| "no session".to_owned());
    let turns = counted(total.turns, "turn", "turns").unwrap_or_else(|| "no turn yet".to_owned());
    terminal::line(&safe(&format!("{size}, {turns}, in {} ({})", work.project, work.id)))?;
    if members.is_empty() {
        return Ok(());
    }
    terminal::line("")?;
    let now = SystemClock.now();
    let row = |row: &&SessionRow| {
        let from = row.from.map(|from| match from {
            Origin::Step(StepOrigin { session, block }) => format!("{block} of {}", list::tail(session)),
            Origin::Fork(ForkOrigin { session, turn }) => format!("{turn} of {}", list::tail(session)),
        });
        vec![
            list::tail(row.id),
            state(row),
            row.turns.0.to_string(),
            ago(row.active_at, now),
            row.agent.clone(),
            from.unwrap_or_default(),
            cut(row.title.as_deref().unwrap_or(NO_TITLE), NAME_COLUMNS),
        ]
    };
    let rows: Vec<Vec<String>> = members.iter().map(row).collect();
    for line in table(&["ID", "STATE", "TURNS", "ACTIVE", "AGENT", "FROM", "TITLE"], &rows) {
        terminal::line(&line)?;
    }
    Ok(())
}

async fn rename(client: &Client, rename: &cli::RenameWork, json: bool) -> Result<()> {
    let work = find(client, &rename.work).await?;
    let patch = MetaContextPatch { name: rename.name.clone(), key: None };
    client.patch(&format!("/meta-contexts/{}", work.id), &patch).await?;
    let renamed: MetaContext = client.get(&format!("/meta-contexts/{}", work.id)).await?;
    if json {
        return print_json(&renamed);
    }
    Ok(terminal::line(&safe(&format!(
        "{} is called {} now. Blocks that use an old name still lead to it.",
        work.name, renamed.name
    )))?)
}

async fn delete(client: &Client, delete: &cli::DeleteWork, json: bool) -> Result<()> {
    let work = find_as_called(client, &delete.work).await?;
    let stay = match work.session_ids.len() {
        1 => "Its session stays.".to_owned(),
        count => format!("Its {count} sessions stay."),
    };
    terminal::agree(delete.yes, &format!("Delete {}? {stay} [y/N] ", work.name), "nothing was deleted")?;
    client.delete(&format!("/meta-contexts/{}", work.id)).await?;
    if json {
        return print_json(&json!({ "id": work.id, "sessionIds": work.session_ids }));
    }
    Ok(terminal::line(&safe(&format!("{} is deleted. {stay}", work.name)))?)
}

/// What the sessions of a work add up to.
struct Total {
    turns: u64,
    active_at: Timestamp,
}

impl Total {
    fn of(work: &MetaContext, sessions: &BTreeMap<SessionId, SessionRow>) -> Self {
        let members = work.session_ids.iter().filter_map(|id| sessions.get(id));
        let turns = members.clone().map(|row| u64::from(row.turns.0)).sum();
        Self { turns, active_at: members.map(|row| row.active_at).max().unwrap_or(work.added_at) }
    }
}

/// Every session of these works: from the list, where they are usually near the top, else one by one.
async fn sessions_of(client: &Client, works: &[MetaContext]) -> Result<BTreeMap<SessionId, SessionRow>> {
    let mut missing: BTreeSet<SessionId> = works.iter().flat_map(|work| work.session_ids.iter().copied()).collect();
    let mut found = BTreeMap::new();
    let mut after = String::new();
    for _ in 0..LIST_PAGES {
        if missing.is_empty() {
            break;
        }
        let page: SessionPage = client.get(&format!("/sessions?archived=any&limit=200{after}")).await?;
        found.extend(page.sessions.into_iter().filter(|row| missing.remove(&row.id)).map(|row| (row.id, row)));
        match page.next_cursor {
            Some(cursor) => after = format!("&after={cursor}"),
            None => break,
        }
    }
    for id in missing {
        // A session that was deleted meanwhile no longer belongs to it.
        if let Ok(session) = client.get::<Session>(&format!("/sessions/{id}")).await {
            found.insert(id, session.row);
        }
    }
    Ok(found)
}

fn print_json(value: &impl Serialize) -> Result<()> {
    Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(value)?))?)
}
