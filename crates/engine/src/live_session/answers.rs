//! Handles an agent's questions: appends them, and answers them by a rule, a remembered answer or a person's.
//!
//! Invariant: a question is in the log before it is answered, whoever answers it. An answer and what is remembered of it
//! are one append: there is never one without the other.

use std::sync::Arc;

use agents::{AgentRequest, OwnCall};
use model::{
    AgentReport, Answerer, Command, Draft, Memorable, Outcome, PermissionAnswer, Question, Request, SessionEvent,
    StreamId, Timestamp,
};
use store::{AppendError, Batch, Receipt};

use crate::live_session::LiveSession;
use crate::{SubmitError, policy};

impl LiveSession {
    pub(super) async fn handle_question(&mut self, key: u64, question: Question, own_call: Option<OwnCall>) {
        self.key_being_written = Some(key);
        self.write_pending(Some(Command::Agent(AgentReport::Asked(question.clone())))).await;
        // It was not taken: nobody will answer it.
        if self.unwritten.is_none()
            && let Some(key) = self.key_being_written.take()
        {
            let by = Answerer::Nobody;
            let answer = PermissionAnswer { option: None, kind: None, fields: None, by, remembered: None };
            return self.send_to_agent(AgentRequest::Answer { key, answer }).await;
        }
        let Some(request) = self.request_with_key(key) else { return };
        let memorable = Memorable::of(&question);
        let shared = Arc::clone(&self.shared);
        // Nothing is forgotten between looking and writing: what was forgotten answers nothing.
        let _guard = match &memorable {
            Some(_) => Some(shared.server_stream.lock().await),
            None => None,
        };
        if let Some(answer) = self.automatic_answer(&question, memorable.as_ref(), own_call) {
            self.write_pending(Some(Command::Answer { request, answer })).await;
        }
    }

    /// Whoever asked does not wait any more.
    pub(super) async fn handle_withdrawn(&mut self, key: u64) {
        if let Some(request) = self.request_with_key(key) {
            self.write_pending(Some(Command::Withdraw { request })).await;
        }
    }

    fn request_with_key(&self, key: u64) -> Option<Request> {
        self.open_requests.iter().find(|(_, asked)| **asked == key).map(|(request, _)| *request)
    }

    /// The answer that is given without asking a person, if there is one.
    fn automatic_answer(
        &self,
        question: &Question,
        memorable: Option<&Memorable>,
        own_call: Option<OwnCall>,
    ) -> Option<PermissionAnswer> {
        let row = &self.stored.session()?.row;
        let remembered = memorable.and_then(|asked| self.shared.journal.remembered.find(row, asked));
        let policy = &self.shared.agency.policy;
        let decided = policy::answer(policy, remembered.as_ref(), &row.agent, question);
        decided.or_else(|| {
            // What the person decided about it, or wants to be asked about, is theirs.
            let is_open = remembered.is_none() && policy.decide(&row.agent, question.kind).is_default();
            let answer = policy::own_tool(question).filter(|_| is_open)?;
            self.expect_own_call(own_call?).then_some(answer)
        })
    }

    /// Whether a call is one of our own tools, as far as that can be known before it is made; then it has to arrive.
    fn expect_own_call(&self, call: OwnCall) -> bool {
        let takes = self.shared.agency.own_tools.takes;
        takes(&call.tool, &call.input) && self.is_lent() && self.shared.own_calls.expect(self.id, call)
    }

    /// At a turn's end, what was allowed as a call of our own tools must have arrived.
    pub(super) fn look_for_own_calls(&mut self, report: &AgentReport) {
        let had_to_arrive = match report {
            AgentReport::Stopped(stop) => stop.outcome == Outcome::Completed,
            AgentReport::Failed { .. } => false,
            _ => return,
        };
        if let Some(notice) = self.shared.own_calls.end_turn(self.id, had_to_arrive) {
            self.pending.push(notice);
        }
    }

    /// Appends a draft, with what an answer in it leaves to be remembered.
    pub(super) async fn commit_command(
        &mut self,
        draft: Draft,
        receipt: Option<Receipt>,
        at: Timestamp,
    ) -> Result<(), SubmitError> {
        let kept = draft.entries().iter().find_map(|entry| match &entry.event {
            SessionEvent::PermissionAnswered { request, answer, .. } => answer.remembered.map(|_| (*request, answer)),
            _ => None,
        });
        let (Some((request, answer)), Some(session)) = (kept, self.stored.session()) else {
            return Ok(self.commit_and_run_effects(draft, Batch { receipt, ..Batch::default() }).await?);
        };
        let shared = Arc::clone(&self.shared);
        let guard = shared.server_stream.lock().await;
        let remembered = model::remember(&shared.journal.remembered.all(), session, request, answer)?;
        let server = shared.next_of_server(remembered, at).await?;
        let batch = Batch { parts: server.into_iter().collect(), receipt, ..Batch::default() };
        let committed = self.commit(draft, batch).await;
        if let Err(AppendError::Conflict { stream: StreamId::Server, .. }) = &committed {
            shared.journal.read_what_is_in_force().await?;
        }
        drop(guard);
        let after_commit = committed?;
        self.run_effects(after_commit).await;
        Ok(())
    }
}
