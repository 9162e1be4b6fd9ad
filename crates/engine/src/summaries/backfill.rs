//! Summarises the turns that have no summary: those of earlier versions, those that a restart cut off, those of sessions put
//! back from copies.

use std::sync::atomic::Ordering;

use model::{Command, Digest, Draft, Session, SessionId, SummaryMaker, TurnRow, TurnSummary};
use store::{AppendError, Batch, ReadError};

use crate::live_session::InputResult;
use crate::requests::{Asker, InputKind, SessionInput};
use crate::{QueryError, Shared, SubmitError};

/// How many sessions are found at a time, and how many turns of one are summed up with one write.
const SESSIONS_AT_ONCE: usize = 100;
const TURNS_AT_ONCE: usize = 100;
/// How often a lost race for the stream is run again.
const CONFLICT_TRIES: u32 = 5;

/// Sums up what is not summed up. What can not be read is left for the next time.
pub(super) async fn run(shared: &Shared) {
    let mut after = None;
    loop {
        let ids = match shared.store.unsummarised(after, SESSIONS_AT_ONCE).await {
            Ok(ids) => ids,
            Err(err) => return tracing::warn!(error = %err, "what is not summed up could not be found"),
        };
        let Some(last) = ids.last() else { return };
        after = Some(*last);
        for id in ids {
            match catch_up(shared, id).await {
                Ok(turns) => drop(shared.summaries.caught_up.fetch_add(turns, Ordering::Relaxed)),
                Err(err) => tracing::warn!(session = %id, error = %err, "a session could not be summed up"),
            }
        }
    }
}

async fn catch_up(shared: &Shared, id: SessionId) -> Result<u64, QueryError> {
    let (mut turns, mut last) = (0, None);
    loop {
        let Some(session) = shared.store.session(id).await? else { return Ok(turns) };
        // One that did not come further the last time would not now.
        if !is_at_rest(&session) || last.replace(session.row.summarised) == Some(session.row.summarised) {
            return Ok(turns);
        }
        let rows = shared.store.turns(id, session.row.summarised, TURNS_AT_ONCE).await?;
        let mut summaries = Vec::new();
        for row in rows.iter().filter(|row| row.stop.is_some()) {
            summaries.extend(line(shared, row).await?);
        }
        if summaries.is_empty() {
            return Ok(turns);
        }
        turns += summaries.len() as u64;
        if !shared.note(id, Command::Summarise(summaries)).await? {
            return Ok(turns);
        }
    }
}

fn is_at_rest(session: &Session) -> bool {
    session.row.deleted_at.is_none() && session.row.running.is_none()
}

/// A turn's line. One that it has already is set again, so that `summarised` moves past it.
async fn line(shared: &Shared, row: &TurnRow) -> Result<Option<TurnSummary>, ReadError> {
    if let Some(summary) = &row.summary {
        let (turn, extent) = (row.turn, None);
        return Ok(Some(TurnSummary { turn, summary: summary.text.clone(), by: summary.by, extent }));
    }
    Ok(shared.digest(row).await?.summary(row.turn))
}

/// Puts turns in line for the model that were summed up without it.
pub(super) async fn upgrade(shared: &Shared, id: SessionId) -> Result<usize, QueryError> {
    let mut queued = 0;
    let mut after = model::Turn(0);
    loop {
        let rows = shared.store.turns(id, after, TURNS_AT_ONCE).await?;
        let Some(last) = rows.last() else { return Ok(queued) };
        after = last.turn;
        let is_ours = |row: &&TurnRow| row.summary.as_ref().is_some_and(|line| line.by == SummaryMaker::Extract);
        queued += rows.iter().filter(is_ours).filter(|row| shared.summaries.queue(id, row.turn)).count();
    }
}

impl Shared {
    /// A turn as far as its summary needs it.
    pub(super) async fn digest(&self, row: &TurnRow) -> Result<Digest, ReadError> {
        let mut digest = Digest::default();
        self.walk_turn(row, |entry| {
            digest.apply(&entry.event);
            std::ops::ControlFlow::Continue(())
        })
        .await?;
        Ok(digest)
    }

    /// Has the session's task write it down, if it has one: it then knows where its stream is.
    async fn ask_live(&self, id: SessionId, command: &Command) -> Option<bool> {
        let inputs = self.find_task(id)?;
        let input = SessionInput { kind: InputKind::Command(command.clone()), asker: Asker::server() };
        match self.ask(&inputs, input).await {
            InputResult::Answered(Err(SubmitError::Broken)) | InputResult::HandedBack(_) => None,
            InputResult::Answered(done) => Some(done.is_ok()),
        }
    }

    /// Writes down what follows from the log itself; whether anything was.
    pub(super) async fn note(&self, id: SessionId, command: Command) -> Result<bool, QueryError> {
        if let Some(done) = self.ask_live(id, &command).await {
            return Ok(done);
        }
        for _ in 0..CONFLICT_TRIES {
            let Some(session) = self.store.session(id).await? else { return Ok(false) };
            let mut draft = Draft::new(id, Some(session));
            let part = draft.apply(command.clone(), self.clock.now()).map(|()| draft.take());
            let Some(part) = part.ok().filter(|part| !part.entries.is_empty()) else { return Ok(false) };
            match self.journal.append(Batch { parts: vec![part], ..Batch::default() }).await {
                Ok(_) => return Ok(true),
                Err(AppendError::Conflict { .. }) => (),
                Err(err) => {
                    tracing::info!(session = %id, error = %err, "a summary or a title is not written down");
                    return Ok(false);
                }
            }
        }
        Ok(false)
    }
}
