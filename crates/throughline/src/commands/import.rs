//! `throughline import`: imports the conversations of other tools on this machine as sessions, and bundles of other servers.

mod bundle;

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};
use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use server::wire::{ImportProgress, Imports, NewImport};
use tokio::time::sleep;

use crate::cli;
use crate::client::Client;
use crate::data_dir::DataDir;
use crate::terminal::{self, counted, safe, safe_json, table};

const LOOK_EVERY: Duration = Duration::from_millis(150);

const NOTHING_HERE: &str =
    "No transcripts of Claude Code, Codex, opencode, Gemini, goose, Qwen Code, Kimi Code or Copilot were found here.";

pub(super) async fn run(data: &DataDir, mut import: cli::Import) -> Result<()> {
    // A tool's name may be a file's name too; only what is a bundle, or is named as a path, is taken for one.
    let is_bundle = |name: &String| name.contains(['/', '.']) || bundle::is_bundle(Path::new(name));
    let bundles: Vec<String> = import.tools.extract_if(.., |name| is_bundle(name)).collect();
    if !bundles.is_empty() {
        if !import.tools.is_empty() || import.list || import.follow {
            bail!("bundles are imported by themselves: `throughline import BUNDLE …`");
        }
        return bundle::run(data, &bundles, import.json).await;
    }
    let client = Client::connect(data).await?;
    let done = bring_in(&client, import).await;
    client.close().await;
    done
}

async fn bring_in(client: &Client, import: cli::Import) -> Result<()> {
    if import.stop {
        client.delete("/imports").await?;
        return Ok(terminal::line("Nothing more is imported.")?);
    }
    if import.list {
        return list(client, import.json).await;
    }
    let named = import.tools.join(", ");
    let tools = Some(import.tools).filter(|tools| !tools.is_empty());
    let wish = NewImport { tools, follow: import.follow };
    let _begun: ImportProgress = client.post("/imports", Some(&wish)).await?;
    if import.follow && client.has_server() {
        terminal::advice(
            "The server brings in what other tools write from now on; `throughline import --stop` ends that.",
        )?;
        return Ok(());
    }
    if import.follow {
        terminal::remark("bringing in what other tools write; Ctrl-C ends it");
    }
    let progress = watch(client).await?;
    if import.json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(&progress)?))?);
    }
    print_result(&progress, &named)?;
    if progress.failed > 0 && progress.added + progress.updated + progress.unchanged == 0 {
        bail!("nothing could be read");
    }
    Ok(())
}

async fn list(client: &Client, json: bool) -> Result<()> {
    let imports: Imports = client.get("/imports").await?;
    if json {
        return Ok(terminal::line(&safe_json(&serde_json::to_string_pretty(&imports)?))?);
    }
    if imports.sources.is_empty() {
        return Ok(terminal::line(NOTHING_HERE)?);
    }
    let rows: Vec<Vec<String>> = imports
        .sources
        .iter()
        .map(|source| {
            let size = if source.bytes == 0 { "-".to_owned() } else { HumanBytes(source.bytes).to_string() };
            vec![source.tool.clone(), source.sessions.to_string(), size]
        })
        .collect();
    for line in table(&["TOOL", "SESSIONS", "SIZE"], &rows) {
        terminal::line(&line)?;
    }
    terminal::advice("\n`throughline import` brings them all in; nothing of theirs is changed.")?;
    Ok(())
}

/// Waits for the import's end, with a progress bar on a terminal.
async fn watch(client: &Client) -> Result<ImportProgress> {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos} of {len} {eta}");
    bar.set_style(style.expect("a template of our own is well-formed").progress_chars("━━ "));
    bar.set_message("Bringing in");
    loop {
        let Imports { progress, .. } = client.get("/imports").await?;
        bar.set_length(progress.total as u64);
        bar.set_position(progress.done as u64);
        if !progress.running {
            bar.finish_and_clear();
            return Ok(progress);
        }
        sleep(LOOK_EVERY).await;
    }
}

fn print_result(progress: &ImportProgress, named: &str) -> Result<()> {
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let counts = [
        counted(number(progress.added), "session imported", "sessions imported"),
        counted(number(progress.updated), "session had more", "sessions had more"),
        counted(number(progress.unchanged), "had nothing new", "had nothing new"),
        counted(
            number(progress.left_alone),
            "left alone (hosted, deleted or continued here)",
            "left alone (hosted, deleted or continued here)",
        ),
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    if counts.is_empty() && progress.failed == 0 {
        return Ok(terminal::advice(&match named {
            "" => NOTHING_HERE.to_owned(),
            named => format!("No transcripts of {named} were found here; `throughline import --list` shows what is."),
        })?);
    }
    let turns = counted(progress.turns, "turn", "turns").map(|turns| format!("; {turns} in all")).unwrap_or_default();
    terminal::line(&format!("{}{turns}.", counts.join(", ")))?;
    for (what, count) in &progress.skipped {
        terminal::remark(&format!("left out: {count} × {what}"));
    }
    for failure in &progress.failures {
        terminal::remark(&safe(failure));
    }
    if progress.failed > progress.failures.len() {
        terminal::remark(&format!("{} could not be read in all", progress.failed));
    }
    Ok(())
}
