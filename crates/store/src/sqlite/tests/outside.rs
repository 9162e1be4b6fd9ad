//! A store from outside: what a check finds, what a backup, an export and a restore keep, what a rebuild mends.

mod backup;
mod check;
mod export;
mod older;
mod payloads;
pub(super) mod rebuild;
mod restore;
mod roundtrip;
pub(super) mod work;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{
    AgentReport, Command, Incarnation, Memory, Outcome, RememberedDecision, Seq, ServerEvent, Stop, TokenKind,
};
use rusqlite::Connection;

use crate::conformance::{AnyStore, act, at, attached, batch, create, prompt, remembers, session_id, stream, token_id};
use crate::outside::{
    BackupError, BackupNote, BackupWish, CheckReport, Depth, ExportWish, Exported, RestoreError, RestoreWish, Restored,
    StoreFile, restore,
};
use crate::sqlite::checksums::STREAMS;
use crate::sqlite::functions;
use crate::sqlite::tests::open_at;
use crate::{Part, PlacedEntry, Store};

const NEW_INCARNATION: u64 = 0x0123_4567_89ab_cdef;

/// A session with a turn behind it, one that runs and a prompt that waits; a fresh one; a purged one; a token.
pub(super) async fn write_sample(path: &Path) {
    let store: AnyStore = Arc::new(open_at(path));
    act(&store, 1, create("one"), 1).await;
    act(&store, 1, attached("their id", Memory::New), 2).await;
    act(&store, 1, prompt(1, "marked words"), 3).await;
    act(&store, 1, Command::Agent(AgentReport::Text { block: 0, text: "an answer".to_owned() }), 4).await;
    let stop = Stop { outcome: Outcome::Completed, reason: None };
    act(&store, 1, Command::Agent(AgentReport::Stopped(stop)), 5).await;
    act(&store, 1, prompt(2, "runs"), 6).await;
    act(&store, 1, prompt(3, "waits"), 7).await;
    act(&store, 2, create("two"), 8).await;
    act(&store, 3, create("three"), 9).await;
    store.purge(session_id(3), Seq(2), at(10)).await.unwrap();
    let token = ServerEvent::TokenIssued {
        token_id: token_id(1),
        kind: TokenKind::Person,
        name: "token file".to_owned(),
        session_id: None,
        secret_hash: "0".repeat(64),
        proof_hash: None,
    };
    store.append(batch([Part::of_server(Seq::START, vec![token], at(11))])).await.unwrap();
}

/// What is remembered, after the sample.
pub(super) async fn write_remembered(path: &Path) {
    let store: AnyStore = Arc::new(open_at(path));
    let event = remembers(1, "make", RememberedDecision::Deny);
    store.append(batch([Part::of_server(Seq(1), vec![event], at(12))])).await.unwrap();
}

/// Changes a file behind everybody's back.
pub(super) fn scribble(path: &Path, sql: &str) {
    let conn = Connection::open(path).unwrap();
    functions::register(&conn).unwrap();
    conn.pragma_update(None, "foreign_keys", "off").unwrap();
    conn.execute_batch(sql).unwrap();
}

/// The same for fences, whose checksums fit.
fn scribble_fence(path: &Path, sql: &str) {
    scribble(path, sql);
    let fit = format!("UPDATE streams SET checksum = row_sum({}) WHERE damaged_seq IS NOT NULL", STREAMS.columns());
    scribble(path, &fit);
}

pub(super) fn check(path: &Path, depth: Depth) -> CheckReport {
    StoreFile::open(path).unwrap().check(depth, &mut |_| ()).unwrap()
}

/// The findings, a line each, with sessions called by their number.
pub(super) fn told(report: &CheckReport) -> Vec<String> {
    let line = |finding: &crate::outside::Finding| {
        let mut text = format!("{:?}", finding.kind);
        if let Some(stream) = finding.stream {
            text.push_str(&format!(" {stream}"));
        }
        if let Some(seq) = finding.seq {
            text.push_str(&format!(" at {seq}"));
        }
        let fenced = if finding.fenced { " (fenced)" } else { "" };
        named(&format!("{text}: {}{fenced}", finding.what))
    };
    report.findings.iter().map(line).collect()
}

fn named(text: &str) -> String {
    (0..10).fold(text.to_owned(), |text, n| text.replace(&stream(n).to_string(), &format!("session {n}")))
}

fn backup(path: &Path, folder: &Path) -> Result<BackupNote, BackupError> {
    let config = path.with_file_name("config.toml");
    let wish = BackupWish { folder, config: Some(&config), folders: &[], made_at: at(0), program: "test" };
    StoreFile::open(path).unwrap().backup(&wish, &mut |_| ())
}

fn wish<'a>(from: &'a Path, store: &'a Path) -> RestoreWish<'a> {
    RestoreWish { from, store, incarnation: Incarnation::from_bits(NEW_INCARNATION), at: at(0), replace: false }
}

fn restore_from(from: &Path, store: &Path) -> Result<Restored, RestoreError> {
    carry_out(&wish(from, store))
}

fn carry_out(wish: &RestoreWish<'_>) -> Result<Restored, RestoreError> {
    apart(|| restore(wish, &mut |_| ())).unwrap()
}

/// Runs what blocks on a thread of its own, since a test's may not; an error if it panicked.
fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> std::thread::Result<T> {
    std::thread::scope(|scope| scope.spawn(work).join())
}

pub(super) fn export(path: &Path) -> (String, Exported) {
    let mut lines = Vec::new();
    let wish = ExportWish { made_at: at(0), program: "test" };
    let exported = StoreFile::open(path).unwrap().export(&wish, &mut lines, &mut |_| ()).unwrap();
    (String::from_utf8(lines).unwrap(), exported)
}

async fn log_of(store: &dyn Store) -> Vec<PlacedEntry> {
    let mut all: Vec<PlacedEntry> = Vec::new();
    loop {
        let page = store.read_all(all.last().map_or(model::Position(0), |placed| placed.position), 1000).await.unwrap();
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

/// The names and sums of everything in a folder, but for the lock, which means nothing, and what looking leaves
/// behind: shared memory and an empty log.
fn contents(folder: &Path) -> Vec<(PathBuf, u32)> {
    let mut found = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            found.extend(contents(&path));
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let left_by_looking = name.ends_with("-shm") || (name.ends_with("-wal") && bytes.is_empty());
        if !left_by_looking && !name.ends_with(".lock") {
            found.push((path.clone(), crc32fast::hash(&bytes)));
        }
    }
    found.sort();
    found
}
