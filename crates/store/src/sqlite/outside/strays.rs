//! Entries and rows that belong to nothing: to no stream, or to one that was purged.
//!
//! Invariant: each page of owners is judged in one moment, so that a session that is begun or purged meanwhile is no
//! finding. A page costs a step down an index for each owner, however much it owns.

use model::{SessionId, StreamId};
use rusqlite::{Connection, Error, OptionalExtension as _};

use crate::sqlite::columns::{has_attachments, has_context, has_remembered, has_titles, has_work};
use crate::sqlite::outside::check::{CheckReport, FindingKind};
use crate::sqlite::outside::streams::StreamRecord;
use crate::sqlite::outside::{OnProgress, Progress, Stage};

const PAGE_OWNERS: usize = 500;

/// Each table, with the step from one session to the next, and what a row in it is called.
const TABLES: [(&str, &str); 3] = [
    ("SELECT MIN(id) FROM sessions WHERE id > ?1", "a session's row"),
    ("SELECT MIN(session) FROM turns WHERE session > ?1", "rows of turns"),
    ("SELECT MIN(session) FROM prompts WHERE session > ?1", "rows of waiting prompts"),
];

/// The same, of stores that have them.
const CONTEXT_TABLES: [(&str, &str); 3] = [
    ("SELECT MIN(session) FROM sets WHERE session > ?1", "rows of sets"),
    ("SELECT MIN(session) FROM facts WHERE session > ?1", "rows of facts"),
    ("SELECT MIN(session) FROM context_entries WHERE session > ?1", "notes of its context"),
];

const TITLE_TABLES: [(&str, &str); 1] = [("SELECT MIN(session) FROM titles WHERE session > ?1", "rows of titles")];

const NEXT_TABLES: [(&str, &str); 1] =
    [("SELECT MIN(session) FROM next_blocks WHERE session > ?1", "rows of next blocks")];

const ATTACHMENT_TABLES: [(&str, &str); 1] =
    [("SELECT MIN(session) FROM attachments WHERE session > ?1", "rows of its agents' own ids")];

pub(super) fn find(
    conn: &Connection,
    schema: i64,
    report: &mut CheckReport,
    progress: OnProgress<'_>,
) -> Result<(), Error> {
    let later = CONTEXT_TABLES.len() + TITLE_TABLES.len() + NEXT_TABLES.len() + ATTACHMENT_TABLES.len();
    let total = (TABLES.len() + later) as u64 + 2;
    let mut begin = |done| progress(Progress { stage: Stage::CheckStrays, done, total });
    begin(0);
    entries(conn, schema, report)?;
    let context = has_context(schema).then_some(CONTEXT_TABLES).into_iter().flatten();
    let titles = has_titles(schema).then_some(TITLE_TABLES).into_iter().flatten();
    let blocks = has_work(schema).then_some(NEXT_TABLES).into_iter().flatten();
    let attachments = has_attachments(schema).then_some(ATTACHMENT_TABLES).into_iter().flatten();
    let tables = TABLES.into_iter().chain(context).chain(titles).chain(blocks).chain(attachments);
    for (done, (next, rows)) in (1..).zip(tables) {
        begin(done);
        session_rows(conn, schema, next, rows, report)?;
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
    if has_remembered(schema) {
        look("SELECT 1 FROM remembered LIMIT 1", "rows of what is remembered that are not in the log")?;
    }
    Ok(())
}

fn work_rows(conn: &Connection, schema: i64, report: &mut CheckReport) -> Result<(), Error> {
    let moment = conn.unchecked_transaction()?;
    if !has_work(schema) || StreamRecord::find_named(&moment, schema, StreamId::Work)?.is_some() {
        return Ok(());
    }
    let any = "SELECT 1 FROM works UNION ALL SELECT 1 FROM work_names LIMIT 1";
    if moment.query_row(any, [], |_| Ok(())).optional()?.is_some() {
        report.add(FindingKind::Stray, Some(StreamId::Work), "rows of meta-contexts that are not in the log");
    }
    Ok(())
}
