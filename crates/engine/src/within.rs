//! Lists the sessions of one project, or of all: those that an agent may look at beside its own.
//!
//! Invariant: a list costs no more however many sessions there are: of those of other projects only so many are passed by,
//! the most recently active first, and the page says where the next one begins.

use model::{ListKey, SessionRow, Shelf};
use search::Within;

use crate::{Engine, QueryError};

/// How many sessions are passed by for one page, and for one count.
const PASSED_BY: usize = 5_000;
const AT_ONCE: usize = 500;

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageWithin {
    /// Most recently active first.
    pub sessions: Vec<SessionRow>,
    /// Where to go on, if there may be more.
    pub next: Option<ListKey>,
}

/// How many sessions there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CountWithin {
    /// Those that are meant.
    pub inside: usize,
    /// The others.
    pub outside: usize,
    /// There are more sessions than were counted.
    pub is_more: bool,
}

impl Engine {
    /// A page of the sessions that are meant.
    pub async fn sessions_within(
        &self,
        within: &Within,
        after: Option<ListKey>,
        limit: usize,
    ) -> Result<PageWithin, QueryError> {
        let mut sessions = Vec::new();
        // Up to where rows were read, and up to where a reader knows all that it is to know.
        let (mut read, mut known) = (after, after);
        for _ in 0..PASSED_BY / AT_ONCE {
            let rows = self.sessions(Shelf::All, read, AT_ONCE).await?;
            let is_end = rows.len() < AT_ONCE;
            for row in rows {
                read = Some(ListKey::of(&row));
                match (within.includes(&row.project), sessions.len() < limit) {
                    // One more than is wanted: it begins the next page.
                    (true, false) => return Ok(PageWithin { sessions, next: known }),
                    (true, true) => sessions.push(row),
                    (false, _) => (),
                }
                known = read;
            }
            if is_end {
                return Ok(PageWithin { sessions, next: None });
            }
        }
        Ok(PageWithin { sessions, next: known })
    }

    /// How many sessions are meant, and how many are not.
    pub async fn count_within(&self, within: &Within) -> Result<CountWithin, QueryError> {
        let mut count = CountWithin::default();
        let mut after = None;
        for _ in 0..PASSED_BY / AT_ONCE {
            let rows = self.sessions(Shelf::All, after, AT_ONCE).await?;
            let inside = rows.iter().filter(|row| within.includes(&row.project)).count();
            count.inside += inside;
            count.outside += rows.len() - inside;
            after = rows.last().map(ListKey::of);
            if rows.len() < AT_ONCE {
                return Ok(count);
            }
        }
        Ok(CountWithin { is_more: true, ..count })
    }
}
