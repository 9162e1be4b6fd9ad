//! What the tables in memory answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use model::{
    AgentState, AppletGrantsRow, BEGINNING_PROMPT, BodyHash, BodyRow, DeletedKey, Entry, InteractionId, ListKey, Money,
    NextId, NextRow, Offer, OutputId, OutputRow, OutputsSize, RememberedRow, Seq, Session, SessionId, SessionRow,
    Shelf, StreamId, Timestamp, TitleRow, TokenRow, Turn, TurnRow, UsageBy, UsageKey, UsageQuery, UsageRow, UsageSum,
    UsedTokens, WorkId, WorkKey, WorkRow,
};

use crate::memory::{MemoryStore, page};
use crate::rows::{Rows, SetRow, context};
use crate::tables::last_part;
use crate::{
    EntryOrder, FILE_FACTS, Head, ReadError, ReadOffers, ReadOutputs, ReadPrincipals, ReadSessions, ReadTurns,
    ReadUnfinished, ReadUsage, ReadWorks, Receipt, WholeWork,
};

impl Rows {
    fn offer(&self, row: &NextRow) -> Offer {
        let project = self.sessions.get(&row.session).map(|session| session.project.clone()).unwrap_or_default();
        let led_to = |name: &str| self.work_names.get(&(project.clone(), name.to_owned())).map(|row| row.work);
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
        self.sessions.values().filter(move |row| row.work == Some(work) && row.deleted_at.is_none())
    }

    /// Without deleted ones, in the order of their ids.
    fn sessions_that(&self, which: impl Fn(&SessionRow) -> bool) -> Vec<SessionId> {
        self.sessions.values().filter(|row| row.deleted_at.is_none() && which(row)).map(|row| row.id).collect()
    }
}

#[async_trait]
impl ReadSessions for MemoryStore {
    async fn session(&self, id: SessionId) -> Result<Option<Session>, ReadError> {
        let state = self.state();
        let rows = &state.rows;
        let Some(row) = rows.sessions.get(&id) else { return Ok(None) };
        let prompts = rows.prompts.values().filter(|row| row.session == id);
        let mut queue: Vec<_> = prompts.map(|row| row.clone().into_prompt()).collect();
        queue.sort_by_key(|prompt| prompt.queued_seq);
        let head = match state.head(StreamId::Session(id)) {
            Head::At(head) => head,
            Head::Purged => Seq::START,
        };
        let sets = rows.sets.values().filter(|row| row.session == id).cloned();
        let facts = rows.facts.values().filter(|row| row.session == id).cloned();
        let context = Arc::new(context(sets, facts));
        let usage = rows.tallies.get(&id).map(|row| row.tally.clone()).unwrap_or_default();
        Ok(Some(Session { row: row.clone(), queue, context, usage, head }))
    }

    async fn sessions(&self, shelf: Shelf, after: Option<ListKey>, limit: usize) -> Result<Vec<SessionRow>, ReadError> {
        let state = self.state();
        let listed = state.rows.sessions.values().filter(|row| shelf.holds(row));
        let mut page: Vec<_> = listed.filter(|row| after.is_none_or(|after| ListKey::of(row) < after)).collect();
        page.sort_by_key(|row| std::cmp::Reverse(ListKey::of(row)));
        Ok(page.into_iter().take(limit).cloned().collect())
    }

    async fn foremost(&self, limit: usize) -> Result<Vec<SessionRow>, ReadError> {
        let state = self.state();
        let mut found: Vec<_> = state.rows.sessions.values().filter(|row| row.is_foremost()).collect();
        found.sort_by_key(|row| std::cmp::Reverse(ListKey::of(row)));
        Ok(found.into_iter().take(limit).cloned().collect())
    }

    async fn sessions_by_id(&self, ids: Vec<SessionId>) -> Result<Vec<SessionRow>, ReadError> {
        let state = self.state();
        let rows = ids.iter().filter_map(|id| state.rows.sessions.get(id));
        Ok(rows.filter(|row| row.deleted_at.is_none()).cloned().collect())
    }

    async fn tagged(&self) -> Result<Vec<(SessionId, Vec<String>)>, ReadError> {
        let state = self.state();
        let tagged = state.rows.sessions.values().filter(|row| row.deleted_at.is_none() && !row.tags.is_empty());
        Ok(tagged.map(|row| (row.id, row.tags.clone())).collect())
    }

    async fn deleted(&self, after: Option<DeletedKey>, limit: usize) -> Result<Vec<SessionRow>, ReadError> {
        let state = self.state();
        let keyed = state.rows.sessions.values().filter_map(|row| Some((DeletedKey::of(row)?, row)));
        let mut deleted: Vec<_> = keyed.filter(|(key, _)| after.is_none_or(|after| *key < after)).collect();
        deleted.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
        Ok(deleted.into_iter().take(limit).map(|(_, row)| row.clone()).collect())
    }

    async fn unobserved_count(&self) -> Result<u64, ReadError> {
        Ok(self.state().rows.sessions.values().filter(|row| row.unobserved()).count() as u64)
    }

    async fn attached(&self, agent: &str, ids: Vec<String>) -> Result<Vec<(String, SessionId)>, ReadError> {
        let state = self.state();
        let attached = state.rows.attachments.values();
        let found = attached.filter(|row| row.agent == agent && ids.contains(&row.agent_session));
        Ok(found.map(|row| (row.agent_session.clone(), row.session)).collect())
    }

    async fn directories_above(&self, path: &str) -> Result<Vec<String>, ReadError> {
        let state = self.state();
        let there = state.rows.sessions.values().filter(|row| row.deleted_at.is_none());
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
        let (rows, last) = (&self.state().rows, last_part(path));
        let facts = rows.facts.values().filter(|row| row.value == path && FILE_FACTS.contains(&row.name.as_str()));
        let is_marked = |row: &&SetRow| row.name == "files" && row.marks.iter().any(|mark| mark.item.ends_with(last));
        let marked = rows.sets.values().filter(is_marked).map(|row| row.session);
        let named: BTreeSet<SessionId> = facts.map(|row| row.session).chain(marked).collect();
        let mut ids = rows.sessions_that(|row| named.contains(&row.id) && Some(row.id) > after);
        ids.truncate(limit);
        Ok(ids)
    }
}

#[async_trait]
impl ReadTurns for MemoryStore {
    async fn turns(&self, session: SessionId, after: Turn, limit: usize) -> Result<Vec<TurnRow>, ReadError> {
        use std::ops::Bound::{Excluded, Included};
        let range = (Excluded((session, after)), Included((session, Turn(u32::MAX))));
        Ok(self.state().rows.turns.range(range).take(limit).map(|(_, row)| row.clone()).collect())
    }

    async fn find_turn(&self, interaction: InteractionId) -> Result<Option<TurnRow>, ReadError> {
        Ok(self.state().rows.turns.values().find(|row| row.interaction_id == interaction).cloned())
    }

    async fn titles(&self, session: SessionId) -> Result<Vec<TitleRow>, ReadError> {
        let state = self.state();
        let mut titles: Vec<_> = state.rows.titles.values().filter(|row| row.session == session).cloned().collect();
        titles.sort_by_key(|row| std::cmp::Reverse(row.nth));
        Ok(titles)
    }

    async fn context_entries(
        &self,
        session: SessionId,
        after: Seq,
        up_to: Seq,
        order: EntryOrder,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError> {
        let state = self.state();
        let rows = state.rows.context_entries.values().filter(|row| row.session == session);
        let mut seqs: Vec<Seq> = rows.map(|row| row.seq).filter(|seq| *seq > after && *seq <= up_to).collect();
        if order == EntryOrder::NewestFirst {
            seqs.reverse();
        }
        let entries = state.entries(StreamId::Session(session));
        let found = seqs.iter().filter_map(|seq| entries.get(usize::try_from(seq.previous().0).ok()?));
        let page = page(found.map(|(bytes, entry)| (*bytes, entry.clone())), limit);
        Ok(page.into_iter().filter_map(Entry::into_session).collect())
    }
}

#[async_trait]
impl ReadUsage for MemoryStore {
    async fn usage(&self, query: UsageQuery) -> Result<Vec<UsageSum>, ReadError> {
        let state = self.state();
        let mut sums: BTreeMap<_, UsageSum> = BTreeMap::new();
        for row in state.rows.usage.values() {
            let Some(session) = state.rows.sessions.get(&row.session).filter(|row| row.deleted_at.is_none()) else {
                continue;
            };
            let is_asked = query.session.is_none_or(|asked| asked == row.session);
            if !is_asked || row.at < query.from || row.at >= query.to {
                continue;
            }
            let key = match query.by {
                UsageBy::Day => UsageKey::Day(query.day_of(row.at)),
                UsageBy::Agent => UsageKey::Name(Some(row.agent.clone())),
                UsageBy::Model => UsageKey::Name(row.model.clone()),
                UsageBy::Project => UsageKey::Name(Some(session.project.clone())),
                UsageBy::Work => UsageKey::Work(session.work),
                UsageBy::Session => UsageKey::Session(row.session),
            };
            let currency = row.cost.as_ref().map(|cost| cost.currency.clone());
            let group = (key.clone(), row.model.clone(), currency);
            let sum = sums.entry(group).or_insert_with_key(|(_, _, currency)| UsageSum {
                key,
                model: row.model.clone(),
                cost: currency.as_deref().map(Money::none),
                tokens: UsedTokens::default(),
                turns: 0,
                unknown_turns: 0,
            });
            sum.add(row);
        }
        Ok(sums.into_values().take(query.limit).collect())
    }

    async fn turns_used(&self, session: SessionId, after: Turn, limit: usize) -> Result<Vec<UsageRow>, ReadError> {
        use std::ops::Bound::{Excluded, Included};
        let range = (Excluded((session, (after, u32::MAX))), Included((session, (Turn(u32::MAX), u32::MAX))));
        Ok(self.state().rows.usage.range(range).take(limit).map(|(_, row)| row.clone()).collect())
    }
}

#[async_trait]
impl ReadUnfinished for MemoryStore {
    async fn unsettled(&self) -> Result<Vec<SessionId>, ReadError> {
        Ok(self.state().rows.sessions_that(|row| {
            row.agent_state == AgentState::Starting || row.running.is_some() || !row.open_requests.is_empty()
        }))
    }

    async fn unbegun(&self) -> Result<Vec<SessionId>, ReadError> {
        let rows = &self.state().rows;
        Ok(rows.sessions_that(|row| {
            row.from.is_some()
                && row.turns == Turn(0)
                && matches!(row.agent_state, AgentState::Starting | AgentState::Stopped)
                && rows.prompts.values().any(|it| it.session == row.id && it.queued_seq == BEGINNING_PROMPT)
        }))
    }

    async fn unsummarised(&self, after: Option<SessionId>, limit: usize) -> Result<Vec<SessionId>, ReadError> {
        let waits = |row: &SessionRow| row.running.is_none() && row.summarised < row.turns && Some(row.id) > after;
        let mut ids = self.state().rows.sessions_that(waits);
        ids.truncate(limit);
        Ok(ids)
    }

    async fn deleted_before(&self, at: Timestamp, limit: usize) -> Result<Vec<SessionId>, ReadError> {
        let state = self.state();
        let deleted = state.rows.sessions.values().filter_map(|row| Some((row.deleted_at?, row.id)));
        let mut deleted: Vec<_> = deleted.filter(|(deleted_at, _)| *deleted_at < at).collect();
        deleted.sort();
        Ok(deleted.into_iter().take(limit).map(|(_, id)| id).collect())
    }
}

#[async_trait]
impl ReadOffers for MemoryStore {
    async fn next_blocks(
        &self,
        session: SessionId,
        before: Option<NextId>,
        limit: usize,
    ) -> Result<Vec<Offer>, ReadError> {
        let state = self.state();
        let of_session = state.rows.next_blocks.values().filter(|row| row.session == session);
        let mut found: Vec<_> = of_session.filter(|row| before.is_none_or(|before| row.id < before)).collect();
        found.reverse();
        Ok(found.into_iter().take(limit).map(|row| state.rows.offer(row)).collect())
    }

    async fn next_block(&self, session: SessionId, id: NextId) -> Result<Option<Offer>, ReadError> {
        let state = self.state();
        Ok(state.rows.next_blocks.get(&(session, id)).map(|row| state.rows.offer(row)))
    }

    async fn clicked(&self, session: SessionId, limit: usize) -> Result<Vec<NextRow>, ReadError> {
        let state = self.state();
        let clicked =
            state.rows.next_blocks.values().rev().filter(|row| row.session == session && row.clicked.is_some());
        Ok(clicked.take(limit).cloned().collect())
    }
}

#[async_trait]
impl ReadOutputs for MemoryStore {
    async fn outputs(&self, session: SessionId, after: Seq, limit: usize) -> Result<Vec<OutputRow>, ReadError> {
        let state = self.state();
        let of_session = state.rows.outputs.values().filter(|row| row.session == session && row.stored_seq > after);
        let mut found: Vec<OutputRow> = of_session.cloned().collect();
        found.sort_by_key(|row| row.stored_seq);
        found.truncate(limit);
        Ok(found)
    }

    async fn output(&self, session: SessionId, id: OutputId) -> Result<Option<OutputRow>, ReadError> {
        Ok(self.state().rows.outputs.get(&(session, id)).cloned())
    }

    async fn sessions_with_output(&self, id: OutputId) -> Result<Vec<SessionId>, ReadError> {
        Ok(self.state().rows.outputs.values().filter(|row| row.id == id).map(|row| row.session).collect())
    }

    async fn bodies(
        &self,
        session: SessionId,
        after: Option<BodyHash>,
        limit: usize,
    ) -> Result<Vec<BodyRow>, ReadError> {
        let state = self.state();
        let of_session = state.rows.bodies.values().filter(|row| row.session == session && Some(row.hash) > after);
        let mut found: Vec<BodyRow> = of_session.cloned().collect();
        found.sort_by_key(|row| row.hash);
        found.truncate(limit);
        Ok(found)
    }

    async fn body(&self, session: SessionId, hash: BodyHash) -> Result<Option<BodyRow>, ReadError> {
        Ok(self.state().rows.bodies.get(&(session, hash)).cloned())
    }

    async fn bodies_size(&self, session: SessionId) -> Result<u64, ReadError> {
        let state = self.state();
        Ok(state.rows.bodies.values().filter(|row| row.session == session).map(|row| row.bytes).sum())
    }

    async fn outputs_before(
        &self,
        moment: Timestamp,
        after: Option<(SessionId, OutputId)>,
        limit: usize,
    ) -> Result<Vec<OutputRow>, ReadError> {
        let state = self.state();
        let rows = state
            .rows
            .outputs
            .iter()
            .filter(|(key, row)| after.is_none_or(|after| **key > after) && row.stored_at < moment);
        Ok(rows.take(limit).map(|(_, row)| row.clone()).collect())
    }

    async fn outputs_size(&self, session: SessionId) -> Result<OutputsSize, ReadError> {
        let state = self.state();
        let of_session = state.rows.outputs.values().filter(|row| row.session == session);
        Ok(of_session.fold(OutputsSize::default(), |size, row| OutputsSize {
            count: size.count + 1,
            bytes: size.bytes + row.bytes,
        }))
    }
}

#[async_trait]
impl ReadWorks for MemoryStore {
    async fn works(&self, after: Option<WorkKey>, limit: usize) -> Result<Vec<WorkRow>, ReadError> {
        let state = self.state();
        let with_session = state.rows.works.values().filter(|row| state.rows.of_work(row.id).next().is_some());
        Ok(page_of_works(with_session, after, limit))
    }

    async fn work(&self, id: WorkId) -> Result<Option<WorkRow>, ReadError> {
        Ok(self.state().rows.works.get(&id).cloned())
    }

    async fn works_by_id(&self, ids: Vec<WorkId>) -> Result<Vec<WorkRow>, ReadError> {
        let state = self.state();
        Ok(ids.iter().filter_map(|id| state.rows.works.get(id)).cloned().collect())
    }

    async fn find_work(&self, project: &str, name: &str) -> Result<Option<WorkRow>, ReadError> {
        let state = self.state();
        let id = state.rows.work_names.get(&(project.to_owned(), name.to_owned()));
        Ok(id.and_then(|row| state.rows.works.get(&row.work)).cloned())
    }

    async fn works_named(&self, name: &str, after: Option<WorkKey>, limit: usize) -> Result<Vec<WorkRow>, ReadError> {
        let state = self.state();
        let led_to = state.rows.work_names.values().filter(|row| row.name == name);
        Ok(page_of_works(led_to.filter_map(|row| state.rows.works.get(&row.work)), after, limit))
    }

    async fn work_sessions(&self, work: WorkId) -> Result<Vec<SessionRow>, ReadError> {
        Ok(self.state().rows.of_work(work).cloned().collect())
    }

    async fn work_session_ids(&self, work: WorkId) -> Result<Vec<SessionId>, ReadError> {
        Ok(self.state().rows.of_work(work).map(|row| row.id).collect())
    }

    async fn newest_of_work(
        &self,
        work: WorkId,
        before: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, ReadError> {
        let state = self.state();
        let earlier = state.rows.of_work(work).filter(|row| before.is_none_or(|before| row.id < before));
        Ok(earlier.collect::<Vec<_>>().into_iter().rev().take(limit).cloned().collect())
    }

    async fn whole_works(&self) -> Result<Vec<WholeWork>, ReadError> {
        let state = self.state();
        let has_session = |id: WorkId| state.rows.sessions.values().any(|row| row.work == Some(id));
        let mut works: Vec<_> = state.rows.works.values().filter(|row| has_session(row.id)).cloned().collect();
        works.sort_by_key(|row| (row.created_at, row.id));
        let whole = works.into_iter().map(|row| {
            let names = state.rows.work_names.values().filter(|named| named.work == row.id);
            let names = names.map(|named| named.name.clone()).collect();
            let sessions = state.rows.of_work(row.id).map(|session| session.id).collect();
            WholeWork { row, names, sessions }
        });
        Ok(whole.collect())
    }
}

#[async_trait]
impl ReadPrincipals for MemoryStore {
    async fn tokens(&self) -> Result<Vec<TokenRow>, ReadError> {
        let mut tokens: Vec<_> = self.state().rows.tokens.values().cloned().collect();
        tokens.sort_by_key(|token| (token.issued_at, token.id));
        Ok(tokens)
    }

    async fn remembered(&self) -> Result<Vec<RememberedRow>, ReadError> {
        let mut remembered: Vec<_> = self.state().rows.remembered.values().cloned().collect();
        remembered.sort_by_key(|row| (row.remembered_at, row.id));
        Ok(remembered)
    }

    async fn applet_grants(&self) -> Result<Vec<AppletGrantsRow>, ReadError> {
        let mut grants: Vec<_> = self.state().rows.applet_grants.values().cloned().collect();
        grants.sort_by_key(|row| row.applet.to_string());
        Ok(grants)
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
