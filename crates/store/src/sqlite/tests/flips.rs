//! One flipped bit anywhere in the file: a session is served whole, or said to be damaged, or the store says why not.

use std::fs;
use std::path::Path;

use model::{Command, Entry, Event, Position, Seq, SessionRow};
use rusqlite::Connection;

use crate::conformance::{at, batch, part_of_command, session_id, stream};
use crate::outside::{Depth, Repair, StoreFile};
use crate::prelude::*;
use crate::rows::folded_tables;
use crate::sqlite::checksums::STREAMS;
use crate::sqlite::tests::outside::rebuild::tables;
use crate::sqlite::tests::outside::{check, scribble, told, write_remembered, write_sample};
use crate::sqlite::tests::{folder, open_at};
use crate::{ReadError, SqliteStore};

/// As many flips are tried in one run of the tests; the generator's seed is fixed.
const FLIPS: usize = 300;
pub(super) const PAGE_BYTES: usize = 2048;

/// What a sound store says of its two sessions.
#[derive(Debug, PartialEq)]
pub(super) struct Told {
    rows: Vec<SessionRow>,
    pub(super) sessions: Vec<(model::Session, Vec<Entry<Event>>)>,
}

async fn entries(store: &SqliteStore, n: u8) -> Result<Vec<Entry<Event>>, ReadError> {
    let mut all: Vec<Entry<Event>> = Vec::new();
    loop {
        let page = store.read(stream(n), all.last().map_or(Seq::START, |entry| entry.seq), 3).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

pub(super) async fn tell(store: &SqliteStore) -> Told {
    let mut sessions = Vec::new();
    for n in [1, 2] {
        sessions.push((store.session(session_id(n)).await.unwrap().unwrap(), entries(store, n).await.unwrap()));
    }
    Told { rows: store.sessions(model::Shelf::All, None, 10).await.unwrap(), sessions }
}

/// Each column of each table beside the log, changed behind everybody's back, is as it was after the next start.
#[tokio::test]
async fn every_column_beside_the_log_is_set_right_by_itself() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    write_remembered(&path).await;
    let sound = fs::read(&path).unwrap();
    let (before, expected) = (tables(&path), tell(&open_at(&path)).await);
    for table in folded_tables().chain([&STREAMS]) {
        for column in table.columns().split(',').map(str::trim).chain(["checksum"]) {
            restore(&path, &sound);
            // A number is one more, a text has another last letter, an id another first byte, what is empty becomes 0.
            let sql = format!(
                "UPDATE OR IGNORE {} SET {column} = CASE typeof({column})
                     WHEN 'integer' THEN {column} + 1
                     WHEN 'text' THEN substr({column}, 1, length({column}) - 1) || '~'
                     WHEN 'blob' THEN CAST(x'ff' || substr({column}, 2) AS BLOB)
                     ELSE {}
                 END
                 WHERE {}",
                table.name,
                zero(&path, table.name, column),
                // What a purged session was called is in no log any more.
                if table.name == STREAMS.name { "purged_at IS NULL" } else { "true" }
            );
            scribble(&path, &sql);
            let store = open_at(&path);
            assert_eq!(tell(&store).await, expected, "{sql}");
            store.close().await;
            assert_eq!(tables(&path), before, "{sql}");
            assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new(), "{sql}");
        }
    }
}

/// What stands for 0 in a column.
fn zero(path: &Path, table: &str, column: &str) -> &'static str {
    let sql = "SELECT type FROM pragma_table_info(?1) WHERE name = ?2";
    let kind: String = Connection::open(path).unwrap().query_row(sql, [table, column], |row| row.get(0)).unwrap();
    match kind.as_str() {
        "INTEGER" => "0",
        "TEXT" => "'0'",
        "BLOB" => "x'00'",
        other => panic!("{other}"),
    }
}

/// The same where no start comes between: whoever meets the damage has it mended.
#[tokio::test]
async fn a_row_that_is_damaged_while_the_server_runs_is_set_right_when_it_is_read() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    let store = open_at(&path);
    let expected = tell(&store).await;
    for sql in [
        "UPDATE sessions SET name = 'nobody said so' WHERE name = 'one'",
        "UPDATE sessions SET id = CAST(x'ff' || substr(id, 2) AS BLOB) WHERE name = 'one'",
        "UPDATE streams SET name = substr(name, 1, length(name) - 1) || '~' WHERE id = 1",
    ] {
        scribble(&path, sql);
        assert_eq!(tell(&store).await, expected, "{sql}");
    }
    // A disk that goes on like this is not mended for ever: whoever wants that session is told, and lists are without it.
    scribble(&path, "UPDATE sessions SET name = 'nobody said so' WHERE name = 'one'");
    assert!(matches!(store.session(session_id(1)).await, Err(ReadError::Storage(_))));
    let others: Vec<SessionRow> = expected.rows.into_iter().filter(|row| row.id != session_id(1)).collect();
    assert_eq!(store.sessions(model::Shelf::All, None, 10).await.unwrap(), others);
    assert_eq!(store.unsettled().await.unwrap(), [session_id(2)]);
}

/// A change writes its own columns and the checksum of the row as it has to be. So damage elsewhere in the row is still found, damage
/// where it writes is gone, and a row that is lost is written whole.
#[tokio::test]
async fn a_change_of_a_damaged_row_of_a_session_does_not_hide_the_damage() {
    for sql in [
        "UPDATE sessions SET agent = 'nobody said so', turns = turns + 1 WHERE name = 'one'",
        "UPDATE sessions SET checksum = checksum + 1 WHERE name = 'one'",
        "UPDATE sessions SET name = 'nobody said so' WHERE name = 'one'",
        "DELETE FROM sessions WHERE name = 'one'",
        // A type that the table does not allow.
        "UPDATE sessions SET created_at = 1.5 WHERE name = 'one'",
    ] {
        let (_folder, path) = folder();
        write_sample(&path).await;
        let store = open_at(&path);
        let (mut session, _) = tell(&store).await.sessions.remove(0);
        scribble_loosely(&path, sql);
        let rename = Command::Change {
            name: Some("changed".to_owned()),
            env_hint: None,
            context: None,
            filing: model::FilingWish::default(),
        };
        let part = part_of_command(session_id(1), Some(session.clone()), rename, at(99)).unwrap();
        (session.head, session.row.name) = (part.head(), "changed".to_owned());
        store.append(batch([part])).await.unwrap();
        assert_eq!(store.session(session_id(1)).await.unwrap(), Some(session), "{sql}");
        store.close().await;
        assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new(), "{sql}");
    }
}

/// A receipt is in no log: one that is damaged is forgotten, and the key may be used again.
#[tokio::test]
async fn a_damaged_receipt_is_none() {
    let (_folder, path) = folder();
    let receipt = |key: &str| crate::Receipt {
        principal: "person".to_owned(),
        key: key.to_owned(),
        fingerprint: vec![1],
        reply: vec![2],
        at: at(1),
        holds_words: false,
    };
    let write = async |store: &SqliteStore, key: &str| {
        store.append(crate::Batch { receipt: Some(receipt(key)), ..crate::Batch::default() }).await
    };
    let store = open_at(&path);
    write(&store, "damaged").await.unwrap();
    write(&store, "whole").await.unwrap();
    store.close().await;
    scribble(&path, "UPDATE receipts SET at = 7 WHERE key = 'damaged'");
    assert_eq!(told(&check(&path, Depth::All)), ["Row: 1 rows of the table receipts do not match their checksums"]);
    let store = open_at(&path);
    assert_eq!(store.find_receipt("person", "damaged").await.unwrap(), None);
    assert_eq!(store.find_receipt("person", "whole").await.unwrap(), Some(receipt("whole")));
    write(&store, "damaged").await.unwrap();
    store.close().await;
    assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new());
}

/// A name that only one entry could vouch for, and that entry is damaged too: the session is said to be damaged.
#[tokio::test]
async fn a_session_whose_stream_cannot_be_found_is_damaged() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    scribble(
        &path,
        "UPDATE streams SET name = replace(name, '0101', '0111') WHERE id = 1;
         UPDATE entries SET at = at + 1 WHERE stream = 1 AND seq = 1",
    );
    let store = open_at(&path);
    match entries(&store, 1).await {
        Err(ReadError::Fenced(damage)) => assert_eq!((damage.stream, damage.seq), (stream(1), Seq(1))),
        other => panic!("{other:?}"),
    }
    assert_eq!(entries(&store, 2).await.unwrap().len(), 2);
    store.close().await;
}

/// One bit makes a real number of an integer, though no column is declared to hold one.
#[tokio::test]
async fn a_row_with_a_number_of_another_type_is_mended() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    let before = tables(&path);
    scribble_loosely(&path, "UPDATE sessions SET created_at = 1.5");
    open_at(&path).close().await;
    assert_eq!(tables(&path), before);
}

/// Scribbles while no type of the sessions' columns is checked.
fn scribble_loosely(path: &Path, sql: &str) {
    let redeclare = |from: &str, to: &str| {
        let sql = format!("UPDATE sqlite_schema SET sql = replace(sql, '{from}', '{to}') WHERE name = 'sessions'");
        scribble(path, &format!("PRAGMA writable_schema = ON; {sql}"));
    };
    redeclare(") STRICT, WITHOUT ROWID", ") WITHOUT ROWID");
    scribble(path, sql);
    redeclare(") WITHOUT ROWID", ") STRICT, WITHOUT ROWID");
}

/// What the doctor finds, it mends.
#[tokio::test]
async fn the_doctor_tells_of_a_damaged_row_and_mends_it() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    let before = tables(&path);
    for (sql, expected) in [
        ("UPDATE turns SET checksum = checksum + 1", "Row: 2 rows of the table turns do not match their checksums"),
        (
            "UPDATE streams SET name = substr(name, 1, length(name) - 1) || '~' WHERE id = 1",
            "Stray: \"session/01010101-0101-0101-0101-01010101010~\" is no stream that this program knows",
        ),
        // It tells of an entry far behind the last, and yet nothing is lost: the row is damaged and not the stream.
        (
            "UPDATE turns SET last_seq = 1000 WHERE turn = 1",
            "Row session 1: the row of turn t1 is not what the log says",
        ),
    ] {
        scribble(&path, sql);
        assert!(
            told(&check(&path, Depth::All)).contains(&expected.to_owned()),
            "{sql}: {:?}",
            told(&check(&path, Depth::All))
        );
        Repair::begin(&path).unwrap().rebuild(&mut |_| ()).unwrap();
        assert_eq!(tables(&path), before, "{sql}");
        assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new(), "{sql}");
    }
}

pub(super) fn restore(path: &Path, bytes: &[u8]) {
    for name in ["throughline.db-wal", "throughline.db-shm"] {
        drop(fs::remove_file(path.with_file_name(name)));
    }
    fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn one_flipped_bit_is_mended_or_told() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    // The times of the migrations are all that differs from run to run.
    scribble(&path, "UPDATE refinery_schema_history SET applied_on = '2026-01-01T00:00:00Z'; VACUUM");
    let sound = fs::read(&path).unwrap();
    let expected = tell(&open_at(&path)).await;
    // Of the pages that say how the tables are made, which are most of so small a file, only the first: a store whose tables
    // are made otherwise is refused.
    let of_schema = |page: &[u8]| page.windows(7).any(|part| part == b"CREATE " || part == b"INTEGER");
    let pages = sound.chunks(PAGE_BYTES).enumerate().filter(|(n, page)| *n == 0 || !of_schema(page));
    let pages: Vec<usize> = pages.map(|(n, _)| n).collect();
    let used: Vec<usize> =
        (0..sound.len()).filter(|at| sound[*at] != 0 && pages.contains(&(at / PAGE_BYTES))).collect();
    let mut random = fastrand::Rng::with_seed(1);
    let (mut whole, mut said, mut refused, mut sound_after) = (0, 0, 0, 0);
    for _ in 0..FLIPS {
        let (at, bit) = (used[random.usize(..used.len())], random.u32(..8));
        let mut bytes = sound.clone();
        bytes[at] ^= 1 << bit;
        restore(&path, &bytes);
        let flipped = format!("bit {bit} of byte {at} (page {}, {} in it)", at / PAGE_BYTES + 1, at % PAGE_BYTES);
        let Ok(store) = SqliteStore::open(&path, model::Incarnation::from_bits(1)) else {
            refused += 1;
            continue;
        };
        match is_told(&path, &store, &expected).await {
            Ok(true) => whole += 1,
            Ok(false) => said += 1,
            Err(wrong) => panic!("{flipped}: {wrong}"),
        }
        // Whoever reads the whole log page by page gets further with each page, until the end.
        let mut after = Position(0);
        while let Ok(page) = store.read_all(after, 5).await {
            let Some(last) = page.last() else { break };
            assert!(last.position > after, "{flipped}");
            after = last.position;
        }
        store.close().await;
        // Whatever the doctor finds, he comes to an end.
        if let Ok(file) = StoreFile::open(&path)
            && let Ok(report) = file.check(Depth::All, &mut |_| ())
        {
            sound_after += usize::from(!report.is_damaged());
        }
    }
    // No exact numbers: what a check in the background meets first differs from run to run.
    assert!(whole * 3 >= FLIPS * 2 && sound_after * 2 >= FLIPS, "{whole} whole, {sound_after} sound afterwards");
    assert!(said > 0 && refused > 0, "{said} said, {refused} refused");
}

/// Whether everything is as it was; false if what is not is said to be damaged.
pub(super) async fn is_told(path: &Path, store: &SqliteStore, expected: &Told) -> Result<bool, String> {
    let mut whole = true;
    for (n, (session, log)) in [1, 2].into_iter().zip(&expected.sessions) {
        let read = entries(store, n).await;
        let damaged = store.fence(session_id(n)).is_some();
        match read {
            Ok(found) if &found == log => (),
            Ok(found) if damaged && log.starts_with(&found) => whole = false,
            // No row tells of this session's second entry, so only the doctor, who compares the index with the entries, finds
            // out that it is lost.
            Ok(found) if n == 2 && found == log[..1] && check(path, Depth::All).is_damaged() => whole = false,
            Ok(found) => return Err(format!("session {n} has {} entries of {}", found.len(), log.len())),
            Err(_) => whole = false,
        }
        match store.session(session_id(n)).await {
            Ok(Some(found)) if &found == session => (),
            Ok(Some(found)) if n == 2 && found.head == Seq(1) => whole &= found.head == session.head,
            Ok(found) if !damaged && store.fence(session_id(n)).is_none() => {
                return Err(format!("session {n} is told as {found:?}"));
            }
            Ok(_) | Err(_) => whole = false,
        }
    }
    match store.sessions(model::Shelf::All, None, 10).await {
        Ok(rows) if rows == expected.rows => (),
        Ok(rows) if whole => return Err(format!("the list is {rows:?}")),
        Ok(_) | Err(_) => whole = false,
    }
    Ok(whole)
}
