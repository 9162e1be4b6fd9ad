//! The seam between a session and its agent: calls one way, news the other, both bounded.
//!
//! Invariant: whatever an agent does, its session hears of it in the order in which it was done, or hears that the agent
//! failed; no type of the agents' protocol gets this far.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::{AgentReport, Image, PermissionAnswer, Question, SessionId};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::McpServer;

/// What a session wants of an agent from the start.
#[derive(Debug, Clone)]
pub struct AgentStart {
    /// Its name in the catalog.
    pub agent: String,
    /// Whose agent it is.
    pub session: SessionId,
    /// Where it works; an absolute path.
    pub cwd: PathBuf,
    /// The agent's own id of the conversation as it was attached before, to be taken up again.
    pub earlier: Option<String>,
    /// What the person chose of what it offers, when the session began or since: set before the first prompt.
    pub options: BTreeMap<String, String>,
    /// What it is lent beside the servers that every agent is told of.
    pub lent: Option<Lent>,
}

/// The session's own tools, for as long as the agent is attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lent {
    /// Where they are. The agent is told of it first.
    pub server: McpServer,
    /// Those of its tools that need no asking, where the agent can be told so.
    pub unasked: Vec<String>,
    /// What goes into the agent's system prompt, where it takes one.
    pub brief: Option<String>,
}

/// A started agent. Dropping it lets the agent's conversation go, and ends a process that nobody shares.
#[derive(Debug)]
pub struct Agent {
    /// What it is asked to do.
    pub calls: mpsc::Sender<AgentRequest>,
    /// What it tells. Ends after the agent has failed.
    pub news: mpsc::Receiver<AgentUpdate>,
}

/// What an agent has to know ahead of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPacket {
    /// What it is about.
    pub of: PacketKind,
    /// All of it.
    pub text: String,
}

/// What a packet is about; the label above it says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketKind {
    /// Earlier turns of the session.
    EarlierTurns,
    /// What the session goes on with: the one that it was started from.
    PhaseBefore,
}

/// What a session asks of its agent.
#[derive(Debug)]
pub enum AgentRequest {
    /// Begins a turn; [`AgentReport::Stopped`] ends it. Until then there is no other.
    Prompt {
        /// The person's words.
        text: String,
        /// Pictures that go with them.
        images: Vec<Image>,
        /// What the agent has to know ahead of the words.
        packet: Option<AgentPacket>,
    },
    /// Asks it to stop the turn.
    Cancel,
    /// Answers what it asked. A second answer is not heard.
    Answer {
        /// Of which question.
        key: u64,
        /// With what; without an option the question is withdrawn.
        answer: PermissionAnswer,
    },
    /// Chooses something of what it offers.
    SetOption {
        /// The agent's own name of what is chosen.
        option: String,
        /// The agent's own name of the choice.
        value: String,
    },
    /// Signs the person in, after [`AgentReport::SignedOut`].
    SignIn {
        /// The agent's own name of the way.
        method: String,
    },
    /// Ends the conversation, and has the agent delete its own record of it, where it can.
    Delete,
}

/// A call of one of the session's own tools, as an agent tells it before it makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCall {
    /// The tool's name, without its server's.
    pub tool: String,
    /// What it is to be given. Nothing has looked at it yet.
    pub input: Map<String, Value>,
}

/// What an agent tells its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentUpdate {
    /// What it did.
    Report(AgentReport),
    /// It asks, and waits for [`AgentRequest::Answer`] with this key.
    Asked {
        /// True for this agent and this once.
        key: u64,
        /// What is asked.
        question: Question,
        /// Which of the session's own tools it is about, if the agent names one.
        own_call: Option<OwnCall>,
    },
    /// It does not wait for the answer to this question any more.
    Withdrawn {
        /// That of the question.
        key: u64,
    },
}
