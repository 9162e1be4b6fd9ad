//! Asks programs for their versions.
//!
//! Invariant: a program that answers is asked once for each state of its file; one that does not is asked again
//! later. A few run at a time, in bounded time, with nothing but `PATH`, `HOME` and the agent's own fixed variables,
//! in no project's folder. The result is a short line without control characters, or nothing. A program that does not
//! finish in time is killed with everything that it started.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};
use tokio::sync::{OnceCell, Semaphore, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::program::{Program, Stamp};

const AT_A_TIME: usize = 4;
/// How long a program may run: one that needs two seconds of a processor may need ten of the clock on a busy machine.
const RUN_LIMIT: Duration = Duration::from_secs(20);
/// How long a caller waits, including the wait for a slot. A caller that gives up sees no version; the next one does.
const WAIT_LIMIT: Duration = Duration::from_secs(12);
/// For how long a slow program is not asked again, so that not every caller waits for it.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(60);
const MAX_OUTPUT_BYTES: u64 = 64 << 10;
const MAX_VERSION_BYTES: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Versions {
    asked: Arc<VersionCache>,
    /// The running programs; they are aborted when this is dropped.
    runs: Mutex<JoinSet<()>>,
}

/// What is known of programs.
#[derive(Debug)]
struct VersionCache {
    known: Mutex<HashMap<PathBuf, (Stamp, VersionCell)>>,
    /// Programs that did not answer in time, and when.
    slow: Mutex<HashMap<PathBuf, Instant>>,
    turns: Semaphore,
}

/// Filled by the first caller; the others wait for it. A program that was too slow leaves it empty.
type VersionCell = Arc<OnceCell<Option<String>>>;

/// The program did not answer in time.
struct TooSlow;

/// What to run.
pub(super) struct VersionQuery {
    pub(super) program: Program,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
}

impl Default for VersionCache {
    fn default() -> Self {
        Self { known: Mutex::default(), slow: Mutex::default(), turns: Semaphore::new(AT_A_TIME) }
    }
}

impl Versions {
    /// The program's version. If it takes too long this returns `None`; the program goes on, and the next caller gets
    /// the answer.
    pub(super) async fn ask(&self, query: VersionQuery) -> Option<String> {
        let asked = Arc::clone(&self.asked);
        let (sender, version) = oneshot::channel();
        {
            let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
            while runs.try_join_next().is_some() {}
            // A caller that gave up does not get it.
            runs.spawn(async move { drop(sender.send(asked.ask(&query).await)) });
        }
        timeout(WAIT_LIMIT, version).await.ok()?.ok()?
    }
}

impl VersionCache {
    async fn ask(&self, query: &VersionQuery) -> Option<String> {
        let path = &query.program.path;
        let cell = self.cell(&query.program);
        // One at a time, so that callers who waited for a program that was too slow do not start it again.
        let version = cell.get_or_try_init(async || {
            if self.was_slow(path) {
                return Err(TooSlow);
            }
            let _turn = self.turns.acquire().await.map_err(|_| TooSlow)?;
            let ran = run(query).await;
            if ran.is_err() {
                self.slow.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone(), Instant::now());
            }
            ran
        });
        version.await.ok()?.clone()
    }

    fn was_slow(&self, path: &Path) -> bool {
        let slow = self.slow.lock().unwrap_or_else(PoisonError::into_inner);
        slow.get(path).is_some_and(|at| at.elapsed() < ASK_AGAIN_AFTER)
    }

    fn cell(&self, program: &Program) -> VersionCell {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(&program.path) {
            Some((stamp, cell)) if *stamp == program.stamp => Arc::clone(cell),
            Some(_) | None => {
                let cell = VersionCell::default();
                known.insert(program.path.clone(), (program.stamp, Arc::clone(&cell)));
                cell
            }
        }
    }
}

async fn run(query: &VersionQuery) -> Result<Option<String>, TooSlow> {
    let VersionQuery { program, args, env } = query;
    let mut command = Command::new(&program.path);
    command.args(args).env_clear().envs(env).current_dir("/").process_group(0).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return Ok(None) };
    let Some(stdout) = child.stdout.take() else { return Ok(None) };
    let group = ProgramGroup::of(&child);
    let mut said = Vec::new();
    let exit = async {
        // A program that prints more finds its pipe closed.
        stdout.take(MAX_OUTPUT_BYTES).read_to_end(&mut said).await.ok()?;
        child.wait().await.ok()
    };
    let Some(status) = timeout(RUN_LIMIT, exit).await.map_err(|_| TooSlow)? else { return Ok(None) };
    group.ended();
    Ok(status.success().then(|| version(&said)).flatten())
}

/// A program and what it started. Dropped before the program is reaped, so that the pid is still its own.
struct ProgramGroup(Option<Pid>);

impl ProgramGroup {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| Pid::from_raw(id.cast_signed())))
    }

    fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for ProgramGroup {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            // It may have exited just now.
            kill_process_group(pid, Signal::KILL).ok();
        }
    }
}

/// The first non-empty line, without control characters. A line without a digit is no version but a complaint.
fn version(said: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(said);
    let line = text.lines().map(plain).find(|line| !line.is_empty())?;
    let mut end = line.len().min(MAX_VERSION_BYTES);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let line = line[..end].trim_end();
    line.contains(|c: char| c.is_ascii_digit()).then(|| line.to_owned())
}

/// A line without escape sequences, control characters, and characters that hide or reorder text.
fn plain(line: &str) -> String {
    let mut plain = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_sequence(&mut chars),
            '\u{9b}' => skip_parameters(&mut chars),
            '\t' => plain.push(' '),
            '\u{fffd}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => (),
            c if c.is_control() => (),
            c => plain.push(c),
        }
    }
    plain.trim().to_owned()
}

/// Skips what follows an escape character: colours and cursor movements, or a title up to its end.
fn skip_sequence(chars: &mut std::str::Chars<'_>) {
    match chars.next() {
        Some('[') => skip_parameters(chars),
        Some(']') => skip_past(chars, |c| matches!(c, '\u{7}' | '\u{1b}' | '\u{9c}')),
        Some(' '..='/') => skip_past(chars, |c| matches!(c, '0'..='~')),
        Some(_) | None => (),
    }
}

fn skip_parameters(chars: &mut std::str::Chars<'_>) {
    skip_past(chars, |c| matches!(c, '@'..='~'));
}

fn skip_past(chars: &mut std::str::Chars<'_>, is_end: impl Fn(char) -> bool) {
    while chars.next().is_some_and(|c| !is_end(c)) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(said: &[u8], expected: Option<&str>) {
        assert_eq!(version(said).as_deref(), expected, "{:?}", String::from_utf8_lossy(said));
    }

    #[test]
    fn the_first_line_is_the_version() {
        check(b"1.2.3\nRun x to update\n", Some("1.2.3"));
        check(b"\n  codex-acp 2.6.0 \r\nmore", Some("codex-acp 2.6.0"));
        check("v1 für Ada".as_bytes(), Some("v1 für Ada"));
    }

    #[test]
    fn what_is_no_version_is_none() {
        for said in ["", "\n\n", "unknown option", "\u{1b}[31m\u{1b}[0m\n", "   "] {
            check(said.as_bytes(), None);
        }
        check(&[0xff, 0xfe, 0x00, 0x80], None);
    }

    #[test]
    fn it_carries_nothing_that_a_terminal_obeys() {
        check(b"\x1b[1;32mgemini\x1b[0m 0.61\x07.0", Some("gemini 0.61.0"));
        check(b"\x1b]0;title\x071.0\x1b(B", Some("1.0"));
        check("\u{9b}31m2.0\u{202e}\u{200b}".as_bytes(), Some("2.0"));
        check(b"\x1b[", None);
    }

    #[test]
    fn it_is_short() {
        let long = "1".repeat(1_000);
        check(long.as_bytes(), Some(&long[..MAX_VERSION_BYTES]));
        let wide = format!("1{}", "ä".repeat(500));
        assert_eq!(version(wide.as_bytes()).unwrap().len(), MAX_VERSION_BYTES - 1);
    }
}
