//! `throughline permissions`: lists the answers that are given again without asking, because a person answered the
//! same question before.

use anyhow::{Result, bail};
use engine::{Clock as _, SystemClock};
use model::{Answerer, RememberedId, Timestamp};
use serde::Serialize;
use server::wire::{RememberedPage, RememberedPermission};

use crate::cli;
use crate::client::Client;
use crate::data_dir::DataDir;
use crate::terminal::{self, ago, safe_json, table};

/// How much of the subject is in a row; `--json` prints more.
const SUBJECT_CHARS: usize = 60;
/// The shortest accepted part of an id.
const PART_CHARS: usize = 4;

pub(super) async fn run(data: &DataDir, permissions: cli::Permissions) -> Result<()> {
    let client = Client::connect(data).await?;
    let done = match permissions.command {
        None => list(&client, permissions.json).await,
        Some(cli::PermissionsCommand::Forget { id, json }) => forget(&client, &id, json || permissions.json).await,
    };
    client.close().await;
    done
}

async fn list(client: &Client, json: bool) -> Result<()> {
    let page: RememberedPage = client.get("/permissions").await?;
    if json {
        return print_json(&page);
    }
    if page.permissions.is_empty() {
        return Ok(terminal::advice(
            "Nothing is remembered. `throughline answer SESSION OPTION --remember` remembers.",
        )?);
    }
    let now = SystemClock.now();
    let rows: Vec<Vec<String>> = page.permissions.iter().map(|permission| row(permission, now)).collect();
    for line in table(&["ID", "DECISION", "AGENT", "KIND", "SUBJECT", "DIRECTORY", "SINCE", "BY"], &rows) {
        terminal::line(&line)?;
    }
    Ok(())
}

async fn forget(client: &Client, named: &str, json: bool) -> Result<()> {
    let id = match named.parse::<RememberedId>() {
        Ok(id) => id,
        Err(_) => find(client, named).await?,
    };
    client.delete(&format!("/permissions/{id}")).await?;
    if json {
        return print_json(&serde_json::json!({ "success": true }));
    }
    Ok(terminal::line("Forgotten. The same is asked again, unless the agent itself was told to allow it always.")?)
}

/// The permission whose id begins or ends like this.
async fn find(client: &Client, part: &str) -> Result<RememberedId> {
    if part.len() < PART_CHARS {
        bail!("{part:?} is too little of an id; give {PART_CHARS} or more characters of its beginning or its end");
    }
    let lower = part.to_ascii_lowercase();
    let page: RememberedPage = client.get("/permissions").await?;
    let is_meant = |id: &RememberedId| {
        let id = id.to_string();
        id.starts_with(&lower) || id.ends_with(&lower)
    };
    let found: Vec<RememberedId> = page.permissions.iter().map(|row| row.id).filter(is_meant).collect();
    match found.as_slice() {
        [id] => Ok(*id),
        [] => bail!("no remembered answer's id begins or ends with {part}; `throughline permissions` shows them"),
        several => bail!("{} remembered answers' ids begin or end with {part}; give more of it", several.len()),
    }
}

fn print_json(answer: &impl Serialize) -> Result<()> {
    Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(answer)?))?)
}

fn row(permission: &RememberedPermission, now: Timestamp) -> Vec<String> {
    let by = match &permission.by {
        Answerer::Person { name, .. } => name.clone(),
        Answerer::Policy { .. } | Answerer::Remembered { .. } | Answerer::Nobody => String::new(),
    };
    vec![
        permission.id.to_string(),
        word(permission.decision),
        permission.agent.clone(),
        word(permission.kind),
        shortened(&permission.subject),
        permission.cwd.clone(),
        ago(permission.remembered_at, now),
        by,
    ]
}

/// The beginning of the subject, on one line, so that nothing before it is hidden.
fn shortened(subject: &str) -> String {
    match subject.char_indices().nth(SUBJECT_CHARS) {
        Some((at, _)) => format!("{}…", &subject[..at]),
        None => subject.to_owned(),
    }
}

/// The value's name in JSON.
fn word(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}
