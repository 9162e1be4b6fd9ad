//! What turns used and cost, with the person's prices and limits.
//!
//! Invariant: nothing here stops anything; a limit that is crossed is only told. What was computed is always told apart from
//! what the agent said, and what nobody knows from both.

use std::collections::BTreeMap;

use model::{
    ModelUsage, Money, Priced, Prices, SessionId, Timestamp, Turn, UsageBy, UsageKey, UsageQuery, UsageRow, UsageSum,
    UsedTokens,
};

use crate::{Engine, QueryError};

/// How many sums are made at once: by model, project and so on there are far fewer, unless the range is very long.
pub const MAX_USAGE_SUMS: usize = 50_000;
/// How many turns of a session are told of at once.
pub const MAX_TURNS_USED: usize = 500;

/// What the person says about money.
#[derive(Debug, Clone, Default)]
pub struct UsageSettings {
    /// What models cost.
    pub prices: Prices,
    /// Warns when a session has cost more.
    pub warn_session: Option<Money>,
    /// Warns when a day has cost more.
    pub warn_day: Option<Money>,
}

/// A limit that was crossed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageWarning {
    /// The limit.
    pub limit: Money,
    /// What was spent in its currency.
    pub spent: Money,
}

/// Usage by something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageReport {
    /// Each key with what it used: days from the newest on, all else from the most tokens on.
    pub rows: Vec<(UsageKey, Priced)>,
    /// All of it.
    pub total: Priced,
}

/// What a session used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionUsage {
    /// All of it.
    pub total: Priced,
    /// By model, the one with the most tokens first.
    pub models: Vec<(Option<String>, Priced)>,
    /// Its turns after the one that was asked for.
    pub turns: Vec<TurnUsed>,
    /// There are turns after these.
    pub more: bool,
    /// It has cost more than the person wants to know of.
    pub warning: Option<UsageWarning>,
}

/// What one turn used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnUsed {
    /// Which.
    pub turn: Turn,
    /// Whose it was.
    pub agent: String,
    /// When it was reported.
    pub at: Timestamp,
    /// By model; none where nobody said anything.
    pub models: Vec<ModelUsage>,
    /// All of it.
    pub used: Priced,
}

impl Engine {
    /// The time by the engine's clock.
    pub fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// Usage by day, agent, model, project, piece of work or session.
    pub async fn usage(&self, query: UsageQuery) -> Result<UsageReport, QueryError> {
        let sums = self.sums(query).await?;
        let (mut rows, mut total) = (BTreeMap::<UsageKey, Priced>::new(), Priced::default());
        for sum in &sums {
            rows.entry(sum.key.clone()).or_default().add(sum, &self.shared.usage.prices);
            total.add(sum, &self.shared.usage.prices);
        }
        let mut rows: Vec<_> = rows.into_iter().collect();
        match query.by {
            UsageBy::Day => rows.reverse(),
            UsageBy::Agent | UsageBy::Model | UsageBy::Project | UsageBy::Work | UsageBy::Session => {
                rows.sort_by_key(|(_, used)| std::cmp::Reverse((used.tokens.total(), used.turns)));
            }
        }
        Ok(UsageReport { rows, total })
    }

    /// What the sessions and pieces of work among these keys are called, read at once. What is gone or has no name is not in it.
    pub async fn usage_names(&self, keys: &[UsageKey]) -> Result<BTreeMap<UsageKey, String>, QueryError> {
        let (mut sessions, mut works) = (Vec::new(), Vec::new());
        for key in keys {
            match key {
                UsageKey::Session(id) => sessions.push(*id),
                UsageKey::Work(Some(id)) => works.push(*id),
                UsageKey::Day(_) | UsageKey::Name(_) | UsageKey::Work(None) => (),
            }
        }
        let mut names = BTreeMap::new();
        if !sessions.is_empty() {
            for row in self.shared.store.sessions_by_id(sessions).await? {
                names.extend(row.label().map(|label| (UsageKey::Session(row.id), label.to_owned())));
            }
        }
        if !works.is_empty() {
            let rows = self.shared.store.works_by_id(works).await?;
            names.extend(rows.into_iter().map(|row| (UsageKey::Work(Some(row.id)), row.name)));
        }
        Ok(names)
    }

    /// What the day of an instant has used so far, by a clock so far ahead of UTC, and the day's limit if it is crossed.
    pub async fn day_usage(
        &self,
        at: Timestamp,
        offset_minutes: i32,
    ) -> Result<(Priced, Option<UsageWarning>), QueryError> {
        const DAY_MS: i64 = 86_400_000;
        let query =
            UsageQuery { by: UsageBy::Agent, from: at, to: at, offset_minutes, session: None, limit: MAX_USAGE_SUMS };
        let begin = query.day_of(at) * DAY_MS - i64::from(offset_minutes) * 60_000;
        let (from, to) = (Timestamp::from_millis(begin), Timestamp::from_millis(begin + DAY_MS));
        let total = self.usage(UsageQuery { from, to, ..query }).await?.total;
        let warning = crossed(self.shared.usage.warn_day.as_ref(), &total);
        Ok((total, warning))
    }

    /// What a session used, and its turns after one.
    pub async fn session_usage(&self, id: SessionId, after: Turn, limit: usize) -> Result<SessionUsage, QueryError> {
        self.session(id).await?;
        let prices = &self.shared.usage.prices;
        let limit = limit.clamp(1, MAX_TURNS_USED);
        let (from, to) = (Timestamp::from_millis(i64::MIN), Timestamp::from_millis(i64::MAX));
        // Read first: a turn that ends meanwhile is then in the total, and asked for again by whoever misses it here.
        let enough = (limit + 1) * model::MAX_TURN_MODELS;
        let of_turns = self.shared.store.turns_used(id, after, enough).await?;
        let query =
            UsageQuery { by: UsageBy::Model, from, to, offset_minutes: 0, session: Some(id), limit: MAX_USAGE_SUMS };
        let UsageReport { rows, total } = self.usage(query).await?;
        let models = rows.into_iter().map(|(key, used)| match key {
            UsageKey::Name(model) => (model, used),
            UsageKey::Day(_) | UsageKey::Work(_) | UsageKey::Session(_) => (None, used),
        });
        let models = models.filter(|(_, used)| used.tokens.total() > 0).collect();
        let mut turns: Vec<TurnUsed> = Vec::new();
        for row in of_turns {
            let is_enough = turns.len() > limit;
            match turns.last_mut().filter(|last| last.turn == row.turn) {
                Some(last) => last.add(&row, prices),
                None if is_enough => break,
                None => {
                    let mut turn = TurnUsed {
                        turn: row.turn,
                        agent: row.agent.clone(),
                        at: row.at,
                        models: Vec::new(),
                        used: Priced { turns: 1, ..Priced::default() },
                    };
                    turn.add(&row, prices);
                    turns.push(turn);
                }
            }
        }
        let more = turns.len() > limit;
        turns.truncate(limit);
        let warning = crossed(self.shared.usage.warn_session.as_ref(), &total);
        Ok(SessionUsage { total, models, turns, more, warning })
    }

    /// The limits that warn: of a session, and of a day.
    pub fn usage_limits(&self) -> (Option<&Money>, Option<&Money>) {
        (self.shared.usage.warn_session.as_ref(), self.shared.usage.warn_day.as_ref())
    }

    async fn sums(&self, query: UsageQuery) -> Result<Vec<UsageSum>, QueryError> {
        let limit = query.limit.min(MAX_USAGE_SUMS);
        let sums = self.shared.store.usage(UsageQuery { limit: limit + 1, ..query }).await?;
        if sums.len() > limit {
            return Err(QueryError::TooMuchUsage { limit });
        }
        Ok(sums)
    }
}

impl TurnUsed {
    fn add(&mut self, row: &UsageRow, prices: &Prices) {
        let tokens = row.tokens.unwrap_or_default();
        self.used.add_used(row.model.as_deref(), row.cost.as_ref(), tokens, prices);
        if tokens != UsedTokens::default() {
            self.models.push(ModelUsage { model: row.model.clone(), tokens });
        } else if row.cost.is_none() {
            self.used.unknown_turns = 1;
        }
    }
}

fn crossed(limit: Option<&Money>, used: &Priced) -> Option<UsageWarning> {
    let limit = limit?;
    let nanos = used.cost_in(&limit.currency);
    let spent = Money { nanos, currency: limit.currency.clone() };
    (nanos > limit.nanos).then(|| UsageWarning { limit: limit.clone(), spent })
}
