//! The command line of applets.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use model::AppletSlug;

use super::{AppletParam, AppletWord, SessionName};

pub(super) const APPLETS_HELP: &str = "\
An applet is a small page with state that lasts. Agents make them, and you open them beside any session. An applet is named
by its slug, as `list` prints it, or as `_shown`: the one that a session shows and nobody has saved.

Examples:
  throughline applets                               what there is, the one that was saved last first
  throughline applets show counter                  what it says of itself, its state and its files
  throughline applets open counter                  in the browser, beside the newest session
  throughline applets open text-editor path=src/main.rs --session 4f2a
  throughline applets export board board.json       to give it to somebody, or take it along
  throughline applets import board.json             there; it may do nothing yet that you have not allowed
  throughline applets delete board";

#[derive(Debug, Args)]
pub(crate) struct Applets {
    #[command(subcommand)]
    pub(crate) command: Option<AppletsCommand>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AppletsCommand {
    /// List them: yours, then those that come with the program
    List(ListApplets),
    /// Print what one says of itself, its state, what you allowed it to do, and where its files are
    Show(ShowApplet),
    /// Open one in the browser, beside a session
    Open(OpenApplet),
    /// Delete one of yours for good, with its state
    Delete(DeleteApplet),
    /// Write one into a file that `import` reads
    Export(ExportApplet),
    /// Save the applet that such a file holds
    Import(ImportApplet),
}

#[derive(Debug, Args)]
pub(crate) struct ListApplets {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowApplet {
    /// Its slug, or `_shown`
    #[arg(value_name = "SLUG")]
    pub(crate) applet: AppletWord,
    /// Beside this session: for `_shown`, and for an applet that has a state for each session [default for `_shown`: last]
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<SessionName>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OpenApplet {
    /// Its slug, or `_shown`
    #[arg(value_name = "SLUG")]
    pub(crate) applet: AppletWord,
    /// What it is given, such as path=src/main.rs; `throughline applets show SLUG` lists what it takes
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) params: Vec<AppletParam>,
    /// Beside this session [default: last]
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<SessionName>,
    /// Print the link instead; it signs one browser in, once
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteApplet {
    /// Its slug
    pub(crate) slug: AppletSlug,
    /// Do not ask first
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportApplet {
    /// Its slug, or `_shown`
    #[arg(value_name = "SLUG")]
    pub(crate) applet: AppletWord,
    /// The file to write; `-` is standard output
    pub(crate) file: PathBuf,
    /// Its state too
    #[arg(long)]
    pub(crate) with_state: bool,
    /// Beside this session: for `_shown`, and for the state of an applet that has one for each session [default for `_shown`: last]
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<SessionName>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportApplet {
    /// A file that `throughline applets export` wrote; `-` is standard input
    pub(crate) file: PathBuf,
    /// Save it under this slug [default: the one in the file]
    #[arg(long = "as", value_name = "SLUG")]
    pub(crate) slug: Option<AppletSlug>,
    /// Put it in place of the applet that has the slug; the state that is there stays
    #[arg(long)]
    pub(crate) replace: bool,
    /// Set the state that the file holds
    #[arg(long)]
    pub(crate) with_state: bool,
    /// With --with-state, of an applet that has a state for each session: beside this one
    #[arg(long, value_name = "SESSION", requires = "with_state")]
    pub(crate) session: Option<SessionName>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
