//! The server itself: serving, its state, its agents, its configuration, the tools it offers.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::SessionName;

#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Serve {
    /// The address to listen on; port 0 takes a free one [default: 127.0.0.1:7417]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

impl Serve {
    /// Neither option was given. Otherwise `throughline --listen … list` would be accepted and the option ignored.
    pub(crate) const NOT_GIVEN: Self = Self { listen: None, no_open: false };
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Agents {
    /// The agent whose own sessions to list; it is started for that
    pub(crate) name: Option<String>,
    /// Only the sessions of this directory
    #[arg(long, value_name = "DIR", requires = "name")]
    pub(crate) cwd: Option<PathBuf>,
    /// Go on where an earlier list ended
    #[arg(long, requires = "name")]
    pub(crate) cursor: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// The session: its id, the end of its id, or `last` [default: the newest one that works here]
    #[arg(long, env = "THROUGHLINE_SESSION", value_name = "SESSION")]
    pub(crate) session: Option<SessionName>,
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum Config {
    /// Print what is in force (the default)
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check the file and say what is wrong
    Check,
    /// Print where the file is
    Path,
}
