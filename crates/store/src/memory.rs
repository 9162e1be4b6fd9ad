//! The in-memory twin: the same answers from plain collections, for tests of what is built on a store.
//!
//! Invariant: whatever `conformance.rs` and `histories.rs` can see of it, they see the same of [`crate::SqliteStore`].
//! It shares no code with it, so that one does not repeat the other's mistakes.

mod tables;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use model::{
    Context, Entry, Event, FactShape, Incarnation, InteractionId, Mark, NextId, NextRow, Offer, Position, ProvedFact,
    QueuedPrompt, RememberedId, RememberedRow, RowChange, Seq, SessionId, SessionList, SessionRow, StreamId, Timestamp,
    TitleRow, TokenId, TokenRow, Turn, TurnRow, WorkId, WorkRow,
};
use tokio::sync::watch;

use crate::append::first_session;
use crate::log::wait_after;
use crate::{
    Append, AppendError, Batch, Changes, Damage, Head, Log, MAX_PAGE_BYTES, Part, PlacedEntry, ReadError, Receipt,
};

/// A store that ends with its process.
pub struct MemoryStore {
    incarnation: Incarnation,
    last_position: watch::Sender<Position>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last_position: u64,
    streams: HashMap<StreamId, Stream>,
    order: BTreeMap<Position, (StreamId, Seq)>,
    sessions: SessionList,
    turns: BTreeMap<(SessionId, Turn), TurnRow>,
    prompts: BTreeMap<(SessionId, InteractionId), QueuedPrompt>,
    titles: BTreeMap<(SessionId, u32), TitleRow>,
    /// The session, its agent and that agent's own id.
    attachments: BTreeSet<(SessionId, String, String)>,
    next_blocks: BTreeMap<(SessionId, NextId), NextRow>,
    works: BTreeMap<WorkId, WorkRow>,
    work_names: BTreeMap<(String, String), WorkId>,
    contexts: BTreeMap<SessionId, Kept>,
    tokens: BTreeMap<TokenId, TokenRow>,
    remembered: BTreeMap<RememberedId, RememberedRow>,
    /// With the session that it goes with, if it holds words of it.
    receipts: BTreeMap<(String, String), (Option<SessionId>, Receipt)>,
}

/// What is kept of a session's context.
#[derive(Default)]
struct Kept {
    sets: BTreeMap<String, Vec<Mark>>,
    facts: BTreeMap<(String, String), (FactShape, ProvedFact)>,
    changed_at: BTreeSet<Seq>,
}

impl Kept {
    fn context(&self) -> Context {
        let mut context = Context::default();
        for (set, marks) in &self.sets {
            context.sets.restore(set.clone(), marks.clone());
        }
        for ((name, _), (shape, fact)) in &self.facts {
            context.facts.restore(name.clone(), *shape, fact.clone());
        }
        context
    }
}

enum Stream {
    /// Entry `n` has seq `n + 1`; beside each stands the size of its event.
    Open(Vec<(usize, Entry<Event>)>),
    Purged,
}

impl MemoryStore {
    /// An empty store.
    pub fn new(incarnation: Incarnation) -> Self {
        Self { incarnation, last_position: watch::Sender::new(Position(0)), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn head(&self, stream: StreamId) -> Head {
        match self.streams.get(&stream) {
            None => Head::At(Seq::START),
            Some(Stream::Open(entries)) => Head::At(Seq(entries.len() as u64)),
            Some(Stream::Purged) => Head::Purged,
        }
    }

    fn entries(&self, stream: StreamId) -> &[(usize, Entry<Event>)] {
        match self.streams.get(&stream) {
            Some(Stream::Open(entries)) => entries,
            Some(Stream::Purged) | None => &[],
        }
    }

    fn offer(&self, row: &NextRow) -> Offer {
        let project = self.sessions.find(row.session).map(|session| session.project.clone()).unwrap_or_default();
        let led_to = |name: &str| self.work_names.get(&(project.clone(), name.to_owned()));
        let is_same = |a: &str, b: &str| a == b || (led_to(a).is_some() && led_to(a) == led_to(b));
        let later = |other: &&NextRow| {
            let names = other.next.meta_context.as_deref().zip(row.next.meta_context.as_deref());
            other.session == row.session
                && other.id.turn > row.id.turn
                && names.is_some_and(|(other, own)| is_same(other, own))
        };
        let superseded_by = self.next_blocks.values().filter(later).map(|other| other.id.turn).min();
        Offer { row: row.clone(), superseded_by }
    }

    fn of_work(&self, work: WorkId) -> impl Iterator<Item = &SessionRow> {
        self.sessions.all().filter(move |row| row.work == Some(work) && row.deleted_at.is_none())
    }

    fn check(&self, batch: &Batch) -> Result<(), AppendError> {
        if let Some(receipt) = &batch.receipt
            && let Some((_, first)) = self.receipts.get(&(receipt.principal.clone(), receipt.key.clone()))
        {
            return Err(AppendError::Repeated(Box::new(first.clone())));
        }
        let mut heads: HashMap<StreamId, Seq> = HashMap::new();
        for Part { stream, after, entries, .. } in &batch.parts {
            let head = match (self.head(*stream), heads.get(stream)) {
                (Head::Purged, _) => return Err(AppendError::Purged(*stream)),
                (Head::At(_), Some(planned)) => *planned,
                (Head::At(head), None) => head,
            };
            let mut next = *after;
            let gapless = entries.iter().all(|entry| {
                next = next.next();
                entry.seq == next
            });
            if *after != head || !gapless {
                return Err(AppendError::Conflict { stream: *stream, expected: *after, head });
            }
            heads.insert(*stream, next);
        }
        Ok(())
    }

    fn append(&mut self, part: Part) {
        for entry in part.entries {
            self.last_position += 1;
            self.order.insert(Position(self.last_position), (part.stream, entry.seq));
            match self.streams.entry(part.stream).or_insert_with(|| Stream::Open(Vec::new())) {
                Stream::Open(entries) => entries.push((entry.event.encode().len(), entry)),
                Stream::Purged => unreachable!("a batch for a purged stream is refused"),
            }
        }
        for row in part.rows {
            self.apply(row);
        }
    }

    fn apply(&mut self, change: RowChange) {
        match change {
            RowChange::PutSession(row) => self.sessions.put(*row),
            RowChange::StartTurn(row) => {
                self.turns.insert((row.session, row.turn), row);
            }
            RowChange::EndTurn { session, turn, stop, ended_at, last_seq } => {
                if let Some(row) = self.turns.get_mut(&(session, turn)) {
                    row.stop = Some(stop);
                    row.ended_at = Some(ended_at);
                    row.last_seq = Some(last_seq);
                }
            }
            RowChange::PutPrompt { session, prompt } => {
                self.prompts.insert((session, prompt.interaction_id), prompt);
            }
            RowChange::RemovePrompt { session, interaction_id } => {
                self.prompts.remove(&(session, interaction_id));
            }
            RowChange::PutSet { session, set, marks } => {
                self.contexts.entry(session).or_default().sets.insert(set, marks);
            }
            RowChange::PutFact { session, name, shape, fact } => {
                let key = (name, fact.value.clone());
                self.contexts.entry(session).or_default().facts.insert(key, (shape, fact));
            }
            RowChange::RemoveFact { session, name, value } => {
                self.contexts.entry(session).or_default().facts.remove(&(name, value));
            }
            RowChange::NoteContext { session, seq } => {
                self.contexts.entry(session).or_default().changed_at.insert(seq);
            }
            RowChange::PutTitle(row) => {
                self.titles.insert((row.session, row.slot()), row);
            }
            RowChange::PutAttachment { session, agent, agent_session } => {
                self.attachments.insert((session, agent, agent_session));
            }
            RowChange::PutSummary { session, turn, summary, extent } => {
                if let Some(row) = self.turns.get_mut(&(session, turn)) {
                    row.summary = Some(summary);
                    row.extent = extent.or(row.extent);
                }
            }
            RowChange::PutNext(row) => {
                self.next_blocks.insert((row.session, row.id), row);
            }
            RowChange::ClickNext { session, id, clicked } => {
                if let Some(row) = self.next_blocks.get_mut(&(session, id)) {
                    row.clicked = Some(clicked);
                }
            }
            RowChange::PutWork(row) => {
                self.works.insert(row.id, row);
            }
            RowChange::NameWork { project, name, id } => {
                self.work_names.insert((project, name), id);
            }
            RowChange::RenameWork { id, name } => {
                if let Some(row) = self.works.get_mut(&id) {
                    row.name = name;
                }
            }
            RowChange::TouchWork { id, added_at } => {
                if let Some(row) = self.works.get_mut(&id) {
                    row.added_at = added_at;
                }
            }
            RowChange::RemoveWork { id } => {
                self.works.remove(&id);
            }
            RowChange::ForgetWorkNames { id } => self.work_names.retain(|_, work| *work != id),
            RowChange::PutToken(row) => {
                self.tokens.insert(row.id, row);
            }
            RowChange::RemoveToken { id } => {
                self.tokens.remove(&id);
            }
            RowChange::PutRemembered(row) => {
                self.remembered.insert(row.id, row);
            }
            RowChange::RemoveRemembered { id } => {
                self.remembered.remove(&id);
            }
        }
    }
}

/// The first `limit` of `entries`, ending before the page gets too large, but never before its first.
fn page<T>(entries: impl Iterator<Item = (usize, T)>, limit: usize) -> Vec<T> {
    let mut size_bytes = 0;
    let mut page = Vec::new();
    for (bytes, entry) in entries.take(limit) {
        size_bytes += bytes;
        if size_bytes > MAX_PAGE_BYTES && !page.is_empty() {
            break;
        }
        page.push(entry);
    }
    page
}

#[async_trait]
impl Log for MemoryStore {
    fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    fn last_position(&self) -> Position {
        *self.last_position.borrow()
    }

    async fn wait_after(&self, after: Position) -> Position {
        wait_after(&self.last_position, after).await
    }

    async fn read(&self, stream: StreamId, after: Seq, limit: usize) -> Result<Vec<Entry<Event>>, ReadError> {
        let state = self.state();
        let after = usize::try_from(after.0).unwrap_or(usize::MAX);
        let entries = state.entries(stream).iter().skip(after);
        Ok(page(entries.map(|(bytes, entry)| (*bytes, entry.clone())), limit))
    }

    async fn read_all(&self, after: Position, limit: usize) -> Result<Vec<PlacedEntry>, ReadError> {
        use std::ops::Bound::{Excluded, Unbounded};
        let state = self.state();
        let entries = state.order.range((Excluded(after), Unbounded)).filter_map(|(position, (stream, seq))| {
            let (bytes, entry) = state.entries(*stream).get(usize::try_from(seq.0).ok()? - 1)?;
            Some((*bytes, PlacedEntry { position: *position, stream: *stream, entry: entry.clone() }))
        });
        Ok(page(entries, limit))
    }

    async fn changed_since(&self, after: Position, limit: usize) -> Result<Changes, ReadError> {
        use std::ops::Bound::{Excluded, Unbounded};
        let state = self.state();
        let mut changes = Changes { streams: Vec::new(), up_to: Position(state.last_position) };
        for (n, (position, (stream, _))) in state.order.range((Excluded(after), Unbounded)).enumerate() {
            if !changes.streams.contains(stream) {
                changes.streams.push(*stream);
            }
            if n + 1 >= limit {
                changes.up_to = *position;
                break;
            }
        }
        Ok(changes)
    }

    async fn head(&self, stream: StreamId) -> Result<Head, ReadError> {
        Ok(self.state().head(stream))
    }

    fn damage(&self, _session: SessionId) -> Option<Damage> {
        None
    }
}

#[async_trait]
impl Append for MemoryStore {
    async fn append(&self, batch: Batch) -> Result<Position, AppendError> {
        let mut state = self.state();
        state.check(&batch)?;
        let session = first_session(batch.parts.iter().map(|part| part.stream));
        for part in batch.parts {
            state.append(part);
        }
        if let Some(receipt) = batch.receipt {
            let session = session.filter(|_| receipt.holds_words);
            state.receipts.insert((receipt.principal.clone(), receipt.key.clone()), (session, receipt));
        }
        let last = Position(state.last_position);
        if last > *self.last_position.borrow() {
            self.last_position.send_replace(last);
        }
        Ok(last)
    }

    async fn purge(&self, session: SessionId, after: Seq, _at: Timestamp) -> Result<(), AppendError> {
        let mut state = self.state();
        let stream = StreamId::Session(session);
        match state.head(stream) {
            Head::Purged => return Ok(()),
            Head::At(head) if head != after => return Err(AppendError::Conflict { stream, expected: after, head }),
            Head::At(_) => (),
        }
        state.streams.insert(stream, Stream::Purged);
        state.order.retain(|_, (owner, _)| *owner != stream);
        state.sessions.remove(session);
        state.turns.retain(|(owner, _), _| *owner != session);
        state.prompts.retain(|(owner, _), _| *owner != session);
        state.titles.retain(|(owner, _), _| *owner != session);
        state.attachments.retain(|(owner, ..)| *owner != session);
        state.receipts.retain(|_, (owner, _)| *owner != Some(session));
        state.next_blocks.retain(|(owner, _), _| *owner != session);
        state.contexts.remove(&session);
        Ok(())
    }

    async fn forget_receipts(&self, before: Timestamp) -> Result<(), AppendError> {
        self.state().receipts.retain(|_, (_, receipt)| receipt.at >= before);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> (std::sync::Arc<dyn crate::Store>, ()) {
        (std::sync::Arc::new(MemoryStore::new(Incarnation::from_bits(7))), ())
    }

    crate::conformance_tests!(open);
}
