//! The options and commands that a session's agent last offered, according to the log. An agent that comes back and offers
//! the same adds no entry, and a reader who begins near the end of the log is shown them.
//!
//! Invariant: what is not known to be in the log is written. Only the end of the log is read, so that an attach costs the
//! same however long the session is; for live sessions the view is kept in memory.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use model::{AgentCommand, AgentOption, AgentReport, AgentView, Entry, Seq, Session, SessionEvent, SessionId};
use store::Reader;

use crate::paging;

/// How many of the newest entries are looked at.
const ENTRIES: usize = 256;
/// How far back options are looked for where it matters, a page at a time.
const PAGE_BACK: usize = 500;
const PAGES_BACK: usize = 200;

/// What the end of a session's log says of its agent; nothing, if it can not be read.
pub(crate) async fn newest_entries(store: &dyn Reader, session: &Session) -> Vec<Entry> {
    of_agent(store, session, Seq(session.head.0.saturating_sub(ENTRIES as u64)), session.head).await
}

/// The entries about the agent, after one and up to another, as far as they can be read.
async fn of_agent(store: &dyn Reader, session: &Session, after: Seq, up_to: Seq) -> Vec<Entry> {
    let mut found = Vec::new();
    let walked = paging::walk(store, session.row.id, after, up_to, |entry| {
        found.extend(Some(entry).filter(|entry| AgentView::is_of(&entry.event)));
        ControlFlow::Continue(())
    });
    drop(walked.await);
    found
}

#[derive(Debug, Default)]
pub(crate) struct KnownChoices {
    options: Option<Vec<AgentOption>>,
    commands: Option<Vec<AgentCommand>>,
}

impl KnownChoices {
    /// What these entries say.
    pub(crate) fn of(newest: &[Entry]) -> Self {
        let mut offers = Self::default();
        for entry in newest {
            match &entry.event {
                SessionEvent::AgentOptionsChanged { options } => offers.options = Some(options.clone()),
                SessionEvent::AgentCommandsChanged { commands } => offers.commands = Some(commands.clone()),
                // Another agent has its own.
                SessionEvent::SessionChanged { agent: Some(_), .. } => offers = Self::default(),
                _ => (),
            }
        }
        offers
    }

    /// Whether the log says this of the agent already.
    pub(crate) fn is_known(&self, report: &AgentReport) -> bool {
        match report {
            AgentReport::Options(options) => self.options.as_ref() == Some(options),
            AgentReport::Commands(commands) => self.commands.as_ref() == Some(commands),
            _ => false,
        }
    }

    /// Notes a report that is about to be appended.
    pub(crate) fn note(&mut self, report: &AgentReport) {
        match report {
            AgentReport::Options(options) => self.options = Some(options.clone()),
            AgentReport::Commands(commands) => self.commands = Some(commands.clone()),
            _ => (),
        }
    }
}

/// How the agents of live sessions stand, as far as it is durable.
#[derive(Debug, Default)]
pub(crate) struct AgentViews(Mutex<HashMap<SessionId, AgentView>>);

impl AgentViews {
    /// Begins to keep it for a session that goes live; what is kept already is as good as the log's end or better.
    pub(crate) fn keep(&self, session: &Session, newest: &[Entry]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.entry(session.row.id).or_insert_with(|| view(session, newest));
    }

    pub(crate) fn forget(&self, session: SessionId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&session);
    }

    /// Applies entries that were appended to a session.
    pub(crate) fn apply(&self, session: SessionId, entries: &[Entry]) {
        if let Some(view) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&session) {
            entries.iter().for_each(|entry| view.apply(entry));
        }
    }

    /// How a session's agent stands, from memory or else from the end of its log.
    pub(crate) async fn of(&self, store: &dyn Reader, session: &Session) -> AgentView {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&session.row.id).cloned();
        match kept {
            Some(view) => view,
            None => view(session, &newest_entries(store, session).await),
        }
    }
}

/// What an agent last said can be chosen about it, wherever in the newest entries of its session; nothing, if that is too
/// far back.
pub(crate) async fn last_options(store: &dyn Reader, session: &Session) -> Vec<AgentOption> {
    let mut end = session.head;
    for _ in 0..PAGES_BACK {
        let after = Seq(end.0.saturating_sub(PAGE_BACK as u64));
        for entry in of_agent(store, session, after, end).await.into_iter().rev() {
            match entry.event {
                SessionEvent::AgentOptionsChanged { options } => return options,
                // Another agent had others.
                SessionEvent::SessionChanged { agent: Some(_), .. } => return Vec::new(),
                _ => (),
            }
        }
        if after == Seq::START {
            break;
        }
        end = after;
    }
    Vec::new()
}

fn view(session: &Session, newest: &[Entry]) -> AgentView {
    let mut view = AgentView::unknown(session.row.agent_state);
    view.reason.clone_from(&session.row.failure);
    newest.iter().for_each(|entry| view.apply(entry));
    view
}
