//! Naming, pinning, archiving, tagging and deleting sessions, and bringing others in.

use clap::Args;

use crate::cli::SessionName;

pub(super) const TAG_HELP: &str = "\
A tag is 1 to 32 letters, digits or any of - _ . /, and capitals become small. A session has at most 12.

Examples:
  throughline tag last bug area/upload      give it two tags
  throughline tag last --remove bug         take one away
  throughline tag last                      print its tags
  throughline list --tag bug                the sessions with a tag";

#[derive(Debug, Args)]
pub(crate) struct Several {
    /// The sessions: ids, the ends of ids as `list` prints them, or `last`
    #[arg(required = true, num_args = 1..=200)]
    pub(crate) sessions: Vec<SessionName>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Tag {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// The tags that it is to have as well
    pub(crate) tags: Vec<String>,
    /// A tag that it is to have no more; may be given several times
    #[arg(long, value_name = "TAG")]
    pub(crate) remove: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Rename {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// The name; `""` takes it away
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// For good, at once: nothing of it can be brought back. Asks first at a terminal
    #[arg(long)]
    pub(crate) now: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Undelete {
    /// The session: its id, the end of its id as `list --deleted` prints it, or `last` for the one that was deleted last
    pub(crate) session: SessionName,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Only of these tools: claude, codex, opencode, gemini, goose, qwen, kimi, copilot; or bundles, files that
    /// `export --as bundle` wrote
    #[arg(value_name = "TOOL|BUNDLE")]
    pub(crate) tools: Vec<String>,
    /// List what could be imported, and import nothing
    #[arg(long, conflicts_with = "follow")]
    pub(crate) list: bool,
    /// Keep importing what the tools write from now on
    #[arg(long)]
    pub(crate) follow: bool,
    /// Stop the import that is running
    #[arg(long, conflicts_with_all = ["list", "follow", "tools"])]
    pub(crate) stop: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
