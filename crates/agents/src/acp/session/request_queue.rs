//! The queue of the engine's requests to the agent, some of which have to wait while the agent is busy.
//!
//! Invariant: the queue is bounded. A request that cannot be handled now is deferred; beyond the limit, deferred
//! requests are dropped.

use std::collections::VecDeque;

use tokio::sync::mpsc;

use crate::AgentRequest;

/// More than a few deferred requests are never meant.
const MAX_DEFERRED: usize = 8;

#[derive(Debug)]
pub(super) struct RequestQueue {
    queue: mpsc::Receiver<AgentRequest>,
    deferred: VecDeque<AgentRequest>,
}

impl RequestQueue {
    pub(super) fn new(queue: mpsc::Receiver<AgentRequest>) -> Self {
        Self { queue, deferred: VecDeque::new() }
    }

    /// The next request, deferred ones first; `None` if nobody can send any more. Cancel-safe.
    pub(super) async fn next(&mut self) -> Option<AgentRequest> {
        match self.deferred.pop_front() {
            Some(request) => Some(request),
            None => self.queue.recv().await,
        }
    }

    /// The next request, without the deferred ones.
    pub(super) async fn next_new(&mut self) -> Option<AgentRequest> {
        self.queue.recv().await
    }

    pub(super) fn defer(&mut self, request: AgentRequest) {
        // A prompt is never dropped: its turn would not end.
        if self.deferred.len() < MAX_DEFERRED || matches!(request, AgentRequest::Prompt { .. }) {
            self.deferred.push_back(request);
        }
    }

    /// Closes the queue and returns what was still in it.
    pub(super) fn close(&mut self) -> Vec<AgentRequest> {
        self.queue.close();
        std::iter::from_fn(|| self.queue.try_recv().ok()).collect()
    }
}
