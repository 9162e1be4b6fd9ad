//! `throughline export`: everything as lines of JSON.
//!
//! Invariant: a file has its name only when it is whole. Lines never go to a terminal: they hold what agents wrote, as
//! it is.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use engine::{Clock as _, SystemClock};
use indicatif::HumanCount;
use store::outside::{ExportError, ExportWish, Exported, OnProgress};

use crate::cli;
use crate::data_dir::DataDir;
use crate::host::look_at;
use crate::progress::watched;
use crate::terminal::{self, counted, safe};

pub(super) async fn run(data: &DataDir, export: cli::Export) -> Result<ExitCode> {
    let to_output = export.file == Path::new("-");
    if to_output && io::stdout().is_terminal() {
        bail!("standard output is a terminal; name a file, or pipe the lines on");
    }
    let (data, file) = (data.clone(), export.file.clone());
    let exported = watched(move |progress| match to_output {
        true => export_to(&data, &mut io::stdout().lock(), progress),
        false => export_to_file(&data, &file, progress),
    })
    .await??;
    if !to_output {
        let entries = HumanCount(exported.entries);
        terminal::line(&safe(&format!("{entries} entries are in {}", export.file.display())))?;
    }
    let left_out = [
        counted(exported.damaged, "session ends at its damage", "sessions end at their damage"),
        counted(
            exported.strays,
            "entry belongs to no session and was left out",
            "entries belong to no session and were left out",
        ),
    ];
    for what in left_out.into_iter().flatten() {
        // Nothing can be done about a closed standard error.
        drop(writeln!(io::stderr(), "{what}; `throughline doctor --all` says more"));
    }
    let whole = exported.damaged == 0 && exported.strays == 0;
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn export_to(data: &DataDir, out: &mut dyn io::Write, progress: OnProgress<'_>) -> Result<Exported> {
    let wish = ExportWish { made_at: SystemClock.now(), program: env!("CARGO_PKG_VERSION") };
    look_at(data)?.export(&wish, out, progress).map_err(|err| match err {
        // Whoever reads the lines may have enough of them.
        ExportError::Write(err) => err.into(),
        err @ ExportError::Storage(_) => err.into(),
    })
}

fn export_to_file(data: &DataDir, file: &Path, progress: OnProgress<'_>) -> Result<Exported> {
    if file.exists() {
        bail!("{} is there already", file.display());
    }
    let mut partial = file.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let written = write_partial(data, &partial, progress);
    if written.is_err() {
        // What is left of it is of no use.
        drop(fs::remove_file(&partial));
    }
    let exported = written?;
    fs::rename(&partial, file).with_context(|| format!("could not write {}", file.display()))?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()?;
    Ok(exported)
}

fn write_partial(data: &DataDir, partial: &Path, progress: OnProgress<'_>) -> Result<Exported> {
    let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(partial);
    let file = opened.with_context(|| format!("could not write {}", partial.display()))?;
    let mut out = BufWriter::new(file);
    let exported = export_to(data, &mut out, progress)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    Ok(exported)
}
