//! What can be asked of the list of sessions, and the tags that they have.

use model::{SessionState, WorkId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Which sessions are wanted. What is not said is met by all.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SessionQuery {
    /// The `nextCursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How many at most; 1 to 200, 50 by default.
    #[param(minimum = 1, maximum = 200)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Without archived ones, which is the default, only those, or both.
    #[serde(default)]
    #[param(inline)]
    pub archived: ArchivedQuery,
    /// Only those that stand so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<SessionState>,
    /// Only those that came to rest unseen, or only the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unobserved: Option<bool>,
    /// Only those with this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only those of this project: its whole path, or the last part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Only those with this tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Only pinned ones, or only the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// Only those of this piece of work.
    #[param(value_type = Option<String>)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta_context: Option<WorkId>,
    /// Only those with each of these words in title, project, agent, work or tags; at most 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Whether archived sessions are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArchivedQuery {
    /// None of them.
    #[default]
    No,
    /// No others.
    Only,
    /// All sessions.
    Any,
}

/// The tags that sessions have, the most used first, at most 500.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Tags {
    pub tags: Vec<Tag>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Tag {
    pub tag: String,
    /// How many sessions have it.
    pub sessions: u64,
}
