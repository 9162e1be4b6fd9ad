//! Which session a message of an agent is for.
//!
//! Invariant: a message reaches the session that the agent names and no other; one that names none of ours is dropped
//! and counted. What comes before the agent has said the name of a new conversation waits for it, up to a bound.

use std::collections::HashMap;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{CLIENT_METHOD_NAMES, PROTOCOL_LEVEL_METHOD_NAMES};
use serde_json::Value;
use tokio::sync::oneshot;

use super::inbox::{Message, Slot};
use super::wire::{Incoming, Refused};

/// How many messages, and how many bytes of them, wait for the name of their conversation.
const MAX_HELD: usize = 1_000;
const MAX_HELD_BYTES: usize = 1 << 20;

pub(super) type Reply = Result<Value, Refused>;

#[derive(Debug, Default)]
pub(super) struct Routes {
    next_request: i64,
    next_session: u64,
    pending: HashMap<i64, Pending>,
    slots: HashMap<u64, Slot>,
    /// The agent's name of a conversation, and whose it is.
    names: HashMap<String, u64>,
    held: Vec<(String, Message, usize)>,
    held_bytes: usize,
    dropped: u64,
}

/// Who waits for a reply.
#[derive(Debug)]
pub(super) enum Pending {
    /// A session, in the order of everything else that it hears.
    Session(u64),
    /// A session whose conversation gets its name by this reply.
    NewSession(u64),
    /// Somebody who has no session yet.
    Alone(oneshot::Sender<Reply>),
}

/// What is to be done about a message, in this order.
#[derive(Debug, Default)]
pub(super) struct Deliveries {
    pub(super) messages: Vec<(Slot, u64, Message, usize)>,
    /// A request that nobody here answers: its id and why.
    pub(super) refused: Option<(Value, Error)>,
}

impl Routes {
    /// A session that has no name with the agent yet.
    pub(super) fn add(&mut self, slot: Slot) -> u64 {
        self.next_session += 1;
        self.slots.insert(self.next_session, slot);
        self.next_session
    }

    pub(super) fn remove(&mut self, session: u64) -> Option<Slot> {
        self.names.retain(|_, named| *named != session);
        self.pending.retain(|_, pending| match pending {
            Pending::Session(waits) | Pending::NewSession(waits) => *waits != session,
            Pending::Alone(_) => true,
        });
        self.forget_held();
        self.slots.remove(&session)
    }

    /// Takes every session out.
    pub(super) fn clear(&mut self) -> Vec<Slot> {
        self.names.clear();
        self.pending.clear();
        self.forget_held();
        self.slots.drain().map(|(_, slot)| slot).collect()
    }

    /// Messages that name this conversation are for this session, unless they are another's.
    pub(super) fn name(&mut self, session: u64, name: &str) -> bool {
        let is_free = self.names.get(name).is_none_or(|named| *named == session);
        if is_free {
            self.names.insert(name.to_owned(), session);
        }
        is_free
    }

    pub(super) fn unname(&mut self, name: &str) {
        self.names.remove(name);
    }

    /// The id of a new request.
    pub(super) fn expect(&mut self, pending: Pending) -> i64 {
        self.next_request += 1;
        self.pending.insert(self.next_request, pending);
        self.next_request
    }

    /// Where a message goes.
    pub(super) fn sort(&mut self, incoming: Incoming, bytes: usize) -> Deliveries {
        match incoming {
            Incoming::Junk => Deliveries::default(),
            Incoming::Reply { id, result } => self.reply(id, result, bytes),
            Incoming::Request { id, method, params } => {
                let session = self.whose(&params);
                let message = Message::Request { id: id.clone(), method, params };
                match session {
                    Whose::Session(session) => self.deliver(session, message, bytes),
                    Whose::Named(name) if self.is_naming() => self.hold(name, message, bytes),
                    Whose::Named(_) => refused(id, Error::invalid_params().data("no such session here")),
                    Whose::Nobody => refused(id, Error::method_not_found()),
                }
            }
            Incoming::Notification { method, params } if method == PROTOCOL_LEVEL_METHOD_NAMES.cancel_request => {
                // Its id is the agent's own; whoever has such a request open knows it.
                let id = params.get("requestId").cloned().unwrap_or_default();
                let slots = self.slots.iter();
                let messages = slots.map(|(key, slot)| (slot.clone(), *key, Message::Withdrawn { id: id.clone() }, 0));
                Deliveries { messages: messages.collect(), refused: None }
            }
            Incoming::Notification { method, mut params } => {
                let session = self.whose(&params);
                let message = if method == CLIENT_METHOD_NAMES.session_update {
                    Message::Update(params.get_mut("update").map(Value::take).unwrap_or_default())
                } else {
                    Message::Other { method, params }
                };
                match session {
                    Whose::Session(session) => self.deliver(session, message, bytes),
                    Whose::Named(name) if self.is_naming() => self.hold(name, message, bytes),
                    Whose::Named(_) | Whose::Nobody => self.drop_one(),
                }
            }
        }
    }

    fn reply(&mut self, id: i64, mut result: Reply, bytes: usize) -> Deliveries {
        match self.pending.remove(&id) {
            // Answered twice, or never asked, or nobody waits any more.
            None => self.drop_one(),
            Some(Pending::Alone(waits)) => {
                drop(waits.send(result));
                Deliveries::default()
            }
            Some(Pending::Session(session)) => self.deliver(session, Message::Reply { id, result }, bytes),
            Some(Pending::NewSession(session)) => {
                let name = result.as_ref().ok().and_then(|reply| reply.get("sessionId")?.as_str()).map(str::to_owned);
                if let Some(name) = &name
                    && !self.name(session, name)
                {
                    result = Err(Refused::new("the agent gave two conversations the same id"));
                }
                let mut deliveries = self.deliver(session, Message::Reply { id, result }, bytes);
                if let Some(name) = name {
                    let (held, rest) = std::mem::take(&mut self.held).into_iter().partition(|(of, ..)| *of == name);
                    self.held = rest;
                    for (_, message, bytes) in held {
                        deliveries.messages.extend(self.deliver(session, message, bytes).messages);
                    }
                }
                self.forget_held();
                deliveries
            }
        }
    }

    fn deliver(&mut self, session: u64, message: Message, bytes: usize) -> Deliveries {
        match self.slots.get(&session) {
            Some(slot) => Deliveries { messages: vec![(slot.clone(), session, message, bytes)], refused: None },
            None => self.drop_one(),
        }
    }

    /// A conversation is about to get its name.
    fn is_naming(&self) -> bool {
        self.pending.values().any(|pending| matches!(pending, Pending::NewSession(_)))
    }

    fn hold(&mut self, name: String, message: Message, bytes: usize) -> Deliveries {
        if self.held.len() == MAX_HELD || self.held_bytes + bytes > MAX_HELD_BYTES {
            return self.drop_one();
        }
        self.held_bytes += bytes;
        self.held.push((name, message, bytes));
        Deliveries::default()
    }

    /// What is held for a conversation that will get no name.
    fn forget_held(&mut self) {
        if !self.is_naming() {
            self.held.clear();
        }
        self.held_bytes = self.held.iter().map(|(.., bytes)| bytes).sum();
    }

    fn drop_one(&mut self) -> Deliveries {
        self.dropped += 1;
        if self.dropped.is_power_of_two() {
            tracing::warn!(dropped = self.dropped, "an agent sent what is for no session of ours");
        }
        Deliveries::default()
    }

    fn whose(&self, params: &Value) -> Whose {
        if let Some(name) = params.get("sessionId").and_then(Value::as_str) {
            return self.names.get(name).map_or_else(|| Whose::Named(name.to_owned()), |key| Whose::Session(*key));
        }
        // A question about a request of ours, as while somebody signs in.
        let about = params.get("requestId").and_then(Value::as_i64).and_then(|id| self.pending.get(&id));
        match about {
            Some(Pending::Session(session) | Pending::NewSession(session)) => Whose::Session(*session),
            Some(Pending::Alone(_)) | None => Whose::Nobody,
        }
    }
}

fn refused(id: Value, error: Error) -> Deliveries {
    Deliveries { refused: Some((id, error)), ..Deliveries::default() }
}

enum Whose {
    Session(u64),
    Named(String),
    Nobody,
}
