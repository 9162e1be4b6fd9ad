//! The tasks that run for as long as the engine does (copies, search, housekeeping …), each restarted when it panics.
//!
//! Invariant: no task ends by a panic without a word. It starts again from what is durable, later each time that it panics
//! again, and the server says that it is degraded until the task has held for a while.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::{Shared, applets, copies, fan_out, finding, housekeeping, summaries};

/// How long after its first panic a task starts again; each further one doubles it, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A task that has held for so long is well again.
const WELL_AFTER: Duration = Duration::from_secs(60);

/// Which tasks have panicked lately.
#[derive(Default)]
pub(crate) struct KeptTasks(Mutex<BTreeMap<&'static str, Panics>>);

struct Panics {
    in_a_row: u32,
    last: Instant,
}

impl KeptTasks {
    /// Notes a panic and says how long to wait before the task starts again.
    fn panicked(&self, part: &'static str) -> Duration {
        let now = Instant::now();
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let panics = parts.entry(part).or_insert(Panics { in_a_row: 0, last: now });
        let has_held = now.duration_since(panics.last) >= WELL_AFTER + LONGEST_PAUSE;
        panics.in_a_row = if has_held { 1 } else { panics.in_a_row.saturating_add(1) };
        panics.last = now;
        FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(panics.in_a_row - 1)).min(LONGEST_PAUSE)
    }

    /// Those that panicked and have not held for long enough since.
    pub(crate) fn failing(&self) -> Vec<&'static str> {
        let parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_failing = |panics: &Panics| panics.last.elapsed() < WELL_AFTER + LONGEST_PAUSE;
        parts.iter().filter(|(_, panics)| is_failing(panics)).map(|(part, _)| *part).collect()
    }
}

/// Starts all of them. No `async fn`: a future is compiled again in each crate that awaits it, with every task that it starts.
pub(crate) fn begin_all(shared: &Arc<Shared>) {
    let (stopping, settled) = (&shared.stopping, &shared.settled);
    let Shared { tasks, reader_tasks, .. } = &**shared;
    tasks.spawn(keep(Arc::clone(shared), "applets", stopping.clone(), applets::watch));
    tasks.spawn(keep(Arc::clone(shared), "housekeeping", stopping.clone(), housekeeping::run));
    reader_tasks.spawn(keep(Arc::clone(shared), "copies", settled.clone(), copies::run));
    tasks.spawn(keep(Arc::clone(shared), "summaries", stopping.clone(), summaries::run));
    reader_tasks.spawn(keep(Arc::clone(shared), "search", settled.clone(), finding::run));
    reader_tasks.spawn(keep(Arc::clone(shared), "works", settled.clone(), fan_out::publish_works));
}

/// Runs a task until it ends by itself, and again whenever it panics before `ends`.
async fn keep<F: Future<Output = ()> + Send>(
    shared: Arc<Shared>,
    part: &'static str,
    ends: CancellationToken,
    run: impl Fn(Arc<Shared>) -> F,
) {
    // Whatever a panic left half done in memory goes with it: a task begins with what is durable, and what it shares is
    // behind locks whose state is whole between two statements.
    while AssertUnwindSafe(run(Arc::clone(&shared))).catch_unwind().await.is_err() {
        if ends.is_cancelled() {
            return;
        }
        let pause = shared.kept_tasks.panicked(part);
        tracing::error!(part, ?pause, "a part of the server panicked and starts again after a pause");
        tokio::select! {
            () = ends.cancelled() => (),
            () = sleep(pause) => (),
        }
    }
}
