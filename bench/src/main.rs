//! Measures Throughline in comparison with what it is built on: the bare disk, the bare engine, `cp`. Run as `cargo
//! xtask bench`.
//!
//! It knows the store and the engine as libraries, the program as a process, and the yardsticks. It must never
//! assert: a figure is shown with its spread and its bar, and a person judges. Invariant: both sides of a ratio are
//! measured one after the other in the same repeat, with the same guarantee about what is on disk.
//!
//! Start reading at `benches.rs`, then `line.rs`.

mod agent;
mod benches;
mod client;
mod cores;
mod cost;
mod line;
mod machine;
mod plot;
mod report;
mod run;
mod server;
mod stamp;
mod statistics;
mod stores;
mod words;
mod yardsticks;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use engine::{Clock as _, SystemClock};

use benches::{BENCHES, Bench};
use machine::Machine;
use report::Report;
use run::{Extent, Run};

/// Measure Throughline beside the bare disk and the bare engine.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench", after_help = names())]
struct Options {
    /// Only these measurements
    names: Vec<String>,
    /// A tenth of everything, and no store of a million sessions
    #[arg(long)]
    quick: bool,
    /// How many pieces are searched
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(10_000..))]
    pieces: u32,
    /// How often each is measured
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..))]
    repeats: u8,
    /// Where the results go instead of bench/results
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Measures nothing and draws the picture and the page from earlier results
    #[arg(long, value_name = "FILE", conflicts_with_all = ["names", "quick", "repeats", "out"])]
    draw: Option<PathBuf>,
    /// The program to measure
    #[arg(long, hide = true)]
    binary: PathBuf,
    /// Where ripgrep is
    #[arg(long, hide = true)]
    ripgrep: Option<PathBuf>,
    /// Where stores and files of the run lie
    #[arg(long, hide = true)]
    folder: PathBuf,
}

const RESULTS: &str = "bench/results";
const PICTURE: &str = "docs/images/bench.svg";
const PAGE: &str = "docs/performance.md";
/// The newest figures are between these lines of the page.
const FIGURES_BEGIN: &str = "<!-- figures: written by cargo xtask bench -->\n";
const FIGURES_END: &str = "<!-- end of figures -->\n";

#[expect(clippy::print_stdout, reason = "the table is what the command is for")]
fn main() -> Result<()> {
    if let Some(act) = std::env::args().nth(1).and_then(|word| agent::started_role(&word)) {
        return act();
    }
    let options = Options::parse();
    if let Some(path) = &options.draw {
        return publish(&read_report(path)?);
    }
    cores::allow_many_files()?;
    run::make_folder(&options.folder)?;
    let chosen = chosen(&options.names)?;
    let report = measure(&options, &chosen)?;
    println!("\n{}", report.table());
    match report.missed() {
        0 => println!("every bar holds"),
        missed => println!("{missed} bars are missed"),
    }
    let whole = chosen.len() == BENCHES.len() && !options.quick;
    let path = match &options.out {
        Some(path) => path.clone(),
        None if whole => Path::new(RESULTS).join(format!("{}-{}.json", report.date, report.commit)),
        None => options.folder.join("last.json"),
    };
    save(&report, &path)?;
    if whole && options.out.is_none() {
        save(&report, &Path::new(RESULTS).join("latest.json"))?;
        publish(&report)?;
    }
    println!("kept in {}", path.display());
    Ok(())
}

fn measure(options: &Options, chosen: &[&Bench]) -> Result<Report> {
    let machine = Machine::detect(&options.folder)?;
    let commit = machine::commit()?;
    let run = Run {
        binary: options.binary.clone(),
        folder: options.folder.canonicalize().context("the folder of the run is gone")?,
        ripgrep: options.ripgrep.clone(),
        pieces: options.pieces as usize,
        repeats: usize::from(options.repeats),
        extent: if options.quick { Extent::Quick } else { Extent::Full },
    };
    let mut lines = Vec::new();
    for bench in chosen {
        run::print_progress(&format!("== {}: {}", bench.name, bench.about));
        lines.extend((bench.measure)(&run).with_context(|| format!("{} broke off", bench.name))?);
    }
    let date = SystemClock.now().to_string().chars().take(10).collect();
    Ok(Report { date, commit, repeats: run.repeats, machine, lines })
}

fn chosen(names: &[String]) -> Result<Vec<&'static Bench>> {
    for name in names {
        ensure!(BENCHES.iter().any(|bench| bench.name == name), "no measurement is called {name:?}\n{}", self::names());
    }
    Ok(BENCHES.iter().filter(|bench| names.is_empty() || names.iter().any(|name| name == bench.name)).collect())
}

fn names() -> String {
    let lines = BENCHES.iter().map(|bench| format!("  {:<8}  {}", bench.name, bench.about));
    format!("Measurements:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

fn save(report: &Report, path: &Path) -> Result<()> {
    if let Some(folder) = path.parent() {
        run::make_folder(folder)?;
    }
    let text = serde_json::to_string_pretty(report)? + "\n";
    fs::write(path, text).with_context(|| format!("could not write {}", path.display()))
}

fn read_report(path: &Path) -> Result<Report> {
    let text = fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} holds no results", path.display()))
}

/// Draws the picture and writes the figures into the page.
fn publish(report: &Report) -> Result<()> {
    plot::draw(report, Path::new(PICTURE)).with_context(|| format!("could not draw {PICTURE}"))?;
    let page = fs::read_to_string(PAGE).with_context(|| format!("could not read {PAGE}"))?;
    let page = with_figures(&page, &report.markdown()).with_context(|| format!("{PAGE} has no place for figures"))?;
    fs::write(PAGE, page).with_context(|| format!("could not write {PAGE}"))
}

fn with_figures(page: &str, figures: &str) -> Option<String> {
    let (before, rest) = page.split_once(FIGURES_BEGIN)?;
    let (_, after) = rest.split_once(FIGURES_END)?;
    Some(format!("{before}{FIGURES_BEGIN}\n{figures}\n{FIGURES_END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_take_the_place_of_earlier_ones() {
        let page = format!("a\n{FIGURES_BEGIN}old\n{FIGURES_END}b\n");
        let new = with_figures(&page, "new\n").unwrap();
        assert_eq!(new, format!("a\n{FIGURES_BEGIN}\nnew\n\n{FIGURES_END}b\n"));
        assert_eq!(with_figures(&new, "new\n").unwrap(), new);
        assert_eq!(with_figures("no place", "new"), None);
    }

    #[test]
    fn only_known_measurements_are_taken() {
        assert_eq!(chosen(&[]).unwrap().len(), BENCHES.len());
        assert_eq!(chosen(&["replay".to_owned()]).unwrap().len(), 1);
        assert!(chosen(&["reply".to_owned()]).is_err_and(|err| err.to_string().contains("fan-out")));
    }
}
