//! What goes over the wire: bodies of HTTP requests and answers, and (in `wire/frames.rs`) WebSocket frames.
//!
//! Invariant: these types are known to this crate and to the command line only; `convert.rs` makes the larger ones from
//! the model's. JSON is camelCase. Fields that a request does not know are refused, so that a misspelt wish is never
//! silently ignored. What opens something is [`Hidden`] and can not be printed by accident.

mod agents;
mod applets;
mod changes;
mod contents;
mod context;
mod credentials;
mod directories;
mod files;
mod forks;
mod frames;
mod hidden;
mod imports;
mod listing;
mod outputs;
mod permissions;
mod prompts;
mod sessions;
mod settings;
mod storage;
mod unsent;
mod usage;
mod work;

use model::Entry;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

pub use agents::{
    Agent, AgentPage, AgentQuery, AgentSession, AgentSessionPage, AgentSessionQuery, AgentTrial, AgentTrialOutcome,
    NewValue, SignIn,
};
pub use applets::{
    Applet, AppletAbout, AppletGrants, AppletParam, AppletQuery, AppletRow, AppletState, AppletStateSchema,
    AppletTicket, AppletTicketQuery, AppletUsage, AppletVersion, AppletVersions, NewApplet, NewAppletGrant,
    NewAppletState, UnsentAppletState, WrittenAppletState,
};
pub use changes::{ChangesPage, ChangesQuery, FileDiffQuery};
pub use contents::{
    Indexing, Interaction, SearchPage, SearchQuery, SearchResult, SessionSearchQuery, Snippet, SummariesProgress,
    Title, TitleHistory, Toc, TocEntry, TocQuery, ToolBrief, TurnBrief, TurnPage, TurnState, TurnsPage, TurnsQuery,
    UpgradeSummaries, Upgraded,
};
pub use context::{Changed, Context, ContextAsOf, ContextQuery, Proofs, ProvedValue, ResumePacket, SetContext};
pub use credentials::{
    CodeExchange, IssuedToken, LinkPicture, NewSignInLink, NewToken, Proof, SignInLink, Token, TokenPage, Whoami,
};
pub use directories::{Directory, DirectoryPage, DirectoryQuery, RecentDirectory};
pub use files::{FileName, FilePage, FileQuery};
pub use forks::NewFork;
pub use frames::{ClientFrame, ContextReason, LargeEntry, Request, ResetReason, ServerFrame, Window};
pub use hidden::Hidden;
pub use imports::{ImportProgress, ImportSource, ImportedBundle, Imports, NewBundle, NewImport};
pub use listing::{ArchivedQuery, SessionQuery, Tag, Tags};
pub use outputs::{
    ListedOutput, OutputBody, OutputFormat, OutputLine, OutputLines, OutputLinesQuery, OutputPage, OutputPrune,
    OutputQuery, OutputState, OutputStateNow, PrunedOutputs, Ticket,
};
pub use permissions::{NewAnswer, RememberedPage, RememberedPermission};
pub use prompts::{
    NewImage, NewPrompt, PromptAccepted, PromptPatch, QueuedPrompt, Resume, Resumed, SendingApplet, WhenBusy,
};
pub use sessions::{
    DeleteQuery, DeletedPage, DeletedSession, Meta, NewSession, Observed, OpenRequest, ReadOnly, Session, SessionPage,
    SessionPatch, SessionRow,
};
pub use settings::{ChangePlace, Setting, SettingChange, SettingSource, Settings};
pub use storage::{
    DirectoryListQuery, DirectoryListing, FileEncoding, FileWriteQuery, ListedFile, ListedKind, NewFileContent,
    StoredFile, StoredFileQuery, WrittenFile,
};
pub use unsent::{NewUnsent, Unsent};
pub use usage::{
    CostBasis, SessionUsage, SessionUsageQuery, TurnUsed, UsageBy, UsagePage, UsageQuery, UsageToday, UsageWarning,
    Used,
};
pub use work::{
    Clicked, MetaContext, MetaContextName, MetaContextPage, MetaContextPatch, MetaContextQuery, MetaContextToc,
    MetaContextTocEntry, MetaContextTocQuery, NextBlock, NextClick, NextPage, NextQuery,
};

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
pub struct ExportQuery {
    /// As what: `markdown`, `html` (one file that needs no network) or `bundle` (taken in again with `throughline import`).
    #[serde(rename = "as")]
    #[param(rename = "as", inline)]
    pub kind: ExportKind,
}

/// What a session is exported as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum ExportKind {
    Markdown,
    Html,
    Bundle,
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
