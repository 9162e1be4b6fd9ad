//! A minimal server for the tests: `launch hold SPEC` starts one agent, prints its pid and then everything that the
//! agent prints; `launch keep` and `launch supervise` are its keeper and supervisor.

#![expect(clippy::print_stdout, reason = "what it prints is what the test reads")]

use std::process::ExitCode;

use agents::process::{Faults, Launched, Launcher, Lines, Spec, keep, supervise};
use futures_util::StreamExt as _;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["keep"] => keep(),
        ["supervise"] => supervise(),
        ["hold", spec] => hold(spec),
        _ => ExitCode::FAILURE,
    }
}

#[tokio::main(flavor = "current_thread")]
async fn hold(spec: &str) -> ExitCode {
    let spec: Spec = serde_json::from_str(spec).expect("a spec in JSON");
    let launcher = Launcher::new(std::env::current_exe().expect("the path of this program"));
    let Launched { mut process, stdin: _open, stdout } = launcher.spawn(spec).await.expect("an agent that starts");
    println!("{}", process.pid());
    let mut lines = Lines::new(stdout, &Faults::default());
    while let Some(Ok(line)) = lines.next().await {
        println!("{line}");
    }
    process.ended().await;
    ExitCode::SUCCESS
}
