//! R03 on the real program: the Nth flush of a thread fails with EIO. Nothing that it was to flush is acknowledged, the
//! server ends with a failure, and the next one has all that was acknowledged.
//!
//! Only flushes of the store's own files fail: SQLite asks for the folder's to be flushed too, but takes no notice of an
//! error there, since many systems can not do it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use super::story::Story;
use super::{Stage, Verdict, lacks};
use crate::kills::server::{self, Server};

const AT_THE_START: std::ops::RangeInclusive<u32> = 1..=4;
/// The first two are of the session that is begun.
const UNDER_LOAD: std::ops::RangeInclusive<u32> = 3..=14;
const ENDS_WITHIN: Duration = Duration::from_secs(15);

pub(super) fn play(stage: &Stage) -> anyhow::Result<Verdict> {
    if let Some(left_out) = lacks(&["strace"]) {
        return Ok(left_out);
    }
    for nth in AT_THE_START {
        let data = stage.folder.join(format!("new-{nth}"));
        fail_at_the_start(stage, &data, nth).with_context(|| format!("flush number {nth} of a new store"))?;
        println!("flush {nth:>2} of a new store failed, and so did the start; the next one did not");
    }
    for nth in UNDER_LOAD {
        let data = stage.folder.join(format!("data-{nth}"));
        // A store that is there already, so that the failures come when it is in use.
        Server::start(&stage.binary, &data, &stage.log())?.kill()?;
        let acknowledged = fail(stage, &data, nth).with_context(|| format!("flush number {nth} of the writer"))?;
        println!("flush {nth:>2} of the writer failed, {acknowledged} prompts were acknowledged before");
    }
    let (at_the_start, under_load) = (AT_THE_START.count(), UNDER_LOAD.count());
    Ok(Verdict::Held(format!("{under_load} flushes failed under load and {at_the_start} at the first start")))
}

fn fail_at_the_start(stage: &Stage, data: &Path, nth: u32) -> anyhow::Result<()> {
    let started = Server::launch(with_failing_flush(stage, data, nth), data, &stage.log());
    ensure!(started.is_err(), "R03: it started all the same");
    Server::start(&stage.binary, data, &stage.log())?.kill()
}

/// Gives how many prompts were acknowledged before it.
fn fail(stage: &Stage, data: &Path, nth: u32) -> anyhow::Result<usize> {
    let server = Server::launch(with_failing_flush(stage, data, nth), data, &stage.log())?;
    let story = Story::run(&server)?;
    let status = server.ended(ENDS_WITHIN)?;
    ensure!(status.code() == Some(1), "R03: the server ended with {status}");
    if let Some(answer) = story.refusal() {
        ensure!(answer.status == 503, "R03: a prompt that was not stored was answered with {}", answer.status);
    }
    let server = Server::start(&stage.binary, data, &stage.log())?;
    let acknowledged = story.acknowledged().len();
    story.check(&server)?;
    server.kill()?;
    Ok(acknowledged)
}

fn with_failing_flush(stage: &Stage, data: &Path, nth: u32) -> Command {
    let plain = server::command(&stage.binary, data);
    let mut traced = Command::new("strace");
    // As a grandchild (-D), so that the server itself is the child which is killed and waited for.
    traced.args(["-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync"]);
    for suffix in ["", "-wal", "-journal"] {
        traced.arg("-P").arg(data.join(format!("throughline.db{suffix}")));
    }
    traced.args(["-e", &format!("inject=fdatasync,fsync:error=EIO:when={nth}")]);
    traced.arg(plain.get_program()).args(plain.get_args());
    traced
}
