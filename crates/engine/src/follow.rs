//! Follows a session: hands out every entry after a cursor once and in order, then those that are appended later.
//!
//! Invariant: the next entry handed out is always the one after the last. The feed is subscribed before the log is
//! read, so nothing falls between; what comes twice is dropped by its seq, and what the feed skipped is read from the
//! log.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use model::{
    AgentView, Context, ContextNews, Cursor, Entry, OutputId, Seq, Session, SessionEvent, SessionId, StreamId, Turn,
};
use store::{Fence, ReadError, Reader};
use tokio::sync::broadcast::error::RecvError;

use crate::feeds::{FeedUpdate, Subscription, Words};
use crate::outputs::commands::{Commands, ShownCommand};
use crate::{Engine, OutputPreview, QueryError, ResetReason, UnsentPrompt};

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
    /// What a command prints that is being shown; not durable, and may vanish.
    Printed(OutputPreview),
    /// What the session is about, after the entry that was just handed out.
    Context {
        /// As it is now.
        context: Arc<Context>,
        /// Why it is sent.
        reason: ContextReason,
    },
    /// Somebody writes a prompt.
    Unsent(UnsentPrompt),
    /// The session was deleted; nothing more will come.
    Deleted,
}

/// Why a context is sent to a follower.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextReason {
    /// It changed; which set did, if one did.
    Changed(Option<String>),
    /// The agent was sent it, in a resume packet.
    Resume,
}

/// A follower's place in a session.
pub struct Follow {
    /// The session as it stood when the follow began.
    pub snapshot: Session,
    /// What has to be known of earlier entries, if the follow began with its newest turns.
    pub earlier: Option<Earlier>,
    session: SessionId,
    store: Arc<dyn Reader>,
    feed: Subscription,
    last: Seq,
    backlog: VecDeque<Entry>,
    reading: Reading,
    /// What the session is about as of the snapshot or the last entry, whichever is later.
    context: Arc<Context>,
    /// Why the context is to be sent next, if it is.
    send_context: Option<ContextReason>,
    /// Where the feed skipped something. Previews that follow this entry may lack their beginning; whole ones come again
    /// after the next one.
    torn_at: Option<Seq>,
    commands: Arc<Commands>,
    /// The commands that may have printed what was not handed out.
    printing: VecDeque<Arc<ShownCommand>>,
    /// How many bytes were handed out of what each has printed.
    printed: HashMap<OutputId, u64>,
}

/// What a follower has to know of the entries before its first one.
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
    /// From the log, because the feed does not carry what is long.
    Grown,
    /// From the feed.
    Live,
}

impl Follow {
    fn new(snapshot: Session, after: Seq, store: Arc<dyn Reader>, feed: Subscription, commands: Arc<Commands>) -> Self {
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
            send_context: None,
            torn_at: None,
            commands,
            printing: VecDeque::new(),
            printed: HashMap::new(),
        }
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
            if let Some(reason) = self.send_context.take() {
                return Ok(Followed::Context { context: Arc::clone(&self.context), reason });
            }
            if let Some(entry) = self.next_waiting() {
                return Ok(Followed::Entry(entry));
            }
            if self.reading != Reading::Live {
                let page = self.store.read_session(self.session, self.last, PAGE).await?;
                if page.is_empty() {
                    self.printing.extend(self.commands.active(self.session));
                    match std::mem::replace(&mut self.reading, Reading::Live) {
                        Reading::First => return Ok(Followed::CaughtUp),
                        Reading::Again => self.torn_at = Some(self.last),
                        Reading::Grown | Reading::Live => (),
                    }
                }
                self.backlog.extend(page);
                continue;
            }
            if let Some(preview) = self.next_printed() {
                return Ok(Followed::Printed(preview));
            }
            match self.feed.recv().await {
                Ok(FeedUpdate::Printed(command)) => self.printing.push_back(command),
                Ok(FeedUpdate::Entries(entries)) => self.take(&entries),
                Ok(FeedUpdate::Grown) => self.reading = Reading::Grown,
                // After a pause the feed is behind what was read from the log: these words were in it.
                Ok(FeedUpdate::Preview { after, .. }) if after < self.last => (),
                Ok(FeedUpdate::Preview { after, .. }) if Some(after) == self.torn_at => (),
                Ok(FeedUpdate::Preview { words, .. }) => return Ok(Followed::Preview(words)),
                Ok(FeedUpdate::Unsent(unsent)) => return Ok(Followed::Unsent(unsent)),
                Ok(FeedUpdate::Deleted) => return Ok(Followed::Deleted),
                Err(RecvError::Lagged(_)) => self.reading = Reading::Again,
                // An engine that stops drops its feeds: nothing more will come, and nothing is deleted.
                Err(RecvError::Closed) => return Err(ReadError::Closed),
            }
        }
    }

    /// The next entry, if it has been read and nothing else comes before it.
    pub fn next_waiting(&mut self) -> Option<Entry> {
        if self.send_context.is_some() {
            return None;
        }
        let entry = self.backlog.pop_front()?;
        self.last = entry.seq;
        if let SessionEvent::TurnEnded { .. } = entry.event {
            self.printed.clear();
        }
        self.take_context(&entry);
        Some(entry)
    }

    /// What a command has printed since the last piece, of the next one that has printed anything.
    fn next_printed(&mut self) -> Option<OutputPreview> {
        while let Some(command) = self.printing.pop_front() {
            if let Some((preview, end)) = command.preview(self.printed.get(&command.id).copied()) {
                self.printed.insert(command.id, end);
                return Some(preview);
            }
        }
        None
    }

    /// What is older than the snapshot is in it already.
    fn take_context(&mut self, entry: &Entry) {
        if entry.seq <= self.snapshot.head {
            return;
        }
        self.send_context = match &entry.event {
            SessionEvent::ResumeSent { .. } => Some(ContextReason::Resume),
            SessionEvent::ContextSet { .. } | SessionEvent::FactProved { .. } => {
                Arc::make_mut(&mut self.context).apply(entry.borrowed()).map(|news| match news {
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

impl Engine {
    /// Entries of a session after a cursor, and whether there are more.
    pub async fn entries(
        &self,
        id: SessionId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<(Vec<Entry>, Option<Cursor>), QueryError> {
        let session = self.session(id).await?;
        let after = self.check_cursor(after, session.head)?;
        let entries = self.shared.store.read_session(id, after, limit).await?;
        let last = entries.last().map_or(after, |entry| entry.seq);
        // Where a damaged session ends is not known: the next page is an error that says so.
        let more = last < session.head || self.fence(id).is_some();
        if more && entries.is_empty() {
            return Err(self.missing_after(id, after).await);
        }
        Ok((entries, more.then(|| self.cursor(last))))
    }

    /// Follows a session from a cursor on.
    pub async fn follow(&self, id: SessionId, after: Option<Cursor>) -> Result<Follow, QueryError> {
        let (feed, session) = self.begin_follow(id).await?;
        let after = self.check_cursor(after, session.head)?;
        Ok(self.new_follow(session, after, feed))
    }

    /// Follows a session from the first entry of so many newest turns on; from the beginning if it has fewer.
    pub async fn follow_newest(&self, id: SessionId, turns: u32) -> Result<Follow, QueryError> {
        let (feed, session) = self.begin_follow(id).await?;
        let after = match session.row.turns.0.checked_sub(turns) {
            None | Some(0) => Seq::START,
            Some(earlier) => {
                let first = self.shared.store.turns(id, Turn(earlier), 1).await?;
                // Behind a damage there is nothing to follow.
                let first = first.first().filter(|first| first.first_seq <= session.head);
                first.map_or(Seq::START, |first| first.first_seq.previous())
            }
        };
        let agent = self.shared.agent_views.of(&*self.shared.store, &session).await;
        let mut asked = Vec::new();
        let aside = session.row.open_requests.iter().filter_map(|open| open.aside);
        for seq in aside.filter(|seq| *seq <= after) {
            asked.extend(self.shared.store.read_session(id, seq.previous(), 1).await?);
        }
        let earlier = Some(Earlier { agent, asked });
        Ok(Follow { earlier, ..self.new_follow(session, after, feed) })
    }

    fn new_follow(&self, session: Session, after: Seq, feed: Subscription) -> Follow {
        Follow::new(session, after, Arc::clone(&self.shared.store), feed, Arc::clone(&self.shared.commands))
    }

    async fn begin_follow(&self, id: SessionId) -> Result<(Subscription, Session), QueryError> {
        // Subscribed before the log is read, so that nothing falls between.
        let feed = self.shared.feeds.subscribe(id);
        let session = match self.shared.store.session(id).await? {
            Some(session) if session.row.deleted_at.is_none() => session,
            Some(_) => return Err(QueryError::Deleted(id)),
            None if self.is_purged(id).await? => return Err(QueryError::Deleted(id)),
            None => return Err(QueryError::NotFound(id)),
        };
        Ok((feed, session))
    }

    /// Why there is nothing behind an entry though the session goes on there: an empty page would lead its reader round for
    /// ever. One that was purged meanwhile is gone.
    pub(crate) async fn missing_after(&self, id: SessionId, after: Seq) -> QueryError {
        let missing = || Fence::damaged(StreamId::Session(id), after.next(), "the entry is missing");
        match self.session(id).await {
            Err(err) => err,
            Ok(_) => QueryError::Read(ReadError::Fenced(self.fence(id).unwrap_or_else(missing))),
        }
    }

    pub(crate) fn check_cursor(&self, after: Option<Cursor>, head: Seq) -> Result<Seq, QueryError> {
        let Some(after) = after else { return Ok(Seq::START) };
        let reset = |reason| QueryError::Reset { reason, snapshot: self.cursor(head) };
        if after.incarnation != self.shared.store.incarnation() {
            return Err(reset(ResetReason::OtherIncarnation));
        }
        if after.seq > head {
            return Err(reset(ResetReason::Ahead));
        }
        Ok(after.seq)
    }

    /// A cursor of this incarnation of the store.
    pub fn cursor(&self, seq: Seq) -> Cursor {
        Cursor { incarnation: self.shared.store.incarnation(), seq }
    }
}
