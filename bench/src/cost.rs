//! What a process used: its CPU time and the bytes that the kernel wrote for it, read from `/proc`.
//!
//! CPU time is summed over threads from `schedstat`, which counts nanoseconds; `stat` counts hundredths of a second,
//! too coarse for a request. `write_bytes` counts whole pages when they are first dirtied; the file system's own
//! journal is not in it.

use std::collections::HashMap;
use std::fs;
use std::process;
use std::time::Duration;

use anyhow::{Context as _, Result};

/// What was used between two moments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    pub(crate) cpu: Duration,
    pub(crate) written_bytes: u64,
}

impl Cost {
    pub(crate) fn cpu_us_per(&self, things: usize) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / things as f64
    }

    pub(crate) fn kb_per(&self, things: usize) -> f64 {
        self.written_bytes as f64 / 1e3 / things as f64
    }
}

/// Measures from when it was started.
pub(crate) struct Meter {
    pid: u32,
    threads: HashMap<u32, u64>,
    written_bytes: u64,
}

impl Meter {
    /// Of another process, whose threads must all live until the meter is read.
    pub(crate) fn of(pid: u32) -> Result<Self> {
        Ok(Self { pid, threads: thread_nanos(pid)?, written_bytes: written_bytes(pid)? })
    }

    /// Of another process, including everything that it used before.
    pub(crate) fn from_birth(pid: u32) -> Self {
        Self { pid, threads: HashMap::new(), written_bytes: 0 }
    }

    /// Of this process.
    pub(crate) fn own() -> Result<Self> {
        Self::of(process::id())
    }

    pub(crate) fn read(&self) -> Result<Cost> {
        let now = thread_nanos(self.pid)?;
        let nanos = now.iter().map(|(tid, nanos)| nanos.saturating_sub(*self.threads.get(tid).unwrap_or(&0))).sum();
        let written_bytes = written_bytes(self.pid)? - self.written_bytes;
        Ok(Cost { cpu: Duration::from_nanos(nanos), written_bytes })
    }
}

/// The CPU time of the calling thread; other threads are not in it.
pub(crate) fn thread_cpu() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(spent.tv_sec).unwrap_or(0), u32::try_from(spent.tv_nsec).unwrap_or(0))
}

/// All CPU time of the children that have exited and been waited for; in steps of a hundredth of a second.
pub(crate) fn children_cpu() -> Result<Duration> {
    ticks_of_stat(13)
}

/// All CPU time of this process so far, including threads that have ended; in steps of a hundredth of a second.
pub(crate) fn own_cpu() -> Result<Duration> {
    ticks_of_stat(11)
}

/// Two numbers of `stat`: user time and kernel time.
fn ticks_of_stat(from: usize) -> Result<Duration> {
    let text = read("/proc/self/stat")?;
    // The program's name is in brackets, and may hold anything.
    let after_name = text.rsplit_once(')').context("stat has no name")?.1;
    let ticks: u64 =
        after_name.split_whitespace().skip(from).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks * 10))
}

/// The child processes of a process, and theirs.
pub(crate) fn descendants(pid: u32) -> Result<Vec<u32>> {
    let mut parents = HashMap::new();
    for entry in fs::read_dir("/proc").context("could not read /proc")? {
        let Some(child) = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        // A process may exit between the listing and the read.
        if let Ok(text) = fs::read_to_string(format!("/proc/{child}/status")) {
            parents.insert(child, field(&text, "PPid:").context("status has no PPid")?);
        }
    }
    let is_below = |child: &u32| {
        let mut up = parents.get(child);
        while let Some(parent) = up {
            if *parent == u64::from(pid) {
                return true;
            }
            up = u32::try_from(*parent).ok().and_then(|parent| parents.get(&parent));
        }
        false
    };
    Ok(parents.keys().copied().filter(is_below).collect())
}

/// Memory that no file backs, in megabytes.
pub(crate) fn anonymous_mb(pid: u32) -> Result<f64> {
    let text = read(&format!("/proc/{pid}/status"))?;
    let kilobytes = field(&text, "RssAnon:").context("status has no RssAnon")?;
    Ok(kilobytes as f64 * 1024.0 / 1e6)
}

/// The peak memory of a process.
pub(crate) fn peak_mb(pid: u32) -> Result<f64> {
    let text = read(&format!("/proc/{pid}/status"))?;
    let kilobytes = field(&text, "VmHWM:").context("status has no VmHWM")?;
    Ok(kilobytes as f64 * 1024.0 / 1e6)
}

fn thread_nanos(pid: u32) -> Result<HashMap<u32, u64>> {
    let folder = format!("/proc/{pid}/task");
    let mut threads = HashMap::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("could not read {folder}"))? {
        let name = entry?.file_name();
        let tid = name.to_str().and_then(|name| name.parse().ok()).context("a thread whose name is no number")?;
        // A thread may exit between the listing and the read.
        if let Ok(text) = fs::read_to_string(format!("{folder}/{tid}/schedstat")) {
            threads.insert(tid, parse_schedstat(&text).context("schedstat is not what it was")?);
        }
    }
    Ok(threads)
}

fn written_bytes(pid: u32) -> Result<u64> {
    field(&read(&format!("/proc/{pid}/io"))?, "write_bytes:").context("io has no write_bytes")
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("could not read {path}"))
}

/// Nanoseconds on a CPU; the other two numbers are waiting and slices.
fn parse_schedstat(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

/// The number after `name` at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_files_are_read() {
        assert_eq!(parse_schedstat("258724 69474 1\n"), Some(258_724));
        assert_eq!(parse_schedstat(""), None);
        let io = "rchar: 1\nwrite_bytes: 4096\ncancelled_write_bytes: 7\n";
        assert_eq!(field(io, "write_bytes:"), Some(4096));
        assert_eq!(field("RssAnon:\t    1536 kB\n", "RssAnon:"), Some(1536));
        assert_eq!(field(io, "read_bytes:"), None);
    }

    #[test]
    fn a_process_is_below_the_one_that_started_it() {
        let mut child = process::Command::new("cat").stdin(process::Stdio::piped()).spawn().unwrap();
        assert!(descendants(process::id()).unwrap().contains(&child.id()));
        assert!(!descendants(child.id()).unwrap().contains(&process::id()));
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn what_this_process_does_is_counted() {
        let meter = Meter::own().unwrap();
        let spun: u64 = (0..3_000_000_u64).map(std::hint::black_box).sum();
        assert_ne!(spun, 0);
        assert!(meter.read().unwrap().cpu > Duration::ZERO);
        assert!(anonymous_mb(process::id()).unwrap() > 0.0);
    }
}
