//! The cost of the index for writers, and how soon new text is found: through the real engine on a real disk.
//!
//! Two engines write the same, one without an index, each in turn.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use engine::{Asker, ChangeSession, Engine, Reach, Seams, SearchParams, SystemClock, SystemIds, Within};
use model::{Incarnation, SessionId};
use store::SqliteStore;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::NAME;
use crate::line::{Bar, Line};
use crate::run::{Run, make_folder, print_progress};
use crate::statistics::{Latencies, per_second};

const WRITERS: usize = 64;
const WRITES: usize = 20_000;
const FINDS: usize = 1_000;
/// Nobody would wait longer.
const FIND_LIMIT: Duration = Duration::from_secs(10);

pub(super) fn measure(run: &Run, folder: &Path) -> Result<Vec<Line>> {
    let runtime = Runtime::new()?;
    let with = runtime.block_on(Side::start(&folder.join("with-index"), true))?;
    let without = runtime.block_on(Side::start(&folder.join("without-index"), false))?;
    let (mut indexed, mut bare) = (Vec::new(), Vec::new());
    let (mut findable, mut durable) = (Vec::new(), Vec::new());
    let each = run.times(WRITES) / WRITERS;
    run.repeat("search, appending while it is indexed", || {
        bare.push(runtime.block_on(without.rename_all(each))?);
        indexed.push(runtime.block_on(with.rename_all(each))?);
        Ok(())
    })?;
    run.repeat("search, found after its commit", || {
        let (mut commits, mut finds) = runtime.block_on(with.write_and_find(run.times(FINDS)))?;
        durable.push(commits.percentile_us(99.0));
        findable.push(finds.percentile_us(99.0));
        Ok(())
    })?;
    print_progress("search: ending");
    runtime.block_on(async {
        with.engine.shutdown().await;
        without.engine.shutdown().await;
    });
    Ok(vec![
        Line::beside(NAME, "renames, 64 sessions, while they are indexed", "1/s", &indexed, "without an index", &bare)
            .bar(Bar::AtLeast(0.7)),
        Line::beside(NAME, "committed to found: p99", "us", &findable, "a durable commit, p99", &durable)
            .bar(Bar::AtMost(3.0))
            .note("found by a search of its own, with its snippet"),
    ])
}

struct Side {
    engine: Engine,
    sessions: Vec<SessionId>,
}

impl Side {
    async fn start(folder: &Path, with_index: bool) -> Result<Self> {
        make_folder(folder)?;
        let store = Arc::new(SqliteStore::open(&folder.join("throughline.db"), Incarnation::from_bits(1))?);
        let seams = Seams {
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
            home: None,
            copies: None,
            agency: engine::Agency::only_guide(),
            summarising: None,
            search: with_index.then(|| folder.join("search")),
            history: None,
            usage: engine::UsageSettings::default(),
            outputs: engine::OutputSettings::in_memory(),
        };
        let engine = Engine::start(store, seams).await?;
        let mut sessions = Vec::new();
        for _ in 0..WRITERS {
            let cwd = folder.to_string_lossy();
            let made = engine.create_session("guide", &cwd, String::new(), Reach::Careful, asker()).await?;
            sessions.push(made.session);
        }
        Ok(Self { engine, sessions })
    }

    /// Renames a second, all sessions at once.
    async fn rename_all(&self, each: usize) -> Result<f64> {
        let started = Instant::now();
        let mut tasks = JoinSet::new();
        for session in self.sessions.iter().copied() {
            let engine = self.engine.clone();
            tasks.spawn(async move {
                for number in 0..each {
                    rename(&engine, session, format!("a session with a name, {number}")).await?;
                }
                anyhow::Ok(())
            });
        }
        for done in tasks.join_all().await {
            done?;
        }
        Ok(per_second(each * self.sessions.len(), started.elapsed()))
    }

    /// How long each commit took, and how long after it its text was found.
    async fn write_and_find(&self, times: usize) -> Result<(Latencies, Latencies)> {
        let (mut commits, mut finds) = (Latencies::default(), Latencies::default());
        for number in 0..times {
            let name = format!("needle{number:07}x{}", commits.len());
            let started = Instant::now();
            rename(&self.engine, self.sessions[number % self.sessions.len()], name.clone()).await?;
            let committed = Instant::now();
            commits.push(committed - started);
            loop {
                let wish =
                    SearchParams { words: name.clone(), exact: false, within: Within::Everything, skip: 0, limit: 1 };
                if !self.engine.search(wish).await?.turns.is_empty() {
                    break;
                }
                ensure!(committed.elapsed() < FIND_LIMIT, "{name} is not found");
            }
            finds.push(committed.elapsed());
        }
        Ok((commits, finds))
    }
}

async fn rename(engine: &Engine, session: SessionId, name: String) -> Result<()> {
    engine.submit(session, ChangeSession { name: Some(name), ..ChangeSession::default() }, asker()).await?;
    Ok(())
}

fn asker() -> Asker {
    Asker { principal: "bench".to_owned(), key: None }
}
