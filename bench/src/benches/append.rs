//! Durable appends through our store and our engine, compared with the bare disk, a file of lines and the bare
//! engine.
//!
//! Invariant: every side has written past its first checkpoint before anything is measured. A write-ahead log that
//! still grows pays for the file's growth at each flush, which it never does again later.

mod lines;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use engine::{Asker, ChangeSession, Clock as _, Engine, Reach, Seams, SystemClock, SystemIds};
use model::{Event, Incarnation, Seq, Session, SessionEvent, SessionId};
use store::prelude::*;
use store::{Batch, Part, SqliteStore};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::cost::Meter;
use crate::line::Line;
use crate::run::Run;
use crate::statistics::{Latencies, per_second};
use crate::words::{self, PART_BYTES, Texts};
use crate::yardsticks::{BareSqlite, JsonLines, Overwrite};

const NAME: &str = "append";
const WRITERS: usize = 64;
const BATCH: usize = 100;
const WARM_UP: usize = 3_000;

pub(super) fn measure(run: &Run) -> Result<Vec<Line>> {
    let folder = run.fresh_folder(NAME)?;
    let runtime = Runtime::new()?;
    let mut sides = Sides::open(&folder, &runtime)?;
    crate::run::print_progress("append: warming up");
    sides.once(&runtime, run.times(WARM_UP))?;
    let mut repeats = Vec::new();
    run.repeat(NAME, || {
        repeats.push(sides.once(&runtime, run.times(2_000))?);
        Ok(())
    })?;
    Ok(lines::of(&repeats))
}

/// The session of one writer.
#[derive(Clone)]
struct Writer {
    id: SessionId,
    head: Seq,
    session: Option<Session>,
    texts: Arc<Texts>,
    written: usize,
}

struct Sides {
    overwrite: Overwrite,
    json_lines: JsonLines,
    bare: BareSqlite,
    texts: Arc<Texts>,
    store: Arc<SqliteStore>,
    writers: Vec<Writer>,
    engine: Engine,
    sessions: Vec<SessionId>,
}

/// The results of one repeat.
struct Repeat {
    overwrite: Phase,
    json_lines: Phase,
    bare: Phase,
    bare_batches: Phase,
    store_one: Phase,
    store_many: Phase,
    store_batches: Phase,
    engine_one: Phase,
    engine_many: Phase,
}

struct Phase {
    per_second: f64,
    p50_us: f64,
    p99_us: f64,
    cpu_us: f64,
    written_kb: f64,
}

impl Sides {
    fn open(folder: &Path, runtime: &Runtime) -> Result<Self> {
        let open = |name: &str| SqliteStore::open(&folder.join(name), Incarnation::from_bits(1)).map(Arc::new);
        let (store, engines_store) = (open("store.db")?, open("engine.db")?);
        let texts = Arc::new(Texts::new(PART_BYTES));
        let writers = (0..WRITERS as u64).map(|number| runtime.block_on(Writer::begin(&store, number, &texts)));
        let writers = writers.collect::<Result<_>>()?;
        let seams = Seams {
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
            home: None,
            copies: None,
            agency: engine::Agency::only_guide(),
            summarising: None,
            search: None,
            history: None,
            usage: engine::UsageSettings::default(),
            outputs: engine::OutputSettings::in_memory(),
        };
        let (engine, sessions) = runtime.block_on(async {
            let engine = Engine::start(engines_store, seams).await?;
            let mut sessions = Vec::new();
            for _ in 0..WRITERS {
                let cwd = folder.to_string_lossy();
                let made = engine.create_session("guide", &cwd, String::new(), Reach::Careful, asker()).await?;
                sessions.push(made.session);
            }
            anyhow::Ok((engine, sessions))
        })?;
        Ok(Self {
            overwrite: Overwrite::open(folder)?,
            json_lines: JsonLines::open(folder)?,
            bare: BareSqlite::open(folder)?,
            texts,
            store,
            writers,
            engine,
            sessions,
        })
    }

    /// Every side, one after the other, so that the machine is the same for all.
    fn once(&mut self, runtime: &Runtime, writes: usize) -> Result<Repeat> {
        let events: Vec<Vec<u8>> = (0..writes).map(|n| Event::from(words::part(self.texts.nth(n))).encode()).collect();
        let many = writes * 8;
        let per_writer = many / WRITERS;
        Ok(Repeat {
            overwrite: phase(writes, || self.overwrite.write(writes))?,
            store_one: phase(writes, || runtime.block_on(append(&self.store, &mut self.writers[..1], writes)))?,
            json_lines: phase(writes, || self.json_lines.write(&events))?,
            engine_one: phase(writes, || runtime.block_on(rename(&self.engine, &self.sessions[..1], writes)))?,
            bare: phase(writes, || self.bare.write(&events, 1))?,
            store_many: phase(per_writer * WRITERS, || {
                runtime.block_on(append(&self.store, &mut self.writers, per_writer))
            })?,
            engine_many: phase(per_writer * WRITERS, || {
                runtime.block_on(rename(&self.engine, &self.sessions, per_writer))
            })?,
            bare_batches: phase(writes, || self.bare.write(&events, BATCH))?,
            store_batches: phase(writes / BATCH * BATCH, || {
                runtime.block_on(append_batches(&self.store, &mut self.writers[0], writes / BATCH))
            })?,
        })
    }
}

fn phase(events: usize, write: impl FnOnce() -> Result<Latencies>) -> Result<Phase> {
    let meter = Meter::own()?;
    let started = Instant::now();
    let mut latencies = write()?;
    let took = started.elapsed();
    let cost = meter.read()?;
    Ok(Phase {
        per_second: per_second(events, took),
        p50_us: latencies.percentile_us(50.0),
        p99_us: latencies.percentile_us(99.0),
        cpu_us: cost.cpu_us_per(events),
        written_kb: cost.kb_per(events),
    })
}

impl Writer {
    async fn begin(store: &SqliteStore, number: u64, texts: &Arc<Texts>) -> Result<Self> {
        let id = words::session_id(number);
        let mut writer =
            Self { id, head: Seq::START, session: None, texts: Arc::clone(texts), written: number as usize };
        let events = words::beginning(number, format!("writer {number}"), "write as fast as you can");
        writer.append(store, events).await?;
        Ok(writer)
    }

    fn next_part(&mut self) -> SessionEvent {
        self.written += 1;
        words::part(self.texts.nth(self.written))
    }

    async fn append(&mut self, store: &SqliteStore, events: Vec<SessionEvent>) -> Result<Duration> {
        let started = Instant::now();
        let (part, session) = Part::of_session(self.id, self.head, self.session.take(), events, SystemClock.now());
        self.head = part.entries.last().map_or(self.head, |entry| entry.seq);
        self.session = session;
        store.append(Batch { parts: vec![part], ..Batch::default() }).await?;
        Ok(started.elapsed())
    }
}

/// Each writer appends `times` parts, one at a time; all writers at once.
async fn append(store: &Arc<SqliteStore>, writers: &mut [Writer], times: usize) -> Result<Latencies> {
    let mut tasks = JoinSet::new();
    for writer in writers.iter() {
        let (mut writer, store) = (writer.clone(), Arc::clone(store));
        tasks.spawn(async move {
            let mut latencies = Latencies::default();
            for _ in 0..times {
                let event = writer.next_part();
                latencies.push(writer.append(&store, vec![event]).await?);
            }
            anyhow::Ok((writer, latencies))
        });
    }
    let mut all = Latencies::default();
    for done in tasks.join_all().await {
        let (writer, latencies) = done?;
        all.extend(latencies);
        if let Some(place) = writers.iter_mut().find(|place| place.id == writer.id) {
            *place = writer;
        }
    }
    Ok(all)
}

async fn append_batches(store: &SqliteStore, writer: &mut Writer, batches: usize) -> Result<Latencies> {
    let mut latencies = Latencies::default();
    for _ in 0..batches {
        let events = (0..BATCH).map(|_| writer.next_part()).collect();
        latencies.push(writer.append(store, events).await?);
    }
    Ok(latencies)
}

/// Each session is renamed `times`, one at a time; all at once. That rewrites the session's row, which a part does
/// not.
async fn rename(engine: &Engine, sessions: &[SessionId], times: usize) -> Result<Latencies> {
    let mut tasks = JoinSet::new();
    for session in sessions.iter().copied() {
        let engine = engine.clone();
        tasks.spawn(async move {
            let mut latencies = Latencies::default();
            for n in 0..times {
                let name = Some(format!("a session with a name, {n}"));
                let started = Instant::now();
                engine.submit(session, ChangeSession { name, ..ChangeSession::default() }, asker()).await?;
                latencies.push(started.elapsed());
            }
            anyhow::Ok(latencies)
        });
    }
    let mut all = Latencies::default();
    for done in tasks.join_all().await {
        all.extend(done?);
    }
    Ok(all)
}

fn asker() -> Asker {
    Asker { principal: "bench".to_owned(), key: None }
}
