//! `throughline export`: writes a session as Markdown, a web page, a bundle or JSON, or everything as lines of JSON.
//!
//! Invariant: a file gets its name only when it is complete, see `partial_file.rs`. The lines of a whole export are never printed
//! to a terminal: they hold unescaped text of agents.

use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use engine::{Clock as _, SystemClock};
use indicatif::HumanCount;
use model::SessionId;
use server::wire::EntryPage;
use store::outside::{ExportError, ExportWish, Exported, OnProgress};

use crate::cli::{self, ExportFormat, SessionName};
use crate::client::Client;
use crate::commands::list::tail;
use crate::commands::payload_text;
use crate::data_dir::DataDir;
use crate::host::open_store_file;
use crate::paging::PageCursor;
use crate::partial_file::{PartialFile, refuse_existing};
use crate::progress::run_with_bar;
use crate::terminal::{self, counted, safe, safe_json};
use crate::{hint, pager};

pub(super) async fn run(data: &DataDir, export: cli::Export) -> Result<ExitCode> {
    match (export.all, export.session) {
        (Some(file), _) => export_all(data, file).await,
        (None, Some(session)) => {
            let file = export.file.or(export.to);
            match export.json {
                true => export_entries(data, &session, file.as_deref()).await,
                false => {
                    let format = export.format.unwrap_or_else(|| ExportFormat::of_file(file.as_deref()));
                    export_session(data, &session, file.as_deref(), format).await
                }
            }
            .map(|()| ExitCode::SUCCESS)
        }
        (None, None) => bail!("say which session, or `throughline export --all FILE` for everything"),
    }
}

/// Writes one session down: to be read, or to be taken along.
async fn export_session(
    data: &DataDir,
    session: &SessionName,
    file: Option<&Path>,
    format: ExportFormat,
) -> Result<()> {
    let file = file.filter(|file| *file != Path::new("-"));
    if let Some(file) = file {
        refuse_existing(file)?;
    } else if format == ExportFormat::Bundle && io::stdout().is_terminal() {
        bail!("a bundle is no text; name a file with --to, or pipe it on");
    }
    let client = Client::connect(data).await?;
    let exported = stream_session(&client, session, file, format).await;
    client.close().await;
    let id = exported?;
    let Some(file) = file else { return Ok(()) };
    terminal::line(&safe(&format!("Session {} is in {}", tail(id), file.display())))?;
    match format {
        ExportFormat::Bundle => remark_missing(file),
        ExportFormat::Markdown | ExportFormat::Html => Ok(()),
    }
}

/// Says how many payloads a bundle lacks. What is written to standard output is not read again; the import says it.
fn remark_missing(bundle: &Path) -> Result<()> {
    let read = || anyhow::Ok(engine::missing_from_bundle(&File::open(bundle)?)?);
    let missing = read().with_context(|| format!("could not read {}", bundle.display()))?;
    let words = counted(
        missing,
        "file beside the log is gone or can not be read, and is not in the bundle",
        "files beside the log are gone or can not be read, and are not in the bundle",
    );
    words.into_iter().for_each(|words| terminal::remark(&words));
    Ok(())
}

async fn stream_session(
    client: &Client,
    session: &SessionName,
    file: Option<&Path>,
    format: ExportFormat,
) -> Result<SessionId> {
    let id = client.find_session(session).await?.row.id;
    let word = match format {
        ExportFormat::Markdown => "markdown",
        ExportFormat::Html => "html",
        ExportFormat::Bundle => "bundle",
    };
    let path = format!("/sessions/{id}/export?as={word}");
    let Some(file) = file else {
        if io::stdout().is_terminal() {
            // What an agent wrote is made harmless for a terminal.
            let text = client.get_text(&path).await?;
            let lines: Vec<_> = safe(&String::from_utf8_lossy(&text)).lines().map(str::to_owned).collect();
            pager::print(&lines)?;
        } else {
            client.get_into(&path, &mut io::stdout().lock()).await?;
        }
        return Ok(id);
    };
    let mut out = PartialFile::begin(file)?;
    client.get_into(&path, &mut out).await?;
    out.finish()?;
    Ok(id)
}

/// Writes a session's entries as lines of JSON.
async fn export_entries(data: &DataDir, session: &SessionName, file: Option<&Path>) -> Result<()> {
    let client = Client::connect(data).await?;
    let read = read_entries(&client, session).await;
    client.close().await;
    let (id, text) = read?;
    let Some(file) = file.filter(|file| *file != Path::new("-")) else {
        let printed = match io::stdout().is_terminal() {
            true => pager::print(&safe(&text).lines().map(str::to_owned).collect::<Vec<_>>()),
            false => terminal::print_text(&text),
        };
        return Ok(printed?);
    };
    let mut out = PartialFile::begin(file)?;
    out.write_all(text.as_bytes()).with_context(|| format!("could not write {}", file.display()))?;
    out.finish()?;
    Ok(terminal::line(&safe(&format!("Session {} is in {}", tail(id), file.display())))?)
}

async fn read_entries(client: &Client, session: &SessionName) -> Result<(SessionId, String)> {
    let id = client.find_session(session).await?.row.id;
    let mut lines = String::new();
    let mut cursor = PageCursor::default();
    loop {
        let path = format!("/sessions/{id}/entries?limit=1000{}", cursor.parameter("&after"));
        let page: EntryPage = client.get(&path).await?;
        for entry in &page.entries {
            lines.push_str(&safe_json(&serde_json::to_string(entry)?));
            lines.push('\n');
        }
        if !cursor.advance(page.next_cursor)? {
            return Ok((id, lines));
        }
    }
}

/// Writes everything down, to be restored.
async fn export_all(data: &DataDir, file: PathBuf) -> Result<ExitCode> {
    let to_output = file == Path::new("-");
    if to_output && io::stdout().is_terminal() {
        bail!("standard output is a terminal; name a file, or pipe the lines on");
    }
    let (data, target) = (data.clone(), file.clone());
    let exported = run_with_bar(move |progress| match to_output {
        true => export_to(&data, &mut io::stdout().lock(), progress),
        false => export_to_file(&data, &target, progress),
    })
    .await??;
    if !to_output {
        let entries = HumanCount(exported.entries);
        let shown = payload_text::carried(&exported.payloads).map(|text| format!(" and {text}")).unwrap_or_default();
        terminal::line(&safe(&format!("{entries} entries{shown} are in {}", file.display())))?;
    }
    for line in payload_text::troubles(&exported.payloads) {
        // Nothing can be done about a closed standard error.
        drop(writeln!(io::stderr(), "{}", safe(&line)));
    }
    let left_out = [
        counted(exported.damaged, "session ends at its damage", "sessions end at their damage"),
        counted(
            exported.strays,
            "entry belongs to no session and was left out",
            "entries belong to no session and were left out",
        ),
        counted(exported.unreadable, "place of the log is past reading", "places of the log are past reading"),
    ];
    for what in left_out.into_iter().flatten() {
        // Nothing can be done about a closed standard error.
        drop(writeln!(io::stderr(), "{what}; `{}` says more", hint::command("doctor --all")));
    }
    let is_read = exported.damaged == 0 && exported.strays == 0 && exported.unreadable == 0;
    let whole = is_read && exported.payloads.missing.is_empty();
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn export_to(data: &DataDir, out: &mut dyn io::Write, progress: OnProgress<'_>) -> Result<Exported> {
    let wish = ExportWish { made_at: SystemClock.now(), program: env!("CARGO_PKG_VERSION") };
    open_store_file(data)?.export(&wish, out, progress).map_err(|err| match err {
        // The reader of the lines may have closed the pipe.
        ExportError::Write(err) => err.into(),
        err @ ExportError::Storage(_) => err.into(),
    })
}

fn export_to_file(data: &DataDir, file: &Path, progress: OnProgress<'_>) -> Result<Exported> {
    let mut out = PartialFile::begin(file)?;
    let exported = export_to(data, &mut out, progress)?;
    out.finish()?;
    Ok(exported)
}
