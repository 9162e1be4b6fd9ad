//! Pieces of work (meta-contexts) and the steps that agents offer.

use model::{OfferState, SessionId, Timestamp, WorkId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::TocEntry;

/// A named, ordered group of sessions of one project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetaContext {
    pub id: WorkId,
    pub name: String,
    pub project: String,
    /// Its sessions, the most recent last, without deleted ones.
    pub session_ids: Vec<SessionId>,
    pub created_at: Timestamp,
    /// When a session was last added.
    pub added_at: Timestamp,
}

/// What a session belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MetaContextName {
    pub id: WorkId,
    pub name: String,
}

/// A page of those that have sessions, the one that was added to last first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetaContextPage {
    pub meta_contexts: Vec<MetaContext>,
    /// Give it as `after` for the next page; null at the end.
    pub next_cursor: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MetaContextQuery {
    /// Only those that this name leads to, at most one of a project: what they are called, or were.
    pub name: Option<String>,
    /// The `nextCursor` of the page before.
    pub after: Option<String>,
    /// How many at most; 1 to 200, 100 by default.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MetaContextPatch {
    /// One line; blocks that use an old name still lead here.
    pub name: String,
    /// Makes a repeat of this request harmless, like the header `Idempotency-Key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// The contents of a whole piece of work: one numbered list over all its sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MetaContextToc {
    pub meta_context_id: WorkId,
    pub name: String,
    /// How many turns there are in all.
    pub total_turns: u32,
    pub entries: Vec<MetaContextTocEntry>,
    /// The same as text, a line a turn, with a line before each session.
    pub formatted: String,
    /// What to ask for as `after` to go on, if there is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A line of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MetaContextTocEntry {
    /// Its number in the whole list, from 1.
    pub number: u32,
    pub session_id: SessionId,
    /// What its session is called; empty if nothing is known yet.
    pub session_name: String,
    #[serde(flatten)]
    pub entry: TocEntry,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MetaContextTocQuery {
    /// A `next_cursor`: the last number that is known.
    pub after: Option<u32>,
    /// At most 500, the default.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
}

/// The steps that a session's agent offers, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NextPage {
    pub blocks: Vec<NextBlock>,
    /// Give it as `before` for older ones; null at the end.
    pub next_cursor: Option<String>,
}

/// A step that an agent offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NextBlock {
    /// As in `t42.n1`.
    pub id: String,
    /// The turn that offers it.
    pub turn: u32,
    pub label: String,
    /// What is sent to the new session's agent.
    pub command: String,
    /// The name of the piece of work; null if the agent did not say, and then it leads nowhere.
    pub meta_context: Option<String>,
    pub state: OfferState,
    pub offered_at: Timestamp,
    /// With `used`: the piece of work and the session that it led to.
    pub meta_context_id: Option<WorkId>,
    pub session_id: Option<SessionId>,
    /// With `superseded`: the later turn that offers a step of the same work.
    pub superseded_by: Option<u32>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct NextQuery {
    /// The `nextCursor` of the page before.
    pub before: Option<String>,
    /// At most 200, 100 by default.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
}

/// What the person wants otherwise than the session stands that offers the step.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NextClick {
    /// Another agent, from `GET /agents`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// A model, by the agent's own name of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// A mode, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Makes a repeat of this request harmless; a block is taken once even without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// Where a click led.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Clicked {
    pub meta_context_id: WorkId,
    pub session_id: SessionId,
}
