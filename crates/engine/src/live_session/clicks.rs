//! Takes an offered step: one append over three streams, then the start of the new session's agent.
//!
//! Invariant: a block leads to one session, for ever. What follows the append (starting the agent, which is then sent the
//! prompt) follows from what was appended, so a crash in between is made good by the next run and never doubled.

use std::sync::Arc;

use model::{Command, FirstPrompt, InteractionId, NewSession, Origin, SessionId, add_to_work};
use store::AppendError;

use crate::live_session::effects::AfterCommit;
use crate::live_session::{BatchExtras, CONFLICT_TRIES, LiveSession};
use crate::requests::SessionInput;
use crate::wishes::{Reply, StepTaken};
use crate::work::{Click, wanted_options};
use crate::{Shared, SubmitError, work};

impl LiveSession {
    pub(super) async fn click(&mut self, click: &Click, input: &SessionInput) -> Result<Reply, SubmitError> {
        let mut tries = 0;
        loop {
            match self.try_click(click, input).await {
                Err(SubmitError::Append(AppendError::Repeated(receipt))) => return input.asker.repeat(&receipt),
                Err(SubmitError::Append(AppendError::Conflict { .. })) if tries < CONFLICT_TRIES => {
                    self.reload().await?;
                }
                Err(SubmitError::Append(AppendError::Purged(_))) => return Err(SubmitError::NotFound(self.id)),
                answer => return answer,
            }
            tries += 1;
        }
    }

    async fn try_click(&mut self, click: &Click, input: &SessionInput) -> Result<Reply, SubmitError> {
        let shared = Arc::clone(&self.shared);
        let Some(offer) = shared.store.next_block(self.id, click.block).await? else {
            return Err(SubmitError::NoSuchBlock { session: self.id, block: click.block });
        };
        if let Some(clicked) = offer.row.clicked {
            let reply = Reply::Clicked(StepTaken { work: clicked.work, session: clicked.session });
            shared.append_receipt(&input.asker, &reply).await?;
            return Ok(reply);
        }
        // Checked early, so that nothing is looked up for an offer that leads nowhere; `decide` checks it again.
        let name = offer.check()?.to_owned();
        self.prepare(None).await?;
        let Some(session) = self.stored.session() else { return Err(SubmitError::NotFound(self.id)) };
        let options = wanted_options(&shared, session, click).await?;
        let row = session.row.clone();

        let guard = shared.work_stream.lock().await?;
        let known = shared.store.find_work(&row.project, &name).await?;
        let work = known.as_ref().map_or_else(|| shared.new_work(), |known| known.id);
        let begun = SessionId::from_uuid(shared.ids.uuid());
        let prompt = FirstPrompt {
            interaction_id: InteractionId::from_uuid(shared.ids.uuid()),
            text: offer.row.next.command.clone(),
        };
        let new = NewSession {
            agent: click.agent.clone().unwrap_or(row.agent),
            cwd: row.cwd,
            project: row.project.clone(),
            name: String::new(),
            work: Some(work),
            from: Some((Origin { session: self.id, block: click.block }, prompt)),
            options,
        };
        let command = Command::Click { offer: Box::new(offer), work, session: begun, by: click.by.clone() };
        let at = shared.clock.now();
        let draft = self.decide(Some(command), at)?;
        let new_part = Shared::first_part(begun, new, at)?;
        let reply = Reply::Clicked(StepTaken { work, session: begun });
        let receipt = input.receipt(&reply, at);
        let added = add_to_work(known.as_ref(), work, &row.project, &name, begun);
        let work_part = shared.next_of_works(added, at).await?;

        let after_commit = AfterCommit::of(draft.entries());
        let parts = work_part.into_iter().chain([new_part]).collect();
        fail::fail_point!("click-decided");
        self.commit(draft, BatchExtras { receipt, parts }).await?;
        fail::fail_point!("click-appended");
        drop(guard);
        fail::fail_point!("click-published");
        work::start(&shared, begun);
        self.run_effects(after_commit).await;
        Ok(reply)
    }
}
