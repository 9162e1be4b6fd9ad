//! Sets right what is damaged beside the log while the server runs, and judges damage of entries.
//!
//! Invariant: writers wait for no more than the rows of one stream. Readers look for what is damaged and fold the log, a page at
//! a time; the writer folds what came meanwhile and replaces the rows. What only the whole log could mend, its index, is left to
//! the next start, and the stream is fenced off until then.

use std::error::Error;

use model::{Position, StreamId};
use rusqlite::Connection;

use crate::sqlite::jobs::Write;
use crate::sqlite::mend::{self, DamagedRows};
use crate::sqlite::outside::walk::Walk;
use crate::sqlite::{SqliteStore, queries};
use crate::{AppendError, Fence, ReadError};

/// A disk that goes on damaging rows is not to be mended all day: it is to be replaced.
const MAX_MENDS: u32 = 3;

/// As many entries are looked at by one question that goes through the log without its index.
const ENTRIES_AT_ONCE: u64 = 20_000;

/// Why damaged rows could not be made anew.
#[derive(Debug, thiserror::Error)]
pub(in crate::sqlite) enum MendError {
    #[error("the log can not be read")]
    Read(#[from] ReadError),
    #[error("the rows can not be written")]
    Write(#[from] AppendError),
}

impl SqliteStore {
    /// Makes the damaged rows beside the log anew, and those of `suspect` in any case, unless somebody else has since `seen`.
    pub(in crate::sqlite) async fn mend_rows(&self, suspect: Option<StreamId>, seen: u32) {
        // It is never closed.
        let _one_at_a_time = self.mending.acquire().await;
        if self.health.mends() != seen || seen >= MAX_MENDS {
            return;
        }
        if let Err(err) = self.try_mend_rows(suspect).await {
            tracing::error!(
                error = chain(&err),
                "rows beside the log are damaged and can not be made anew; stop the server and run `throughline doctor`"
            );
        }
    }

    async fn try_mend_rows(&self, suspect: Option<StreamId>) -> Result<(), MendError> {
        let find = |conn: &Connection| Ok(mend::find_damaged_rows(conn)?);
        let mut damaged = self.ask_once(find).await?;
        if damaged.is_nothing() && suspect.is_none() {
            return Ok(());
        }
        // The rows of what a newer version wrote are left to it, and are no reason to look again and again.
        let is_newer = |stream: &StreamId| self.fences.find(*stream).is_some_and(|fence| fence.is_newer());
        let mut wanted = damaged.owners.iter().chain(&suspect);
        if !damaged.has_streams && wanted.all(is_newer) {
            return Ok(());
        }
        self.health.count_mend();
        tracing::warn!(
            tables = damaged.tables.join(", "),
            "rows beside the log are damaged; they are made anew from it"
        );
        if damaged.has_streams {
            self.write(Write::MendStreams).await?;
            // Whose the other rows are is known only now.
            damaged = self.ask_once(find).await?;
        }
        let DamagedRows { owners, removal, .. } = damaged;
        self.write(Write::RemoveRows(removal)).await?;
        let also = suspect.filter(|suspect| !owners.contains(suspect));
        for stream in owners.into_iter().chain(also) {
            if let Some(walk) = self.walk(stream).await? {
                self.replace_rows(walk).await?;
            }
        }
        Ok(())
    }

    /// Folds a stream, a page at a time. `None` if there is nothing to fold.
    pub(in crate::sqlite) async fn walk(&self, stream: StreamId) -> Result<Option<Walk>, ReadError> {
        let begun = self.ask_once(move |conn| Ok(Walk::begin(conn, stream)?)).await?;
        let Some(mut walk) = begun else { return Ok(None) };
        loop {
            let step = move |conn: &Connection| {
                let is_done = walk.step(conn)?;
                Ok((walk, is_done))
            };
            let is_done;
            (walk, is_done) = self.ask_once(step).await?;
            if is_done {
                return Ok(Some(walk));
            }
        }
    }

    /// Puts the rows that a walk gives in the place of those that are there.
    pub(in crate::sqlite) async fn replace_rows(&self, walk: Walk) -> Result<Position, AppendError> {
        self.write(Write::ReplaceRows(Box::new(walk))).await
    }

    /// Fences a stream off where a reader has met damage, and answers with the fence. `None` if rows were damaged that lead to
    /// the entry: they were made anew, and reading again may find it.
    pub(in crate::sqlite) async fn settle(&self, fence: Fence, seen: u32) -> Result<Option<Fence>, ReadError> {
        if fence.is_newer() {
            self.fences.put(&fence);
            return Ok(Some(fence));
        }
        let (stream, seq) = (fence.stream, fence.seq);
        if self.ask_once(move |conn| queries::is_where_index_says(conn, stream, seq)).await? {
            self.put_fence(&fence).await;
            return Ok(Some(fence));
        }
        self.mend_rows(None, seen).await;
        if self.health.mends() != seen {
            return Ok(None);
        }
        match self.is_in_log(&fence).await? {
            true => Ok(Some(self.fence_until_reindexed(fence).await)),
            false => {
                self.put_fence(&fence).await;
                Ok(Some(fence))
            }
        }
    }

    /// Whether the log has the entry that the index does not lead to.
    async fn is_in_log(&self, fence: &Fence) -> Result<bool, ReadError> {
        let (stream, seq) = (fence.stream, fence.seq);
        let mut after = Position(0);
        loop {
            let look = move |conn: &Connection| queries::find_without_index(conn, stream, seq, after, ENTRIES_AT_ONCE);
            match self.ask_once(look).await {
                Ok(queries::Scanned::Found) => return Ok(true),
                Ok(queries::Scanned::End) => return Ok(false),
                Ok(queries::Scanned::On(position)) => after = position,
                // A part of the table that can not be read holds what is lost, or nobody can tell.
                Err(err) if mend::may_be_row_damage(&err) => return Ok(false),
                Err(err) => return Err(err),
            }
        }
    }

    /// Fences a stream off until the next start, which makes the index anew.
    async fn fence_until_reindexed(&self, fence: Fence) -> Fence {
        let what = "it is not where the index says; the next start mends that";
        let fence = Fence::damaged(fence.stream, fence.seq, what);
        self.fences.put(&fence);
        if let Err(err) = self.write(Write::NoteIndexDamage).await {
            tracing::warn!(error = chain(&err), "the damage could not be noted; it will be found again");
        }
        fence
    }
}

/// An error with all its causes, in one line.
pub(in crate::sqlite) fn chain(err: &dyn Error) -> String {
    let mut text = err.to_string();
    let mut next = err.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}
