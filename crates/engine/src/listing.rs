//! The list of sessions: a page of it, those that match a filter, and those that stand before the others.
//!
//! Invariant: a page costs the same however many sessions there are. A filter that few sessions meet looks at so many rows and
//! then says where to go on, so its page may be short while there is more.

use std::collections::BTreeMap;

use model::{ListKey, SessionFilter, SessionRow, SessionState, Shelf, WorkId};

use crate::{Engine, QueryError};

/// How many rows are read at a time.
const AT_ONCE: usize = 500;
/// So many rows are looked at for one page of those that match.
const LOOKED_AT: usize = 5_000;
/// How many sessions are handed out that stand before the others.
const MAX_FOREMOST: usize = 200;
/// How many tags are named: those of the most sessions.
const MAX_TAGS_NAMED: usize = 500;

/// A page of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPage {
    /// Most recently active first.
    pub sessions: Vec<SessionRow>,
    /// After which place the next page begins; absent at the end.
    pub next: Option<ListKey>,
}

impl Engine {
    /// A page of sessions, as they are stored.
    pub async fn sessions(
        &self,
        shelf: Shelf,
        after: Option<ListKey>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, QueryError> {
        Ok(self.shared.store.sessions(shelf, after, limit).await?)
    }

    /// A page of those that match.
    pub async fn list_sessions(
        &self,
        shelf: Shelf,
        filter: &SessionFilter,
        after: Option<ListKey>,
        limit: usize,
    ) -> Result<ListPage, QueryError> {
        let at_once = if filter.is_empty() { limit + 1 } else { AT_ONCE };
        let mut works = BTreeMap::new();
        let mut page = ListPage { sessions: Vec::new(), next: after };
        for _ in 0..LOOKED_AT / AT_ONCE {
            let rows = self.sessions(shelf, page.next, at_once).await?;
            let is_end = rows.len() < at_once;
            for row in rows {
                let work = self.name_of_work(&mut works, filter, &row).await?;
                let place = ListKey::of(&row);
                if filter.matches(&row, self.state_of(&row), work.as_deref()) {
                    // One more than is wanted: it begins the next page.
                    if page.sessions.len() == limit {
                        return Ok(page);
                    }
                    page.sessions.push(row);
                }
                page.next = Some(place);
            }
            if is_end {
                return Ok(ListPage { next: None, ..page });
            }
        }
        Ok(page)
    }

    /// Names are only needed where words are looked for.
    async fn name_of_work(
        &self,
        known: &mut BTreeMap<WorkId, Option<String>>,
        filter: &SessionFilter,
        row: &SessionRow,
    ) -> Result<Option<String>, QueryError> {
        let Some(work) = row.work.filter(|_| !filter.words.is_empty()) else { return Ok(None) };
        if let Some(name) = known.get(&work) {
            return Ok(name.clone());
        }
        let name = self.shared.store.work(work).await?.map(|work| work.name);
        known.insert(work, name.clone());
        Ok(name)
    }

    /// Where a session stands, in the word that people see.
    pub fn state_of(&self, row: &SessionRow) -> SessionState {
        if self.fence(row.id).is_some() { row.state_when_fenced() } else { row.state() }
    }

    /// The sessions that stand before the others in the list: pinned, or needing the person.
    pub async fn foremost_sessions(&self) -> Result<Vec<SessionRow>, QueryError> {
        Ok(self.shared.store.foremost(MAX_FOREMOST).await?)
    }

    /// The tags that sessions have, with how many have each; the most used first.
    pub async fn tags(&self) -> Result<Vec<(String, u64)>, QueryError> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for tag in self.shared.store.tagged().await?.into_iter().flat_map(|(_, tags)| tags) {
            *counts.entry(tag).or_default() += 1;
        }
        let mut tags: Vec<_> = counts.into_iter().collect();
        tags.sort_by(|(a, many), (b, more)| more.cmp(many).then_with(|| a.cmp(b)));
        tags.truncate(MAX_TAGS_NAMED);
        Ok(tags)
    }
}
