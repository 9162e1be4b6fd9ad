//! Sessions, as lists show them and one at a time; what begins, changes and deletes one.

use std::collections::BTreeMap;

use model::{Origin, PermissionOption, SessionId, SessionState, Timestamp, Turn, WorkId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{MetaContext, MetaContextName, QueuedPrompt, SetContext};

/// A session as lists show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionRow {
    pub id: SessionId,
    /// The agent's name in the catalog.
    pub agent: String,
    pub cwd: String,
    /// The git root of the directory, else the directory.
    pub project: String,
    /// What to call it: its name, else its first prompt's first line, else null.
    pub title: Option<String>,
    pub state: SessionState,
    /// Why it takes no prompts, if it does not.
    pub read_only: Option<ReadOnly>,
    /// What made the agent fail, while state is `failed`.
    pub failure: Option<String>,
    /// The number of its newest turn.
    pub turns: Turn,
    /// It came to rest and nobody has looked since.
    pub unobserved: bool,
    /// The piece of work that it belongs to. One that was deleted since is not there any more, and the session stands for
    /// itself.
    pub meta_context_id: Option<WorkId>,
    /// What it was started from: a step that an agent offered, or a turn that it was forked from.
    pub from: Option<Origin>,
    pub created_at: Timestamp,
    pub active_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
    /// When the person pinned it; null if it is not.
    pub pinned_at: Option<Timestamp>,
    /// When it was archived; null if it is not. It comes back into the list with its next turn, when its agent asks something,
    /// fails or wants the person to sign in.
    pub archived_at: Option<Timestamp>,
    /// In the order of the alphabet.
    #[serde(default)]
    pub tags: Vec<String>,
    pub meta: Meta,
    /// What successful tool results proved; absent in lists, as is `meta.context`.
    #[schema(value_type = Option<Object>)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<BTreeMap<String, serde_json::Value>>,
}

/// A session with what is only sent for one at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    #[serde(flatten)]
    pub row: SessionRow,
    /// The piece of work that it belongs to, by its name now.
    pub meta_context: Option<MetaContextName>,
    /// The session before it in its piece of work, else the one it was started from.
    pub previous: Option<SessionId>,
    /// Prompts that wait, in order.
    pub queue: Vec<QueuedPrompt>,
    /// What the agent asked and nobody has answered.
    pub open_requests: Vec<OpenRequest>,
    /// As of which entry this is.
    pub cursor: String,
}

/// Why a session takes no prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadOnly {
    Damaged,
    /// A newer version of the server wrote to it; that version goes on with it.
    Newer,
    Imported,
}

/// What the person and the agent noted about a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Meta {
    pub name: String,
    pub last_observed_at: Option<Timestamp>,
    pub last_idle_at: Option<Timestamp>,
    pub current_intent: Option<String>,
    pub env_hint: Option<String>,
    /// Set name to items; absent in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<BTreeMap<String, Vec<String>>>,
}

/// Something that an agent asked; the entry `permission.asked` says what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenRequest {
    /// Its name in addresses, `p7`.
    pub request: String,
    pub options: Vec<PermissionOption>,
}

/// A page of the list, most recently active first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionPage {
    pub sessions: Vec<SessionRow>,
    /// The pieces of work that these sessions belong to.
    pub meta_contexts: Vec<MetaContext>,
    /// Those that stand before the others, however old they are: pinned, or needing the person. At most 200, with the first
    /// page of the list as a whole; each is in its place in the pages as well.
    #[serde(default)]
    pub foremost: Vec<SessionRow>,
    /// How many sessions came to rest unseen.
    pub unobserved_count: u64,
    /// How many sessions cannot go on without the person; archived ones are not counted.
    #[serde(default)]
    pub needs_you_count: u64,
    /// Give it as `after` for the next page; null at the end.
    pub next_cursor: Option<String>,
}

/// A session that is deleted and can be brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletedSession {
    pub id: SessionId,
    pub agent: String,
    pub project: String,
    /// Null as long as nothing is known.
    pub title: Option<String>,
    pub turns: Turn,
    pub deleted_at: Timestamp,
}

/// A page of those, the one that was deleted last first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletedPage {
    pub sessions: Vec<DeletedSession>,
    /// Give it as `after` for the next page; null at the end.
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSession {
    /// A name from `GET /agents`.
    pub agent: String,
    /// The working directory: absolute, and there.
    pub cwd: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The name of the piece of work that it is to belong to; it begins with it if it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta_context: Option<String>,
    /// Needed where `cwd` is `/` or the home directory: an agent there reaches everything.
    #[serde(default)]
    pub confirm: bool,
    /// Makes a repeat of this request harmless, like the header `Idempotency-Key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// Only what is present changes.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionPatch {
    /// The person's name for it, which pins its title; empty takes the name away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The same as `name`, but `null` takes the name away: the session is called by its newest title again.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub pinned_title: Option<Option<String>>,
    /// Empty takes the hint away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_hint: Option<String>,
    /// Whether it stands before the others in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// Whether it is out of the list; that it is seen goes with it. Refused while its agent waits for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// All its tags, at most 12: each 1 to 32 letters, digits or any of `- _ . /`; capitals become small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Tags that it is to have as well; not together with `tags`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add_tags: Vec<String>,
    /// Tags that it is to have no more; not together with `tags`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_tags: Vec<String>,
    /// All sets, in place of those that there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<BTreeMap<String, Vec<String>>>,
    /// One set; not together with `context`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_context: Option<SetContext>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// Tells a field that is `null` from one that is not there.
fn present<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(value: D) -> Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeleteQuery {
    /// Purge at once instead of keeping it restorable for seven days.
    #[serde(default)]
    pub now: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    pub success: bool,
    pub was_unobserved: bool,
    pub unobserved_count: u64,
}
