//! The tool calls of one turn: their numbers, and what was reported of each.
//!
//! Invariant: a change carries only what differs from what was reported; of a text that grew, only the new part is
//! reported. Only hashes are kept of what was reported, so that a turn's memory does not grow with the output of its
//! tools.

mod own_terminal;
mod sent;
mod shown;

use std::collections::HashMap;
use std::hash::RandomState;

use agent_client_protocol::v1::schema::ToolCallUpdate;
use model::{AgentReport, ToolKind};
use serde_json::Value;

use super::content::TerminalOutputs;
pub(super) use sent::kind;
use sent::{CallContext, SentCall};

/// How many calls of one turn are reported; one notice says that there are more.
pub(super) const MAX_CALLS: usize = 10_000;
/// Longest id of a call, in bytes: each id of a turn is kept.
const MAX_ID_BYTES: usize = 1 << 10;
/// How many bytes of titles and subjects of one turn are kept for questions.
const MAX_AT_HAND: usize = 8 << 20;
/// How many calls may hold back values until they end.
const MAX_WAITING: usize = 32;

#[derive(Debug, Default)]
pub(super) struct TurnCalls {
    numbers: HashMap<String, usize>,
    calls: Vec<SentCall>,
    hasher: RandomState,
    at_hand: usize,
    waiting: usize,
    /// How many calls have not ended.
    open: usize,
    is_full_reported: bool,
}

/// Why a message leads to no report of a call.
#[derive(Debug)]
pub(super) enum NotReported {
    /// Its shape is not known.
    NotUnderstood(Value),
    /// It begins a call, and the turn has reported as many as it may.
    TooMany(Value),
}

/// What a question shows of the call that it is about.
#[derive(Debug, Default)]
pub(super) struct KnownCall {
    pub(super) tool: Option<u32>,
    pub(super) title: String,
    pub(super) kind: ToolKind,
    pub(super) subject: Option<String>,
    /// The tool's name, if the agent says it.
    pub(super) name: Option<String>,
    /// The input, if it is short.
    pub(super) input: Option<Value>,
    /// The text that the call shows, if its input is not known.
    pub(super) shown: Option<String>,
    /// The call shows something.
    pub(super) shows: bool,
    /// The digest of the whole input, if all of it is known.
    pub(super) digest: Option<String>,
}

impl TurnCalls {
    /// Handles a `tool_call` or `tool_call_update`. Both mean the same here, for agents begin calls with either.
    pub(super) fn message(
        &mut self,
        mut update: Value,
        terminals: &dyn TerminalOutputs,
    ) -> Result<Vec<AgentReport>, NotReported> {
        let id = update.get("toolCallId").and_then(Value::as_str).filter(|id| id.len() <= MAX_ID_BYTES);
        let Some(id) = id else { return Err(NotReported::NotUnderstood(update)) };
        let known = self.numbers.get(id).copied();
        if known.is_none() && self.calls.len() == MAX_CALLS {
            return Err(NotReported::TooMany(update));
        }
        let id = id.to_owned();
        // Each item is read by itself: the SDK's list would leave out those that it does not know.
        let items = match update.get_mut("content").map(Value::take) {
            Some(Value::Array(items)) => Some(items),
            Some(_) | None => None,
        };
        let Ok(update) = serde_json::from_value::<ToolCallUpdate>(update) else {
            if let Some(at) = known {
                self.calls[at].mark_unknown();
            }
            return Err(NotReported::NotUnderstood(Value::String(id)));
        };
        let at = known.unwrap_or(self.calls.len());
        if known.is_none() {
            self.calls.push(SentCall::default());
            self.numbers.insert(id.clone(), at);
            self.open += 1;
        }
        let context = CallContext { hasher: &self.hasher, terminals, may_hold_back: self.waiting < MAX_WAITING };
        let call = &mut self.calls[at];
        self.at_hand -= call.at_hand_bytes();
        self.waiting -= usize::from(call.holds_back());
        self.open -= usize::from(call.is_open());
        let reported = call.message(update, items, context);
        if self.at_hand + call.at_hand_bytes() > MAX_AT_HAND {
            call.forget();
        }
        self.at_hand += call.at_hand_bytes();
        self.waiting += usize::from(call.holds_back());
        self.open += usize::from(call.is_open());
        Ok(match known {
            Some(_) => reported.change(number(at)),
            None => reported.start(number(at), id),
        })
    }

    /// Whether the notice about too many calls has still to be sent; true once.
    pub(super) fn take_full_notice(&mut self) -> bool {
        !std::mem::replace(&mut self.is_full_reported, true)
    }

    pub(super) fn any_open(&self) -> bool {
        self.open > 0
    }

    /// What is known of a call, for a question about it.
    pub(super) fn find(&self, id: &str) -> KnownCall {
        match self.numbers.get(id) {
            Some(at) => self.calls[*at].at_hand(number(*at)),
            None => KnownCall::default(),
        }
    }

    /// Reports what calls held back for their end, which will not come.
    pub(super) fn settle(&mut self, terminals: &dyn TerminalOutputs) -> Vec<AgentReport> {
        let context = CallContext { hasher: &self.hasher, terminals, may_hold_back: false };
        self.calls.iter_mut().enumerate().flat_map(|(at, call)| call.settle(context).change(number(at))).collect()
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}
