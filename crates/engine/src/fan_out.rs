//! After an append, notifies everything in this process that follows its streams.
//!
//! Invariant: nothing here waits, and who appends does not know who follows. What a follower needs beyond its notice it
//! reads from the log, in a task of its own; those that may lie behind (copies, the index) sleep in
//! [`store::Log::wait_after`] and do not appear here but for purges, which leave no entry.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use model::{RowChange, SessionEvent, SessionId, SessionRow, StreamId, SummaryMaker, WorkId};
use tokio::sync::Notify;

use crate::Shared;
use crate::agent_views::AgentViews;
use crate::feeds::{FeedUpdate, Feeds, ListChange};
use crate::finding::Finding;
use crate::journal::{AttentionCount, CommittedPart};
use crate::summaries::Summaries;

#[derive(Clone)]
pub(crate) struct FanOut {
    pub(crate) feeds: Arc<Feeds>,
    pub(crate) agent_views: Arc<AgentViews>,
    pub(crate) summaries: Arc<Summaries>,
    pub(crate) finding: Arc<Finding>,
    pub(crate) changed_works: Arc<ChangedWorks>,
}

impl FanOut {
    /// Notifies the followers of one stream.
    pub(crate) fn notify(&self, part: &CommittedPart, attention: &AttentionCount) {
        match part.stream {
            StreamId::Session(id) => self.notify_session(id, part, attention),
            StreamId::Work => part.rows.iter().filter_map(work_of).for_each(|work| self.changed_works.note(work)),
            StreamId::Server => (),
        }
    }

    fn notify_session(&self, id: SessionId, part: &CommittedPart, attention: &AttentionCount) {
        self.agent_views.apply(id, &part.entries);
        let news = if part.is_whole { FeedUpdate::Entries(Arc::clone(&part.entries)) } else { FeedUpdate::Grown };
        self.feeds.publish(id, news);
        let Some(row) = part.session_row() else { return };
        if row.deleted_at.is_some() {
            self.feeds.publish(id, FeedUpdate::Deleted);
        }
        attention.change(part.unobserved_delta, part.needs_you_delta, |attention| {
            self.feeds.publish_list(match row.deleted_at {
                Some(_) => ListChange::Removed { session: id, attention },
                None => ListChange::Put { row: Arc::clone(row), attention },
            });
        });
        self.note_summaries(row, part);
        let moves =
            |event: &SessionEvent| matches!(event, SessionEvent::SessionDeleted {} | SessionEvent::SessionRestored {});
        if let Some(work) = row.work
            && part.entries.iter().any(|entry| moves(&entry.event))
        {
            self.changed_works.note(work);
        }
    }

    /// A model may write better lines of the turns that have just ended; turns without any are caught up on.
    fn note_summaries(&self, row: &SessionRow, part: &CommittedPart) {
        if row.running.is_none() && row.summarised < row.turns {
            self.summaries.catch_up();
        }
        if row.is_imported() {
            return;
        }
        let ended = |turn| {
            part.entries
                .iter()
                .any(|entry| matches!(&entry.event, SessionEvent::TurnEnded { turn: ended, .. } if *ended == turn))
        };
        for entry in part.entries.iter() {
            if let SessionEvent::SummarySet { turn, by: SummaryMaker::Extract, .. } = entry.event
                && ended(turn)
            {
                self.summaries.queue(row.id, turn);
            }
        }
    }

    /// Notifies them that a session is gone for good.
    pub(crate) fn notify_purged(&self, row: &SessionRow, attention: &AttentionCount) {
        self.finding.note_purged(row.id);
        if let Some(work) = row.work {
            self.changed_works.note(work);
        }
        // One that was deleted before has been taken off the list then.
        if row.deleted_at.is_none() {
            self.feeds.publish(row.id, FeedUpdate::Deleted);
            attention.change(-i64::from(row.unobserved()), -i64::from(attention.counts(row)), |attention| {
                self.feeds.publish_list(ListChange::Removed { session: row.id, attention });
            });
        }
    }
}

fn work_of(row: &RowChange) -> Option<WorkId> {
    match row {
        RowChange::PutWork(row) => Some(row.id),
        RowChange::RenameWork { id, .. } | RowChange::TouchWork { id, .. } | RowChange::RemoveWork { id } => Some(*id),
        _ => None,
    }
}

/// Pieces of work that have changed since they were last published.
#[derive(Debug, Default)]
pub(crate) struct ChangedWorks {
    ids: Mutex<BTreeSet<WorkId>>,
    changed: Notify,
}

impl ChangedWorks {
    fn note(&self, work: WorkId) {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).insert(work);
        self.changed.notify_one();
    }

    fn take(&self) -> BTreeSet<WorkId> {
        std::mem::take(&mut *self.ids.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Publishes pieces of work as they change. Each is read after it was noted, so the newest is published last.
pub(crate) async fn publish_works(shared: Arc<Shared>) {
    loop {
        for work in shared.changed_works.take() {
            if let Err(err) = shared.publish_work(work).await {
                tracing::warn!(%work, error = %err, "a change of a meta-context could not be published");
            }
        }
        tokio::select! {
            () = shared.settled.cancelled() => return,
            () = shared.changed_works.changed.notified() => (),
        }
    }
}
