//! The command line of pieces of work and of the steps that lead from one session to the next.

use clap::{ArgGroup, Args, Subcommand};
use model::NextId;

use super::SessionName;

pub(super) const WORK_HELP: &str = "\
A piece of work is several sessions of one project under one name. It begins when you take a step that an agent offers
(`throughline next`), or with `throughline new --work NAME`. Deleting it leaves its sessions as they are.

A NAME that several projects have is looked for in the project of this directory first.

Examples:
  throughline work                    what there is, the newest first
  throughline work show loom          its sessions, in order
  throughline work toc loom           the contents of all of them, as one list
  throughline work rename loom weave  blocks that say loom still lead there
  throughline new --work loom         begin a session in it";

pub(super) const NEXT_HELP: &str = "\
An agent offers a step as a block of its answer, with a label, a command and the name of a piece of work. Taking it begins
a session of that work, in the same directory and with the same agent, model and mode unless you say otherwise, and sends
the command to it. A step is taken once: a second try leads to the same session.

Examples:
  throughline next last                        the steps that are offered, with what each would send
  throughline next last t3.n1                  take one; the new session's answer streams in
  throughline next last --take                 take the only one that is open
  throughline next last t3.n1 --agent codex    let another agent go on";

#[derive(Debug, Args)]
pub(crate) struct Work {
    #[command(subcommand)]
    pub(crate) command: Option<WorkCommand>,
    /// How many at most
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) limit: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkCommand {
    /// Print its sessions in order, and where each was started from
    Show(NamedWork),
    /// Print the contents of all its sessions as one numbered list
    Toc(NamedWork),
    /// Call it something else; blocks that use an old name still lead to it
    Rename(RenameWork),
    /// Take it apart; its sessions stay
    Delete(DeleteWork),
}

#[derive(Debug, Args)]
pub(crate) struct NamedWork {
    /// Its name or one that it had, its id, or the beginning or end of its id
    #[arg(value_name = "NAME|ID")]
    pub(crate) work: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RenameWork {
    /// Its name or one that it had, its id, or the beginning or end of its id
    #[arg(value_name = "NAME|ID")]
    pub(crate) work: String,
    /// The new name
    #[arg(value_name = "NEW")]
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteWork {
    /// Its name, its id, or the beginning or end of its id
    #[arg(value_name = "NAME|ID")]
    pub(crate) work: String,
    /// Do not ask first
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("which").args(["block", "take"])))]
pub(crate) struct Next {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// The step to take, such as t3.n1; without one the steps are listed
    #[arg(value_parser = block)]
    pub(crate) block: Option<NextId>,
    /// Take the only step that is open
    #[arg(long)]
    pub(crate) take: bool,
    /// The agent that goes on [default: this session's]
    #[arg(long, requires = "which")]
    pub(crate) agent: Option<String>,
    /// Its model, by the agent's own name of it [default: as here]
    #[arg(long, requires = "which")]
    pub(crate) model: Option<String>,
    /// Its mode, likewise
    #[arg(long, requires = "which")]
    pub(crate) mode: Option<String>,
    /// Return as soon as the new session is stored
    #[arg(long, requires = "which")]
    pub(crate) detach: bool,
    /// Print JSON: the steps, or where the step led and then the entries of the new session's first turn, a line each
    #[arg(long)]
    pub(crate) json: bool,
}

fn block(text: &str) -> Result<NextId, String> {
    text.parse().map_err(|_| "expected a step as `throughline next SESSION` lists it, such as t3.n1".to_owned())
}
