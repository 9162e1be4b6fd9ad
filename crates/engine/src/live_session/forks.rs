//! Forks a session: one append over two streams. The new session's agent is started by whoever asked (`forking.rs`).
//!
//! Invariant: as for a click, what follows the append follows from what was appended, so a crash in between is made good by
//! the next run and never doubled. Nothing of the session itself changes but the note.

use std::sync::Arc;

use model::{Command, FirstPrompt, ForkOrigin, InteractionId, NewSession, Origin, SessionId, Turn};
use store::Batch;

use crate::SubmitError;
use crate::forking::Fork;
use crate::live_session::LiveSession;
use crate::requests::Asker;
use crate::wishes::{Created, Reply};
use crate::work::{Wanted, wanted_options};

impl LiveSession {
    pub(super) async fn try_fork(&mut self, fork: &Fork, asker: &Asker) -> Result<Reply, SubmitError> {
        let shared = Arc::clone(&self.shared);
        self.prepare(None).await?;
        let Some(session) = self.stored.session() else { return Err(SubmitError::NotFound(self.id)) };
        let turn = fork.turn.unwrap_or(match session.row.running {
            Some(running) => Turn(running.turn.0.saturating_sub(1)),
            None => session.row.turns,
        });
        let wanted = Wanted { agent: fork.agent.as_deref(), ..Wanted::default() };
        let options = wanted_options(&shared, session, wanted).await?;
        let row = session.row.clone();

        let at = shared.clock.now();
        let begun = SessionId::from_uuid(shared.ids.uuid());
        let new = NewSession {
            agent: fork.agent.clone().unwrap_or(row.agent),
            cwd: row.cwd,
            project: row.project,
            name: fork.name.clone(),
            // A fork is another way, and no step of the work.
            work: None,
            from: Some(Origin::Fork(ForkOrigin { session: self.id, turn })),
            first: fork.prompt.as_ref().map(|prompt| FirstPrompt {
                interaction_id: InteractionId::from_uuid(shared.ids.uuid()),
                text: prompt.text.clone(),
                images: prompt.images.clone(),
                by: prompt.by.clone(),
            }),
            options,
        };
        let draft = self.decide(Some(Command::Fork { turn, session: begun, by: fork.by.clone() }), at)?;
        let (new_part, _storing) = shared.first_part_with_pictures(begun, new, at).await?;
        let reply = Reply::Created(Created { session: begun, entries: new_part.entries.len() as u64 });
        let receipt = asker.receipt(&reply, at);
        let after_commit = self.commit(draft, Batch { parts: vec![new_part], receipt, ..Batch::default() }).await?;
        self.run_effects(after_commit).await;
        Ok(reply)
    }
}
