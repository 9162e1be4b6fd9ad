//! Finds what a turn used, from what its agent reports of the turn or of its whole conversation.
//!
//! Invariant: nothing is counted twice. What an agent says of its whole conversation counts from where it stood when the turn
//! began; where that is not known (a conversation that began elsewhere) it is not counted at all. A later report of one turn
//! takes the place of an earlier one.

use serde::{Deserialize, Serialize};

use super::{Money, TurnUsage, UsageRow, UsedTokens};
use crate::{Entry, Memory, RowChange, SessionEvent, SessionRow, Timestamp, Turn, Usage};

/// The agent that counted a whole life of its process where others counted a turn, in entries before version 7.
const COUNTED_ITS_LIFE: &str = "copilot";

/// What a session's agent has said so far, as far as the next report needs it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Tally {
    /// What its conversation has cost, as it said last.
    #[serde(skip_serializing_if = "Option::is_none")]
    spent: Option<Money>,
    /// The same when the newest turn began.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Money>,
    /// The conversation began elsewhere, and what it had cost by then is not known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    began_elsewhere: bool,
    /// The tokens of its process so far, of an agent that counted those.
    #[serde(skip_serializing_if = "Option::is_none")]
    life: Option<UsedTokens>,
    /// What the newest turn used.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<TurnUsage>,
    /// What the agent said that the newest turn cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Money>,
}

impl Tally {
    /// The agent came to the session.
    pub(crate) fn attach(&mut self, memory: Memory) {
        self.life = None;
        match memory {
            Memory::New => (self.spent, self.before, self.began_elsewhere) = (None, None, false),
            Memory::Resumed | Memory::Loaded => (),
        }
    }

    /// Another agent, or the record of another tool, which may be taken up from there.
    pub(crate) fn begin_elsewhere(&mut self) {
        (self.spent, self.before, self.life, self.began_elsewhere) = (None, None, None, true);
    }

    pub(crate) fn start_turn(&mut self) {
        (self.turn, self.cost) = (None, None);
        if self.spent.is_some() {
            (self.before, self.began_elsewhere) = (self.spent.clone(), false);
        }
    }

    pub(crate) fn report(&mut self, usage: &Usage, agent: &str, chosen_model: Option<&str>) {
        let turn = usage.turn.clone().or_else(|| self.of_earlier_version(usage, agent, chosen_model));
        if let Some(turn) = turn.and_then(TurnUsage::finished) {
            self.cost = turn.cost.as_ref().and_then(Money::stated).map(Money::of_one_turn).or(self.cost.take());
            self.turn = Some(turn);
        }
        if let Some(spent) = usage.cost.as_ref().and_then(Money::stated) {
            if let Some(share) = self.share_of(&spent) {
                self.cost = (share.nanos > 0).then(|| share.of_one_turn());
            }
            self.spent = Some(spent);
        }
    }

    /// What the newest turn added to what the conversation had cost.
    fn share_of(&self, spent: &Money) -> Option<Money> {
        match &self.before {
            Some(before) if before.currency != spent.currency => None,
            // It counts from the start again.
            Some(before) if before.nanos > spent.nanos => Some(spent.clone()),
            Some(before) => Some(Money { nanos: spent.nanos - before.nanos, currency: spent.currency.clone() }),
            None => (!self.began_elsewhere).then(|| spent.clone()),
        }
    }

    fn of_earlier_version(&mut self, usage: &Usage, agent: &str, chosen_model: Option<&str>) -> Option<TurnUsage> {
        let said = UsedTokens::from(usage.tokens?);
        let tokens = match agent == COUNTED_ITS_LIFE {
            true => said.minus(self.life.replace(said).unwrap_or_default()),
            false => said,
        };
        let mut turn = TurnUsage::default();
        turn.add(chosen_model, tokens);
        Some(turn)
    }

    /// The rows of the newest turn.
    fn rows(&self, row: &SessionRow, turn: Turn, at: Timestamp) -> Vec<UsageRow> {
        let make = |nth: u32, model: Option<String>, tokens: Option<UsedTokens>, cost: Option<Money>| UsageRow {
            session: row.id,
            turn,
            nth,
            agent: row.agent.clone(),
            model,
            tokens,
            cost,
            at,
        };
        let models = self.turn.iter().flat_map(|turn| &turn.models);
        let mut rows: Vec<UsageRow> = (0..)
            .zip(models)
            .map(|(nth, used)| {
                let cost = self.cost.as_ref().map(|cost| match nth {
                    0 => cost.clone(),
                    _ => Money::none(&cost.currency),
                });
                make(nth, used.model.clone(), Some(used.tokens), cost)
            })
            .collect();
        if rows.is_empty() && self.cost.is_some() {
            rows.push(make(0, None, None, self.cost.clone()));
        }
        rows
    }
}

/// What an entry changes in the rows of usage, given the session's row and what its agent had said before.
pub(crate) fn usage_rows(
    row: &SessionRow,
    before: &Tally,
    after: &Tally,
    entry: Entry<&SessionEvent>,
) -> Vec<RowChange> {
    let turn = row.turns;
    if turn == Turn(0) {
        return Vec::new();
    }
    let rows = |tally: &Tally| tally.rows(row, turn, entry.at);
    match entry.event {
        SessionEvent::UsageReported { .. } => {
            let (old, new) = (rows(before), rows(after));
            if old == new {
                return Vec::new();
            }
            let gone = old.iter().skip(new.len()).map(|row| RowChange::RemoveUsage {
                session: row.session,
                turn: row.turn,
                nth: row.nth,
            });
            gone.collect::<Vec<_>>().into_iter().chain(new.into_iter().map(RowChange::PutUsage)).collect()
        }
        // A turn of which nobody said anything has a row that says so.
        SessionEvent::TurnEnded { turn, .. } if rows(before).is_empty() => vec![RowChange::PutUsage(UsageRow {
            session: row.id,
            turn: *turn,
            nth: 0,
            agent: row.agent.clone(),
            model: None,
            tokens: None,
            cost: None,
            at: entry.at,
        })],
        _ => Vec::new(),
    }
}
