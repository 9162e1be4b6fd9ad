//! Who is told of what was just committed.
//!
//! Invariant: a feed carries entries only after they are durable, in the order of their stream. It is a hint that may
//! be missed: a follower that lags reads the log instead.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::{Entry, SessionId, SessionRow, Turn};
use tokio::sync::broadcast;

/// How many pieces of news a follower may be behind before it reads the log instead.
const SESSION_BACKLOG: usize = 1_024;
const LIST_BACKLOG: usize = 4_096;

/// What followers of a session hear.
#[derive(Debug, Clone)]
pub(crate) enum News {
    /// Durable.
    Entries(Arc<[Entry]>),
    /// Not durable: may vanish.
    Preview { turn: Turn, block: u32, text: Arc<str> },
    /// It was deleted.
    Deleted,
}

/// A change of the list of sessions.
#[derive(Debug, Clone)]
pub enum ListChange {
    /// A row is new or different.
    Put {
        /// The row as it is now.
        row: Arc<SessionRow>,
        /// How many sessions are now unseen.
        unobserved_count: u64,
    },
    /// A row is gone.
    Removed {
        /// Whose.
        session: SessionId,
        /// How many sessions are now unseen.
        unobserved_count: u64,
    },
}

#[derive(Debug)]
pub(crate) struct Feeds {
    sessions: Mutex<HashMap<SessionId, broadcast::Sender<News>>>,
    list: broadcast::Sender<ListChange>,
}

impl Feeds {
    pub(crate) fn new() -> Self {
        Self { sessions: Mutex::default(), list: broadcast::Sender::new(LIST_BACKLOG) }
    }

    pub(crate) fn subscribe(&self, session: SessionId) -> broadcast::Receiver<News> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.entry(session).or_insert_with(|| broadcast::Sender::new(SESSION_BACKLOG)).subscribe()
    }

    pub(crate) fn publish(&self, session: SessionId, news: News) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        // A send fails only when nobody listens any more; then the feed has served.
        if let Some(feed) = sessions.get(&session)
            && feed.send(news).is_err()
        {
            sessions.remove(&session);
        }
    }

    pub(crate) fn subscribe_list(&self) -> broadcast::Receiver<ListChange> {
        self.list.subscribe()
    }

    pub(crate) fn publish_list(&self, change: ListChange) {
        // Nobody looking at the list is no failure.
        drop(self.list.send(change));
    }
}
