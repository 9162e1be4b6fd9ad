//! Questions about the steps that agents offer.

use async_trait::async_trait;
use model::{NextId, NextRow, Offer, SessionId};

use crate::ReadError;

/// What is known of offers.
#[async_trait]
pub trait ReadOffers: Send + Sync + 'static {
    /// The steps that a session's agent offers, newest first, before one of them.
    async fn next_blocks(
        &self,
        session: SessionId,
        before: Option<NextId>,
        limit: usize,
    ) -> Result<Vec<Offer>, ReadError>;

    /// One of them.
    async fn next_block(&self, session: SessionId, id: NextId) -> Result<Option<Offer>, ReadError>;

    /// Those of a session's offers that were taken, newest first.
    async fn clicked(&self, session: SessionId, limit: usize) -> Result<Vec<NextRow>, ReadError>;
}
