//! Summaries and titles beside the log: what is missing is caught up on, and a model is asked if there is one.
//!
//! Invariant: a turn has its line from its own words at once and a model is asked for a better one at most once; a model
//! that fails, is slow or hostile leaves that line as it is. What is asked never becomes a session or a turn, so nothing
//! here can set itself off. At most five are asked at a time, and so many a day as the person allows.

mod asking;
mod backfill;

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agents::provider::Provider;
use model::{ListKey, SessionId, Titles, Turn};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::{QueryError, Shared};

/// How often it is looked whether another day has begun.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// How many are asked at a time.
const AT_ONCE: usize = 5;
/// How many turns wait to be asked about; more keep the line they have.
const MAX_WAITING: usize = 100_000;

/// A model that writes summaries and titles.
pub struct Summarising {
    /// Who is asked.
    pub provider: Provider,
    /// How often a day.
    pub daily_calls: u32,
    /// For titles too.
    pub titles: bool,
}

/// How far summing up has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummariesProgress {
    /// A model is configured.
    pub has_model: bool,
    /// Turns that wait for it.
    pub waiting: usize,
    /// How many it has written since the start.
    pub written: u64,
    /// How many it failed to write since the start; these keep the line from their own words.
    pub failed: u64,
    /// Turns of earlier times that have got their line since the start.
    pub caught_up: u64,
    /// How many may still be asked about today.
    pub left_today: Option<u32>,
}

#[derive(Default)]
pub(crate) struct Summaries {
    model: Option<Summarising>,
    waiting: Mutex<Waiting>,
    wake: Notify,
    /// A turn ended without its line.
    behind: Notify,
    written: AtomicU64,
    failed: AtomicU64,
    caught_up: AtomicU64,
}

/// A turn whose summary a model is asked for.
#[derive(Debug, Clone, Copy)]
struct SummaryJob {
    session: SessionId,
    turn: Turn,
    /// And for a title after it.
    title: bool,
}

#[derive(Default)]
struct Waiting {
    turns: VecDeque<(SessionId, Turn)>,
    /// Those that wait, and those that are asked about now.
    known: HashSet<(SessionId, Turn)>,
    /// The day that calls are counted for, in days since 1970, and how many there were.
    day: i64,
    calls: u32,
}

impl Summaries {
    pub(crate) fn new(model: Option<Summarising>) -> Self {
        Self { model, ..Self::default() }
    }

    pub(crate) fn titles(&self) -> Titles {
        match &self.model {
            Some(model) if model.titles => Titles::ByModel,
            Some(_) | None => Titles::ByTerms,
        }
    }

    /// Asks for a better line of a turn, in its turn; whether there is anybody to ask and room to wait.
    pub(crate) fn queue(&self, session: SessionId, turn: Turn) -> bool {
        if self.model.is_none() {
            return false;
        }
        let mut waiting = self.waiting();
        if waiting.turns.len() >= MAX_WAITING || !waiting.known.insert((session, turn)) {
            return false;
        }
        waiting.turns.push_back((session, turn));
        self.wake.notify_one();
        true
    }

    /// Nothing more is asked about a turn.
    fn settle(&self, session: SessionId, turn: Turn) {
        self.waiting().known.remove(&(session, turn));
    }

    /// A session has turns without their lines.
    pub(crate) fn catch_up(&self) {
        self.behind.notify_one();
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next turn to ask about; none while today's calls are used up.
    fn next(&self, today: i64) -> Option<SummaryJob> {
        let model = self.model.as_ref()?;
        let mut waiting = self.waiting_on(today);
        if waiting.calls >= model.daily_calls {
            return None;
        }
        let (session, turn) = waiting.turns.pop_front()?;
        let title = model.titles && waiting.calls + 1 < model.daily_calls;
        waiting.calls += 1 + u32::from(title);
        Some(SummaryJob { session, turn, title })
    }

    /// With the calls of this day.
    fn waiting_on(&self, today: i64) -> MutexGuard<'_, Waiting> {
        let mut waiting = self.waiting();
        if waiting.day != today {
            (waiting.day, waiting.calls) = (today, 0);
        }
        waiting
    }

    pub(crate) fn progress(&self, today: i64) -> SummariesProgress {
        let waiting = self.waiting_on(today);
        SummariesProgress {
            has_model: self.model.is_some(),
            waiting: waiting.turns.len(),
            written: self.written.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            caught_up: self.caught_up.load(Ordering::Relaxed),
            left_today: self.model.as_ref().map(|model| model.daily_calls.saturating_sub(waiting.calls)),
        }
    }
}

/// Catches up on what is missing, then asks the model as turns end.
pub(crate) async fn run(shared: Arc<Shared>) {
    let stopping = shared.stopping.clone();
    let work = async {
        let mut asked = JoinSet::new();
        let mut catching_up = JoinSet::new();
        shared.summaries.behind.notify_one();
        loop {
            fail::fail_point!("summaries");
            tokio::select! {
                () = shared.summaries.behind.notified(), if catching_up.is_empty() => {
                    let shared = Arc::clone(&shared);
                    catching_up.spawn(async move { backfill::run(&shared).await });
                }
                Some(_) = catching_up.join_next() => (),
                () = shared.summaries.wake.notified() => (),
                // Another day brings other calls.
                () = sleep(LOOK_EVERY), if shared.summaries.model.is_some() => (),
                Some(_) = asked.join_next() => (),
            }
            while asked.len() < AT_ONCE
                && let Some(job) = shared.summaries.next(today(&shared))
            {
                let shared = Arc::clone(&shared);
                asked.spawn(async move {
                    asking::sum_up(&shared, job).await;
                    shared.summaries.settle(job.session, job.turn);
                });
            }
        }
    };
    tokio::select! {
        () = stopping.cancelled() => (),
        () = work => (),
    }
}

/// In days since 1970.
pub(crate) fn today(shared: &Shared) -> i64 {
    const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
    shared.clock.now().as_millis().div_euclid(DAY_MS)
}

/// How many sessions are looked through at a time.
const SESSIONS_AT_ONCE: usize = 200;

/// Puts turns in line for the model that were summed up without it; how many.
pub(crate) async fn upgrade(shared: &Shared, session: Option<SessionId>) -> Result<usize, QueryError> {
    shared.summaries.wake.notify_one();
    if let Some(id) = session {
        return backfill::upgrade(shared, id).await;
    }
    let (mut after, mut queued) = (None, 0);
    loop {
        let page = shared.store.sessions(model::Shelf::All, after, SESSIONS_AT_ONCE).await?;
        let Some(last) = page.last() else { return Ok(queued) };
        after = Some(ListKey::of(last));
        for row in &page {
            queued += backfill::upgrade(shared, row.id).await?;
        }
    }
}
