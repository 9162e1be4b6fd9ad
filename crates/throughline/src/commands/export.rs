//! `throughline export`: writes a session as Markdown or JSON, or everything as lines of JSON.
//!
//! Invariant: a whole export gets its name only when it is complete. Its lines are never printed to a terminal: they hold
//! unescaped text of agents.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal as _, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use engine::{Clock as _, SystemClock};
use indicatif::HumanCount;
use model::SessionId;
use server::wire::EntryPage;
use store::outside::{ExportError, ExportWish, Exported, OnProgress};

use crate::cli::{self, SessionName};
use crate::client::Client;
use crate::commands::list::tail;
use crate::data_dir::DataDir;
use crate::host::open_store_file;
use crate::paging::PageCursor;
use crate::progress::run_with_bar;
use crate::terminal::{self, counted, safe, safe_json};
use crate::{hint, pager};

pub(super) async fn run(data: &DataDir, export: cli::Export) -> Result<ExitCode> {
    match (export.all, export.session) {
        (Some(file), _) => export_all(data, file).await,
        (None, Some(session)) => {
            export_session(data, &session, export.file.as_deref(), export.json).await.map(|()| ExitCode::SUCCESS)
        }
        (None, None) => bail!("say which session, or `throughline export --all FILE` for everything"),
    }
}

/// Writes one session down, to be read.
async fn export_session(data: &DataDir, session: &SessionName, file: Option<&Path>, json: bool) -> Result<()> {
    let client = Client::connect(data).await?;
    let read = read_session(&client, session, json).await;
    client.close().await;
    let (id, text) = read?;
    let Some(file) = file.filter(|file| *file != Path::new("-")) else {
        // What an agent wrote stays as it is for a program, and is made harmless for a terminal.
        let printed = match io::stdout().is_terminal() {
            true => pager::print(&safe(&text).lines().map(str::to_owned).collect::<Vec<_>>()),
            false => terminal::print_text(&text),
        };
        return Ok(printed?);
    };
    refuse_existing(file)?;
    let could_not = || format!("could not write {}", file.display());
    let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file).with_context(could_not)?;
    if let Err(err) = out.write_all(text.as_bytes()).and_then(|()| out.sync_all()) {
        // The incomplete file is of no use.
        drop(fs::remove_file(file));
        return Err(err).with_context(could_not);
    }
    Ok(terminal::line(&safe(&format!("Session {} is in {}", tail(id), file.display())))?)
}

async fn read_session(client: &Client, session: &SessionName, json: bool) -> Result<(SessionId, String)> {
    let id = client.find_session(session).await?.row.id;
    if !json {
        let text = client.get_text(&format!("/sessions/{id}/markdown")).await?;
        return Ok((id, String::from_utf8(text.into())?));
    }
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
        terminal::line(&safe(&format!("{entries} entries are in {}", file.display())))?;
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
    let whole = exported.damaged == 0 && exported.strays == 0 && exported.unreadable == 0;
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

fn refuse_existing(file: &Path) -> Result<()> {
    if fs::symlink_metadata(file).is_ok() {
        bail!("{} is there already", file.display());
    }
    Ok(())
}

fn export_to_file(data: &DataDir, file: &Path, progress: OnProgress<'_>) -> Result<Exported> {
    refuse_existing(file)?;
    let mut partial = file.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let made = remove_left_over(&partial).and_then(|()| {
        // A link is not followed, and a file that is not ours is not overwritten.
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial)
    });
    let made = made.with_context(|| format!("could not write {}", partial.display()))?;
    let written = write_whole(data, made, progress).and_then(|exported| {
        take_name(&partial, file).with_context(|| format!("could not write {}", file.display()))?;
        Ok(exported)
    });
    if written.is_err() {
        // The incomplete file is of no use.
        drop(fs::remove_file(&partial));
    }
    let exported = written?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()?;
    Ok(exported)
}

fn write_whole(data: &DataDir, file: File, progress: OnProgress<'_>) -> Result<Exported> {
    let mut out = BufWriter::new(file);
    let exported = export_to(data, &mut out, progress)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    Ok(exported)
}

/// Removes what an interrupted export has left, and nothing else.
fn remove_left_over(partial: &Path) -> io::Result<()> {
    const BEGINNING: &[u8] = br#"{"throughline":"export""#;
    if !fs::symlink_metadata(partial).is_ok_and(|found| found.is_file()) {
        return Ok(());
    }
    let mut begins = Vec::new();
    File::open(partial)?.take(BEGINNING.len() as u64).read_to_end(&mut begins)?;
    if begins.is_empty() || begins == BEGINNING { fs::remove_file(partial) } else { Ok(()) }
}

/// Gives a file its final name, unless something else got that name meanwhile.
fn take_name(partial: &Path, file: &Path) -> io::Result<()> {
    match fs::hard_link(partial, file) {
        Ok(()) => fs::remove_file(partial),
        // On a file system without hard links, checking first is the best there is.
        Err(err) if err.kind() != io::ErrorKind::AlreadyExists && fs::symlink_metadata(file).is_err() => {
            fs::rename(partial, file)
        }
        Err(err) => Err(err),
    }
}
