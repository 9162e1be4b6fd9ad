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

pub(super) const OUTPUTS_HELP: &str = "\
Examples:
  throughline outputs last
  throughline outputs last --remove out_0123456789abcdef0123456789abcdef
  throughline outputs --prune 90 --dry-run   what is older than 90 days, of all sessions
  throughline outputs --prune 90             removes it, after asking

What is removed is gone; its card stays in the transcript and says so. `keep_days` under
[outputs] in config.toml prunes by itself; without it everything is kept.";

#[derive(Debug, Args)]
pub(crate) struct Outputs {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    #[arg(required_unless_present = "prune", conflicts_with = "prune")]
    pub(crate) session: Option<SessionName>,
    /// Remove this output of the session
    #[arg(long, value_name = "ID", requires = "session")]
    pub(crate) remove: Option<model::OutputId>,
    /// Remove what was shown more than so many days ago, in all sessions
    #[arg(long, value_name = "DAYS")]
    pub(crate) prune: Option<u32>,
    /// With --prune: only say how much that is
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask before removing
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) const OUTPUT_HELP: &str = "\
Examples:
  throughline output out_0123456789abcdef0123456789abcdef
  throughline output ID --lines 10-40       some of its lines
  throughline output ID --grep error        the lines with this text, with their numbers
  throughline output ID > plot.png          the bytes as they were shown";

#[derive(Debug, Args)]
pub(crate) struct OutputOf {
    /// The output's id, as `throughline outputs SESSION` prints it
    pub(crate) id: model::OutputId,
    /// Only these lines, such as 10-40 or 10-
    #[arg(long, value_name = "A-B")]
    pub(crate) lines: Option<LineSpan>,
    /// Only lines that have this text, in any case
    #[arg(long, value_name = "TEXT")]
    pub(crate) grep: Option<String>,
}

/// Lines from one to another, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineSpan {
    pub(crate) first: u64,
    pub(crate) last: Option<u64>,
}

impl std::str::FromStr for LineSpan {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "lines are two numbers from 1, such as 10-40, or 10- up to the end";
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let number = |text: &str| text.parse::<u64>().ok().filter(|number| *number > 0).ok_or(WRONG);
        let first = number(first)?;
        let last = if last.is_empty() { None } else { Some(number(last)?) };
        if last.is_some_and(|last| last < first) { Err(WRONG) } else { Ok(Self { first, last }) }
    }
}
