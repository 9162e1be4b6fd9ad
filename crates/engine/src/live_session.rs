//! One task per live session: the only place where its next step is decided.
//!
//! Invariant: inputs are taken one at a time, and each is durable before the next is looked at. What must happen
//! outside (starting an agent, sending it words) follows from committed events, so a crash between the two is found by
//! recovery and nothing is done that the log does not say.

use std::sync::Arc;
use std::time::Duration;

use model::{AgentReport, AgentState, Command, Event, Seq, Session, SessionId, Turn, decide};
use store::{AppendError, Receipt, Room};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};

use crate::agent::{self, Agent, AgentCall, AgentNews};
use crate::asking::{Asked, Reply};
use crate::feeds::News;
use crate::{Shared, SubmitError};

/// Text is written down when this much has come …
const CHECKPOINT_BYTES: usize = 4 << 10;
/// … or when this long has passed since the first piece.
const CHECKPOINT_AFTER: Duration = Duration::from_secs(1);
/// A session that nobody asks anything of lets go of its task and its agent.
const IDLE_AFTER: Duration = Duration::from_secs(300);
/// How long an agent may take to hear a call; one that does not listen has failed.
const CALL_LIMIT: Duration = Duration::from_secs(10);
/// How long after a failed write it is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// How often a lost race for the stream is run again.
const CONFLICT_TRIES: u32 = 5;

/// A wish with the way to answer it.
pub(crate) struct Input {
    pub(crate) asked: Asked,
    pub(crate) answer: oneshot::Sender<Answer>,
}

/// What becomes of an input.
pub(crate) enum Answer {
    Given(Result<Reply, SubmitError>),
    /// The task was ending and did not look at it; the next one will.
    NotTaken(Asked),
}

pub(crate) struct LiveSession {
    shared: Arc<Shared>,
    id: SessionId,
    session: Option<Session>,
    inputs: mpsc::Receiver<Input>,
    agent: Option<Agent>,
    /// Words that were previewed and are not durable yet.
    pending: Pending,
    /// What could not be written down. Until it is, the agent is not listened to, so that nothing it says is lost and
    /// what it says meanwhile stays with it.
    owed: Option<Owed>,
}

/// Pieces of the running turn, each with its block.
#[derive(Default)]
struct Pending {
    pieces: Vec<(u32, String)>,
    bytes: usize,
    since: Option<Instant>,
}

struct Owed {
    /// What the agent did; `None` if only words are owed.
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
        Self { shared, id, session, inputs, agent: None, pending: Pending::default(), owed: None }
    }

    pub(crate) async fn run(mut self) {
        let stopping = self.shared.stopping.clone();
        let mut idle_at = Instant::now() + IDLE_AFTER;
        loop {
            let write_at = match &self.owed {
                Some(owed) => Some(owed.retry_at),
                None => self.pending.since.map(|since| since + CHECKPOINT_AFTER),
            };
            tokio::select! {
                biased;
                () = stopping.cancelled() => break,
                input = self.inputs.recv() => match input {
                    Some(input) => self.take(input).await,
                    None => break,
                },
                news = next_news(&mut self.agent), if self.owed.is_none() => self.hear(news).await,
                () = sleep_until(write_at.unwrap_or(idle_at)), if write_at.is_some() => self.write_owed().await,
                () = sleep_until(idle_at), if !self.busy() => break,
            }
            idle_at = Instant::now() + IDLE_AFTER;
            match &self.session {
                Some(session) if session.row.deleted_at.is_some() => self.agent = None,
                Some(_) => (),
                // It could not be begun.
                None => break,
            }
        }
        self.end().await;
    }

    /// The agent has something to do, or something it did is not written down yet.
    fn busy(&self) -> bool {
        self.owed.is_some() || (self.agent.is_some() && self.session.as_ref().is_some_and(is_at_work))
    }

    /// Hands back what was not looked at and settles what runs.
    async fn end(mut self) {
        self.inputs.close();
        while let Some(Input { asked, answer }) = self.inputs.recv().await {
            // The asker may be gone; then nobody asks again.
            drop(answer.send(Answer::NotTaken(asked)));
        }
        if self.owed.is_some() {
            self.write_owed().await;
        }
        if self.shared.stopping.is_cancelled() {
            self.report(Some(Command::Interrupt { reason: "server_shutdown".to_owned() })).await;
        }
    }

    async fn take(&mut self, input: Input) {
        let Input { asked, answer } = input;
        let given = Answer::Given(self.carry_out(&asked).await);
        // The asker may be gone; what was done stays done.
        drop(answer.send(given));
    }

    async fn carry_out(&mut self, asked: &Asked) -> Result<Reply, SubmitError> {
        let mut tries = 0;
        loop {
            let events = self.decide(Some(asked.command.clone()))?;
            let reply = self.reply_to(&asked.command, &events);
            let receipt = asked.receipt(&reply, self.shared.clock.now());
            match self.commit(events, receipt).await {
                Ok(()) => {
                    if let Command::Cancel = asked.command {
                        self.call_agent(AgentCall::Cancel).await;
                    }
                    return Ok(reply);
                }
                Err(AppendError::Repeated(receipt)) => return asked.asker.repeat(&receipt),
                Err(AppendError::Conflict { .. }) if tries < CONFLICT_TRIES => self.reload().await?,
                Err(AppendError::Purged(_)) => return Err(SubmitError::NotFound(self.id)),
                Err(err) => return Err(err.into()),
            }
            tries += 1;
        }
    }

    /// What a command becomes here and now, after the words that were pending before it.
    fn decide(&self, command: Option<Command>) -> Result<Vec<Event>, SubmitError> {
        let Some(session) = &self.session else {
            return Ok(command.map_or(Ok(Vec::new()), |command| decide(None, command))?);
        };
        let mut session = session.clone();
        let mut events = Vec::new();
        let mut step = |session: &mut Session, command: Command| -> Result<(), SubmitError> {
            for event in decide(Some(session), command)? {
                let entry = model::Entry { seq: session.head.next(), at: self.shared.clock.now(), event };
                session.apply(&entry);
                events.push(entry.event);
            }
            Ok(())
        };
        for (block, text) in self.pending.pieces.iter().cloned() {
            step(&mut session, Command::Agent(AgentReport::Text { block, text }))?;
        }
        let Some(command) = command else { return Ok(events) };
        // The log may speak of an agent that was there in an earlier life, or before the session was deleted.
        let needs_agent = matches!(command, Command::SendPrompt { .. });
        let restores = matches!(command, Command::Restore);
        if self.agent.is_none() && (needs_agent || is_at_work(&session)) {
            step(&mut session, Command::Agent(AgentReport::Gone))?;
        }
        step(&mut session, command)?;
        if self.agent.is_none() && restores {
            step(&mut session, Command::Agent(AgentReport::Gone))?;
        }
        Ok(events)
    }

    fn reply_to(&self, command: &Command, events: &[Event]) -> Reply {
        match command {
            Command::Create(_) => Reply::Created { session: self.id, entries: events.len() as u64 },
            Command::SendPrompt { interaction_id, .. } => {
                let turn = events.iter().find_map(|event| match event {
                    Event::TurnStarted { turn, interaction_id: started } if started == interaction_id => Some(*turn),
                    _ => None,
                });
                Reply::PromptAccepted { interaction_id: *interaction_id, turn }
            }
            Command::Observe => {
                let was_unobserved = events.iter().any(|event| matches!(event, Event::SessionObserved {}));
                let count = self.shared.unobserved.count();
                Reply::Observed { was_unobserved, unobserved_count: count.saturating_sub(was_unobserved.into()) }
            }
            Command::Change { .. }
            | Command::ChangePrompt { .. }
            | Command::RemovePrompt { .. }
            | Command::Cancel
            | Command::Delete
            | Command::Restore
            | Command::Agent(_)
            | Command::Interrupt { .. } => Reply::Done,
        }
    }

    async fn commit(&mut self, events: Vec<Event>, receipt: Option<Receipt>) -> Result<(), AppendError> {
        let effects: Vec<Event> = events
            .iter()
            .filter(|event| matches!(event, Event::AgentStateChanged { .. } | Event::PromptSent { .. }))
            .cloned()
            .collect();
        // Once the server stops there is no later: what is said now may use the last of the disk.
        let room = if self.shared.stopping.is_cancelled() { Room::Reserved } else { Room::Ordinary };
        self.session = self.shared.commit(self.id, self.session.as_ref(), events, receipt, room).await?;
        self.pending = Pending::default();
        for event in effects {
            match event {
                Event::AgentStateChanged { state: AgentState::Starting, .. } => self.start_agent(),
                Event::AgentStateChanged { state: AgentState::Failed | AgentState::Stopped, .. } => self.agent = None,
                Event::PromptSent { text, .. } => self.call_agent(AgentCall::Prompt { text }).await,
                _ => (),
            }
        }
        Ok(())
    }

    fn start_agent(&mut self) {
        let name = self.session.as_ref().map(|session| session.row.agent.as_str()).unwrap_or_default();
        // An agent that the catalog does not know ends at once: `hear` reports the failure.
        self.agent = Some(agent::start(name, &self.shared.tasks).unwrap_or_else(Agent::missing));
    }

    async fn call_agent(&mut self, call: AgentCall) {
        let Some(agent) = &self.agent else { return };
        if !matches!(timeout(CALL_LIMIT, agent.calls.send(call)).await, Ok(Ok(()))) {
            // Its news has ended or will not come; the loop hears that next and reports it.
            self.agent = Some(Agent::missing());
        }
    }

    async fn hear(&mut self, news: Option<AgentNews>) {
        match news {
            Some(AgentNews::Text { block, text }) => self.hear_text(block, &text).await,
            Some(AgentNews::Ready) => self.report(Some(Command::Agent(AgentReport::Ready))).await,
            Some(AgentNews::Stopped(stop)) => self.report(Some(Command::Agent(AgentReport::Stopped(stop)))).await,
            None => {
                let reason = "the agent ended".to_owned();
                self.report(Some(Command::Agent(AgentReport::Failed { reason }))).await;
                self.agent = None;
            }
        }
    }

    async fn hear_text(&mut self, block: u32, text: &str) {
        let Some(turn) = self.running_turn() else { return };
        let after = self.session.as_ref().map_or(Seq::START, |session| session.head);
        self.shared.feeds.publish(self.id, News::Preview { after, turn, block, text: text.into() });
        match self.pending.pieces.last_mut() {
            Some((open, words)) if *open == block => words.push_str(text),
            Some(_) | None => self.pending.pieces.push((block, text.to_owned())),
        }
        self.pending.bytes += text.len();
        self.pending.since.get_or_insert_with(Instant::now);
        if self.pending.bytes >= CHECKPOINT_BYTES {
            self.report(None).await;
        }
    }

    /// Writes down pending words and what a report says. Nobody waits for an answer, so what fails is owed.
    async fn report(&mut self, command: Option<Command>) {
        match self.try_report(command.clone()).await {
            Ok(()) => (),
            // The session is gone; so is whatever was to be said of it.
            Err(SubmitError::Append(AppendError::Purged(_))) => self.session = None,
            Err(SubmitError::Append(AppendError::Damaged(damage))) => {
                tracing::error!(session = %self.id, %damage, "what the agent did can not be written down; it is stopped");
                self.session = None;
            }
            Err(err) => {
                tracing::error!(session = %self.id, error = &err as &dyn std::error::Error, "could not write what the agent did");
                self.owed = Some(Owed { command, retry_at: Instant::now() + RETRY_AFTER });
            }
        }
    }

    /// Tries again what is owed; without a debt, writes down the pending words.
    async fn write_owed(&mut self) {
        let command = self.owed.take().and_then(|owed| owed.command);
        self.report(command).await;
    }

    async fn try_report(&mut self, command: Option<Command>) -> Result<(), SubmitError> {
        let mut tries = 0;
        loop {
            let events = self.decide(command.clone())?;
            match self.commit(events, None).await {
                Ok(()) => return Ok(()),
                Err(AppendError::Conflict { .. }) if tries < CONFLICT_TRIES => self.reload().await?,
                Err(err) => return Err(err.into()),
            }
            tries += 1;
        }
    }

    async fn reload(&mut self) -> Result<(), SubmitError> {
        self.session = self.shared.store.session(self.id).await?;
        Ok(())
    }

    fn running_turn(&self) -> Option<Turn> {
        self.session.as_ref()?.row.running.map(|running| running.turn)
    }
}

/// The log says that the agent starts or works.
fn is_at_work(session: &Session) -> bool {
    session.row.running.is_some() || session.row.agent_state == AgentState::Starting
}

/// The agent's next word; never, while there is no agent.
async fn next_news(agent: &mut Option<Agent>) -> Option<AgentNews> {
    match agent {
        Some(agent) => agent.news.recv().await,
        None => std::future::pending().await,
    }
}
