//! The guide's state of a session while a client holds it: nothing that a resumed session would miss.
//!
//! Invariant: at most one prompt of a session is being answered.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::v1::schema::{McpServer, SessionId, ToolCallId};
use tokio_util::sync::CancellationToken;

use super::pace::Pace;
use super::tools::Toolbox;

pub(super) struct GuideSession {
    pub(super) id: SessionId,
    pub(super) cwd: PathBuf,
    pub(super) servers: Vec<McpServer>,
    /// Cancels the prompt that is being answered.
    running: Mutex<Option<CancellationToken>>,
    pace: Mutex<Pace>,
    /// Commands that the person has allowed for good.
    allowed: Mutex<HashSet<String>>,
    /// Connections to the MCP servers, while they are not in use.
    pub(super) toolbox: Mutex<Toolbox>,
    /// Distinguishes this process's tool call ids from those of earlier processes, whose numbers began at 1 too.
    life: String,
    calls: AtomicU64,
    characters: AtomicU64,
    micros: AtomicU64,
    has_title: AtomicBool,
}

/// What a client wants of a new session.
pub(super) struct SessionParams {
    pub(super) id: SessionId,
    pub(super) cwd: PathBuf,
    pub(super) servers: Vec<McpServer>,
    pub(super) life: String,
    /// A resumed session keeps its title.
    pub(super) has_title: bool,
}

impl GuideSession {
    pub(super) fn new(params: SessionParams) -> Self {
        Self {
            id: params.id,
            cwd: params.cwd,
            servers: params.servers,
            running: Mutex::default(),
            pace: Mutex::default(),
            allowed: Mutex::default(),
            toolbox: Mutex::default(),
            life: params.life,
            calls: AtomicU64::new(0),
            characters: AtomicU64::new(0),
            micros: AtomicU64::new(0),
            has_title: AtomicBool::new(params.has_title),
        }
    }

    /// Locks the session for one prompt; `None` while another is being answered.
    pub(super) fn begin(self: &Arc<Self>) -> Option<PromptPermit> {
        let mut running = lock(&self.running);
        if running.is_some() {
            return None;
        }
        let cancelled = running.insert(CancellationToken::new()).clone();
        Some(PromptPermit { session: self.clone(), cancelled })
    }

    /// Cancels the prompt that is being answered, if any.
    pub(super) fn cancel(&self) {
        if let Some(running) = &*lock(&self.running) {
            running.cancel();
        }
    }

    pub(super) fn pace(&self) -> Pace {
        *lock(&self.pace)
    }

    pub(super) fn set_pace(&self, pace: Pace) {
        *lock(&self.pace) = pace;
    }

    pub(super) fn allows(&self, command: &str) -> bool {
        lock(&self.allowed).contains(command)
    }

    pub(super) fn allow_for_good(&self, command: &str) {
        lock(&self.allowed).insert(command.to_owned());
    }

    pub(super) fn next_call(&self) -> ToolCallId {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        ToolCallId::new(format!("{}-{number}", self.life))
    }

    /// Counts characters of either side; returns the total.
    pub(super) fn count(&self, characters: u64) -> u64 {
        self.characters.fetch_add(characters, Ordering::Relaxed) + characters
    }

    /// Adds to what the session is said to have cost, in millionths of a dollar; returns the sum.
    pub(super) fn spend(&self, micros: u64) -> u64 {
        self.micros.fetch_add(micros, Ordering::Relaxed) + micros
    }

    /// True once: the first prompt becomes the session's title.
    pub(super) fn wants_title(&self) -> bool {
        !self.has_title.swap(true, Ordering::Relaxed)
    }
}

/// The right to answer in a session; dropping it frees the session.
pub(super) struct PromptPermit {
    session: Arc<GuideSession>,
    pub(super) cancelled: CancellationToken,
}

impl Drop for PromptPermit {
    fn drop(&mut self) {
        lock(&self.session.running).take();
    }
}

/// The sessions of one connection.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<SessionId, Arc<GuideSession>>>);

impl Sessions {
    pub(super) fn find(&self, id: &SessionId) -> Option<Arc<GuideSession>> {
        lock(&self.0).get(id).cloned()
    }

    /// Replaces a session that has the same id.
    pub(super) fn insert(&self, session: GuideSession) -> Arc<GuideSession> {
        let session = Arc::new(session);
        let before = lock(&self.0).insert(session.id.clone(), session.clone());
        if let Some(before) = before {
            before.cancel();
        }
        session
    }

    /// Removes a session and cancels what it does.
    pub(super) fn remove(&self, id: &SessionId) -> Option<()> {
        let session = lock(&self.0).remove(id)?;
        session.cancel();
        Some(())
    }
}

/// No code panics while it holds one of these locks, and what they guard is consistent at every step.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str) -> GuideSession {
        GuideSession::new(SessionParams {
            id: SessionId::new(id),
            cwd: PathBuf::from("/"),
            servers: Vec::new(),
            life: "life".to_owned(),
            has_title: false,
        })
    }

    #[test]
    fn one_prompt_at_a_time() {
        let session = Arc::new(session("a"));
        let running = session.begin().unwrap();
        assert!(session.begin().is_none());
        drop(running);
        assert!(session.begin().is_some());
    }

    #[test]
    fn a_cancel_reaches_what_runs_and_nothing_later() {
        let session = Arc::new(session("a"));
        session.cancel();
        let running = session.begin().unwrap();
        assert!(!running.cancelled.is_cancelled());
        session.cancel();
        assert!(running.cancelled.is_cancelled());
        drop(running);
        assert!(!session.begin().unwrap().cancelled.is_cancelled());
    }

    #[test]
    fn what_is_replaced_or_removed_is_cancelled() {
        let sessions = Sessions::default();
        let first = sessions.insert(session("a")).begin().unwrap();
        let second = sessions.insert(session("a")).begin().unwrap();
        assert!(first.cancelled.is_cancelled() && !second.cancelled.is_cancelled());
        assert_eq!(sessions.remove(&SessionId::new("a")), Some(()));
        assert!(second.cancelled.is_cancelled());
        assert_eq!(sessions.remove(&SessionId::new("a")), None);
    }
}
