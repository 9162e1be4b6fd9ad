//! `throughline next`: lists the steps that a session's agent offers, and takes one of them.
//!
//! Invariant: a step is taken once. Taking it again leads to the same session, and starts its agent if the server
//! ended before it had begun.

use anyhow::{Context as _, Result, bail};
use model::{InteractionId, NextId, OfferState, SessionEvent, SessionId, SessionState, Turn};
use serde_json::Value;
use server::wire::{Clicked, EntryPage, NextBlock, NextClick, NextPage, Resume, Session};

use crate::block_text::{command_lines, step_lines};
use crate::cli;
use crate::client::Client;
use crate::commands::answer_printer::AnswerPrinter;
use crate::commands::installed;
use crate::commands::list::tail;
use crate::commands::send::leave;
use crate::data_dir::DataDir;
use crate::paging::PageCursor;
use crate::terminal::{self, safe, safe_json};

/// How many entries may come before the first prompt of a session.
const BEGINNING: u32 = 20;

pub(super) async fn run(data: &DataDir, next: cli::Next) -> Result<()> {
    let client = Client::connect(data).await?;
    let done = carry_out(&client, next).await;
    client.close().await;
    done
}

async fn carry_out(client: &Client, next: cli::Next) -> Result<()> {
    let session = client.find_session(&next.session).await?;
    let steps = steps(client, session.row.id).await?;
    let short = tail(session.row.id);
    match (next.block, next.take) {
        (Some(block), _) => {
            let step = find(&steps, block, &short)?;
            take(client, &session, step, next).await
        }
        (None, true) => {
            let step = only_open(&steps, &short)?;
            take(client, &session, step, next).await
        }
        (None, false) => list(steps, &short, next.json),
    }
}

/// Every step that a session's agent offers, newest first.
pub(super) async fn steps(client: &Client, session: SessionId) -> Result<Vec<NextBlock>> {
    let mut steps = Vec::new();
    let mut cursor = PageCursor::default();
    loop {
        let before = cursor.parameter("&before");
        let page: NextPage = client.get(&format!("/sessions/{session}/next?limit=200{before}")).await?;
        steps.extend(page.blocks);
        if !cursor.advance(page.next_cursor)? {
            return Ok(steps);
        }
    }
}

fn list(steps: Vec<NextBlock>, session: &str, json: bool) -> Result<()> {
    if json {
        let page = NextPage { blocks: steps, next_cursor: None };
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(&page)?))?);
    }
    if steps.is_empty() {
        return Ok(terminal::line(&format!("The agent of session {session} offers no steps."))?);
    }
    for line in steps.iter().flat_map(|step| step_lines(step, session)) {
        terminal::line(&line)?;
    }
    Ok(())
}

fn find<'a>(steps: &'a [NextBlock], block: NextId, session: &str) -> Result<&'a NextBlock> {
    let name = block.to_string();
    let Some(step) = steps.iter().find(|step| step.id == name) else {
        bail!("session {session} offers no step {name}; `throughline next {session}` lists what it offers");
    };
    match step.state {
        OfferState::Open | OfferState::Used => Ok(step),
        OfferState::Incomplete => bail!(
            "{name} leads nowhere: the agent did not say which piece of work it belongs to. Ask it to offer the step \
             again, with a metaContext"
        ),
        OfferState::Superseded => {
            // A step that was offered under another name of the work is in the list.
            let again = |other: &&NextBlock| {
                other.meta_context == step.meta_context
                    && other.turn > step.turn
                    && other.state != OfferState::Superseded
            };
            let newest = steps.iter().filter(again).max_by_key(|other| other.turn);
            let newest = newest.map_or_else(|| format!("next {session}"), |step| format!("next {session} {}", step.id));
            bail!("{name} is old: a later turn offers a step of the same work. The newest: `throughline {newest}`")
        }
    }
}

fn only_open<'a>(steps: &'a [NextBlock], session: &str) -> Result<&'a NextBlock> {
    let open: Vec<&NextBlock> = steps.iter().filter(|step| step.state == OfferState::Open).collect();
    match open.as_slice() {
        [step] => Ok(step),
        [] => bail!("no step of session {session} is open; `throughline next {session}` lists what became of them"),
        several => {
            let names: Vec<&str> = several.iter().map(|step| step.id.as_str()).collect();
            bail!(
                "{} steps are open: {}. Say which, as in `throughline next {session} {}`",
                several.len(),
                names.join(", "),
                names[0]
            )
        }
    }
}

async fn take(client: &Client, session: &Session, step: &NextBlock, next: cli::Next) -> Result<()> {
    let cli::Next { agent, model, mode, detach, json, .. } = next;
    if detach && !client.has_server() {
        bail!("no server is running that could go on with it; leave out --detach, or start one with `throughline`");
    }
    let was_taken = step.state == OfferState::Used;
    if !was_taken {
        installed::check(client, agent.as_deref().unwrap_or(&session.row.agent)).await?;
    }
    let click = NextClick { agent, model, mode, key: None };
    let clicked: Clicked = client.post(&format!("/sessions/{}/next/{}", session.row.id, step.id), Some(&click)).await?;
    let begun = client.get::<Session>(&format!("/sessions/{}", clicked.session_id)).await;
    let begun = begun.with_context(|| {
        let led_to = tail(clicked.session_id);
        format!("the step led to session {led_to}; if that was deleted, `throughline undelete {led_to}` brings it back")
    })?;
    if json {
        terminal::line(&safe_json(&serde_json::to_string(&clicked)?))?;
    } else {
        for line in led_to(step, &begun, was_taken) {
            terminal::line(&line)?;
        }
    }
    if detach {
        return Ok(());
    }
    match Progress::of(&begun, was_taken) {
        Progress::Begins => print_first_turn(client, &begun, None, json).await,
        Progress::Waits => {
            // Follows before the agent starts, so that nothing of the answer is missed.
            let after = Some(begun.cursor.as_str());
            print_first_turn(client, &begun, after, json).await
        }
        Progress::Over if json => Ok(()),
        Progress::Over => Ok(terminal::advice(&format!("`throughline show {}` prints it.", tail(begun.row.id)))?),
    }
}

fn led_to(step: &NextBlock, begun: &Session, was_taken: bool) -> Vec<String> {
    let work = begun.meta_context.as_ref().map(|work| format!(", part of {}", work.name)).unwrap_or_default();
    let again = if was_taken { "was taken already" } else { "is taken" };
    let line = format!("{} {again}: session {} with {}{work}", step.id, tail(begun.row.id), begun.row.agent);
    [safe(&line)].into_iter().chain(command_lines(&step.command)).collect()
}

/// How far the session is that a step led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// Its first turn is about to begin, or runs.
    Begins,
    /// Its first prompt waits, and nobody starts its agent.
    Waits,
    /// Its first turn has ended, or never comes.
    Over,
}

impl Progress {
    fn of(begun: &Session, was_taken: bool) -> Self {
        let works = match begun.row.state {
            SessionState::Starting | SessionState::Running | SessionState::NeedsYou | SessionState::Unresponsive => {
                true
            }
            SessionState::Idle | SessionState::Interrupted | SessionState::Failed => false,
        };
        match begun.row.turns {
            _ if !was_taken => Self::Begins,
            Turn(0) if begun.queue.is_empty() => Self::Over,
            Turn(0) if begun.row.state == SessionState::Starting => Self::Begins,
            Turn(0) => Self::Waits,
            Turn(1) if works => Self::Begins,
            _ => Self::Over,
        }
    }
}

/// Prints the answer of a session's first turn as it comes. If its prompt waits (`after` is the cursor), starts its
/// agent.
async fn print_first_turn(client: &Client, begun: &Session, after: Option<&str>, json: bool) -> Result<()> {
    let id = begun.row.id;
    let prompt = first_prompt(client, id).await?;
    let mut answer = AnswerPrinter::follow(client, id, after, json).await?;
    if after.is_some() {
        let wish = Resume { agent: None, key: None };
        client.post::<Value>(&format!("/sessions/{id}/resume"), Some(&wish)).await?;
    }
    tokio::select! {
        // Before anything is printed: a reader may stop us with the first word.
        biased;
        signal = tokio::signal::ctrl_c() => signal.map_err(Into::into).and_then(|()| leave(client)),
        done = answer.print(client, prompt) => done,
    }
}

async fn first_prompt(client: &Client, session: SessionId) -> Result<InteractionId> {
    let page: EntryPage = client.get(&format!("/sessions/{session}/entries?limit={BEGINNING}")).await?;
    let queued = page.entries.iter().find_map(|entry| match &entry.event {
        SessionEvent::PromptQueued { interaction_id, .. } => Some(*interaction_id),
        _ => None,
    });
    queued.with_context(|| format!("session {} does not begin with a prompt", tail(session)))
}
