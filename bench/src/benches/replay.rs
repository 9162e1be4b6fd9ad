//! How fast a session's whole log is read: from the store, page by page, and over one socket of the real program.

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use model::{Event, Incarnation, Seq, StreamId};
use store::{Log as _, SqliteStore};
use tokio::runtime::Runtime;

use crate::client::{Kind, Live};
use crate::line::{Bar, Line};
use crate::run::Run;
use crate::server::Server;
use crate::statistics::per_second;
use crate::words::{self, PART_BYTES, Texts};
use crate::yardsticks::BareSqlite;
use crate::{stores, words::session_id};

const NAME: &str = "replay";
const PARTS: u64 = 100_000;
const SHORT_BYTES: usize = 120;
const PAGE: usize = 1_000;
const BARE: &str = "bare SQLite select";

pub(super) fn measure(run: &Run) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for (bytes, size) in [(PART_BYTES, "1.2 kB"), (SHORT_BYTES, "120 B")] {
        let size = Size { bytes, name: size, parts: run.times(PARTS as usize) as u64 };
        lines.extend(measure_size(run, &size)?);
    }
    Ok(lines)
}

struct Size {
    bytes: usize,
    name: &'static str,
    parts: u64,
}

fn measure_size(run: &Run, size: &Size) -> Result<Vec<Line>> {
    let runtime = Runtime::new()?;
    let data = stores::of_parts(run, size.parts, size.bytes)?;
    let bare = bare_copy(run, size)?;
    let (mut store_rates, mut bare_rates) = (Vec::new(), Vec::new());
    {
        let store = SqliteStore::open(&stores::database(&data), Incarnation::from_bits(2))?;
        runtime.block_on(read_all(&store))?;
        run.repeat(&format!("replay from the store, {}", size.name), || {
            bare_rates.push(rate(|| bare.read())?);
            store_rates.push(rate(|| runtime.block_on(read_all(&store)))?);
            Ok(())
        })?;
    }
    let server = Server::start(&run.binary, &data)?;
    let (mut socket_rates, mut socket_cpu) = (Vec::new(), Vec::new());
    let session = session_id(0).to_string();
    let follow = || {
        runtime.block_on(async {
            let mut live = Live::connect(&server.endpoint).await?;
            live.follow(&session, None).await?;
            live.until(Kind::CaughtUp).await
        })
    };
    follow()?;
    run.repeat(&format!("replay over a socket, {}", size.name), || {
        let meter = server.meter()?;
        let mut entries = 0;
        socket_rates.push(rate(|| {
            entries = follow()?;
            Ok(entries)
        })?);
        ensure!(entries as u64 > size.parts, "only {entries} entries came");
        socket_cpu.push(meter.read()?.cpu_us_per(entries));
        Ok(())
    })?;
    server.stop()?;

    let from_store = format!("entries of {} from the store", size.name);
    let on_socket = format!("entries of {} on one socket", size.name);
    let cpu = format!("entries of {} on one socket: CPU of the server each", size.name);
    Ok(vec![
        Line::new(NAME, &from_store, "1/s", &store_rates).bar(Bar::AtLeast(100_000.0)),
        Line::beside(NAME, &from_store, "1/s", &store_rates, BARE, &bare_rates),
        Line::new(NAME, &on_socket, "1/s", &socket_rates).bar(Bar::AtLeast(30_000.0)),
        Line::new(NAME, &cpu, "us", &socket_cpu),
    ])
}

fn rate(read: impl FnOnce() -> Result<usize>) -> Result<f64> {
    let started = Instant::now();
    let count = read()?;
    Ok(per_second(count, started.elapsed()))
}

async fn read_all(store: &SqliteStore) -> Result<usize> {
    let stream = StreamId::Session(session_id(0));
    let (mut after, mut count) = (Seq::START, 0);
    loop {
        let page = store.read(stream, after, PAGE).await.context("could not read a page")?;
        let Some(last) = page.last() else { return Ok(count) };
        after = last.seq;
        count += page.len();
    }
}

/// The same bytes in the bare engine.
fn bare_copy(run: &Run, size: &Size) -> Result<BareSqlite> {
    let mut bare = BareSqlite::open(&run.fresh_folder("replay")?)?;
    let texts = Texts::new(size.bytes);
    let events: Vec<_> = (0..size.parts as usize).map(|n| Event::from(words::part(texts.nth(n))).encode()).collect();
    bare.write(&events, 500)?;
    Ok(bare)
}
