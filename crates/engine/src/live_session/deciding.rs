//! Looks up what a decision needs, then turns pending reports and a command into one draft.

use model::{
    AgentReport, Command, Draft, Entry, Memory, Session, SessionEvent, Timestamp, Turn, Untold, is_slash_command,
};

use store::Batch;

use super::{LiveSession, is_at_work, may_start_agent};
use crate::directories::Place;
use crate::wishes::{Created, Observed, PromptAccepted, Reply, StepTaken};
use crate::{DirectoryError, SubmitError, directories, navigation, packet};

impl LiveSession {
    /// Looks up what a decision needs: the agent's resume packet, and whether the directory is still there. If that is
    /// gone and another one takes its place, it appends the move.
    pub(super) async fn prepare(&mut self, command: Option<&Command>) -> Result<(), SubmitError> {
        let Some(session) = self.stored.session() else { return Ok(()) };
        if command.is_some_and(may_start_agent) && self.agent.is_none() {
            match directories::place_of(&session.row, self.shared.home.as_deref()).await {
                Place::Same => {}
                Place::Instead(cwd) => {
                    tracing::warn!(session = %self.id, %cwd, "the session's directory is gone; it goes on in another");
                    let mut draft = self.stored.clone();
                    if draft.apply(Command::MoveTo { cwd }, self.shared.clock.now()).is_ok() {
                        self.commit(draft, Batch::default()).await?;
                    }
                }
                // A prompt is kept all the same, and an imported session goes on without its directory: the session says
                // that its agent could not be started.
                Place::Gone if matches!(command, Some(Command::Resume { .. })) && !session.row.is_imported() => {
                    return Err(DirectoryError::Gone { cwd: session.row.cwd.clone() }.into());
                }
                Place::Gone => {}
            }
        }
        let Some(session) = self.stored.session() else { return Ok(()) };
        self.follow_ups = self.calls.follow_ups(session, self.pending.reports(), &self.shared.file_inspector).await;
        let reports = || self.pending.reports().iter().chain(command.and_then(report_of));
        let topics = match reports().any(ends_turn) && session.row.running.is_some() && !self.stored.knows_topics() {
            true => Some(navigation::newest_topics(&*self.shared.store, &session.row).await?),
            false => None,
        };
        // A turn may begin with this, and the agent may need a packet then.
        let next_prompt = next_prompt(session, command);
        let begins = session.row.running.is_none() || reports().any(|report| matches!(report, AgentReport::Stopped(_)));
        // A slash command goes alone: beside anything else, agents take it for prose. What is untold stays untold.
        let may_tell = begins && next_prompt.is_some_and(|prompt| !is_slash_command(prompt));
        let untold = reports().map(|report| untold_after(report, session)).fold(session.row.untold, Ord::max);
        self.packet = match untold {
            Untold::Essentials | Untold::Everything if may_tell => {
                Some(packet::build(&self.shared, session, untold).await?)
            }
            _ => None,
        };
        if let Some(topics) = topics {
            self.stored.set_topics(topics);
        }
        Ok(())
    }

    /// Drafts the pending reports, then the command, on a clone of the stored session.
    pub(super) fn decide(&self, command: Option<Command>, at: Timestamp) -> Result<Draft, SubmitError> {
        let mut draft = self.stored.clone();
        let is_new = draft.session().is_none();
        for (place, report) in self.pending.reports().iter().cloned().enumerate() {
            draft.apply(Command::Agent(report), at)?;
            for command in self.follow_ups.of(place) {
                draft.apply(command.clone(), at)?;
            }
        }
        if let Some(command) = command {
            // The log may speak of an agent that was there in an earlier run, or before the session was deleted.
            let needs_agent = matches!(
                command,
                Command::SendPrompt { .. }
                    | Command::Resume { .. }
                    | Command::SetOption { .. }
                    | Command::SignIn { .. }
            );
            let restores = matches!(command, Command::Restore);
            // A session that a click began is `Starting` from its first entry; `Start` must not take its agent for lost.
            let starts = matches!(command, Command::Start);
            let has_agent = self.agent.is_some() || is_new;
            if !has_agent && (needs_agent || (draft.session().is_some_and(is_at_work) && !starts)) {
                draft.apply(Command::Agent(AgentReport::Gone), at)?;
            }
            draft.apply(command, at)?;
            if !has_agent && restores {
                draft.apply(Command::Agent(AgentReport::Gone), at)?;
            }
        }
        self.attach_packet(&mut draft, at)?;
        draft.sum_up(self.shared.summaries.titles(), at)?;
        Ok(draft)
    }

    /// Adds the packet, if this draft begins a turn and the agent needs one.
    fn attach_packet(&self, draft: &mut Draft, at: Timestamp) -> Result<(), SubmitError> {
        let before = self.stored.session().map_or(Turn(0), |session| session.row.turns);
        let begins = |session: &Session| session.row.untold > Untold::Nothing && session.row.turns > before;
        match &self.packet {
            Some(packet) if draft.session().is_some_and(begins) => {
                Ok(draft.apply(Command::SendPacket { text: packet.text.clone() }, at)?)
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn reply_to(&self, command: &Command, entries: &[Entry]) -> Reply {
        match command {
            Command::Create(_) => Reply::Created(Created { session: self.id, entries: entries.len() as u64 }),
            Command::SendPrompt { interaction_id, .. } => {
                let turn = entries.iter().find_map(|entry| match &entry.event {
                    SessionEvent::TurnStarted { turn, interaction_id: started } if started == interaction_id => {
                        Some(*turn)
                    }
                    _ => None,
                });
                Reply::PromptAccepted(PromptAccepted { interaction_id: *interaction_id, turn })
            }
            Command::Click { work, session, .. } => Reply::Clicked(StepTaken { work: *work, session: *session }),
            Command::Observe => {
                let was_unobserved =
                    entries.iter().any(|entry| matches!(entry.event, SessionEvent::SessionObserved {}));
                let count = self.shared.journal.attention.now().unobserved;
                let unobserved_count = count.saturating_sub(was_unobserved.into());
                Reply::Observed(Observed { was_unobserved, unobserved_count })
            }
            Command::SetContext { wish, .. } | Command::Change { context: Some(wish), .. } => {
                let sets = self.stored.session().map(|session| &session.context.sets);
                Reply::ContextSet(sets.and_then(|sets| wish.decide(sets).ok()).unwrap_or_default())
            }
            Command::Change { context: None, .. }
            | Command::Fork { .. }
            | Command::Start
            | Command::Prove { .. }
            | Command::StoreOutput(_)
            | Command::ShowApplet { .. }
            | Command::SaveApplet { .. }
            | Command::RemoveOutputs { .. }
            | Command::SetIntent { .. }
            | Command::Summarise(_)
            | Command::SetTitle { .. }
            | Command::ImportPrompt { .. }
            | Command::Import { .. }
            | Command::ChangePrompt { .. }
            | Command::RemovePrompt { .. }
            | Command::Cancel
            | Command::Answer { .. }
            | Command::Withdraw { .. }
            | Command::Resume { .. }
            | Command::SendPacket { .. }
            | Command::SetOption { .. }
            | Command::SignIn { .. }
            | Command::MoveTo { .. }
            | Command::Delete
            | Command::Restore
            | Command::Agent(_)
            | Command::Interrupt { .. } => Reply::Done,
        }
    }
}

/// A turn that runs is over with this.
fn ends_turn(report: &AgentReport) -> bool {
    matches!(
        report,
        AgentReport::Stopped(_) | AgentReport::Failed { .. } | AgentReport::Gone | AgentReport::SignedOut { .. }
    )
}

/// The prompt that goes out next, if one waits or comes with this command.
fn next_prompt<'a>(session: &'a Session, command: Option<&'a Command>) -> Option<&'a str> {
    let comes = match command {
        Some(Command::SendPrompt { text, .. }) => Some(text.as_str()),
        _ => None,
    };
    session.queue.first().map(|waiting| waiting.text.as_str()).or(comes)
}

/// What an agent that reports this does not know of the session.
fn untold_after(report: &AgentReport, session: &Session) -> Untold {
    match report {
        AgentReport::Ready { attached: Some(_) } if session.row.turns == Turn(0) && session.row.from.is_none() => {
            Untold::Nothing
        }
        AgentReport::Ready { attached: Some(attached) } if attached.memory == Memory::New => Untold::Everything,
        AgentReport::Ready { attached: Some(_) } | AgentReport::Compacted { .. } => Untold::Essentials,
        _ => Untold::Nothing,
    }
}

fn report_of(command: &Command) -> Option<&AgentReport> {
    match command {
        Command::Agent(report) => Some(report),
        _ => None,
    }
}
