//! Appends to the log, applies tokens and remembered answers, then notifies followers. Nothing else writes the log.
//!
//! Invariant: stored before shown. A follower may act on what it sees, and must never act on an entry that a crash
//! could take back. What decides who may do what (tokens, remembered answers) is applied before the append is
//! acknowledged: a revoked token opens nothing from then on. Whoever drops [`Journal::append`] halfway leaves entries that
//! are durable and that nobody was notified of, so callers run it to its end, in a task of their own.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use model::{Entry, Position, RowChange, Session, SessionEvent, SessionId, SessionRow, StreamId, Timestamp};
use store::{AppendError, Batch, Part, ReadError, Store};

use crate::applets::Grants;
use crate::fan_out::FanOut;
use crate::remembered::Remembered;
use crate::tokens::Tokens;

/// Entries that have more bytes than this together are read from the log by everybody.
const CARRIED_BYTES: usize = 32 << 10;

/// The only one that has the store's [`store::Append`]; everybody else has a [`store::Reader`].
pub(crate) struct Journal {
    store: Arc<dyn Store>,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) remembered: Remembered,
    pub(crate) grants: Grants,
    pub(crate) attention: AttentionCount,
    fan_out: FanOut,
}

/// What was appended, as far as somebody follows it.
#[derive(Debug)]
pub(crate) struct Committed {
    /// The position of the last entry.
    pub(crate) position: Position,
    pub(crate) parts: Vec<CommittedPart>,
}

/// What was appended to one stream.
#[derive(Debug)]
pub(crate) struct CommittedPart {
    pub(crate) stream: StreamId,
    /// All entries, if it is a session and they are short; else those that are carried whatever their length.
    pub(crate) entries: Arc<[Entry]>,
    /// The entries are all that were appended.
    pub(crate) is_whole: bool,
    /// The changed rows that followers or tables in memory need.
    pub(crate) rows: Vec<RowChange>,
    /// By how much the number of unseen sessions changed.
    pub(crate) unobserved_delta: i64,
    pub(crate) needs_you_delta: i64,
}

impl CommittedPart {
    fn of(part: &Part) -> Self {
        let is_session = matches!(part.stream, StreamId::Session(_));
        let mut bytes = 0;
        let is_whole = part.entries.iter().all(|entry| {
            bytes += entry.event.about_bytes();
            bytes <= CARRIED_BYTES
        });
        let of_session = part.entries.iter().filter_map(Entry::as_session);
        let carried = of_session.filter(|entry| is_whole || is_always_carried(entry.event));
        Self {
            stream: part.stream,
            entries: carried.map(|entry| entry.map(Clone::clone)).collect(),
            is_whole,
            // Of a session's rows, followers need its own; the others can be many, and are for the tables alone.
            rows: part
                .rows
                .iter()
                .filter(|row| !is_session || matches!(row, RowChange::PutSession { .. }))
                .cloned()
                .collect(),
            unobserved_delta: part.unobserved_delta,
            needs_you_delta: part.needs_you_delta,
        }
    }

    /// The session's row, if it changed.
    pub(crate) fn session_row(&self) -> Option<&Arc<SessionRow>> {
        self.rows.iter().find_map(|row| match row {
            RowChange::PutSession { row, .. } => Some(row),
            _ => None,
        })
    }
}

impl Journal {
    /// The journal of a store, with what is in force there.
    pub(crate) async fn open(store: Arc<dyn Store>, fan_out: FanOut) -> Result<Self, ReadError> {
        let tokens = Arc::new(Tokens::new(store.tokens().await?));
        let remembered = Remembered::new(store.remembered().await?);
        let grants = Grants::new(store.applet_grants().await?);
        let attention = AttentionCount::of(&*store).await?;
        Ok(Self { store, tokens, remembered, grants, attention, fan_out })
    }

    /// Appends a batch: all of it, or nothing. One that holds nothing is not written. A part without entries says which
    /// session the receipt belongs to.
    pub(crate) async fn append(&self, batch: Batch) -> Result<Committed, AppendError> {
        let changed = batch.parts.iter().filter(|part| !part.entries.is_empty());
        let parts: Vec<_> = changed.map(CommittedPart::of).collect();
        if parts.is_empty() && batch.receipt.is_none() {
            return Ok(Committed { position: self.store.last_position(), parts });
        }
        let position = self.store.append(batch).await?;
        let committed = Committed { position, parts };
        fail::fail_point!("engine-appended");
        for part in committed.parts.iter().filter(|part| part.stream == StreamId::Server) {
            self.tokens.apply(&part.rows);
            self.remembered.apply(&part.rows);
            self.grants.apply(&part.rows);
        }
        // Only now, whichever part comes first: who is notified may act on what is in force.
        committed.parts.iter().for_each(|part| self.fan_out.notify(part, &self.attention));
        fail::fail_point!("engine-published");
        Ok(committed)
    }

    /// Removes a session for good, if nobody has written to it since.
    pub(crate) async fn purge(&self, session: &Session, at: Timestamp) -> Result<(), AppendError> {
        self.store.purge(session.row.id, session.head, at).await?;
        self.fan_out.notify_purged(&session.row, &self.attention);
        Ok(())
    }

    /// Forgets the receipts of requests that nobody repeats any more.
    pub(crate) async fn forget_receipts(&self, before: Timestamp) -> Result<(), AppendError> {
        self.store.forget_receipts(before).await
    }

    /// Reads what is in force, after another process wrote to the server's stream.
    pub(crate) async fn read_what_is_in_force(&self) -> Result<(), ReadError> {
        self.tokens.replace(self.store.tokens().await?);
        self.remembered.replace(self.store.remembered().await?);
        self.grants.replace(self.store.applet_grants().await?);
        Ok(())
    }
}

/// Sent to followers even when the entries beside it are too long to carry.
fn is_always_carried(event: &SessionEvent) -> bool {
    model::AgentView::is_of(event)
        || matches!(
            event,
            SessionEvent::TurnEnded { .. }
                | SessionEvent::SummarySet { .. }
                | SessionEvent::SessionDeleted {}
                | SessionEvent::SessionRestored {}
        )
}

/// How many sessions wait for the person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attention {
    /// They came to rest unseen.
    pub unobserved: u64,
    /// They cannot go on without an answer or a sign-in.
    pub needs_you: u64,
}

/// How many wait, kept as they change so that nobody counts them.
#[derive(Debug)]
pub(crate) struct AttentionCount {
    now: Mutex<Attention>,
    /// Sessions that were damaged when the store was opened: nobody can answer what was asked there.
    not_counted: HashSet<SessionId>,
}

impl AttentionCount {
    async fn of(store: &dyn Store) -> Result<Self, ReadError> {
        let foremost = store.foremost(usize::MAX).await?;
        // What was asked in a session whose log takes no more is answered by nobody.
        let (damaged, waiting): (Vec<_>, Vec<_>) =
            foremost.iter().filter(|row| row.needs_you()).partition(|row| store.fence(row.id).is_some());
        let now = Attention { unobserved: store.unobserved_count().await?, needs_you: waiting.len() as u64 };
        Ok(Self { now: Mutex::new(now), not_counted: damaged.iter().map(|row| row.id).collect() })
    }

    pub(crate) fn now(&self) -> Attention {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a session is counted among those that need the person.
    pub(crate) fn counts(&self, row: &SessionRow) -> bool {
        row.needs_you() && !self.not_counted.contains(&row.id)
    }

    /// Counts a change and publishes the counts before the next one is counted, so that the newest are published last.
    pub(crate) fn change(&self, unobserved: i64, needs_you: i64, publish: impl FnOnce(Attention)) {
        let mut count = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        count.unobserved = count.unobserved.saturating_add_signed(unobserved);
        count.needs_you = count.needs_you.saturating_add_signed(needs_you);
        publish(*count);
    }
}
