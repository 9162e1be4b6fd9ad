//! `throughline applets show`: what an applet says of itself, what is in its state, and what it may do.

use std::fs;
use std::path::Path;

use anyhow::Result;
use engine::{Clock as _, SystemClock};
use indicatif::HumanBytes;
use model::{AppletGrant, AppletName, SessionId, Timestamp, one_line};
use serde_json::{Value, json};
use server::wire::{Applet, AppletGrants};

use super::{path_of, print_json, session_of};
use crate::agency;
use crate::cli;
use crate::client::Client;
use crate::data_dir::DataDir;
use crate::terminal::{self, ago, safe, table};

/// What an applet says of itself stands on one line each, so that no text of its looks like one of ours.
const TEXT_CHARS: usize = 1_000;
/// How many lines of a state are printed.
const STATE_LINES: usize = 12;
/// How many of its files are listed.
const FILES: usize = 50;

pub(super) async fn print(data: &DataDir, client: &Client, show: &cli::ShowApplet, json: bool) -> Result<()> {
    let session = session_of(client, &show.applet, show.session.as_ref()).await?;
    let word = show.applet.as_str();
    let applet: Applet = client.get(&path_of(word, "", session)).await?;
    let granted: AppletGrants = client.get(&path_of(word, "/grants", session)).await?;
    let folder = (!applet.row.bundled).then(|| data.path().join(agency::APPLETS).join(folder_of(word, session)));
    if json {
        let mut value = serde_json::to_value(&applet)?;
        if let Value::Object(fields) = &mut value {
            fields.insert("grants".to_owned(), json!(granted.grants));
            fields.insert("folder".to_owned(), json!(folder));
        }
        return print_json(&value);
    }
    let mut lines = about_lines(&applet, SystemClock.now());
    lines.extend(param_lines(&applet));
    lines.extend(state_lines(&applet, session)?);
    lines.push(String::new());
    lines.push(grant_line(&granted.grants));
    lines.extend(file_lines(&applet, folder.as_deref()));
    lines.iter().try_for_each(|line| terminal::line(&safe(line)))?;
    Ok(())
}

/// Its folder, below that of all applets.
fn folder_of(word: &str, session: Option<SessionId>) -> String {
    match session.filter(|_| word == AppletName::SHOWN) {
        Some(session) => AppletName::Shown(session).to_string(),
        None => word.to_owned(),
    }
}

fn about_lines(applet: &Applet, now: Timestamp) -> Vec<String> {
    let (row, about) = (&applet.row, &applet.row.about);
    let mut lines = vec![format!("{} ({})", about.name, row.slug)];
    lines.extend(Some(one_line(&about.description, TEXT_CHARS)).filter(|text| !text.is_empty()));
    let saved = match ago(row.updated_at, now).as_str() {
        "now" => "just now".to_owned(),
        time => format!("{time} ago"),
    };
    lines.push(match (row.bundled, row.slug.as_str()) {
        (true, _) => "It comes with the program.".to_owned(),
        (false, AppletName::SHOWN) => format!("A session's own, shown {saved}; nobody has saved it."),
        (false, _) => format!("Yours, saved {saved}."),
    });
    if let Some(usage) = &about.agent_usage {
        lines.push(format!("For agents: {}", one_line(&usage.purpose, TEXT_CHARS)));
        let example = one_line(&usage.example, TEXT_CHARS);
        lines.extend(Some(&example).filter(|text| !text.is_empty()).map(|text| format!("  such as {text}")));
    }
    lines
}

fn param_lines(applet: &Applet) -> Vec<String> {
    let row = |(name, param): (&String, &server::wire::AppletParam)| {
        let required = if param.required { "yes" } else { "" };
        vec![one_line(name, TEXT_CHARS), required.to_owned(), one_line(&param.description, TEXT_CHARS)]
    };
    let rows: Vec<Vec<String>> = applet.row.about.params.iter().map(row).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new()];
    lines.extend(table(&["PARAM", "NEEDED", "WHAT IT IS"], &rows));
    lines
}

fn state_lines(applet: &Applet, session: Option<SessionId>) -> Result<Vec<String>> {
    let mut lines = vec![String::new()];
    if applet.row.about.per_session && session.is_none() {
        lines.push("Each session has a state of its own; --session SESSION prints one.".to_owned());
    } else if applet.state.version == 0 {
        lines.push("Its state was never set.".to_owned());
    } else {
        lines.push(format!("State, version {}:", applet.state.version));
        let text = serde_json::to_string_pretty(&applet.state.state)?;
        lines.extend(text.lines().take(STATE_LINES).map(|line| format!("  {line}")));
        let more = text.lines().count().saturating_sub(STATE_LINES);
        if more > 0 {
            lines.push(format!("  ({more} more lines; --json prints all)"));
        }
    }
    Ok(lines)
}

fn grant_line(grants: &[AppletGrant]) -> String {
    let words: Vec<&str> = grants
        .iter()
        .map(|grant| match grant {
            AppletGrant::FilesRead => "read files of the session",
            AppletGrant::FilesWrite => "write files of the session",
            AppletGrant::Message => "send prompts to the agent",
        })
        .collect();
    match words.as_slice() {
        [] => "You have not allowed it to do anything beside keeping its state.".to_owned(),
        words => format!("You allowed it, as its page is now, to {}.", words.join(", ")),
    }
}

fn file_lines(applet: &Applet, folder: Option<&Path>) -> Vec<String> {
    let page = HumanBytes((applet.html.len() + applet.js.len() + applet.css.len()) as u64);
    let Some(folder) = folder else {
        return vec![format!("Its page has {page}. It has no files; one of yours with its slug takes its place.")];
    };
    let mut lines = vec![format!("Its page has {page}. Its files are in {}:", folder.display())];
    // Whoever removes the folder meanwhile sees no files.
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut rows: Vec<Vec<String>> = found
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            match entry.metadata() {
                Ok(found) if found.is_file() => vec![name, HumanBytes(found.len()).to_string()],
                Ok(_) | Err(_) => vec![format!("{name}/"), String::new()],
            }
        })
        .collect();
    rows.sort();
    rows.truncate(FILES);
    lines.extend(table(&["", ""], &rows).into_iter().skip(1).map(|line| format!("  {line}")));
    lines
}
