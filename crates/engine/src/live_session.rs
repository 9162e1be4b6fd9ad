//! One task per live session: the only place where its next step is decided.
//!
//! Invariant: inputs are taken one at a time, and each is durable before the next is looked at. What must happen
//! outside (starting an agent, sending it words) follows from committed events, so a crash between the two is found by
//! recovery and nothing is done that the log does not say.

mod answers;
mod clicks;
mod deciding;
mod effects;
mod hearing;
mod marks;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use agents::{Agent, AgentPacket, AgentRequest, AgentStart, AgentUpdate, PacketKind};
use model::{AgentState, Command, Draft, Request, Session, SessionId};
use store::{AppendError, Batch, Part, Receipt, Room};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};

use self::effects::{AfterCommit, Effect};
use self::marks::{Marked, receipt_of};
use crate::agent_places::AgentPlace;
use crate::asking::{AfterRequest, SessionOrder, SessionRequest};
use crate::calls::{Calls, ProvedFacts};
use crate::offers::{Offers, newest_entries};
use crate::pending::Pending;
use crate::tokens::Loan;
use crate::wishes::Reply;
use crate::{Packet, Shared, SubmitError};

/// A session that nobody asks anything of lets go of its task and its agent.
const IDLE_AFTER: Duration = Duration::from_secs(1_800);
/// How long an agent may take to hear a call; one that does not listen has failed.
const CALL_LIMIT: Duration = Duration::from_secs(10);
/// How long after a failed write it is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// How much of what the agent did is written down at once.
const NEWS_AT_ONCE: usize = 256;
/// How often a lost race for the stream is run again.
const CONFLICT_TRIES: u32 = 5;

/// An order with the way to answer it.
pub(crate) struct Input {
    pub(crate) asked: SessionRequest,
    pub(crate) answer: oneshot::Sender<InputResult>,
}

/// What becomes of an input.
#[expect(clippy::large_enum_variant, reason = "one at a time, moved once")]
pub(crate) enum InputResult {
    Answered(Result<Reply, SubmitError>),
    /// The task was ending and did not look at it; the next one will.
    HandedBack(SessionRequest),
}

pub(crate) struct LiveSession {
    shared: Arc<Shared>,
    id: SessionId,
    /// The session as it is stored. What is to be appended is drafted on a clone of it, which then takes its place.
    stored: Draft,
    inputs: mpsc::Receiver<Input>,
    agent: Option<Hosted>,
    /// The agent's place among all that may run at once; taken before it is started.
    place: Option<AgentPlace>,
    /// What agents' credentials have marked since the newest prompt, once it was counted.
    marked: Option<Marked>,
    /// What the agent did and is not durable yet.
    pending: Pending,
    /// What the agent is known to offer.
    offers: Offers,
    /// What the agent waits for, by the number under which people know it.
    asked: HashMap<Request, u64>,
    /// The agent's own key of the request that is being written down.
    asking: Option<u64>,
    /// What the agent is told ahead of the prompt that is about to go out.
    packet: Option<Packet>,
    /// The calls that have not ended.
    calls: Calls,
    /// What they prove that end now.
    proofs: ProvedFacts,
    /// What could not be written down. Until it is, the agent is not listened to, so that nothing it says is lost and
    /// what it says meanwhile stays with it.
    owed: Option<Unwritten>,
    /// The session is about to be purged: its agent is kept until then, so that it can delete its own record.
    then: AfterRequest,
}

/// An agent, with the credential that it was lent: they end together.
struct Hosted {
    agent: Agent,
    loan: Option<Loan>,
}

/// What is appended in the same batch as a session's entries: the receipt, and other streams' parts.
#[derive(Debug, Default)]
struct BatchExtras {
    receipt: Option<Receipt>,
    /// The next parts of other streams.
    parts: Vec<Part>,
}

struct Unwritten {
    /// What was to follow what is pending.
    command: Option<Command>,
    retry_at: Instant,
}

impl LiveSession {
    pub(crate) fn new(
        shared: Arc<Shared>,
        id: SessionId,
        session: Option<Session>,
        inputs: mpsc::Receiver<Input>,
    ) -> Self {
        Self {
            shared,
            id,
            stored: Draft::new(id, session),
            inputs,
            agent: None,
            place: None,
            marked: None,
            pending: Pending::default(),
            offers: Offers::default(),
            asked: HashMap::new(),
            asking: None,
            packet: None,
            calls: Calls::default(),
            proofs: ProvedFacts::default(),
            owed: None,
            then: AfterRequest::Stay,
        }
    }

    pub(crate) async fn run(mut self) {
        let stopping = self.shared.stopping.clone();
        let mut idle_at = Instant::now() + IDLE_AFTER;
        loop {
            let write_at = match &self.owed {
                Some(owed) => Some(owed.retry_at),
                None => self.pending.due(),
            };
            tokio::select! {
                biased;
                () = stopping.cancelled() => break,
                input = self.inputs.recv() => match input {
                    Some(input) => self.take(input).await,
                    // The way here is taken away when the session is purged.
                    None => {
                        self.delete_record().await;
                        break;
                    }
                },
                news = next_news(&mut self.agent), if self.owed.is_none() => self.hear(news).await,
                () = sleep_until(write_at.unwrap_or(idle_at)), if write_at.is_some() => self.write_owed().await,
                () = sleep_until(idle_at), if !self.busy() => break,
                // Another session's agent needs the place, and this one's has nothing to do.
                () = asked_to_leave(self.place.as_ref()), if self.rests() => break,
            }
            idle_at = Instant::now() + IDLE_AFTER;
            match self.stored.session() {
                Some(session) if session.row.deleted_at.is_some() && self.then == AfterRequest::Stay => {
                    self.agent = None;
                }
                Some(_) => (),
                // It could not be begun.
                None => break,
            }
            self.keep_place();
        }
        self.end().await;
    }

    /// The agent has something to do, or something it did is not written down yet.
    fn busy(&self) -> bool {
        self.owed.is_some() || (self.agent.is_some() && self.stored.session().is_some_and(is_at_work))
    }

    /// The agent has nothing to do, and all that it did is written down.
    fn rests(&self) -> bool {
        !self.busy() && self.pending.due().is_none() && self.then == AfterRequest::Stay
    }

    /// A place is held while there is an agent, and for as long as that is at work.
    fn keep_place(&mut self) {
        let rests = self.rests();
        match &mut self.place {
            place if self.agent.is_none() => *place = None,
            Some(place) if rests => place.rests(),
            Some(place) => place.works(),
            None => (),
        }
    }

    /// Takes a place for the agent that this command may start, before anything of it is written down.
    async fn take_place(&mut self, command: &Command) -> Result<(), SubmitError> {
        let starts = matches!(
            command,
            Command::Create(_) | Command::SendPrompt { .. } | Command::Resume { .. } | Command::Start
        );
        if starts && self.agent.is_none() && self.place.is_none() {
            self.place = Some(self.shared.agent_places.enter().await?);
        }
        Ok(())
    }

    /// Hands back what was not looked at and settles what runs.
    async fn end(mut self) {
        self.inputs.close();
        while let Some(Input { asked, answer }) = self.inputs.recv().await {
            // The asker may be gone; then nobody asks again.
            drop(answer.send(InputResult::HandedBack(asked)));
        }
        if self.owed.is_some() {
            self.write_owed().await;
        }
        if self.shared.stopping.is_cancelled() {
            self.report(Some(Command::Interrupt { reason: "server_shutdown".to_owned() })).await;
        }
        self.shared.agent_views.forget(self.id);
        self.shared.own_calls.begin_anew(self.id);
    }

    async fn take(&mut self, input: Input) {
        let Input { asked, answer } = input;
        fail::fail_point!("session-input");
        let given = self.carry_out(&asked).await;
        if given.is_ok() {
            self.then = asked.then;
        }
        let given = InputResult::Answered(given);
        // The asker may be gone; what was done stays done.
        drop(answer.send(given));
    }

    async fn carry_out(&mut self, asked: &SessionRequest) -> Result<Reply, SubmitError> {
        let command = match &asked.order {
            SessionOrder::Command(command) => command,
            SessionOrder::Click(click) => return self.click(click, asked).await,
        };
        // It is being started, or has been.
        if matches!(command, Command::Start) && self.agent.is_some() {
            return Ok(Reply::Done);
        }
        self.take_place(command).await?;
        let mut tries = 0;
        loop {
            self.prepare(Some(command)).await?;
            let at = self.shared.clock.now();
            let draft = self.decide(Some(command.clone()), at)?;
            let marked = self.room_for_marks(draft.entries()).await?;
            let reply = self.reply_to(command, draft.entries());
            let receipt = receipt_of(command, marked, asked.receipt(&reply, at));
            match self.commit_remembering(draft, receipt, at).await {
                Ok(()) => {
                    self.marked = marked.or(self.marked);
                    self.pass_on(command).await;
                    return Ok(reply);
                }
                Err(SubmitError::Append(AppendError::Repeated(receipt))) => return asked.asker.repeat(&receipt),
                Err(SubmitError::Append(AppendError::Conflict { .. })) if tries < CONFLICT_TRIES => {
                    self.reload().await?;
                }
                Err(SubmitError::Append(AppendError::Purged(_))) => return Err(SubmitError::NotFound(self.id)),
                Err(err) => return Err(err),
            }
            tries += 1;
        }
    }

    /// The session is purged. What its agent keeps of it goes too, if that can be: by the agent itself, or by another
    /// process of the same.
    async fn delete_record(&mut self) {
        if self.agent.is_some() {
            self.call_agent(AgentRequest::Delete).await;
        } else if let Some(session) = self.stored.session() {
            self.shared.delete_record(&session.row);
        }
    }

    /// What a command asks of the agent alone, once it is allowed.
    async fn pass_on(&mut self, command: &Command) {
        let call = match command {
            Command::Cancel => AgentRequest::Cancel,
            Command::SetOption { option, value } => {
                AgentRequest::SetOption { option: option.clone(), value: value.clone() }
            }
            Command::SignIn { method } => AgentRequest::SignIn { method: method.clone() },
            _ => return,
        };
        self.call_agent(call).await;
    }

    /// Appends a draft, with what is written with it or not at all; the draft is then the session as it is stored.
    async fn commit(&mut self, mut draft: Draft, along: BatchExtras) -> Result<(), AppendError> {
        // Once the server stops there is no later: what is said now may use the last of the disk.
        let room = if self.shared.stopping.is_cancelled() { Room::Reserved } else { Room::Ordinary };
        let BatchExtras { receipt, parts } = along;
        let parts = [draft.take()].into_iter().chain(parts).collect();
        self.shared.journal.append(Batch { parts, receipt, room }).await?;
        self.stored = draft;
        Ok(())
    }

    /// Appends a draft; what follows from it then happens.
    async fn commit_and_act(&mut self, draft: Draft, along: BatchExtras) -> Result<(), AppendError> {
        let after_commit = AfterCommit::of(draft.entries());
        self.commit(draft, along).await?;
        self.act(after_commit).await;
        Ok(())
    }

    /// What is pending is written, and what follows from it happens.
    async fn act(&mut self, after_commit: AfterCommit) {
        self.pending = Pending::default();
        after_commit.calls.iter().for_each(|event| self.calls.apply(event));
        let of = self.packet.take().map_or(PacketKind::EarlierTurns, |packet| packet.of);
        let mut packet = after_commit.effects.iter().find_map(|effect| match effect {
            Effect::TellFirst { text } => Some(AgentPacket { of, text: text.clone() }),
            _ => None,
        });
        for effect in after_commit.effects {
            match effect {
                Effect::StartAgent => self.start_agent().await,
                Effect::LetAgentGo => self.agent = None,
                Effect::SendPrompt { text, images } => {
                    self.call_agent(AgentRequest::Prompt { text, images, packet: packet.take() }).await;
                }
                // It went with the prompt before it.
                Effect::TellFirst { .. } => (),
                Effect::Await { request } => self.asked.extend(self.asking.take().map(|key| (request, key))),
                Effect::Answer { request, answer } => {
                    if let Some(key) = self.asked.remove(&request) {
                        self.call_agent(AgentRequest::Answer { key, answer }).await;
                    }
                }
            }
        }
    }

    async fn start_agent(&mut self) {
        self.asked.clear();
        self.shared.own_calls.begin_anew(self.id);
        let Some(session) = self.stored.session() else { return };
        let newest = newest_entries(&*self.shared.store, session).await;
        self.offers = Offers::of(&newest);
        self.shared.agent_views.keep(session, &newest);
        let row = &session.row;
        let (lent, loan) = self.shared.lend(self.id).unzip();
        let agent = self.shared.agency.agents.start(AgentStart {
            agent: row.agent.clone(),
            session: self.id,
            cwd: row.cwd.clone().into(),
            earlier: row.agent_session.clone(),
            options: row.options.clone(),
            lent,
        });
        self.agent = Some(Hosted { agent, loan });
    }

    async fn call_agent(&mut self, call: AgentRequest) {
        let Some(Hosted { agent, .. }) = &self.agent else { return };
        if !matches!(timeout(CALL_LIMIT, agent.calls.send(call)).await, Ok(Ok(()))) {
            // Its news has ended or will not come; the loop hears that next and reports it.
            self.agent = Some(missing());
        }
    }

    /// Writes down what is pending and what follows it. Nobody waits for an answer, so what fails is owed.
    async fn report(&mut self, mut command: Option<Command>) {
        let mut tried = self.try_report(command.clone()).await;
        if let Err(SubmitError::Rejected(refusal)) = &tried {
            // It does not hold any more, such as an answer that a person gave first. What came before it does.
            tracing::info!(session = %self.id, %refusal, "what was to follow is left out");
            command = None;
            tried = self.try_report(None).await;
        }
        match tried {
            Ok(()) => (),
            // Trying again would be refused again.
            Err(SubmitError::Rejected(_)) => self.pending = Pending::default(),
            // The session is gone; so is whatever was to be said of it.
            Err(SubmitError::Append(AppendError::Purged(_))) => self.stored.reload(None),
            Err(SubmitError::Append(AppendError::Fenced(damage))) => {
                tracing::error!(session = %self.id, %damage, "what the agent did can not be written down; it is stopped");
                self.stored.reload(None);
            }
            Err(err) => {
                tracing::error!(session = %self.id, error = &err as &dyn std::error::Error, "could not write what the agent did");
                // By then an answer that nobody was asked for may hold no more: the question stays with the person.
                let command = command.filter(|command| !matches!(command, Command::Answer { .. }));
                self.owed = Some(Unwritten { command, retry_at: Instant::now() + RETRY_AFTER });
            }
        }
    }

    /// Tries again what is owed; without a debt, writes down what is pending.
    async fn write_owed(&mut self) {
        let command = self.owed.take().and_then(|owed| owed.command);
        self.report(command).await;
    }

    async fn try_report(&mut self, command: Option<Command>) -> Result<(), SubmitError> {
        let mut tries = 0;
        loop {
            self.prepare(command.as_ref()).await?;
            let draft = self.decide(command.clone(), self.shared.clock.now())?;
            match self.commit_and_act(draft, BatchExtras::default()).await {
                Ok(()) => return Ok(()),
                Err(AppendError::Conflict { .. }) if tries < CONFLICT_TRIES => self.reload().await?,
                Err(err) => return Err(err.into()),
            }
            tries += 1;
        }
    }

    async fn reload(&mut self) -> Result<(), SubmitError> {
        self.marked = None;
        self.stored.reload(self.shared.store.session(self.id).await?);
        Ok(())
    }
}

/// The log says that the agent starts, works or waits for an answer.
fn is_at_work(session: &Session) -> bool {
    let row = &session.row;
    row.running.is_some() || row.agent_state == AgentState::Starting || !row.open_requests.is_empty()
}

/// One that has ended already.
fn missing() -> Hosted {
    Hosted { agent: Agent { calls: mpsc::channel(1).0, news: mpsc::channel(1).1 }, loan: None }
}

/// Never, where there is no agent that could.
async fn asked_to_leave(place: Option<&AgentPlace>) {
    match place {
        Some(place) => place.asked_to_leave().await,
        None => std::future::pending().await,
    }
}

/// The agent's next word; never, while there is no agent.
async fn next_news(agent: &mut Option<Hosted>) -> Option<AgentUpdate> {
    match agent {
        Some(Hosted { agent, .. }) => agent.news.recv().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
