//! The binary: command line, configuration, wiring. Everything else is in the crates it opens.

mod agency;
mod block_text;
mod cli;
mod client;
mod commands;
mod config;
mod data_dir;
mod host;
mod link;
mod paging;
mod progress;
mod qr;
mod terminal;
mod transcript_text;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let _until_the_end = fail::has_failpoints().then(obey_fail_points);
    let cli = cli::Cli::parse_from(cli::with_words(std::env::args_os()));
    if let Some(cli::Command::Supervise) = cli.command {
        // There is one for each agent, so it does without a runtime.
        return agents::process::supervise();
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(err) => return terminal::fail(&err.into()),
    };
    let done = runtime.block_on(commands::run(cli));
    // A blocking read of standard input must not hold up the end.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    match done {
        Ok(code) => code,
        Err(err) => terminal::fail(&err),
    }
}

/// In tests only: the variable `FAILPOINTS` says where a disk fails and where the process dies. What panics at such a
/// point stands for a crash, so no other thread gets to tidy up.
fn obey_fail_points() -> fail::FailScenario<'static> {
    let scenario = fail::FailScenario::setup();
    if !fail::list().is_empty() {
        std::panic::set_hook(Box::new(|_| std::process::abort()));
    }
    scenario
}
