//! R24 on the real program: a store of the first version is opened, and the process is killed at each system call on
//! the way, one after the other. Whatever is left, the next start has everything.
//!
//! A call is killed on entry, so every state is tested that a death between two calls can leave.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use super::{SceneContext, Verdict, fresh_folder, lacks};
use crate::run::{cargo, run as execute};

const STORE: &str = "throughline.db";
const SIGKILL: i32 = 9;
/// Far more often than any call is made.
const MOST_CALLS: u32 = 2_000;

pub(super) fn play(context: &SceneContext) -> anyhow::Result<Verdict> {
    if let Some(left_out) = lacks(&["strace"]) {
        return Ok(left_out);
    }
    let old = context.folder.join("old");
    make_old_store(context, &old)?;
    let data = context.folder.join("data");
    copy_old_store(&old, &data)?;
    let calls = calls_of(context, &data)?;
    let expected = visible_state(context, &data)?;
    let mut kills = 0;
    for call in &calls {
        let before = kills;
        for nth in 1..=MOST_CALLS {
            copy_old_store(&old, &data)?;
            if !open_killed(context, &data, call, nth)? {
                break;
            }
            kills += 1;
            let found = visible_state(context, &data).with_context(|| format!("killed at {call} number {nth}"))?;
            ensure!(found == expected, "R24: killed at {call} number {nth}, the store became {found} not {expected}");
        }
        println!("{call:<16} killed {:>3} times", kills - before);
    }
    ensure!(kills > 100, "only {kills} kills: the store was not opened");
    Ok(Verdict::Held(format!("{kills} kills at {} kinds of system calls", calls.len())))
}

fn make_old_store(context: &SceneContext, folder: &Path) -> anyhow::Result<()> {
    execute(&mut cargo(&["build", "--package", "store", "--example", "old_store"]))?;
    let program = context.metadata.target_directory.join("debug/examples/old_store");
    fresh_folder(folder)?;
    // It exits as if it had been killed, so its status says nothing; the files that it leaves do.
    Command::new(program).arg(folder.join(STORE)).stderr(Stdio::null()).status().context("could not make a store")?;
    ensure!(fs::metadata(folder.join(format!("{STORE}-wal"))).is_ok_and(|wal| wal.len() > 0), "no old store was made");
    Ok(())
}

/// Makes a data folder with nothing but a copy of the old store.
fn copy_old_store(old: &Path, data: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fresh_folder(data)?;
    fs::set_permissions(data, fs::Permissions::from_mode(0o700))?;
    for suffix in ["", "-wal", "-shm"] {
        let name = format!("{STORE}{suffix}");
        fs::copy(old.join(&name), data.join(&name)).with_context(|| format!("could not copy {name}"))?;
    }
    Ok(())
}

/// The names of the system calls that opening makes.
fn calls_of(context: &SceneContext, data: &Path) -> anyhow::Result<Vec<String>> {
    let counts = context.folder.join("calls");
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-c", "-o"]).arg(&counts).arg(&context.binary).args(["list", "--data-dir"]).arg(data);
    let status = traced.stdout(Stdio::null()).status().context("could not start strace")?;
    ensure!(status.success(), "strace can not trace here: it ended with {status}");
    let counts = fs::read_to_string(&counts).context("strace counted nothing")?;
    let names = counts.lines().filter_map(|line| line.split_whitespace().last());
    let no_call = ["syscall", "total", "execve"];
    Ok(names.filter(|name| !no_call.contains(name) && !name.starts_with('-')).map(str::to_owned).collect())
}

/// Opens the store, and dies on entering the call for the nth time; `false` if it is called less often.
fn open_killed(context: &SceneContext, data: &Path, call: &str, nth: u32) -> anyhow::Result<bool> {
    let mut traced = Command::new("strace");
    traced.args(["-D", "-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")]);
    traced.args(["-e", &format!("inject={call}:signal=SIGKILL:when={nth}")]);
    traced.arg(&context.binary).args(["list", "--data-dir"]).arg(data);
    let status = traced.stdout(Stdio::null()).stderr(Stdio::null()).status().context("could not start strace")?;
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(false),
        (_, Some(SIGKILL)) => Ok(true),
        _ => bail!("opening ended with {status} before {call} number {nth}"),
    }
}

/// Everything that the program shows of the store: its sessions, and their entries without the times of the restart.
fn visible_state(context: &SceneContext, data: &Path) -> anyhow::Result<Value> {
    let list: Value = serde_json::from_str(&output_of(context, data, &["list", "--json"])?)?;
    let mut story = Vec::new();
    for session in list["sessions"].as_array().context("a list without sessions")? {
        let id = session["id"].as_str().context("a session without an id")?;
        let mut entries = Vec::new();
        for line in output_of(context, data, &["show", id, "--json"])?.lines() {
            let mut entry: Value = serde_json::from_str(line)?;
            // Made in the background: whether it is there yet is a matter of time.
            if matches!(entry["type"].as_str(), Some("summary.set" | "title.set")) {
                continue;
            }
            if entry["data"]["reason"] == "server_restart" {
                entry["at"] = Value::Null;
            }
            entries.push(entry);
        }
        story.push(serde_json::json!([id, session["title"], session["state"], session["turns"], entries]));
    }
    ensure!(!story.is_empty(), "the store is empty");
    Ok(Value::Array(story))
}

fn output_of(context: &SceneContext, data: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(&context.binary).args(arguments).arg("--data-dir").arg(data).output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`throughline {}` ended with {}: {stderr}", arguments.join(" "), output.status);
    Ok(String::from_utf8(output.stdout)?)
}
