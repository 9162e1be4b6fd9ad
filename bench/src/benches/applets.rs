//! A thousand writes of an applet's state a second: what they cost, how much the log grows, and what another session notices.
//!
//! Invariant: every write is acknowledged before a reading ends, so each that is counted is on disk.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rusqlite::Connection;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout_at};

use crate::client::{Http, Kind, Live};
use crate::line::{Bar, Line};
use crate::run::Run;
use crate::server::{Endpoint, Server};
use crate::statistics::Latencies;

const NAME: &str = "applets";
/// So many writes go out together, so often: a thousand a second.
const TOGETHER: usize = 10;
const EVERY: Duration = Duration::from_millis(10);
const WRITES: usize = 10_000;
/// What the log and the versions get is written down this long after the last write.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

pub(super) fn measure(run: &Run) -> Result<Vec<Line>> {
    let folder = run.fresh_folder(NAME)?;
    let runtime = Runtime::new()?;
    let data = folder.join("data");
    let server = Server::start(&run.binary, &data)?;
    let sessions = runtime.block_on(Sessions::begin(&server.endpoint, &folder))?;
    let (mut cpu, mut written, mut entries) = (Vec::new(), Vec::new(), Vec::new());
    let (mut quiet, mut beside) = (Vec::new(), Vec::new());
    run.repeat(NAME, || {
        quiet.push(runtime.block_on(sessions.messages(run.times(1_000)))?.percentile_us(50.0));
        let (meter, before, started) = (server.meter()?, noted(&data)?, Instant::now());
        let writes = runtime.block_on(sessions.writes(run.times(WRITES)))?;
        let (cost, seconds) = (meter.read()?, started.elapsed().as_secs_f64());
        runtime.block_on(async { sleep(SETTLED_AFTER).await });
        cpu.push(cost.cpu_us_per(writes));
        written.push(cost.kb_per(writes));
        entries.push((noted(&data)? - before) as f64 / seconds.ceil());
        beside.push(runtime.block_on(sessions.messages_beside_writes(run.times(1_000)))?.percentile_us(50.0));
        Ok(())
    })?;
    drop(sessions);
    server.stop()?;
    Ok(vec![
        Line::new(NAME, "CPU of a write of a state, 1,000 a second", "us", &cpu),
        Line::new(NAME, "written for a write of a state, 1,000 a second", "kB", &written),
        Line::new(NAME, "entries in the log a second, at 1,000 writes a second", "1/s", &entries).bar(Bar::AtMost(1.1)),
        Line::beside(NAME, "message of another session meanwhile: p50", "us", &beside, "without writes", &quiet)
            .bar(Bar::AtMost(2.0)),
    ])
}

/// How many states the log has noted.
fn noted(data: &Path) -> Result<u64> {
    let log = Connection::open(data.join("throughline.db"))?;
    let noted = "SELECT count(*) FROM entries WHERE instr(event, CAST('applet.state_set' AS BLOB)) > 0";
    log.query_row(noted, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned).context("could not count the entries")
}

struct Sessions {
    endpoint: Endpoint,
    /// Whose applet writes.
    writing: String,
    /// Who is not to notice.
    other: String,
}

impl Sessions {
    async fn begin(endpoint: &Endpoint, folder: &Path) -> Result<Self> {
        let cwd = folder.to_str().context("the folder's path is not text")?;
        let mut http = Http::connect(endpoint).await?;
        let (writing, other) = (http.new_session(cwd).await?, http.new_session(cwd).await?);
        let sessions = Self { endpoint: endpoint.clone(), writing, other };
        sessions.messages(20).await?;
        Ok(sessions)
    }

    /// Writes at the pace, and reads the acknowledgements as they come.
    async fn writes(&self, count: usize) -> Result<usize> {
        let mut live = Live::connect(&self.endpoint).await?;
        let mut pace = interval(EVERY);
        pace.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let (mut sent, mut acknowledged): (usize, usize) = (0, 0);
        while acknowledged < count {
            let now = pace.tick().await;
            let until = sent.saturating_add(TOGETHER).min(count);
            for number in sent..until {
                let write = json!({
                    "id": number.to_string(), "type": "applet_state", "session": self.writing, "applet": "counter",
                    "merge": { "count": number }
                });
                live.say(&write).await?;
            }
            sent = until;
            while acknowledged < sent
                && let Ok(frame) = timeout_at(now + EVERY, live.next()).await
            {
                let frame = frame?;
                if Kind::Error.is(&frame) {
                    bail!("a write was refused: {frame}");
                }
                acknowledged += usize::from(Kind::Ack.is(&frame));
            }
        }
        Ok(count)
    }

    async fn messages(&self, count: usize) -> Result<Latencies> {
        super::message::talk(self.endpoint.clone(), self.endpoint.clone(), self.other.clone(), count).await
    }

    async fn messages_beside_writes(&self, count: usize) -> Result<Latencies> {
        let writer = Self { endpoint: self.endpoint.clone(), writing: self.writing.clone(), other: String::new() };
        let mut tasks = JoinSet::new();
        // More than there is time for; it ends with the messages.
        tasks.spawn(async move { writer.writes(usize::MAX).await.map(drop) });
        let messages = self.messages(count).await;
        if let Some(ended) = tasks.try_join_next() {
            ended??;
        }
        messages
    }
}
