//! Runs the command of a terminal to its end.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{CreateTerminalRequest, CreateTerminalResponse, TerminalExitStatus};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::output::Output;
use crate::AgentSettings;
use crate::acp::connection::Connection;
use crate::process::{Ended, Ending, Exit, Launched, Process, Spec, environment};

pub(in crate::acp) struct Run {
    id: String,
    spec: Spec,
    settings: Arc<AgentSettings>,
    output: Arc<Output>,
    kill: CancellationToken,
}

impl Run {
    pub(super) fn new(
        id: String,
        request: CreateTerminalRequest,
        settings: Arc<AgentSettings>,
        env: &BTreeMap<String, String>,
        cwd: &Path,
        output: Arc<Output>,
        kill: CancellationToken,
    ) -> Self {
        let set = request.env.into_iter().map(|variable| (variable.name, variable.value));
        let env = environment(&BTreeMap::new(), &[], &env.clone().into_iter().chain(set).collect());
        let cwd = request.cwd.map_or_else(|| cwd.to_owned(), |below| cwd.join(below));
        let args = shell_args(request.command, request.args);
        let limits = settings.process_limits;
        let spec = Spec { command: "/bin/sh".to_owned(), args, env, cwd, limits, ending: Ending::ClosedInput };
        Self { id, spec, settings, output, kill }
    }

    /// Tells the agent that the terminal exists, then runs the command. `check` says whether it may run in its
    /// directory.
    pub(in crate::acp) async fn run(
        self,
        connection: &Connection,
        request: &Value,
        check: impl FnOnce(&Path) -> Result<(), Error> + Send + 'static,
    ) {
        let cwd = self.spec.cwd.clone();
        let allowed = spawn_blocking(move || check(&cwd)).await.unwrap_or_else(|_| Err(Error::internal_error()));
        let launched = match allowed {
            Ok(()) => self
                .settings
                .launcher
                .spawn(self.spec)
                .await
                .map_err(|err| Error::internal_error().data(err.to_string())),
            Err(error) => Err(error),
        };
        let Launched { process, stdin, stdout } = match launched {
            Ok(launched) => launched,
            Err(error) => {
                self.output.end(TerminalExitStatus::new());
                return connection.answer(request, Err(error));
            }
        };
        // Nobody could type anything.
        drop(stdin);
        connection.answer(request, Ok(json!(CreateTerminalResponse::new(self.id))));
        let (ended, ()) = tokio::join!(end(process, &self.kill), read(stdout, &self.output));
        self.output.end(match ended.exit {
            Exit::Code(code) => TerminalExitStatus::new().exit_code(u32::try_from(code).ok()),
            Exit::Signal(signal) => TerminalExitStatus::new().signal(signal.to_string()),
            Exit::Unknown => TerminalExitStatus::new(),
        });
    }
}

/// The arguments for the shell that runs a command. Both outputs go to one pipe, so that they stay in order. A
/// command with arguments is run as it is; a command that is a whole line is run by the shell.
fn shell_args(command: String, args: Vec<String>) -> Vec<String> {
    let is_line = args.is_empty() && command.contains(char::is_whitespace);
    if is_line {
        return vec!["-c".to_owned(), format!("exec 2>&1\n{command}")];
    }
    let run = r#"exec "$0" "$@" 2>&1"#.to_owned();
    ["-c".to_owned(), run, command].into_iter().chain(args).collect()
}

async fn end(mut process: Process, kill: &CancellationToken) -> Ended {
    let ended = tokio::select! {
        ended = process.ended() => Some(ended),
        () = kill.cancelled() => None,
    };
    match ended {
        Some(ended) => ended,
        None => process.kill().await,
    }
}

async fn read(mut stdout: pipe::Receiver, output: &Output) {
    let mut piece = vec![0; 16 << 10];
    while let Ok(length @ 1..) = stdout.read(&mut piece).await {
        output.push(&piece[..length]);
    }
}
