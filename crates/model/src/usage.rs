//! What turns have used: tokens by kind and model, and money.
//!
//! Invariant: the kinds of [`UsedTokens`] never overlap, however an agent counts, so that their sum is what went through a model
//! and each kind has its own price.

mod money;
mod price;
mod sum;
mod tally;

use serde::{Deserialize, Serialize};

use crate::{Cost, SessionId, Timestamp, TokenCount, Turn, Usage};

pub use money::{Money, ParseMoneyError};
pub use price::{BUILT_IN_PRICES_AS_OF, Price, Prices};
pub use sum::{Priced, UsageBy, UsageKey, UsageQuery, UsageSum};
pub use tally::Tally;

pub(crate) use tally::usage_rows;

/// How many models of one turn are told apart; the rest is left out.
pub const MAX_TURN_MODELS: usize = 20;
/// Longest name of a model, in characters.
pub const MAX_MODEL_CHARS: usize = 200;
/// More than this of one kind in one turn is taken for this many: no sum of them can overflow.
const MAX_TOKENS: u64 = 1_000_000_000_000;

/// Tokens by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = UsedTokens))]
#[serde(rename_all = "camelCase")]
pub struct UsedTokens {
    /// What the model read, but for what its cache held or took.
    pub input: u64,
    /// What it wrote, thoughts included.
    pub output: u64,
    /// How much of that were thoughts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub thought: u64,
    /// What it read from its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_read: u64,
    /// What it read and put into its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_write: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl UsedTokens {
    /// Of all kinds.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output).saturating_add(self.cached_read).saturating_add(self.cached_write)
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.each(other, u64::saturating_add)
    }

    /// What is left without `other`, kind by kind.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.each(other, u64::saturating_sub)
    }

    fn each(self, other: Self, of: fn(u64, u64) -> u64) -> Self {
        Self {
            input: of(self.input, other.input),
            output: of(self.output, other.output),
            thought: of(self.thought, other.thought),
            cached_read: of(self.cached_read, other.cached_read),
            cached_write: of(self.cached_write, other.cached_write),
        }
    }

    fn bounded(self) -> Self {
        self.each(Self::default(), |count, _| count.min(MAX_TOKENS))
    }
}

impl From<TokenCount> for UsedTokens {
    /// Tells the kinds apart. Some count what the cache held as input, some beside it; some count thoughts as output, some
    /// beside it. Which it is follows from the total; where that says nothing, the parts are taken for parts.
    fn from(count: TokenCount) -> Self {
        let TokenCount { total, input, output, thought, cached_read, cached_write } = count;
        let (thought, read, write) = (thought.unwrap_or(0), cached_read.unwrap_or(0), cached_write.unwrap_or(0));
        let cached = read.saturating_add(write);
        let said = input.saturating_add(output);
        let with = |beside: u64| said.saturating_add(beside) == total;
        let (cache_is_beside, thoughts_are_beside) = if with(cached) {
            (true, false)
        } else if with(cached.saturating_add(thought)) {
            (true, true)
        } else if with(0) {
            (false, false)
        } else if with(thought) {
            (false, true)
        } else {
            (cached > input, thought > output)
        };
        let input = if cache_is_beside { input } else { input.saturating_sub(cached) };
        let output = if thoughts_are_beside { output.saturating_add(thought) } else { output };
        Self { input, output, thought: thought.min(output), cached_read: read, cached_write: write }.bounded()
    }
}

/// What one turn used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TurnUsage {
    /// By model, the one with the most tokens first; at most [`MAX_TURN_MODELS`].
    pub models: Vec<ModelUsage>,
    /// What it cost, where the agent says that of the turn itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// What one model did in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ModelUsage {
    /// Its name, if the agent says which it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What went through it.
    #[serde(flatten)]
    pub tokens: UsedTokens,
}

impl TurnUsage {
    /// Adds what a model did. Without a name it is whichever other has none.
    pub fn add(&mut self, model: Option<&str>, tokens: UsedTokens) {
        let model = model.map(str::trim).filter(|name| !name.is_empty());
        let model = model.map(|name| name.chars().take(MAX_MODEL_CHARS).collect::<String>());
        let is_full = self.models.len() >= MAX_TURN_MODELS;
        match self.models.iter_mut().find(|known| known.model == model) {
            Some(known) => known.tokens = known.tokens.plus(tokens),
            None if is_full => (),
            None => self.models.push(ModelUsage { model, tokens }),
        }
    }

    /// With the models in order. `None` if it says nothing: no tokens, no cost.
    pub fn finished(mut self) -> Option<Self> {
        self.models.retain(|used| used.tokens.total() > 0);
        self.models.sort_by_key(|used| std::cmp::Reverse(used.tokens.total()));
        (!self.models.is_empty() || self.cost.is_some()).then_some(self)
    }
}

impl Usage {
    /// What a window holds, and nothing else.
    pub fn window(used: u64, size: u64) -> Self {
        Self { used, size, cost: None, tokens: None, turn: None }
    }
}

/// What a turn used of one model; each turn that has ended has at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    /// The session it belongs to.
    pub session: SessionId,
    /// Its turn.
    pub turn: Turn,
    /// Its place among those of the turn; the first stands for the turn where turns are counted.
    pub nth: u32,
    /// The agent that had the turn.
    pub agent: String,
    /// The model, where that is known.
    pub model: Option<String>,
    /// What went through it; `None` if nobody said.
    pub tokens: Option<UsedTokens>,
    /// What the agent said that it cost. That of a whole turn stands in its first row, and the others cost nothing beside it.
    pub cost: Option<Money>,
    /// When it was reported.
    pub at: Timestamp,
}

#[cfg(test)]
mod tests;
