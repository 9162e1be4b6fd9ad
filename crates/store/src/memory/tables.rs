//! What the tables in memory answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use model::{
    AgentState, DeletedKey, InteractionId, ListKey, Mark, NextId, NextRow, Offer, RememberedRow, Seq, Session,
    SessionId, SessionRow, StreamId, Timestamp, TitleRow, TokenRow, Turn, TurnRow, WorkId, WorkKey, WorkRow,
};

use crate::memory::{Kept, MemoryStore};
use crate::tables::last_part;
use crate::{
    FILE_FACTS, Head, ReadError, ReadOffers, ReadPrincipals, ReadSessions, ReadTurns, ReadUnfinished, ReadWorks,
    Receipt, WholeWork,
};

#[async_trait]
impl ReadSessions for MemoryStore {
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

    async fn deleted(&self, after: Option<DeletedKey>, limit: usize) -> Result<Vec<SessionRow>, ReadError> {
        let state = self.state();
        let keyed = state.sessions.all().filter_map(|row| Some((DeletedKey::of(row)?, row)));
        let mut deleted: Vec<_> = keyed.filter(|(key, _)| after.is_none_or(|after| *key < after)).collect();
        deleted.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
        Ok(deleted.into_iter().take(limit).map(|(_, row)| row.clone()).collect())
    }

    async fn unobserved_count(&self) -> Result<u64, ReadError> {
        Ok(self.state().sessions.unobserved_count())
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
}

#[async_trait]
impl ReadTurns for MemoryStore {
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
}

#[async_trait]
impl ReadUnfinished for MemoryStore {
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

    async fn deleted_before(&self, at: Timestamp, limit: usize) -> Result<Vec<SessionId>, ReadError> {
        let state = self.state();
        let deleted = state.sessions.all().filter_map(|row| Some((row.deleted_at?, row.id)));
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
}

#[async_trait]
impl ReadWorks for MemoryStore {
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
}

#[async_trait]
impl ReadPrincipals for MemoryStore {
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
