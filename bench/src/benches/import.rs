//! Imports transcripts of another tool with the real engine, until every word of them is found.
//!
//! They are made up in the format of Claude Code: 1,000 of them with 100 messages each, about 90 MB in all. A turn is
//! a prompt, a shell command, its result and an answer. Prompts and answers have 60 to 80 words. Commands are as long
//! as real ones: half of them 60 to 120 bytes, a quarter less, one in twenty 1 to 2 kB; the log repeats a command, so
//! commands that are all long, or all short, would say nothing about real ones. The rest of a turn's bytes goes to
//! its result, as results are longer than commands.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agents::history::Places;
use anyhow::{Result, bail, ensure};
use engine::{Engine, Seams, SearchParams, SystemClock, SystemIds, Within};
use fastrand::Rng;
use model::Incarnation;
use serde_json::json;
use store::SqliteStore;
use tokio::runtime::Runtime;
use tokio::time::sleep;

use crate::cost::{Meter, own_cpu};
use crate::line::{Bar, Line};
use crate::run::{Run, print_progress};
use crate::statistics::per_second;
use crate::words;

const NAME: &str = "import";
const MESSAGES: usize = 100_000;
const MESSAGES_OF_A_TURN: usize = 4;
const TURNS_OF_A_SESSION: usize = 25;
/// So that a hundred thousand messages are 90 MB with everything else in a record.
const BYTES_OF_A_MESSAGE: usize = 450;
const SHORTEST_RESULT_BYTES: usize = 60;
const LIMIT: Duration = Duration::from_secs(600);

pub(super) fn measure(run: &Run) -> Result<Vec<Line>> {
    let folder = run.fresh_folder("import")?;
    let turns = run.times(MESSAGES) / MESSAGES_OF_A_TURN;
    print_progress(&format!("import: writing {} messages", turns * MESSAGES_OF_A_TURN));
    let bytes = write(&folder.join("home/.claude/projects/-bench"), turns)?;
    let (mut cpu, mut written, mut rate) = (Vec::new(), Vec::new(), Vec::new());
    // All of it or a tenth: the bars are for all of it.
    let scale = (MESSAGES / MESSAGES_OF_A_TURN) as f64 / turns as f64;
    run.repeat("import", || {
        let data = run.fresh_folder("import-data")?;
        let (meter, before, started) = (Meter::own()?, own_cpu()?, Instant::now());
        Runtime::new()?.block_on(bring_in(&folder.join("home"), &data, turns))?;
        cpu.push((own_cpu()? - before).as_secs_f64() * scale);
        written.push(meter.read()?.written_bytes as f64 / 1e6 * scale);
        rate.push(per_second(turns * MESSAGES_OF_A_TURN, started.elapsed()));
        Ok(())
    })?;
    let made_up = format!("{:.0} MB of transcripts", bytes as f64 / 1e6);
    let told = if scale > 1.0 { format!("{made_up}, counted up to 100,000 messages") } else { made_up };
    Ok(vec![
        Line::new(NAME, "100,000 messages, until they are found: CPU", "s", &cpu).bar(Bar::AtMost(10.0)).note(told),
        Line::new(NAME, "100,000 messages: written", "MB", &written).bar(Bar::AtMost(300.0)),
        Line::new(NAME, "messages by the clock", "1/s", &rate),
    ])
}

async fn bring_in(home: &Path, data: &Path, turns: usize) -> Result<()> {
    let store = Arc::new(SqliteStore::open(&data.join("throughline.db"), Incarnation::from_bits(1))?);
    let seams = Seams {
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
        home: Some(home.to_owned()),
        copies: None,
        agency: engine::Agency::only_guide(),
        summarising: None,
        search: Some(data.join("search")),
        history: Some(Places::below(home.to_owned())),
        usage: engine::UsageSettings::default(),
        outputs: engine::OutputSettings::in_memory(),
    };
    let engine = Engine::start(store, seams).await?;
    let started = Instant::now();
    engine.import(Some(&["claude".to_owned()]), false)?;
    while engine.import_progress().running {
        ensure!(started.elapsed() < LIMIT, "the import does not end");
        sleep(Duration::from_millis(20)).await;
    }
    let progress = engine.import_progress();
    ensure!(progress.turns == turns as u64, "{} of {turns} turns came in: {progress:?}", progress.turns);
    loop {
        let words = last_text(turns);
        let wish = SearchParams { words, exact: false, within: Within::Everything, skip: 0, limit: 1 };
        let answer = engine.search(wish).await?;
        match (answer.behind, answer.turns.is_empty()) {
            (None, false) => break,
            (None, true) => bail!("the last turn is not found"),
            (Some(_), _) => ensure!(started.elapsed() < LIMIT, "the index does not come so far"),
        }
        sleep(Duration::from_millis(20)).await;
    }
    engine.shutdown().await;
    Ok(())
}

/// Only the last turn has this text.
fn last_text(turns: usize) -> String {
    format!("turn{:07}", turns - 1)
}

fn write(folder: &Path, turns: usize) -> Result<usize> {
    fs::create_dir_all(folder)?;
    let mut random = Rng::with_seed(11);
    let mut bytes = 0;
    // Bytes of commands and results so far: a long command shortens later results, so that the total size is right.
    let (share, mut due) = (2 * BYTES_OF_A_MESSAGE, 0);
    for first in (0..turns).step_by(TURNS_OF_A_SESSION) {
        let session = uuid(first as u64);
        let mut file = BufWriter::new(fs::File::create(folder.join(format!("{session}.jsonl")))?);
        let mut parent: Option<String> = None;
        for turn in first..(first + TURNS_OF_A_SESSION).min(turns) {
            let command = command_bytes(&mut random);
            due += command + SHORTEST_RESULT_BYTES;
            let result = SHORTEST_RESULT_BYTES + (share * (turn + 1)).saturating_sub(due);
            due += result - SHORTEST_RESULT_BYTES;
            let mut text = |bytes| words::text(&mut random, bytes);
            let call = format!("toolu_{turn:024}");
            let messages = [
                ("user", json!({ "role": "user", "content": format!("turn{turn:07} {}", text(BYTES_OF_A_MESSAGE)) })),
                (
                    "assistant",
                    answer(
                        turn,
                        0,
                        &json!({ "type": "tool_use", "id": call, "name": "Bash",
                    "input": { "command": text(command), "description": "look" } }),
                        "tool_use",
                    ),
                ),
                (
                    "user",
                    json!({ "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": call, "content": text(result) }] }),
                ),
                (
                    "assistant",
                    answer(turn, 1, &json!({ "type": "text", "text": text(BYTES_OF_A_MESSAGE) }), "end_turn"),
                ),
            ];
            for (number, (kind, message)) in messages.into_iter().enumerate() {
                let own = uuid((1 << 40) + (turn * MESSAGES_OF_A_TURN + number) as u64);
                let line = json!({
                    "parentUuid": parent, "isSidechain": false, "type": kind, "message": message, "uuid": own,
                    "timestamp": format!("2026-01-{:02}T{:02}:{:02}:{:02}.000Z", 1 + turn / 86_400 % 28,
                        turn / 3_600 % 24, turn / 60 % 60, turn % 60),
                    "userType": "external", "cwd": "/bench", "sessionId": session, "version": "2.1.312",
                })
                .to_string();
                parent = Some(own);
                bytes += line.len() + 1;
                writeln!(file, "{line}")?;
            }
        }
    }
    Ok(bytes)
}

/// The length of a command: the median is about 90 bytes, the mean about 180.
fn command_bytes(random: &mut Rng) -> usize {
    match random.u32(..100) {
        0..25 => random.usize(30..60),
        25..75 => random.usize(60..120),
        75..95 => random.usize(120..400),
        _ => random.usize(1_000..2_000),
    }
}

fn answer(turn: usize, number: usize, block: &serde_json::Value, stop: &str) -> serde_json::Value {
    json!({
        "id": format!("msg_{turn}_{number}"), "type": "message", "role": "assistant", "model": "claude-opus-5-5",
        "content": [block], "stop_reason": stop, "usage": { "input_tokens": 10, "output_tokens": 5 },
    })
}

fn uuid(number: u64) -> String {
    format!("{:08x}-0000-4000-8000-{:012x}", number >> 32, number & 0xffff_ffff)
}
