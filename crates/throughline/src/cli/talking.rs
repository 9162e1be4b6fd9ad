//! Beginning sessions and talking to agents.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::{PromptName, SessionName};

#[derive(Debug, Args)]
pub(crate) struct New {
    /// The agent to talk to
    #[arg(long, default_value = "guide")]
    pub(crate) agent: String,
    /// The directory it works in [default: this one]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// A name for the session
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The piece of work that it belongs to; it begins with this session if it is new
    #[arg(long, value_name = "NAME")]
    pub(crate) work: Option<String>,
    /// Allow / or your home as the directory
    #[arg(long)]
    pub(crate) confirm: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Send {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// The prompt; `-` reads it from standard input
    pub(crate) text: String,
    /// Return as soon as the prompt is stored
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Print JSON: the entries of the turn, a line each, or the acknowledgement with --no-wait
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// Which request, as `show` prints it; the oldest that waits, unless told
    #[arg(long, value_name = "pN")]
    pub(crate) request: Option<String>,
    /// `allow` or `deny` this once; `always` or `never`, which also answers exactly the same from now on, in this directory;
    /// or the id of one of the agent's own options
    pub(crate) option: String,
    /// Give this answer to exactly the same request from now on, in this directory, without asking
    #[arg(long)]
    pub(crate) remember: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Permissions {
    #[command(subcommand)]
    pub(crate) command: Option<PermissionsCommand>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PermissionsCommand {
    /// Forget an answer; the same is asked again
    Forget {
        /// Its id, as `permissions` prints it, or the beginning or end of it
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// Hand it over to this agent, which is told of the newest turns
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Queue {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Unqueue {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// Which prompt: its number as `queue` prints it, 1 for the next one, or its id
    pub(crate) prompt: PromptName,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
