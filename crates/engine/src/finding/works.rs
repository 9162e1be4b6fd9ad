//! Looks up the sessions that `work:NAME` means in a query; the index knows nothing of works.
//!
//! Invariant: bounded. A name that no work has finds nothing, and the notes say so.

use model::{SessionId, WorkKey, WorkRow, first_line, work_name};
use search::{FilterField, Query};
use store::ReadError;

use crate::{Shared, Within};

/// How many works are looked at, the one that was added to last first, and how many at a time.
const MAX_WORKS: usize = 10_000;
const WORKS_AT_ONCE: usize = 500;
/// How many names of a query are looked up.
const MAX_NAMES: usize = 4;
/// How many sessions a name may mean, the newest.
const MAX_SESSIONS: usize = 1_000;
/// How many characters of an unknown name the notes repeat.
const SHOWN_CHARS: usize = 40;

impl Shared {
    /// Fills in the sessions of the works that a query names; what there is to say of it goes to the notes.
    pub(super) async fn find_works(&self, query: &mut Query, within: &Within) -> Result<(), ReadError> {
        let Query { filters, notes, .. } = query;
        let of_works = filters.iter_mut().filter(|filter| matches!(filter.field, FilterField::Work { .. }));
        for filter in of_works.take(MAX_NAMES) {
            let FilterField::Work { name, sessions } = &mut filter.field else { continue };
            let works = self.works_called(name, within).await?;
            for work in &works {
                sessions.extend(self.store.work_session_ids(work.id).await?);
            }
            sessions.sort_unstable_by_key(|id: &SessionId| std::cmp::Reverse(*id));
            let shown = first_line(name, SHOWN_CHARS);
            if works.is_empty() {
                notes.push(format!("there is no piece of work called {shown}"));
            }
            if sessions.len() > MAX_SESSIONS {
                sessions.truncate(MAX_SESSIONS);
                notes.push(format!("only the newest {MAX_SESSIONS} sessions of {shown} were looked at"));
            }
        }
        Ok(())
    }

    /// The works of that very name, in any project that is searched; else those that had it once; else those whose name
    /// differs only by capitals.
    async fn works_called(&self, name: &str, within: &Within) -> Result<Vec<WorkRow>, ReadError> {
        let Some(name) = work_name(name) else { return Ok(Vec::new()) };
        let led_to = self.store.works_named(&name, None, MAX_WORKS).await?;
        let (same, had): (Vec<_>, Vec<_>) =
            led_to.into_iter().filter(|row| within.includes(&row.project)).partition(|row| row.name == name);
        if let Some(found) = [same, had].into_iter().find(|found| !found.is_empty()) {
            return Ok(found);
        }
        let folded = name.to_lowercase();
        let mut alike = Vec::new();
        let (mut after, mut seen) = (None, 0);
        while seen < MAX_WORKS {
            let page = self.store.works(after, WORKS_AT_ONCE).await?;
            let Some(last) = page.last() else { break };
            (after, seen) = (Some(WorkKey::of(last)), seen + page.len());
            let of_project = page.into_iter().filter(|row| within.includes(&row.project));
            alike.extend(of_project.filter(|row| row.name.to_lowercase() == folded));
        }
        Ok(alike)
    }
}
