//! Finds processes that a test run has left behind.
//!
//! Invariant: a process counts if its environment names the run's own folder, or if it works in there, so that
//! neither a new parent nor a new session hides it.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

/// Set for the server, and inherited by what it starts.
pub(super) const MARK: &str = "THROUGHLINE_LAB";
const POLL: Duration = Duration::from_millis(100);

pub(super) fn wait_until_gone(folder: &Path, limit: Duration) -> anyhow::Result<()> {
    let began = Instant::now();
    loop {
        let left = processes_of(folder)?;
        if left.is_empty() {
            return Ok(());
        }
        if began.elapsed() > limit {
            bail!("after {limit:?} there are still: {}", left.join("; "));
        }
        thread::sleep(POLL);
    }
}

/// `pid command line` of each process.
pub(super) fn processes_of(folder: &Path) -> anyhow::Result<Vec<String>> {
    let wanted = folder.display().to_string();
    let own = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").context("could not read /proc")? {
        let entry = entry.context("could not read /proc")?;
        let pid = entry.file_name().to_string_lossy().into_owned();
        if pid == own || !pid.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        // A process that has exited meanwhile has no files any more, and one of another user shows none.
        let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
        let command_line = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
        let environment = String::from_utf8_lossy(&read("environ")).into_owned();
        let cwd = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        if environment.contains(&wanted) || cwd.starts_with(folder) {
            found.push(format!("{pid} {}", command_line.trim()));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_is_found_by_its_environment_until_it_ends() {
        let folder = Path::new("/nowhere/leftovers-test");
        let mut child = Command::new("sleep").arg("60").env(MARK, folder).spawn().unwrap();
        // For a moment a new process has no data of its own.
        let seen = || {
            (0..100).find_map(|_| {
                thread::sleep(POLL / 10);
                processes_of(folder).ok().filter(|found| found.iter().any(|line| line.ends_with("sleep 60")))
            })
        };
        let found = seen().unwrap_or_default();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found, [format!("{} sleep 60", child.id())]);
        assert_eq!(processes_of(folder).unwrap(), Vec::<String>::new());
    }
}
