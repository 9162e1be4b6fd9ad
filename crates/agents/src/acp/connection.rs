//! One agent process and the sessions that share it: reads and routes the agent's lines, and writes ours.
//!
//! Invariant: messages are handled one at a time, in the order of the wire, and the next line is read only when there
//! is room for this one. So an agent that sends faster than its session reads is slowed down, messages never change
//! order, and every queue has a bound. A session never waits for the agent to read: its clock goes on and it can be
//! stopped. An agent that leaves more unread than the queue holds has failed. In a shared process, a session that
//! does not read at all is dropped, and no other.

mod drive;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use agent_client_protocol::{Error, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse as _};
use serde_json::Value;
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::inbox::{Inbox, inbox};
use super::outbox::{AnswerPermit, Full, Outbox, outbox};
use super::routes::{ReplyTarget, Routes};
use super::transport::Transport;
use super::wire::{self, Refused};
use crate::AgentLimits;

/// A handle to a connection; clones share the same connection.
#[derive(Debug, Clone)]
pub(crate) struct Connection(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    outbox: Outbox,
    limits: AgentLimits,
    /// Ends the agent gracefully.
    stop: CancellationToken,
    /// Kills the agent.
    kill: CancellationToken,
    /// Cancelled when the agent does not read: the outbox has no room for another line.
    unread: CancellationToken,
    ended: CancellationToken,
    why_ended: OnceLock<String>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    routes: Routes,
    users: usize,
    /// No new users are accepted; the connection ends with its last one.
    is_closed: bool,
}

/// A use of a connection. The connection lives while there is a lease, and for the warm time after the last one.
#[derive(Debug)]
pub(crate) struct Lease(Connection);

/// Why a request got no usable answer.
#[derive(Debug)]
pub(crate) enum RequestFailure {
    Refused(Refused),
    TooSlow,
    /// The agent has ended; the reason in words.
    Ended(String),
    /// The answer does not have the shape that the protocol gives it.
    NotUnderstood,
}

impl Connection {
    /// Opens a connection. Returns its first lease, and a future that drives it and has to be spawned. It accepts no
    /// other user until [`Self::share`].
    pub(crate) fn open(
        transport: Transport,
        limits: AgentLimits,
        warm: Duration,
        stopping: &CancellationToken,
    ) -> (Lease, impl Future<Output = ()> + Send + 'static) {
        let (outbox, lines) = outbox();
        let connection = Self(Arc::new(Inner {
            state: Mutex::new(State { users: 1, is_closed: true, ..State::default() }),
            outbox,
            limits,
            stop: stopping.child_token(),
            kill: CancellationToken::new(),
            unread: CancellationToken::new(),
            ended: CancellationToken::new(),
            why_ended: OnceLock::new(),
            changed: Notify::new(),
        }));
        (Lease(connection.clone()), connection.run(transport, lines, warm))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code panics between two changes that belong together, so a poisoned lock is still consistent.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets others use the connection as well; it is then kept warm for them.
    pub(crate) fn share(&self) {
        self.state().is_closed = false;
    }

    /// Adds a user; `None` if the connection accepts none.
    pub(crate) fn lease(&self) -> Option<Lease> {
        let mut state = self.state();
        if state.is_closed || self.0.ended.is_cancelled() {
            return None;
        }
        state.users += 1;
        Some(Lease(self.clone()))
    }

    /// Registers a session and returns its key and the inbox for its messages.
    pub(crate) fn add_session(&self) -> (u64, Inbox) {
        let (slot, inbox) = inbox(&self.0.limits);
        let mut state = self.state();
        if let Some(why) = self.0.why_ended.get() {
            slot.end(why);
            return (0, inbox);
        }
        (state.routes.add(slot), inbox)
    }

    pub(crate) fn remove_session(&self, session: u64) {
        self.state().routes.remove(session);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.0.ended.is_cancelled()
    }

    /// Whether there is at most one user.
    pub(crate) fn is_alone(&self) -> bool {
        self.state().users <= 1
    }

    /// Routes messages that name this conversation to this session. False if another session has the name already.
    pub(crate) fn name_session(&self, session: u64, name: &str) -> bool {
        self.state().routes.name(session, name)
    }

    pub(crate) fn unname_session(&self, name: &str) {
        self.state().routes.unname(name);
    }

    /// Sends a request; the reply comes to the session's inbox with the returned id.
    pub(crate) fn request(&self, session: u64, request: &impl JsonRpcRequest) -> i64 {
        let id = self.state().routes.expect(ReplyTarget::Session(session));
        self.write(wire::request(id, request));
        id
    }

    /// Like [`Self::request`], for a method that the SDK does not know.
    pub(crate) fn request_named(&self, session: u64, method: &str, params: &Value) -> i64 {
        let id = self.state().routes.expect(ReplyTarget::Session(session));
        self.write(wire::request_named(id, method, params));
        id
    }

    /// Sends the request that begins a new conversation; its reply names the conversation.
    pub(crate) fn request_new(&self, session: u64, request: &impl JsonRpcRequest) -> i64 {
        let id = self.state().routes.expect(ReplyTarget::NewSession(session));
        self.write(wire::request(id, request));
        id
    }

    /// Sends a request and waits for the reply, without a session.
    pub(crate) async fn ask<R: JsonRpcRequest>(
        &self,
        request: &R,
        limit: Duration,
    ) -> Result<R::Response, RequestFailure> {
        let (sender, reply) = oneshot::channel();
        let id = self.state().routes.expect(ReplyTarget::Alone(sender));
        self.write(wire::request(id, request));
        let reply = tokio::select! {
            biased;
            reply = timeout(limit, reply) => reply.map_err(|_| RequestFailure::TooSlow)?,
            why = self.ended() => return Err(RequestFailure::Ended(why)),
        };
        match reply {
            Ok(Ok(reply)) => R::Response::from_json(request.method(), reply).map_err(|_| RequestFailure::NotUnderstood),
            Ok(Err(refused)) => Err(RequestFailure::Refused(refused)),
            Err(_) => Err(RequestFailure::Ended(self.ended().await)),
        }
    }

    pub(crate) fn notify(&self, notification: &impl JsonRpcNotification) {
        self.write(wire::notification(notification));
    }

    /// Answers a request of the agent.
    pub(crate) fn answer(&self, id: &Value, result: Result<Value, Error>) {
        self.write(wire::answer(id, result));
    }

    /// Waits until a large answer may be made; `None` if the agent has ended.
    pub(crate) async fn reserve(&self) -> Option<AnswerPermit> {
        self.0.outbox.reserve().await
    }

    /// Sends the answer that the permit was acquired for.
    pub(crate) fn answer_in(&self, permit: AnswerPermit, id: &Value, result: Result<Value, Error>) {
        if let Err(Full) = self.0.outbox.put_in(permit, wire::answer(id, result)) {
            self.0.unread.cancel();
        }
    }

    /// Queues a line. Lines for an agent that has ended are dropped; whoever waits for a reply gets
    /// [`RequestFailure::Ended`].
    fn write(&self, line: String) {
        if let Err(Full) = self.0.outbox.put(line) {
            self.0.unread.cancel();
        }
    }

    /// Waits for the end of the connection, and so of its process, and returns the reason.
    pub(crate) async fn ended(&self) -> String {
        self.0.ended.cancelled().await;
        self.0.why_ended.get().cloned().unwrap_or_default()
    }

    /// Accepts no more users, so that the connection ends with its last one.
    pub(crate) fn retire(&self) {
        self.state().is_closed = true;
    }

    /// Gives up on an agent that hangs: kills it, or, if others use it as well, only stops accepting users.
    pub(crate) fn give_up(&self) {
        if self.is_alone() { self.kill() } else { self.retire() }
    }

    /// Kills the agent.
    pub(crate) fn kill(&self) {
        self.retire();
        self.0.kill.cancel();
    }
}

impl Lease {
    pub(crate) fn connection(&self) -> &Connection {
        &self.0
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.0.state().users -= 1;
        self.0.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests;
