//! What turns used and cost, over the wire.
//!
//! Invariant: a cost that nobody knows is no amount at all, never 0.

use model::{Cost, SessionId, Timestamp, UsedTokens};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct UsageQuery {
    /// `day` (the default), `agent`, `model`, `project`, `work` or `session`.
    #[param(pattern = "^(day|agent|model|project|work|session)$")]
    pub by: Option<String>,
    /// The first day, as `2026-11-01`; 29 days before `to` unless said.
    #[param(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    pub from: Option<String>,
    /// The last day; today unless said.
    #[param(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    pub to: Option<String>,
    /// How many minutes your clock is ahead of UTC, from -840 to 840; days begin by it. 0 unless said.
    #[param(pattern = "^-?[0-9]{1,3}$")]
    pub offset: Option<String>,
    /// At most 400, the default.
    #[param(pattern = "^[0-9]{1,3}$")]
    pub limit: Option<String>,
    /// A `nextCursor`.
    #[param(pattern = "^[0-9]{1,6}$")]
    pub after: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SessionUsageQuery {
    /// Turns after this one.
    #[param(pattern = "^t?[0-9]{1,9}$")]
    pub after: Option<String>,
    /// How many turns: at most 500, the default.
    #[param(pattern = "^[0-9]{1,3}$")]
    pub limit: Option<String>,
}

/// What was used, and what it cost as far as that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Used {
    pub tokens: UsedTokens,
    /// Of all kinds.
    pub total_tokens: u64,
    pub turns: u64,
    /// Turns of which nobody said anything.
    pub unknown_turns: u64,
    /// All that is known to have been spent, an amount for each currency; empty if nothing is known.
    pub cost: Vec<Cost>,
    /// Where the cost comes from.
    pub basis: CostBasis,
    /// What agents said themselves, which counts before anything that is computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<Cost>,
    /// What the rest comes to by the table of prices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub computed: Vec<Cost>,
    /// Tokens whose cost nobody knows: their model is in no table of prices, or has no name.
    pub unpriced_tokens: u64,
    /// Their models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpriced_models: Vec<String>,
}

/// Where a cost comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostBasis {
    /// The agents said it.
    Stated,
    /// Computed from tokens and prices.
    Computed,
    /// A part of it each.
    Both,
    /// Nobody knows.
    Unknown,
}

/// Usage by day, agent, model, project, piece of work or session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsagePage {
    pub by: String,
    /// The first day.
    pub from: String,
    /// The last day.
    pub to: String,
    /// Days from the newest on, all else from the most tokens on.
    pub rows: Vec<UsageBy>,
    /// All rows together, those of other pages included.
    pub total: Used,
    /// Today by the asker's clock, whatever was asked for.
    pub today: UsageToday,
    /// When the built-in prices were last looked at.
    pub prices_as_of: String,
    pub next_cursor: Option<String>,
}

/// One row of usage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageBy {
    /// The day, name, folder or id; null where it is not known, and for sessions of no piece of work.
    pub key: Option<String>,
    /// What a piece of work or a session is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub used: Used,
}

/// What today has used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageToday {
    pub day: String,
    pub used: Used,
    /// `warn_day` of the configuration.
    pub limit: Option<Cost>,
    /// The limit, if it is crossed.
    pub warning: Option<UsageWarning>,
}

/// A limit that was crossed. Nothing is stopped by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageWarning {
    pub limit: Cost,
    /// What was spent in the limit's currency.
    pub spent: Cost,
}

/// What a session used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionUsage {
    pub session_id: SessionId,
    pub total: Used,
    /// By model, the one with the most tokens first.
    pub models: Vec<UsageBy>,
    /// In order.
    pub turns: Vec<TurnUsed>,
    /// `warn_session` of the configuration, if it is crossed.
    pub warning: Option<UsageWarning>,
    pub next_cursor: Option<String>,
}

/// What a turn used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnUsed {
    pub turn: u32,
    pub agent: String,
    pub at: Timestamp,
    pub used: Used,
    /// The models that it asked; empty where nobody said.
    pub models: Vec<model::ModelUsage>,
}
