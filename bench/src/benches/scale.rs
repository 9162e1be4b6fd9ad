//! Everyday operations with a thousand, a hundred thousand and a million sessions in the store.
//!
//! Invariant: the servers run side by side and take turns, a few operations each, so that the machine is the same for
//! every size. The sessions that are opened are spread over the whole store.

use std::time::Instant;

use anyhow::{Context as _, Result};
use fastrand::Rng;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::client::{Http, Kind, Live};
use crate::line::{Bar, Line};
use crate::run::{Extent, Run};
use crate::server::Server;
use crate::statistics::Latencies;
use crate::stores;
use crate::words::session_id;

const NAME: &str = "scale";
/// How many of a session's newest entries are read when it is opened.
const TAIL: u64 = 5;
/// How many operations a server makes in its turn.
const OPERATIONS_PER_TURN: usize = 20;

/// The sizes that are compared; the others are compared with the first.
pub(super) fn sizes(run: &Run) -> &'static [(u64, &'static str)] {
    match run.extent {
        Extent::Full => &[(1_000, "1k"), (100_000, "100k"), (1_000_000, "1M")],
        Extent::Quick => &[(1_000, "1k"), (100_000, "100k")],
    }
}

#[derive(Debug, Clone, Copy)]
enum Operation {
    List,
    Open,
    Reconnect,
}

const OPERATIONS: [(Operation, &str); 3] =
    [(Operation::List, "list page"), (Operation::Open, "open a session"), (Operation::Reconnect, "reconnect")];

pub(super) fn measure(run: &Run) -> Result<Vec<Line>> {
    let runtime = Runtime::new()?;
    let stores = sizes(run).iter().map(|(sessions, _)| stores::of_sessions(run, *sessions));
    let stores = stores.collect::<Result<Vec<_>>>()?;
    let mut sites = Vec::new();
    for ((sessions, _), data) in sizes(run).iter().zip(stores) {
        let server = Server::start(&run.binary, &data)?;
        let http = runtime.block_on(Http::connect(&server.endpoint))?;
        sites.push(MeasuredServer { sessions: *sessions, server, http, random: Rng::with_seed(*sessions) });
    }
    let mut lines = Vec::new();
    for (operation, name) in OPERATIONS {
        lines.extend(measure_act(run, &runtime, &mut sites, operation, name)?);
    }
    for site in sites {
        drop(site.http);
        site.server.stop()?;
    }
    Ok(lines)
}

struct MeasuredServer {
    sessions: u64,
    server: Server,
    http: Http,
    random: Rng,
}

/// The readings of one server, one for each repeat.
#[derive(Default)]
struct Readings {
    cpu_us: Vec<f64>,
    wall_us: Vec<f64>,
}

fn measure_act(
    run: &Run,
    runtime: &Runtime,
    sites: &mut [MeasuredServer],
    operation: Operation,
    name: &str,
) -> Result<Vec<Line>> {
    let times = run.times(400);
    for site in sites.iter_mut() {
        runtime.block_on(site.act(operation, times, &mut Latencies::default()))?;
    }
    let mut all: Vec<Readings> = sites.iter().map(|_| Readings::default()).collect();
    run.repeat(&format!("scale, {name}"), || {
        let mut latencies: Vec<_> = sites.iter().map(|_| Latencies::default()).collect();
        let meters = sites.iter().map(|site| site.server.meter()).collect::<Result<Vec<_>>>()?;
        for _ in 0..times / OPERATIONS_PER_TURN {
            for (site, latencies) in sites.iter_mut().zip(&mut latencies) {
                runtime.block_on(site.act(operation, OPERATIONS_PER_TURN, latencies))?;
            }
        }
        for ((readings, latencies), meter) in all.iter_mut().zip(&mut latencies).zip(&meters) {
            readings.cpu_us.push(meter.read()?.cpu_us_per(latencies.len()));
            readings.wall_us.push(latencies.percentile_us(50.0));
        }
        Ok(())
    })?;
    Ok(lines(run, name, &all))
}

impl MeasuredServer {
    async fn act(&mut self, operation: Operation, times: usize, latencies: &mut Latencies) -> Result<()> {
        for _ in 0..times {
            let session = session_id(self.random.u64(..self.sessions)).to_string();
            let started = Instant::now();
            match operation {
                Operation::List => drop(self.http.get("/sessions?limit=50").await?),
                Operation::Open => self.open(&session).await?,
                Operation::Reconnect => {
                    let mut live = Live::connect(&self.server.endpoint).await?;
                    live.follow(&session, Some(&stores::cursor_near_head())).await?;
                    live.until(Kind::CaughtUp).await?;
                }
            }
            latencies.push(started.elapsed());
        }
        Ok(())
    }

    /// Reads the session itself, then its newest entries.
    async fn open(&mut self, session: &str) -> Result<()> {
        let answer: Value = serde_json::from_slice(&self.http.get(&format!("/sessions/{session}")).await?)?;
        let cursor = answer["cursor"].as_str().context("a session without a cursor")?;
        let (incarnation, head) = cursor.split_once('.').context("a cursor without a seq")?;
        let after = head.parse::<u64>()?.saturating_sub(TAIL);
        self.http.get(&format!("/sessions/{session}/entries?after={incarnation}.{after}")).await?;
        Ok(())
    }
}

fn lines(run: &Run, name: &str, all: &[Readings]) -> Vec<Line> {
    let Some((smallest, larger)) = all.split_first() else { return Vec::new() };
    let mut lines = Vec::new();
    for (readings, (sessions, label)) in larger.iter().zip(&sizes(run)[1..]) {
        let beside = |what: &str, ours: &[f64], theirs: &[f64]| {
            let line = Line::beside(NAME, what, "us", ours, "the same with 1k", theirs);
            if *sessions == 1_000_000 { line.bar(Bar::AtMost(1.2)) } else { line }
        };
        lines.push(beside(&format!("{name}, {label} sessions: CPU"), &readings.cpu_us, &smallest.cpu_us));
        lines.push(beside(&format!("{name}, {label} sessions: p50"), &readings.wall_us, &smallest.wall_us));
    }
    lines
}
