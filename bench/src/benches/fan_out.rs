//! One session streams, many sockets follow it; the server has one core and the clients have another.
//!
//! Nobody outside the server knows when it got a word from the agent. So two things are measured. While the built-in
//! agent streams at its own pace, each follower's delay is taken from the moment at which the first of all followers
//! had the word. And for single messages it is taken from the moment at which the prompt was sent, which also holds the
//! request and its commit: an upper bound.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::client::{Http, Kind, Live};
use crate::cores::on_core;
use crate::cost::Meter;
use crate::line::{Bar, Line};
use crate::run::Run;
use crate::server::{Endpoint, Server};
use crate::statistics::Latencies;

const NAME: &str = "fan-out";
const FOLLOWERS: [usize; 3] = [1, 100, 1_000];
const WORDS: usize = 400;
const MESSAGES: usize = 20;
const BETWEEN_MESSAGES: Duration = Duration::from_millis(150);
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
    let mut paces: Vec<Vec<f64>> = Vec::new();
    for followers in FOLLOWERS {
        let mut crowd = runtime.block_on(Crowd::gather(&server.endpoint, followers, folder))?;
        runtime.block_on(crowd.stream(50))?;
        let mut readings = Readings::default();
        run.repeat(&format!("fan-out to {followers}"), || {
            readings.stream(server, runtime, &mut crowd, run.times(WORDS))?;
            if followers > 1 {
                readings.messages(runtime, &mut crowd, run.times(MESSAGES))?;
            }
            Ok(())
        })?;
        if let Some(alone) = paces.first() {
            lines.extend(readings.lines(followers, alone));
        }
        paces.push(readings.words_per_second);
    }
    Ok(lines)
}

#[derive(Default)]
struct Readings {
    stream_p50_ms: Vec<f64>,
    stream_p99_ms: Vec<f64>,
    message_p99_ms: Vec<f64>,
    words_per_second: Vec<f64>,
    server_core_percent: Vec<f64>,
    clients_core_percent: Vec<f64>,
    cpu_us_per_frame: Vec<f64>,
    skipped: usize,
}

impl Readings {
    fn stream(&mut self, server: &Server, runtime: &Runtime, crowd: &mut Crowd, words: usize) -> Result<()> {
        let (servers, own) = (server.meter()?, Meter::own()?);
        let started = Instant::now();
        let mut heard = runtime.block_on(crowd.stream(words))?;
        let took = started.elapsed().as_secs_f64();
        let (servers, own) = (servers.read()?, own.read()?);
        self.stream_p50_ms.push(heard.delays.percentile_us(50.0) / 1e3);
        self.stream_p99_ms.push(heard.delays.percentile_us(99.0) / 1e3);
        self.words_per_second.push(words as f64 / took);
        self.server_core_percent.push(servers.cpu.as_secs_f64() / took * 100.0);
        self.clients_core_percent.push(own.cpu.as_secs_f64() / took * 100.0);
        self.cpu_us_per_frame.push(servers.cpu_us_per(heard.delays.len()));
        self.skipped += heard.skipped;
        Ok(())
    }

    fn messages(&mut self, runtime: &Runtime, crowd: &mut Crowd, messages: usize) -> Result<()> {
        let mut delays = Latencies::default();
        for _ in 0..messages {
            delays.extend(runtime.block_on(crowd.message())?);
            std::thread::sleep(BETWEEN_MESSAGES);
        }
        self.message_p99_ms.push(delays.percentile_us(99.0) / 1e3);
        Ok(())
    }

    fn lines(&self, followers: usize, alone: &[f64]) -> Vec<Line> {
        let line = |what: &str, unit: &str, ours: &[f64]| {
            Line::new(NAME, &format!("{followers} followers: {what}"), unit, ours)
        };
        let bar = |line: Line| if followers == 1_000 { line.bar(Bar::AtMost(50.0)) } else { line };
        let pace = format!("{followers} followers: words streamed");
        vec![
            bar(line("word, first follower to all, p99", "ms", &self.stream_p99_ms))
                .note(format!("{} previews skipped by followers that were behind", self.skipped)),
            line("word, first follower to all, p50", "ms", &self.stream_p50_ms),
            bar(line("prompt sent to word at all, p99", "ms", &self.message_p99_ms)),
            Line::beside(NAME, &pace, "1/s", &self.words_per_second, "with 1 follower", alone),
            line("server's core in use", "%", &self.server_core_percent),
            line("clients' core in use", "%", &self.clients_core_percent),
            line("CPU of the server for a word at a follower", "us", &self.cpu_us_per_frame),
        ]
    }
}

/// All the followers, and one client that prompts.
struct Crowd {
    http: Http,
    session: String,
    followers: Vec<Live>,
}

struct Heard {
    delays: Latencies,
    /// Words that a follower never saw as previews; their entries came all the same.
    skipped: usize,
}

impl Crowd {
    async fn gather(endpoint: &Endpoint, count: usize, folder: &Path) -> Result<Self> {
        let mut http = Http::connect(endpoint).await?;
        let session = http.new_session(folder.to_str().context("the folder's name is no text")?).await?;
        let mut followers = Vec::new();
        for _ in 0..count {
            let mut live = Live::connect(endpoint).await?;
            live.follow(&session, None).await?;
            live.until(Kind::CaughtUp).await?;
            followers.push(live);
        }
        Ok(Self { http, session, followers })
    }

    async fn stream(&mut self, words: usize) -> Result<Heard> {
        let hearings = self.prompt(&format!("long {words}")).await?;
        let mut delays = Latencies::default();
        let mut skipped = 0;
        for number in 1..=words {
            let heard: Vec<Instant> = hearings
                .iter()
                .filter_map(|words| words.iter().find(|word| word.0 == number))
                .map(|word| word.1)
                .collect();
            skipped += hearings.len() - heard.len();
            if let Some(first) = heard.iter().min().copied() {
                delays.extend(heard.into_iter().map(|at| at - first));
            }
        }
        Ok(Heard { delays, skipped })
    }

    async fn message(&mut self) -> Result<Latencies> {
        let started = Instant::now();
        let mut delays = Latencies::default();
        let hearings = self.prompt("say word1").await?;
        delays.extend(hearings.into_iter().flatten().map(|(_, at)| at - started));
        Ok(delays)
    }

    /// What each follower heard of the answer, and when.
    async fn prompt(&mut self, text: &str) -> Result<Vec<Vec<(usize, Instant)>>> {
        let mut listening = JoinSet::new();
        for live in self.followers.drain(..) {
            listening.spawn(listen(live));
        }
        let path = format!("/sessions/{}/prompts", self.session);
        let answer: Value = serde_json::from_slice(&self.http.post(&path, &json!({ "text": text })).await?)?;
        ensure!(answer["turn"].is_u64(), "the prompt had to wait: {answer}");
        let mut hearings = Vec::new();
        for done in listening.join_all().await {
            let (live, words) = done?;
            self.followers.push(live);
            hearings.push(words);
        }
        Ok(hearings)
    }
}

/// Until the turn ends.
async fn listen(mut live: Live) -> Result<(Live, Vec<(usize, Instant)>)> {
    let mut words = Vec::new();
    loop {
        let text = live.next().await?;
        if Kind::Preview.is(&text) {
            words.extend(word_number(&text).map(|number| (number, Instant::now())));
        } else if Kind::TurnEnded.is(&text) {
            return Ok((live, words));
        }
    }
}

/// `…"text":"word17 "}` → 17.
fn word_number(preview: &str) -> Option<usize> {
    let (_, rest) = preview.rsplit_once(r#""word"#)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_tells_its_word() {
        let preview = r#"{"type":"preview","session":"x","turn":1,"block":0,"text":"word17 "}"#;
        assert_eq!(word_number(preview), Some(17));
        assert_eq!(word_number(r#"{"type":"preview","text":"Done."}"#), None);
    }
}
