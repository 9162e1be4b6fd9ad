//! The machine that the figures come from; without it they mean nothing. No machine names, no paths.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) cores: usize,
    pub(crate) cpu: String,
    pub(crate) memory_gb: f64,
    pub(crate) kernel: String,
    pub(crate) filesystem: String,
    pub(crate) rustc: String,
    /// The load of the last minute before the run: above a few tenths, something else was running.
    pub(crate) load_before: f64,
}

impl Machine {
    /// The machine, and the file system of `folder`.
    pub(crate) fn detect(folder: &Path) -> Result<Self> {
        let folder = folder.canonicalize().context("the folder of the run is gone")?;
        let memory = read("/proc/meminfo")?;
        let kilobytes = first_number(after(&memory, "MemTotal:").context("meminfo has no MemTotal")?);
        Ok(Self {
            cores: std::thread::available_parallelism()?.get(),
            cpu: after(&read("/proc/cpuinfo")?, "model name\t:").unwrap_or("unknown").trim().to_owned(),
            memory_gb: (kilobytes * 1024.0 / 1e8).round() / 10.0,
            kernel: read("/proc/sys/kernel/osrelease")?.trim().to_owned(),
            filesystem: filesystem(&read("/proc/self/mountinfo")?, &folder).unwrap_or("unknown").to_owned(),
            rustc: printed("rustc", &["--version"])?,
            load_before: first_number(&read("/proc/loadavg")?),
        })
    }
}

/// The measured commit, marked if the tree has uncommitted changes.
pub(crate) fn commit() -> Result<String> {
    let commit = printed("git", &["rev-parse", "--short", "HEAD"])?;
    let changed = printed("git", &["status", "--porcelain", "--", "crates", "bench/src", "Cargo.lock"])?;
    Ok(if changed.is_empty() { commit } else { format!("{commit}-changed") })
}

fn printed(program: &str, args: &[&str]) -> Result<String> {
    let output = Command::new(program).args(args).output().with_context(|| format!("could not start {program}"))?;
    ensure!(output.status.success(), "{program} {} ended with {}", args.join(" "), output.status);
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("could not read {path}"))
}

fn after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name))
}

fn first_number(text: &str) -> f64 {
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN)
}

/// The type of the mount that holds `path`: the longest mount point that is its prefix, the last of equals.
fn filesystem<'a>(mountinfo: &'a str, path: &Path) -> Option<&'a str> {
    let mounts = mountinfo.lines().filter_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        Some((Path::new(before.split(' ').nth(4)?), after.split(' ').next()?))
    });
    mounts
        .filter(|(point, _)| path.starts_with(point))
        .max_by_key(|(point, _)| point.components().count())
        .map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mount_tells_the_file_system() {
        let mounts = "1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:5 / /tmp rw shared:1 - tmpfs tmpfs rw\n";
        assert_eq!(filesystem(mounts, Path::new("/src/target")), Some("ext4"));
        assert_eq!(filesystem(mounts, Path::new("/tmp/x")), Some("tmpfs"));
        assert_eq!(filesystem(mounts, Path::new("/tmpx")), Some("ext4"));
        assert_eq!(filesystem("", Path::new("/")), None);
    }

    #[test]
    fn facts_are_found_by_their_names() {
        assert_eq!(after("a: 1\nMemTotal:  24684100 kB\n", "MemTotal:").map(first_number), Some(24_684_100.0));
        assert_eq!(first_number("0.06 0.40 1.14 3/89 745"), 0.06);
    }
}
