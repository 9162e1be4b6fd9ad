//! Decides which session a message of an agent is for.
//!
//! Invariant: a message reaches the session that it names and no other; one that names an unknown session is dropped
//! and counted. Messages that arrive before the reply that names a new conversation are held for it, up to a bound.

use std::collections::HashMap;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{CLIENT_METHOD_NAMES, PROTOCOL_LEVEL_METHOD_NAMES};
use serde_json::Value;
use tokio::sync::oneshot;

use super::inbox::{InboxSender, Message};
use super::wire::{Incoming, Refused};

/// How many messages, and how many bytes of them, are held for a conversation without a name.
const MAX_HELD: usize = 1_000;
const MAX_HELD_BYTES: usize = 1 << 20;

pub(super) type Reply = Result<Value, Refused>;

#[derive(Debug, Default)]
pub(super) struct Routes {
    next_request: i64,
    next_session: u64,
    pending: HashMap<i64, ReplyTarget>,
    slots: HashMap<u64, InboxSender>,
    /// The session that has each conversation, by the agent's id of the conversation.
    names: HashMap<String, u64>,
    held: Vec<(String, Message, usize)>,
    held_bytes: usize,
    dropped: u64,
}

/// Who gets the reply to a request.
#[derive(Debug)]
pub(super) enum ReplyTarget {
    /// A session, through its inbox, in order with its other messages.
    Session(u64),
    /// A session whose conversation is named by this reply.
    NewSession(u64),
    /// A caller without a session.
    Alone(oneshot::Sender<Reply>),
}

/// What to do with a message, in this order.
#[derive(Debug, Default)]
pub(super) struct Deliveries {
    pub(super) messages: Vec<(InboxSender, u64, Message, usize)>,
    /// A request that is refused: its id and the error.
    pub(super) refused: Option<(Value, Error)>,
}

impl Routes {
    /// Adds a session whose conversation has no name yet.
    pub(super) fn add(&mut self, slot: InboxSender) -> u64 {
        self.next_session += 1;
        self.slots.insert(self.next_session, slot);
        self.next_session
    }

    pub(super) fn remove(&mut self, session: u64) -> Option<InboxSender> {
        self.names.retain(|_, named| *named != session);
        self.pending.retain(|_, pending| match pending {
            ReplyTarget::Session(waits) | ReplyTarget::NewSession(waits) => *waits != session,
            ReplyTarget::Alone(_) => true,
        });
        self.forget_held();
        self.slots.remove(&session)
    }

    /// Removes every session.
    pub(super) fn clear(&mut self) -> Vec<InboxSender> {
        self.names.clear();
        self.pending.clear();
        self.forget_held();
        self.slots.drain().map(|(_, slot)| slot).collect()
    }

    /// Routes messages that name this conversation to this session, unless another session has the name.
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

    /// Registers who gets the reply, and returns the id for the request.
    pub(super) fn expect(&mut self, pending: ReplyTarget) -> i64 {
        self.next_request += 1;
        self.pending.insert(self.next_request, pending);
        self.next_request
    }

    /// Decides where a message goes.
    pub(super) fn route(&mut self, incoming: Incoming, bytes: usize) -> Deliveries {
        match incoming {
            Incoming::Junk => Deliveries::default(),
            Incoming::Reply { id, result } => self.reply(id, result, bytes),
            Incoming::Request { id, method, params } => {
                let session = self.target_of(&params);
                let message = Message::Request { id: id.clone(), method, params };
                match session {
                    MessageTarget::Session(session) => self.deliver(session, message, bytes),
                    MessageTarget::Named(name) if self.is_naming() => self.hold(name, message, bytes),
                    MessageTarget::Named(_) => refused(id, Error::invalid_params().data("no such session here")),
                    MessageTarget::Nobody => refused(id, Error::method_not_found()),
                }
            }
            Incoming::Notification { method, params } if method == PROTOCOL_LEVEL_METHOD_NAMES.cancel_request => {
                // The id is the agent's own; the session that has such a request open recognises it.
                let id = params.get("requestId").cloned().unwrap_or_default();
                let slots = self.slots.iter();
                let messages = slots.map(|(key, slot)| (slot.clone(), *key, Message::Withdrawn { id: id.clone() }, 0));
                Deliveries { messages: messages.collect(), refused: None }
            }
            Incoming::Notification { method, mut params } => {
                let session = self.target_of(&params);
                let is_extension = method.starts_with('_');
                let message = if method == CLIENT_METHOD_NAMES.session_update {
                    Message::Update(params.get_mut("update").map(Value::take).unwrap_or_default())
                } else {
                    Message::Other { method, params }
                };
                match session {
                    MessageTarget::Session(session) => self.deliver(session, message, bytes),
                    MessageTarget::Named(name) if self.is_naming() => self.hold(name, message, bytes),
                    // Agents send every client notifications about sign-in and the like; unknown ones are ignored.
                    MessageTarget::Nobody if is_extension => Deliveries::default(),
                    MessageTarget::Named(_) | MessageTarget::Nobody => self.drop_one(),
                }
            }
        }
    }

    fn reply(&mut self, id: i64, mut result: Reply, bytes: usize) -> Deliveries {
        match self.pending.remove(&id) {
            // A second reply, one to no request, or nobody waits for it any more.
            None => self.drop_one(),
            Some(ReplyTarget::Alone(waits)) => {
                drop(waits.send(result));
                Deliveries::default()
            }
            Some(ReplyTarget::Session(session)) => self.deliver(session, Message::Reply { id, result }, bytes),
            Some(ReplyTarget::NewSession(session)) => {
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

    /// Whether a reply is awaited that will name a conversation.
    fn is_naming(&self) -> bool {
        self.pending.values().any(|pending| matches!(pending, ReplyTarget::NewSession(_)))
    }

    fn hold(&mut self, name: String, message: Message, bytes: usize) -> Deliveries {
        if self.held.len() == MAX_HELD || self.held_bytes + bytes > MAX_HELD_BYTES {
            return self.drop_one();
        }
        self.held_bytes += bytes;
        self.held.push((name, message, bytes));
        Deliveries::default()
    }

    /// Drops what is held for a conversation that will get no name.
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

    fn target_of(&self, params: &Value) -> MessageTarget {
        if let Some(name) = params.get("sessionId").and_then(Value::as_str) {
            return self
                .names
                .get(name)
                .map_or_else(|| MessageTarget::Named(name.to_owned()), |key| MessageTarget::Session(*key));
        }
        // A question about a request of ours, as while somebody signs in.
        let about = params.get("requestId").and_then(Value::as_i64).and_then(|id| self.pending.get(&id));
        match about {
            Some(ReplyTarget::Session(session) | ReplyTarget::NewSession(session)) => MessageTarget::Session(*session),
            Some(ReplyTarget::Alone(_)) | None => MessageTarget::Nobody,
        }
    }
}

fn refused(id: Value, error: Error) -> Deliveries {
    Deliveries { refused: Some((id, error)), ..Deliveries::default() }
}

enum MessageTarget {
    Session(u64),
    Named(String),
    Nobody,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_should_have_had_a_session_counts_as_dropped() {
        let mut routes = Routes::default();
        for (method, params, dropped) in [
            ("_auth/status_update", json!({ "authStatus": { "kind": "api_key" } }), 0),
            ("session/update", json!({ "sessionId": "gone", "update": {} }), 1),
            ("_own/news", json!({ "sessionId": "gone" }), 2),
            ("session/update", json!({ "update": {} }), 3),
        ] {
            let deliveries = routes.route(Incoming::Notification { method: method.to_owned(), params }, 0);
            assert!(deliveries.messages.is_empty() && deliveries.refused.is_none());
            assert_eq!(routes.dropped, dropped, "{method}");
        }
    }
}
