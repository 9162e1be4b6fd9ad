//! The settings for all agents, given once before the first one is started.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use files::Deny;

use crate::McpServer;
use crate::catalog::CatalogEntry;
use crate::process::{self, Launcher};

/// How agents are started and held.
pub struct AgentSettings {
    /// Starts their processes, and those of their terminals.
    pub launcher: Launcher,
    /// Every agent that can be started.
    pub entries: Vec<Arc<CatalogEntry>>,
    /// The server's own environment; an agent gets the part that every agent gets and what its entry names.
    pub environment: BTreeMap<String, String>,
    /// The resource limits of each process.
    pub process_limits: process::ProcessLimits,
    /// Passed to each conversation, as far as the agent supports their kind.
    pub mcp_servers: Vec<McpServer>,
    /// Files that agents can not reach through us.
    pub deny: Deny,
    /// The working directory of shared processes: a directory of no project.
    pub neutral_dir: PathBuf,
    /// Time and size limits.
    pub limits: AgentLimits,
    /// Runs the guide as a task of this process instead of a process of its own, as tests do.
    pub in_process_guide: bool,
}

impl AgentSettings {
    /// For tests and measurements: the guide as a task of this process, and no other agent. The early notice about
    /// silence is off, so that a waiting turn writes nothing, however slow the machine is.
    pub fn in_process(entries: &[Arc<CatalogEntry>]) -> Self {
        let limits = AgentLimits::default();
        let limits = AgentLimits { quiet: limits.silence, ..limits };
        Self {
            launcher: Launcher::new(PathBuf::new()),
            entries: entries.to_vec(),
            environment: BTreeMap::new(),
            process_limits: process::ProcessLimits::default(),
            mcp_servers: Vec::new(),
            deny: Deny::standard(),
            neutral_dir: PathBuf::from("/"),
            limits,
            in_process_guide: true,
        }
    }
}

/// Values of variables and headers may be secrets.
impl fmt::Debug for AgentSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("entries", &self.entries).field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Time and size limits. [`AgentLimits::default`] is meant for people; tests set them small.
#[derive(Debug, Clone)]
pub struct AgentLimits {
    /// Until a started process has answered `initialize`.
    pub initialize: Duration,
    /// Until a conversation has begun or been resumed; also until an option is set.
    pub attach: Duration,
    /// How long an agent must be silent after loading its record until the replay counts as complete.
    pub replayed: Duration,
    /// Until an agent, started for it if need be, has listed its records.
    pub records: Duration,
    /// Until an agent has deleted its own record of a conversation.
    pub delete: Duration,
    /// Until the person has signed in.
    pub sign_in: Duration,
    /// How long a turn may go on after a cancel before the agent counts as unresponsive …
    pub cancel: Duration,
    /// … and how long after that before it counts as failed.
    pub cancel_failed: Duration,
    /// How long a turn may be silent, while no question is open and no tool runs, before the session says so, once in
    /// a turn …
    pub quiet: Duration,
    /// … and before it counts as unresponsive.
    pub silence: Duration,
    /// How long a session of a shared process may leave messages untaken before it is dropped.
    pub untaken: Duration,
    /// How long a shared process stays after its last session.
    pub warm: Duration,
    /// How long all agents together may take to end.
    pub shutdown: Duration,
    /// How many bytes of messages may wait for one session.
    pub queue_bytes: usize,
    /// How many messages may wait for one session.
    pub queue_messages: usize,
    /// How many bytes of a terminal's output are kept, unless its agent asks for fewer.
    pub terminal_bytes: usize,
}

impl Default for AgentLimits {
    fn default() -> Self {
        Self {
            initialize: Duration::from_secs(60),
            attach: Duration::from_secs(60),
            replayed: Duration::from_millis(400),
            records: Duration::from_secs(60),
            delete: Duration::from_secs(10),
            sign_in: Duration::from_secs(600),
            cancel: Duration::from_secs(10),
            cancel_failed: Duration::from_secs(30),
            quiet: Duration::from_secs(20),
            silence: Duration::from_secs(300),
            untaken: Duration::from_secs(30),
            warm: Duration::from_secs(600),
            shutdown: Duration::from_secs(8),
            queue_bytes: 32 << 20,
            queue_messages: 256,
            terminal_bytes: 1 << 20,
        }
    }
}
