//! Limits how many sessions have an agent at once.
//!
//! Invariant: never more than the limit. Where all places are taken, the agent that has rested longest gives its place
//! up; one that is at work is never ended for another.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::SubmitError;

/// How long a session may take to let go of an agent that rests.
const LEAVE_LIMIT: Duration = Duration::from_secs(5);

pub(crate) struct AgentPlaces {
    limit: usize,
    free: Arc<Semaphore>,
    resting: Arc<Mutex<Resting>>,
}

/// Agents that have nothing to do, in the order in which they came to rest.
#[derive(Default)]
struct Resting {
    by_order: BTreeMap<u64, CancellationToken>,
    next: u64,
}

/// An agent's place; it is free again when this is dropped.
pub(crate) struct AgentPlace {
    resting: Arc<Mutex<Resting>>,
    /// While the agent rests: its number among those that do, and what asks it to leave.
    rests: Option<(u64, CancellationToken)>,
    _permit: OwnedSemaphorePermit,
}

impl AgentPlaces {
    pub(crate) fn new(limit: usize) -> Self {
        let limit = limit.clamp(1, Semaphore::MAX_PERMITS);
        Self { limit, free: Arc::new(Semaphore::new(limit)), resting: Arc::default() }
    }

    /// A place for one more agent; if need be, that of the one that has rested longest.
    pub(crate) async fn enter(&self) -> Result<AgentPlace, SubmitError> {
        let permit = match Arc::clone(&self.free).try_acquire_owned() {
            Ok(permit) => Some(permit),
            Err(_) if self.ask_one_to_leave() => {
                timeout(LEAVE_LIMIT, Arc::clone(&self.free).acquire_owned()).await.ok().and_then(Result::ok)
            }
            Err(_) => None,
        };
        match permit {
            Some(permit) => Ok(AgentPlace { resting: Arc::clone(&self.resting), rests: None, _permit: permit }),
            None => Err(SubmitError::TooManyAgents { limit: self.limit }),
        }
    }

    /// Whether there was one to ask. Each is asked once, so that two who need a place get two.
    fn ask_one_to_leave(&self) -> bool {
        match lock(&self.resting).by_order.pop_first() {
            Some((_, leave)) => {
                leave.cancel();
                true
            }
            None => false,
        }
    }
}

impl AgentPlace {
    /// The agent has something to do, and keeps its place.
    pub(crate) fn works(&mut self) {
        if let Some((number, _)) = self.rests.take() {
            lock(&self.resting).by_order.remove(&number);
        }
    }

    /// The agent has nothing to do, and gives its place up when it is asked to.
    pub(crate) fn rests(&mut self) {
        if self.rests.is_none() {
            let leave = CancellationToken::new();
            let mut resting = lock(&self.resting);
            let number = resting.next;
            resting.next += 1;
            resting.by_order.insert(number, leave.clone());
            self.rests = Some((number, leave));
        }
    }

    /// Returns when the agent is asked to leave; never, while it works.
    pub(crate) async fn asked_to_leave(&self) {
        match &self.rests {
            Some((_, leave)) => leave.cancelled().await,
            None => std::future::pending().await,
        }
    }
}

impl Drop for AgentPlace {
    fn drop(&mut self) {
        self.works();
    }
}

fn lock(resting: &Mutex<Resting>) -> MutexGuard<'_, Resting> {
    resting.lock().unwrap_or_else(PoisonError::into_inner)
}
