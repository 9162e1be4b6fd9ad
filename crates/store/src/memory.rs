//! The in-memory twin: the same answers from plain collections, for tests of what is built on a store.
//!
//! Invariant: whatever `conformance.rs` and `histories.rs` can see of it, they see the same of [`crate::SqliteStore`].
//! Both apply changes of rows as `rows.rs` says; how rows are kept and found is each one's own.

mod tables;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use model::{Entry, Event, Incarnation, Position, Seq, SessionId, StreamId, Timestamp};
use tokio::sync::watch;

use crate::append::first_session;
use crate::log::wait_after;
use crate::rows::Rows;
use crate::{
    Append, AppendError, Batch, Changes, Fence, Head, Log, MAX_PAGE_BYTES, Part, PlacedEntry, ReadError, Receipt,
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
    /// Entry `n` has seq `n + 1`; beside each stands the size of its event.
    streams: HashMap<StreamId, Vec<(usize, Entry<Event>)>>,
    purged: HashSet<StreamId>,
    order: BTreeMap<Position, (StreamId, Seq)>,
    rows: Rows,
    /// With the session that it goes with, if it holds words of it.
    receipts: BTreeMap<(String, String), (Option<SessionId>, Receipt)>,
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
        match self.purged.contains(&stream) {
            true => Head::Purged,
            false => Head::At(Seq(self.entries(stream).len() as u64)),
        }
    }

    fn entries(&self, stream: StreamId) -> &[(usize, Entry<Event>)] {
        self.streams.get(&stream).map_or(&[], Vec::as_slice)
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
            self.streams.entry(part.stream).or_default().push((entry.event.encode().len(), entry));
        }
        part.rows.iter().for_each(|change| self.rows.apply(change));
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

    fn fence(&self, _session: SessionId) -> Option<Fence> {
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
        state.streams.remove(&stream);
        state.purged.insert(stream);
        state.order.retain(|_, (owner, _)| *owner != stream);
        state.rows.remove_session(session);
        state.receipts.retain(|_, (owner, _)| *owner != Some(session));
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
