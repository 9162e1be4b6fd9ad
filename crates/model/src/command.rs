//! What can be asked of a session, by a person or by its agent. `decide.rs` answers.

use crate::{InteractionId, Stop};

/// A wish, in the imperative. It becomes events or a rejection; it changes nothing by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Begins the session.
    Create(NewSession),
    /// Sets what is present.
    Change {
        /// The name; empty takes it away.
        name: Option<String>,
        /// The environment hint; empty takes it away.
        env_hint: Option<String>,
    },
    /// Sends words to the agent, now or in turn.
    SendPrompt {
        /// The prompt's id from now on.
        interaction_id: InteractionId,
        /// The words.
        text: String,
        /// What to do while a turn runs.
        when_busy: WhenBusy,
    },
    /// Rewrites a prompt that still waits.
    ChangePrompt {
        /// Which.
        interaction_id: InteractionId,
        /// The new words.
        text: String,
    },
    /// Takes a waiting prompt out of the queue.
    RemovePrompt {
        /// Which.
        interaction_id: InteractionId,
    },
    /// Stops the running turn; its end comes from the agent.
    Cancel,
    /// Notes that the person has seen where the session stands.
    Observe,
    /// Puts the session away; it can be brought back for a while.
    Delete,
    /// Brings it back.
    Restore,
    /// What the agent did.
    Agent(AgentReport),
    /// The server stops, or has come back after it was stopped.
    Interrupt {
        /// `server_shutdown` or `server_restart`.
        reason: String,
    },
}

/// What a new session is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// The agent's name in the catalog.
    pub agent: String,
    /// Its working directory, absolute.
    pub cwd: String,
    /// The git root of that directory, else the directory.
    pub project: String,
    /// A name, or empty.
    pub name: String,
}

/// What a prompt does that meets a running turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenBusy {
    /// It waits its turn.
    Queue,
    /// It is refused.
    Reject,
}

/// What the agent's side reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentReport {
    /// It takes prompts.
    Ready,
    /// It said something, in this block of the running turn.
    Text {
        /// The block's number in its turn, from 0.
        block: u32,
        /// The words, as a part that follows the earlier ones.
        text: String,
    },
    /// The turn is over.
    Stopped(Stop),
    /// Its process is not there any more, as after a restart of the server; a prompt starts it again.
    Gone,
    /// The agent ended without being asked to, or could not be started.
    Failed {
        /// What is known of it.
        reason: String,
    },
}
