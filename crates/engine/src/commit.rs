//! The one way into the log: number, fold, append, and only then publish.
//!
//! Invariant: stored before shown. A follower may act on what it sees, and must never act on an entry that a crash
//! could take back.

use std::sync::Arc;

use model::{Event, Seq, Session, SessionId, SessionRow, StreamId};
use store::{AppendError, Batch, Part, Receipt, Room};

use crate::asking::{Asker, Reply};
use crate::feeds::{Fresh, ListChange, News};
use crate::{Shared, SubmitError};

/// What is written with a session's events, or not at all.
#[derive(Debug, Default)]
pub(crate) struct Along {
    pub(crate) receipt: Option<Receipt>,
    /// The next parts of other streams.
    pub(crate) parts: Vec<Part>,
}

impl Shared {
    /// Appends events to a session's stream and tells everyone; gives the session as it stands afterwards.
    pub(crate) async fn commit(
        &self,
        id: SessionId,
        before: Option<&Session>,
        events: Vec<Event>,
        along: Along,
        room: Room,
    ) -> Result<Option<Session>, AppendError> {
        let Along { receipt, parts } = along;
        let stream = StreamId::Session(id);
        let after = before.map_or(Seq::START, |session| session.head);
        let (part, session) = Part::of(stream, after, before.cloned(), events, self.clock.now());
        let fresh = Fresh::of(&part.entries);
        let is_empty = part.entries.is_empty();
        if is_empty && receipt.is_none() && parts.is_empty() {
            return Ok(session);
        }
        let parts = [part].into_iter().chain(parts).collect();
        let position = self.store.append(Batch { parts, receipt, room }).await?;
        self.finding.committed(position);
        fail::fail_point!("engine-appended");
        if let Some(session) = &session
            && !is_empty
        {
            if let Some(copying) = &self.copying {
                copying.wake();
            }
            if session.row.running.is_none() && session.row.summarised < session.row.turns {
                self.summaries.catch_up();
            }
            self.publish(before.map(|session| &session.row), &session.row, fresh);
        }
        fail::fail_point!("engine-published");
        Ok(session)
    }

    /// Writes down what a request was answered which changes no stream.
    pub(crate) async fn leave_receipt(&self, asker: &Asker, reply: &Reply) -> Result<(), SubmitError> {
        let Some(receipt) = asker.receipt(reply, self.clock.now()) else { return Ok(()) };
        match self.store.append(Batch { receipt: Some(receipt), ..Batch::default() }).await {
            Ok(_) => Ok(()),
            Err(AppendError::Repeated(receipt)) => asker.repeat(&receipt).map(drop),
            Err(err) => Err(err.into()),
        }
    }

    pub(crate) fn publish(&self, before: Option<&SessionRow>, after: &SessionRow, fresh: Fresh) {
        self.agent_views.hear(after.id, &fresh.entries);
        self.feeds.publish(after.id, fresh.into_news());
        if before == Some(after) {
            return;
        }
        if after.deleted_at.is_some() {
            self.feeds.publish(after.id, News::Deleted);
        }
        let was_unobserved = before.is_some_and(SessionRow::unobserved);
        self.unobserved.moved(was_unobserved, after.unobserved(), |unobserved_count| {
            self.feeds.publish_list(match after.deleted_at {
                Some(_) => ListChange::Removed { session: after.id, unobserved_count },
                None => ListChange::Put { row: Arc::new(after.clone()), unobserved_count },
            });
        });
    }
}

impl Shared {
    /// Tells everyone of a session that went without a word in its log.
    pub(crate) fn publish_removed(&self, row: &SessionRow) {
        self.feeds.publish(row.id, News::Deleted);
        self.unobserved.moved(row.unobserved(), false, |unobserved_count| {
            self.feeds.publish_list(ListChange::Removed { session: row.id, unobserved_count });
        });
    }
}

/// How many sessions came to rest unseen, kept as they change so that nobody counts them.
#[derive(Debug, Default)]
pub(crate) struct Unobserved(std::sync::Mutex<u64>);

impl Unobserved {
    pub(crate) fn new(count: u64) -> Self {
        Self(std::sync::Mutex::new(count))
    }

    pub(crate) fn count(&self) -> u64 {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Counts a change and tells of it before the next one is counted, so that the newest count is told last.
    fn moved(&self, before: bool, after: bool, tell: impl FnOnce(u64)) {
        let mut count = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match (before, after) {
            (false, true) => *count += 1,
            (true, false) => *count = count.saturating_sub(1),
            (true, true) | (false, false) => (),
        }
        tell(*count);
    }
}
