//! One session streams, many sockets follow it; the server and its agent have one core and the clients have another.
//!
//! The agent writes into each word when it was sent, so a follower's delay is everything between the two: the pipe,
//! the server, the socket, and the wait until the clients' core has read the other clients' frames.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::agent::{self, Script, ScriptKind};
use crate::client::{Http, Kind, Live};
use crate::cores::on_core;
use crate::cost::Meter;
use crate::line::{Bar, Line};
use crate::run::Run;
use crate::server::{Endpoint, Server};
use crate::statistics::Latencies;

const NAME: &str = "fan-out";
const FOLLOWERS: [usize; 2] = [100, 1_000];
/// A model that is read as it writes, and one that is faster than anybody reads.
const WORDS_A_SECOND: [usize; 2] = [50, 100];
const SECONDS: usize = 5;
const SERVERS_CORE: usize = 0;
const CLIENTS_CORE: usize = 1;

pub(super) fn measure(run: &Run) -> Result<Vec<Line>> {
    let cores = std::thread::available_parallelism()?.get();
    ensure!(cores > CLIENTS_CORE, "the server and its followers need a core each; here is one");
    let folder = run.fresh_folder(NAME)?;
    let data = folder.join("data");
    let server = on_core(SERVERS_CORE, || Server::start(&run.binary, &data))?;
    let lines = on_core(CLIENTS_CORE, || {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        measure_all(run, &server, &runtime, &folder)
    });
    server.stop()?;
    lines
}

fn measure_all(run: &Run, server: &Server, runtime: &Runtime, folder: &Path) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for followers in FOLLOWERS {
        let mut clients = runtime.block_on(SessionClients::gather(&server.endpoint, followers, folder))?;
        runtime.block_on(clients.listen(Script { what: ScriptKind::Words, a_second: 50, count: 50 }))?;
        let mut readings = WORDS_A_SECOND.map(|_| Readings::default());
        run.repeat(&format!("fan-out to {followers}"), || {
            for (a_second, readings) in WORDS_A_SECOND.into_iter().zip(&mut readings) {
                let script = Script { what: ScriptKind::Words, a_second, count: run.times(a_second * SECONDS) };
                readings.take(server, runtime, &mut clients, script)?;
            }
            Ok(())
        })?;
        for (a_second, readings) in WORDS_A_SECOND.into_iter().zip(&readings) {
            lines.extend(readings.lines(followers, a_second));
        }
    }
    Ok(lines)
}

#[derive(Default)]
struct Readings {
    p50_ms: Vec<f64>,
    p99_ms: Vec<f64>,
    server_core_percent: Vec<f64>,
    clients_core_percent: Vec<f64>,
    cpu_us_per_frame: Vec<f64>,
    /// Words that a follower never got as previews; their entries came all the same.
    skipped: usize,
}

impl Readings {
    fn take(&mut self, server: &Server, runtime: &Runtime, clients: &mut SessionClients, script: Script) -> Result<()> {
        let (servers, own) = (server.meter()?, Meter::own()?);
        let started = Instant::now();
        let mut delays = runtime.block_on(clients.listen(script))?;
        let took = started.elapsed().as_secs_f64();
        let (servers, own) = (servers.read()?, own.read()?);
        self.p50_ms.push(delays.percentile_us(50.0) / 1e3);
        self.p99_ms.push(delays.percentile_us(99.0) / 1e3);
        self.server_core_percent.push(servers.cpu.as_secs_f64() / took * 100.0);
        self.clients_core_percent.push(own.cpu.as_secs_f64() / took * 100.0);
        self.cpu_us_per_frame.push(servers.cpu_us_per(delays.len()));
        self.skipped += clients.followers.len() * script.count - delays.len();
        Ok(())
    }

    fn lines(&self, followers: usize, a_second: usize) -> Vec<Line> {
        let line = |what: &str, unit: &str, ours: &[f64]| {
            Line::new(NAME, &format!("{followers} followers, {a_second} words a second: {what}"), unit, ours)
        };
        let bar = |line: Line| if followers == 1_000 { line.bar(Bar::AtMost(50.0)) } else { line };
        vec![
            bar(line("agent to follower, p99", "ms", &self.p99_ms))
                .note(format!("{} previews skipped by followers that were behind", self.skipped)),
            line("agent to follower, p50", "ms", &self.p50_ms),
            line("server's core in use", "%", &self.server_core_percent),
            line("clients' core in use", "%", &self.clients_core_percent),
            line("CPU of the server for a word at a follower", "us", &self.cpu_us_per_frame),
        ]
    }
}

/// All followers, and one client that prompts.
struct SessionClients {
    http: Http,
    session: String,
    followers: Vec<Live>,
}

impl SessionClients {
    async fn gather(endpoint: &Endpoint, count: usize, folder: &Path) -> Result<Self> {
        let mut http = Http::connect(endpoint).await?;
        let cwd = folder.to_str().context("the folder's name is no text")?;
        let session = http.new_session_with(agent::NAME, cwd).await?;
        let mut followers = Vec::new();
        for _ in 0..count {
            let mut live = Live::connect(endpoint).await?;
            live.follow(&session, None).await?;
            live.until(Kind::CaughtUp).await?;
            followers.push(live);
        }
        Ok(Self { http, session, followers })
    }

    /// How long each word took to each follower.
    async fn listen(&mut self, script: Script) -> Result<Latencies> {
        let mut listening = JoinSet::new();
        for mut live in self.followers.drain(..) {
            listening.spawn(async move {
                let delays = live.delays(Kind::Preview, Kind::TurnEnded).await?;
                anyhow::Ok((live, delays))
            });
        }
        let path = format!("/sessions/{}/prompts", self.session);
        self.http.post(&path, &json!({ "text": script.text() })).await?;
        let mut all = Latencies::default();
        for done in listening.join_all().await {
            let (live, delays) = done?;
            self.followers.push(live);
            all.extend(delays);
        }
        Ok(all)
    }
}
