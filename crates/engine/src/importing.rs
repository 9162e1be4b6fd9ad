//! Imports the conversations that other tools have recorded. Each becomes a session, read-only until an agent resumes it.
//!
//! Invariant: nothing is imported twice. The session's id is a hash of the tool's name and its own id of the conversation;
//! how far the record was read is appended with the turns that were read. A session that was deleted or resumed here is not
//! changed any more, and conversations that this server hosts itself are not imported.

mod gathering;
mod replay;
mod run;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agents::history::{FoundConversation, Places, Tool};
use model::SessionId;
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{Engine, Shared};

/// How many failures are named.
const MAX_FAILURES: usize = 20;
/// So many conversations that are still to be looked at are a flood rather than news.
const BULK_SESSIONS: usize = 20;

/// What the engine knows of other tools' records.
pub(crate) struct Importing {
    places: Option<Places>,
    state: Mutex<State>,
}

/// The run that is under way, or the last one.
#[derive(Default)]
struct State {
    progress: ImportProgress,
    sources: Vec<ImportSource>,
    stop: CancellationToken,
}

/// A tool that left records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportSource {
    /// Its name in the catalog of agents.
    pub tool: &'static str,
    /// How many conversations there are.
    pub sessions: usize,
    /// How many of them are here already, imported or hosted, also if they were deleted since.
    pub known: usize,
    /// How large they are, where that is known without reading them.
    pub bytes: u64,
}

/// How far bringing in has got.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportProgress {
    /// It is under way.
    pub running: bool,
    /// It goes on as the tools do.
    pub following: bool,
    /// Conversations that have been looked at, and all that are to be.
    pub done: usize,
    /// All that are to be looked at.
    pub total: usize,
    /// How many gave a new session.
    pub added: usize,
    /// How many gave more turns of a known one.
    pub updated: usize,
    /// How many had nothing new.
    pub unchanged: usize,
    /// How many are left alone: hosted, deleted or taken over here.
    pub left_alone: usize,
    /// How many turns came in.
    pub turns: u64,
    /// Records that were not understood, by what they were.
    pub skipped: BTreeMap<String, u64>,
    /// How many could not be read.
    pub failed: usize,
    /// Why, for the first of them.
    pub failures: Vec<String>,
}

/// Why nothing is brought in.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// One is under way.
    #[error("an import is under way or goes on as other tools do; end it first (`throughline import --stop`)")]
    Running,
    /// It is not known where to look.
    #[error("there is no home directory to look in; set HOME and start the server again")]
    NoHome,
    /// No such tool.
    #[error("nothing is known of {name}; there are: {known}")]
    UnknownTool {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
}

impl Importing {
    pub(crate) fn new(places: Option<Places>) -> Self {
        Self { places, state: Mutex::default() }
    }

    /// Much is still to come in.
    pub(crate) fn is_bulk(&self) -> bool {
        let state = self.state();
        state.progress.running && state.progress.total.saturating_sub(state.progress.done) >= BULK_SESSIONS
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Which tools left records here; during an import, as of its beginning.
    pub async fn import_sources(&self) -> Vec<ImportSource> {
        {
            let state = self.shared.importing.state();
            if state.progress.running {
                return state.sources.clone();
            }
        }
        let found = run::find(&self.shared, &Tool::ALL).await;
        let known = run::find_known(&self.shared, &found).await;
        let of = |tool: Tool| {
            let own = found.iter().filter(|found| found.tool == tool);
            let (sessions, bytes) = own.fold((0, 0), |(count, bytes), found| (count + 1, bytes + found.bytes));
            let known = known.iter().filter(|(known, _)| *known == tool).count();
            ImportSource { tool: tool.agent_name(), sessions, known, bytes }
        };
        let sources: Vec<_> = Tool::ALL.into_iter().map(of).filter(|source| source.sessions > 0).collect();
        self.shared.importing.state().sources.clone_from(&sources);
        sources
    }

    /// Begins to bring in what these tools left, or all of them; `follow` goes on as they do.
    pub fn import(&self, tools: Option<&[String]>, follow: bool) -> Result<(), ImportError> {
        let importing = &self.shared.importing;
        if importing.places.is_none() {
            return Err(ImportError::NoHome);
        }
        let tools = match tools {
            None => Tool::ALL.to_vec(),
            Some(names) => names.iter().map(|name| tool(name)).collect::<Result<_, _>>()?,
        };
        let stop = self.shared.stopping.child_token();
        {
            let mut state = importing.state();
            if state.progress.running {
                return Err(ImportError::Running);
            }
            state.progress = ImportProgress { running: true, following: follow, ..ImportProgress::default() };
            state.stop = stop.clone();
        }
        let shared = std::sync::Arc::clone(&self.shared);
        self.shared.tasks.spawn(async move { run::run(&shared, &tools, follow, &stop).await });
        Ok(())
    }

    /// Ends following, and what is under way once what was read is written down.
    pub fn stop_import(&self) {
        self.shared.importing.state().stop.cancel();
    }

    /// How far bringing in has got.
    pub fn import_progress(&self) -> ImportProgress {
        self.shared.importing.state().progress.clone()
    }
}

fn tool(name: &str) -> Result<Tool, ImportError> {
    Tool::ALL.into_iter().find(|tool| tool.agent_name() == name).ok_or_else(|| {
        let known: Vec<&str> = Tool::ALL.iter().map(|tool| tool.agent_name()).collect();
        ImportError::UnknownTool { name: name.chars().take(100).collect(), known: known.join(", ") }
    })
}

/// The session that a tool's conversation is here, whenever it is asked for.
fn session_of(found: &FoundConversation) -> SessionId {
    let digest = Sha256::digest(format!("{}\0{}", found.tool.agent_name(), found.id));
    let bytes = digest.first_chunk::<16>().expect("a digest has 32 bytes");
    SessionId::from_uuid(Uuid::new_v8(*bytes))
}

impl Shared {
    fn note_import(&self, note: impl FnOnce(&mut ImportProgress)) {
        note(&mut self.importing.state().progress);
    }
}
