//! What can go wrong when something is asked of the engine; `server/src/error.rs` maps each to a status.

use std::error::Error;

use model::{Cursor, InteractionId, NextId, OutputId, Rejection, SessionId, Turn, WorkId};
use store::{AppendError, CopyError, ReadError};

use crate::OutputsFull;

/// Why a command was not carried out. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// There is no such session, or it was purged.
    #[error("there is no session {0}")]
    NotFound(SessionId),
    /// The session offers no such step.
    #[error("session {session} offers no step {block}; `next` lists those it offers")]
    NoSuchBlock {
        /// Whose offers were looked at.
        session: SessionId,
        /// What was asked for.
        block: NextId,
    },
    /// The session has no such output, or it was removed.
    #[error("the session has no output {0}; `outputs` lists those it has")]
    NoSuchOutput(OutputId),
    /// There is no such piece of work.
    #[error("there is no piece of work {0}")]
    NoSuchWork(WorkId),
    /// A rule says no.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The idempotency key was used before, for something else.
    #[error("this idempotency key was used for a different request")]
    KeyReused,
    /// The catalog has no such agent.
    #[error("there is no agent named {name}; there are: {known}")]
    UnknownAgent {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The agent has said what can be chosen, and this is none of it.
    #[error("the agent {agent} offers no {about} {wanted:?}; it offers: {offered}")]
    NoSuchChoice {
        /// Which agent.
        agent: String,
        /// `model` or `mode`.
        about: &'static str,
        /// What was asked for.
        wanted: String,
        /// What there is.
        offered: String,
    },
    /// All places for agents are taken by such as are at work.
    #[error(
        "as many agents are at work as may run at once ({limit}); wait until a turn ends, cancel one, or raise \
         limits.max_agents in config.toml"
    )]
    TooManyAgents {
        /// How many may run.
        limit: usize,
    },
    /// Agents' credentials have written all that they may until somebody sends the next prompt.
    #[error(
        "agents have marked all that they may between two prompts ({} MiB); marks are taken again after the next prompt",
        .limit_bytes >> 20
    )]
    MarksFull {
        /// How much that is.
        limit_bytes: usize,
    },
    /// The session has as many outputs as it may have.
    #[error(transparent)]
    OutputsFull(OutputsFull),
    /// The working directory will not do.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The engine is shutting down.
    #[error("the server is stopping")]
    Stopping,
    /// A fault in this program cut the work off.
    #[error(
        "the server met a fault of its own, which its log tells of; what was done before it is kept, so look before you \
         send this again"
    )]
    Broken,
    /// The log could not be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A session's readable copy could not be removed, so the session was not either.
    #[error("the session is only deleted, since its readable copy could not be removed: {}", with_cause(.0))]
    Copy(CopyError),
}

impl From<CopyError> for SubmitError {
    fn from(err: CopyError) -> Self {
        Self::Copy(err)
    }
}

/// A message that says its cause too: only the person who asked can see to it, and is shown nothing but the message.
pub(crate) fn with_cause(err: &dyn Error) -> String {
    match err.source() {
        Some(cause) => format!("{err}: {cause}"),
        None => err.to_string(),
    }
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// There is no such session, or it was deleted.
    #[error("there is no session {0}")]
    NotFound(SessionId),
    /// There was such a session. Its followers are sent this, so that they stop.
    #[error("session {0} was deleted")]
    Deleted(SessionId),
    /// The session has not come so far.
    #[error("there is no turn {turn}; the newest is {newest}")]
    NoSuchTurn {
        /// Which was asked for.
        turn: Turn,
        /// Which is the newest.
        newest: Turn,
    },
    /// More is being written than is kept.
    #[error("the text has {bytes} bytes; at most {max} are kept before it is sent", max = crate::MAX_UNSENT_BYTES)]
    UnsentTooLong {
        /// How many there are.
        bytes: usize,
    },
    /// There is no such piece of work.
    #[error("there is no piece of work {0}")]
    NoSuchWork(WorkId),
    /// No turn has this prompt.
    #[error("there is no interaction {0}; one that waits has no turn yet")]
    NoSuchInteraction(InteractionId),
    /// A sum for each model of each key is more than is made at once.
    #[error("this is more than {limit} sums: ask for a shorter time, or by something else")]
    TooMuchUsage {
        /// How many are made.
        limit: usize,
    },
    /// The index is being opened, or there is none.
    #[error("sessions can not be searched yet; try again in a moment")]
    SearchNotReady,
    /// The index can not be opened.
    #[error("sessions can not be searched, but each one by itself: {0}; it is tried again every few seconds")]
    SearchUnavailable(String),
    /// The index could not be read.
    #[error("the search failed: {0}; it is mended by itself, try again in a moment")]
    Search(String),
    /// The cursor leads nowhere any more.
    #[error("the cursor is no longer valid")]
    Reset {
        /// Why.
        reason: ResetReason,
        /// Where the session is now.
        snapshot: Cursor,
    },
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Why a cursor leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetReason {
    /// The store was restored from a backup since.
    OtherIncarnation,
    /// It lies after the newest entry.
    Ahead,
}

/// Why a directory will not do for a session.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// Not an absolute path.
    #[error("the directory must be an absolute path")]
    NotAbsolute,
    /// Not there, or not a directory, or not ours to enter.
    #[error("there is no directory that can be entered at this path")]
    NotADirectory,
    /// A session's directory, and all of its project that could stand for it.
    #[error(
        "the session's directory {cwd} is gone, so no agent can be started in it; make it again, or begin a session elsewhere"
    )]
    Gone {
        /// Where it worked.
        cwd: String,
    },
    /// A name that is not text.
    #[error("the directory's real path is not valid UTF-8")]
    NotText,
    /// `/` or the home directory: an agent there reaches everything the person has.
    #[error("an agent here could reach everything you have; confirm that this is meant")]
    NeedsConfirmation,
}
