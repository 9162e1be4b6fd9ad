//! The keeper and the supervisor of the commands that tests run, which are else the server's own program.

use std::process::ExitCode;

use agents::process::{keep, supervise};

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("keep") => keep(),
        Some("supervise") => supervise(),
        _ => ExitCode::FAILURE,
    }
}
