//! Finding and reading sessions.

use clap::Args;

use crate::cli::SessionName;

pub(super) const LIST_HELP: &str = "\
Examples:
  throughline list                     the newest 20
  throughline list upload              those whose title, work, project, agent or tags have this word
  throughline list --needs-you         what waits for an answer, failed, or finished and was not looked at
  throughline list --here --agent codex
  throughline list --tag bug           those with this tag; `throughline tag SESSION bug` gives it
  throughline list --archived          those that are out of the list
  throughline list --all --json";

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only sessions whose title, work, project, agent or tags have these words
    pub(crate) words: Vec<String>,
    /// Only those with this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Only those of this directory's project
    #[arg(long)]
    pub(crate) here: bool,
    /// Only those that wait for an answer, failed, do not respond, or finished and were not looked at yet
    #[arg(long)]
    pub(crate) needs_you: bool,
    /// Only those with this tag
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
    /// Only pinned ones
    #[arg(long)]
    pub(crate) pinned: bool,
    /// Only archived ones, which are left out otherwise
    #[arg(long)]
    pub(crate) archived: bool,
    /// How many at most
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) limit: u32,
    /// All of them, without a limit, archived ones too
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
    /// Those that were deleted and can be brought back
    #[arg(long, conflicts_with_all = ["words", "agent", "here", "needs_you", "tag", "pinned", "archived", "all"])]
    pub(crate) deleted: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// Only this turn, such as 7 or t7
    #[arg(long, value_name = "N")]
    pub(crate) turn: Option<String>,
    /// Print the entries as JSON, a line each
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Toc {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// Print the entries as JSON, a line each
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Open {
    /// The session: its id, the end of its id as `list` prints it, or `last` [default: the list of sessions]
    pub(crate) session: Option<SessionName>,
    /// At this turn, such as 7 or t7
    #[arg(long, value_name = "N", requires = "session")]
    pub(crate) turn: Option<String>,
    /// Print the link instead; it signs one browser in, once
    #[arg(long)]
    pub(crate) print: bool,
}
