//! `cargo xtask kills`: tests durability. It runs the real program with many clients, sends `kill -9` at random
//! moments, and after each restart compares the answers that the clients got with what the log holds.
//!
//! Invariant: the test trusts nothing but the answers that it got. They are kept in this process, which is never
//! killed.

mod audit;
mod client;
pub(crate) mod http;
mod ledger;
pub(crate) mod live;
mod promises;
pub(crate) mod server;
mod stopped;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use fastrand::Rng;

use crate::run::{cargo, run as execute};
use crate::workspace::Metadata;

use audit::{Depth, Tally};
use client::{Client, Plan};
use ledger::Ledger;
use promises::Violation;
use server::Server;

/// How long after the first acknowledgement of a cycle the server is killed, in milliseconds.
const KILL_AFTER_MS: std::ops::Range<u64> = 20..400;
/// Every so many cycles the server is also killed while it starts, so that recovery itself is interrupted.
const KILL_AT_START_EVERY: u64 = 5;
const KILL_AT_START_AFTER_MS: std::ops::Range<u64> = 0..80;
const FIRST_ACK_TIMEOUT: Duration = Duration::from_secs(30);
const CI_CYCLES: u32 = 20;
const DEFAULT_CLIENTS: u32 = 8;
const SHOWN_VIOLATIONS: usize = 20;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// How often to kill
    #[arg(long, default_value_t = CI_CYCLES)]
    cycles: u32,
    /// How many clients write and follow at once
    #[arg(long, default_value_t = DEFAULT_CLIENTS, value_parser = clap::value_parser!(u32).range(1..))]
    clients: u32,
    /// Repeat the choices of an earlier run
    #[arg(long)]
    seed: Option<u64>,
    /// Use this program instead of building one
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let metadata = Metadata::read()?;
    let binary = match &options.binary {
        Some(path) => path.clone(),
        None => {
            execute(&mut cargo(&["build", "--package", "throughline"]))?;
            metadata.binary()
        }
    };
    let seed = options.seed.unwrap_or_else(fresh_seed);
    run_trial(&Trial { binary, cycles: options.cycles, clients: options.clients, seed }, &metadata)
}

/// Like `kills` without options, on the program that is built already.
pub(crate) fn run_in_ci(metadata: &Metadata) -> anyhow::Result<()> {
    let trial = Trial { binary: metadata.binary(), cycles: CI_CYCLES, clients: DEFAULT_CLIENTS, seed: fresh_seed() };
    run_trial(&trial, metadata)
}

/// Short enough to be typed again.
fn fresh_seed() -> u64 {
    fastrand::u64(..1_000_000)
}

struct Trial {
    binary: PathBuf,
    cycles: u32,
    clients: u32,
    seed: u64,
}

/// The folders of one trial; kept when it fails, for inspection.
struct Folders {
    all: PathBuf,
    data: PathBuf,
    cwd: PathBuf,
    server_log: PathBuf,
}

fn run_trial(trial: &Trial, metadata: &Metadata) -> anyhow::Result<()> {
    let folders = Folders::make(&metadata.target_directory.join("kills").join(trial.seed.to_string()))?;
    let seed = trial.seed;
    println!("{} kills, {} clients, seed {seed}", trial.cycles, trial.clients);
    let mut tally = Tally::default();
    let outcome = all_cycles(trial, &folders, &mut tally);
    println!("{tally}");
    match outcome {
        Ok(violations) if violations.is_empty() => {
            fs::remove_dir_all(&folders.all).with_context(|| format!("could not remove {}", folders.all.display()))
        }
        Ok(violations) => {
            for violation in violations.iter().take(SHOWN_VIOLATIONS) {
                println!("{violation}");
            }
            let kept = folders.all.display();
            bail!("{} promises broken; repeat with --seed {seed}; data and log in {kept}", violations.len())
        }
        Err(err) => {
            let kept = folders.all.display();
            Err(err.context(format!("the trial broke off; repeat with --seed {seed}; data and log in {kept}")))
        }
    }
}

/// Stops after the first cycle that breaks a promise: what follows would be its consequence.
fn all_cycles(trial: &Trial, folders: &Folders, tally: &mut Tally) -> anyhow::Result<Vec<Violation>> {
    let mut random = Rng::with_seed(trial.seed);
    let mut ledger = Ledger::default();
    for cycle in 1..=trial.cycles {
        if random.u64(..KILL_AT_START_EVERY) == 0 {
            kill_while_starting(trial, folders, &mut random, tally)?;
        }
        let server = Server::start(&trial.binary, &folders.data, &folders.server_log)?;
        let violations = audit::audit(&server, &mut ledger, Depth::LastCycle, &mut random, tally)?;
        if !violations.is_empty() {
            return Ok(violations);
        }
        let (violations, killed_after) = load_and_kill(trial, folders, server, cycle, &mut ledger, &mut random)?;
        tally.kills += 1;
        println!(
            "cycle {cycle:>3}/{}  killed after {:>3} ms  {:>4} acknowledged  {:>5} entries seen",
            trial.cycles,
            killed_after.as_millis(),
            ledger.acknowledged_last(),
            ledger.seen_last()
        );
        if !violations.is_empty() {
            return Ok(violations);
        }
    }
    let server = Server::start(&trial.binary, &folders.data, &folders.server_log)?;
    let mut violations = audit::audit(&server, &mut ledger, Depth::LastCycle, &mut random, tally)?;
    violations.extend(audit::audit(&server, &mut ledger, Depth::Everything, &mut random, tally)?);
    server.kill()?;
    violations.extend(stopped::check(&trial.binary, &folders.data, &ledger)?);
    Ok(violations)
}

fn kill_while_starting(trial: &Trial, folders: &Folders, random: &mut Rng, tally: &mut Tally) -> anyhow::Result<()> {
    let mut child = server::spawn(&trial.binary, &folders.data, &folders.server_log)?;
    thread::sleep(Duration::from_millis(random.u64(KILL_AT_START_AFTER_MS)));
    server::kill(&mut child)?;
    tally.kills += 1;
    Ok(())
}

/// Runs all clients against the server, kills it under them, and adds their reports to the ledger.
fn load_and_kill(
    trial: &Trial,
    folders: &Folders,
    server: Server,
    cycle: u32,
    ledger: &mut Ledger,
    random: &mut Rng,
) -> anyhow::Result<(Vec<Violation>, Duration)> {
    ledger.begin_cycle();
    let clients: Vec<_> = (0..trial.clients)
        .map(|number| {
            let plan = Plan { number, cycle, cwd: folders.cwd.clone(), sessions: ledger.sessions_of(number) };
            Client::new(plan, server.endpoint(), random.fork())
        })
        .collect();
    let kill_after = Duration::from_millis(random.u64(KILL_AFTER_MS));
    let (acknowledged, first_ack) = mpsc::channel();

    let (reports, killed_after) = thread::scope(|scope| {
        let running: Vec<_> = clients
            .into_iter()
            .map(|client| {
                let acknowledged = acknowledged.clone();
                scope.spawn(move || client.run(&acknowledged))
            })
            .collect();
        drop(acknowledged);
        let first = first_ack.recv_timeout(FIRST_ACK_TIMEOUT);
        let started = Instant::now();
        if first.is_ok() {
            thread::sleep(kill_after);
        }
        let killed_after = started.elapsed();
        let killed = server.kill();
        let reports: Vec<_> =
            running.into_iter().map(|thread| thread.join().expect("a client does not panic")).collect();
        first.context("no client got a single acknowledgement")?;
        killed?;
        anyhow::Ok((reports, killed_after))
    })?;

    let mut violations = Vec::new();
    for report in reports {
        violations.extend(ledger.add_report(report));
    }
    Ok((violations, killed_after))
}

impl Folders {
    fn make(all: &Path) -> anyhow::Result<Self> {
        if all.exists() {
            fs::remove_dir_all(all).with_context(|| format!("could not remove {}", all.display()))?;
        }
        let cwd = all.join("cwd");
        fs::create_dir_all(&cwd).with_context(|| format!("could not make {}", cwd.display()))?;
        Ok(Self { all: all.to_owned(), data: all.join("data"), cwd, server_log: all.join("server.log") })
    }
}
