//! `throughline send`: sends a prompt and prints its answer as it comes.

use std::io::Read as _;

use anyhow::{Context as _, Result, bail};
use server::wire::{NewPrompt, PromptAccepted, WhenBusy};

use crate::cli;
use crate::client::Client;
use crate::commands::answer_printer::AnswerPrinter;
use crate::commands::list::tail;
use crate::data_dir::DataDir;
use crate::terminal;

pub(super) async fn run(data: &DataDir, send: cli::Send) -> Result<()> {
    let text = if send.text == "-" { read_prompt()? } else { send.text };
    let client = Client::connect(data).await?;
    let session = client.find_session(&send.session).await?;
    if send.no_wait && !client.has_server() {
        bail!("no server is running that could answer later; leave out --no-wait, or start one with `throughline`");
    }
    // Follows before the prompt is sent, so that nothing of the answer is missed.
    let mut answer = AnswerPrinter::follow(&client, session.row.id, Some(&session.cursor), send.json).await?;
    let (images, when_busy) = (Vec::new(), WhenBusy::Queue);
    let prompt = NewPrompt { text, images, when_busy, applet_state: None, applet: None, key: None };
    if !send.json && !session.open_requests.is_empty() {
        let session = tail(session.row.id);
        terminal::remark(&format!("the agent waits for an answer; `throughline show {session}` prints what it asked"));
    }
    let accepted: PromptAccepted = client.post(&format!("/sessions/{}/prompts", session.row.id), Some(&prompt)).await?;
    let done = if send.no_wait {
        let line = if send.json { serde_json::to_string(&accepted)? } else { "Stored.".to_owned() };
        terminal::line(&line).map_err(Into::into)
    } else {
        tokio::select! {
            // Before anything is printed: a reader may stop us with the first word.
            biased;
            signal = tokio::signal::ctrl_c() => signal.map_err(Into::into).and_then(|()| leave(&client)),
            done = answer.print(&client, accepted.interaction_id) => done,
        }
    };
    drop(answer);
    client.close().await;
    done
}

fn read_prompt() -> Result<String> {
    let mut text = String::new();
    let limit = model::MAX_PROMPT_BYTES;
    std::io::stdin().take(limit as u64 + 1).read_to_string(&mut text).context("could not read the prompt")?;
    if text.len() > limit {
        bail!("the prompt is too long: at most {limit} bytes are taken");
    }
    Ok(text)
}

/// Ctrl+C: what happens to the turn depends on who hosts it. Without a server it ends with this command, which first
/// stores what was said.
pub(super) fn leave(client: &Client) -> Result<()> {
    match client.has_server() {
        true => bail!("stopped listening; the turn goes on, and `throughline show` prints what comes of it"),
        false => bail!("stopped; no server is running, so the turn ends here"),
    }
}
