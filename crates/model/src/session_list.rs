//! Places in the lists of sessions: by when they were last active, and by when they were deleted.
//!
//! Invariant: a page is found by the key it starts after, never by counting rows, so a page costs the same at any
//! depth and rows that move while somebody pages are neither doubled within a page nor make others vanish.

use std::fmt;
use std::str::FromStr;

use crate::{CursorError, SessionId, SessionRow, Timestamp};

/// A row's place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListKey {
    /// When it was last active.
    pub active_at: Timestamp,
    /// Tells rows of one instant apart.
    pub id: SessionId,
}

impl ListKey {
    /// Where `row` stands.
    pub fn of(row: &SessionRow) -> Self {
        Self { active_at: row.active_at, id: row.id }
    }
}

impl fmt::Display for ListKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.active_at.as_millis(), self.id)
    }
}

impl FromStr for ListKey {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let (millis, id) = text.split_once('.').ok_or(CursorError)?;
        let key = Self {
            active_at: Timestamp::from_millis(millis.parse().map_err(|_| CursorError)?),
            id: id.parse().map_err(|_| CursorError)?,
        };
        if key.to_string() == text { Ok(key) } else { Err(CursorError) }
    }
}

/// A deleted session's place among those, the one that was deleted last first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeletedKey {
    /// When it was deleted.
    pub deleted_at: Timestamp,
    /// Tells those of one instant apart.
    pub id: SessionId,
}

impl DeletedKey {
    /// Where `row` stands; nowhere, if it is not deleted.
    pub fn of(row: &SessionRow) -> Option<Self> {
        Some(Self { deleted_at: row.deleted_at?, id: row.id })
    }
}

impl fmt::Display for DeletedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ListKey { active_at: self.deleted_at, id: self.id }.fmt(f)
    }
}

impl FromStr for DeletedKey {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let ListKey { active_at, id } = text.parse()?;
        Ok(Self { deleted_at: active_at, id })
    }
}
