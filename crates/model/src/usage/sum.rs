//! What many turns used together, by day, agent, model, project, piece of work or session.
//!
//! Invariant: sums are kept apart as long as their price may differ, by model and by whether the agent said the cost, so
//! that pricing a sum is pricing each of its turns.

use std::collections::BTreeMap;

use super::{Money, Prices, UsageRow, UsedTokens};
use crate::{SessionId, Timestamp, WorkId};

/// By what usage is summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum UsageBy {
    Day,
    Agent,
    Model,
    Project,
    Work,
    Session,
}

/// What is summed up: the turns that were reported from one instant on and before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageQuery {
    /// By what.
    pub by: UsageBy,
    /// The first instant that counts.
    pub from: Timestamp,
    /// The first that does not.
    pub to: Timestamp,
    /// How far the clock on the wall is ahead of UTC, where days begin.
    pub offset_minutes: i32,
    /// Of one session alone.
    pub session: Option<SessionId>,
    /// How many sums there may be.
    pub limit: usize,
}

impl UsageQuery {
    /// The day of an instant, counted from 1970, by the asker's clock.
    pub fn day_of(&self, at: Timestamp) -> i64 {
        const DAY_MS: i64 = 86_400_000;
        at.as_millis().saturating_add(i64::from(self.offset_minutes) * 60_000).div_euclid(DAY_MS)
    }
}

/// What a sum is of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum UsageKey {
    /// A day, counted from 1970 in the asker's time.
    Day(i64),
    /// An agent's or model's name, or a project's folder; `None` where it is not known.
    Name(Option<String>),
    /// A piece of work, or sessions that belong to none.
    Work(Option<WorkId>),
    /// A session.
    Session(SessionId),
}

/// What the turns of one key used of one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageSum {
    /// Of what.
    pub key: UsageKey,
    /// The model, where it is known.
    pub model: Option<String>,
    /// What the agent said that they cost; `None` where it did not.
    pub cost: Option<Money>,
    /// What went through the model.
    pub tokens: UsedTokens,
    /// How many turns; one of several models counts once, at its first.
    pub turns: u64,
    /// How many of them nobody said anything of.
    pub unknown_turns: u64,
}

impl UsageSum {
    /// Adds a row of the same key, model and currency.
    pub fn add(&mut self, row: &UsageRow) {
        if let (Some(sum), Some(cost)) = (&mut self.cost, &row.cost) {
            sum.nanos = sum.nanos.saturating_add(cost.nanos);
        }
        self.tokens = self.tokens.plus(row.tokens.unwrap_or_default());
        self.turns += u64::from(row.nth == 0);
        self.unknown_turns += u64::from(row.nth == 0 && row.tokens.is_none() && row.cost.is_none());
    }
}

/// Several sums with their cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Priced {
    /// What went through models.
    pub tokens: UsedTokens,
    /// How many turns.
    pub turns: u64,
    /// How many of them nobody counted the tokens of.
    pub unknown_turns: u64,
    /// What agents said that it cost, by currency.
    pub stated: BTreeMap<String, i64>,
    /// What the rest costs by the table of prices, by currency.
    pub computed: BTreeMap<String, i64>,
    /// The tokens whose cost nobody knows.
    pub unpriced: UsedTokens,
    /// The models of those; nameless ones are not among them.
    pub unpriced_models: Vec<String>,
}

impl Priced {
    /// Adds a sum.
    pub fn add(&mut self, sum: &UsageSum, prices: &Prices) {
        self.add_used(sum.model.as_deref(), sum.cost.as_ref(), sum.tokens, prices);
        self.turns += sum.turns;
        self.unknown_turns += sum.unknown_turns;
    }

    /// Adds what one model used.
    pub fn add_used(&mut self, model: Option<&str>, cost: Option<&Money>, tokens: UsedTokens, prices: &Prices) {
        self.tokens = self.tokens.plus(tokens);
        let add = |to: &mut BTreeMap<String, i64>, money: Money| {
            let sum = to.entry(money.currency).or_insert(0);
            *sum = sum.saturating_add(money.nanos);
        };
        match (cost, model.and_then(|model| prices.find(model))) {
            (Some(cost), _) => add(&mut self.stated, cost.clone()),
            (None, _) if tokens.total() == 0 => (),
            (None, Some(price)) => add(&mut self.computed, price.of(&tokens)),
            (None, None) => {
                self.unpriced = self.unpriced.plus(tokens);
                if let Some(model) = model
                    && !self.unpriced_models.iter().any(|known| known == model)
                {
                    self.unpriced_models.push(model.to_owned());
                }
            }
        }
    }

    /// All money that is known of, by currency.
    pub fn cost(&self) -> BTreeMap<String, i64> {
        let mut cost = self.stated.clone();
        for (currency, nanos) in &self.computed {
            let sum = cost.entry(currency.clone()).or_insert(0);
            *sum = sum.saturating_add(*nanos);
        }
        cost
    }

    /// What is known in this currency.
    pub fn cost_in(&self, currency: &str) -> i64 {
        self.cost().get(currency).copied().unwrap_or(0)
    }
}
