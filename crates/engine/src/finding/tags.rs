//! Looks up the sessions that `tag:NAME` means in a query; the index knows nothing of tags, which change without a word said.
//!
//! Invariant: bounded. A tag that no session has finds nothing, and the notes say so.

use std::cmp::Reverse;

use model::{SessionId, clean_tag, first_line};
use search::{FilterField, Query};
use store::ReadError;

use crate::Shared;

/// How many sessions a tag may mean, the newest.
const MAX_SESSIONS: usize = 1_000;
/// How many characters of a tag the notes repeat.
const SHOWN_CHARS: usize = 40;

impl Shared {
    /// Fills in the sessions of the tags that a query names; what there is to say of it goes to the notes.
    pub(super) async fn find_tags(&self, query: &mut Query) -> Result<(), ReadError> {
        let Query { filters, notes, .. } = query;
        if !filters.iter().any(|filter| matches!(filter.field, FilterField::Tag { .. })) {
            return Ok(());
        }
        let tagged = self.store.tagged().await?;
        for filter in filters {
            let FilterField::Tag { name, sessions } = &mut filter.field else { continue };
            let tag = clean_tag(name).unwrap_or_default();
            sessions.extend(tagged.iter().filter(|(_, tags)| tags.contains(&tag)).map(|(id, _)| *id));
            sessions.sort_unstable_by_key(|id: &SessionId| Reverse(*id));
            let shown = first_line(name, SHOWN_CHARS);
            if sessions.is_empty() {
                notes.push(format!("no session has the tag {shown}"));
            }
            if sessions.len() > MAX_SESSIONS {
                sessions.truncate(MAX_SESSIONS);
                notes.push(format!("only the newest {MAX_SESSIONS} sessions with the tag {shown} were looked at"));
            }
        }
        Ok(())
    }
}
