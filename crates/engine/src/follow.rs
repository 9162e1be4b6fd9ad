//! Following a session: everything after a cursor, in order, once, then what comes.
//!
//! Invariant: the next entry handed out is always the one after the last. The feed is subscribed before the log is
//! read, so nothing falls between; what comes twice is dropped by its seq, and what the feed skipped is read from the
//! log.

use std::collections::VecDeque;
use std::sync::Arc;

use model::{AgentView, Context, ContextNews, Cursor, Entry, Event, Seq, Session, SessionId, StreamId};
use store::{ReadError, Store};
use tokio::sync::broadcast::error::RecvError;

use crate::feeds::{News, Subscription, Words};

const PAGE: usize = 256;

/// What a follower meets.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "nearly all of them are entries, handed out one at a time")]
pub enum Followed {
    /// The next entry.
    Entry(Entry),
    /// Everything stored has been handed out; from here on it is live.
    CaughtUp,
    /// Words that are not durable yet.
    Preview(Words),
    /// What the session is about, after the entry that was just handed out.
    Context {
        /// As it is now.
        context: Arc<Context>,
        /// Why it is told.
        reason: ContextReason,
    },
    /// The session was deleted; nothing more will come.
    Deleted,
}

/// Why a context is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextReason {
    /// It changed; which set did, if one did.
    Changed(Option<String>),
    /// The agent was told of it.
    Resume,
}

/// A follower's place in a session.
pub struct Follow {
    /// The session as it stood when the follow began.
    pub snapshot: Session,
    /// What has to be known of earlier entries, if the follow began with its newest turns.
    pub earlier: Option<Earlier>,
    session: SessionId,
    store: Arc<dyn Store>,
    feed: Subscription,
    last: Seq,
    backlog: VecDeque<Entry>,
    reading: Reading,
    /// What the session is about as of the snapshot or the last entry, whichever is later.
    context: Arc<Context>,
    /// Why it is to be told next.
    tell_context: Option<ContextReason>,
    /// Where the feed skipped something. Previews that follow this entry may lack their beginning; whole ones come again
    /// after the next one.
    torn_at: Option<Seq>,
}

/// What entries told that a follow begins after.
#[derive(Debug, Clone)]
pub struct Earlier {
    /// How the agent stands.
    pub agent: AgentView,
    /// What was asked while no turn ran and still waits: the entries that hold it, oldest first.
    pub asked: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// From the log, for the first time.
    First,
    /// From the log, because the feed skipped something.
    Again,
    /// From the feed.
    Live,
}

impl Follow {
    pub(crate) fn new(snapshot: Session, after: Seq, store: Arc<dyn Store>, feed: Subscription) -> Self {
        let (session, context) = (snapshot.row.id, Arc::clone(&snapshot.context));
        Self {
            snapshot,
            earlier: None,
            session,
            store,
            feed,
            last: after,
            backlog: VecDeque::new(),
            reading: Reading::First,
            context,
            tell_context: None,
            torn_at: None,
        }
    }

    pub(crate) fn knowing(self, earlier: Earlier) -> Self {
        Self { earlier: Some(earlier), ..self }
    }

    /// Which session is followed.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The last entry handed out.
    pub fn cursor(&self) -> Cursor {
        Cursor { incarnation: self.store.incarnation(), seq: self.last }
    }

    /// The next thing. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Followed, ReadError> {
        loop {
            if let Some(reason) = self.tell_context.take() {
                return Ok(Followed::Context { context: Arc::clone(&self.context), reason });
            }
            if let Some(entry) = self.backlog.pop_front() {
                self.last = entry.seq;
                self.take_context(&entry);
                return Ok(Followed::Entry(entry));
            }
            if self.reading != Reading::Live {
                let page = self.store.read(StreamId::Session(self.session), self.last, PAGE).await?;
                if page.is_empty() {
                    match std::mem::replace(&mut self.reading, Reading::Live) {
                        Reading::First => return Ok(Followed::CaughtUp),
                        Reading::Again => self.torn_at = Some(self.last),
                        Reading::Live => (),
                    }
                }
                self.backlog.extend(page);
                continue;
            }
            match self.feed.recv().await {
                Ok(News::Entries(entries)) => self.take(&entries),
                // After a pause the feed is behind what was read from the log: these words were in it.
                Ok(News::Preview { after, .. }) if after < self.last => (),
                Ok(News::Preview { after, .. }) if Some(after) == self.torn_at => (),
                Ok(News::Preview { words, .. }) => return Ok(Followed::Preview(words)),
                // An engine that stops lets go of its feeds; nothing more will come, but nothing is deleted either.
                Ok(News::Deleted) => return Ok(Followed::Deleted),
                Err(RecvError::Lagged(_)) => self.reading = Reading::Again,
                Err(RecvError::Closed) => return Err(ReadError::Closed),
            }
        }
    }

    /// What is older than the snapshot is in it already.
    fn take_context(&mut self, entry: &Entry) {
        if entry.seq <= self.snapshot.head {
            return;
        }
        self.tell_context = match &entry.event {
            Event::ResumeSent { .. } => Some(ContextReason::Resume),
            Event::ContextSet { .. } | Event::FactProved { .. } => {
                Arc::make_mut(&mut self.context).apply(entry).map(|news| match news {
                    ContextNews::Set(set) => ContextReason::Changed(Some(set)),
                    ContextNews::Facts => ContextReason::Changed(None),
                })
            }
            _ => None,
        };
    }

    fn take(&mut self, entries: &[Entry]) {
        for entry in entries.iter().filter(|entry| entry.seq > self.last) {
            let newest = self.backlog.back().map_or(self.last, |entry| entry.seq);
            if entry.seq != newest.next() {
                self.backlog.clear();
                self.reading = Reading::Again;
                return;
            }
            self.backlog.push_back(entry.clone());
        }
    }
}
