//! What people answer, and what is remembered of it.

use model::{Answerer, RememberedDecision, RememberedId, Timestamp, ToolKind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The answer to what an agent asked.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAnswer {
    /// The id of one of the options that were offered.
    pub option: String,
    /// What was filled in, where the agent asked for more than a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub fields: Option<serde_json::Value>,
    /// Answer the very same alike from now on, without asking: the same agent, kind of work and input, in the same
    /// project. Refused where the question has no `digest`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remember: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RememberedPage {
    /// Oldest first; there are at most 1,000.
    pub permissions: Vec<RememberedPermission>,
}

/// An answer that is given again, unasked, to the very same question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RememberedPermission {
    pub id: RememberedId,
    /// The project it was given in.
    pub project: String,
    /// The directory in which it holds.
    pub cwd: String,
    /// For which agent.
    pub agent: String,
    pub kind: ToolKind,
    /// What it is about; of a long one the first 2,000 characters.
    pub subject: String,
    /// SHA-256, in hex, of all that the tool is given: what is compared.
    pub digest: String,
    pub decision: RememberedDecision,
    pub remembered_at: Timestamp,
    /// Who decided.
    pub by: Answerer,
}
