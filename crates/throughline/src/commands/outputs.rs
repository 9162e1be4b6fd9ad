//! `throughline outputs` and `throughline output`: lists, prints and removes what agents showed.

use std::io::{self, IsTerminal as _, Write as _};

use anyhow::{Result, anyhow, bail};
use engine::{Clock as _, SystemClock};
use indicatif::HumanBytes;
use model::{OutputId, SessionId};
use serde_json::json;
use server::wire::{ListedOutput, OutputBody, OutputLines, OutputPage, OutputPrune, OutputState, PrunedOutputs};

use crate::cli::{self, SessionName};
use crate::client::Client;
use crate::data_dir::DataDir;
use crate::link::encoded;
use crate::paging::PageCursor;
use crate::terminal::{self, ago, counted, safe, safe_json};

pub(super) async fn run(data: &DataDir, wanted: &cli::Outputs) -> Result<()> {
    if wanted.dry_run && wanted.prune.is_none() {
        bail!("--dry-run goes with --prune DAYS");
    }
    let client = Client::connect(data).await?;
    let done = match (&wanted.session, wanted.remove, wanted.prune) {
        (Some(session), Some(output), _) => remove(&client, wanted, session, output).await,
        (Some(session), None, _) => list(&client, wanted, session).await,
        (None, _, Some(days)) => prune(&client, wanted, days).await,
        (None, _, None) => Err(anyhow!("name a session, or say after how many days to prune")),
    };
    client.close().await;
    done
}

async fn remove(client: &Client, wanted: &cli::Outputs, session: &SessionName, output: OutputId) -> Result<()> {
    let session = client.find_session(session).await?.row.id;
    let question = format!("Remove {output}? Its card stays, what it shows is gone. [y/N] ");
    terminal::agree(wanted.yes, &question, "nothing was removed")?;
    client.delete(&format!("/sessions/{session}/outputs/{output}")).await?;
    if wanted.json {
        return Ok(terminal::line(&json!({ "id": output, "removed": true }).to_string())?);
    }
    Ok(terminal::line(&format!("{output} is removed."))?)
}

async fn prune(client: &Client, wanted: &cli::Outputs, older_than_days: u32) -> Result<()> {
    let ask = async |dry_run: bool| -> Result<PrunedOutputs> {
        client.post("/outputs/prune", Some(&OutputPrune { older_than_days, dry_run })).await
    };
    let found = ask(true).await?;
    let removes_nothing = wanted.dry_run || found.outputs == 0;
    let what = pruned_words(&found, older_than_days);
    terminal::agree(removes_nothing || wanted.yes, &format!("Remove {what}? [y/N] "), "nothing was removed")?;
    let done = if removes_nothing { found } else { ask(false).await? };
    if wanted.json {
        return Ok(terminal::line(&serde_json::to_string(&done)?)?);
    }
    Ok(terminal::line(&match (done.outputs, wanted.dry_run) {
        (0, _) => format!("Nothing was shown more than {} ago.", days_text(older_than_days)),
        (_, true) => format!("{what} would be removed."),
        (_, false) => format!("{} removed.", pruned_words(&done, older_than_days)),
    })?)
}

/// As in "3 outputs of 2 sessions, 12.00 KiB, older than 90 days".
fn pruned_words(pruned: &PrunedOutputs, days: u32) -> String {
    let PrunedOutputs { outputs, bytes, sessions, .. } = *pruned;
    let outputs = counted(outputs, "output", "outputs").unwrap_or_default();
    let sessions = counted(sessions, "session", "sessions").unwrap_or_default();
    format!("{outputs} of {sessions}, {}, older than {}", HumanBytes(bytes), days_text(days))
}

fn days_text(days: u32) -> String {
    counted(days.into(), "day", "days").unwrap_or_else(|| "0 days".to_owned())
}

async fn list(client: &Client, wanted: &cli::Outputs, session: &SessionName) -> Result<()> {
    let session = client.find_session(session).await?;
    let outputs = kept_outputs(client, session.row.id).await?;
    if wanted.json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(&outputs)?))?);
    }
    if outputs.is_empty() {
        return Ok(terminal::line("Nothing was shown in this session, or nothing of it is kept any more.")?);
    }
    let now = SystemClock.now();
    let rows: Vec<Vec<String>> = outputs.iter().map(|listed| row(listed, now)).collect();
    for line in terminal::table(&["ID", "TURN", "TYPE", "SIZE", "SHOWN", "WHAT"], &rows) {
        terminal::line(&line)?;
    }
    Ok(())
}

/// What a session showed and nobody removed.
pub(super) async fn kept_outputs(client: &Client, session: SessionId) -> Result<Vec<ListedOutput>> {
    let mut outputs: Vec<ListedOutput> = Vec::new();
    let mut cursor = PageCursor::default();
    loop {
        let path = format!("/sessions/{session}/outputs?limit=200{}", cursor.parameter("&after"));
        let page: OutputPage = client.get(&path).await?;
        outputs.extend(page.outputs);
        if !cursor.advance(page.next_cursor)? {
            return Ok(outputs);
        }
    }
}

fn row(listed: &ListedOutput, now: model::Timestamp) -> Vec<String> {
    let output = &listed.output;
    let size = output.extent();
    let shown = ago(listed.created_at, now);
    let what = safe(&model::one_line(output.label(), 200));
    vec![output.id.to_string(), listed.turn.to_string(), output.kind.word().to_owned(), size, shown, what]
}

pub(super) async fn print(data: &DataDir, wanted: &cli::OutputOf) -> Result<()> {
    let client = Client::connect(data).await?;
    let printed = match (&wanted.lines, &wanted.grep) {
        (None, None) => print_whole(&client, wanted.id).await,
        (Some(_), _) | (_, Some(_)) => print_lines(&client, wanted).await,
    };
    if printed.is_ok() {
        remark_if_edited(&client, wanted.id).await;
    }
    client.close().await;
    printed
}

/// Says so if these are not the bytes that were shown. Of an output that is too long for JSON it is not known.
async fn remark_if_edited(client: &Client, id: OutputId) {
    let body = client.get::<OutputBody>(&format!("/outputs/{id}?format=json")).await;
    if body.is_ok_and(|body| body.state == OutputState::Changed) {
        terminal::remark("the file of this output was edited since it was shown");
    }
}

/// The bytes as they were shown; at a terminal without what would control it.
async fn print_whole(client: &Client, id: model::OutputId) -> Result<()> {
    let bytes = client.get_text(&format!("/outputs/{id}")).await?;
    if !io::stdout().is_terminal() {
        return Ok(io::stdout().write_all(&bytes)?);
    }
    // A command may print what is no text here and there.
    match bytes.contains(&0) {
        false => Ok(String::from_utf8_lossy(&bytes).lines().try_for_each(|line| terminal::line(&safe(line)))?),
        true => anyhow::bail!("this is no text; write it into a file: throughline output {id} > FILE"),
    }
}

async fn print_lines(client: &Client, wanted: &cli::OutputOf) -> Result<()> {
    let mut first = wanted.lines.map_or(1, |span| span.first);
    let last = wanted.lines.and_then(|span| span.last).map(|last| format!("&last={last}")).unwrap_or_default();
    let grep = wanted.grep.as_deref().map(|text| format!("&grep={}", encoded(text))).unwrap_or_default();
    let mut found_any = false;
    loop {
        let path = format!("/outputs/{}/lines?limit=5000&first={first}{last}{grep}", wanted.id);
        let page: OutputLines = client.get(&path).await?;
        found_any |= !page.lines.is_empty();
        for line in &page.lines {
            let number = if wanted.grep.is_some() { format!("{:>6}: ", line.number) } else { String::new() };
            let cut = if line.cut { " …" } else { "" };
            terminal::line(&format!("{number}{}{cut}", safe(&line.text)))?;
        }
        match page.next.filter(|next| *next > first) {
            Some(next) => first = next,
            None => break,
        }
    }
    if !found_any {
        terminal::remark(&without_lines(client, wanted).await);
    }
    Ok(())
}

/// Why there is no line to print.
async fn without_lines(client: &Client, wanted: &cli::OutputOf) -> String {
    let id = wanted.id;
    match (&wanted.grep, wanted.lines) {
        (Some(_), None) => return format!("no line of {id} has this text"),
        (Some(_), Some(_)) => return format!("none of these lines of {id} has this text"),
        (None, _) => (),
    }
    let body = client.get::<OutputBody>(&format!("/outputs/{id}?format=json")).await;
    match body.ok().and_then(|body| body.data).map(|text| counted(text.lines().count() as u64, "line", "lines")) {
        Some(Some(lines)) => format!("{id} has only {lines}"),
        Some(None) => format!("{id} has no lines"),
        // It is too long for JSON.
        None => format!("{id} has fewer lines"),
    }
}
