//! Takes an offered step: one append over three streams, then the start of the new session's agent.
//!
//! Invariant: a block leads to one session, for ever. What follows the append (starting the agent, which is then sent the
//! prompt) follows from what was appended, so a crash in between is made good by the next run and never doubled.

use std::sync::Arc;

use model::{Author, Command, FirstPrompt, InteractionId, NewSession, Origin, SessionId, StepOrigin};
use store::Batch;

use crate::live_session::LiveSession;
use crate::requests::Asker;
use crate::wishes::{Reply, StepTaken};
use crate::work::{Click, Wanted, wanted_options};
use crate::{Shared, SubmitError, work};

impl LiveSession {
    pub(super) async fn try_click(&mut self, click: &Click, asker: &Asker) -> Result<Reply, SubmitError> {
        let shared = Arc::clone(&self.shared);
        let Some(offer) = shared.store.next_block(self.id, click.block).await? else {
            return Err(SubmitError::NoSuchBlock { session: self.id, block: click.block });
        };
        if let Some(clicked) = offer.row.clicked {
            let reply = Reply::Clicked(StepTaken { work: clicked.work, session: clicked.session });
            return shared.append_with_reply(Vec::new(), reply, asker, shared.clock.now()).await;
        }
        // Checked early, so that nothing is looked up for an offer that leads nowhere; `decide` checks it again.
        let name = offer.check()?.to_owned();
        self.prepare(None).await?;
        let Some(session) = self.stored.session() else { return Err(SubmitError::NotFound(self.id)) };
        let wanted = Wanted { agent: click.agent.as_deref(), model: click.model.clone(), mode: click.mode.clone() };
        let options = wanted_options(&shared, session, wanted).await?;
        let row = session.row.clone();

        let guard = shared.work_stream.lock().await;
        let at = shared.clock.now();
        let begun = SessionId::from_uuid(shared.ids.uuid());
        let (work, work_part) = shared.join_work(&row.project, &name, begun, at).await?;
        let origin = StepOrigin { session: self.id, block: click.block };
        let prompt = FirstPrompt {
            interaction_id: InteractionId::from_uuid(shared.ids.uuid()),
            text: offer.row.next.command.clone(),
            images: Vec::new(),
            by: Author::Step(origin),
        };
        let new = NewSession {
            agent: click.agent.clone().unwrap_or(row.agent),
            cwd: row.cwd,
            project: row.project,
            name: String::new(),
            work: Some(work),
            from: Some(Origin::Step(origin)),
            first: Some(prompt),
            options,
        };
        let command = Command::Click { offer: Box::new(offer), work, session: begun, by: click.by.clone() };
        let draft = self.decide(Some(command), at)?;
        let new_part = Shared::first_part(begun, new, at)?;
        let reply = Reply::Clicked(StepTaken { work, session: begun });
        let receipt = asker.receipt(&reply, at);
        let parts = work_part.into_iter().chain([new_part]).collect();
        fail::fail_point!("click-decided");
        let after_commit = self.commit(draft, Batch { parts, receipt, ..Batch::default() }).await?;
        fail::fail_point!("click-appended");
        drop(guard);
        fail::fail_point!("click-published");
        work::start(&shared, begun);
        self.run_effects(after_commit).await;
        Ok(reply)
    }
}
