//! `tour`: shows a newcomer what a session is, a stop at a time: contents, a question, an edit, a next step.
//!
//! Invariant: each stop does the real thing and says what it was. The page offers the next stop as one button
//! (`web/src/session/tour/`), and the last one leads to a session of the person's own.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::StopReason;

use super::turn::Turn;
use super::{commands, files, pipeline};

/// The piece of work that the tour's sessions are of; the page begins the first one in it.
const WORK: &str = "Show me around";
/// The prompt that the last stop is reached by.
pub(super) const LAST_STOP: &str = "tour end";
const FILE: &str = "tour.md";
const FILE_TEXT: &str = "# A tour\n\nThe guide wrote this file. You can delete it.\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Contents,
    Question,
    Edit,
    Next,
    End,
}

impl Stop {
    /// The stop of this name; without one, the first.
    pub(super) fn find(word: &str) -> Option<Self> {
        Some(match word.to_ascii_lowercase().as_str() {
            "" => Self::Contents,
            "question" => Self::Question,
            "edit" => Self::Edit,
            "next" => Self::Next,
            "end" => Self::End,
            _ => return None,
        })
    }
}

pub(super) async fn show(turn: &Turn, stop: Stop) -> Result<StopReason, Error> {
    match stop {
        Stop::Contents => {
            turn.say(
                "Four stops, one press each. I am the built-in guide, not a model: I need no key, and I only show how things \
                 work here.\n\n\
                 **Contents.** What you send and what comes back is a turn, and each turn is one line of the session's \
                 contents: at the side of a wide screen, behind the key `t` everywhere. A press on a line leads back to its \
                 turn. It is all stored while it happens: reload the page, or open it on another device, and it is here.",
            )
            .await?;
        }
        Stop::Question => {
            turn.say(
                "**A question.** Before an agent does something that it needs your permission for, it asks, on every screen that \
                 you have open. The first answer counts. I would like to run `date`:\n\n",
            )
            .await?;
            let ran = commands::run(turn, "date").await?;
            if ran != StopReason::EndTurn {
                return Ok(ran);
            }
            turn.say(" What you answered is stored in this turn.").await?;
        }
        Stop::Edit => {
            turn.say("**An edit.** What an agent changes is shown as it changes it:\n\n").await?;
            files::write(turn, FILE, FILE_TEXT).await?;
            turn.say(" The session remembers which files it touched: the context, key `c`, lists them.").await?;
        }
        Stop::Next => {
            turn.say(
                "**A next step.** An agent can offer how to go on. A press begins a fresh session that is told what this one \
                 was about; the two stay together as one piece of work.\n\n",
            )
            .await?;
            turn.say_at_once(&pipeline::next("Go to the last stop", LAST_STOP, WORK))?;
        }
        Stop::End => {
            turn.say(
                "This is a second session: your press began it, and its agent was told what the first one was about. The first \
                 one stands above it and stays as it is; in the list the two are one piece of work. That was the tour.\n\n\
                 **Now your own.** The button below begins a session with the agent and in the directory that you choose. \
                 Search finds every word that was said here, and `?` lists the keys.",
            )
            .await?;
        }
    }
    Ok(StopReason::EndTurn)
}
