//! The delay from an agent's output to a follower: a real agent process that stamps its output with the time, the
//! real program, and a socket.
//!
//! The pipe, the socket and waking up cost time that is not ours. So the same agent is also measured through a bare
//! relay, which reads its lines and writes each as a frame; what we add is the difference. A tool call is durable
//! before it is shown; it is compared with a flush of the bare disk at the same pace, since an idle machine wakes up
//! slower. A difference below zero means that the machine was busier during the comparison; it is shown as it is.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use crate::agent::{self, Relay, Script, ScriptKind};
use crate::client::{Http, Kind, Live};
use crate::cost::Meter;
use crate::line::{Bar, Line};
use crate::run::{Run, print_progress};
use crate::server::Server;
use crate::statistics::Latencies;
use crate::yardsticks::Overwrite;

const NAME: &str = "acp";
const WORDS_A_SECOND: usize = 200;
const CALLS_A_SECOND: usize = 100;
const SECONDS: usize = 10;
const BARE: &str = "through a bare relay";
const FDATASYNC: &str = "4 kB overwrite + fdatasync";

pub(super) fn measure(run: &Run) -> Result<Vec<Line>> {
    let folder = run.fresh_folder(NAME)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let server = Server::start(&run.binary, &folder.join("data"))?;
    let mut ours = runtime.block_on(Ours::begin(&server, &folder))?;
    let mut bare = Bare::begin(&runtime)?;
    let mut overwrite = Overwrite::open(&folder)?;
    let words = |count| Script { what: ScriptKind::Words, a_second: WORDS_A_SECOND, count };
    let calls = |count| Script { what: ScriptKind::Calls, a_second: CALLS_A_SECOND, count };
    print_progress("acp: warming up");
    ours.listen(&runtime, &server, words(100))?;
    ours.listen(&runtime, &server, calls(100))?;
    bare.listen(&runtime, words(100))?;
    let mut all = Vec::new();
    run.repeat(NAME, || {
        let (words, calls) = (words(run.times(WORDS_A_SECOND * SECONDS)), calls(run.times(CALLS_A_SECOND * SECONDS)));
        all.push(Repeat {
            bare: bare.listen(&runtime, words)?,
            words: ours.listen(&runtime, &server, words)?,
            flushes: flushes(&mut overwrite, calls)?,
            calls: ours.listen(&runtime, &server, calls)?,
        });
        Ok(())
    })?;
    drop(ours);
    server.stop()?;
    Ok(lines(&all))
}

struct Repeat {
    bare: Measured,
    words: Measured,
    flushes: Measured,
    calls: Measured,
}

struct Measured {
    p50_us: f64,
    p99_us: f64,
    cpu_us: f64,
    core_percent: f64,
}

/// Runs a script and measures what the process in the middle used for it.
fn measured(script: Script, meter: &Meter, listen: impl FnOnce() -> Result<Latencies>) -> Result<Measured> {
    let started = Instant::now();
    let mut delays = listen()?;
    let (took, cost) = (started.elapsed(), meter.read()?);
    ensure!(delays.len() == script.count, "{} were said and {} were heard", script.count, delays.len());
    Ok(Measured {
        p50_us: delays.percentile_us(50.0),
        p99_us: delays.percentile_us(99.0),
        cpu_us: cost.cpu_us_per(script.count),
        core_percent: cost.cpu.as_secs_f64() / took.as_secs_f64() * 100.0,
    })
}

/// Flushes at the pace of a script.
fn flushes(overwrite: &mut Overwrite, script: Script) -> Result<Measured> {
    let pause = Duration::from_secs(1) / u32::try_from(script.a_second)?;
    measured(script, &Meter::own()?, || {
        let (mut latencies, mut due) = (Latencies::default(), Instant::now());
        for _ in 0..script.count {
            due += pause;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            latencies.extend(overwrite.write(1)?);
        }
        Ok(latencies)
    })
}

/// The agent behind the program.
struct Ours {
    http: Http,
    live: Live,
    session: String,
}

impl Ours {
    async fn begin(server: &Server, folder: &Path) -> Result<Self> {
        let mut http = Http::connect(&server.endpoint).await?;
        let cwd = folder.to_str().context("the folder's name is no text")?;
        let session = http.new_session_with(agent::NAME, cwd).await?;
        let mut live = Live::connect(&server.endpoint).await?;
        live.follow(&session, None).await?;
        live.until(Kind::CaughtUp).await?;
        Ok(Self { http, live, session })
    }

    fn listen(&mut self, runtime: &Runtime, server: &Server, script: Script) -> Result<Measured> {
        let stamped = match script.what {
            ScriptKind::Words => Kind::Preview,
            ScriptKind::Calls => Kind::ToolStarted,
            ScriptKind::Long => Kind::Entry,
        };
        measured(script, &server.meter()?, || {
            runtime.block_on(async {
                let path = format!("/sessions/{}/prompts", self.session);
                self.http.post(&path, &json!({ "text": script.text() })).await?;
                self.live.delays(stamped, Kind::TurnEnded).await
            })
        })
    }
}

/// The agent behind a bare relay.
struct Bare {
    relay: Relay,
    live: Live,
}

impl Bare {
    fn begin(runtime: &Runtime) -> Result<Self> {
        let relay = Relay::start()?;
        let live = runtime.block_on(Live::connect_bare(relay.address))?;
        Ok(Self { relay, live })
    }

    fn listen(&mut self, runtime: &Runtime, script: Script) -> Result<Measured> {
        measured(script, &self.relay.meter()?, || {
            self.relay.prompt(script)?;
            runtime.block_on(self.live.delays(Kind::Update, Kind::Stopped))
        })
    }
}

fn lines(all: &[Repeat]) -> Vec<Line> {
    let of = |figure: fn(&Repeat) -> f64| all.iter().map(figure).collect::<Vec<f64>>();
    let alone = |what, unit, figure: fn(&Repeat) -> f64| Line::new(NAME, what, unit, &of(figure));
    let beside = |what, ours: fn(&Repeat) -> f64, name, theirs: fn(&Repeat) -> f64| {
        Line::beside(NAME, what, "us", &of(ours), name, &of(theirs))
    };
    vec![
        beside("preview, from the agent to a follower: p50", |r| r.words.p50_us, BARE, |r| r.bare.p50_us),
        beside("preview, from the agent to a follower: p99", |r| r.words.p99_us, BARE, |r| r.bare.p99_us),
        alone("preview: added to the bare relay, p50", "us", |r| r.words.p50_us - r.bare.p50_us),
        alone("preview: added to the bare relay, p99", "us", |r| r.words.p99_us - r.bare.p99_us)
            .bar(Bar::AtMost(1_000.0)),
        beside("CPU of the server for a preview", |r| r.words.cpu_us, BARE, |r| r.bare.cpu_us),
        alone("a core in use by the server at 200 words a second", "%", |r| r.words.core_percent),
        beside("tool call, from the agent to its entry: p50", |r| r.calls.p50_us, FDATASYNC, |r| r.flushes.p50_us),
        beside("tool call, from the agent to its entry: p99", |r| r.calls.p99_us, FDATASYNC, |r| r.flushes.p99_us),
        alone("tool call: added to one flush, p50", "us", |r| r.calls.p50_us - r.flushes.p50_us),
        alone("tool call: added to one flush, p99", "us", |r| r.calls.p99_us - r.flushes.p99_us)
            .bar(Bar::AtMost(1_000.0)),
        alone("CPU of the server for a tool call", "us", |r| r.calls.cpu_us),
    ]
}
