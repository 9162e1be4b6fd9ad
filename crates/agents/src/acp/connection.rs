//! One agent process and the conversations in it: reads its lines, sorts them, writes ours.
//!
//! Invariant: messages are taken one at a time, in the order of the wire, and the next line is read when there is room
//! for this one. So an agent that talks faster than its session listens is slowed down, nothing overtakes anything, and
//! no queue is without a bound. A session waits for no agent to read what it is sent, so that its clock goes on and it can be
//! stopped: an agent that leaves more unread than the queue holds has failed. A session of a shared process that does not listen at all is left behind, and it alone.

mod drive;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use agent_client_protocol::{Error, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse as _};
use serde_json::Value;
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::inbox::{Inbox, inbox};
use super::outbox::{Full, Outbox, Room, outbox};
use super::routes::{Pending, Routes};
use super::transport::Transport;
use super::wire::{self, Refused};
use crate::AgentLimits;

/// A connection; its clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Connection(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    outbox: Outbox,
    limits: AgentLimits,
    /// Ends it in peace.
    stop: CancellationToken,
    /// Ends it by force.
    kill: CancellationToken,
    /// The agent does not read: there is no room for another line.
    unread: CancellationToken,
    ended: CancellationToken,
    why_ended: OnceLock<String>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    routes: Routes,
    users: usize,
    /// It takes no more users, and ends with the last.
    is_closed: bool,
}

/// A use of a connection, which lives as long as there is one, and then as long as it is kept warm.
#[derive(Debug)]
pub(crate) struct Lease(Connection);

/// Why a request has no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    Refused(Refused),
    TooSlow,
    /// The agent is gone, and why.
    Ended(String),
    /// What it answered is not what the protocol says.
    NotUnderstood,
}

impl Connection {
    /// A connection and what runs it, which has to be spawned. It has one user and, until it is shared, no other.
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
        // Nothing panics while it holds the lock half-way.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Others may use it too, and it is kept warm for them.
    pub(crate) fn share(&self) {
        self.state().is_closed = false;
    }

    /// One more user, unless it takes none.
    pub(crate) fn lease(&self) -> Option<Lease> {
        let mut state = self.state();
        if state.is_closed || self.0.ended.is_cancelled() {
            return None;
        }
        state.users += 1;
        Some(Lease(self.clone()))
    }

    /// A place where a session gets its messages.
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

    /// Whether there is no other user.
    pub(crate) fn is_alone(&self) -> bool {
        self.state().users <= 1
    }

    /// Messages that name this conversation are for this session. Says no if they are another's.
    pub(crate) fn name_session(&self, session: u64, name: &str) -> bool {
        self.state().routes.name(session, name)
    }

    pub(crate) fn unname_session(&self, name: &str) {
        self.state().routes.unname(name);
    }

    /// Sends a request whose reply comes to the session's inbox with this id.
    pub(crate) fn request(&self, session: u64, request: &impl JsonRpcRequest) -> i64 {
        let id = self.state().routes.expect(Pending::Session(session));
        self.write(wire::request(id, request));
        id
    }

    /// The same for a request that the protocol's library does not know.
    pub(crate) fn request_named(&self, session: u64, method: &str, params: &Value) -> i64 {
        let id = self.state().routes.expect(Pending::Session(session));
        self.write(wire::request_named(id, method, params));
        id
    }

    /// Sends the request for a new conversation.
    pub(crate) fn request_new(&self, session: u64, request: &impl JsonRpcRequest) -> i64 {
        let id = self.state().routes.expect(Pending::NewSession(session));
        self.write(wire::request(id, request));
        id
    }

    /// Sends a request and waits for its reply, for whoever has no session.
    pub(crate) async fn ask<R: JsonRpcRequest>(&self, request: &R, limit: Duration) -> Result<R::Response, NoAnswer> {
        let (sender, reply) = oneshot::channel();
        let id = self.state().routes.expect(Pending::Alone(sender));
        self.write(wire::request(id, request));
        let reply = tokio::select! {
            biased;
            reply = timeout(limit, reply) => reply.map_err(|_| NoAnswer::TooSlow)?,
            why = self.ended() => return Err(NoAnswer::Ended(why)),
        };
        match reply {
            Ok(Ok(reply)) => R::Response::from_json(request.method(), reply).map_err(|_| NoAnswer::NotUnderstood),
            Ok(Err(refused)) => Err(NoAnswer::Refused(refused)),
            Err(_) => Err(NoAnswer::Ended(self.ended().await)),
        }
    }

    pub(crate) fn notify(&self, notification: &impl JsonRpcNotification) {
        self.write(wire::notification(notification));
    }

    /// Answers a request of the agent.
    pub(crate) fn answer(&self, id: &Value, result: Result<Value, Error>) {
        self.write(wire::answer(id, result));
    }

    /// Waits until a large answer can be made; `None` if the agent is gone.
    pub(crate) async fn room(&self) -> Option<Room> {
        self.0.outbox.room().await
    }

    /// The answer that room was kept for.
    pub(crate) fn answer_in(&self, room: Room, id: &Value, result: Result<Value, Error>) {
        if let Err(Full) = self.0.outbox.put_in(room, wire::answer(id, result)) {
            self.0.unread.cancel();
        }
    }

    /// What is written to an agent that is gone is lost with it; whoever waits for more hears of its end.
    fn write(&self, line: String) {
        if let Err(Full) = self.0.outbox.put(line) {
            self.0.unread.cancel();
        }
    }

    /// Waits for its end, and says why it came.
    async fn ended(&self) -> String {
        self.0.ended.cancelled().await;
        self.0.why_ended.get().cloned().unwrap_or_default()
    }

    /// Takes no more users, so that it ends with the last that it has.
    pub(crate) fn retire(&self) {
        self.state().is_closed = true;
    }

    /// It hangs: it is ended by force, unless others are content with it; then it takes nobody new.
    pub(crate) fn give_up(&self) {
        if self.is_alone() { self.kill() } else { self.retire() }
    }

    /// Ends the agent by force.
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
