//! Credentials.

use clap::{Args, Subcommand};

use crate::cli::SessionName;
use crate::link::PageAddress;

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Print a link that signs one browser in, once, within 15 minutes
    Link {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a credential: for a program, printing its secret this once, or for a phone or another computer
    New(NewToken),
    /// List every credential in force
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// End a credential and close what it opened
    Revoke {
        /// Its id, as `token list` prints it
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// End every credential, sign every browser out, and write a new token file
    Rotate {
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct NewToken {
    /// What to call it
    #[arg(required_unless_present = "device")]
    pub(crate) name: Option<String>,
    /// Sign a phone or another computer in: print a QR code and a link, good once, for the device of this name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["name", "session"])]
    pub(crate) device: Option<String>,
    /// The address under which that device reaches this server [default: as in server.hosts]
    #[arg(long, value_name = "URL", requires = "device", conflicts_with = "name")]
    pub(crate) url: Option<PageAddress>,
    /// Let it reach this one session only, reading: its id, the end of its id, or `last`
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<SessionName>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
