//! The commands, a file each.

mod completions;
mod config;
mod list;
mod new;
mod send;
mod serve;
mod show;
mod token;

use anyhow::{Result, bail};

use crate::cli::{Cli, Command, Serve};
use crate::data_dir::DataDir;
use crate::host::home;
use crate::terminal;

pub(crate) async fn run(cli: Cli) -> Result<()> {
    let data = || DataDir::resolve(cli.global.data_dir.clone(), home().as_deref());
    if cli.command.is_some() && cli.serve != Serve::UNSAID {
        bail!("--listen and --no-open belong to `throughline serve`; write them after it");
    }
    match cli.command {
        None => serve::run(&data()?, &cli.serve).await,
        Some(Command::Serve(serve)) => serve::run(&data()?, &serve).await,
        Some(Command::New(new)) => new::run(&data()?, new).await,
        Some(Command::List(list)) => list::run(&data()?, &list).await,
        Some(Command::Show(show)) => show::run(&data()?, &show).await,
        Some(Command::Send(send)) => send::run(&data()?, send).await,
        Some(Command::Token { command }) => token::run(&data()?, command).await,
        Some(Command::Config { command }) => config::run(&data()?, command),
        Some(Command::Completions { shell }) => completions::run(shell),
        Some(Command::Openapi) => Ok(terminal::piece(&server::openapi())?),
    }
}
