//! The arguments of `throughline diff`.

use clap::Args;

use super::SessionName;

pub(super) const DIFF_HELP: &str = "\
Examples:
  throughline diff last               since the session began
  throughline diff last 7             what turn 7 changed
  throughline diff last --since 7     since turn 7 began
  throughline diff last --git --stat  how the directory differs from the newest commit, file by file";

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// Only what this turn changed, such as 7 or t7
    pub(crate) turn: Option<String>,
    /// Since this turn began, such as 7 or t7
    #[arg(long, value_name = "N", conflicts_with = "turn")]
    pub(crate) since: Option<String>,
    /// Against the newest commit of the session's git repository
    #[arg(long, conflicts_with_all = ["turn", "since"])]
    pub(crate) git: bool,
    /// Only the names of the files, with how many lines came and went
    #[arg(long)]
    pub(crate) stat: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
