//! Which core a process may use, for measurements that give the server one core and the clients another.
//!
//! Invariant: a child gets what its parent's thread had when it was started, so the server is confined from its first
//! instruction, all its threads with it.

use anyhow::{Context as _, Result};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Runs `act` with this thread confined to one core, and what `act` starts as well.
pub(crate) fn on_core<T>(core: usize, act: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = sched_getaffinity(None).context("could not see which cores may be used")?;
    let mut only = CpuSet::new();
    only.set(core);
    sched_setaffinity(None, &only).with_context(|| format!("could not go to core {core}"))?;
    let done = act();
    sched_setaffinity(None, &before).context("could not go back to all cores")?;
    done
}

/// As many open files as the system lets this process have, and its children with it.
pub(crate) fn allow_many_files() -> Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
        .context("could not raise the number of open files")
}
