//! Questions about sessions: one, a page of them, or those that have something in common.

use async_trait::async_trait;
use model::{DeletedKey, ListKey, Session, SessionId, SessionRow, Shelf};

use crate::ReadError;

/// The facts whose values are paths of files. They can be looked up by those.
pub const FILE_FACTS: [&str; 4] = ["filesEdited", "filesCreated", "filesRead", "filesDeleted"];

/// What is known of sessions.
#[async_trait]
pub trait ReadSessions: Send + Sync + 'static {
    /// A session as of its newest entry, deleted or not: its row, its queue, its context and its head, read
    /// together. The head of a fenced one is the last entry before the fence.
    async fn session(&self, id: SessionId) -> Result<Option<Session>, ReadError>;

    /// A page of a list, most recently active first, without deleted ones.
    async fn sessions(&self, shelf: Shelf, after: Option<ListKey>, limit: usize) -> Result<Vec<SessionRow>, ReadError>;

    /// Those that stand before the others in the list of [`Shelf::Listed`]: pinned, or needing the person. Most recently
    /// active first.
    async fn foremost(&self, limit: usize) -> Result<Vec<SessionRow>, ReadError>;

    /// The sessions of these ids, in the order of the ids, without deleted ones and those that are not there.
    async fn sessions_by_id(&self, ids: Vec<SessionId>) -> Result<Vec<SessionRow>, ReadError>;

    /// Every session that has tags, with them, without deleted ones, in the order of their ids.
    async fn tagged(&self) -> Result<Vec<(SessionId, Vec<String>)>, ReadError>;

    /// A page of deleted sessions that are not purged yet, the one that was deleted last first.
    async fn deleted(&self, after: Option<DeletedKey>, limit: usize) -> Result<Vec<SessionRow>, ReadError>;

    /// How many sessions came to rest unseen.
    async fn unobserved_count(&self) -> Result<u64, ReadError>;

    /// Which sessions these conversations of an agent are or once were, by the agent's own ids: also of sessions that
    /// were handed over since and of deleted ones, in the order of the sessions' ids.
    async fn attached(&self, agent: &str, ids: Vec<String>) -> Result<Vec<(String, SessionId)>, ReadError>;

    /// The directories and projects of sessions, without deleted ones, whose names `path` begins with.
    async fn directories_above(&self, path: &str) -> Result<Vec<String>, ReadError>;

    /// Sessions, without deleted ones, that may have named the file `path`: with a fact of [`FILE_FACTS`], or with a mark in the
    /// set `files` that ends with its last part. In the order of their ids, after one.
    async fn may_name_file(
        &self,
        path: &str,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionId>, ReadError>;
}

/// What of a path is looked for in the marks of the set `files`, which may be relative.
pub(crate) fn last_part(path: &str) -> &str {
    &path[path.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1)..]
}
