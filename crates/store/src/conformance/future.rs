//! A store as a version that is still to come leaves it.

use std::path::Path;

use model::{EVENT_VERSION, Seq, StreamId, Timestamp};
use rusqlite::{Connection, params};

use crate::sqlite::checksum;

/// Events that it may write.
pub const FUTURE: &str = include_str!("../../../../fixtures/events/future.jsonl");
/// The version that it gives them.
pub const NEWER: u16 = EVENT_VERSION + 1;

/// Appends lines to a stream of a store that nobody has open, as a program of that version would have.
pub fn write_as(path: &Path, version: u16, stream: StreamId, lines: &[&str]) {
    let conn = Connection::open(path).expect("the store is opened");
    let name = stream.to_string();
    let number = |sql: &str| conn.query_row(sql, [&name], |row| row.get::<_, i64>(0)).expect("a number");
    conn.execute("INSERT OR IGNORE INTO streams (name) VALUES (?1)", [&name]).expect("the stream is there");
    let id = number("SELECT id FROM streams WHERE name = ?1");
    for line in lines {
        let seq = number("SELECT COUNT(*) + 1 FROM entries JOIN streams ON streams.id = stream WHERE name = ?1");
        let at = Timestamp::from_millis(9);
        let sum = checksum(stream, Seq(seq.cast_unsigned()), at, version, line.as_bytes());
        let sql = "INSERT INTO entries (position, stream, seq, at, version, checksum, event)
             VALUES ((SELECT MAX(position) + 1 FROM entries), ?1, ?2, ?3, ?4, ?5, ?6)";
        conn.execute(sql, params![id, seq, at.as_millis(), version, sum, line.as_bytes()]).expect("it is appended");
    }
    conn.execute("UPDATE meta SET value = MAX(value, ?1) WHERE key = 'event_version'", [version]).expect("it is noted");
}
