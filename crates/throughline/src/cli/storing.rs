//! The options of what checks, copies and writes down what is stored.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::cli::SessionName;

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Look at every session, not only at a sample
    #[arg(long)]
    pub(crate) all: bool,
    /// Make the tables anew from the log first; the server must be stopped
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Have the search index made anew; the one that is there answers meanwhile
    #[arg(long)]
    pub(crate) rebuild_search: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The folder to make; it must not be there yet, or be empty
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// A folder that `backup` made, or a file that `export --all` wrote; only one that you trust, for it brings its credentials
    pub(crate) path: PathBuf,
    /// Move what is there aside; nothing is removed
    #[arg(long)]
    pub(crate) replace: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) const EXPORT_HELP: &str = "\
Examples:
  throughline export last                          a session as Markdown
  throughline export 4f2a notes/fix.md             into a file
  throughline export 4f2a --to fix.html            one web page that needs no network, with its pictures
  throughline export 4f2a --to fix.tar             all of it; `throughline import fix.tar` takes it in elsewhere
  throughline export 4f2a fix.jsonl --json         its entries as JSON, a line each
  throughline export --all everything.jsonl        all sessions and credentials; `throughline restore` reads it";

/// What a session is exported as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Markdown,
    Html,
    Bundle,
}

impl ExportFormat {
    /// What the name of a file asks for; Markdown if there is none.
    pub(crate) fn of_file(file: Option<&Path>) -> Self {
        let ending = file.and_then(Path::extension).map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("html" | "htm") => Self::Html,
            Some("tar") => Self::Bundle,
            Some(_) | None => Self::Markdown,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) session: Option<SessionName>,
    /// The file to write; standard output unless given, or with `-`
    #[arg(conflicts_with = "all")]
    pub(crate) file: Option<PathBuf>,
    /// The file to write, named behind an option
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "file"])]
    pub(crate) to: Option<PathBuf>,
    /// As what: Markdown to read or paste, a web page to look at or print, a bundle to go on with elsewhere. Without it the
    /// file's ending decides: .html and .htm are a web page, .tar is a bundle, and everything else is Markdown
    #[arg(long = "as", value_enum, value_name = "FORMAT", conflicts_with = "all")]
    pub(crate) format: Option<ExportFormat>,
    /// The entries of the session as JSON, a line each, instead of Markdown
    #[arg(long, conflicts_with_all = ["all", "format"])]
    pub(crate) json: bool,
    /// Everything there is, into this file, as lines of JSON that `restore` reads; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) all: Option<PathBuf>,
}
