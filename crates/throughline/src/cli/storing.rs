//! The options of what checks, copies and writes down what is stored.

use std::path::PathBuf;

use clap::Args;

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
  throughline export last                     a session as Markdown
  throughline export 4f2a notes/fix.md        into a file
  throughline export 4f2a fix.jsonl --json    its entries as JSON, a line each
  throughline export --all everything.jsonl   all sessions and credentials; `throughline restore` reads it";

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) session: Option<SessionName>,
    /// The file to write; standard output unless given, or with `-`
    #[arg(conflicts_with = "all")]
    pub(crate) file: Option<PathBuf>,
    /// The entries of the session as JSON, a line each, instead of Markdown
    #[arg(long, conflicts_with = "all")]
    pub(crate) json: bool,
    /// Everything there is, into this file, as lines of JSON that `restore` reads; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) all: Option<PathBuf>,
}
