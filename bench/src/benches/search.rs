//! The index over all sessions, compared with bare engines and with a plain scan of the same text.
//!
//! Each side answers the same queries with its best twenty. In comparison with the bare library, on the same index,
//! ours returns turns as the library returns documents, but also counts them and ranks them by age and kind. In
//! comparison with SQLite and ripgrep it also returns snippets. The CPU time of the searching thread is compared, so
//! that a busy machine does not spoil it.

mod corpus;
mod fresh;
mod others;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use model::{Incarnation, Position, Timestamp};
use search::{Index, Query, Wanted, Within, snippet};

use crate::cost::{anonymous_mb, own_cpu, thread_cpu};
use crate::line::{Bar, Line};
use crate::run::{Extent, Run, print_progress};
use crate::statistics::Latencies;

use corpus::{Corpus, Queries};
use others::{BareTantivy, Fts5, fill_bare, ripgrep};

const NAME: &str = "search";
const LIMIT: usize = 20;
const SNIPPET_CHARS: usize = 200;
const COMMIT_EVERY: usize = 20_000;
/// How many queries of a class SQLite gets.
const FTS5_QUERIES: usize = 5;
const BARE: &str = "bare tantivy, same index";
const FTS5: &str = "SQLite FTS5, bm25, no texts";
const RIPGREP: &str = "ripgrep, warm: its CPU time over the cores";
const SCAN: &str = "a scan of the text in memory, one thread";

pub(super) fn measure(run: &Run) -> Result<Vec<Line>> {
    let folder = run.fresh_folder("search")?;
    let pieces = run.times(run.pieces);
    print_progress(&format!("search: writing {pieces} pieces"));
    let corpus = Corpus::new(pieces);
    let text_mb = corpus.bytes() as f64 / 1e6;

    print_progress("search: filling ours");
    let (index, ours_cpu) = fill(&folder.join("ours"), &corpus)?;
    let ours_mb = megabytes(index.folder())?;
    print_progress("search: filling bare tantivy");
    let bare_cpu = fill_bare(&folder.join("tantivy"), &corpus)?;
    let bare = BareTantivy::open(index.folder())?;
    print_progress("search: filling FTS5");
    let limit = match run.extent {
        Extent::Full => Duration::from_secs(240),
        Extent::Quick => Duration::from_secs(30),
    };
    let (fts5, held) = Fts5::fill(&folder.join("fts5.db"), &corpus, limit)?;
    let text = folder.join("text");
    if run.ripgrep.is_some() {
        ripgrep::write(&text, &corpus)?;
    }
    let filled_beside = "bare tantivy, one field, text stored";
    let mut lines = vec![
        Line::new(NAME, "index against its text", "x", &[ours_mb / text_mb]).bar(Bar::AtMost(0.5)),
        Line::beside(
            NAME,
            "filling, text a CPU second",
            "MB/s",
            &[text_mb / ours_cpu],
            filled_beside,
            &[text_mb / bare_cpu],
        )
        .bar(Bar::AtLeast(0.6)),
    ];
    let queries = Queries::of(&corpus);
    for (class, typed) in queries.classes() {
        // The first answer of each reads into memory what the others find there.
        for text in typed {
            ours(&index, &corpus, text, Show::Snippets)?;
            bare.search(class, text)?;
        }
        fts5.search(class, &typed[0])?;
        let mut sides = Sides::default();
        run.repeat(&format!("search, {class}"), || {
            let mut took: [Latencies; 6] = Default::default();
            for (number, text) in typed.iter().enumerate() {
                // The second side finds the words' postings in the processor's cache: they take turns.
                let is_bare_first = number % 2 == 1;
                if is_bare_first {
                    took[3].push(timed(|| bare.search(class, text))?.0);
                }
                took[0].push(timed(|| ours(&index, &corpus, text, Show::Turns))?.0);
                if !is_bare_first {
                    took[3].push(timed(|| bare.search(class, text))?.0);
                }
                let (cpu, wall) = timed(|| ours(&index, &corpus, text, Show::Snippets))?;
                took[1].push(cpu);
                took[2].push(wall);
            }
            // A word that is everywhere takes it a second.
            for text in typed.iter().take(FTS5_QUERIES) {
                took[4].push(timed(|| fts5.search(class, text))?.0);
            }
            match &run.ripgrep {
                Some(program) => {
                    for typed in typed {
                        took[5].push(ripgrep::search(program, &text, typed)?);
                    }
                }
                None => took[5].push(timed(|| scan(&corpus, &typed[0]))?.0),
            }
            sides.push(&mut took);
            Ok(())
        })?;
        lines.extend(sides.lines(class, run, (held < pieces).then_some(held)));
    }
    let before = anonymous_mb(std::process::id())?;
    index.add(&corpus.piece(0), corpus.about())?;
    index.commit(Position(pieces as u64 + 1))?;
    let with_writer = anonymous_mb(std::process::id())? - before;
    lines.push(Line::new(NAME, "memory while something is written", "MB", &[with_writer]));
    index.rest()?;
    drop((index, corpus));
    lines.extend(fresh::measure(run, &folder)?);
    Ok(lines)
}

/// One reading for each repeat, in microseconds.
#[derive(Default)]
struct Sides {
    turns: Vec<f64>,
    shown: Vec<f64>,
    shown_p99: Vec<f64>,
    wall: Vec<f64>,
    bare: Vec<f64>,
    fts5: Vec<f64>,
    scan: Vec<f64>,
    scan_p99: Vec<f64>,
}

impl Sides {
    fn push(&mut self, took: &mut [Latencies; 6]) {
        let [turns, shown, wall, bare, fts5, scan] = took;
        self.turns.push(turns.percentile_us(50.0));
        self.shown.push(shown.percentile_us(50.0));
        self.shown_p99.push(shown.percentile_us(99.0));
        self.wall.push(wall.percentile_us(50.0));
        self.bare.push(bare.percentile_us(50.0));
        self.fts5.push(fts5.percentile_us(50.0));
        self.scan.push(scan.percentile_us(50.0));
        self.scan_p99.push(scan.percentile_us(99.0));
    }

    fn lines(&self, class: &str, run: &Run, held: Option<usize>) -> Vec<Line> {
        let scanned = if run.ripgrep.is_some() { RIPGREP } else { SCAN };
        let (turns, shown) = (format!("{class}, turns: CPU p50"), format!("{class}, with snippets: CPU p50"));
        let mut fts5 = Line::beside(NAME, &shown, "us", &self.shown, FTS5, &self.fts5);
        if class == "very common word" {
            fts5 = fts5.bar(Bar::AtMost(0.02));
        }
        if let Some(held) = held {
            fts5 = fts5.note(format!("FTS5 held {held} pieces when its time to be filled was over"));
        }
        vec![
            Line::beside(NAME, &turns, "us", &self.turns, BARE, &self.bare).bar(Bar::AtMost(1.5)),
            fts5,
            Line::beside(NAME, &shown, "us", &self.shown, scanned, &self.scan).bar(Bar::AtMost(0.05)),
            Line::beside(
                NAME,
                &format!("{class}, with snippets: CPU p99"),
                "us",
                &self.shown_p99,
                scanned,
                &self.scan_p99,
            )
            .bar(Bar::AtMost(0.5)),
            Line::new(NAME, &format!("{class}, with snippets: p50 by the clock"), "us", &self.wall),
        ]
    }
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Show {
    Turns,
    Snippets,
}

fn ours(index: &Index, corpus: &Corpus, typed: &str, show: Show) -> Result<usize> {
    let query = Query::parse(typed);
    let wanted = Wanted {
        within: Within::Everything,
        limit: LIMIT,
        now: Timestamp::from_millis(corpus.len() as i64 * 1_000),
        deadline: Instant::now() + Duration::from_secs(10),
    };
    let found = index.search(&query, &wanted)?;
    ensure!(!found.hits.is_empty(), "{typed:?} is not found");
    if show == Show::Turns {
        return Ok(found.hits.len());
    }
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

/// CPU time of this thread, and wall-clock time.
fn timed(work: impl FnOnce() -> Result<usize>) -> Result<(Duration, Duration)> {
    let (cpu, started) = (thread_cpu(), Instant::now());
    work()?;
    Ok((thread_cpu() - cpu, started.elapsed()))
}

fn megabytes(folder: &Path) -> Result<f64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes as f64 / 1e6)
}
