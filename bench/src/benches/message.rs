//! One short message from the HTTP request to the end of its turn, on the real program in a warm session.
//!
//! A socket that follows the session reports the end. That socket costs the server something too, so the same
//! messages are also sent without a follower, a few milliseconds apart, and counted afterwards.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::client::{Http, Kind, Live};
use crate::cost::{Cost, Meter};
use crate::line::{Bar, Line};
use crate::run::Run;
use crate::server::{Endpoint, Server};
use crate::statistics::{Latencies, per_second};
use crate::yardsticks::Overwrite;

const NAME: &str = "message";
const AT_ONCE: usize = 64;
/// Several times longer than a turn of the built-in agent takes.
const PAUSE: Duration = Duration::from_millis(4);
const LONG_PAUSE: Duration = Duration::from_millis(100);
const SETTLE_LIMIT: Duration = Duration::from_secs(20);
const FDATASYNC: &str = "4 kB overwrite + fdatasync";
/// Not measured here: opencode 1.18, one message of 60 words stored without an answer, counted in the same way.
const OPENCODE: &str = "opencode: 145 kB, measured elsewhere";

pub(super) fn measure(run: &Run) -> Result<Vec<Line>> {
    let folder = run.fresh_folder(NAME)?;
    let runtime = Runtime::new()?;
    let data = folder.join("data");
    let server = Server::start(&run.binary, &data)?;
    let mut overwrite = Overwrite::open(&folder)?;
    let mut talk = runtime.block_on(MessageClients::begin(&server.endpoint, &folder))?;
    crate::run::print_progress("message: warming up");
    runtime.block_on(talk.followed(run.times(1_000)))?;
    runtime.block_on(talk.together(run.times(60), Sockets::OneSession))?;

    let mut all = Vec::new();
    run.repeat(NAME, || {
        let disk = overwrite.write(run.times(1_000))?.percentile_us(50.0);
        let quiet = reading(&server, || runtime.block_on(talk.unfollowed(run.times(2_000))))?;
        let followed = reading(&server, || runtime.block_on(talk.followed(run.times(2_000))))?;
        let together = reading(&server, || runtime.block_on(talk.together(run.times(100), Sockets::OneSession)))?;
        let listing = reading(&server, || runtime.block_on(talk.together(run.times(30), Sockets::WithList)))?;
        let renames = reading(&server, || runtime.block_on(talk.renames(run.times(2_000))))?;
        all.push(Repeat { disk, quiet, followed, together, listing, renames });
        Ok(())
    })?;
    drop(talk);
    server.stop()?;
    Ok(lines(&all))
}

struct Repeat {
    disk: f64,
    quiet: Reading,
    followed: Reading,
    together: Reading,
    listing: Reading,
    renames: Reading,
}

struct Reading {
    cpu_us: f64,
    written_kb: f64,
    /// Of the agents and their supervisors.
    agents_cpu_us: f64,
    agents_written_kb: f64,
    p50_us: f64,
    per_second: f64,
}

fn reading(server: &Server, act: impl FnOnce() -> Result<Latencies>) -> Result<Reading> {
    let (agents, meter) = (server.agents_meters()?, server.meter()?);
    let started = Instant::now();
    let mut latencies = act()?;
    let took = started.elapsed();
    let cost: Cost = meter.read()?;
    let agents = agents.iter().map(Meter::read).collect::<Result<Vec<Cost>>>()?;
    let count = latencies.len();
    Ok(Reading {
        cpu_us: cost.cpu_us_per(count),
        written_kb: cost.kb_per(count),
        agents_cpu_us: agents.iter().map(|cost| cost.cpu_us_per(count)).sum(),
        agents_written_kb: agents.iter().map(|cost| cost.kb_per(count)).sum(),
        p50_us: latencies.percentile_us(50.0),
        per_second: per_second(count, took),
    })
}

/// The clients: one session that is used alone, and many that are used at once.
struct MessageClients {
    endpoint: Endpoint,
    http: Http,
    alone: String,
    others: Vec<OtherSession>,
}

struct OtherSession {
    session: String,
    /// A credential for this session only.
    confined: Endpoint,
}

/// What the sockets of many sessions follow.
#[derive(Debug, Clone, Copy)]
enum Sockets {
    /// Their own session.
    OneSession,
    /// The list as well: each gets every change of every session.
    WithList,
}

impl MessageClients {
    async fn begin(endpoint: &Endpoint, cwd: &Path) -> Result<Self> {
        let mut http = Http::connect(endpoint).await?;
        let cwd = cwd.to_str().context("the folder's name is no text")?;
        let alone = http.new_session(cwd).await?;
        let mut others = Vec::new();
        for _ in 0..AT_ONCE {
            let session = http.new_session(cwd).await?;
            let answer = http.post("/tokens", &json!({ "name": "bench", "session": session })).await?;
            let answer: Value = serde_json::from_slice(&answer)?;
            let token = answer["secret"].as_str().context("a token without its secret")?.to_owned();
            others.push(OtherSession { session, confined: Endpoint { address: endpoint.address, token } });
        }
        Ok(Self { endpoint: endpoint.clone(), http, alone, others })
    }

    /// Measures to the acknowledgement only; nobody follows.
    async fn unfollowed(&mut self, times: usize) -> Result<Latencies> {
        let before = self.turns().await?;
        let mut latencies = Latencies::default();
        for _ in 0..times {
            let started = Instant::now();
            let turn = send(&mut self.http, &self.alone).await?;
            latencies.push(started.elapsed());
            // If a prompt has to wait for the turn before it, the machine is busy, and more prompts would only queue
            // up.
            sleep(if turn.is_some() { PAUSE } else { LONG_PAUSE }).await;
        }
        let waited = Instant::now();
        while self.turns().await? < before + times as u64 {
            ensure!(waited.elapsed() < SETTLE_LIMIT, "{times} messages did not become as many turns");
            sleep(PAUSE).await;
        }
        Ok(latencies)
    }

    /// Measures to the end of the turn, as a socket reports it.
    async fn followed(&mut self, times: usize) -> Result<Latencies> {
        talk(self.endpoint.clone(), self.endpoint.clone(), self.alone.clone(), times).await
    }

    /// Like [`Self::followed`], in all other sessions at the same time: their commits are shared.
    async fn together(&mut self, times: usize, sockets: Sockets) -> Result<Latencies> {
        let mut tasks = JoinSet::new();
        for other in &self.others {
            let sees = match sockets {
                Sockets::OneSession => other.confined.clone(),
                Sockets::WithList => self.endpoint.clone(),
            };
            tasks.spawn(talk(self.endpoint.clone(), sees, other.session.clone(), times));
        }
        let mut all = Latencies::default();
        for done in tasks.join_all().await {
            all.extend(done?);
        }
        Ok(all)
    }

    /// The smallest write there is.
    async fn renames(&mut self, times: usize) -> Result<Latencies> {
        let mut latencies = Latencies::default();
        let path = format!("/sessions/{}", self.alone);
        for number in 0..times {
            let body = json!({ "name": format!("name {number}") });
            let started = Instant::now();
            self.http.patch(&path, &body).await?;
            latencies.push(started.elapsed());
        }
        Ok(latencies)
    }

    async fn turns(&mut self) -> Result<u64> {
        let answer = self.http.get(&format!("/sessions/{}", self.alone)).await?;
        let answer: Value = serde_json::from_slice(&answer)?;
        answer["turns"].as_u64().context("a session without its turns")
    }
}

/// Sends through one endpoint, one message at a time, and waits through the other for the end of each turn.
pub(super) async fn talk(sends: Endpoint, sees: Endpoint, session: String, times: usize) -> Result<Latencies> {
    let mut http = Http::connect(&sends).await?;
    let answer: Value = serde_json::from_slice(&http.get(&format!("/sessions/{session}")).await?)?;
    let cursor = answer["cursor"].as_str().context("a session without a cursor")?.to_owned();
    let mut live = Live::connect(&sees).await?;
    live.follow(&session, Some(&cursor)).await?;
    live.until(Kind::CaughtUp).await?;
    let mut latencies = Latencies::default();
    for _ in 0..times {
        let started = Instant::now();
        send(&mut http, &session).await?;
        live.until(Kind::TurnEnded).await?;
        latencies.push(started.elapsed());
    }
    Ok(latencies)
}

/// The turn that the prompt began; none if it waits.
async fn send(http: &mut Http, session: &str) -> Result<Option<u64>> {
    let answer = http.post(&format!("/sessions/{session}/prompts"), &json!({ "text": "say hello" })).await?;
    Ok(serde_json::from_slice::<Value>(&answer)?["turn"].as_u64())
}

fn lines(all: &[Repeat]) -> Vec<Line> {
    let of = |figure: fn(&Repeat) -> f64| all.iter().map(figure).collect::<Vec<f64>>();
    let alone = |what, unit, figure: fn(&Repeat) -> f64| Line::new(NAME, what, unit, &of(figure));
    let disk = of(|repeat| repeat.disk);
    let beside = |what, figure: fn(&Repeat) -> f64| Line::beside(NAME, what, "us", &of(figure), FDATASYNC, &disk);
    vec![
        alone("CPU of a message, nobody follows", "us", |repeat| repeat.quiet.cpu_us).bar(Bar::AtMost(1_000.0)),
        alone("CPU of a message, one socket follows", "us", |repeat| repeat.followed.cpu_us).bar(Bar::AtMost(1_000.0)),
        alone("CPU of a message, 64 sessions at once", "us", |repeat| repeat.together.cpu_us).bar(Bar::AtMost(1_000.0)),
        alone("CPU of a message, 64 at once, each socket shows the list", "us", |repeat| repeat.listing.cpu_us)
            .note("64 sockets hear of every change of 64 sessions"),
        alone("CPU of the built-in agent for a message, one socket follows", "us", |repeat| {
            repeat.followed.agents_cpu_us
        })
        .note("a process of its own, which the lines above leave out"),
        alone("CPU of the built-in agent for a message, 64 sessions at once", "us", |repeat| {
            repeat.together.agents_cpu_us
        }),
        alone("CPU of a rename", "us", |repeat| repeat.renames.cpu_us),
        alone("written for a message, alone", "kB", |repeat| repeat.followed.written_kb)
            .bar(Bar::AtMost(55.0))
            .note(OPENCODE),
        alone("written for a message, 64 sessions at once", "kB", |repeat| repeat.together.written_kb)
            .bar(Bar::AtMost(32.0)),
        alone("written by the built-in agent for a message", "kB", |repeat| repeat.followed.agents_written_kb),
        alone("written for a rename", "kB", |repeat| repeat.renames.written_kb),
        beside("message to the end of its turn: p50", |repeat| repeat.followed.p50_us),
        beside("message to its acknowledgement: p50", |repeat| repeat.quiet.p50_us),
        beside("rename to its acknowledgement: p50", |repeat| repeat.renames.p50_us),
        alone("messages to the end, 64 sessions at once", "1/s", |repeat| repeat.together.per_second),
    ]
}
