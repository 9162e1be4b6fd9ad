//! Handles an agent's updates: text is previewed at once, and reports are gathered until they are appended.

use agents::AgentUpdate;
use model::{AgentReport, AgentState, Command};
use tokio::time::Instant;

use super::{COMMANDS_LIMIT, HeldEnd, LiveSession, UPDATES_AT_ONCE};
use crate::feeds::{self, Words};
use crate::pending::words_of;

impl LiveSession {
    /// Handles the agent's next update and those that are queued behind it: they share an append.
    pub(super) async fn handle_updates(&mut self, mut update: Option<AgentUpdate>) {
        let mut write = false;
        // Words that follow what can not wait are not shown before it: both are written with this append.
        let mut may_preview = true;
        let mut handled = 0;
        loop {
            match update {
                None => {
                    let failed = AgentReport::Failed { reason: "the agent ended".to_owned() };
                    if self.hold_end(&failed) {
                        break;
                    }
                    self.write_pending(Some(Command::Agent(failed))).await;
                    self.agent = None;
                    return;
                }
                Some(AgentUpdate::Asked { key, question, own_call }) => {
                    return self.handle_question(key, question, own_call).await;
                }
                Some(AgentUpdate::Withdrawn { key }) => return self.handle_withdrawn(key).await,
                Some(AgentUpdate::Report(report)) if self.choices.is_known(&report) && !self.is_unresponsive() => (),
                Some(AgentUpdate::Report(report)) => {
                    self.choices.note(&report);
                    let last = matches!(report, AgentReport::Stopped(_) | AgentReport::Failed { .. });
                    if last && self.hold_end(&report) {
                        write = true;
                        break;
                    }
                    self.look_for_own_calls(&report);
                    may_preview &= can_wait(&report);
                    write |= !may_preview || self.pending.is_worth_writing();
                    if may_preview {
                        self.preview(&report);
                    }
                    self.pending.push(report);
                    if last {
                        break;
                    }
                }
            }
            handled += 1;
            if handled == UPDATES_AT_ONCE || self.pending.is_full() {
                break;
            }
            match self.agent.as_mut().map(|hosted| hosted.agent.updates.try_recv()) {
                Some(Ok(next)) => update = Some(next),
                Some(Err(_)) | None => break,
            }
        }
        if write || self.pending.is_worth_writing() || self.pending.is_full() {
            self.write_pending(None).await;
        }
    }

    /// Holds a turn's end back while commands of the turn have yet to end, and cancels them; whether there are any. What they
    /// printed belongs to the turn.
    fn hold_end(&mut self, report: &AgentReport) -> bool {
        let has_commands = self.shared.commands.cancel(self.id, None) > 0;
        if has_commands {
            self.held_end = Some(HeldEnd { report: report.clone(), until: Instant::now() + COMMANDS_LIMIT });
        }
        has_commands
    }

    /// Goes on with a turn's end that was held back.
    pub(super) async fn release_end(&mut self) {
        let Some(HeldEnd { report, .. }) = self.held_end.take() else { return };
        self.shared.commands.abandon(self.id);
        self.handle_updates(Some(AgentUpdate::Report(report))).await;
    }

    /// Writes a turn's end that was held back, as the server stops. Where a prompt waits behind it the turn is interrupted
    /// instead: its end would begin the next one.
    pub(super) async fn write_held_end(&mut self) {
        let Some(HeldEnd { report, .. }) = self.held_end.take() else { return };
        if self.stored.session().is_some_and(|session| session.queue.is_empty()) {
            self.write_pending(Some(Command::Agent(report))).await;
        }
    }

    /// The agent has the session's own tools.
    pub(super) fn is_lent(&self) -> bool {
        self.agent.as_ref().is_some_and(|hosted| hosted.loan.is_some())
    }

    /// Whatever the agent says next shows that it is there.
    fn is_unresponsive(&self) -> bool {
        let is_said = self.stored.session().is_some_and(|session| session.row.agent_state == AgentState::Unresponsive);
        is_said || self.pending.reports().contains(&AgentReport::Unresponsive)
    }

    /// Shows live words, of the turn that runs, before they are durable.
    fn preview(&self, report: &AgentReport) {
        let Some((of, number, text)) = words_of(report).filter(|(.., text)| self.pending.may_preview(text)) else {
            return;
        };
        let Some(session) = self.stored.session() else { return };
        let Some(turn) = session.row.running.map(|running| running.turn) else { return };
        let words = Words { turn, of, number, text: text.into() };
        self.shared.feeds.publish(self.id, feeds::FeedUpdate::Preview { after: session.head, words });
    }
}

/// Whether a report may be gathered with those that follow it. Words are previewed meanwhile. Usage is no part of the
/// transcript, and comes right before a turn's end: written at once, it would be a commit of its own.
fn can_wait(report: &AgentReport) -> bool {
    words_of(report).is_some() || matches!(report, AgentReport::Usage(_))
}
