//! `throughline completions`: prints a completion script for a shell.

use anyhow::Result;
use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::terminal;

pub(super) fn run(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "throughline", &mut script);
    Ok(terminal::print_text(&String::from_utf8(script)?)?)
}
