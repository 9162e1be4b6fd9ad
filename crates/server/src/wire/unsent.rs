//! A prompt that is being written.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What is being written to a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unsent {
    /// The words; empty once they were sent or taken back, and null if this run of the server knows nothing of any.
    pub text: Option<String>,
    /// The page that wrote them.
    pub writer: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewUnsent {
    /// At most 64 KiB.
    pub text: String,
    /// A name that the page made up for itself: it comes back with the words, so that the page knows its own. At most 64
    /// characters.
    pub writer: String,
}
