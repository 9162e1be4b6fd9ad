//! Questions about those who ask: what they may do, and what they were answered before.

use async_trait::async_trait;
use model::{AppletGrantsRow, RememberedRow, TokenRow};

use crate::{ReadError, Receipt};

/// What is known of principals.
#[async_trait]
pub trait ReadPrincipals: Send + Sync + 'static {
    /// All credentials in force.
    async fn tokens(&self) -> Result<Vec<TokenRow>, ReadError>;

    /// All answers that are remembered, oldest first.
    async fn remembered(&self) -> Result<Vec<RememberedRow>, ReadError>;

    /// What the person granted to applets.
    async fn applet_grants(&self) -> Result<Vec<AppletGrantsRow>, ReadError>;

    /// The answer that was given to this principal for this key.
    async fn find_receipt(&self, principal: &str, key: &str) -> Result<Option<Receipt>, ReadError>;
}
