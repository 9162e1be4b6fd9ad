//! Broadcasts committed entries to the subscribers of a session, and changed rows to those of the list.
//!
//! Invariant: a feed carries entries only after they are durable, and a follower sees by their seqs when one is missing. It is a hint that may
//! be missed: a follower that lags reads the log instead. What a feed holds for one that does not listen is bounded in
//! number and in bytes: long entries are not carried, only that they are there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::{Entry, Seq, SessionId, SessionRow, Turn, WordsOf, WorkId};
use tokio::sync::broadcast;

use crate::outputs::commands::ShownCommand;
use crate::{Attention, UnsentPrompt, Work};

/// How many pieces of news a follower may be behind before it reads the log instead.
const SESSION_BACKLOG: usize = 1_024;
const LIST_BACKLOG: usize = 4_096;

/// Live words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// Of which turn.
    pub turn: Turn,
    /// What they belong to.
    pub of: WordsOf,
    /// The number of the block, or of the tool call.
    pub number: u32,
    /// The words since the last piece.
    pub text: Arc<str>,
}

/// What a feed sends to the followers of a session.
#[derive(Debug, Clone)]
pub(crate) enum FeedUpdate {
    /// Durable.
    Entries(Arc<[Entry]>),
    /// More is durable than is carried here.
    Grown,
    /// Not durable: may vanish. It follows the entry `after`; whoever has later ones has the words already.
    Preview { after: Seq, words: Words },
    /// A command that is shown has begun, or printed more; each follower takes what it has not got yet.
    Printed(Arc<ShownCommand>),
    /// Somebody writes a prompt: the words as they are now.
    Unsent(UnsentPrompt),
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
        /// How many wait now.
        attention: Attention,
    },
    /// A piece of work is new, has another name, or other sessions.
    PutWork(Arc<Work>),
    /// A piece of work is gone, or has no sessions.
    RemovedWork {
        /// Which.
        id: WorkId,
    },
    /// A row is gone.
    Removed {
        /// Whose.
        session: SessionId,
        /// How many wait now.
        attention: Attention,
    },
}

#[derive(Debug)]
pub(crate) struct Feeds {
    sessions: Mutex<HashMap<SessionId, broadcast::Sender<FeedUpdate>>>,
    list: broadcast::Sender<ListChange>,
}

impl Feeds {
    pub(crate) fn new() -> Self {
        Self { sessions: Mutex::default(), list: broadcast::Sender::new(LIST_BACKLOG) }
    }

    pub(crate) fn subscribe(self: &Arc<Self>, session: SessionId) -> Subscription {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let feed = sessions.entry(session).or_insert_with(|| broadcast::Sender::new(SESSION_BACKLOG));
        Subscription { session, receiver: Some(feed.subscribe()), feeds: Arc::clone(self) }
    }

    pub(crate) fn publish(&self, session: SessionId, news: FeedUpdate) {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(feed) = sessions.get(&session) {
            // Whoever listened last may be leaving at this moment.
            drop(feed.send(news));
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

/// A place at a session's feed. The feed is there as long as somebody has one.
#[derive(Debug)]
pub(crate) struct Subscription {
    session: SessionId,
    receiver: Option<broadcast::Receiver<FeedUpdate>>,
    feeds: Arc<Feeds>,
}

impl Subscription {
    pub(crate) async fn recv(&mut self) -> Result<FeedUpdate, broadcast::error::RecvError> {
        match &mut self.receiver {
            Some(receiver) => receiver.recv().await,
            None => Err(broadcast::error::RecvError::Closed),
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        drop(self.receiver.take());
        let mut sessions = self.feeds.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.get(&self.session).is_some_and(|feed| feed.receiver_count() == 0) {
            sessions.remove(&self.session);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feed_is_gone_with_its_last_listener() {
        let feeds = Arc::new(Feeds::new());
        let session = SessionId::from_bytes([1; 16]);
        let (one, two) = (feeds.subscribe(session), feeds.subscribe(session));
        drop(one);
        assert_eq!(feeds.sessions.lock().unwrap().len(), 1);
        drop(two);
        assert_eq!(feeds.sessions.lock().unwrap().len(), 0);
    }
}
