//! Runs git, the one place that does.
//!
//! Invariant: whatever a repository holds, git runs nothing of it and asks nobody. Only commands that read names and
//! objects are run, with fixed arguments and without a shell: none of them compares the work tree, so no filter, driver
//! or hook that a repository's settings name is ever started. The environment is empty but for what shuts the rest off,
//! the program is found in folders that only the system's owner writes to, and it ends, with all that it started, when
//! its time is up, enough was read or it needs too much memory.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
#[cfg(target_os = "linux")]
use rustix::process::{Resource, Rlimit, prlimit};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::{GitError, Repository};

const RUN_LIMIT: Duration = Duration::from_secs(10);
/// How much memory git may have for its data; files that it maps do not count. Names and texts that are read are far smaller,
/// but a text may be kept as its difference from a huge one.
const MAX_MEMORY_BYTES: u64 = 1 << 30;
const FOLDERS: [&str; 5] = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin", "/bin"];

/// Shut off although the commands that are run need none of it.
const SETTINGS: [&str; 10] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.sshCommand=false",
    "credential.helper=",
    "protocol.allow=never",
    // Texts are read once, so few of those that others are kept as differences from have to stay; and no thread needs a stack.
    "core.deltaBaseCacheLimit=32m",
    "index.threads=1",
];

/// All that git finds in its environment, beside a `PATH` of the same folders.
const ENVIRONMENT: [(&str, &str); 8] = [
    ("LC_ALL", "C"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // What is not here is not fetched.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ATTR_NOSYSTEM", "1"),
];

/// What a command printed.
pub(super) struct Printed {
    pub(super) bytes: Vec<u8>,
    /// There was more; git was ended.
    pub(super) cut: bool,
}

/// Runs a command that reads, with what it is to read on its input.
pub(super) async fn run(
    repository: &Repository,
    args: &[&str],
    input: Vec<u8>,
    max_bytes: u64,
) -> Result<Printed, GitError> {
    run_within(repository, args, input, max_bytes, MAX_MEMORY_BYTES).await
}

/// The same with another limit of memory.
pub(super) async fn run_within(
    repository: &Repository,
    args: &[&str],
    input: Vec<u8>,
    max_bytes: u64,
    max_memory_bytes: u64,
) -> Result<Printed, GitError> {
    let program = find().ok_or(GitError::NotInstalled)?;
    let mut command = Command::new(program);
    command.args(["--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"]);
    command.arg("--git-dir").arg(&repository.git_dir).arg("--work-tree").arg(&repository.work_tree);
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command.args(args).env_clear().env("PATH", FOLDERS.join(":")).envs(ENVIRONMENT).current_dir(&repository.work_tree);
    command.process_group(0).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|_| GitError::Failed)?;
    let group = Group::of(&child);
    group.limit_memory(max_memory_bytes);
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(GitError::Failed);
    };
    let mut bytes = Vec::new();
    let running = async {
        let feed = async {
            // It may have ended without reading all of it.
            stdin.write_all(&input).await.ok();
            drop(stdin);
        };
        let mut limited = stdout.take(max_bytes.saturating_add(1));
        let read = limited.read_to_end(&mut bytes);
        let (_, read) = tokio::join!(feed, read);
        read.map_err(|_| GitError::Failed)?;
        if bytes.len() as u64 > max_bytes {
            return Ok(None);
        }
        child.wait().await.map(Some).map_err(|_| GitError::Failed)
    };
    match timeout(RUN_LIMIT, running).await {
        Err(_) => Err(GitError::TooSlow),
        Ok(Err(err)) => Err(err),
        Ok(Ok(None)) => {
            bytes.truncate(usize::try_from(max_bytes).unwrap_or(usize::MAX));
            Ok(Printed { bytes, cut: true })
        }
        Ok(Ok(Some(status))) => {
            group.ended();
            if status.success() { Ok(Printed { bytes, cut: false }) } else { Err(GitError::Failed) }
        }
    }
}

fn find() -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| Path::new(folder).join("git")).find(|path| path.is_file())
}

/// The program and what it started. Dropped before the program is reaped, so that the pid is still its own.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| Pid::from_raw(id.cast_signed())))
    }

    /// Set from here, just after the start: no code may run between fork and exec without being unsafe. A request for more is
    /// refused by the system, and git then ends with an error. Elsewhere than on Linux there is no such call.
    #[cfg(target_os = "linux")]
    fn limit_memory(&self, bytes: u64) {
        let Some(pid) = self.0 else { return };
        // It may have exited just now.
        prlimit(Some(pid), Resource::Data, Rlimit { current: Some(bytes), maximum: Some(bytes) }).ok();
    }

    #[cfg(not(target_os = "linux"))]
    fn limit_memory(&self, _bytes: u64) {}

    fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            // It may have exited just now.
            kill_process_group(pid, Signal::KILL).ok();
        }
    }
}
