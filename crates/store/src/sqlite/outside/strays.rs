//! Entries and rows that belong to nothing: to no stream, or to one that was purged.
//!
//! Invariant: each page of owners is judged in one moment, so that a session that is begun or purged meanwhile is no
//! finding. A page costs a step down an index for each owner, however much it owns.

use model::{SessionId, StreamId};
use rusqlite::{Connection, Error};

use crate::rows::{EachTable, FoldedRow, Owner, Table, each_table, folded_tables};
use crate::sqlite::outside::check::{CheckReport, FindingKind};
use crate::sqlite::outside::streams::StreamRecord;
use crate::sqlite::outside::{OnProgress, Progress, Stage};

const PAGE_OWNERS: usize = 500;

pub(super) fn find(
    conn: &Connection,
    schema: i64,
    report: &mut CheckReport,
    progress: OnProgress<'_>,
) -> Result<(), Error> {
    let mut strays = Strays { conn, schema, report, progress, done: 0 };
    strays.step();
    entries(conn, schema, strays.report)?;
    each_table(&mut strays)
}

struct Strays<'a, 'b> {
    conn: &'a Connection,
    schema: i64,
    report: &'a mut CheckReport,
    progress: OnProgress<'b>,
    done: u64,
}

impl Strays<'_, '_> {
    fn step(&mut self) {
        let total = folded_tables().count() as u64 + 1;
        (self.progress)(Progress { stage: Stage::CheckStrays, done: self.done, total });
        self.done += 1;
    }
}

impl EachTable for Strays<'_, '_> {
    type Error = Error;

    fn table<R: FoldedRow>(&mut self) -> Result<(), Error> {
        self.step();
        let table = R::table();
        match table.owner {
            Owner::Session | Owner::Stream(_) if table.since > self.schema => Ok(()),
            Owner::Session => session_rows(self.conn, self.schema, table, R::LABEL, self.report),
            Owner::Stream(stream) => stream_rows(self.conn, self.schema, stream, table, R::LABEL, self.report),
            Owner::Nobody => Ok(()),
        }
    }
}

fn entries(conn: &Connection, schema: i64, report: &mut CheckReport) -> Result<(), Error> {
    let mut last = i64::MIN;
    loop {
        let moment = conn.unchecked_transaction()?;
        let mut next = moment.prepare_cached("SELECT MIN(stream) FROM entries WHERE stream > ?1")?;
        for _ in 0..PAGE_OWNERS {
            let Some(id) = next.query_row([last], |row| row.get::<_, Option<i64>>(0))? else { return Ok(()) };
            last = id;
            match StreamRecord::find(&moment, schema, id)? {
                None => report.add(FindingKind::Stray, None, format!("entries of no stream (number {id})")),
                Some(record) if record.purged_at.is_some() && !record.sweeping => {
                    report.add(FindingKind::Stray, record.stream, "it was purged, and entries of it are left");
                }
                Some(_) => (),
            }
        }
    }
}

fn session_rows(
    conn: &Connection,
    schema: i64,
    table: &Table,
    rows: &str,
    report: &mut CheckReport,
) -> Result<(), Error> {
    // The step from one session to the next.
    let (owner, name) = (table.first_column(), table.name);
    let next = format!("SELECT MIN({owner}) FROM {name} WHERE {owner} > ?1");
    let mut last: Vec<u8> = Vec::new();
    loop {
        let moment = conn.unchecked_transaction()?;
        let mut next = moment.prepare_cached(&next)?;
        for _ in 0..PAGE_OWNERS {
            let Some(id) = next.query_row([&last], |row| row.get::<_, Option<Vec<u8>>>(0))? else { return Ok(()) };
            last = id;
            let Ok(bytes) = <[u8; 16]>::try_from(last.as_slice()) else {
                report.add(FindingKind::Stray, None, format!("{rows} with an id that is none"));
                continue;
            };
            let stream = StreamId::Session(SessionId::from_bytes(bytes));
            match StreamRecord::find_named(&moment, schema, stream)? {
                None => {
                    report.add(FindingKind::Stray, Some(stream), format!("{rows} without a session in the log"));
                }
                Some(record) if record.purged_at.is_some() => {
                    report.add(FindingKind::Stray, Some(stream), format!("it was purged, but not {rows}"));
                }
                Some(_) => (),
            }
        }
    }
}

/// Where the stream is there, its own check has compared them.
fn stream_rows(
    conn: &Connection,
    schema: i64,
    stream: StreamId,
    table: &Table,
    rows: &str,
    report: &mut CheckReport,
) -> Result<(), Error> {
    let moment = conn.unchecked_transaction()?;
    if StreamRecord::find_named(&moment, schema, stream)?.is_none()
        && moment.prepare(&format!("SELECT 1 FROM {}", table.name))?.exists([])?
    {
        report.add(FindingKind::Stray, Some(stream), format!("{rows} that are not in the log"));
    }
    Ok(())
}
