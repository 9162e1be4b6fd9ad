//! Runs a command and shows the person what it prints; the tool asks the person itself.
//!
//! The person sees everything. The agent gets a line that says how it ended and, where that was a failure, what it needs to act
//! on it: the text if it is short, else its two ends.

use std::sync::Arc;

use doors::Right;
use engine::{CommandEnd, CommandProgress, CommandState, CommandToShow, Engine, FoundLine, OutputEnds, OutputError};
use model::{OutputKind, OutputMarker, OutputRow};

use super::show::asker;
use super::{About, CallError, Effect, Endpoint, Run, Tool, ToolContext, ToolResult};
use crate::access;
use crate::mcp::Calling;
use crate::mcp::arguments::{CommandLine, FilePath, arguments};
use crate::mcp::budget::AnswerBudget;

/// How much terminal text an agent gets in one piece; of what is longer it gets the two ends.
const WHOLE_BYTES: usize = 8 << 10;
/// How many characters of the command are repeated to whoever sent it.
const NAMED_CHARS: usize = 80;

pub(super) const RUN: Tool = Tool::of::<RunAndDisplay>(About {
    name: "run_and_display",
    description: "Runs a shell command and shows the person what it prints, live, beside the conversation; you get one line, \
                  and more if it fails. Use it for \"show me\"; to work with the output yourself, use your own tools. The \
                  person is asked first.",
    endpoint: Endpoint::Show,
    effect: Effect::Runs,
    // The tool asks the person itself; an agent that asked as well would ask twice.
    asks_person: false,
    budget: AnswerBudget::LONGEST,
});

arguments! {
    struct RunAndDisplay {
        command("command"): CommandLine = "As you would type it into sh", "cargo test";
        cwd("cwd"): Option<FilePath> = "A directory of the session, if not the session's own", "/a/web";
    }
}

impl Run for RunAndDisplay {
    async fn run(self, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let Calling { principal, session } = call.calling;
        access::session(principal, Right::Mark, *session)?;
        let Self { command: CommandLine(command), cwd } = self;
        let wanted = CommandToShow { command, cwd: cwd.map(|FilePath(path)| path) };
        let progress = call.engine.run_and_show(*session, wanted, asker(principal)).await?;
        match progress.state {
            CommandState::Ended(CommandEnd::Shown(row)) => {
                let mut text = ended(&row);
                if row.output.about.exit_code != Some(0) && row.bytes > 0 {
                    text.push('\n');
                    text.push_str(&excerpt(call.engine, &row).await?);
                }
                Ok(text.into())
            }
            _ => Ok(standing(&progress)?.into()),
        }
    }
}

/// How a command stands whose output is not stored. The first word after the marker is for programs, too.
pub(super) fn standing(progress: &CommandProgress) -> Result<String, CallError> {
    let words = match &progress.state {
        CommandState::Waiting => {
            "Waiting: the person has not answered yet whether the command may run. retrieve_output with this id says how it \
             stands; the question ends with this turn."
                .to_owned()
        }
        CommandState::Running => {
            let newest = model::plain_text(newest_lines(&progress.newest));
            let words = "Running: retrieve_output with this id says how it stands; it ends with this turn at the latest.";
            let so_far = if newest.is_empty() { "It has printed nothing yet." } else { "The newest of what it printed:" };
            format!("{words} {so_far} ({} bytes so far)\n{newest}", progress.bytes)
        }
        CommandState::Ended(CommandEnd::Refused) => {
            "Refused: the command did not run. Do not try it again unless the person asks for it.".to_owned()
        }
        CommandState::Ended(CommandEnd::Cancelled) => {
            "Cancelled: the turn was stopped or had ended; nothing is shown.".to_owned()
        }
        CommandState::Ended(CommandEnd::Failed(err)) => return Err(CallError::NotShown(Arc::clone(err))),
        CommandState::Ended(CommandEnd::Shown(row)) => return Ok(ended(row)),
    };
    Ok(format!("{} {words}", OutputMarker(progress.id)))
}

/// The last lines of a text, no more than an agent gets in one piece.
fn newest_lines(text: &str) -> &str {
    let surplus = text.len().saturating_sub(WHOLE_BYTES);
    let newest = &text[text.ceil_char_boundary(surplus)..];
    match newest.split_once('\n') {
        Some((_, whole)) if surplus > 0 && !whole.is_empty() => whole,
        _ => newest,
    }
}

/// What is said of a command that ended: one line, beginning with the marker.
pub(super) fn ended(row: &OutputRow) -> String {
    let (output, about) = (&row.output, &row.output.about);
    let command = model::one_line(output.label(), NAMED_CHARS);
    let how = output.ending().unwrap_or_default();
    let cut = if about.cut { ", the rest was cut" } else { "" };
    format!(
        "{} The person sees what `{command}` printed: it {how} ({}, {} bytes{cut}).",
        OutputMarker(row.id),
        output.extent(),
        row.bytes
    )
}

/// Whether a reader that names no lines gets the ends of this output only.
pub(super) fn is_shaped(engine: &Engine, row: &OutputRow) -> bool {
    row.output.kind == OutputKind::Terminal && row.bytes > WHOLE_BYTES as u64 && engine.shapes_terminal_text()
}

const GETS_THEM: &str = "left out: retrieve_output gets them, with startLine and endLine or with grep";

/// What a command printed, or its two ends if it is long.
pub(super) async fn excerpt(engine: &Engine, row: &OutputRow) -> Result<String, OutputError> {
    let max = match engine.shapes_terminal_text() {
        true => WHOLE_BYTES,
        false => AnswerBudget::LONGEST.chars() / 2,
    };
    let OutputEnds { head, tail } = engine.output_ends(row, max).await?;
    let mut text = String::new();
    head.iter().for_each(|line| text.push_str(&numbered(line)));
    if let (Some(first), Some(last)) = (head.last(), tail.first()) {
        let left_out = last.number.saturating_sub(first.number + 1);
        let words = match left_out {
            0 => {
                "the middle of a long line is left out; a command that breaks lines, such as fold, shows it".to_owned()
            }
            1 => format!("1 line {GETS_THEM}"),
            lines => format!("{lines} lines {GETS_THEM}"),
        };
        text.push_str(&format!("        … {words} …\n"));
    }
    tail.iter().for_each(|line| text.push_str(&numbered(line)));
    Ok(text)
}

/// A line as agents get it, without anything that is no text.
pub(super) fn numbered(line: &FoundLine) -> String {
    let more = if line.cut { " (cut)" } else { "" };
    format!("{:>6}| {}{more}\n", line.number, model::plain_text(&line.text))
}

#[cfg(test)]
mod tests {
    use model::OutputId;

    use super::*;

    fn progress(state: CommandState, newest: &str) -> String {
        let (id, newest) = (OutputId::from_bytes([1; 16]), newest.to_owned());
        standing(&CommandProgress { id, state, bytes: newest.len() as u64, newest })
            .unwrap_or_else(|err| err.to_string())
    }

    #[test]
    fn how_a_command_stands_is_the_first_word_after_the_marker() {
        let end = CommandState::Ended;
        for (state, word) in [
            (CommandState::Waiting, "Waiting:"),
            (CommandState::Running, "Running:"),
            (end(CommandEnd::Refused), "Refused:"),
            (end(CommandEnd::Cancelled), "Cancelled:"),
        ] {
            let said = progress(state, "");
            assert!(said.starts_with(&format!("[output:out_{}] {word}", "01".repeat(16))), "{said}");
        }
        let said = progress(end(CommandEnd::Failed(Arc::new(OutputError::NoCommand))), "");
        assert_eq!(said, OutputError::NoCommand.to_string());
    }

    #[test]
    fn what_runs_shows_its_newest_text_without_anything_that_is_no_text() {
        let said = progress(CommandState::Running, "one\n\u{1b}]52;c;aGk=\u{7}two\u{202e}\n");
        assert!(said.ends_with("The newest of what it printed: (23 bytes so far)\none\ntwo\n"), "{said:?}");
        assert!(progress(CommandState::Running, "").contains("nothing yet"));
        let long: String = (0..9_999).map(|number| format!("{number}\n")).collect();
        let said = progress(CommandState::Running, &long);
        assert!(said.len() < WHOLE_BYTES + 500 && said.ends_with("\n9998\n"), "{} bytes", said.len());
        assert!(said.lines().skip(1).all(|line| line.len() == 4), "whole lines");
        assert_eq!(newest_lines(&"ü".repeat(WHOLE_BYTES)).len(), WHOLE_BYTES);
    }
}
