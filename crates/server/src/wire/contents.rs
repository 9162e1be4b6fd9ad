//! The contents of sessions, their turns and titles, and what is found in them. This family has the mission's own names.

use model::{Author, InteractionId, SessionId, SummaryMaker, Timestamp, TitleMaker, ToolKind, ToolStatus, Turn, Usage};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A page of a session's contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Toc {
    pub session_id: SessionId,
    /// What the session is called; empty if nothing is known yet.
    pub session_name: String,
    /// How many turns there are in all.
    pub total_turns: u32,
    pub entries: Vec<TocEntry>,
    /// The same as text, a line a turn.
    pub formatted: String,
    /// What to ask for as `after` to go on, if there is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Of a search: how many turns match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches: Option<u32>,
    /// Of a search: what was not understood, and how it was taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A line of the contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TocEntry {
    pub turn: u32,
    /// The turn's id over all sessions.
    pub id: InteractionId,
    /// What it was about, in at most 100 characters.
    pub summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_by: Option<SummaryMaker>,
    /// The first line of its prompt, so that a summary which only repeats it can be told from one that does not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    pub created: Timestamp,
    pub has_prompt: bool,
    pub has_response: bool,
    pub state: TurnState,
    /// How many calls of tools it has, and about how many tokens it costs to read, once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u32>,
    /// Where the words of a search were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Snippet>,
}

/// Where a turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum TurnState {
    Running,
    Completed,
    Cancelled,
    Failed,
    Interrupted,
}

/// Words around what was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Snippet {
    /// One line.
    pub text: String,
    /// From and to, in characters of the text: what was found.
    pub highlights: Vec<(u32, u32)>,
}

/// A turn between its neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TurnPage {
    pub turn: u32,
    pub interaction: Interaction,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<TurnBrief>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<TurnBrief>,
}

/// A turn in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TurnBrief {
    pub turn: u32,
    pub id: InteractionId,
    pub summary: String,
}

/// Turns one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TurnsPage {
    pub session_id: SessionId,
    pub session_name: String,
    pub total_turns: u32,
    pub turns: Vec<Interaction>,
}

/// A turn's full record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Interaction {
    pub id: InteractionId,
    pub session_id: SessionId,
    pub turn: u32,
    pub created: Timestamp,
    pub ended: Option<Timestamp>,
    pub state: TurnState,
    /// Who wrote the prompt.
    #[serde(default)]
    #[schema(required = true)]
    pub by: Author,
    pub prompt: String,
    pub response: String,
    pub summary: String,
    pub tools: Vec<ToolBrief>,
    pub usage: Option<Usage>,
    /// There was more than is shown here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ToolBrief {
    /// `t42.3`.
    pub id: String,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub kind: ToolKind,
    pub status: ToolStatus,
    /// Why it was not done, whatever its status: `refused`, `failed`, `cancelled`, `not finished`, `exit code 2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_done: Option<String>,
    pub files: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What it was given, as JSON; a long one is cut.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub input: String,
    /// What it showed, as text; a long one is cut.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// How many characters it showed in all.
    pub output_chars: u32,
}

/// The titles that a session has had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TitleHistory {
    pub session_id: SessionId,
    /// What the session is called.
    pub session_name: String,
    /// The name that the person gave it; while it has one, titles are only recorded.
    pub pinned_title: Option<String>,
    /// Newest first.
    pub titles: Vec<Title>,
}

/// A title that a session has, or had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Title {
    pub title: String,
    pub changed_at: Timestamp,
    /// The turn that brought it.
    pub turn: Option<Turn>,
    pub interaction_id: Option<InteractionId>,
    pub by: TitleMaker,
}

/// What was found over all sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchPage {
    /// As it was understood.
    pub query: String,
    /// How many turns match; if counting stopped at a limit, `more_than_total` is set.
    pub total: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more_than_total: bool,
    /// Best first.
    pub results: Vec<SearchResult>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What was not understood in the query, and how it was taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// While the index is being built: how much of the log is in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indexing: Option<Indexing>,
}

/// How far the index has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Indexing {
    /// Entries of the log that are in it.
    pub done: u64,
    pub total: u64,
}

/// A turn that matches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchResult {
    pub session_id: SessionId,
    pub session_name: String,
    pub project: String,
    pub agent: String,
    /// 0 if the session's title is what matches.
    pub turn: u32,
    pub id: Option<InteractionId>,
    /// The call of a tool that matches, such as `t42.3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Where it was found: `prompt`, `answer`, `thought`, `tool`, `summary` or `title`.
    pub role: String,
    pub summary: String,
    pub created: Timestamp,
    pub snippet: Snippet,
}

/// How summing up goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SummariesProgress {
    /// A model is configured.
    pub has_model: bool,
    /// Turns that wait for it.
    pub waiting: usize,
    pub written: u64,
    pub failed: u64,
    /// Turns of earlier times that got their line from their own words since the start.
    pub caught_up: u64,
    pub left_today: Option<u32>,
}

/// Which lines a model is to write anew.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpgradeSummaries {
    /// Of this session; of all by default.
    #[serde(default)]
    pub session_id: Option<SessionId>,
}

/// How many turns wait for the model now that did not.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Upgraded {
    pub queued: usize,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TocQuery {
    /// A `next_cursor`: the last turn that is known.
    #[param(pattern = "^t?[0-9]{1,9}$")]
    pub after: Option<String>,
    /// At most 500, the default.
    pub limit: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TurnsQuery {
    /// The first turn, as a number or as `t7`.
    #[param(pattern = "^t?[1-9][0-9]{0,8}$")]
    pub from: String,
    /// The last turn; at most 20 are given at once.
    #[param(pattern = "^t?[1-9][0-9]{0,8}$")]
    pub to: String,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SessionSearchQuery {
    /// Words, `"phrases"`, `-without`, `pre*`, and filters such as `file:` and `outcome:fail`.
    #[param(value_type = String, required = true, min_length = 1)]
    pub q: Option<String>,
    /// 10 by default; what is no number from 1 to 100 is as good as none.
    pub limit: Option<String>,
    /// `true` looks for the text exactly as it stands.
    pub exact: Option<bool>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SearchQuery {
    /// Words, `"phrases"`, `-without`, `pre*`, and filters: `session: agent: project: file: tool: outcome: exit: role:
    /// before: after:`.
    #[param(value_type = String, required = true, min_length = 1)]
    pub q: Option<String>,
    /// 20 by default; what is no number from 1 to 100 is as good as none.
    pub limit: Option<String>,
    /// A `next_cursor`.
    pub after: Option<String>,
    /// `true` looks for the text exactly as it stands, also inside words.
    pub exact: Option<bool>,
    /// Only sessions of this project's directory.
    pub project: Option<String>,
}
