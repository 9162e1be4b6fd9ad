//! Entries and rows that belong to nothing: to no stream, or to one that was purged.
//!
//! Invariant: each page of owners is judged in one moment, so that a session that is begun or purged meanwhile is no
//! finding. A page costs a step down an index for each owner, however much it owns.

use model::{SessionId, StreamId};
use rusqlite::{Connection, Error, OptionalExtension as _};

use crate::sqlite::checksums::{
    ATTACHMENTS, CONTEXT_ENTRIES, FACTS, NEXT_BLOCKS, PROMPTS, REMEMBERED, SESSIONS, SETS, TITLES, TURNS, Table, WORKS,
};
use crate::sqlite::mend::{Owner, owner_of};
use crate::sqlite::outside::check::{CheckReport, FindingKind};
use crate::sqlite::outside::streams::StreamRecord;
use crate::sqlite::outside::{OnProgress, Progress, Stage};

const PAGE_OWNERS: usize = 500;

/// Each table whose rows belong to sessions, and what rows in it are called.
static OF_SESSIONS: [(&Table, &str); 9] = [
    (&SESSIONS, "a session's row"),
    (&TURNS, "rows of turns"),
    (&PROMPTS, "rows of waiting prompts"),
    (&SETS, "rows of sets"),
    (&FACTS, "rows of facts"),
    (&CONTEXT_ENTRIES, "notes of its context"),
    (&TITLES, "rows of titles"),
    (&NEXT_BLOCKS, "rows of next blocks"),
    (&ATTACHMENTS, "rows of its agents' own ids"),
];

pub(super) fn find(
    conn: &Connection,
    schema: i64,
    report: &mut CheckReport,
    progress: OnProgress<'_>,
) -> Result<(), Error> {
    let total = OF_SESSIONS.len() as u64 + 2;
    let mut begin = |done| progress(Progress { stage: Stage::CheckStrays, done, total });
    begin(0);
    entries(conn, schema, report)?;
    for (done, (table, rows)) in (1..).zip(OF_SESSIONS.iter().filter(|(table, _)| table.since <= schema)) {
        begin(done);
        if let Owner::Session(column) = owner_of(table) {
            // The step from one session to the next.
            let next = format!("SELECT MIN({column}) FROM {} WHERE {column} > ?1", table.name);
            session_rows(conn, schema, &next, rows, report)?;
        }
    }
    begin(total - 1);
    server_rows(conn, schema, report)?;
    work_rows(conn, schema, report)
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

fn session_rows(conn: &Connection, schema: i64, next: &str, rows: &str, report: &mut CheckReport) -> Result<(), Error> {
    let mut last: Vec<u8> = Vec::new();
    loop {
        let moment = conn.unchecked_transaction()?;
        let mut next = moment.prepare_cached(next)?;
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
                    report.add(FindingKind::Stray, Some(stream), format!("{rows} of a session that is not in the log"));
                }
                Some(record) if record.purged_at.is_some() => {
                    report.add(FindingKind::Stray, Some(stream), format!("it was purged, and {rows} of it are left"));
                }
                Some(_) => (),
            }
        }
    }
}

/// Where the stream is there, its own check has compared them.
fn server_rows(conn: &Connection, schema: i64, report: &mut CheckReport) -> Result<(), Error> {
    let moment = conn.unchecked_transaction()?;
    if StreamRecord::find_named(&moment, schema, StreamId::Server)?.is_some() {
        return Ok(());
    }
    let mut look = |any: &str, what: &'static str| -> Result<(), Error> {
        if moment.query_row(any, [], |_| Ok(())).optional()?.is_some() {
            report.add(FindingKind::Stray, Some(StreamId::Server), what);
        }
        Ok(())
    };
    look("SELECT 1 FROM tokens LIMIT 1", "rows of tokens that are not in the log")?;
    if REMEMBERED.since <= schema {
        look("SELECT 1 FROM remembered LIMIT 1", "rows of what is remembered that are not in the log")?;
    }
    Ok(())
}

fn work_rows(conn: &Connection, schema: i64, report: &mut CheckReport) -> Result<(), Error> {
    let moment = conn.unchecked_transaction()?;
    if WORKS.since > schema || StreamRecord::find_named(&moment, schema, StreamId::Work)?.is_some() {
        return Ok(());
    }
    let any = "SELECT 1 FROM works UNION ALL SELECT 1 FROM work_names LIMIT 1";
    if moment.query_row(any, [], |_| Ok(())).optional()?.is_some() {
        report.add(FindingKind::Stray, Some(StreamId::Work), "rows of meta-contexts that are not in the log");
    }
    Ok(())
}
