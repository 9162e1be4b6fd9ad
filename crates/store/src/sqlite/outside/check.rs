//! Checks whether the store is what was written: SQLite's own check of its file, then each stream against its rows.
//!
//! Invariant: each stream is judged within one moment of the store, and no moment lasts longer than a page and the
//! comparison of a stream's rows, so that a server beside it can go on copying its write-ahead log. A stream that grows
//! or goes meanwhile is no finding.

use std::collections::BTreeSet;

use model::{Seq, StreamId};
use rusqlite::{Connection, Error};
use serde::{Serialize, Serializer};

use crate::FenceCause;
use crate::StorageError;
use crate::payloads::PayloadState;
use crate::sqlite::checksums::has_checksums;
use crate::sqlite::fences::has_fence;
use crate::sqlite::mend::{checked_tables, pages};
use crate::sqlite::meta::Todo;
use crate::sqlite::outside::rows::{self, known_seq};
use crate::sqlite::outside::streams::{self, StreamRecord};
use crate::sqlite::outside::walk::Walk;
use crate::sqlite::outside::{OnProgress, Progress, Stage, StoreFile, is_damage, strays};

/// A report has no more findings than this, and the count of the others.
const MAX_FINDINGS: usize = 1000;

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// So many streams, spread evenly over all and the newest among them, and every fenced one; of the file what can be
    /// seen without comparing its indexes.
    Sample(usize),
    /// Everything.
    All,
}

/// What was found.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckReport {
    /// Not every stream was looked at.
    pub sampled: bool,
    /// How many streams there are.
    pub streams: u64,
    /// How many were looked at.
    pub checked_streams: u64,
    /// How many entries were verified.
    pub checked_entries: u64,
    /// How many payloads were compared.
    pub checked_payloads: u64,
    /// What is not as it should be.
    pub findings: Vec<Finding>,
    /// How many findings were left out of the list, because it is long.
    pub more_findings: u64,
}

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What sort of thing.
    pub kind: FindingKind,
    /// The stream it is about.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "by_name")]
    pub stream: Option<StreamId>,
    /// The entry it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// What is wrong.
    pub what: String,
    /// The store knows of this and takes nothing more for the stream.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fenced: bool,
}

/// What sort of thing was found, and with it what helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FindingKind {
    /// SQLite's own structures are damaged: only a backup, or an export into a new store, helps.
    File,
    /// An entry is not what was written: its stream can be relied on up to there.
    Entry,
    /// A row is not what the log says: a rebuild mends it.
    Row,
    /// Something belongs to no stream; a rebuild mends it if it is a row.
    Stray,
    /// A payload is missing or has other bytes than were stored: a backup may have it.
    Payload,
    /// A payload's file that no entry names. This is no damage: it is being stored, or a crash has left it.
    Leftover,
    /// A stream is fenced off and yet verifies whole. This is no damage: the fence can be lifted.
    Fence,
    /// A newer version of the program wrote an entry. This is no damage: that version goes on with it.
    Newer,
}

impl CheckReport {
    /// Something is lost or wrong. A fence that is no longer needed is neither, nor is what a newer version wrote.
    pub fn is_damaged(&self) -> bool {
        let is_harmless = |finding: &Finding| match finding.kind {
            FindingKind::Fence | FindingKind::Newer | FindingKind::Leftover => true,
            FindingKind::File | FindingKind::Entry | FindingKind::Row | FindingKind::Stray | FindingKind::Payload => {
                false
            }
        };
        self.more_findings > 0 || !self.findings.iter().all(is_harmless)
    }

    /// The streams whose fence is not where it should be, of those that have one.
    pub fn misfenced(&self) -> impl Iterator<Item = StreamId> {
        let of_fences = |finding: &&Finding| match finding.kind {
            FindingKind::Entry => !finding.fenced && finding.stream.is_none_or(has_fence),
            FindingKind::Fence => true,
            FindingKind::File
            | FindingKind::Row
            | FindingKind::Stray
            | FindingKind::Payload
            | FindingKind::Leftover
            | FindingKind::Newer => false,
        };
        self.findings.iter().filter(of_fences).filter_map(|finding| finding.stream)
    }

    pub(super) fn add(&mut self, kind: FindingKind, stream: Option<StreamId>, what: impl Into<String>) {
        self.push(Finding { kind, stream, seq: None, what: what.into(), fenced: false });
    }

    fn push(&mut self, finding: Finding) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        } else {
            self.more_findings += 1;
        }
    }
}

impl StoreFile {
    /// Looks the store over.
    pub fn check(&self, depth: Depth, progress: OnProgress<'_>) -> Result<CheckReport, StorageError> {
        let mut report = CheckReport::default();
        progress(Progress { stage: Stage::CheckFile, done: 0, total: 0 });
        self.check_file(depth, &mut report)?;
        match self.check_log(depth, &mut report, progress) {
            // SQLite has said the same of its file, and of what lies behind the damage nobody can say anything.
            Err(err) if is_damage(&err) => report.add(FindingKind::File, None, err.to_string()),
            other => other?,
        }
        Ok(report)
    }

    fn check_file(&self, depth: Depth, report: &mut CheckReport) -> Result<(), Error> {
        let sql = match depth {
            Depth::Sample(_) => "PRAGMA quick_check",
            Depth::All => "PRAGMA integrity_check",
        };
        let find = || -> Result<Vec<String>, Error> {
            let said: Vec<String> =
                self.conn.prepare(sql)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            if said != ["ok"] {
                return Ok(said);
            }
            let hollow = pages::find_hollow_root(&self.conn, None)?;
            Ok(hollow.into_iter().map(|name| format!("the first page of {name} leads nowhere")).collect())
        };
        match find() {
            Ok(found) => found.into_iter().for_each(|what| report.add(FindingKind::File, None, what)),
            Err(err) if is_damage(&err) => report.add(FindingKind::File, None, err.to_string()),
            Err(err) => return Err(err),
        }
        Ok(())
    }

    fn check_log(&self, depth: Depth, report: &mut CheckReport, progress: OnProgress<'_>) -> Result<(), Error> {
        let ids = streams::ids(&self.conn)?;
        let mut chosen = choose(&ids, depth);
        chosen.extend(streams::fenced_ids(&self.conn, self.schema)?);
        report.streams = ids.len() as u64;
        report.sampled = chosen.len() < ids.len();
        let total = chosen.len() as u64;
        for (done, id) in (0..).zip(chosen) {
            progress(Progress { stage: Stage::CheckStreams, done, total });
            if let Some(walk) = self.check_stream(id, report)? {
                self.check_payloads(&walk, report);
            }
            report.checked_streams += 1;
        }
        strays::find(&self.conn, self.schema, report, progress)?;
        self.find_leftovers(report)?;
        self.verify_checksums(report)
    }

    /// Payloads of sessions that the log does not have.
    fn find_leftovers(&self, report: &mut CheckReport) -> Result<(), Error> {
        for session in self.payloads.sessions().unwrap_or_default() {
            let record = StreamRecord::find_named(&self.conn, self.schema, StreamId::Session(session))?;
            if record.is_some_and(|record| record.purged_at.is_none()) {
                continue;
            }
            let files = self.payloads.list(session).unwrap_or_default().len();
            if files > 0 {
                let what = format!("it is not in the log, and {files} of its payloads are left");
                report.add(FindingKind::Leftover, Some(StreamId::Session(session)), what);
            }
        }
        Ok(())
    }

    /// Rows that say what the log says, and yet are not as they were written, or that the log does not hold.
    fn verify_checksums(&self, report: &mut CheckReport) -> Result<(), Error> {
        // What was found already is mended by the same rebuild.
        let is_said = |finding: &Finding| matches!(finding.kind, FindingKind::Row | FindingKind::Stray);
        if !has_checksums(self.schema) || report.findings.iter().any(is_said) {
            return Ok(());
        }
        for table in checked_tables().filter(|table| table.since <= self.schema) {
            let (name, whole) = (table.name, table.is_whole(self.schema));
            let sql = format!("SELECT COUNT(*) FROM {name} NOT INDEXED WHERE NOT ({whole})");
            let broken: i64 = self.conn.query_row(&sql, [], |row| row.get(0))?;
            if broken > 0 {
                let what = format!("{broken} rows of the table {name} do not match their checksums");
                report.add(FindingKind::Row, None, what);
            }
        }
        Ok(())
    }

    /// The walk over the stream; `None` if there is nothing in it to rely on.
    fn check_stream(&self, id: i64, report: &mut CheckReport) -> Result<Option<Walk>, Error> {
        let mut walk = None;
        loop {
            let moment = self.conn.unchecked_transaction()?;
            let Some(record) = StreamRecord::find(&moment, self.schema, id)? else { return Ok(None) };
            if record.purged_at.is_some() {
                return Ok(None);
            }
            let Some(stream) = record.stream else {
                let what = format!("{:?} is no stream that this program knows", record.name);
                report.add(FindingKind::Stray, None, what);
                return Ok(None);
            };
            let ongoing = walk.get_or_insert_with(|| Walk::new(id, stream));
            if ongoing.step(&moment)? {
                report.checked_entries += ongoing.head.0;
                self.judge(&moment, ongoing, &record, report)?;
                return Ok(walk);
            }
            moment.finish()?;
        }
    }

    /// Compares what the walked entries name with the files beside the store. This takes as long as there are bytes, so it is done
    /// when no moment of the store is held any more.
    fn check_payloads(&self, walk: &Walk, report: &mut CheckReport) {
        let StreamId::Session(session) = walk.stream else { return };
        let stream = Some(walk.stream);
        for payload in walk.payloads.iter() {
            report.checked_payloads += 1;
            match self.payloads.compare(session, payload) {
                PayloadState::Kept => (),
                PayloadState::Missing => {
                    report.add(FindingKind::Payload, stream, format!("{} is missing", payload.path));
                }
                PayloadState::Changed => {
                    report.add(FindingKind::Payload, stream, format!("{} is not what was stored", payload.path));
                }
            }
        }
        // Behind a fence there may be entries that name more.
        if walk.fence.is_none() {
            let found = self.payloads.list(session).unwrap_or_default();
            for path in found.iter().filter(|path| walk.payloads.get(path).is_none()) {
                report.add(FindingKind::Leftover, stream, format!("no entry names {path}"));
            }
        }
    }

    /// Compares the walked stream with its rows and its fence, in the moment in which the walk came to its end.
    fn judge(
        &self,
        conn: &Connection,
        walk: &mut Walk,
        record: &StreamRecord,
        report: &mut CheckReport,
    ) -> Result<(), Error> {
        let stream = Some(walk.stream);
        let (found, unreadable) = rows::read(conn, self.schema, walk.stream)?;
        walk.miss_tail(known_seq(conn, self.schema, walk.stream)?);
        match (walk.fence(record), &record.fence) {
            (Some(found), fence) => {
                let seq = Some(found.seq);
                report.push(match found.cause {
                    FenceCause::Damaged(what) => {
                        let fenced = fence.as_ref().is_some_and(|fence| fence.seq == found.seq);
                        Finding { kind: FindingKind::Entry, stream, seq, what: what.into_owned(), fenced }
                    }
                    FenceCause::Newer => {
                        let what = "a newer version of Throughline wrote it".to_owned();
                        Finding { kind: FindingKind::Newer, stream, seq, what, fenced: true }
                    }
                });
                // What the rows should say behind the damage is not known.
                return Ok(());
            }
            (None, Some(fence)) => {
                let (seq, what) = (Some(fence.seq), "it is fenced off, and all of it is there".to_owned());
                report.push(Finding { kind: FindingKind::Fence, stream, seq, what, fenced: true });
            }
            (None, None) => (),
        }
        if unreadable.is_empty() {
            rows::differences(&walk.rows, &found, self.schema, &Todo::unfilled_tables(conn)?)
                .into_iter()
                .for_each(|what| report.add(FindingKind::Row, stream, what));
        }
        unreadable.into_iter().for_each(|what| report.add(FindingKind::Row, stream, what));
        Ok(())
    }
}

fn choose(ids: &[i64], depth: Depth) -> BTreeSet<i64> {
    let wanted = match depth {
        Depth::Sample(wanted) if wanted < ids.len() => wanted,
        Depth::Sample(_) | Depth::All => return ids.iter().copied().collect(),
    };
    // Counted back from the newest.
    (0..wanted).filter_map(|n| ids.iter().rev().nth(n * ids.len() / wanted)).copied().collect()
}

#[expect(clippy::ref_option, reason = "this is how serde calls it")]
fn by_name<S: Serializer>(stream: &Option<StreamId>, serializer: S) -> Result<S::Ok, S::Error> {
    match stream {
        Some(stream) => serializer.collect_str(stream),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_evenly_and_has_the_newest() {
        let ids: Vec<i64> = (1..=10).collect();
        let chosen = |wanted| choose(&ids, Depth::Sample(wanted)).into_iter().collect::<Vec<_>>();
        assert_eq!(chosen(1), [10]);
        assert_eq!(chosen(3), [4, 7, 10]);
        assert_eq!(chosen(10), ids);
        assert_eq!(chosen(99), ids);
        assert_eq!(choose(&ids, Depth::All).len(), 10);
    }
}
