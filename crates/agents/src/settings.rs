//! What the server says about agents once, before the first is started.

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
    /// The server's own environment; an agent gets of it what is right for every agent and what its entry names.
    pub environment: BTreeMap<String, String>,
    /// What each process may take of the machine.
    pub process_limits: process::ProcessLimits,
    /// Told to each conversation, where the agent takes their kind.
    pub mcp_servers: Vec<McpServer>,
    /// What agents reach through us of their session's files is never one of these.
    pub deny: Deny,
    /// Where processes run that several sessions share: a directory of no project.
    pub neutral_dir: PathBuf,
    /// How long things may take and how large they may get.
    pub limits: AgentLimits,
    /// Runs the guide as a task of this process instead of a process of its own, as tests do.
    pub in_process_guide: bool,
}

impl AgentSettings {
    /// For tests and measurements: the guide as a task of this process, and no other. A turn that only waits writes nothing,
    /// however slow the machine is.
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

/// How long things may take and how large they may get. [`AgentLimits::default`] is meant for people; tests set them small.
#[derive(Debug, Clone)]
pub struct AgentLimits {
    /// Until a started process has said what it is.
    pub initialize: Duration,
    /// Until a conversation is there, new or taken up again; also until an option is set.
    pub attach: Duration,
    /// How long an agent that has loaded its record must be silent before it counts as having read all of it.
    pub replayed: Duration,
    /// Until an agent, started for it if need be, has told which sessions it keeps.
    pub records: Duration,
    /// Until an agent has deleted its own record of a conversation that is over.
    pub delete: Duration,
    /// Until the person has signed in.
    pub sign_in: Duration,
    /// How long a turn may go on after it was cancelled before the agent counts as unresponsive …
    pub cancel: Duration,
    /// … and how long after that before it has failed.
    pub cancel_failed: Duration,
    /// How long an agent at work may say nothing, while nobody is asked and no tool runs, before the session says so, once in a turn …
    pub quiet: Duration,
    /// … and before it counts as unresponsive.
    pub silence: Duration,
    /// How long a session may leave the news of a shared process untaken before it is left behind.
    pub untaken: Duration,
    /// How long a shared process stays after its last session.
    pub warm: Duration,
    /// How long all of them may take to end.
    pub shutdown: Duration,
    /// How many bytes of messages wait for one session.
    pub queue_bytes: usize,
    /// How many messages wait for one session.
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
