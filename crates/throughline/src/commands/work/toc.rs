//! `throughline work toc`: prints the contents of all sessions of a work as one numbered list.

use anyhow::Result;
use server::wire::MetaContextToc;

use super::find::find;
use super::print_json;
use crate::cli;
use crate::client::Client;
use crate::commands::list::{NO_TITLE, tail};
use crate::commands::toc::mark;
use crate::paging::PageCursor;
use crate::terminal::{self, safe};

pub(super) async fn print(client: &Client, toc: &cli::NamedWork, json: bool) -> Result<()> {
    let work = find(client, &toc.work).await?;
    let path = format!("/meta-contexts/{}/toc", work.id);
    let mut contents: MetaContextToc = client.get(&path).await?;
    let mut cursor = PageCursor::default();
    while cursor.advance(contents.next_cursor.take())? {
        let page: MetaContextToc = client.get(&format!("{path}{}", cursor.parameter("?after"))).await?;
        join(&mut contents, page);
    }
    if json {
        return print_json(&contents);
    }
    for line in lines(&contents) {
        terminal::line(&line)?;
    }
    Ok(())
}

/// Appends a page; a session that is split between two pages gets one heading.
fn join(contents: &mut MetaContextToc, page: MetaContextToc) {
    let ended_in = contents.entries.last().map(|entry| entry.session_id);
    let goes_on = page.entries.first().is_some_and(|entry| Some(entry.session_id) == ended_in);
    let formatted = match page.formatted.split_once('\n') {
        Some((_heading, rest)) if goes_on => rest,
        _ => &page.formatted,
    };
    contents.formatted = format!("{}\n{formatted}", contents.formatted);
    contents.entries.extend(page.entries);
    contents.next_cursor = page.next_cursor;
}

fn lines(contents: &MetaContextToc) -> Vec<String> {
    let mut lines = vec![safe(&contents.name)];
    if contents.entries.is_empty() {
        lines.push("No turns yet.".to_owned());
    }
    let width = contents.total_turns.to_string().len();
    let mut session = None;
    for line in &contents.entries {
        if session.replace(line.session_id) != Some(line.session_id) {
            let name = Some(line.session_name.as_str()).filter(|name| !name.is_empty()).unwrap_or(NO_TITLE);
            lines.extend([String::new(), safe(&format!("{name}  ({})", tail(line.session_id)))]);
        }
        let entry = &line.entry;
        lines.push(format!("{:>width$}. {}{}  [t{}]", line.number, safe(&entry.summary), mark(entry), entry.turn));
    }
    lines
}
