//! The keeper and the supervisor of the commands that tests run, which are else the server's own program.

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("keep") => engine::keep(),
        Some("supervise") => engine::supervise(),
        _ => ExitCode::FAILURE,
    }
}
