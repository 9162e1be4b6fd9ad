//! A backup of a running server, compared with `cp` of its file, and its effect on writers.
//!
//! A program without this command skips the benchmark, and says so.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::client::Http;
use crate::cost::Meter;
use crate::line::{Bar, Line};
use crate::run::{Run, print_progress};
use crate::server::{self, Endpoint, Server};
use crate::statistics::Latencies;
use crate::stores;

const NAME: &str = "backup";
const SESSIONS: u64 = 100_000;
const CP: &str = "cp of the file + fsync";
/// How long writers write before the backup, for comparison.
const BEFORE: Duration = Duration::from_secs(2);

pub(super) fn measure(run: &Run) -> Result<Vec<Line>> {
    if !has_backup(&run.binary)? {
        print_progress("backup: left out, since this program has no command `backup`");
        return Ok(Vec::new());
    }
    let kept = stores::of_sessions(run, SESSIONS)?;
    let folder = run.fresh_folder(NAME)?;
    let data = folder.join("data");
    server::prepare(&data)?;
    fs::copy(stores::database(&kept), stores::database(&data)).context("could not copy the store")?;
    let runtime = Runtime::new()?;
    let server = Server::start(&run.binary, &data)?;
    let session = runtime.block_on(async {
        let cwd = folder.to_str().context("the folder's name is no text")?;
        Http::connect(&server.endpoint).await?.new_session(cwd).await
    })?;
    let mut readings = Readings::default();
    run.repeat(NAME, || readings.take(run, &runtime, &server, &session, &folder))?;
    server.stop()?;
    Ok(readings.lines())
}

fn has_backup(binary: &Path) -> Result<bool> {
    let help = Command::new(binary).args(["help", "backup"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    Ok(help.with_context(|| format!("could not start {}", binary.display()))?.success())
}

#[derive(Default)]
struct Readings {
    cp_ms: Vec<f64>,
    cp_cpu_ms: Vec<f64>,
    backup_ms: Vec<f64>,
    backup_cpu_ms: Vec<f64>,
    quiet_p99_us: Vec<f64>,
    during_p99_us: Vec<f64>,
}

impl Readings {
    fn take(&mut self, run: &Run, runtime: &Runtime, server: &Server, session: &str, folder: &Path) -> Result<()> {
        let data = folder.join("data");
        let (took, cpu) = cp(&stores::database(&data), &folder.join("cp.db"))?;
        self.cp_ms.push(took.as_secs_f64() * 1e3);
        self.cp_cpu_ms.push(cpu.as_secs_f64() * 1e3);

        let meter = server.meter()?;
        let (_, mut quiet) = beside_writer(runtime, &server.endpoint, session, || {
            thread::sleep(BEFORE);
            Ok(())
        })?;
        let writer_cpu_ms = meter.read()?.cpu_us_per(quiet.len()) / 1e3;
        self.quiet_p99_us.push(quiet.percentile_us(99.0));

        let target = fresh(&folder.join("backup"))?;
        let meter = server.meter()?;
        let ((took, own_cpu), mut during) =
            beside_writer(runtime, &server.endpoint, session, || backup(&run.binary, &data, &target))?;
        // The writer's cost meanwhile is not the backup's.
        let server_cpu_ms = meter.read()?.cpu.as_secs_f64() * 1e3 - writer_cpu_ms * during.len() as f64;
        self.backup_ms.push(took.as_secs_f64() * 1e3);
        self.backup_cpu_ms.push(own_cpu.as_secs_f64() * 1e3 + server_cpu_ms.max(0.0));
        self.during_p99_us.push(during.percentile_us(99.0));
        Ok(())
    }

    fn lines(&self) -> Vec<Line> {
        vec![
            Line::beside(NAME, "backup while one client writes", "ms", &self.backup_ms, CP, &self.cp_ms)
                .bar(Bar::AtMost(8.0)),
            Line::beside(NAME, "backup: CPU of server and command", "ms", &self.backup_cpu_ms, CP, &self.cp_cpu_ms),
            Line::beside(
                NAME,
                "ack p99 during a backup",
                "us",
                &self.during_p99_us,
                "ack p99 before it",
                &self.quiet_p99_us,
            )
            .bar(Bar::AtMost(4.0)),
        ]
    }
}

fn fresh(folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("could not remove {}", folder.display()))?;
    }
    Ok(folder.to_owned())
}

fn cp(from: &Path, to: &Path) -> Result<(Duration, Duration)> {
    drop(fs::remove_file(to));
    let meter = Meter::own()?;
    let started = Instant::now();
    fs::copy(from, to).context("could not copy the store")?;
    File::open(to)?.sync_all()?;
    Ok((started.elapsed(), meter.read()?.cpu))
}

/// Runs the command to its end; returns how long that took, and the CPU time of the command's own process.
fn backup(binary: &Path, data: &Path, target: &Path) -> Result<(Duration, Duration)> {
    let started = Instant::now();
    let mut child = Command::new(binary)
        .arg("--data-dir")
        .arg(data)
        .arg("backup")
        .arg(target)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .context("could not start the backup")?;
    let cpu = cpu_until_end(&mut child)?;
    let took = started.elapsed();
    ensure!(child.wait()?.success(), "the backup failed");
    Ok((took, cpu))
}

/// A process loses its figures when it exits, so they are read until then.
fn cpu_until_end(child: &mut Child) -> Result<Duration> {
    let meter = Meter::from_birth(child.id());
    let mut cpu = Duration::ZERO;
    while child.try_wait()?.is_none() {
        cpu = meter.read().map_or(cpu, |cost| cost.cpu.max(cpu));
        thread::sleep(Duration::from_millis(2));
    }
    Ok(cpu)
}

/// One client renames a session again and again until `act` is done.
fn beside_writer<T>(
    runtime: &Runtime,
    endpoint: &Endpoint,
    session: &str,
    act: impl FnOnce() -> Result<T>,
) -> Result<(T, Latencies)> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            runtime.block_on(async {
                let mut http = Http::connect(endpoint).await?;
                let mut latencies = Latencies::default();
                while !done.load(Ordering::Relaxed) {
                    let started = Instant::now();
                    http.patch(&format!("/sessions/{session}"), &json!({ "name": latencies.len().to_string() }))
                        .await?;
                    latencies.push(started.elapsed());
                }
                anyhow::Ok(latencies)
            })
        });
        let acted = act();
        done.store(true, Ordering::Relaxed);
        let latencies = writer.join().expect("a writer does not panic");
        Ok((acted?, latencies?))
    })
}
