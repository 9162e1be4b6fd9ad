//! R03 on the real program: the Nth flush of a thread fails with EIO. Nothing that it should have flushed is
//! acknowledged, the server exits with a failure, and the next one has everything that was acknowledged.
//!
//! Only flushes of the store's own files fail: SQLite flushes the folder too, but ignores an error there, since many
//! systems can not do it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use super::story::Story;
use super::{SceneContext, Verdict, lacks};
use crate::kills::server::{self, Server};

const AT_THE_START: std::ops::RangeInclusive<u32> = 1..=4;
/// The first two belong to the session that is begun.
const UNDER_LOAD: std::ops::RangeInclusive<u32> = 3..=14;
const ENDS_WITHIN: Duration = Duration::from_secs(15);

pub(super) fn play(context: &SceneContext) -> anyhow::Result<Verdict> {
    if let Some(left_out) = lacks(&["strace"]) {
        return Ok(left_out);
    }
    for nth in AT_THE_START {
        let data = context.folder.join(format!("new-{nth}"));
        fail_at_the_start(context, &data, nth).with_context(|| format!("flush number {nth} of a new store"))?;
        println!("flush {nth:>2} of a new store failed, and so did the start; the next one did not");
    }
    for nth in UNDER_LOAD {
        let data = context.folder.join(format!("data-{nth}"));
        // An existing store, so that the failures come while it is in use.
        Server::start(&context.binary, &data, &context.log())?.kill()?;
        let acknowledged = fail(context, &data, nth).with_context(|| format!("flush number {nth} of the writer"))?;
        println!("flush {nth:>2} of the writer failed, {acknowledged} prompts were acknowledged before");
    }
    let (at_the_start, under_load) = (AT_THE_START.count(), UNDER_LOAD.count());
    Ok(Verdict::Held(format!("{under_load} flushes failed under load and {at_the_start} at the first start")))
}

fn fail_at_the_start(context: &SceneContext, data: &Path, nth: u32) -> anyhow::Result<()> {
    let started = Server::launch(with_failing_flush(context, data, nth), data, &context.log());
    ensure!(started.is_err(), "R03: it started all the same");
    Server::start(&context.binary, data, &context.log())?.kill()
}

/// Returns how many prompts were acknowledged before it.
fn fail(context: &SceneContext, data: &Path, nth: u32) -> anyhow::Result<usize> {
    let server = Server::launch(with_failing_flush(context, data, nth), data, &context.log())?;
    let story = Story::run(&server)?;
    let status = server.ended(ENDS_WITHIN)?;
    ensure!(status.code() == Some(1), "R03: the server ended with {status}");
    if let Some(answer) = story.refusal() {
        ensure!(answer.status == 503, "R03: a prompt that was not stored was answered with {}", answer.status);
    }
    let server = Server::start(&context.binary, data, &context.log())?;
    let acknowledged = story.acknowledged().len();
    story.check(&server)?;
    server.kill()?;
    Ok(acknowledged)
}

fn with_failing_flush(context: &SceneContext, data: &Path, nth: u32) -> Command {
    let plain = server::command(&context.binary, data);
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
