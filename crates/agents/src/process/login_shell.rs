//! Finds the `PATH` that the person has in a terminal.
//!
//! A server that was started from a desktop or by the system does not have it, and agents are mostly installed in
//! folders that only the shell's own files add.
//!
//! Invariant: the server's own `PATH` comes first, since an environment that the person has activated is only there;
//! the shell's folders are appended. Only `PATH` is taken. A shell that fails, hangs or prompts costs ten seconds at
//! most, and is then hung up, not killed, also when the server ends: one that is killed in the middle of its files leaves
//! their locks behind, for which every later shell waits.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::launcher::{Launched, Launcher};
use super::wire::{Ending, ProcessLimits, Spec};

const LIMIT: Duration = Duration::from_secs(10);
/// Output of the shell's files before the marker is skipped; more than this is not read.
const LONGEST_ANSWER_BYTES: u64 = 1024 * 1024;
/// Separates the environment from greetings.
const MARKER: &str = "--throughline-environment--";
const FALLBACK: &str = "/usr/local/bin:/usr/bin:/bin";

/// Asks the login shell once, in the environment that agents get (see [`super::environment()`]), and returns the
/// server's own `PATH` followed by the folders that only the shell has. Takes seconds with some shells, so the caller
/// should keep the result, and not drop the future: `stopping` ends it early.
pub async fn login_shell_path(
    launcher: &Launcher,
    environment: &BTreeMap<String, String>,
    stopping: &CancellationToken,
) -> String {
    let from_shell = ask(launcher, environment, stopping).await;
    if from_shell.is_none() {
        tracing::info!("the login shell did not tell its PATH; agents are looked for on the server's own");
    }
    let own = environment.get("PATH").map(String::as_str);
    merge(&[own, from_shell.as_deref()])
}

/// The server's own `PATH`, for whoever does not wait for the shell.
pub fn own_path(environment: &BTreeMap<String, String>) -> String {
    merge(&[environment.get("PATH").map(String::as_str)])
}

async fn ask(
    launcher: &Launcher,
    environment: &BTreeMap<String, String>,
    stopping: &CancellationToken,
) -> Option<String> {
    let shell = environment.get("SHELL").filter(|shell| Path::new(shell).is_absolute())?;
    let home = environment.get("HOME").filter(|home| Path::new(home).is_dir());
    let mut env = environment.clone();
    env.insert("TERM".to_owned(), "dumb".to_owned());
    let spec = Spec {
        command: shell.clone(),
        // Both kinds of startup files are read: some people set PATH in one, some in the other. The command means the
        // same to every shell that knows the options.
        args: vec!["-l".to_owned(), "-i".to_owned(), "-c".to_owned(), format!("printf %s {MARKER}; env -0")],
        env,
        cwd: home.map_or("/", String::as_str).into(),
        limits: ProcessLimits::default(),
        ending: Ending::HangUp,
    };
    let Launched { process, stdin, stdout } = launcher.spawn(spec).await.ok()?;
    drop(stdin);
    let mut answer = Vec::new();
    let mut bounded = stdout.take(LONGEST_ANSWER_BYTES);
    let read = timeout(LIMIT, bounded.read_to_end(&mut answer));
    let read = stopping.run_until_cancelled(read).await;
    // It may still be in its files: with an answer that is too long, or when it has closed its output.
    process.stop().await;
    read?.ok()?.ok()?;
    path_in(&answer)
}

fn path_in(answer: &[u8]) -> Option<String> {
    let answer = String::from_utf8_lossy(answer);
    let (_, environment) = answer.rsplit_once(MARKER)?;
    environment.split('\0').find_map(|variable| variable.strip_prefix("PATH=")).map(str::to_owned)
}

/// The folders of all paths, each once, in order. Relative ones are dropped: they would depend on the agent's
/// directory.
fn merge(paths: &[Option<&str>]) -> String {
    let mut folders: Vec<&str> = Vec::new();
    for folder in paths.iter().flatten().flat_map(|path| path.split(':')) {
        if folder.starts_with('/') && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    if folders.is_empty() { FALLBACK.to_owned() } else { folders.join(":") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_folders_come_first_and_each_once() {
        assert_eq!(merge(&[Some("/activated:/b"), Some("/b:/c:/activated")]), "/activated:/b:/c");
        assert_eq!(merge(&[None, Some("/c")]), "/c");
        assert_eq!(merge(&[Some(".::bin:/a:"), None]), "/a");
        assert_eq!(merge(&[None, None]), FALLBACK);
    }

    #[test]
    fn greetings_are_skipped() {
        let answer = format!("Welcome! PATH=/wrong\n{MARKER}A=1\nPATH=/inside\0PATH=/right:/too\0B=2\0");
        assert_eq!(path_in(answer.as_bytes()).as_deref(), Some("/right:/too"));
        assert_eq!(path_in(b"PATH=/without/marker\0"), None);
        assert_eq!(path_in(format!("{MARKER}A=1\0").as_bytes()), None);
    }
}
