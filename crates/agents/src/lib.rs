//! Everything that talks to AI: the agents' protocol, their processes, the built-in guide, model providers, and the
//! records of other tools.
//!
//! The only crate that knows ACP. It must never know the log: what an agent does leaves here as a
//! [`model::AgentReport`], and the receiver decides what to keep. Start reading at [`Agents::start`], then `acp.rs`.

mod acp;
mod agent;
pub mod catalog;
pub mod embed;
pub mod guide;
pub mod history;
mod mcp_server;
mod name;
mod outbound;
pub mod policy;
mod pool;
pub mod process;
mod program;
pub mod provider;
mod settings;
mod shell;

pub use acp::{Record, Records, RecordsError, RecordsWish, Trial, TrialOutcome};
pub use agent::{Agent, AgentPacket, AgentRequest, AgentStart, AgentUpdate, Lent, OwnCall, PacketKind};
pub use mcp_server::{McpServer, McpServerError, OWN_MCP_SERVER, OWN_SHOW_SERVER, OwnTool, shown_url};
pub use name::{MAX_NAME_CHARS, is_name};
pub use pool::Agents;
pub use settings::{AgentLimits, AgentSettings};
pub use shell::{MAX_COMMAND_LIMIT, ShellRun};
