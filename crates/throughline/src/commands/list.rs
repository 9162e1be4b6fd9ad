//! `throughline list`: lists the sessions.

use anyhow::Result;
use engine::{Clock as _, SystemClock};
use model::{SessionId, SessionState, Timestamp};
use server::wire::{DeletedPage, DeletedSession, MetaContext, ReadOnly, SessionPage, SessionRow};
use unicode_width::UnicodeWidthStr as _;

use crate::cli;
use crate::client::Client;
use crate::commands::here::StartDirectory;
use crate::data_dir::DataDir;
use crate::host::home;
use crate::link::encoded;
use crate::pager;
use crate::paging::PageCursor;
use crate::style::{Style, screen};
use crate::terminal::{self, Cell, ago, cut, cut_start, safe, safe_json, styled_table};

/// The least width of the column that gives way; on a narrower terminal lines are wrapped.
const LEAST_GIVING_COLUMNS: usize = 16;
const WORK_COLUMNS: usize = 24;
const PROJECT_COLUMNS: usize = 28;
/// The column of titles, which give way where there is little room.
const TITLE: &str = "TITLE";
/// The title of a session without one.
pub(super) const NO_TITLE: &str = "(nothing said yet)";
/// Enough of an id's random end to tell sessions apart.
const TAIL_CHARS: usize = 8;
/// The largest page that the server gives.
const PAGE: usize = 200;

pub(super) async fn run(data: &DataDir, list: &cli::List) -> Result<()> {
    let client = Client::connect(data).await?;
    if list.deleted {
        let page = client.get(&format!("/deleted-sessions?limit={}", list.limit)).await;
        client.close().await;
        return deleted(&page?, list.json);
    }
    let found = find(&client, list).await;
    client.close().await;
    let (mut page, more) = found?;
    // Pinned ones stand before the others, however old they are.
    page.sessions.sort_by_key(|row| row.pinned_at.is_none());
    if list.json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(&page)?))?);
    }
    if page.sessions.is_empty() {
        let words = match is_filtered(list) {
            true => "No session matches.",
            false => "No sessions yet. `throughline new` begins one in this directory.",
        };
        return Ok(terminal::advice(words)?);
    }
    let mut lines = session_lines(&page);
    if more {
        lines.push(format!("(the newest {}; --limit or --all shows more)", page.sessions.len()));
    }
    Ok(pager::print(&lines)?)
}

fn is_filtered(list: &cli::List) -> bool {
    !list.words.is_empty()
        || list.agent.is_some()
        || list.here
        || list.needs_you
        || list.tag.is_some()
        || list.pinned
        || list.archived
}

/// Reads pages until there are as many matching sessions as wanted; says whether there may be more.
async fn find(client: &Client, list: &cli::List) -> Result<(SessionPage, bool)> {
    let wanted = if list.all { usize::MAX } else { list.limit as usize };
    let mut found = SessionPage {
        sessions: Vec::new(),
        meta_contexts: Vec::new(),
        foremost: Vec::new(),
        unobserved_count: 0,
        needs_you_count: 0,
        next_cursor: None,
    };
    let query = query(list)?;
    let mut cursor = PageCursor::default();
    loop {
        let limit = if is_filtered(list) { PAGE } else { wanted.min(PAGE) };
        let path = format!("/sessions?limit={limit}{query}{}", cursor.parameter("&after"));
        let page: SessionPage = client.get(&path).await?;
        (found.unobserved_count, found.needs_you_count) = (page.unobserved_count, page.needs_you_count);
        let pinned = page.foremost.iter().filter(|row| row.pinned_at.is_some() && !is_filtered(list));
        found.sessions.extend(pinned.take(wanted - found.sessions.len()).cloned());
        let is_new =
            |row: &&SessionRow| !found.sessions.iter().any(|known| known.id == row.id && known.pinned_at.is_some());
        let matching = page.sessions.iter().filter(|row| !list.needs_you || wants_attention(row));
        let matching: Vec<&SessionRow> = matching.filter(is_new).collect();
        let room = wanted - found.sessions.len();
        found.sessions.extend(matching.iter().take(room).copied().cloned());
        let is_known = |work: &MetaContext| found.meta_contexts.iter().any(|known| known.id == work.id);
        let new: Vec<MetaContext> = page.meta_contexts.iter().filter(|work| !is_known(work)).cloned().collect();
        found.meta_contexts.extend(new);
        if matching.len() > room {
            return Ok((found, true));
        }
        // Behind a page that was filtered, no cursor says where to go on.
        found.next_cursor = page.next_cursor.clone().filter(|_| !is_filtered(list));
        let is_full = found.sessions.len() == wanted;
        if is_full || !cursor.advance(page.next_cursor.clone())? {
            return Ok((found, page.next_cursor.is_some()));
        }
    }
}

/// What the server is to look for by itself.
fn query(list: &cli::List) -> Result<String> {
    let archived = match (list.archived, list.all) {
        (true, _) => "&archived=only",
        (false, true) => "&archived=any",
        (false, false) => "",
    };
    let pinned = if list.pinned { "&pinned=true" } else { "" };
    let here = list.here.then(project_here).transpose()?;
    let text = (!list.words.is_empty()).then(|| list.words.join(" "));
    let named = [("tag", &list.tag), ("agent", &list.agent), ("project", &here), ("text", &text)];
    let named = named.iter().filter_map(|(name, value)| Some(format!("&{name}={}", encoded(value.as_deref()?))));
    Ok(format!("{archived}{pinned}{}", named.collect::<String>()))
}

/// The project of this directory, as sessions name theirs.
fn project_here() -> Result<String> {
    let cwd = std::env::current_dir()?;
    let start = StartDirectory::of(&cwd, home().as_deref());
    Ok(start.map_or_else(|| cwd.display().to_string(), |start| start.directory))
}

/// Whether the session waits for an answer, failed, does not respond, or finished and was not looked at yet.
pub(super) fn wants_attention(row: &SessionRow) -> bool {
    match row.state {
        SessionState::NeedsYou | SessionState::Failed | SessionState::Unresponsive => true,
        SessionState::Starting | SessionState::Idle | SessionState::Running | SessionState::Interrupted => {
            row.unobserved
        }
    }
}

fn work_of<'a>(row: &SessionRow, works: &'a [MetaContext]) -> Option<&'a MetaContext> {
    works.iter().find(|work| Some(work.id) == row.meta_context_id)
}

fn session_lines(page: &SessionPage) -> Vec<String> {
    let now = SystemClock.now();
    let has_work = !page.meta_contexts.is_empty();
    let has_tags = page.sessions.iter().any(|row| !row.tags.is_empty());
    let cells = |row: &SessionRow| {
        let mut cells = vec![
            Cell::styled(tail(row.id), Style::Dim),
            state_cell(row),
            Cell::plain(row.turns.0.to_string()),
            Cell::styled(ago(row.active_at, now), Style::Dim),
            Cell::plain(row.agent.clone()),
        ];
        if has_work {
            let work = work_of(row, &page.meta_contexts).map(|work| short_work(&safe(&work.name)));
            cells.push(Cell::plain(work.unwrap_or_default()));
        }
        cells.push(title_cell(row.title.as_deref(), row.unobserved));
        if has_tags {
            cells.push(Cell::styled(row.tags.join(" "), Style::Dim));
        }
        cells.push(Cell::styled(short_path(&row.project), Style::Dim));
        cells
    };
    let mut header = vec!["ID", "STATE", "TURNS", "ACTIVE", "AGENT"];
    if has_work {
        header.push("WORK");
    }
    header.push(TITLE);
    if has_tags {
        header.push("TAGS");
    }
    header.push("PROJECT");
    fitting_table(&header, TITLE, page.sessions.iter().map(cells).collect())
}

fn deleted(page: &DeletedPage, json: bool) -> Result<()> {
    if json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(page)?))?);
    }
    if page.sessions.is_empty() {
        return Ok(terminal::line("No session was deleted in the last seven days.")?);
    }
    let mut lines = deleted_lines(&page.sessions, SystemClock.now());
    if page.next_cursor.is_some() {
        lines.push(format!("(the newest {}; --limit shows more)", page.sessions.len()));
    }
    Ok(pager::print(&lines)?)
}

fn deleted_lines(sessions: &[DeletedSession], now: Timestamp) -> Vec<String> {
    let cells = |row: &DeletedSession| {
        vec![
            Cell::styled(tail(row.id), Style::Dim),
            Cell::plain(ago(row.deleted_at, now)),
            Cell::plain(row.turns.0.to_string()),
            Cell::plain(row.agent.clone()),
            title_cell(row.title.as_deref(), false),
            Cell::styled(short_path(&row.project), Style::Dim),
        ]
    };
    let header = ["ID", "DELETED", "TURNS", "AGENT", TITLE, "PROJECT"];
    fitting_table(&header, TITLE, sessions.iter().map(cells).collect())
}

/// A table in which one column takes what the terminal has left.
pub(super) fn fitting_table(header: &[&str], giving: &str, mut rows: Vec<Vec<Cell>>) -> Vec<String> {
    if let Some((columns, _)) = screen() {
        let width = |index: usize| {
            let cells = rows.iter().map(|row| row[index].text.width());
            cells.chain([header[index].width()]).max().unwrap_or_default() + 2
        };
        let giving = header.iter().position(|name| *name == giving).unwrap_or_default();
        let others: usize = (0..header.len()).filter(|index| *index != giving).map(width).sum();
        let left = columns.saturating_sub(others).max(LEAST_GIVING_COLUMNS);
        for row in &mut rows {
            row[giving].text = cut(&row[giving].text, left);
        }
    }
    styled_table(header, &rows)
}

fn title_cell(title: Option<&str>, unobserved: bool) -> Cell {
    match title {
        None => Cell::styled(NO_TITLE, Style::Dim),
        Some(title) if unobserved => Cell::styled(title, Style::Bold),
        Some(title) => Cell::plain(title),
    }
}

fn short_work(name: &str) -> String {
    if screen().is_some() { cut(name, WORK_COLUMNS) } else { name.to_owned() }
}

/// A directory with `~` for the home; of a long one, the end.
fn short_path(path: &str) -> String {
    let home = home().and_then(|home| home.to_str().map(str::to_owned)).filter(|home| home.len() > 1);
    let below = home.and_then(|home| path.strip_prefix(&home).map(str::to_owned));
    let short = match below {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        Some(_) | None => path.to_owned(),
    };
    if screen().is_some() { cut_start(&short, PROJECT_COLUMNS) } else { short }
}

/// The end of a session's id, by which people name it.
pub(crate) fn tail(session: SessionId) -> String {
    let id = session.to_string();
    id[id.len() - TAIL_CHARS..].to_owned()
}

fn state_cell(row: &SessionRow) -> Cell {
    let style = match (row.read_only, row.state) {
        (Some(ReadOnly::Damaged), _) | (None, SessionState::Failed | SessionState::Unresponsive) => Style::Bad,
        (Some(ReadOnly::Newer | ReadOnly::Imported), _) | (None, SessionState::Idle) => Style::Dim,
        (None, SessionState::NeedsYou) => Style::Attention,
        (None, SessionState::Running | SessionState::Starting) => Style::Active,
        (None, SessionState::Interrupted) => Style::Bold,
    };
    Cell::styled(state(row), style)
}

/// The state, with marks: of a session that came to rest unseen, is pinned or archived.
pub(super) fn state(row: &SessionRow) -> String {
    let marks = [
        (row.unobserved && row.read_only.is_none(), " *"),
        (row.pinned_at.is_some(), " (pinned)"),
        (row.archived_at.is_some(), " (archived)"),
    ];
    let marks: String = marks.into_iter().filter(|(is_set, _)| *is_set).map(|(_, mark)| mark).collect();
    format!("{}{marks}", state_word(row))
}

pub(super) fn state_word(row: &SessionRow) -> &'static str {
    match row.read_only {
        Some(ReadOnly::Damaged) => return "damaged",
        Some(ReadOnly::Newer) => return "newer",
        Some(ReadOnly::Imported) => return "imported",
        None => (),
    }
    match row.state {
        SessionState::Starting => "starting",
        SessionState::Idle => "idle",
        SessionState::Running => "running",
        SessionState::NeedsYou => "needs you",
        SessionState::Unresponsive => "unresponsive",
        SessionState::Interrupted => "interrupted",
        SessionState::Failed => "failed",
    }
}
