//! Questions about what agents showed the person.

use async_trait::async_trait;
use model::{BodyHash, BodyRow, OutputId, OutputRow, OutputsSize, Seq, SessionId, Timestamp};

use crate::ReadError;

/// What is known of outputs.
#[async_trait]
pub trait ReadOutputs: Send + Sync + 'static {
    /// A session's outputs that were stored after an entry, in order.
    async fn outputs(&self, session: SessionId, after: Seq, limit: usize) -> Result<Vec<OutputRow>, ReadError>;

    /// One of them.
    async fn output(&self, session: SessionId, id: OutputId) -> Result<Option<OutputRow>, ReadError>;

    /// The sessions that have an output of this id. Ids are random, so that two have one only where a session was imported
    /// twice.
    async fn sessions_with_output(&self, id: OutputId) -> Result<Vec<SessionId>, ReadError>;

    /// The bodies that a session's entries name, after one of them and in the order of their hashes.
    async fn bodies(
        &self,
        session: SessionId,
        after: Option<BodyHash>,
        limit: usize,
    ) -> Result<Vec<BodyRow>, ReadError>;

    /// A body that one of the session's entries names.
    async fn body(&self, session: SessionId, hash: BodyHash) -> Result<Option<BodyRow>, ReadError>;

    /// How many bytes a session's bodies have, all together.
    async fn bodies_size(&self, session: SessionId) -> Result<u64, ReadError>;

    /// Outputs of all sessions that were stored before a moment, by session and id, after one of them.
    async fn outputs_before(
        &self,
        moment: Timestamp,
        after: Option<(SessionId, OutputId)>,
        limit: usize,
    ) -> Result<Vec<OutputRow>, ReadError>;

    /// How much a session's outputs are, all together.
    async fn outputs_size(&self, session: SessionId) -> Result<OutputsSize, ReadError>;
}
