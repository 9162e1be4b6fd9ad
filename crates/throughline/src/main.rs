//! The binary: command line, configuration, wiring. Everything else is in the crates it opens.

mod agency;
mod block_text;
mod cli;
mod client;
mod commands;
mod config;
mod data_dir;
mod hint;
mod host;
mod link;
mod log;
mod outcome_text;
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
    // There is one of each for every agent, so they do without a runtime.
    match cli.command {
        Some(cli::Command::Keep) => return agents::process::keep(),
        Some(cli::Command::Supervise) => return agents::process::supervise(),
        _ => {}
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(err) => return terminal::fail(&err.into()),
    };
    let done = runtime.block_on(commands::run(cli));
    // A blocking read of standard input must not hold up the end.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    let code = match done {
        Ok(code) => code,
        Err(err) => terminal::fail(&err),
    };
    log::flush();
    code
}

/// In tests only: the variable `FAILPOINTS` says where a disk fails and where the process dies. What panics at such a
/// point stands for a crash, so no other thread gets to tidy up, unless it is to be a fault of one thread.
fn obey_fail_points() -> fail::FailScenario<'static> {
    let scenario = fail::FailScenario::setup();
    if a_panic_is_a_crash() {
        std::panic::set_hook(Box::new(|_| std::process::abort()));
    }
    scenario
}

/// In tests only: there are fail points, and none of them says that panics are faults of one thread.
fn a_panic_is_a_crash() -> bool {
    let points = fail::list();
    !points.is_empty() && !points.iter().any(|(name, _)| name == "panics-unwind")
}
