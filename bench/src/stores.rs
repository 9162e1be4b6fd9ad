//! Stores of many sessions, made through the store's own append and kept between runs.
//!
//! Invariant: a kept store is used only if this generator and this schema made it. Servers that are measured on one
//! add a token and nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use fastrand::Rng;
use model::{Cursor, Incarnation, Position, Seq, SessionEvent, Timestamp};
use rusqlite::{Connection, OpenFlags};
use store::copies::{CopyCursor, Phase};
use store::prelude::*;
use store::{Batch, Copies, Part, SqliteStore};
use tokio::runtime::Runtime;

use crate::run::{Run, make_folder, print_progress};
use crate::words;

/// Raised when the generated data changes.
const GENERATOR: u32 = 2;
const DATABASE: &str = "throughline.db";
/// One transaction takes about this many sessions.
const SESSIONS_PER_BATCH: u64 = 100;
/// One in so many came to rest unseen.
const UNSEEN_EVERY: u64 = 10;
/// The same for every generated store, so that its cursors are known.
const INCARNATION: u64 = 2;
const FIRST_AT: i64 = 1_700_000_000_000;

/// A data folder whose store has that many small sessions.
pub(crate) fn of_sessions(run: &Run, sessions: u64) -> Result<PathBuf> {
    kept(run, &format!("sessions-{sessions}"), |store, runtime| {
        let mut random = Rng::with_seed(sessions);
        for first in (0..sessions).step_by(SESSIONS_PER_BATCH as usize) {
            if sessions >= 100_000 && first % (sessions / 10) == 0 {
                print_progress(&format!("making a store of {sessions} sessions: {} %", first * 100 / sessions));
            }
            let batch = (first..(first + SESSIONS_PER_BATCH).min(sessions)).map(|n| small_session(n, &mut random));
            runtime.block_on(store.append(Batch { parts: batch.collect(), ..Batch::default() }))?;
        }
        Ok(())
    })
}

/// A data folder with one session that has that many parts of so many bytes.
pub(crate) fn of_parts(run: &Run, parts: u64, bytes: usize) -> Result<PathBuf> {
    kept(run, &format!("parts-{parts}-{bytes}"), |store, runtime| {
        let mut random = Rng::with_seed(parts);
        let mut events = words::beginning(0, "a long one".to_owned(), "tell me everything");
        events.extend((0..parts).map(|_| words::part(words::text(&mut random, bytes))));
        events.extend(words::end());
        let id = words::session_id(0);
        let (mut head, mut session) = (Seq::START, None);
        for some in events.chunks(500) {
            let at = Timestamp::from_millis(FIRST_AT + head.0.cast_signed());
            let (part, after) = Part::of_session(id, head, session.take(), some.to_vec(), at);
            session = after;
            head = part.entries.last().map_or(head, |entry| entry.seq);
            runtime.block_on(store.append(Batch { parts: vec![part], ..Batch::default() }))?;
        }
        Ok(())
    })
}

/// The store's file in a data folder.
pub(crate) fn database(data: &Path) -> PathBuf {
    data.join(DATABASE)
}

/// A cursor in any small session with two or three entries after it: that of a client that was away for a moment.
pub(crate) fn cursor_near_head() -> String {
    Cursor { incarnation: Incarnation::from_bits(INCARNATION), seq: Seq(6) }.to_string()
}

/// Eight or nine entries: one turn with a short answer, then idle.
fn small_session(number: u64, random: &mut Rng) -> Part {
    let mut events = words::beginning(number, format!("session {number}"), &words::text(random, 60));
    events.push(words::part(words::text(random, 200)));
    events.extend(words::end());
    if !number.is_multiple_of(UNSEEN_EVERY) {
        events.push(SessionEvent::SessionObserved {});
    }
    let at = Timestamp::from_millis(FIRST_AT + number.cast_signed() * 1_000);
    Part::of_session(words::session_id(number), Seq::START, None, events, at).0
}

fn kept(run: &Run, name: &str, fill: impl FnOnce(&SqliteStore, &Runtime) -> Result<()>) -> Result<PathBuf> {
    let data = run.folder.join("stores").join(name);
    let stamp = data.join("made-by");
    let wanted = format!("generator {GENERATOR}, schema {}\n", newest_schema(run)?);
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(data);
    }
    if data.exists() {
        fs::remove_dir_all(&data).with_context(|| format!("could not remove {}", data.display()))?;
    }
    make_folder(&data)?;
    print_progress(&format!("making store {name}"));
    let runtime = Runtime::new()?;
    let store = SqliteStore::open(&database(&data), Incarnation::from_bits(INCARNATION))?;
    fill(&store, &runtime)?;
    // As on a machine where the server has run for a while: there is nothing to copy.
    let position = runtime.block_on(store.changed_since(Position(i64::MAX.cast_unsigned()), 1))?.up_to;
    let cursor =
        CopyCursor { incarnation: store.incarnation(), position, phase: Phase::Following, rewritten: Position(0) };
    runtime.block_on(Copies::at(data.join("sessions")).move_cursor(cursor))?;
    runtime.block_on(store.close());
    fs::write(&stamp, wanted)?;
    Ok(data)
}

/// The schema version of a store that is made now.
fn newest_schema(run: &Run) -> Result<i64> {
    let path = run.fresh_folder("schema")?.join(DATABASE);
    drop(SqliteStore::open(&path, Incarnation::from_bits(3))?);
    let conn = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    Ok(conn.query_row("SELECT MAX(version) FROM refinery_schema_history", [], |row| row.get(0))?)
}
