//! The in-memory twin: the same answers from plain collections, for tests of what is built on a store.
//!
//! Invariant: whatever `conformance.rs` and `histories.rs` can see of it, they see the same of [`crate::SqliteStore`].
//! It shares no code with it, so that one does not repeat the other's mistakes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use model::{
    AgentState, Context, DeletedKey, Entry, Event, FactShape, Incarnation, InteractionId, ListKey, Mark, NextId,
    NextRow, Offer, Position, ProvedFact, QueuedPrompt, RememberedId, RememberedRow, RowChange, Seq, Session,
    SessionId, SessionList, SessionRow, StreamId, Timestamp, TitleRow, TokenId, TokenRow, Turn, TurnRow, WorkId,
    WorkKey, WorkRow,
};
use tokio::sync::watch;

use crate::{
    AppendError, Batch, Changes, Damage, FILE_FACTS, Head, Log, MAX_PAGE_BYTES, Part, PlacedEntry, ReadError, Receipt,
    Tables, WholeWork, first_session, last_part, wait_after,
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

    fn damage(&self, _session: SessionId) -> Option<Damage> {
        None
    }
}

#[async_trait]
impl Tables for MemoryStore {
    async fn session(&self, id: SessionId) -> Result<Option<Session>, ReadError> {
        let state = self.state();
        let Some(row) = state.sessions.find(id) else { return Ok(None) };
        let mut queue: Vec<_> =
            state.prompts.iter().filter(|((owner, _), _)| *owner == id).map(|(_, prompt)| prompt.clone()).collect();
        queue.sort_by_key(|prompt| prompt.queued_seq);
        let head = match state.head(StreamId::Session(id)) {
            Head::At(head) => head,
            Head::Purged => Seq::START,
        };
        let context = Arc::new(state.contexts.get(&id).map(Kept::context).unwrap_or_default());
        Ok(Some(Session { row: row.clone(), queue, context, head }))
    }

    async fn sessions(&self, after: Option<ListKey>, limit: usize) -> Result<Vec<SessionRow>, ReadError> {
        Ok(self.state().sessions.page(after, limit))
    }

    async fn unsettled(&self) -> Result<Vec<SessionId>, ReadError> {
        let state = self.state();
        let unsettled = |row: &&SessionRow| {
            let is_at_work = row.agent_state == AgentState::Starting || row.running.is_some();
            row.deleted_at.is_none() && (is_at_work || !row.open_requests.is_empty())
        };
        let mut ids: Vec<_> = state.sessions.all().filter(unsettled).map(|row| row.id).collect();
        ids.sort();
        Ok(ids)
    }

    async fn deleted_before(&self, at: Timestamp, limit: usize) -> Result<Vec<SessionId>, ReadError> {
        let state = self.state();
        let deleted = state.sessions.all().filter_map(|row| Some((row.deleted_at?, row.id)));
        let mut deleted: Vec<_> = deleted.filter(|(deleted_at, _)| *deleted_at < at).collect();
        deleted.sort();
        Ok(deleted.into_iter().take(limit).map(|(_, id)| id).collect())
    }

    async fn deleted(&self, after: Option<DeletedKey>, limit: usize) -> Result<Vec<SessionRow>, ReadError> {
        let state = self.state();
        let keyed = state.sessions.all().filter_map(|row| Some((DeletedKey::of(row)?, row)));
        let mut deleted: Vec<_> = keyed.filter(|(key, _)| after.is_none_or(|after| *key < after)).collect();
        deleted.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
        Ok(deleted.into_iter().take(limit).map(|(_, row)| row.clone()).collect())
    }

    async fn attached(&self, agent: &str, ids: Vec<String>) -> Result<Vec<(String, SessionId)>, ReadError> {
        let state = self.state();
        let found = state.attachments.iter().filter(|(_, has, theirs)| has == agent && ids.contains(theirs));
        Ok(found.map(|(session, _, theirs)| (theirs.clone(), *session)).collect())
    }

    async fn directories_above(&self, path: &str) -> Result<Vec<String>, ReadError> {
        let state = self.state();
        let there = state.sessions.all().filter(|row| row.deleted_at.is_none());
        let directories: BTreeSet<&String> =
            there.flat_map(|row| [&row.cwd, &row.project]).filter(|above| path.starts_with(above.as_str())).collect();
        Ok(directories.into_iter().cloned().collect())
    }

    async fn may_name_file(
        &self,
        path: &str,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionId>, ReadError> {
        let (state, last) = (self.state(), last_part(path));
        let is_named = |kept: &Kept| {
            let is_fact = |(name, value): &(String, String)| value == path && FILE_FACTS.contains(&name.as_str());
            let is_marked = |marks: &Vec<Mark>| marks.iter().any(|mark| mark.item.ends_with(last));
            kept.facts.keys().any(is_fact) || kept.sets.get("files").is_some_and(is_marked)
        };
        let is_there = |id: SessionId| state.sessions.find(id).is_some_and(|row| row.deleted_at.is_none());
        let named = state
            .contexts
            .iter()
            .filter(|(id, kept)| after.is_none_or(|after| **id > after) && is_there(**id) && is_named(kept));
        Ok(named.map(|(id, _)| *id).take(limit).collect())
    }

    async fn unobserved_count(&self) -> Result<u64, ReadError> {
        Ok(self.state().sessions.unobserved_count())
    }

    async fn turns(&self, session: SessionId, after: Turn, limit: usize) -> Result<Vec<TurnRow>, ReadError> {
        use std::ops::Bound::{Excluded, Included};
        let range = (Excluded((session, after)), Included((session, Turn(u32::MAX))));
        Ok(self.state().turns.range(range).take(limit).map(|(_, row)| row.clone()).collect())
    }

    async fn find_turn(&self, interaction: InteractionId) -> Result<Option<TurnRow>, ReadError> {
        Ok(self.state().turns.values().find(|row| row.interaction_id == interaction).cloned())
    }

    async fn titles(&self, session: SessionId) -> Result<Vec<TitleRow>, ReadError> {
        let state = self.state();
        let mut titles: Vec<_> = state.titles.values().filter(|row| row.session == session).cloned().collect();
        titles.sort_by_key(|row| std::cmp::Reverse(row.nth));
        Ok(titles)
    }

    async fn unsummarised(&self, after: Option<SessionId>, limit: usize) -> Result<Vec<SessionId>, ReadError> {
        let state = self.state();
        let waits = |row: &&SessionRow| {
            row.deleted_at.is_none() && row.running.is_none() && row.summarised < row.turns && Some(row.id) > after
        };
        let mut ids: Vec<_> = state.sessions.all().filter(waits).map(|row| row.id).collect();
        ids.sort();
        ids.truncate(limit);
        Ok(ids)
    }

    async fn context_entries(
        &self,
        session: SessionId,
        after: Seq,
        up_to: Seq,
        limit: usize,
    ) -> Result<Vec<Seq>, ReadError> {
        use std::ops::Bound::{Excluded, Included};
        let state = self.state();
        let Some(kept) = state.contexts.get(&session).filter(|_| after < up_to) else { return Ok(Vec::new()) };
        Ok(kept.changed_at.range((Excluded(after), Included(up_to))).take(limit).copied().collect())
    }

    async fn next_blocks(
        &self,
        session: SessionId,
        before: Option<NextId>,
        limit: usize,
    ) -> Result<Vec<Offer>, ReadError> {
        let state = self.state();
        let of_session = state.next_blocks.values().filter(|row| row.session == session);
        let mut found: Vec<_> = of_session.filter(|row| before.is_none_or(|before| row.id < before)).collect();
        found.reverse();
        Ok(found.into_iter().take(limit).map(|row| state.offer(row)).collect())
    }

    async fn next_block(&self, session: SessionId, id: NextId) -> Result<Option<Offer>, ReadError> {
        let state = self.state();
        Ok(state.next_blocks.get(&(session, id)).map(|row| state.offer(row)))
    }

    async fn clicked(&self, session: SessionId, limit: usize) -> Result<Vec<NextRow>, ReadError> {
        let state = self.state();
        let clicked = state.next_blocks.values().rev().filter(|row| row.session == session && row.clicked.is_some());
        Ok(clicked.take(limit).cloned().collect())
    }

    async fn works(&self, after: Option<WorkKey>, limit: usize) -> Result<Vec<WorkRow>, ReadError> {
        let state = self.state();
        let with_session = state.works.values().filter(|row| state.of_work(row.id).next().is_some());
        Ok(page_of_works(with_session, after, limit))
    }

    async fn work(&self, id: WorkId) -> Result<Option<WorkRow>, ReadError> {
        Ok(self.state().works.get(&id).cloned())
    }

    async fn find_work(&self, project: &str, name: &str) -> Result<Option<WorkRow>, ReadError> {
        let state = self.state();
        let id = state.work_names.get(&(project.to_owned(), name.to_owned()));
        Ok(id.and_then(|id| state.works.get(id)).cloned())
    }

    async fn works_named(&self, name: &str, after: Option<WorkKey>, limit: usize) -> Result<Vec<WorkRow>, ReadError> {
        let state = self.state();
        let led_to = state.work_names.iter().filter(|((_, known), _)| known == name);
        Ok(page_of_works(led_to.filter_map(|(_, id)| state.works.get(id)), after, limit))
    }

    async fn work_sessions(&self, work: WorkId) -> Result<Vec<SessionRow>, ReadError> {
        let mut rows: Vec<_> = self.state().of_work(work).cloned().collect();
        rows.sort_by_key(|row| row.id);
        Ok(rows)
    }

    async fn work_session_ids(&self, work: WorkId) -> Result<Vec<SessionId>, ReadError> {
        let mut ids: Vec<_> = self.state().of_work(work).map(|row| row.id).collect();
        ids.sort();
        Ok(ids)
    }

    async fn newest_of_work(
        &self,
        work: WorkId,
        before: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, ReadError> {
        let state = self.state();
        let earlier = state.of_work(work).filter(|row| before.is_none_or(|before| row.id < before));
        let mut rows: Vec<_> = earlier.cloned().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.id));
        rows.truncate(limit);
        Ok(rows)
    }

    async fn whole_works(&self) -> Result<Vec<WholeWork>, ReadError> {
        let state = self.state();
        let has_session = |id: WorkId| state.sessions.all().any(|row| row.work == Some(id));
        let mut works: Vec<_> = state.works.values().filter(|row| has_session(row.id)).cloned().collect();
        works.sort_by_key(|row| (row.created_at, row.id));
        let whole = works.into_iter().map(|row| {
            let names = state.work_names.iter().filter(|(_, id)| **id == row.id);
            let names = names.map(|((_, name), _)| name.clone()).collect();
            let mut sessions: Vec<_> = state.of_work(row.id).map(|session| session.id).collect();
            sessions.sort();
            WholeWork { row, names, sessions }
        });
        Ok(whole.collect())
    }

    async fn unbegun(&self) -> Result<Vec<SessionId>, ReadError> {
        let state = self.state();
        let waits = |row: &&SessionRow| {
            row.from.is_some()
                && row.turns == Turn(0)
                && row.deleted_at.is_none()
                && matches!(row.agent_state, AgentState::Starting | AgentState::Stopped)
                && state.prompts.keys().any(|(owner, _)| *owner == row.id)
        };
        let mut ids: Vec<_> = state.sessions.all().filter(waits).map(|row| row.id).collect();
        ids.sort();
        Ok(ids)
    }

    async fn tokens(&self) -> Result<Vec<TokenRow>, ReadError> {
        let mut tokens: Vec<_> = self.state().tokens.values().cloned().collect();
        tokens.sort_by_key(|token| (token.issued_at, token.id));
        Ok(tokens)
    }

    async fn remembered(&self) -> Result<Vec<RememberedRow>, ReadError> {
        let mut remembered: Vec<_> = self.state().remembered.values().cloned().collect();
        remembered.sort_by_key(|row| (row.remembered_at, row.id));
        Ok(remembered)
    }

    async fn find_receipt(&self, principal: &str, key: &str) -> Result<Option<Receipt>, ReadError> {
        let state = self.state();
        Ok(state.receipts.get(&(principal.to_owned(), key.to_owned())).map(|(_, receipt)| receipt.clone()))
    }
}

/// The one that was added to last first.
fn page_of_works<'a>(works: impl Iterator<Item = &'a WorkRow>, after: Option<WorkKey>, limit: usize) -> Vec<WorkRow> {
    let mut found: Vec<_> = works.collect();
    found.sort_by_key(|row| std::cmp::Reverse(WorkKey::of(row)));
    let found = found.into_iter().filter(|row| after.is_none_or(|after| WorkKey::of(row) < after));
    found.take(limit).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> (Arc<dyn crate::Store>, ()) {
        (Arc::new(MemoryStore::new(Incarnation::from_bits(7))), ())
    }

    crate::conformance_tests!(open);
}
