//! A minimal server for the tests: `launch hold FOLDER SPEC` starts one agent of that folder, prints its pid and then
//! everything that the agent prints; `launch keep` and `launch supervise` are its keeper and supervisor.

#![expect(clippy::print_stdout, reason = "what it prints is what the test reads")]

use std::path::Path;
use std::process::ExitCode;

use agents::process::{Faults, Folder, Launched, Launcher, Lines, Spec, keep, supervise};
use futures_util::StreamExt as _;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["keep"] => keep(),
        ["supervise"] => supervise(),
        ["hold", folder, spec] => hold(Path::new(folder), spec),
        _ => ExitCode::FAILURE,
    }
}

#[tokio::main(flavor = "current_thread")]
async fn hold(folder: &Path, spec: &str) -> ExitCode {
    let spec: Spec = serde_json::from_str(spec).expect("a spec in JSON");
    let launcher = Launcher::new(std::env::current_exe().expect("the path of this program"));
    let launcher = launcher.for_folder(Folder::of(folder).expect("a folder"));
    let Launched { mut process, stdin: _open, stdout } = launcher.spawn(spec).await.expect("an agent that starts");
    println!("{}", process.pid());
    let mut lines = Lines::new(stdout, &Faults::default());
    while let Some(Ok(line)) = lines.next().await {
        println!("{line}");
    }
    process.ended().await;
    ExitCode::SUCCESS
}
