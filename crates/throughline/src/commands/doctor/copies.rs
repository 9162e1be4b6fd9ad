//! The doctor's check of the readable copies.
//!
//! Invariant: no copy is written, and no store is opened that opening would change. A copy that differs is no damage:
//! the log is the truth, and the copy can be made again, unless the copies have entries that the log has lost.

use anyhow::Result;
use model::{ListKey, SessionId};
use serde_json::{Value, json};
use store::ReadSessions as _;
use store::copies::{Difference, What};
use store::outside::{CheckReport, Depth, FindingKind};
use store::{Copies, CopyError, OpenError, ReadError, SqliteStore};

use crate::data_dir::DataDir;
use crate::host::{new_incarnation, open_store_file};

const PAGE: usize = 200;

/// The result of checking the copies.
pub(super) enum CopiesResult {
    /// A server is writing them, or there can be none.
    Nothing,
    /// They were not compared.
    Left(NotCompared),
    /// They have entries that the database does not have.
    Ahead,
    /// They were compared.
    Compared(CopiesComparison),
}

/// Why copies were not compared.
#[derive(Debug, Clone, Copy)]
pub(super) enum NotCompared {
    FileDamaged,
    OlderSchema,
}

/// The result of the comparison.
pub(super) struct CopiesComparison {
    pub(super) sessions: usize,
    pub(super) differences: Vec<Difference>,
    pub(super) works: WorksCopy,
}

/// The state of the copy of the works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorksCopy {
    Right,
    Different,
    /// Something that is not ours is in the place of its folder.
    Foreign,
    /// It can not be compared: the log is damaged.
    LogDamaged,
}

/// Compares the copies of the sessions that were last active, or of all. Beside a running server, which writes them,
/// they are not compared.
pub(super) async fn check(data: &DataDir, depth: Depth, report: &CheckReport) -> Result<CopiesResult> {
    if report.findings.iter().any(|finding| finding.kind == FindingKind::File) {
        return Ok(CopiesResult::Left(NotCompared::FileDamaged));
    }
    if open_store_file(data)?.is_older_than_program() {
        return Ok(CopiesResult::Left(NotCompared::OlderSchema));
    }
    let store = match SqliteStore::open(&data.database(), new_incarnation()) {
        Ok(store) => store,
        Err(OpenError::InUse { .. } | OpenError::ReadOnly { .. }) => return Ok(CopiesResult::Nothing),
        Err(err) => return Err(err.into()),
    };
    let seen = open_and_compare(&store, &Copies::at(data.sessions()), depth).await;
    store.close().await;
    seen
}

async fn open_and_compare(store: &SqliteStore, copies: &Copies, depth: Depth) -> Result<CopiesResult> {
    if let Some(cursor) = copies.cursor().await?
        && cursor.is_ahead_of(store)
    {
        return Ok(CopiesResult::Ahead);
    }
    compare(store, copies, depth).await.map(CopiesResult::Compared)
}

async fn compare(store: &SqliteStore, copies: &Copies, depth: Depth) -> Result<CopiesComparison> {
    let limit = match depth {
        Depth::All => usize::MAX,
        Depth::Sample(limit) => limit,
    };
    let works = compare_works(store, copies).await?;
    let mut checked = CopiesComparison { sessions: 0, differences: Vec::new(), works };
    let mut after = None;
    let mut looked_at = 0;
    while looked_at < limit {
        let rows = store.sessions(model::Shelf::All, after, PAGE.min(limit - looked_at)).await?;
        let Some(last) = rows.last() else { break };
        after = Some(ListKey::of(last));
        let ids: Vec<SessionId> = rows.iter().map(|row| row.id).collect();
        looked_at += ids.len();
        let found = copies.check(store, &ids).await?;
        // Damage to the log is reported with the log; there is nothing to compare such a copy with.
        let (damaged, different): (Vec<_>, Vec<_>) = found.into_iter().partition(|found| found.what == What::Damaged);
        checked.sessions += ids.len() - damaged.len();
        checked.differences.extend(different);
    }
    Ok(checked)
}

async fn compare_works(store: &SqliteStore, copies: &Copies) -> Result<WorksCopy> {
    match copies.works_are_right(store).await {
        Ok(true) => Ok(WorksCopy::Right),
        Ok(false) => Ok(WorksCopy::Different),
        Err(CopyError::Foreign { .. }) => Ok(WorksCopy::Foreign),
        // Reported with the log.
        Err(CopyError::Read(ReadError::Fenced(_))) => Ok(WorksCopy::LogDamaged),
        Err(err) => Err(err.into()),
    }
}

impl CopiesResult {
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Nothing => Value::Null,
            Self::Left(why) => json!({ "left": why.describe() }),
            Self::Ahead => json!({ "ahead": true }),
            Self::Compared(checked) => checked.to_json(),
        }
    }
}

impl NotCompared {
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::FileDamaged => "the file itself is damaged",
            Self::OlderSchema => "the next start brings the database to this version first",
        }
    }
}

impl CopiesComparison {
    fn to_json(&self) -> Value {
        let differences = self
            .differences
            .iter()
            .map(|Difference { session, what }| json!({ "session": session, "what": describe(*what) }));
        let works = match self.works {
            WorksCopy::Right => "right",
            WorksCopy::Different => "different",
            WorksCopy::Foreign => "foreign",
            WorksCopy::LogDamaged => "damaged",
        };
        json!({ "sessions": self.sessions, "differences": differences.collect::<Vec<_>>(), "works": works })
    }
}

pub(super) fn describe(what: What) -> &'static str {
    match what {
        What::Missing => "has no copy",
        What::Purged => "was removed for good, but its copy is still there",
        What::Foreign => "has something else in its copy's place",
        What::Meta => "differs from its meta.json",
        What::Transcript => "differs from its transcript.jsonl",
        What::Outputs => "differs from its outputs.json",
        What::Damaged => "is damaged",
    }
}
