//! The command line of forks: sessions that go on from a turn of another one.

use clap::Args;

use super::SessionName;

pub(super) const FORK_HELP: &str = "\
A fork is a new session in the same directory that goes on from a turn of another one. Its agent is sent a record of the
turns up to there, ahead of its first prompt. The other session stays as it is; files are as they are now.

Examples:
  throughline fork last                        go on from the newest turn, in a session of its own
  throughline fork last 7                      from turn 7, without what came after it
  throughline fork last 7 --agent codex        let another agent try
  throughline fork last 0                      from the beginning: only the directory and the agent";

#[derive(Debug, Args)]
pub(crate) struct Fork {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// The last turn that it goes on from, such as 7 or t7; 0 is the beginning [default: the newest that has ended]
    #[arg(value_parser = turn)]
    pub(crate) turn: Option<u32>,
    /// Let this agent go on instead
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// A name for the new session
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `7` and `t7` are the same turn.
fn turn(text: &str) -> Result<u32, String> {
    text.strip_prefix('t').unwrap_or(text).parse().map_err(|_| "a turn is a number, such as 7 or t7".to_owned())
}
