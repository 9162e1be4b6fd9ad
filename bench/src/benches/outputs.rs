//! The cost of keeping what is shown: an output's bytes stored and read, beside the bare file system.
//!
//! Invariant: both sides promise the same. A copy is flushed, and so is the folder that names it.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};
use model::{AboutOutput, Output, OutputId, OutputKind, SessionId};
use store::{PayloadFolder, PayloadName, Payloads as _};
use tokio::runtime::{Builder, Runtime};

use crate::line::{Bar, Line};
use crate::run::Run;

const NAME: &str = "outputs";
/// How much is read at a time, as the server does.
const PIECE_BYTES: usize = 256 << 10;
/// Each size with how many are written in one repeat.
const SIZES: [(&str, usize, usize); 2] = [("1 MiB", 1 << 20, 20), ("100 MiB", 100 << 20, 2)];

/// Seconds for one output, one reading for each repeat.
#[derive(Default)]
struct Readings {
    stored: Vec<f64>,
    copied: Vec<f64>,
    read: Vec<f64>,
    read_bare: Vec<f64>,
}

pub(super) fn measure(run: &Run) -> Result<Vec<Line>> {
    let folder = run.fresh_folder(NAME)?;
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let mut lines = Vec::new();
    for (size, bytes, count) in SIZES {
        let source = folder.join("source");
        fs::write(&source, text(bytes)).with_context(|| format!("could not write {}", source.display()))?;
        let mut readings = Readings::default();
        run.repeat(&format!("{NAME} of {size}"), || once(&runtime, &folder, &source, run.times(count), &mut readings))?;
        let Readings { stored, copied, read, read_bare } = readings;
        let what = format!("an output of {size} stored");
        lines.push(Line::beside(NAME, &what, "ms", &stored, "cp + fsync", &copied).bar(Bar::AtMost(3.0)));
        let what = format!("an output of {size} read");
        lines.push(Line::beside(NAME, &what, "ms", &read, "reading the file", &read_bare).bar(Bar::AtMost(3.0)));
    }
    Ok(lines)
}

/// Lines of text, no two of them alike.
fn text(bytes: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes + 100);
    let mut number = 0_u64;
    while text.len() < bytes {
        text.extend_from_slice(format!("{number:>9} what a command printed, and what is kept of it\n").as_bytes());
        number += 1;
    }
    text.truncate(bytes);
    text
}

fn once(runtime: &Runtime, folder: &Path, source: &Path, count: usize, readings: &mut Readings) -> Result<()> {
    let (ours, bare) = (folder.join("ours"), folder.join("bare"));
    for folder in [&ours, &bare] {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
    }
    fs::create_dir_all(&bare)?;
    let payloads = PayloadFolder::at(&ours);
    let session = SessionId::from_bytes([1; 16]);
    let names: Vec<PayloadName> = (0..count).map(|number| PayloadName::of(&output(number))).collect();
    let (mut stored, mut copied, mut read, mut read_bare) = (0.0, 0.0, 0.0, 0.0);
    for (number, name) in names.iter().enumerate() {
        let copy = bare.join(number.to_string());
        copied += seconds(|| copy_durably(source, &copy))?;
        stored += seconds(|| {
            let from = Box::new(File::open(source)?);
            runtime.block_on(payloads.put(session, name, from, u64::MAX))?;
            Ok(())
        })?;
        read_bare += seconds(|| {
            std::hint::black_box(fs::read(&copy)?);
            Ok(())
        })?;
        read += seconds(|| runtime.block_on(read_whole(&payloads, session, name)))?;
    }
    for (figures, total) in [
        (&mut readings.stored, stored),
        (&mut readings.copied, copied),
        (&mut readings.read, read),
        (&mut readings.read_bare, read_bare),
    ] {
        figures.push(total * 1e3 / count as f64);
    }
    Ok(())
}

fn copy_durably(from: &Path, to: &Path) -> Result<()> {
    let (mut source, mut copy) = (File::open(from)?, File::create(to)?);
    io::copy(&mut source, &mut copy)?;
    copy.sync_all()?;
    let folder = to.parent().context("a copy has a folder")?;
    Ok(File::open(folder)?.sync_all()?)
}

async fn read_whole(payloads: &PayloadFolder, session: SessionId, name: &PayloadName) -> Result<()> {
    let mut at = 0;
    loop {
        let piece = payloads.read(session, name, at, PIECE_BYTES).await?.context("what was stored is there")?;
        if piece.is_empty() {
            return Ok(());
        }
        at += std::hint::black_box(piece).len() as u64;
    }
}

fn output(number: usize) -> Output {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&(number as u64).to_be_bytes());
    Output {
        id: OutputId::from_bytes(id),
        kind: OutputKind::File,
        mime_type: "text/plain; charset=utf-8".to_owned(),
        bytes: 0,
        sha256: String::new(),
        about: AboutOutput::default(),
    }
}

fn seconds(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed().as_secs_f64())
}
