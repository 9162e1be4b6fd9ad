//! `run`: asks the person, then runs a command in a shell and streams its output.
//!
//! Invariant: nothing runs that was not allowed, and nothing that was started outlives its turn.

use std::io::{self, Read as _};
use std::path::Path;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest, StopReason,
    ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use serde_json::json;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::time::{Instant, sleep, sleep_until};

use super::group::ProcessGroup;
use super::output::{KEPT_BYTES, Output};
use super::turn::{ToolCallInProgress, Turn, shown, text_content};

const LIMIT: Duration = Duration::from_secs(60);
/// Five times a second: more would be too fast to read.
const SHOWN_EVERY: Duration = Duration::from_millis(200);

const MAX_NAMED_CHARS: usize = 60;

const ALLOW_ONCE: &str = "allow-once";
const ALLOW_ALWAYS: &str = "allow-always";
const REJECT_ONCE: &str = "reject-once";

pub(super) async fn run(turn: &Turn, command: &str) -> Result<StopReason, Error> {
    let input = json!({ "command": command });
    let call = turn
        .call(command, |call| call.kind(ToolKind::Execute).status(ToolCallStatus::Pending).raw_input(input.clone()))?;
    let answer =
        if turn.session.allows(command) { Ok(PermissionReply::Allowed) } else { ask(turn, &call, command).await };
    match answer {
        Ok(PermissionReply::Allowed) => (),
        Ok(PermissionReply::Rejected) => {
            call.fail("You did not allow this.")?;
            turn.say("I did not run that.").await?;
            return Ok(StopReason::EndTurn);
        }
        Ok(PermissionReply::Cancelled) => return Ok(StopReason::Cancelled),
        Err(err) => {
            call.fail(&format!("I could not ask whether this is allowed: {}", err.message))?;
            turn.say("I did not run that.").await?;
            return Ok(StopReason::EndTurn);
        }
    }
    call.change(ToolCallUpdateFields::new().status(ToolCallStatus::InProgress))?;
    match execute(&call, &turn.session.cwd, command).await {
        Ok(ran) => {
            let code = exit_code(ran.status);
            let text = ran.text();
            let fields = shown(&text, json!({ "exitCode": code, "output": text }));
            if ran.status.success() {
                call.complete(fields)?;
            } else {
                call.fail_with(fields)?;
            }
            turn.say(&format!("{} ended with exit code {code}.", named(command))).await?;
        }
        Err(err) => {
            call.fail(&format!("The command could not be run: {err}"))?;
            turn.say("That did not run.").await?;
        }
    }
    Ok(StopReason::EndTurn)
}

/// The command as a sentence can hold it: the turn's line in the contents is made of that sentence. A long one is the
/// line itself, and one with a backtick would break the code.
fn named(command: &str) -> String {
    if command.chars().count() > MAX_NAMED_CHARS || command.contains(['`', '\n']) {
        return "It".to_owned();
    }
    format!("`{command}`")
}

enum PermissionReply {
    Allowed,
    Rejected,
    /// The client cancelled the whole turn.
    Cancelled,
}

async fn ask(turn: &Turn, call: &ToolCallInProgress<'_>, command: &str) -> Result<PermissionReply, Error> {
    let fields = ToolCallUpdateFields::new()
        .title(command.to_owned())
        .kind(ToolKind::Execute)
        .status(ToolCallStatus::Pending)
        .raw_input(json!({ "command": command }));
    let options = vec![
        PermissionOption::new(ALLOW_ONCE, "Allow once", PermissionOptionKind::AllowOnce),
        PermissionOption::new(ALLOW_ALWAYS, "Always allow this command", PermissionOptionKind::AllowAlways),
        PermissionOption::new(REJECT_ONCE, "Reject", PermissionOptionKind::RejectOnce),
    ];
    let update = ToolCallUpdate::new(call.id.clone(), fields);
    let request = RequestPermissionRequest::new(turn.session.id.clone(), update, options);
    let answer = turn.client.send_request(request).block_task().await?;
    Ok(match answer.outcome {
        RequestPermissionOutcome::Cancelled => PermissionReply::Cancelled,
        RequestPermissionOutcome::Selected(selected) => match &*selected.option_id.0 {
            ALLOW_ONCE => PermissionReply::Allowed,
            ALLOW_ALWAYS => {
                turn.session.allow_for_good(command);
                PermissionReply::Allowed
            }
            _ => PermissionReply::Rejected,
        },
        // An outcome that the protocol may add later is no permission.
        _ => PermissionReply::Rejected,
    })
}

/// The result of a command.
struct CommandResult {
    status: ExitStatus,
    output: Output,
    is_over_limit: bool,
}

impl CommandResult {
    fn text(&self) -> String {
        let mut text = self.output.text();
        if self.is_over_limit {
            let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            text += &format!("{newline}Stopped after {} s.", LIMIT.as_secs());
        }
        text
    }
}

async fn execute(call: &ToolCallInProgress<'_>, cwd: &Path, command: &str) -> io::Result<CommandResult> {
    let (mut reader, group) = start(cwd, command)?;
    let mut ended = pin!(group.ended());
    let mut limit = pin!(sleep(LIMIT));
    let (mut output, mut is_over_limit) = (Output::default(), false);
    let (mut is_open, mut has_news, mut shown_again_at) = (true, false, Instant::now());
    let mut buffer = vec![0; 8 * 1024];
    loop {
        tokio::select! {
            ended = &mut ended => break ended?,
            read = reader.read(&mut buffer), if is_open => match read {
                Ok(0) | Err(_) => is_open = false,
                Ok(count) => {
                    output.push(&buffer[..count]);
                    has_news = true;
                }
            },
            () = sleep_until(shown_again_at), if has_news => {
                let content = vec![text_content(&output.text())];
                call.change(ToolCallUpdateFields::new().content(content)).map_err(io::Error::other)?;
                has_news = false;
                shown_again_at = Instant::now() + SHOWN_EVERY;
            }
            () = &mut limit, if !is_over_limit => {
                is_over_limit = true;
                group.kill();
            }
        }
    }
    let status = group.end().await?;
    drain(reader, &mut output)?;
    Ok(CommandResult { status, output, is_over_limit })
}

/// Both outputs go to one pipe, so that lines keep their order.
fn start(cwd: &Path, command: &str) -> io::Result<(pipe::Receiver, ProcessGroup)> {
    let (reader, writer) = io::pipe()?;
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).current_dir(cwd);
    shell.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let group = ProcessGroup::start(&mut shell)?;
    Ok((pipe::Receiver::from_owned_fd(reader.into())?, group))
}

/// Reads what is in the pipe when the command has ended. It reads past the runtime, which may not have seen the data
/// yet, and only what is there, because a program that left the group may hold the other end for ever.
fn drain(reader: pipe::Receiver, output: &mut Output) -> io::Result<()> {
    let mut reader = io::PipeReader::from(reader.into_nonblocking_fd()?);
    let mut buffer = vec![0; KEPT_BYTES];
    for _ in 0..16 {
        match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => output.push(&buffer[..count]),
            Err(err) if err.kind() == io::ErrorKind::Interrupted => (),
            Err(err) if err.kind() == io::ErrorKind::WouldBlock => break,
            Err(err) => return Err(err),
        }
    }
    Ok(())
}

/// The exit code as shells count it: 128 plus the signal's number for a program that a signal ended.
fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[tokio::test]
    async fn what_is_left_in_the_pipe_is_read_and_nothing_is_waited_for() {
        let (reader, mut writer) = io::pipe().unwrap();
        let reader = pipe::Receiver::from_owned_fd(reader.into()).unwrap();
        writer.write_all(b"last words").unwrap();
        let mut output = Output::default();
        drain(reader, &mut output).unwrap();
        assert_eq!(output.text(), "last words");
        drop(writer);
    }
}
