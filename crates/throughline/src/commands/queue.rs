//! `throughline queue` and `unqueue`: lists the waiting prompts, and removes one.

use anyhow::{Result, bail};
use engine::{Clock as _, SystemClock};
use serde_json::json;
use server::wire::QueuedPrompt;

use crate::cli::{self, PromptName};
use crate::client::Client;
use crate::data_dir::DataDir;
use crate::terminal::{self, ago, cut, safe, safe_json, table};
use crate::transcript_text::author;

const TEXT_COLUMNS: usize = 60;

pub(super) async fn list(data: &DataDir, queue: &cli::Queue) -> Result<()> {
    let client = Client::connect(data).await?;
    let found = client.find_session(&queue.session).await;
    client.close().await;
    let waiting = found?.queue;
    if queue.json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(&json!({ "queue": waiting }))?))?);
    }
    if waiting.is_empty() {
        return Ok(terminal::line("No prompts wait.")?);
    }
    let now = SystemClock.now();
    let row = |(index, prompt): (usize, &QueuedPrompt)| {
        vec![(index + 1).to_string(), ago(prompt.queued_at, now), prompt.interaction_id.to_string(), one_line(prompt)]
    };
    let rows: Vec<Vec<String>> = waiting.iter().enumerate().map(row).collect();
    for line in table(&["N", "SINCE", "ID", "PROMPT"], &rows) {
        terminal::line(&line)?;
    }
    Ok(())
}

pub(super) async fn remove(data: &DataDir, unqueue: &cli::Unqueue) -> Result<()> {
    let client = Client::connect(data).await?;
    let removed = take_out(&client, unqueue).await;
    client.close().await;
    let prompt = removed?;
    if unqueue.json {
        let told = json!({ "interactionId": prompt.interaction_id, "text": prompt.text });
        return Ok(terminal::line(&safe_json(&told.to_string()))?);
    }
    Ok(terminal::line(&safe(&format!("It will not be sent: {}", one_line(&prompt))))?)
}

async fn take_out(client: &Client, unqueue: &cli::Unqueue) -> Result<QueuedPrompt> {
    let session = client.find_session(&unqueue.session).await?;
    let count = session.queue.len();
    let mut waiting = session.queue.into_iter();
    let meant = match &unqueue.prompt {
        PromptName::Id(id) => waiting.find(|prompt| prompt.interaction_id == *id),
        PromptName::Place(place) => waiting.nth(place - 1),
    };
    let Some(prompt) = meant else {
        bail!("no such prompt waits; {count} do, and `throughline queue` lists them");
    };
    client.delete(&format!("/sessions/{}/prompts/{}", session.row.id, prompt.interaction_id)).await?;
    Ok(prompt)
}

/// The prompt on one line.
fn one_line(prompt: &QueuedPrompt) -> String {
    let line = prompt.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let images =
        if prompt.images.is_empty() { String::new() } else { format!(" [with {} images]", prompt.images.len()) };
    format!("{}{}{images}", author(&prompt.by), cut(&line, TEXT_COLUMNS))
}
