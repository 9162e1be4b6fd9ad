//! One task per live session: the only place where its next step is decided.
//!
//! Invariant: inputs are taken one at a time, and each is durable before the next is looked at. What must happen
//! outside (starting an agent, sending it words) follows from committed events, so a crash between the two is found by
//! recovery and nothing is done that the log does not say.

use std::sync::Arc;
use std::time::Duration;

use model::{AgentReport, AgentState, Command, Event, Session, SessionId, Turn, decide};
use store::{AppendError, Receipt};
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
}

#[derive(Default)]
struct Pending {
    block: u32,
    text: String,
    since: Option<Instant>,
}

impl LiveSession {
    pub(crate) fn new(
        shared: Arc<Shared>,
        id: SessionId,
        session: Option<Session>,
        inputs: mpsc::Receiver<Input>,
    ) -> Self {
        Self { shared, id, session, inputs, agent: None, pending: Pending::default() }
    }

    pub(crate) async fn run(mut self) {
        let stopping = self.shared.stopping.clone();
        let mut idle_at = Instant::now() + IDLE_AFTER;
        loop {
            let checkpoint_at = self.pending.since.map(|since| since + CHECKPOINT_AFTER);
            tokio::select! {
                biased;
                () = stopping.cancelled() => break,
                input = self.inputs.recv() => match input {
                    Some(input) => self.take(input).await,
                    None => break,
                },
                news = next_news(&mut self.agent) => self.hear(news).await,
                () = sleep_until(checkpoint_at.unwrap_or(idle_at)), if checkpoint_at.is_some() => {
                    self.report(None).await;
                }
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

    fn busy(&self) -> bool {
        self.session
            .as_ref()
            .is_some_and(|session| session.row.running.is_some() || session.row.agent_state == AgentState::Starting)
    }

    /// Hands back what was not looked at and settles what runs.
    async fn end(mut self) {
        self.inputs.close();
        while let Some(Input { asked, answer }) = self.inputs.recv().await {
            // The asker may be gone; then nobody asks again.
            drop(answer.send(Answer::NotTaken(asked)));
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
        if !self.pending.text.is_empty() {
            let (block, text) = (self.pending.block, self.pending.text.clone());
            step(&mut session, Command::Agent(AgentReport::Text { block, text }))?;
        }
        let Some(command) = command else { return Ok(events) };
        // The log may say that the agent is ready when only its process of an earlier life was.
        let needs_agent = matches!(command, Command::SendPrompt { .. });
        if needs_agent && self.agent.is_none() {
            step(&mut session, Command::Agent(AgentReport::Gone))?;
        }
        step(&mut session, command)?;
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
                let was_unobserved = !events.is_empty();
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
        self.session = self.shared.commit(self.id, self.session.as_ref(), events, receipt).await?;
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
        if block != self.pending.block && !self.pending.text.is_empty() {
            self.report(None).await;
        }
        self.shared.feeds.publish(self.id, News::Preview { turn, block, text: text.into() });
        self.pending.block = block;
        self.pending.text.push_str(text);
        self.pending.since.get_or_insert_with(Instant::now);
        if self.pending.text.len() >= CHECKPOINT_BYTES {
            self.report(None).await;
        }
    }

    /// Writes down pending words and what a report says. Nobody waits for an answer, so failures are logged.
    async fn report(&mut self, command: Option<Command>) {
        if let Err(err) = self.try_report(command).await {
            tracing::error!(session = %self.id, error = &err as &dyn std::error::Error, "could not write what the agent did");
        }
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

/// The agent's next word; never, while there is no agent.
async fn next_news(agent: &mut Option<Agent>) -> Option<AgentNews> {
    match agent {
        Some(agent) => agent.news.recv().await,
        None => std::future::pending().await,
    }
}
