//! What is asked of the agent, in order, also of one that is busy with something else.
//!
//! Invariant: nothing waits without a bound: what can not be done now is put off, and what is too much of that is left.

use std::collections::VecDeque;

use tokio::sync::mpsc;

use crate::AgentRequest;

/// Nobody means more than a few at a time that can not be done yet.
const MAX_PUT_OFF: usize = 8;

#[derive(Debug)]
pub(super) struct Calls {
    queue: mpsc::Receiver<AgentRequest>,
    put_off: VecDeque<AgentRequest>,
}

impl Calls {
    pub(super) fn new(queue: mpsc::Receiver<AgentRequest>) -> Self {
        Self { queue, put_off: VecDeque::new() }
    }

    /// The next one; `None` if nobody is left who could ask. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Option<AgentRequest> {
        match self.put_off.pop_front() {
            Some(call) => Some(call),
            None => self.queue.recv().await,
        }
    }

    /// The next one that was not put off.
    pub(super) async fn next_new(&mut self) -> Option<AgentRequest> {
        self.queue.recv().await
    }

    pub(super) fn put_off(&mut self, call: AgentRequest) {
        // A prompt is never let go of: its turn would not end.
        if self.put_off.len() < MAX_PUT_OFF || matches!(call, AgentRequest::Prompt { .. }) {
            self.put_off.push_back(call);
        }
    }

    /// Takes no more; what was still asked.
    pub(super) fn close(&mut self) -> Vec<AgentRequest> {
        self.queue.close();
        std::iter::from_fn(|| self.queue.try_recv().ok()).collect()
    }
}
