//! `throughline search`: searches all sessions, or one.

use anyhow::Result;
use engine::{Clock as _, SystemClock};
use server::wire::{SearchPage, SearchResult, Snippet, Toc};

use crate::cli;
use crate::client::Client;
use crate::commands::list::tail;
use crate::commands::open_page::{self, Place};
use crate::data_dir::DataDir;
use crate::link::encoded;
use crate::style::{Style, has_colours};
use crate::terminal::{self, ago, safe, safe_json};

pub(super) async fn run(data: &DataDir, search: &cli::Search) -> Result<()> {
    let client = Client::connect(data).await?;
    let words = search.words();
    let found = match &search.session {
        Some(name) => {
            let session = client.find_session(name).await?;
            let path = query(&format!("/sessions/{}/search", session.row.id), &words, search);
            print_contents(&client.get(&path).await?, search.json)
        }
        None => {
            let page: SearchPage = client.get(&query("/search", &words, search)).await?;
            let shown = print_results(&page, search.json);
            if search.open
                && let Some(first) = page.results.first()
            {
                let turn = format!("t{}", first.turn);
                let place = Place { session: Some(first.session_id), turn: Some(&turn), query: "" };
                open_page::at(data, &client, place).await?;
            }
            shown
        }
    };
    client.close().await;
    found
}

fn query(path: &str, words: &str, search: &cli::Search) -> String {
    let exact = if search.exact { "&exact=true" } else { "" };
    format!("{path}?q={}&limit={}{exact}", encoded(words), search.limit)
}

fn print_results(page: &SearchPage, json: bool) -> Result<()> {
    if json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(page)?))?);
    }
    let now = SystemClock.now();
    let mut last = None;
    for result in &page.results {
        if last != Some(result.session_id) {
            last = Some(result.session_id);
            let name = Some(result.session_name.as_str()).filter(|name| !name.is_empty()).unwrap_or("(untitled)");
            let about = format!("{}  {}  {}", tail(result.session_id), result.agent, safe(&result.project));
            terminal::line(&format!("\n{}  {}", Style::Bold.paint(&safe(name)), Style::Dim.paint(&about)))?;
        }
        terminal::line(&format!("  {}  {}", place(result), shown(&result.snippet)))?;
        terminal::line(&Style::Dim.paint(&format!("        {}, {}", role(result), ago(result.created, now))))?;
    }
    let more = if page.more_than_total { "more than " } else { "" };
    match page.results.len() {
        0 => terminal::line("Nothing found. Fewer words, a part of one with *, or --exact find more.")?,
        count => terminal::advice(&format!(
            "\n{count} of {more}{} turns; `throughline show ID --turn N` reads one",
            page.total
        ))?,
    }
    for note in &page.notes {
        terminal::remark(note);
    }
    if let Some(indexing) = page.indexing {
        terminal::remark(&format!("the index is being built: {} of {} entries", indexing.done, indexing.total));
    }
    Ok(())
}

fn print_contents(toc: &Toc, json: bool) -> Result<()> {
    if json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(toc)?))?);
    }
    terminal::line(&Style::Bold.paint(&safe(&toc.session_name)))?;
    for entry in &toc.entries {
        terminal::line(&format!("  t{:<5} {}", entry.turn, safe(&entry.summary)))?;
        if let Some(snippet) = &entry.snippet {
            terminal::line(&format!("         {}", shown(snippet)))?;
        }
    }
    let found = toc.matches.unwrap_or_default();
    let turns = terminal::counted(toc.total_turns.into(), "turn", "turns").unwrap_or_default();
    terminal::line(&format!("\n{} of {found} that match, of {turns}", toc.entries.len()))?;
    for note in &toc.notes {
        terminal::remark(note);
    }
    Ok(())
}

fn place(result: &SearchResult) -> String {
    let place = match result.turn {
        0 => "title".to_owned(),
        turn => format!("t{turn}"),
    };
    format!("{place:<5}")
}

fn role(result: &SearchResult) -> String {
    match &result.tool {
        Some(tool) => format!("tool {tool}"),
        None => result.role.clone(),
    }
}

/// A snippet with the found words highlighted, if the terminal has colours.
fn shown(snippet: &Snippet) -> String {
    if !has_colours() {
        return safe(&snippet.text);
    }
    let chars: Vec<char> = snippet.text.chars().collect();
    let mut text = String::new();
    let mut at = 0;
    for (from, to) in &snippet.highlights {
        let (from, to) = ((*from as usize).clamp(at, chars.len()), (*to as usize).clamp(at, chars.len()));
        text.push_str(&safe(&chars[at..from].iter().collect::<String>()));
        text.push_str(&Style::Found.paint(&safe(&chars[from..to].iter().collect::<String>())));
        at = to;
    }
    text.push_str(&safe(&chars[at..].iter().collect::<String>()));
    text
}
