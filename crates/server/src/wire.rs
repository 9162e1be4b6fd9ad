//! What goes over the wire: bodies of HTTP requests and answers, and (in `wire/frames.rs`) WebSocket frames.
//!
//! Invariant: these types are known to this crate and to the command line only; `convert.rs` makes the larger ones from
//! the model's. JSON is camelCase. Fields that a request does not know are refused, so that a misspelt wish is never
//! silently ignored. What opens something is [`Hidden`] and can not be printed by accident.

mod contents;
mod context;
mod directories;
mod files;
mod frames;
mod hidden;
mod imports;
mod permissions;
mod storage;
mod work;

use std::collections::BTreeMap;

use model::{
    Author, Entry, Image, InteractionId, Origin, PermissionOption, SessionId, SessionState, Timestamp, TokenId,
    TokenKind, Turn, WorkId,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

pub use contents::{
    Indexing, Interaction, SearchPage, SearchQuery, SearchResult, SessionSearchQuery, Snippet, SummariesProgress,
    Title, TitleHistory, Toc, TocEntry, TocQuery, ToolBrief, TurnBrief, TurnPage, TurnState, TurnsPage, TurnsQuery,
    UpgradeSummaries, Upgraded,
};
pub use context::{Changed, Context, ContextAsOf, ContextQuery, Proofs, ProvedValue, ResumePacket, SetContext};
pub use directories::{Directory, DirectoryPage, DirectoryQuery, RecentDirectory};
pub use files::{FileName, FilePage, FileQuery};
pub use frames::{ClientFrame, ContextReason, LargeEntry, Request, ResetReason, ServerFrame, Window};
pub use hidden::Hidden;
pub use imports::{ImportProgress, ImportSource, Imports, NewImport};
pub use permissions::{NewAnswer, RememberedPage, RememberedPermission};
pub use storage::{FileEncoding, StoredFile, StoredFileQuery};
pub use work::{
    Clicked, MetaContext, MetaContextName, MetaContextPage, MetaContextPatch, MetaContextQuery, MetaContextToc,
    MetaContextTocEntry, MetaContextTocQuery, NextBlock, NextClick, NextPage, NextQuery,
};

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
    /// The offer that it was started from.
    pub from: Option<Origin>,
    pub created_at: Timestamp,
    pub active_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueuedPrompt {
    pub interaction_id: InteractionId,
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    pub queued_at: Timestamp,
    /// Who wrote it.
    #[serde(default)]
    #[schema(required = true)]
    pub by: Author,
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
    /// How many sessions came to rest unseen.
    pub unobserved_count: u64,
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

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// The `nextCursor` of the page before.
    pub after: Option<String>,
    /// How many at most; 1 to 200, 50 by default.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
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

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPrompt {
    pub text: String,
    /// At most eight, with eight MiB of Base64 in all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    #[serde(default)]
    pub when_busy: WhenBusy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// What a prompt does that meets a running turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhenBusy {
    #[default]
    Queue,
    Reject,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromptPatch {
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resume {
    /// Another agent, which takes over and is sent a packet about the newest turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// How a session goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resumed {
    pub id: SessionId,
    pub agent: String,
    pub cwd: String,
    pub is_busy: bool,
    /// The directory that it works in now since its own is gone.
    pub fallback: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewValue {
    /// One of the option's choices; `true` or `false` for a switch.
    pub value: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignIn {
    /// The id of one of the methods that the agent offers.
    pub method: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// A prompt is durable once this is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptAccepted {
    pub interaction_id: InteractionId,
    /// Null while it waits: numbers are given when a turn starts.
    pub turn: Option<Turn>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    pub success: bool,
    pub was_unobserved: bool,
    pub unobserved_count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntryPage {
    pub entries: Vec<Entry>,
    /// Give it as `after` for what follows; null when this is all there is now.
    pub next_cursor: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EntryQuery {
    /// A cursor, `incarnation.seq`, or a bare seq of this store; from the beginning by default.
    pub after: Option<String>,
    /// How many at most; 1 to 1,000, 200 by default. A page of large entries may hold fewer.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<u32>,
    /// With `toTurn`: only the entries of these turns, and those between them.
    #[param(pattern = "^t?[1-9][0-9]{0,8}$")]
    pub from_turn: Option<String>,
    #[param(pattern = "^t?[1-9][0-9]{0,8}$")]
    pub to_turn: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MarkdownQuery {
    /// With `toTurn`: only these turns, without the title.
    #[param(pattern = "^t?[1-9][0-9]{0,8}$")]
    pub from_turn: Option<String>,
    #[param(pattern = "^t?[1-9][0-9]{0,8}$")]
    pub to_turn: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeleteQuery {
    /// Purge at once instead of keeping it restorable for seven days.
    #[serde(default)]
    pub now: bool,
}

/// What every request that changes something may carry.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
pub struct KeyHeader {
    /// Makes a repeat of this request harmless for 24 hours: it is answered as the first was and has no second effect.
    /// One to 200 visible characters, here or as `key` in the body.
    #[param(rename = "Idempotency-Key", value_type = String, required = false, min_length = 1, max_length = 200)]
    pub key: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentPage {
    pub agents: Vec<Agent>,
}

/// An agent that sessions can be started with, once it is installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    pub name: String,
    pub title: String,
    pub description: String,
    /// Its program was found.
    pub installed: bool,
    /// In its program's own words; null while it is not installed, or does not report it.
    pub version: Option<String>,
    /// How to install it, in a sentence with the command in backticks.
    pub install: Option<String>,
    /// How to sign in to it, in a sentence.
    pub sign_in: Option<String>,
    /// What else one should know, a sentence each.
    pub notes: Vec<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AgentSessionQuery {
    /// Only those of this directory; an absolute path.
    #[param(pattern = "^/")]
    pub cwd: Option<String>,
    /// `nextCursor` of the page before.
    pub cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSessionPage {
    /// At most 1,000.
    pub sessions: Vec<AgentSession>,
    /// The agent's own; give it as `cursor` for what follows. Null when this is all.
    pub next_cursor: Option<String>,
}

/// A conversation that an agent itself keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSession {
    /// The agent's own id of it.
    pub id: String,
    pub title: Option<String>,
    pub cwd: String,
    pub updated_at: Option<Timestamp>,
    /// The session here that it belongs to, deleted or not; null where the agent was used without Throughline, or the session
    /// has another conversation by now.
    pub session_id: Option<SessionId>,
}

/// The one-time code from the start line.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CodeExchange {
    #[schema(value_type = String)]
    pub code: Hidden,
    /// The code is only to be used up: nobody is signed in with it.
    #[serde(default)]
    pub discard: bool,
}

/// The half of the browser's credential that its page keeps; the other half is the cookie of the same answer.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Proof {
    #[schema(value_type = String)]
    pub proof: Hidden,
}

/// Who is asking, as the server sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Whoami {
    pub role: String,
    pub session: Option<String>,
    pub version: String,
    pub incarnation: String,
    /// Where the server was started, for whoever may begin sessions: the likeliest directory for the next one.
    pub directory: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenPage {
    pub tokens: Vec<Token>,
}

/// A credential in force; never its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    pub id: TokenId,
    pub kind: TokenKind,
    pub name: String,
    pub session: Option<SessionId>,
    pub issued_at: Timestamp,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewToken {
    #[schema(min_length = 1, max_length = 100, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub name: String,
    /// Binds it to one session, for an agent's own use; without it the token is the person's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
}

/// The only time the secret is shown.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct IssuedToken {
    pub token: Token,
    #[schema(value_type = String)]
    pub secret: Hidden,
}

/// What a sign-in link is for.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSignInLink {
    /// What to call the credential of the browser that uses it, such as the name of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 100, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub name: Option<String>,
    /// Refused: a secret can not be said twice.
    #[serde(default, skip_serializing)]
    #[schema(ignore)]
    pub key: Option<String>,
}

/// A fresh one-time sign-in link for a browser.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignInLink {
    #[schema(value_type = String)]
    pub url: Hidden,
    /// From when on it signs nobody in.
    pub expires_at: Timestamp,
    /// Whether only the server's own machine reaches that address.
    pub local_only: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// `ok`, or `degraded`.
    pub status: String,
    /// Why sessions can not be searched, while they can not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
}

/// Every answer that is not a success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    pub error: ErrorDetail,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorDetail {
    /// Stable, for programs.
    pub code: String,
    /// For people: what is wrong and what to do.
    pub message: String,
    #[schema(value_type = Object)]
    pub details: serde_json::Value,
}
