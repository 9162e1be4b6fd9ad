//! `throughline status`: whether the server runs, and what needs the person.

use anyhow::Result;
use model::SessionState;
use serde::Serialize;
use server::wire::{Health, SessionPage, SessionRow, UsageToday};

use crate::cli;
use crate::client::Client;
use crate::commands::list::{NO_TITLE, state_word, tail, wants_attention};
use crate::commands::usage;
use crate::data_dir::DataDir;
use crate::style::Style;
use crate::terminal::{self, counted, cut, safe, safe_json};

/// Of those that run, failed or finished unseen, the most recently active are looked at; those that wait are all known.
const LOOKED_AT: u32 = 200;
const SHOWN: usize = 10;
const TITLE_COLUMNS: usize = 60;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Status<'a> {
    running: bool,
    url: Option<&'a str>,
    pid: Option<u32>,
    version: &'static str,
    data_dir: String,
    search: Option<&'a str>,
    sessions_running: usize,
    unobserved_count: u64,
    needs_you_count: u64,
    needs_you: Vec<&'a SessionRow>,
    /// What today has used.
    today: Option<UsageToday>,
}

pub(super) async fn run(data: &DataDir, status: &cli::Status) -> Result<()> {
    let Some(client) = Client::of_running(data).await? else {
        let found = Status {
            running: false,
            url: None,
            pid: None,
            version: env!("CARGO_PKG_VERSION"),
            data_dir: data.path().display().to_string(),
            search: None,
            sessions_running: 0,
            unobserved_count: 0,
            needs_you_count: 0,
            needs_you: Vec::new(),
            today: None,
        };
        if status.json {
            return print_json(&found);
        }
        terminal::line("No server is running.")?;
        return Ok(terminal::advice(&format!("`throughline` starts one on {}.", safe(&found.data_dir)))?);
    };
    let page: SessionPage = client.get(&format!("/sessions?limit={LOOKED_AT}")).await?;
    let health: Health = client.health().await?;
    let today = usage::today(&client).await?;
    client.close().await;
    let server = data.read_server_file();
    let running = page.sessions.iter().filter(|row| row.state == SessionState::Running).count();
    let waits = |row: &&SessionRow| row.state == SessionState::NeedsYou;
    let waiting = page.foremost.iter().filter(waits);
    let others = page.sessions.iter().filter(|row| !waits(row) && wants_attention(row));
    let found = Status {
        running: true,
        url: server.as_ref().map(|server| server.url.as_str()),
        pid: server.as_ref().map(|server| server.pid),
        version: env!("CARGO_PKG_VERSION"),
        data_dir: data.path().display().to_string(),
        search: health.search.as_deref(),
        sessions_running: running,
        unobserved_count: page.unobserved_count,
        needs_you_count: page.needs_you_count,
        needs_you: waiting.chain(others).collect(),
        today: Some(today),
    };
    if status.json {
        return print_json(&found);
    }
    print(&found, &health)
}

fn print_json(status: &Status<'_>) -> Result<()> {
    Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(status)?))?)
}

fn print(status: &Status<'_>, health: &Health) -> Result<()> {
    let pid = status.pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
    terminal::line(&safe(&format!("Running at {}{pid}", status.url.unwrap_or("its socket"))))?;
    terminal::line(&safe(&format!("Data in {}", status.data_dir)))?;
    if health.status != "ok" {
        terminal::line(&Style::Bad.paint("A part of the server keeps failing; its log names it."))?;
    }
    if let Some(search) = status.search {
        terminal::line(&Style::Bad.paint(&safe(&format!("Search is {search}"))))?;
    }
    // Who needs the person is told of once, by that.
    let is_waiting = |row: &&&SessionRow| row.state == SessionState::NeedsYou && row.unobserved;
    let waiting_unseen = status.needs_you.iter().filter(is_waiting).count() as u64;
    let counts = [
        counted(status.sessions_running as u64, "session is running", "sessions are running"),
        counted(status.needs_you_count, "needs you", "need you"),
        counted(status.unobserved_count.saturating_sub(waiting_unseen), "is unseen", "are unseen"),
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    terminal::line(&if counts.is_empty() {
        "Nothing runs, nothing needs you.".to_owned()
    } else {
        format!("{}.", counts.join(", "))
    })?;
    for row in status.needs_you.iter().take(SHOWN) {
        let title = cut(&safe(row.title.as_deref().unwrap_or(NO_TITLE)).replace('\n', " "), TITLE_COLUMNS);
        terminal::line(&format!("  {}  {:<12}  {title}", tail(row.id), state_word(row)))?;
    }
    if status.needs_you.len() > SHOWN {
        terminal::advice(&format!(
            "  and {} more; `throughline list --needs-you` lists them",
            status.needs_you.len() - SHOWN
        ))?;
    }
    let Some(today) = &status.today else { return Ok(()) };
    if today.used.total_tokens > 0 || !today.used.cost.is_empty() {
        terminal::line(&format!("Today: {}.", usage::in_words(&today.used)))?;
    }
    if let Some(warning) = &today.warning {
        terminal::line(&usage::warned("Today", warning))?;
    }
    Ok(())
}
