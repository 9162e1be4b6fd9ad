//! The queue of messages for one session, bounded by number and by bytes.
//!
//! Invariant: messages come out in the order in which they were put in; then, if the agent has ended, the reason.

use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::wire::Refused;
use crate::AgentLimits;

/// A message for a session.
#[derive(Debug)]
pub(crate) enum Message {
    Update(Value),
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Reply {
        id: i64,
        result: Result<Value, Refused>,
    },
    /// The agent has cancelled this request of its own.
    Withdrawn {
        id: Value,
    },
    /// A notification of an unknown method.
    Other {
        method: String,
        params: Value,
    },
}

/// The end where messages are put in.
#[derive(Debug, Clone)]
pub(super) struct InboxSender {
    queue: mpsc::Sender<(Message, OwnedSemaphorePermit)>,
    room: Arc<Semaphore>,
    max_bytes: usize,
    why_ended: Arc<OnceLock<String>>,
}

/// The end where the session takes them out.
#[derive(Debug)]
pub(crate) struct Inbox {
    queue: mpsc::Receiver<(Message, OwnedSemaphorePermit)>,
    why_ended: Arc<OnceLock<String>>,
}

pub(super) fn inbox(limits: &AgentLimits) -> (InboxSender, Inbox) {
    let (sender, queue) = mpsc::channel(limits.queue_messages);
    let why_ended = Arc::new(OnceLock::new());
    let max_bytes = limits.queue_bytes.min(Semaphore::MAX_PERMITS).min(u32::MAX as usize);
    let room = Arc::new(Semaphore::new(max_bytes));
    (InboxSender { queue: sender, room, max_bytes, why_ended: why_ended.clone() }, Inbox { queue, why_ended })
}

impl InboxSender {
    /// Puts a message in, waiting for room. Does nothing if the session is gone.
    pub(super) async fn put(&self, message: Message, bytes: usize) {
        let bytes = u32::try_from(bytes.min(self.max_bytes)).unwrap_or(u32::MAX);
        if let Ok(room) = self.room.clone().acquire_many_owned(bytes).await {
            drop(self.queue.send((message, room)).await);
        }
    }

    /// Closes the inbox with this reason.
    pub(super) fn end(self, reason: &str) {
        // The first reason is the true one.
        drop(self.why_ended.set(reason.to_owned()));
    }
}

impl Inbox {
    /// The next message, or the reason why there will be none.
    pub(crate) async fn take(&mut self) -> Result<Message, String> {
        match self.queue.recv().await {
            Some((message, _room)) => Ok(message),
            None => Err(self.why_ended.get().cloned().unwrap_or_else(|| "the agent's connection ended".to_owned())),
        }
    }
}
