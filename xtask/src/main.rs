//! The project's own tools, run as `cargo xtask <command>`; each is one file here and runs the same everywhere.
//!
//! Invariant: nothing in the shipped program depends on this crate, and it depends on none of ours: it knows the
//! program as any user does, from its files, its output and its ports.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool speaks by printing")]

mod agents;
mod bench;
mod ci;
mod clients;
mod codegen;
mod conformance;
mod environment;
mod faults;
mod fuzz;
mod http;
mod kills;
mod mounted;
mod openapi;
mod resume_kit;
mod run;
mod tidy;
mod tools;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Throughline's own tools")]
enum Cli {
    /// Check everything that can be checked, setting up what that needs
    Ci(ci::Options),
    /// Check the rules that neither compiler nor linter knows
    Tidy,
    /// Write openapi.json and the page's types from the code
    Codegen(codegen::Options),
    /// Kill the server at random moments and prove that it lost nothing
    Kills(kills::Options),
    /// Measure the program beside the bare disk and the bare engine
    Bench(bench::Options),
    /// Drive real agents of others end to end, offline, and write down what works
    Agents(agents::Options),
    /// Let a client of MCP's own makers call every tool of the mount, over HTTP and on stdio
    Clients(clients::Options),
    /// Let tools of others judge the API's description and call the server as it is described
    Openapi(openapi::Options),
    /// Run the conformance suite of MCP's own makers against the mount
    Conformance(conformance::Options),
    /// Pass an agent's lines on and write them down
    #[command(hide = true)]
    Tee(agents::tee::Options),
    /// Be the lab's MCP server on stdio
    #[command(hide = true)]
    Notes,
    /// Measure how much of scripted sessions a resume packet brings back
    ResumeKit(resume_kit::Options),
    /// Let the disk fail, fill up and be read-only under the server, and prove that it keeps its promises
    Faults(faults::Options),
    /// Feed made-up bytes to what reads names and texts of others
    Fuzz(fuzz::Options),
}

fn main() -> ExitCode {
    let result = match Cli::parse() {
        Cli::Ci(options) => ci::run(&options),
        Cli::Tidy => tidy::run(),
        Cli::Codegen(options) => codegen::run(options),
        Cli::Kills(options) => kills::run(&options),
        Cli::Bench(options) => bench::run(&options),
        Cli::Agents(options) => agents::run(&options),
        Cli::Clients(options) => clients::run(&options),
        Cli::Openapi(options) => openapi::run(&options),
        Cli::Conformance(options) => conformance::run(&options),
        Cli::Tee(options) => agents::tee::run(&options),
        Cli::Notes => agents::notes::serve_stdio(),
        Cli::ResumeKit(options) => resume_kit::run(&options),
        Cli::Faults(options) => faults::run(&options),
        Cli::Fuzz(options) => fuzz::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => {
            eprintln!("error: {err:#}");
            ExitCode::FAILURE
        }
    }
}
