//! R17 with a real small disk, and the behaviour on one that is read-only.
//!
//! The disk is a tmpfs in a mount namespace of its own, so that nothing of it is left and nobody else sees it. This
//! program starts itself once more inside; the last line that prints is the result of the scene.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use super::story::{begin, begin_in, entries, prompt, read};
use super::{SceneContext, Verdict, lacks, mounts};
use crate::kills::http::Http;
use crate::kills::server::{self, Server};

/// More than is left when the disk is nearly full.
const SHOWN_BYTES: usize = 4 << 20;
/// The server's reserve is 64 MiB; this leaves room for it, the store and the ballast.
const DISK: &str = "size=100m,mode=700";
/// Room for a few prompts; if they are many they can not all wait.
const LITTLE_BYTES: usize = 600_000;
const STOPS_WITHIN: Duration = Duration::from_secs(10);
const TURN_ENDS_WITHIN: Duration = Duration::from_secs(60);
const FULL: u16 = 507;
/// About ten seconds of the guide's text.
const WORDS: usize = 1_200;

pub(super) fn in_a_namespace(context: &SceneContext, scene: &str) -> anyhow::Result<Verdict> {
    if let Some(left_out) = lacks(&["unshare", "mount"]) {
        return Ok(left_out);
    }
    let as_root = ["--mount", "--propagation", "private"];
    let as_anybody = ["--map-root-user", "--mount", "--propagation", "private"];
    let works = |way: &[&str]| {
        let probe = Command::new("unshare").args(way).args(["mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
        probe.is_ok_and(|probe| probe.status.success())
    };
    let Some(way) = [as_root.as_slice(), &as_anybody].into_iter().find(|way| works(way)) else {
        let why = "no disk can be mounted here; run it as root, or where user namespaces are allowed";
        return Ok(Verdict::LeftOut(why.to_owned()));
    };
    let myself = std::env::current_exe().context("where is this program?")?;
    let mut inside = Command::new("unshare");
    inside.args(way).arg(myself).arg("faults").arg(scene).arg("--binary").arg(&context.binary);
    inside.arg("--inside").arg(&context.folder);
    let output = inside.stderr(Stdio::inherit()).output().context("could not start unshare")?;
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    ensure!(output.status.success(), "{}", said.lines().last().unwrap_or("it said nothing"));
    Ok(Verdict::Held(said.lines().last().unwrap_or_default().to_owned()))
}

pub(super) fn inside(context: &SceneContext, scene: &str) -> anyhow::Result<()> {
    let disk = context.folder.join("disk");
    fs::create_dir_all(&disk)?;
    mount(&["-t", "tmpfs", "-o", DISK, "tmpfs"], &disk)?;
    let played = match scene {
        "full" => full(context, &disk),
        "mounts" => mounts::play(context, &disk),
        "read-only" => read_only(context, &disk),
        other => bail!("{other} is not played on a disk"),
    };
    match played {
        Ok(said) => println!("{said}"),
        // The table shows the last line.
        Err(err) => {
            println!("{}", format!("{err:#}").trim().replace('\n', " "));
            bail!("see {}", context.log().display());
        }
    }
    Ok(())
}

pub(super) fn mount(arguments: &[&str], disk: &Path) -> anyhow::Result<()> {
    let status = Command::new("mount").args(arguments).arg(disk).status().context("could not start mount")?;
    ensure!(status.success(), "mount {} ended with {status}", arguments.join(" "));
    Ok(())
}

/// The disk of a scene and its files.
struct Disk {
    data: PathBuf,
    ballast: PathBuf,
}

impl Disk {
    /// Adds ballast until so many bytes are free.
    fn leave(&self, free_bytes: usize) -> anyhow::Result<()> {
        let kept = self.ballast.with_extension("kept");
        File::create(&kept)?.write_all(&vec![1; free_bytes])?;
        let mut file = File::options().create(true).append(true).open(&self.ballast)?;
        while let Ok(()) = file.write_all(&[1; 4096]) {}
        Ok(fs::remove_file(kept)?)
    }

    fn remove_ballast(&self) -> io::Result<()> {
        fs::remove_file(&self.ballast)
    }
}

fn full(context: &SceneContext, root: &Path) -> anyhow::Result<String> {
    let disk = Disk { data: root.join("data"), ballast: root.join("ballast") };
    let start = || Server::start(&context.binary, &disk.data, &context.log());

    let server = start()?;
    let mut http = Http::new(server.endpoint());
    let work = context.folder.join("work");
    fs::create_dir_all(&work)?;
    let (streams, filled, shows) = (begin(&mut http)?, begin(&mut http)?, begin_in(&mut http, &work)?);
    take(&mut http, &filled, "slow 3600")?;
    take(&mut http, &streams, &format!("long {WORDS}"))?;
    disk.leave(LITTLE_BYTES)?;
    not_shown(&mut http, &shows, &work, &disk)?;
    let taken = fill(&mut http, &filled, "first")?;
    println!("the disk is full after {taken} prompts");
    reads_go_on(&mut http, &filled, taken + 1)?;
    disk.remove_ballast()?;
    take(&mut http, &filled, "say there is room again")?;
    let words = until_ended(&mut http, &streams)?;
    let all: String = (1..=WORDS).map(|n| format!("word{n} ")).collect();
    ensure!(words == all, "R17: the turn that streamed has {} bytes of {}", words.len(), all.len());
    println!("there was room again: prompts were taken without a restart, and the turn lost no word");
    shown(&mut http, &shows, &work, &disk)?;

    // Full once more, with a turn running: its end is written with the reserve.
    let runs = begin(&mut http)?;
    take(&mut http, &runs, "slow 3600")?;
    disk.leave(LITTLE_BYTES)?;
    fill(&mut http, &runs, "second")?;
    stop(server)?;
    let end = last_outcome(&context.binary, &disk, &runs)?;
    ensure!(
        end == "server_shutdown",
        "R17: the turn ended by {end}, so its end was not written while the disk was full"
    );
    println!("stopped while full: how the turn ended was written down");

    // Less than the reserve from the start.
    drop(fs::remove_file(disk.data.join("throughline.db.reserve")));
    disk.leave(8 << 20)?;
    let server = start().context("it does not start with less than the reserve free")?;
    let mut http = Http::new(server.endpoint());
    let refused = http.send(&prompt(&runs, "say too early"))?;
    ensure!(refused.status == FULL, "R17: without its reserve the server answered {}", refused.status);
    reads_go_on(&mut http, &filled, taken + 1)?;
    disk.remove_ballast()?;
    take(&mut http, &runs, "say too early")?;
    stop(server)?;
    Ok("a full disk refused writes and nothing else, gave way to last words, and passed without a restart".to_owned())
}

/// Asks for a file that does not fit: the disk fills up in the middle of it, and nothing of it stays.
fn not_shown(http: &mut Http, session: &str, work: &Path, disk: &Disk) -> anyhow::Result<()> {
    fs::write(work.join("long.txt"), "a line of text\n".repeat(SHOWN_BYTES / 15))?;
    take(http, session, "show long.txt")?;
    until_ended(http, session)?;
    let entries = entries(http, session)?;
    let said = entries.iter().any(|entry| entry.to_string().contains("no space is left on the disk"));
    ensure!(said, "R17: nobody said that what was to be shown does not fit");
    let has_entry = entries.iter().any(|entry| entry["type"] == "output.stored");
    ensure!(!has_entry && outputs_of(disk, session)?.is_empty(), "R17: half of what was shown is left");
    println!("what did not fit was not shown, and nothing of it was left");
    Ok(())
}

/// The same once there is room.
fn shown(http: &mut Http, session: &str, work: &Path, disk: &Disk) -> anyhow::Result<()> {
    // The other spelling makes it another prompt.
    take(http, session, "show ./long.txt")?;
    let text = fs::read(work.join("long.txt"))?;
    let asked_at = Instant::now();
    while !entries(http, session)?.iter().any(|entry| entry["type"] == "output.stored") {
        ensure!(asked_at.elapsed() < TURN_ENDS_WITHIN, "R17: what fits now is not shown");
        std::thread::sleep(Duration::from_millis(200));
    }
    ensure!(outputs_of(disk, session)? == [text], "R17: what was shown is not what is kept");
    Ok(())
}

/// The bytes of a session's outputs, as they lie on the disk.
fn outputs_of(disk: &Disk, session: &str) -> anyhow::Result<Vec<Vec<u8>>> {
    let folder = disk.data.join("sessions").join(session).join("outputs");
    let Ok(files) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    files.map(|file| Ok(fs::read(file?.path())?)).collect()
}

/// Sends prompts, shorter and shorter, until not even the shortest is accepted; returns how many were.
fn fill(http: &mut Http, session: &str, tag: &str) -> anyhow::Result<usize> {
    let mut taken = 0;
    for bytes in [100_000, 10_000, 1] {
        loop {
            let answer = http.send(&prompt(session, &format!("{tag} {taken} {bytes} {}", "x".repeat(bytes))))?;
            match answer.status {
                202 => taken += 1,
                // A full queue says nothing about the disk.
                409 => bail!("the queue is full before the disk is"),
                FULL => break,
                other => bail!("R17: a full disk was answered with {other} {}", answer.body),
            }
        }
    }
    Ok(taken)
}

fn take(http: &mut Http, session: &str, text: &str) -> anyhow::Result<()> {
    let answer = http.send(&prompt(session, text))?;
    ensure!(answer.status == 202, "R17: {text:?} was answered with {} {}", answer.status, answer.body);
    Ok(())
}

fn reads_go_on(http: &mut Http, session: &str, prompts: usize) -> anyhow::Result<()> {
    read(http, "/api/v1/sessions")?;
    let kept = entries(http, session)?;
    let named = |entry: &&Value| entry["type"] == "prompt.queued" || entry["type"] == "prompt.sent";
    let kept = kept.iter().filter(named).count();
    ensure!(kept >= prompts, "R17: {kept} of {prompts} prompts can be read");
    Ok(())
}

/// Waits for the end of the session's turn and returns its text.
fn until_ended(http: &mut Http, session: &str) -> anyhow::Result<String> {
    let asked_at = Instant::now();
    loop {
        let entries = entries(http, session)?;
        if entries.iter().any(|entry| entry["data"]["outcome"] == "completed") {
            let words = entries.iter().filter(|entry| entry["type"] == "text.part");
            return Ok(words.filter_map(|entry| entry["data"]["text"].as_str()).collect());
        }
        ensure!(asked_at.elapsed() < TURN_ENDS_WITHIN, "R17: the turn that streamed does not end");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Sends SIGTERM; the exit has to be clean and in time.
pub(super) fn stop(server: Server) -> anyhow::Result<()> {
    let status = Command::new("kill").args(["-TERM", &server.pid().to_string()]).status()?;
    ensure!(status.success(), "could not ask the server to stop");
    let status = server.ended(STOPS_WITHIN).context("R28")?;
    ensure!(status.code() == Some(0), "R28: the server ended with {status}");
    Ok(())
}

/// Why the last turn of a session ended, as it was stored before this start.
fn last_outcome(binary: &Path, disk: &Disk, session: &str) -> anyhow::Result<String> {
    disk.remove_ballast()?;
    let output = Command::new(binary).args(["show", session, "--json", "--data-dir"]).arg(&disk.data).output()?;
    let said = String::from_utf8(output.stdout)?;
    let ends = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut ends = ends.filter(|entry| entry["type"] == "turn.ended");
    let end = ends.next_back().context("the turn has no end")?;
    Ok(end["data"]["reason"].as_str().unwrap_or_default().to_owned())
}

fn read_only(context: &SceneContext, root: &Path) -> anyhow::Result<String> {
    let data = root.join("data");
    stop(Server::start(&context.binary, &data, &context.log())?)?;
    let before = contents(&data)?;
    mount(&["-o", "remount,ro"], root)?;
    for mut command in [server::command(&context.binary, &data), list(&context.binary, &data)] {
        let output = command.output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.code() == Some(1), "it ended with {}: {said}", output.status);
        ensure!(said.contains("can not be written here"), "it said {said}");
    }
    mount(&["-o", "remount,rw"], root)?;
    ensure!(contents(&data)? == before, "something was changed on a disk that could only be read");
    stop(Server::start(&context.binary, &data, &context.log())?)?;
    Ok("the start was refused with the reason, and nothing was touched".to_owned())
}

fn list(binary: &Path, data: &Path) -> Command {
    let mut command = Command::new(binary);
    command.args(["list", "--data-dir"]).arg(data);
    command
}

/// Every file below the folder.
fn contents(folder: &Path) -> anyhow::Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => found.extend(contents(&path)?),
            false => found.push((path.clone(), fs::read(&path)?)),
        }
    }
    found.sort();
    Ok(found)
}
