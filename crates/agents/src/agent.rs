//! The interface between a session and its agent: requests one way, updates the other, both bounded.
//!
//! Invariant: a session gets everything that its agent does, in order, or the report that the agent failed. No type
//! of the agents' protocol appears here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::{AgentReport, Image, PermissionAnswer, Question, SessionId};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::{McpServer, OwnTool};

/// What to start an agent with.
#[derive(Debug, Clone)]
pub struct AgentStart {
    /// The agent's name in the catalog.
    pub agent: String,
    /// The session that the agent is for.
    pub session: SessionId,
    /// The directory in which it works; an absolute path.
    pub cwd: PathBuf,
    /// The agent's own id of an earlier conversation to resume.
    pub earlier: Option<String>,
    /// The options that the person chose, when the session began or since; they are set before the first prompt.
    pub options: BTreeMap<String, String>,
    /// The session's own tools, beside the MCP servers that every agent gets.
    pub lent: Option<Lent>,
}

/// The session's own tools, lent while the agent is attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lent {
    /// The MCP servers that have them; they come first in the agent's list.
    pub servers: Vec<McpServer>,
    /// Tools that may be called without asking, for agents that can be told so.
    pub unasked: Vec<OwnTool>,
    /// Text for the agent's system prompt, for agents that take one.
    pub brief: Option<String>,
}

/// A started agent. Dropping it ends the agent's conversation, and a process that nobody shares.
#[derive(Debug)]
pub struct Agent {
    /// Requests to the agent.
    pub requests: mpsc::Sender<AgentRequest>,
    /// Updates from the agent. The channel closes after the agent has failed.
    pub updates: mpsc::Receiver<AgentUpdate>,
}

/// Context that an agent gets before a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPacket {
    /// What the text is about.
    pub of: PacketKind,
    /// The whole text.
    pub text: String,
}

/// What a packet is about; the heading above it says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketKind {
    /// Earlier turns of the session.
    EarlierTurns,
    /// The session that this one was started from.
    PhaseBefore,
    /// The session that this one was forked from, up to the turn of the fork.
    BeforeFork,
}

/// A request of a session to its agent.
#[derive(Debug)]
pub enum AgentRequest {
    /// Begins a turn, which ends with [`AgentReport::Stopped`]. No other turn may begin before.
    Prompt {
        /// The person's text.
        text: String,
        /// Images that go with it.
        images: Vec<Image>,
        /// Context that goes before the text.
        packet: Option<AgentPacket>,
        /// What the person has open beside the conversation, if the agent has not been told.
        beside: Option<String>,
    },
    /// Asks the agent to stop the turn.
    Cancel,
    /// Answers a question of the agent. A second answer is ignored.
    Answer {
        /// The question's key.
        key: u64,
        /// The answer; without an option the question is withdrawn.
        answer: PermissionAnswer,
    },
    /// Sets one of the agent's options.
    SetOption {
        /// The agent's own id of the option.
        option: String,
        /// The agent's own id of the value.
        value: String,
    },
    /// Signs the person in, after [`AgentReport::SignedOut`].
    SignIn {
        /// The agent's own id of the sign-in method.
        method: String,
    },
    /// Ends the conversation, and asks the agent to delete its own record of it, where it can.
    Delete,
}

/// A call of one of the session's own tools that an agent asks about before it makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCall {
    /// The tool's name, without the server's.
    pub tool: String,
    /// The arguments, not validated.
    pub input: Map<String, Value>,
}

/// An update from an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentUpdate {
    /// Something that the agent did.
    Report(AgentReport),
    /// The agent asks, and waits for [`AgentRequest::Answer`] with this key.
    Asked {
        /// Unique among this agent's questions.
        key: u64,
        /// The question.
        question: Question,
        /// The own tool that the question is about, if the agent names one.
        own_call: Option<OwnCall>,
    },
    /// The agent has withdrawn this question.
    Withdrawn {
        /// The question's key.
        key: u64,
    },
}
