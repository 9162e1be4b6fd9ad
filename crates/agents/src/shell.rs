//! Runs a command line of a session in a shell, under a supervisor of its own like an agent.
//!
//! Invariant: a command gets the variables that every agent gets and none that one agent alone is given, such as its keys. It
//! has no input, and it ends with every process that it started when its [`ShellRun`] is dropped, and with this server.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use tokio::net::unix::pipe;

use crate::Agents;
use crate::process::{Ending, LaunchError, Launched, Process, Spec, environment};

/// The longest that a command may be given to run, which is a day: longer work belongs into a terminal of the agent's own.
pub const MAX_COMMAND_LIMIT: Duration = Duration::from_secs(24 * 3_600);

/// Has an inner shell run the line as it is, with both of its outputs in one pipe: so they stay in order, and what the shell
/// itself has to say of the line is among them.
const BOTH_IN_ONE_PIPE: &str = r#"exec /bin/sh -c "$0" 2>&1"#;

/// A command that runs.
#[derive(Debug)]
pub struct ShellRun {
    /// The shell; dropping it ends the command and all that it started.
    pub process: Process,
    /// What it prints, both outputs in the order in which they came.
    pub output: pipe::Receiver,
}

impl Agents {
    /// Runs a line with `/bin/sh` in a directory. Dropping the future ends what has been started so far.
    pub async fn run_shell(&self, line: &str, cwd: PathBuf) -> Result<ShellRun, LaunchError> {
        let settings = self.settings();
        let mut env = environment(&settings.environment, &[], &BTreeMap::new());
        // The same as agents have; where none is known, the shell has one of its own.
        let path = self.path().await;
        if !path.is_empty() {
            env.insert("PATH".to_owned(), path.to_owned());
        }
        let args = ["-c", BOTH_IN_ONE_PIPE, line].map(str::to_owned).to_vec();
        let limits = settings.process_limits;
        let spec = Spec { command: "/bin/sh".to_owned(), args, env, cwd, limits, ending: Ending::ClosedInput };
        let Launched { process, stdin, stdout } = settings.launcher.spawn(spec).await?;
        // Nobody could type anything.
        drop(stdin);
        Ok(ShellRun { process, output: stdout })
    }
}
