//! The tool calls of one turn: their numbers, and what was told of each.
//!
//! Invariant: a change carries only what differs from what was told; a text that grew is told by its growth. Of what was
//! told only marks are kept, so that a turn's memory does not grow with what its tools print.

mod own_terminal;
mod sent;
mod shown;

use std::collections::HashMap;
use std::hash::RandomState;

use agent_client_protocol::v1::schema::ToolCallUpdate;
use model::{AgentReport, ToolKind};
use serde_json::Value;

use super::content::Screens;
pub(super) use sent::kind;
use sent::{Now, SentCall};

/// How many calls of one turn are told; that there are more is said once.
pub(super) const MAX_CALLS: usize = 10_000;
/// Longest id of a call that an agent gives, in bytes: each of a turn's is kept.
const MAX_ID_BYTES: usize = 1 << 10;
/// How many bytes of titles and subjects of one turn are kept at hand for questions.
const MAX_AT_HAND: usize = 8 << 20;
/// How many calls have more to tell than they may before they end.
const MAX_WAITING: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Calls {
    numbers: HashMap<String, usize>,
    calls: Vec<SentCall>,
    marks: RandomState,
    at_hand: usize,
    waiting: usize,
    /// How many have not ended.
    open: usize,
    is_full_said: bool,
}

/// Why a message tells of no call.
#[derive(Debug)]
pub(super) enum NotTold {
    /// It is of a shape that nobody here knows.
    NotUnderstood(Value),
    /// It begins a call, and the turn has as many as are told.
    TooMany(Value),
}

/// A call as a question about it shows it.
#[derive(Debug, Default)]
pub(super) struct AtHand {
    pub(super) tool: Option<u32>,
    pub(super) title: String,
    pub(super) kind: ToolKind,
    pub(super) subject: Option<String>,
    /// The tool's name, where the agent tells it.
    pub(super) name: Option<String>,
    /// What it is given, if that is short.
    pub(super) input: Option<Value>,
    /// The text that it shows, if nothing is known of what it is given.
    pub(super) shown: Option<String>,
    /// It shows something.
    pub(super) shows: bool,
    /// All that it is given, if all is told.
    pub(super) digest: Option<String>,
}

impl Calls {
    /// A `tool_call` or `tool_call_update`, which are the same here: agents begin calls with either.
    pub(super) fn message(&mut self, mut update: Value, screens: &dyn Screens) -> Result<Vec<AgentReport>, NotTold> {
        let id = update.get("toolCallId").and_then(Value::as_str).filter(|id| id.len() <= MAX_ID_BYTES);
        let Some(id) = id else { return Err(NotTold::NotUnderstood(update)) };
        let known = self.numbers.get(id).copied();
        if known.is_none() && self.calls.len() == MAX_CALLS {
            return Err(NotTold::TooMany(update));
        }
        let id = id.to_owned();
        // Each item is read by itself: the SDK's list would leave out those that it does not know.
        let items = match update.get_mut("content").map(Value::take) {
            Some(Value::Array(items)) => Some(items),
            Some(_) | None => None,
        };
        let Ok(update) = serde_json::from_value::<ToolCallUpdate>(update) else {
            if let Some(at) = known {
                self.calls[at].doubt();
            }
            return Err(NotTold::NotUnderstood(Value::String(id)));
        };
        let at = known.unwrap_or(self.calls.len());
        if known.is_none() {
            self.calls.push(SentCall::default());
            self.numbers.insert(id.clone(), at);
            self.open += 1;
        }
        let now = Now { marks: &self.marks, screens, may_wait: self.waiting < MAX_WAITING };
        let call = &mut self.calls[at];
        self.at_hand -= call.at_hand_bytes();
        self.waiting -= usize::from(call.is_waiting());
        self.open -= usize::from(call.is_open());
        let told = call.message(update, items, now);
        if self.at_hand + call.at_hand_bytes() > MAX_AT_HAND {
            call.forget();
        }
        self.at_hand += call.at_hand_bytes();
        self.waiting += usize::from(call.is_waiting());
        self.open += usize::from(call.is_open());
        Ok(match known {
            Some(_) => told.change(number(at)),
            None => told.start(number(at), id),
        })
    }

    /// Whether it is still to be said that there are more calls than are told.
    pub(super) fn is_to_be_said_full(&mut self) -> bool {
        !std::mem::replace(&mut self.is_full_said, true)
    }

    pub(super) fn any_open(&self) -> bool {
        self.open > 0
    }

    /// What is at hand of the call.
    pub(super) fn find(&self, id: &str) -> AtHand {
        match self.numbers.get(id) {
            Some(at) => self.calls[*at].at_hand(number(*at)),
            None => AtHand::default(),
        }
    }

    /// What had to wait for the end of its call, which will not come.
    pub(super) fn settle(&mut self, screens: &dyn Screens) -> Vec<AgentReport> {
        let now = Now { marks: &self.marks, screens, may_wait: false };
        self.calls.iter_mut().enumerate().flat_map(|(at, call)| call.settle(now).change(number(at))).collect()
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}
