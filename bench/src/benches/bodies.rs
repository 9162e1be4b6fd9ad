//! A log with a thousand tool results of 100 kB: how large the database is, and how fast it is opened and read, with the results beside
//! it and with all of them in it, as it was before.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use fastrand::Rng;
use model::{
    AgentReport, Author, BODY_BYTES, Command, Draft, Incarnation, InteractionId, NewSession, Seq, StreamId, Timestamp,
    ToolChange, ToolContent, ToolKind, ToolStatus, WhenBusy,
};
use store::prelude::*;
use store::{Batch, PayloadFolder, Payloads as _, SqliteStore};
use tokio::runtime::Runtime;

use crate::line::Line;
use crate::run::Run;
use crate::stores;
use crate::words::{self, session_id};

const NAME: &str = "bodies";
const RESULTS: usize = 1_000;
const RESULT_BYTES: usize = 100_000;
const PAGE: usize = 1_000;
const BEFORE: &str = "all of it in the log";

pub(super) fn measure(run: &Run) -> Result<Vec<Line>> {
    let runtime = Runtime::new()?;
    let (mut sizes, mut opened, mut read) = (Sides::default(), Sides::default(), Sides::default());
    run.repeat("a log of long results", || {
        for (cut_over, side) in [(usize::MAX, 1), (BODY_BYTES, 0)] {
            let folder = run.fresh_folder("bodies")?;
            let database = make(&runtime, &folder, run.times(RESULTS), cut_over)?;
            sizes.0[side].push(fs::metadata(&database)?.len() as f64 / 1e6);
            let started = Instant::now();
            let store = SqliteStore::open(&database, Incarnation::from_bits(2))?;
            runtime.block_on(store.session(session_id(0)))?.context("the session is there")?;
            opened.0[side].push(millis(started.elapsed()));
            let started = Instant::now();
            let entries = runtime.block_on(read_all(&store))?;
            ensure!(entries > run.times(RESULTS), "only {entries} entries were read");
            read.0[side].push(millis(started.elapsed()));
        }
        Ok(())
    })?;
    let line = |what: &str, unit: &str, Sides([ours, before]): &Sides| {
        Line::beside(NAME, &format!("1,000 results of 100 kB: {what}"), unit, ours, BEFORE, before)
    };
    Ok(vec![
        line("the database", "MB", &sizes),
        line("opening it and the session", "ms", &opened),
        line("reading every entry", "ms", &read),
    ])
}

/// Readings with the results beside the log, and in it.
#[derive(Default)]
struct Sides([Vec<f64>; 2]);

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A store with one session that has so many results; those longer than `cut_over` are beside the log.
fn make(runtime: &Runtime, folder: &Path, results: usize, cut_over: usize) -> Result<PathBuf> {
    let database = stores::database(folder);
    let store = SqliteStore::open(&database, Incarnation::from_bits(2))?;
    let payloads = PayloadFolder::at(folder.join("sessions"));
    let id = session_id(0);
    let mut draft = Draft::new(id, None).cutting(cut_over);
    let mut random = Rng::with_seed(7);
    for (n, command) in beginning().into_iter().chain(calls(&mut random, results)).enumerate() {
        draft.apply(command, Timestamp::from_millis(1_700_000_000_000 + n as i64))?;
        runtime.block_on(async {
            payloads.put_bodies(id, draft.bodies().to_vec()).await?;
            store.append(Batch { parts: vec![draft.take()], ..Batch::default() }).await?;
            anyhow::Ok(())
        })?;
    }
    Ok(database)
}

fn beginning() -> Vec<Command> {
    let new = NewSession { agent: "guide".into(), cwd: "/w".into(), project: "/w".into(), ..NewSession::default() };
    let prompt = Command::SendPrompt {
        interaction_id: InteractionId::from_bytes([1; 16]),
        text: "look at everything".to_owned(),
        images: Vec::new(),
        when_busy: WhenBusy::Queue,
        by: Author::default(),
    };
    vec![Command::Create(new), Command::Agent(AgentReport::Ready { attached: None }), prompt]
}

fn calls(random: &mut Rng, results: usize) -> impl Iterator<Item = Command> {
    (1..=results as u32).flat_map(move |tool| {
        let started = ToolChange {
            title: Some(format!("Read file {tool}")),
            kind: Some(ToolKind::Read),
            ..ToolChange::default()
        };
        let ended = ToolChange {
            status: Some(ToolStatus::Completed),
            content: Some(vec![ToolContent::Text { text: words::text(random, RESULT_BYTES) }]),
            ..ToolChange::default()
        };
        [
            Command::Agent(AgentReport::ToolStarted { tool, call_id: tool.to_string(), change: started }),
            Command::Agent(AgentReport::ToolChanged { tool, change: ended }),
        ]
    })
}

async fn read_all(store: &SqliteStore) -> Result<usize> {
    let (mut after, mut count) = (Seq::START, 0);
    loop {
        let page = store.read(StreamId::Session(session_id(0)), after, PAGE).await.context("could not read a page")?;
        let Some(last) = page.last() else { return Ok(count) };
        after = last.seq;
        count += page.len();
    }
}
