//! The doctor's look at the readable copies.
//!
//! Invariant: no copy is written, and a store is not opened for it that opening would change. A copy that differs is no
//! damage: the log is the truth, and the copy can be had again, unless the copies know of entries that the log has lost.

use anyhow::Result;
use model::{ListKey, SessionId};
use serde_json::{Value, json};
use store::ReadSessions as _;
use store::copies::{Difference, What};
use store::outside::{CheckReport, Depth, FindingKind};
use store::{Copies, CopyError, OpenError, ReadError, SqliteStore};

use crate::data_dir::DataDir;
use crate::host::{look_at, new_incarnation};

const PAGE: usize = 200;

/// What was seen of the copies.
pub(super) enum CopiesSeen {
    /// A server is at work on them, or nobody can be.
    Nothing,
    /// They were not compared.
    Left(Why),
    /// They know of entries that the database does not have.
    Ahead,
    /// They were compared.
    Compared(CopiesChecked),
}

/// Why copies were not compared.
#[derive(Debug, Clone, Copy)]
pub(super) enum Why {
    FileDamaged,
    OlderSchema,
}

/// How the copies stand.
pub(super) struct CopiesChecked {
    pub(super) sessions: usize,
    pub(super) differences: Vec<Difference>,
    pub(super) works: WorksCopy,
}

/// How the copy of the pieces of work stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorksCopy {
    Right,
    Different,
    /// Something that is not ours lies in the place of its folder.
    Foreign,
    /// There is nothing to compare it with: their log is damaged.
    LogDamaged,
}

/// Compares the copies of the sessions last active, or of all. Beside a server, which is at work on them, they are left
/// alone.
pub(super) async fn check(data: &DataDir, depth: Depth, report: &CheckReport) -> Result<CopiesSeen> {
    if report.findings.iter().any(|finding| finding.kind == FindingKind::File) {
        return Ok(CopiesSeen::Left(Why::FileDamaged));
    }
    if look_at(data)?.is_older_than_program() {
        return Ok(CopiesSeen::Left(Why::OlderSchema));
    }
    let store = match SqliteStore::open(&data.database(), new_incarnation()) {
        Ok(store) => store,
        Err(OpenError::InUse { .. } | OpenError::ReadOnly { .. }) => return Ok(CopiesSeen::Nothing),
        Err(err) => return Err(err.into()),
    };
    let seen = look(&store, &Copies::at(data.sessions()), depth).await;
    store.close().await;
    seen
}

async fn look(store: &SqliteStore, copies: &Copies, depth: Depth) -> Result<CopiesSeen> {
    if let Some(cursor) = copies.cursor().await?
        && cursor.is_ahead_of(store).await?
    {
        return Ok(CopiesSeen::Ahead);
    }
    compare(store, copies, depth).await.map(CopiesSeen::Compared)
}

async fn compare(store: &SqliteStore, copies: &Copies, depth: Depth) -> Result<CopiesChecked> {
    let limit = match depth {
        Depth::All => usize::MAX,
        Depth::Sample(limit) => limit,
    };
    let works = compare_works(store, copies).await?;
    let mut checked = CopiesChecked { sessions: 0, differences: Vec::new(), works };
    let mut after = None;
    let mut looked_at = 0;
    while looked_at < limit {
        let rows = store.sessions(after, PAGE.min(limit - looked_at)).await?;
        let Some(last) = rows.last() else { break };
        after = Some(ListKey::of(last));
        let ids: Vec<SessionId> = rows.iter().map(|row| row.id).collect();
        looked_at += ids.len();
        let found = copies.check(store, &ids).await?;
        // That the log is damaged is told where the log is; there is nothing to compare a copy with.
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
        // That is told where the log is.
        Err(CopyError::Read(ReadError::Fenced(_))) => Ok(WorksCopy::LogDamaged),
        Err(err) => Err(err.into()),
    }
}

impl CopiesSeen {
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Nothing => Value::Null,
            Self::Left(why) => json!({ "left": why.describe() }),
            Self::Ahead => json!({ "ahead": true }),
            Self::Compared(checked) => checked.to_json(),
        }
    }
}

impl Why {
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::FileDamaged => "the file itself is damaged",
            Self::OlderSchema => "the next start brings the database to this version first",
        }
    }
}

impl CopiesChecked {
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
        What::Damaged => "is damaged",
    }
}
