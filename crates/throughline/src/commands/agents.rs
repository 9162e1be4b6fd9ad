//! `throughline agents`: lists the agents, and the sessions that an agent keeps by itself.

use anyhow::{Context as _, Result};
use engine::{Clock as _, SystemClock};
use server::wire::{Agent, AgentPage, AgentSession, AgentSessionPage};

use crate::cli;
use crate::client::Client;
use crate::commands::list::tail;
use crate::data_dir::DataDir;
use crate::link::encoded;
use crate::terminal::{self, ago, cut, safe, safe_json, table};

const TITLE_COLUMNS: usize = 48;

pub(super) async fn run(data: &DataDir, agents: cli::Agents) -> Result<()> {
    let client = Client::connect(data).await?;
    let done = match &agents.name {
        None => list(&client, agents.json).await,
        Some(name) => sessions(&client, name, &agents).await,
    };
    client.close().await;
    done
}

async fn list(client: &Client, json: bool) -> Result<()> {
    let page: AgentPage = client.get("/agents").await?;
    if json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(&page)?))?);
    }
    let row = |agent: &Agent| {
        let (there, more) = match (agent.installed, &agent.version) {
            (true, Some(version)) => ("yes", version.clone()),
            (true, None) => ("yes", String::new()),
            (false, _) => ("no", agent.install.clone().unwrap_or_default()),
        };
        vec![agent.name.clone(), agent.title.clone(), there.to_owned(), more]
    };
    let rows: Vec<Vec<String>> = page.agents.iter().map(row).collect();
    for line in table(&["NAME", "AGENT", "INSTALLED", "VERSION, OR HOW TO GET IT"], &rows) {
        terminal::line(&line)?;
    }
    Ok(())
}

async fn sessions(client: &Client, name: &str, wish: &cli::Agents) -> Result<()> {
    let mut query = Vec::new();
    if let Some(cwd) = &wish.cwd {
        let cwd = std::path::absolute(cwd)?;
        let cwd = cwd.to_str().context("the directory's path is not valid UTF-8")?;
        query.push(format!("cwd={}", encoded(cwd)));
    }
    query.extend(wish.cursor.as_deref().map(|cursor| format!("cursor={}", encoded(cursor))));
    let path = format!("/agents/{}/sessions?{}", encoded(name), query.join("&"));
    let page: AgentSessionPage = client.get(&path).await?;
    if wish.json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(&page)?))?);
    }
    if page.sessions.is_empty() {
        let name = safe(name);
        terminal::line(&match &wish.cwd {
            Some(_) => format!("{name} tells of no sessions in this directory."),
            // Qwen does so.
            None => format!("{name} tells of no sessions. Some agents tell only of one directory's: try --cwd DIR."),
        })?;
    } else {
        let now = SystemClock.now();
        let row = |session: &AgentSession| {
            vec![
                session.id.clone(),
                session.session_id.map(tail).unwrap_or_default(),
                session.updated_at.map(|at| ago(at, now)).unwrap_or_default(),
                cut(session.title.as_deref().unwrap_or_default(), TITLE_COLUMNS),
                session.cwd.clone(),
            ]
        };
        let rows: Vec<Vec<String>> = page.sessions.iter().map(row).collect();
        for line in table(&["ITS ID", "SESSION", "ACTIVE", "TITLE", "DIRECTORY"], &rows) {
            terminal::line(&line)?;
        }
    }
    if let Some(cursor) = &page.next_cursor {
        terminal::line(&format!("(there are more: --cursor {})", safe(cursor)))?;
    }
    Ok(())
}
