//! The binary: command line, configuration, wiring. Everything else is in the crates that it opens.

mod agency;
mod block_text;
mod cli;
mod client;
mod commands;
mod config;
mod data_dir;
mod hint;
mod host;
mod incoming;
mod link;
mod log;
mod outcome_text;
mod pager;
mod paging;
mod partial_file;
mod progress;
mod qr;
mod style;
mod terminal;
mod transcript_text;

use std::pin::Pin;
use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let _until_the_end = fail::has_failpoints().then(set_up_fail_points);
    let cli = cli::Cli::parse_from(cli::mark_search_words(std::env::args_os()));
    // There is one of each for every agent, so they run without a runtime.
    match cli.command {
        Some(cli::Command::Keep) => return agents::process::keep(),
        Some(cli::Command::Supervise) => return agents::process::supervise(),
        _ => {}
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(err) => return terminal::print_error(&err.into()),
    };
    // As a trait object it is compiled once; else once for each kind of runtime that could drive it.
    let run: Pin<Box<dyn Future<Output = anyhow::Result<ExitCode>>>> = Box::pin(commands::run(cli));
    let done = runtime.block_on(run);
    // A blocking read of standard input must not delay the exit.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    let code = match done {
        Ok(code) => code,
        Err(err) => terminal::print_error(&err),
    };
    log::flush();
    code
}

/// In tests only: the variable `FAILPOINTS` says where a disk fails and where the process dies. A panic at such a
/// point stands for a crash, so no other thread may clean up, unless it is meant as the fault of one thread.
fn set_up_fail_points() -> fail::FailScenario<'static> {
    let scenario = fail::FailScenario::setup();
    if panics_are_crashes() {
        std::panic::set_hook(Box::new(|_| std::process::abort()));
    }
    scenario
}

/// In tests only: whether there are fail points, and none of them says that a panic is the fault of one thread.
fn panics_are_crashes() -> bool {
    let points = fail::list();
    !points.is_empty() && !points.iter().any(|(name, _)| name == "panics-unwind")
}
