//! Removes outputs: single ones, and those that are older than they are to be kept.
//!
//! Invariants: the entry that says so is durable before bytes go, so that no entry names bytes that we took away. Bytes that a
//! crash or a failing disk left are swept once after the next start, when no output is being stored. Nothing is removed by age
//! unless the person says after how many days.

use std::time::Duration;

use model::{Answerer, OutputId, OutputRemoval, OutputRow, Rejection, SessionId, Timestamp};
use store::PayloadName;

use crate::outputs::OutputError;
use crate::requests::{Asker, InputKind};
use crate::{Engine, RemovedOutputs, Shared, SubmitError};

/// How many outputs are looked at, and at most removed in one append.
const ROWS_AT_ONCE: usize = 500;
const DAY: Duration = Duration::from_secs(24 * 3_600);
/// The rule by which outputs are removed unasked.
const KEEP_DAYS: &str = "outputs.keep_days";

/// Outputs of one session that are to be removed.
pub(crate) struct Removal {
    pub(crate) ids: Vec<OutputId>,
    pub(crate) reason: OutputRemoval,
    pub(crate) by: Answerer,
}

/// Outputs of all sessions that are to be removed by their age.
#[derive(Debug, Clone)]
pub struct OutputPruning {
    /// Those that were shown longer ago than this.
    pub older_than_days: u32,
    /// Whether it is done.
    pub mode: PruneMode,
    /// Who wants it.
    pub by: Answerer,
}

/// Whether outputs go, or are only counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneMode {
    /// They go.
    Remove,
    /// They are counted and stay.
    Count,
}

impl Engine {
    /// Removes one output; its card stays and says so.
    pub async fn remove_output(
        &self,
        id: SessionId,
        output: OutputId,
        by: Answerer,
        asker: Asker,
    ) -> Result<(), OutputError> {
        let removal = Removal { ids: vec![output], reason: OutputRemoval::Removed, by };
        match self.submit_input::<RemovedOutputs>(id, InputKind::RemoveOutputs(removal), asker).await {
            Ok(_) => Ok(()),
            Err(SubmitError::NoSuchOutput(output)) => Err(OutputError::NotFound(output)),
            Err(err) => Err(err.into()),
        }
    }

    /// Removes outputs that are older than so many days, of all sessions that are not deleted.
    pub async fn prune_outputs(&self, wish: OutputPruning) -> Result<RemovedOutputs, OutputError> {
        let before = self.shared.clock.now().minus(DAY * wish.older_than_days);
        self.prune_before(before, wish).await
    }

    async fn prune_before(&self, before: Timestamp, wish: OutputPruning) -> Result<RemovedOutputs, OutputError> {
        let OutputPruning { mode, by, .. } = wish;
        let (mut sum, mut after, mut last_session) = (RemovedOutputs::default(), None, None);
        loop {
            let rows = self.shared.store.outputs_before(before, after, ROWS_AT_ONCE).await?;
            let Some(last) = rows.last() else { return Ok(sum) };
            after = Some((last.session, last.id));
            for rows in rows.chunk_by(|one, other| one.session == other.session) {
                let removed = match self.prune_session(rows, mode, &by).await {
                    Ok(removed) => removed,
                    Err(OutputError::Query(err)) => {
                        let error = &err as &dyn std::error::Error;
                        tracing::warn!(session = %rows[0].session, error, "a session can not be read; its old outputs stay");
                        continue;
                    }
                    Err(err) => return Err(err),
                };
                sum.outputs += removed.outputs;
                sum.bytes += removed.bytes;
                // The outputs of one session may be on two pages.
                let session = rows[0].session;
                if removed.outputs > 0 && last_session.replace(session) != Some(session) {
                    sum.sessions += 1;
                }
            }
        }
    }

    /// Removes outputs of one session. Those of a deleted one go with it, and one that can not be read keeps what it has.
    async fn prune_session(
        &self,
        rows: &[OutputRow],
        mode: PruneMode,
        by: &Answerer,
    ) -> Result<RemovedOutputs, OutputError> {
        let id = rows[0].session;
        let session = self.shared.store.session(id).await?;
        let takes_entries = session.is_some_and(|session| session.row.deleted_at.is_none());
        if !takes_entries || self.shared.store.fence(id).is_some() {
            return Ok(RemovedOutputs::default());
        }
        if mode == PruneMode::Count {
            return Ok(removed(rows));
        }
        let ids = rows.iter().map(|row| row.id).collect();
        let removal = Removal { ids, reason: OutputRemoval::Pruned, by: by.clone() };
        match self.submit_input(id, InputKind::RemoveOutputs(removal), Asker::server()).await {
            // Deleted, or all of them removed, meanwhile.
            Err(
                SubmitError::NotFound(_)
                | SubmitError::NoSuchOutput(_)
                | SubmitError::Rejected(Rejection::SessionDeleted),
            ) => Ok(RemovedOutputs::default()),
            done => Ok(done?),
        }
    }

    /// Does what `outputs.keep_days` says, as of a moment that is certainly past.
    pub(crate) async fn prune_by_policy(&self, now: Timestamp) -> Result<(), OutputError> {
        let Some(days) = self.shared.outputs.settings.keep_days else { return Ok(()) };
        let by = Answerer::Policy { rule: KEEP_DAYS.to_owned() };
        let wish = OutputPruning { older_than_days: days, mode: PruneMode::Remove, by };
        let RemovedOutputs { outputs, bytes, sessions } = self.prune_before(now.minus(DAY * days), wish).await?;
        if outputs > 0 {
            tracing::info!(outputs, bytes, sessions, days, "outputs older than outputs.keep_days were removed");
        }
        Ok(())
    }
}

/// How much these are, of one session.
pub(crate) fn removed(rows: &[OutputRow]) -> RemovedOutputs {
    let bytes = rows.iter().map(|row| row.bytes).sum();
    RemovedOutputs { outputs: rows.len() as u64, bytes, sessions: 1 }
}

impl Shared {
    /// Removes the bytes of outputs that the log does not have any more.
    pub(crate) async fn remove_payloads(&self, rows: &[OutputRow]) {
        for row in rows {
            if let Err(err) = self.outputs.settings.payloads.remove(row.session, &PayloadName::of(&row.output)).await {
                let error = &err as &dyn std::error::Error;
                tracing::warn!(session = %row.session, output = %row.id, error, "the bytes of a removed output stay until the next start");
            }
        }
    }

    /// Removes bytes that no entry names, of every session that the log has.
    pub(crate) async fn sweep_all_payloads(&self) -> Result<(), OutputError> {
        for id in self.outputs.settings.payloads.sessions().await? {
            // Bytes beside a copy that is not in the log, or beside a log that can not be read, may be all that is left.
            if self.store.fence(id).is_some() || self.store.session(id).await?.is_none() {
                continue;
            }
            self.sweep_outputs(id).await;
            self.sweep_bodies(id).await;
        }
        Ok(())
    }
}
