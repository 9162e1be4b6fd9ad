//! `cargo xtask fuzz`: builds the programs of `fuzz/` with LLVM's coverage counters and lets libFuzzer make up inputs for a
//! while.
//!
//! Invariant: it needs nothing but the toolchain that builds everything else. The flags are those of stable rustc; the build has
//! a folder of its own, since they would make every other one begin anew.

use std::fs;
use std::process::Command;

use anyhow::Context as _;

use crate::run::{cargo, run as execute};
use crate::workspace::Metadata;

/// Each program of `fuzz/src/bin/`.
const TARGETS: [&str; 3] = ["markers", "paths", "texts"];
const DEFAULT_SECONDS: u32 = 60;
const CI_SECONDS: u32 = 10;
const MAX_INPUT_BYTES: u32 = 4096;

/// What cargo-fuzz passes too, but for the sanitizers, which need another toolchain and which safe code has little use for.
const FLAGS: [&str; 7] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cdebug-assertions",
];

#[derive(clap::Args)]
pub(crate) struct Options {
    /// How long each target is fed
    #[arg(long, default_value_t = DEFAULT_SECONDS)]
    seconds: u32,
    /// Only these targets
    #[arg(value_name = "TARGET", value_parser = TARGETS)]
    only: Vec<String>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    fuzz(&Metadata::read()?, options.seconds, &options.only)
}

/// A short run of each.
pub(crate) fn run_in_ci(metadata: &Metadata) -> anyhow::Result<()> {
    fuzz(metadata, CI_SECONDS, &[])
}

fn fuzz(metadata: &Metadata, seconds: u32, only: &[String]) -> anyhow::Result<()> {
    let folder = metadata.target_directory.join("fuzz");
    // With a target, the flags do not reach build scripts, which would not link.
    let host = host()?;
    let args = ["build", "--release", "--package", "fuzz", "--bins", "--target", &host];
    execute(cargo(&args).env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f")).env("CARGO_TARGET_DIR", &folder))?;
    for target in TARGETS.iter().filter(|target| only.is_empty() || only.iter().any(|name| name == *target)) {
        // Inputs that were found to lead somewhere new, so that the next run begins with them.
        let corpus = folder.join("corpus").join(target);
        fs::create_dir_all(&corpus).with_context(|| format!("could not make {}", corpus.display()))?;
        let mut command = Command::new(folder.join(&host).join("release").join(target));
        let crashes = folder.join(format!("{target}-"));
        command
            .arg(&corpus)
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-max_len={MAX_INPUT_BYTES}"))
            .arg(format!("-artifact_prefix={}", crashes.display()))
            .args(["-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=0"]);
        execute(&mut command)
            .with_context(|| format!("{target}: the input that breaks it is in {}*", crashes.display()))?;
    }
    Ok(())
}

/// The target triple of this machine.
fn host() -> anyhow::Result<String> {
    let output = Command::new("rustc").args(["--version", "--verbose"]).output().context("could not start rustc")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not say what it builds for")?.to_owned())
}
