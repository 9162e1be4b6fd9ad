//! The index over all sessions beside bare engines, and beside a plain scan of the same text.
//!
//! Each side answers the same queries with its best twenty. Ours and the bare library give them with snippets; SQLite
//! gives their texts. Ours also counts, and ranks by age and kind.

mod corpus;
mod others;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use model::{Incarnation, Position, Timestamp};
use search::{Index, Query, Wanted, Within, snippet};

use crate::cost::{Meter, anonymous_mb, own_cpu};
use crate::line::{Bar, Line};
use crate::run::{Run, say};
use crate::statistics::Latencies;

use corpus::{Corpus, Queries};
use others::{BareTantivy, Fts5, ripgrep};

const NAME: &str = "search";
const PIECES: usize = 1_000_000;
const LIMIT: usize = 20;
const SNIPPET_CHARS: usize = 200;
const COMMIT_EVERY: usize = 20_000;
const BARE: &str = "bare tantivy, text stored";
const FTS5: &str = "SQLite FTS5, bm25";

pub(super) fn measure(run: &Run) -> Result<Vec<Line>> {
    let folder = run.fresh_folder("search")?;
    let pieces = run.times(PIECES);
    say(&format!("search: writing {pieces} pieces"));
    let corpus = Corpus::new(pieces);
    let text_mb = corpus.bytes() as f64 / 1e6;

    say("search: filling ours");
    let (index, ours_cpu) = fill(&folder.join("ours"), &corpus)?;
    let ours_mb = megabytes(index.folder())?;
    say("search: filling bare tantivy");
    let (bare, bare_cpu) = BareTantivy::fill(&folder.join("tantivy"), &corpus)?;
    say("search: filling FTS5");
    let fts5 = Fts5::fill(&folder.join("fts5.db"), &corpus)?;
    let has_ripgrep = ripgrep::write(&folder.join("text"), &corpus)?;

    let mut lines = vec![
        Line::new(NAME, "index against its text", "x", &[ours_mb / text_mb]).bar(Bar::AtMost(0.5)),
        Line::beside(NAME, "filling, text a CPU second", "MB/s", &[text_mb / ours_cpu], BARE, &[text_mb / bare_cpu])
            .bar(Bar::AtLeast(0.6)),
    ];
    let queries = Queries::of(&corpus);
    for (class, typed) in queries.classes() {
        let (mut p50, mut p99) = ([Vec::new(), Vec::new(), Vec::new()], Vec::new());
        let mut scans = Vec::new();
        // The first answer of each reads what the others find in memory.
        for text in typed {
            ours(&index, &corpus, text)?;
            bare.search(class, text)?;
            fts5.search(class, text)?;
        }
        run.repeat(&format!("search, {class}"), || {
            let mut took = [Latencies::default(), Latencies::default(), Latencies::default()];
            for text in typed {
                took[0].push(timed(|| ours(&index, &corpus, text))?);
                took[1].push(timed(|| bare.search(class, text))?);
                took[2].push(timed(|| fts5.search(class, text))?);
            }
            for (all, took) in p50.iter_mut().zip(&mut took) {
                all.push(took.percentile_us(50.0));
            }
            p99.push(took[0].percentile_us(99.0));
            let scan = match has_ripgrep {
                true => timed(|| ripgrep::search(&folder.join("text"), &typed[0]))?,
                false => timed(|| scan(&corpus, &typed[0]))?,
            };
            scans.push(scan.as_secs_f64() * 1e6);
            Ok(())
        })?;
        let scanned = if has_ripgrep { "ripgrep, warm" } else { "a scan of the text in memory, one thread" };
        let what = format!("{class}, p50");
        lines.push(Line::beside(NAME, &what, "us", &p50[0], BARE, &p50[1]).bar(Bar::AtMost(1.5)));
        lines.push(Line::beside(NAME, &what, "us", &p50[0], FTS5, &p50[2]));
        let mut line = Line::beside(NAME, &what, "us", &p50[0], scanned, &scans).bar(Bar::AtMost(0.05));
        if !has_ripgrep {
            line = line.note("ripgrep is not installed here");
        }
        lines.push(line);
        lines.push(Line::beside(NAME, &format!("{class}, p99"), "us", &p99, scanned, &scans).bar(Bar::AtMost(0.5)));
    }
    let meter = Meter::own()?;
    let all: Vec<&String> = queries.classes().flat_map(|(_, typed)| typed).collect();
    for text in &all {
        ours(&index, &corpus, text)?;
    }
    lines.push(Line::new(NAME, "CPU a query, over all classes", "us", &[meter.read()?.cpu_us_per(all.len())]));
    let before = anonymous_mb(std::process::id())?;
    index.add(&corpus.piece(0), corpus.about())?;
    index.commit(Position(pieces as u64 + 1))?;
    let with_writer = anonymous_mb(std::process::id())? - before;
    lines.push(Line::new(NAME, "memory while something is written", "MB", &[with_writer]));
    index.rest()?;
    Ok(lines)
}

fn fill(folder: &Path, corpus: &Corpus) -> Result<(Index, f64)> {
    let index = Index::open(folder, Incarnation::from_bits(1), search::Trust::Opened)?.index;
    index.set_filling(true)?;
    let before = own_cpu()?;
    for number in 0..corpus.len() {
        index.add(&corpus.piece(number), corpus.about())?;
        if number % COMMIT_EVERY == COMMIT_EVERY - 1 {
            index.commit(Position(number as u64))?;
        }
    }
    index.commit(Position(corpus.len() as u64))?;
    index.set_filling(false)?;
    let cpu = own_cpu()? - before;
    Ok((index, cpu.as_secs_f64()))
}

fn ours(index: &Index, corpus: &Corpus, typed: &str) -> Result<usize> {
    let query = Query::parse(typed);
    let wanted = Wanted {
        within: Within::Everything,
        limit: LIMIT,
        now: Timestamp::from_millis(corpus.len() as i64 * 1_000),
        deadline: Instant::now() + Duration::from_secs(10),
    };
    let found = index.search(&query, &wanted)?;
    ensure!(!found.hits.is_empty(), "{typed:?} is not found");
    let shown: usize = found
        .hits
        .iter()
        .map(|hit| snippet(corpus.text(hit.first_seq.0 as usize), &query, SNIPPET_CHARS).highlights.len())
        .sum();
    ensure!(shown > 0, "{typed:?} is not shown");
    Ok(found.hits.len())
}

fn scan(corpus: &Corpus, typed: &str) -> Result<usize> {
    let query = Query::exact(typed.trim().trim_matches('"'));
    let scanner = search::Scanner::new(&query);
    Ok((0..corpus.len()).filter(|number| scanner.find(corpus.text(*number)).is_some()).count())
}

fn timed(work: impl FnOnce() -> Result<usize>) -> Result<Duration> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed())
}

fn megabytes(folder: &Path) -> Result<f64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes as f64 / 1e6)
}
