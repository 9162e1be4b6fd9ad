//! Runs commands whose output is shown: asks the person, runs the command under a supervisor, and stores what it printed.
//!
//! Invariants: nothing runs that was not allowed, by the person or by what the person decided beforehand. The command and every
//! process that it started end at its limit, when its turn is cancelled or over, and with the server. What it printed is
//! stored once, when it has ended; a command that the server's own end cut off leaves nothing.

use std::io::Cursor;
use std::panic::AssertUnwindSafe;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agents::ShellRun;
use agents::process::{Exit, Process};
use files::{FileError, FileKind};
use futures_util::FutureExt as _;
use model::{
    AboutOutput, EndedBy, MAX_OUTPUT_COMMAND_BYTES, OutputId, OutputKind, PermissionKind, PermissionOption, Question,
    Rejection, Session, SessionId, SessionRow, ToolKind,
};
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::commands::{CommandEnd, CommandState, NewCommand, ShownCommand};
use super::{NewOutput, OutputError, OutputShown, TEXT};
use crate::feeds::FeedUpdate;
use crate::id_source::hex;
use crate::reading::in_background;
use crate::requests::{InputKind, ToolQuestion};
use crate::{Asker, Engine, SubmitError};

/// How long a caller waits for the end: hosts are known to give up on a tool after a minute.
const REPLY_AFTER: Duration = Duration::from_secs(45);
/// How many bytes are kept of what a command prints.
const KEPT_BYTES: u64 = 10 << 20;
/// How often at most followers get what it prints.
const SHOWN_EVERY: Duration = Duration::from_millis(50);
/// How long the last words of a command that has ended may take: a process of another user may hold the pipe.
const LAST_WORDS: Duration = Duration::from_secs(1);

const READ_BYTES: usize = 64 << 10;
const ALLOW_ONCE: &str = "allow-once";
const ALLOW_ALWAYS: &str = "allow-always";
const REJECT: &str = "reject-once";

/// A command whose output is to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandToShow {
    /// A line for the shell, or several.
    pub command: String,
    /// Where it runs, if not in the session's directory: absolute, or from there on.
    pub cwd: Option<String>,
}

/// How a command stands, and what it has printed so far.
#[derive(Debug, Clone)]
pub struct CommandProgress {
    /// The output that it will be stored as, or was.
    pub id: OutputId,
    /// How it stands.
    pub state: CommandState,
    /// While it runs: the end of what it has printed.
    pub newest: String,
    /// While it runs: how many bytes it has printed.
    pub bytes: u64,
}

impl CommandProgress {
    fn of(command: &ShownCommand) -> Self {
        let printed = command.printed();
        let newest = printed.piece(0).map(|piece| piece.text).unwrap_or_default();
        Self { id: command.id, state: command.state(), newest, bytes: printed.len() }
    }
}

/// How a command came to its end.
struct Ran {
    exit_code: Option<i32>,
    ended_by: Option<EndedBy>,
    duration: Duration,
}

impl Engine {
    /// Asks the person whether a command may run, runs it and shows what it prints. Returns when it has ended, or, if that takes
    /// long, how it stands then; [`Engine::command_progress`] says how it goes on.
    pub async fn run_and_show(
        &self,
        id: SessionId,
        wanted: CommandToShow,
        asker: Asker,
    ) -> Result<CommandProgress, OutputError> {
        let CommandToShow { command, cwd } = wanted;
        if command.len() > MAX_OUTPUT_COMMAND_BYTES {
            return Err(OutputError::CommandTooLong { max: MAX_OUTPUT_COMMAND_BYTES });
        }
        if command.trim().is_empty() || command.contains('\0') {
            return Err(OutputError::NoCommand);
        }
        let Session { row, .. } = self.session(id).await?;
        let turn = row.running.map(|running| running.turn);
        let turn = turn.ok_or(SubmitError::Rejected(Rejection::NoTurnRunning))?;
        let cwd = self.session_directory(&row, cwd).await?;
        let max_bytes = self.room_for_output(id).await?.min(KEPT_BYTES);
        let max_bytes = usize::try_from(max_bytes).unwrap_or(usize::MAX);
        let new = NewCommand { id: self.new_output_id(), session: id, turn, command, cwd, max_bytes };
        let command = self.shared.commands.begin(new)?;
        // Carried to its end even if the caller hangs up: the person may be reading the question.
        let (engine, carried) = (self.clone(), Arc::clone(&command));
        self.shared.tasks.spawn(async move {
            let end = AssertUnwindSafe(engine.carry_out(&carried, asker)).catch_unwind().await;
            let end = end.unwrap_or_else(|_| CommandEnd::Failed(Arc::new(SubmitError::Broken.into())));
            carried.set_state(CommandState::Ended(end));
        });
        drop(timeout(REPLY_AFTER, command.ended()).await);
        Ok(CommandProgress::of(&command))
    }

    /// How a command of the session stands that waits, runs or ended lately; `None` for one that is not known, or not any more.
    pub fn command_progress(&self, session: SessionId, id: OutputId) -> Option<CommandProgress> {
        self.shared.commands.find(session, id).map(|command| CommandProgress::of(&command))
    }

    /// A directory of the session's own, as an absolute path without detours.
    async fn session_directory(&self, row: &SessionRow, named: Option<String>) -> Result<String, OutputError> {
        let Some(named) = named else { return Ok(row.cwd.clone()) };
        let path = straight(&Path::new(&row.cwd).join(named));
        let trees = self.session_trees(row);
        in_background(move || {
            let path = path.into_os_string().into_string().map_err(|_| FileError::NotFound)?;
            match trees(&path)?.stat(&path)?.kind {
                FileKind::Directory => Ok(path),
                FileKind::File | FileKind::Link | FileKind::Other => Err(FileError::NotADirectory.into()),
            }
        })
        .await
    }

    async fn carry_out(&self, command: &Arc<ShownCommand>, asker: Asker) -> CommandEnd {
        match self.try_carry_out(command, asker).await {
            Ok(end) => end,
            // Its turn, or the server, ended first.
            Err(OutputError::Submit(SubmitError::Rejected(Rejection::NoTurnRunning) | SubmitError::Stopping)) => {
                CommandEnd::Cancelled
            }
            Err(err) => {
                let error = &err as &dyn std::error::Error;
                tracing::warn!(session = %command.session, output = %command.id, error, "a command could not be shown");
                CommandEnd::Failed(Arc::new(err))
            }
        }
    }

    async fn try_carry_out(&self, command: &Arc<ShownCommand>, asker: Asker) -> Result<CommandEnd, OutputError> {
        match self.ask_person(command, asker.clone()).await? {
            Some(PermissionKind::AllowOnce | PermissionKind::AllowAlways) => (),
            Some(PermissionKind::RejectOnce | PermissionKind::RejectAlways) => return Ok(CommandEnd::Refused),
            None => return Ok(CommandEnd::Cancelled),
        }
        let Some(ran) = self.run_command(command).await? else { return Ok(CommandEnd::Cancelled) };
        let session_cwd = self.session(command.session).await?.row.cwd;
        let about = AboutOutput {
            command: Some(command.command.to_string()),
            cwd: Some(command.cwd.clone()).filter(|cwd| *cwd != session_cwd),
            exit_code: ran.exit_code,
            duration_ms: u64::try_from(ran.duration.as_millis()).ok(),
            ended_by: ran.ended_by,
            cut: ran.ended_by == Some(EndedBy::Limit),
            ..AboutOutput::default()
        };
        let from = Box::new(Cursor::new(command.printed().take()));
        let new = NewOutput {
            kind: OutputKind::Terminal,
            mime_type: TEXT,
            about,
            from,
            scanned: None,
            shown: OutputShown::Alone,
        };
        let row = self.store_output_now(command.session, command.id, new, command.turn, asker).await?;
        Ok(CommandEnd::Shown(Box::new(row)))
    }

    /// What the person, a rule or a remembered answer says; `None` if nobody will say anything.
    async fn ask_person(&self, command: &ShownCommand, asker: Asker) -> Result<Option<PermissionKind>, OutputError> {
        let (answer, mut answered) = mpsc::channel(1);
        let asked = ToolQuestion { turn: command.turn, question: question(command), answer };
        self.submit_input::<()>(command.session, InputKind::Ask(Box::new(asked)), asker).await?;
        tokio::select! {
            biased;
            () = command.cancelled.cancelled() => Ok(None),
            () = self.shared.stopping.cancelled() => Ok(None),
            answer = answered.recv() => Ok(answer.and_then(|answer| answer.kind)),
        }
    }

    /// Runs it to its end; `None` if it was cancelled before it began, or the server stops.
    async fn run_command(&self, command: &Arc<ShownCommand>) -> Result<Option<Ran>, OutputError> {
        let stopping = &self.shared.stopping;
        let began = Instant::now();
        let deadline = began + self.shared.outputs.settings.command_limit;
        let run = tokio::select! {
            biased;
            () = command.cancelled.cancelled() => return Ok(None),
            () = stopping.cancelled() => return Ok(None),
            run = self.shared.agency.agents.run_shell(&command.command, PathBuf::from(&command.cwd)) => run,
        };
        let ShellRun { mut process, mut output } = run.map_err(OutputError::NotStarted)?;
        command.set_state(CommandState::Running);
        self.publish_printed(command);
        let mut buffer = vec![0; READ_BYTES];
        let (mut is_open, mut has_news, mut shown_again_at) = (true, false, Instant::now() + SHOWN_EVERY);
        let mut exit = None;
        let mut last_words_by = deadline;
        let ended_by = loop {
            if !is_open && exit.is_some() {
                break None;
            }
            tokio::select! {
                biased;
                // Dropped with this future, the process ends.
                () = stopping.cancelled() => return Ok(None),
                () = command.cancelled.cancelled() => break Some(EndedBy::Cancelled),
                () = sleep_until(last_words_by) => break exit.is_none().then_some(EndedBy::Timeout),
                () = sleep_until(shown_again_at), if has_news => {
                    self.publish_printed(command);
                    (has_news, shown_again_at) = (false, Instant::now() + SHOWN_EVERY);
                }
                read = output.read(&mut buffer), if is_open => match read {
                    Ok(0) | Err(_) => is_open = false,
                    Ok(length) if command.printed().push(&buffer[..length]) => has_news = true,
                    Ok(_) => break Some(EndedBy::Limit),
                },
                ended = process.ended(), if exit.is_none() => {
                    exit = Some(ended.exit);
                    last_words_by = Instant::now() + LAST_WORDS;
                }
            }
        };
        let duration = began.elapsed();
        let exit = match exit {
            Some(exit) => exit,
            None => end(process, output, command).await,
        };
        Ok(Some(match (exit, ended_by) {
            (_, Some(ended_by)) => Ran { exit_code: None, ended_by: Some(ended_by), duration },
            (Exit::Code(code), None) => Ran { exit_code: Some(code), ended_by: None, duration },
            (Exit::Signal(_) | Exit::Unknown, None) => {
                Ran { exit_code: None, ended_by: Some(EndedBy::Signal), duration }
            }
        }))
    }

    /// Tells followers that there is more; each takes what it has not got yet.
    fn publish_printed(&self, command: &Arc<ShownCommand>) {
        self.shared.feeds.publish(command.session, FeedUpdate::Printed(Arc::clone(command)));
    }
}

/// Ends a command with all that it started, and takes what it had printed by then.
async fn end(process: Process, mut output: pipe::Receiver, command: &ShownCommand) -> Exit {
    let exit = process.kill().await.exit;
    let by = Instant::now() + LAST_WORDS;
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(Ok(length @ 1..)) = timeout_at(by, output.read(&mut buffer)).await {
        if !command.printed().push(&buffer[..length]) {
            break;
        }
    }
    exit
}

/// What the person is asked: the very command, and the directory in its last line.
fn question(command: &ShownCommand) -> Question {
    let ShownCommand { command, cwd, .. } = command;
    let option = |id: &str, name: &str, kind| PermissionOption { id: id.to_owned(), name: name.to_owned(), kind };
    let mut digest = Sha256::new();
    for part in ["run_and_display", cwd, command] {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    Question {
        tool: None,
        title: "Run a command and show you what it prints".to_owned(),
        kind: ToolKind::Execute,
        subject: Some(format!("{command}\nin {cwd}")),
        said: None,
        digest: Some(hex(&digest.finalize())),
        options: vec![
            option(ALLOW_ONCE, "Allow once", PermissionKind::AllowOnce),
            option(ALLOW_ALWAYS, "Always allow this command here", PermissionKind::AllowAlways),
            option(REJECT, "Reject", PermissionKind::RejectOnce),
        ],
        form: None,
    }
}

/// An absolute path with `.` and `..` resolved as text, as those who look it up resolve it.
fn straight(path: &Path) -> PathBuf {
    let mut straight = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => straight.push(name),
            // Above the root is the root.
            Component::ParentDir => drop(straight.pop()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => (),
        }
    }
    straight
}
