//! Questions about pieces of work and the sessions that belong to them.

use async_trait::async_trait;
use model::{SessionId, SessionRow, WorkId, WorkKey, WorkRow};

use crate::ReadError;

/// What is known of pieces of work.
#[async_trait]
pub trait ReadWorks: Send + Sync + 'static {
    /// A page of the pieces of work that have a session, the one that was added to last first.
    async fn works(&self, after: Option<WorkKey>, limit: usize) -> Result<Vec<WorkRow>, ReadError>;

    /// A piece of work.
    async fn work(&self, id: WorkId) -> Result<Option<WorkRow>, ReadError>;

    /// The pieces of work of these ids, in the order of the ids, without those that are not there.
    async fn works_by_id(&self, ids: Vec<WorkId>) -> Result<Vec<WorkRow>, ReadError>;

    /// The piece of work that a name leads to in its project.
    async fn find_work(&self, project: &str, name: &str) -> Result<Option<WorkRow>, ReadError>;

    /// A page of the pieces of work that a name leads to, at most one of a project, the one that was added to last first;
    /// also those that have no session any more, since they keep their names.
    async fn works_named(&self, name: &str, after: Option<WorkKey>, limit: usize) -> Result<Vec<WorkRow>, ReadError>;

    /// The sessions of a piece of work in the order in which they began, without deleted ones.
    async fn work_sessions(&self, work: WorkId) -> Result<Vec<SessionRow>, ReadError>;

    /// Which those are, without reading more of them.
    async fn work_session_ids(&self, work: WorkId) -> Result<Vec<SessionId>, ReadError>;

    /// Those of them that began before one of them, or all, the newest first, at most `limit`.
    async fn newest_of_work(
        &self,
        work: WorkId,
        before: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, ReadError>;

    /// Every piece of work that has a session, deleted or not, with what belongs to it, in the order in which they began.
    async fn whole_works(&self) -> Result<Vec<WholeWork>, ReadError>;
}

/// A piece of work with what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeWork {
    /// What it is.
    pub row: WorkRow,
    /// Every name that leads to it, in order.
    pub names: Vec<String>,
    /// Its sessions in the order in which they began, without deleted ones.
    pub sessions: Vec<SessionId>,
}
