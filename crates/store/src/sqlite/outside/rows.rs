//! The rows of one stream in the tables, and how they differ from those that the log gives.
//!
//! Invariant: what the log gives is folded into tables in memory by what writes those of the store too, so a difference is a
//! fault of the tables.

use std::convert::Infallible;

use model::{Seq, StreamId};
use rusqlite::{Connection, Error, Result};

use crate::rows::{EachTable, FoldedRow, KeepRows as _, Owner, Rows, Table, each_table};
use crate::sqlite::apply::SqlRows;
use crate::sqlite::checksums::{CONTEXT_ENTRIES, PROMPTS, SESSIONS, TURNS};
use crate::sqlite::outside::is_damage;
use crate::sqlite::rows::read_row;

/// What the tables of a store with this schema hold of `stream`, and which of them cannot be read.
pub(super) fn read(conn: &Connection, schema: i64, stream: StreamId) -> Result<(Rows, Vec<String>)> {
    let mut read = Read { conn, schema, stream, rows: Rows::default(), unreadable: Vec::new() };
    each_table(&mut read)?;
    read.unreadable.dedup();
    Ok((read.rows, read.unreadable))
}

struct Read<'a> {
    conn: &'a Connection,
    schema: i64,
    stream: StreamId,
    rows: Rows,
    unreadable: Vec<String>,
}

/// SQL: the rows of a table that belong to the stream; `None` if the table has none of it, or there is no such table.
fn rows_of(table: &Table, schema: i64, stream: StreamId) -> Option<String> {
    let which = match (table.owner, stream) {
        (Owner::Session, StreamId::Session(_)) => table.key_is(1),
        (Owner::Stream(owner), _) if owner == stream => "true".to_owned(),
        (Owner::Session | Owner::Stream(_) | Owner::Nobody, _) => return None,
    };
    let sql = || format!("SELECT {} FROM {} WHERE {which}", table.columns_in(schema), table.name);
    (table.since <= schema).then(sql)
}

impl EachTable for Read<'_> {
    type Error = Error;

    fn table<R: FoldedRow>(&mut self) -> Result<()> {
        let Some(sql) = rows_of(R::table(), self.schema, self.stream) else { return Ok(()) };
        let owner = match &self.stream {
            StreamId::Session(id) => vec![id.as_bytes()],
            StreamId::Server | StreamId::Work => Vec::new(),
        };
        let mut select = self.conn.prepare_cached(&sql)?;
        let rows = select.query_map(rusqlite::params_from_iter(owner), read_row::<R>)?;
        match rows.collect::<Result<Vec<R>>>() {
            Ok(found) => *R::of_mut(&mut self.rows) = found.into_iter().map(|row| (row.key(), row)).collect(),
            Err(err) if is_damage(&err) => self.unreadable.push(format!("{} cannot be read", R::LABEL)),
            Err(err) => return Err(err),
        }
        Ok(())
    }
}

/// Where `found` in the tables of a store with this schema is not what the log says: the first row of each table but those
/// that are still to be filled.
pub(super) fn differences(log: &Rows, found: &Rows, schema: i64, unfilled: &[&str]) -> Vec<String> {
    let mut differences = Differences { log, found, schema, unfilled, said: Vec::new() };
    let Ok(()) = each_table(&mut differences);
    differences.said
}

struct Differences<'a> {
    log: &'a Rows,
    found: &'a Rows,
    schema: i64,
    unfilled: &'a [&'a str],
    said: Vec<String>,
}

impl EachTable for Differences<'_> {
    type Error = Infallible;

    fn table<R: FoldedRow>(&mut self) -> Result<(), Infallible> {
        let (log, tables) = (R::of(self.log), R::of(self.found));
        let first = log.keys().chain(tables.keys()).filter(|key| log.get(key) != tables.get(key)).min();
        let is_filled = R::table().since <= self.schema && !self.unfilled.contains(&R::table().name);
        let Some(key) = first.filter(|_| is_filled) else { return Ok(()) };
        let what = match (log.get(key), tables.get(key)) {
            (Some(_), None) => "is missing",
            (None, _) => "tells of what is not in the log",
            (Some(_), Some(_)) => "is not what the log says",
        };
        self.said.push(format!("{} {what}", R::label(key)));
        Ok(())
    }
}

/// Writes rows into tables that have none of them, and counts them.
pub(super) fn put(conn: &Connection, rows: &Rows) -> Result<u64> {
    let mut put = Put { rows, to: SqlRows(conn), count: 0 };
    each_table(&mut put)?;
    Ok(put.count)
}

struct Put<'a> {
    rows: &'a Rows,
    to: SqlRows<'a>,
    count: u64,
}

impl EachTable for Put<'_> {
    type Error = Error;

    fn table<R: FoldedRow>(&mut self) -> Result<()> {
        self.count += R::of(self.rows).len() as u64;
        R::of(self.rows).values().try_for_each(|row| self.to.put(row))
    }
}

/// The newest entry that the rows of a session refer to. A row that is damaged counts for nothing.
pub(super) fn known_seq(conn: &Connection, schema: i64, stream: StreamId) -> Result<Seq> {
    let StreamId::Session(id) = stream else { return Ok(Seq::START) };
    let mut known = 0;
    let known_by = [
        (&SESSIONS, "IFNULL(running_first_seq, 1)"),
        (&TURNS, "IFNULL(last_seq, first_seq)"),
        (&PROMPTS, "queued_seq"),
        (&CONTEXT_ENTRIES, "seq"),
    ];
    for (table, seq) in known_by.into_iter().filter(|(table, _)| table.since <= schema) {
        let (name, whole) = (table.name, table.is_whole(schema));
        let sql = format!("SELECT MAX({seq}) FROM {name} WHERE {} AND {whole}", table.key_is(1));
        match conn.prepare_cached(&sql)?.query_row([id.as_bytes()], |row| row.get::<_, Option<i64>>(0)) {
            Ok(seq) => known = known.max(seq.unwrap_or(0)),
            Err(err) if is_damage(&err) => (),
            Err(err) => return Err(err),
        }
    }
    Ok(Seq(known.cast_unsigned()))
}
