//! Handles an agent's questions: appends them, and answers them by a rule, a remembered answer or a person's.
//!
//! Invariant: a question is in the log before it is answered, whoever answers it. An answer and what is remembered of it
//! are one append: there is never one without the other.

use std::borrow::Cow;
use std::sync::Arc;

use agents::{AgentRequest, OwnCall};
use model::{
    AgentReport, Answerer, Command, Draft, Memorable, Outcome, PermissionAnswer, PermissionKind, Question, Rejection,
    RememberedId, Request, SessionEvent, StreamId, Timestamp,
};
use store::{AppendError, Batch, Receipt};
use tokio::sync::mpsc;

use crate::live_session::LiveSession;
use crate::requests::ToolQuestion;
use crate::wishes::Reply;
use crate::{SubmitError, policy};

/// Who waits for an answer.
pub(super) enum Waiter {
    /// The agent, which knows its question by this key.
    Agent(u64),
    /// One of our own tools.
    Tool(mpsc::Sender<PermissionAnswer>),
}

impl LiveSession {
    pub(super) async fn handle_question(&mut self, key: u64, question: Question, own_call: Option<OwnCall>) {
        self.waiter_being_written = Some(Waiter::Agent(key));
        self.write_pending(Some(Command::Agent(AgentReport::Asked(question.clone())))).await;
        // It was not taken: nobody will answer it.
        if self.unwritten.is_none() && self.waiter_being_written.take().is_some() {
            return self.send_to_agent(AgentRequest::Answer { key, answer: nobody() }).await;
        }
        let Some(request) = self.request_with_key(key) else { return };
        self.answer_unasked(request, &question, own_call).await;
    }

    /// Asks the person for one of our own tools, in the turn that the tool was called in.
    pub(super) async fn try_ask(&mut self, asked: &ToolQuestion) -> Result<Reply, SubmitError> {
        if self.running_turn() != Some(asked.turn) {
            return Err(Rejection::NoTurnRunning.into());
        }
        self.prepare(None).await?;
        let report = AgentReport::Asked(asked.question.clone());
        let draft = self.decide(Some(Command::Agent(report)), self.shared.clock.now())?;
        let taken = draft.entries().iter().find_map(|entry| match &entry.event {
            SessionEvent::PermissionAsked { turn, request, .. } => Some((*turn, *request)),
            _ => None,
        });
        let request = match taken {
            Some((Some(turn), request)) if turn == asked.turn => request,
            // The turn ends with what is written first.
            Some(_) => return Err(Rejection::NoTurnRunning.into()),
            // More are open than may be: nobody will answer it. The tool has room for one answer.
            None => {
                drop(asked.answer.try_send(nobody()));
                return Ok(Reply::Done);
            }
        };
        // A question of the agent's that could not be written yet waits for its turn.
        let agents_own = self.waiter_being_written.replace(Waiter::Tool(asked.answer.clone()));
        let committed = self.commit_and_run_effects(draft, Batch::default()).await;
        self.waiter_being_written = agents_own;
        committed?;
        self.answer_unasked(request, &asked.question, None).await;
        Ok(Reply::Done)
    }

    /// Gives the answer that the person decided on beforehand, if there is one.
    async fn answer_unasked(&mut self, request: Request, question: &Question, own_call: Option<OwnCall>) {
        let memorable = Memorable::of(question);
        let shared = Arc::clone(&self.shared);
        // Nothing is forgotten between looking and writing: what was forgotten answers nothing.
        let _guard = match &memorable {
            Some(_) => Some(shared.server_stream.lock().await),
            None => None,
        };
        if let Some(answer) = self.automatic_answer(question, memorable.as_ref(), own_call) {
            self.write_pending(Some(Command::Answer { request, answer })).await;
        }
    }

    /// Whoever asked does not wait any more.
    pub(super) async fn handle_withdrawn(&mut self, key: u64) {
        if let Some(request) = self.request_with_key(key) {
            self.write_pending(Some(Command::Withdraw { request })).await;
        }
    }

    pub(super) fn request_with_key(&self, key: u64) -> Option<Request> {
        let asked_so = |waiter: &Waiter| matches!(waiter, Waiter::Agent(asked) if *asked == key);
        self.open_requests.iter().find(|(_, waiter)| asked_so(waiter)).map(|(request, _)| *request)
    }

    /// An answer to one of our own tools that is to hold always is remembered: an agent that is told so remembers it itself.
    pub(super) fn with_what_is_kept<'a>(&self, command: &'a Command) -> Cow<'a, Command> {
        let Command::Answer { request, answer } = command else { return Cow::Borrowed(command) };
        let (Some(Waiter::Tool(_)), None) = (self.open_requests.get(request), answer.remembered) else {
            return Cow::Borrowed(command);
        };
        let open = self.stored.session().into_iter().flat_map(|session| &session.row.open_requests);
        let options = open.filter(|open| open.request == *request).flat_map(|open| &open.options);
        let mut chosen = options.filter(|option| Some(&option.id) == answer.option.as_ref());
        if !chosen.any(|option| matches!(option.kind, PermissionKind::AllowAlways | PermissionKind::RejectAlways)) {
            return Cow::Borrowed(command);
        }
        let remembered = Some(RememberedId::from_uuid(self.shared.ids.uuid()));
        let answer = PermissionAnswer { remembered, ..answer.clone() };
        Cow::Owned(Command::Answer { request: *request, answer })
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
            let own_call = own_call?;
            // What the person decided about it, or wants to be asked about, is theirs; the latter once, by the tool.
            let is_open = remembered.is_none() && policy.decide(&row.agent, question.kind).is_default();
            let is_open = is_open || (remembered.is_none() && self.asks_itself(&own_call));
            let answer = policy::own_tool(question).filter(|_| is_open)?;
            self.expect_own_call(own_call).then_some(answer)
        })
    }

    fn asks_itself(&self, call: &OwnCall) -> bool {
        self.shared.agency.own_tools.unasked.iter().any(|tool| tool.name == call.tool && tool.asks_itself)
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

/// What a question is answered that nobody answers.
fn nobody() -> PermissionAnswer {
    PermissionAnswer { option: None, kind: None, fields: None, by: Answerer::Nobody, remembered: None }
}
