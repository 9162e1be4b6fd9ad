//! Confines processes to a core, for benchmarks that give the server one core and the clients another.
//!
//! Invariant: a child inherits the setting of its parent's thread, so the server is confined from its first
//! instruction, with all its threads.

use anyhow::{Context as _, Result};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Runs `act` with this thread, and what `act` starts, confined to one core.
pub(crate) fn on_core<T>(core: usize, act: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = sched_getaffinity(None).context("could not see which cores may be used")?;
    let mut only = CpuSet::new();
    only.set(core);
    sched_setaffinity(None, &only).with_context(|| format!("could not go to core {core}"))?;
    let done = act();
    sched_setaffinity(None, &before).context("could not go back to all cores")?;
    done
}

/// Raises the limit of open files as far as the system allows, for this process and its children.
pub(crate) fn allow_many_files() -> Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
        .context("could not raise the number of open files")
}
