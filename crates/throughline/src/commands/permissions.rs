//! `throughline permissions`: what agents are answered without asking, because a person answered the very same before.

use anyhow::Result;
use engine::{Clock as _, SystemClock};
use model::{Answerer, Timestamp};
use serde::Serialize;
use server::wire::{RememberedPage, RememberedPermission};

use crate::cli;
use crate::client::Client;
use crate::data_dir::DataDir;
use crate::terminal::{self, ago, safe_json, table};

/// How much of what it is about stands in its row; `--json` prints more.
const SUBJECT_CHARS: usize = 60;

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
        return Ok(terminal::line("Nothing is remembered. `throughline answer SESSION OPTION --remember` remembers.")?);
    }
    let now = SystemClock.now();
    let rows: Vec<Vec<String>> = page.permissions.iter().map(|permission| row(permission, now)).collect();
    for line in table(&["ID", "DECISION", "AGENT", "KIND", "SUBJECT", "DIRECTORY", "SINCE", "BY"], &rows) {
        terminal::line(&line)?;
    }
    Ok(())
}

async fn forget(client: &Client, id: &str, json: bool) -> Result<()> {
    client.delete(&format!("/permissions/{id}")).await?;
    if json {
        return print_json(&serde_json::json!({ "success": true }));
    }
    Ok(terminal::line("Forgotten. The same will be asked again.")?)
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

/// From its beginning, all lines in one: nothing stands before what is seen.
fn shortened(subject: &str) -> String {
    match subject.char_indices().nth(SUBJECT_CHARS) {
        Some((at, _)) => format!("{}…", &subject[..at]),
        None => subject.to_owned(),
    }
}

/// As the wire has it.
fn word(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}
