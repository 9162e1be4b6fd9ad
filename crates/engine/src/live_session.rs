//! One task per live session: the only place where its next step is decided.
//!
//! Invariant: inputs are taken one at a time, and each is durable before the next is looked at. What must happen
//! outside (starting an agent, sending it words) follows from committed events, so a crash between the two is found by
//! recovery and nothing is done that the log does not say.

mod answers;
mod clicks;
mod marks;
mod summing_up;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use agents::{Agent, Call, News, Start, Told, ToldOf};
use model::{
    AgentReport, AgentState, BlockScanner, Command, Event, Memory, Request, Session, SessionId, Topics, Turn, Untold,
    decide, is_slash_command,
};
use store::{AppendError, Receipt, Room};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};

use self::marks::{Marked, receipt_of};
use self::summing_up::Summaries;
use crate::agent_places::AgentPlace;
use crate::asking::{Asked, Reply, Then, Wish};
use crate::calls::{Calls, Proofs};
use crate::commit::Along;
use crate::digest::Digest;
use crate::directories::Place;
use crate::feeds::{self, Words};
use crate::offers::{Offers, newest_entries};
use crate::pending::{Pending, words_of};
use crate::tokens::Loan;
use crate::{DirectoryError, Packet, Shared, SubmitError, directories, navigation, packet};

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

/// A wish with the way to answer it.
pub(crate) struct Input {
    pub(crate) asked: Asked,
    pub(crate) answer: oneshot::Sender<Answer>,
}

/// What becomes of an input.
#[expect(clippy::large_enum_variant, reason = "one at a time, moved once")]
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
    /// The turn that runs, as far as its summary needs it.
    digest: Digest,
    /// How far the running turn's words are known to hold blocks.
    blocks: BlockScanner,
    /// What the newest turns are about, once one has ended here.
    topics: Option<Topics>,
    /// The calls that have not ended.
    calls: Calls,
    /// What they prove that end now.
    proofs: Proofs,
    /// What could not be written down. Until it is, the agent is not listened to, so that nothing it says is lost and
    /// what it says meanwhile stays with it.
    owed: Option<Owed>,
    /// The session is about to be purged: its agent is kept until then, so that it can delete its own record.
    then: Then,
}

/// An agent, with the credential that it was lent: they end together.
struct Hosted {
    agent: Agent,
    loan: Option<Loan>,
}

struct Owed {
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
            session,
            inputs,
            agent: None,
            place: None,
            marked: None,
            pending: Pending::default(),
            offers: Offers::default(),
            asked: HashMap::new(),
            asking: None,
            packet: None,
            digest: Digest::default(),
            blocks: BlockScanner::default(),
            topics: None,
            calls: Calls::default(),
            proofs: Proofs::default(),
            owed: None,
            then: Then::Stay,
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
            match &self.session {
                Some(session) if session.row.deleted_at.is_some() && self.then == Then::Stay => self.agent = None,
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
        self.owed.is_some() || (self.agent.is_some() && self.session.as_ref().is_some_and(is_at_work))
    }

    /// The agent has nothing to do, and all that it did is written down.
    fn rests(&self) -> bool {
        !self.busy() && self.pending.due().is_none() && self.then == Then::Stay
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
            drop(answer.send(Answer::NotTaken(asked)));
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
        let given = Answer::Given(given);
        // The asker may be gone; what was done stays done.
        drop(answer.send(given));
    }

    async fn carry_out(&mut self, asked: &Asked) -> Result<Reply, SubmitError> {
        let command = match &asked.wish {
            Wish::Command(command) => command,
            Wish::Click(click) => return self.click(click, asked).await,
        };
        // It is being started, or has been.
        if matches!(command, Command::Start) && self.agent.is_some() {
            return Ok(Reply::Done);
        }
        self.take_place(command).await?;
        let mut tries = 0;
        loop {
            self.prepare(Some(command)).await?;
            let events = self.decide(Some(command.clone()))?;
            let marked = self.room_for_marks(&events).await?;
            let reply = self.reply_to(command, &events);
            let receipt = receipt_of(command, marked, asked.receipt(&reply, self.shared.clock.now()));
            match self.commit_remembering(events, receipt).await {
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
            self.call_agent(Call::Delete).await;
        } else if let Some(session) = &self.session {
            self.shared.delete_record(&session.row);
        }
    }

    /// What a command asks of the agent alone, once it is allowed.
    async fn pass_on(&mut self, command: &Command) {
        let call = match command {
            Command::Cancel => Call::Cancel,
            Command::SetOption { option, value } => Call::SetOption { option: option.clone(), value: value.clone() },
            Command::SignIn { method } => Call::SignIn { method: method.clone() },
            _ => return,
        };
        self.call_agent(call).await;
    }

    /// Finds out what deciding will need: what an agent has to be told, and whether the directory is still there.
    async fn prepare(&mut self, command: Option<&Command>) -> Result<(), SubmitError> {
        let Some(session) = &self.session else { return Ok(()) };
        let starts = matches!(command, Some(Command::SendPrompt { .. } | Command::Resume { .. } | Command::Start));
        if starts && self.agent.is_none() {
            match directories::place_of(&session.row, self.shared.home.as_deref()).await {
                Place::Same => {}
                Place::Instead(cwd) => {
                    tracing::warn!(session = %self.id, %cwd, "the session's directory is gone; it goes on in another");
                    let events = decide(Some(session), Command::MoveTo { cwd }).unwrap_or_default();
                    self.commit_only(events, Along::default()).await?;
                }
                // A prompt is kept all the same: that its agent can not be started is told in the session.
                Place::Gone if matches!(command, Some(Command::Resume { .. })) => {
                    return Err(DirectoryError::Gone { cwd: session.row.cwd.clone() }.into());
                }
                Place::Gone => {}
            }
        }
        let Some(session) = &self.session else { return Ok(()) };
        self.proofs = self.calls.prove(session, self.pending.reports(), &self.shared.looking).await;
        let ends = self.pending.reports().iter().chain(command.and_then(report_of)).any(ends_turn);
        if ends && session.row.running.is_some() && self.topics.is_none() {
            self.topics = Some(navigation::newest_topics(&*self.shared.store, &session.row).await?);
        }
        // A turn may begin with this, and the agent may have to be told something then.
        let next_prompt = next_prompt(session, command);
        let mut reports = self.pending.reports().iter().chain(command.and_then(report_of));
        let begins =
            session.row.running.is_none() || reports.clone().any(|report| matches!(report, AgentReport::Stopped(_)));
        // A slash command goes alone: beside anything else, agents take it for prose. What is untold stays untold.
        let may_tell = begins && next_prompt.is_some_and(|prompt| !is_slash_command(prompt));
        let untold = reports.by_ref().map(|report| untold_after(report, session)).fold(session.row.untold, Ord::max);
        self.packet = match untold {
            Untold::Essentials | Untold::Everything if may_tell => {
                Some(packet::build(&*self.shared.store, &self.shared.looking, session, untold).await?)
            }
            _ => None,
        };
        Ok(())
    }

    /// What a command becomes here and now, after what the agent did before it.
    fn decide(&self, command: Option<Command>) -> Result<Vec<Event>, SubmitError> {
        let Some(session) = &self.session else {
            return Ok(command.map_or(Ok(Vec::new()), |command| decide(None, command))?);
        };
        let mut session = session.clone();
        let mut blocks = self.blocks.clone();
        let mut events = Vec::new();
        let mut step = |session: &mut Session, command: Command| -> Result<(), SubmitError> {
            for event in decide(Some(session), command)? {
                for event in blocks.around(event) {
                    let entry = model::Entry { seq: session.head.next(), at: self.shared.clock.now(), event };
                    session.apply(&entry);
                    events.push(entry.event);
                }
            }
            Ok(())
        };
        for (at, report) in self.pending.reports().iter().cloned().enumerate() {
            step(&mut session, Command::Agent(report))?;
            self.note_proofs(at, &mut session, &mut step)?;
        }
        let Some(command) = command else {
            self.tell(&mut session, &mut step)?;
            return self.sum_up(session, events);
        };
        // The log may speak of an agent that was there in an earlier life, or before the session was deleted.
        let needs_agent = matches!(
            command,
            Command::SendPrompt { .. } | Command::Resume { .. } | Command::SetOption { .. } | Command::SignIn { .. }
        );
        let restores = matches!(command, Command::Restore);
        // One that was begun for its agent waits for it to be started.
        let starts = matches!(command, Command::Start);
        if self.agent.is_none() && (needs_agent || (is_at_work(&session) && !starts)) {
            step(&mut session, Command::Agent(AgentReport::Gone))?;
        }
        step(&mut session, command)?;
        if self.agent.is_none() && restores {
            step(&mut session, Command::Agent(AgentReport::Gone))?;
        }
        self.tell(&mut session, &mut step)?;
        self.sum_up(session, events)
    }

    /// What the report at this place proves follows it.
    fn note_proofs(
        &self,
        at: usize,
        session: &mut Session,
        step: &mut impl FnMut(&mut Session, Command) -> Result<(), SubmitError>,
    ) -> Result<(), SubmitError> {
        let tool = |report: &AgentReport| match report {
            AgentReport::ToolChanged { tool, .. } => Some(*tool),
            _ => None,
        };
        if let Some(facts) = self.proofs.facts(at)
            && let Some(tool) = self.pending.reports().get(at).and_then(tool)
        {
            step(session, Command::Prove { tool, facts: facts.clone() })?;
        }
        match self.proofs.intent(at) {
            Some(intent) => step(session, Command::SetIntent { intent: intent.clone() }),
            None => Ok(()),
        }
    }

    /// A prompt that has just gone to an agent that has to be told something goes with a packet.
    fn tell(
        &self,
        session: &mut Session,
        step: &mut impl FnMut(&mut Session, Command) -> Result<(), SubmitError>,
    ) -> Result<(), SubmitError> {
        let before = self.session.as_ref().map_or(Turn(0), |session| session.row.turns);
        match &self.packet {
            Some(packet) if session.row.untold > Untold::Nothing && session.row.turns > before => {
                step(session, Command::TellResume { text: packet.text.clone() })
            }
            Some(_) | None => Ok(()),
        }
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
            Command::Click { work, session, .. } => Reply::Clicked { work: *work, session: *session },
            Command::Observe => {
                let was_unobserved = events.iter().any(|event| matches!(event, Event::SessionObserved {}));
                let count = self.shared.unobserved.count();
                Reply::Observed { was_unobserved, unobserved_count: count.saturating_sub(was_unobserved.into()) }
            }
            Command::SetContext { wish, .. } | Command::Change { context: Some(wish), .. } => {
                let sets = self.session.as_ref().map(|session| &session.context.sets);
                Reply::ContextSet(sets.and_then(|sets| wish.decide(sets).ok()).unwrap_or_default())
            }
            Command::Change { context: None, .. }
            | Command::Start
            | Command::Prove { .. }
            | Command::SetIntent { .. }
            | Command::Summarise(_)
            | Command::SetTitle { .. }
            | Command::TellPrompt { .. }
            | Command::Import { .. }
            | Command::ChangePrompt { .. }
            | Command::RemovePrompt { .. }
            | Command::Cancel
            | Command::Answer { .. }
            | Command::Withdraw { .. }
            | Command::Resume { .. }
            | Command::TellResume { .. }
            | Command::SetOption { .. }
            | Command::SignIn { .. }
            | Command::MoveTo { .. }
            | Command::Delete
            | Command::Restore
            | Command::Agent(_)
            | Command::Interrupt { .. } => Reply::Done,
        }
    }

    async fn commit(&mut self, events: Vec<Event>, receipt: Option<Receipt>) -> Result<(), AppendError> {
        let effects = effects_of(&events);
        self.commit_only(events, Along { receipt, ..Along::default() }).await?;
        self.take_effects(effects).await;
        Ok(())
    }

    /// What is pending is written, and what follows from it happens.
    async fn take_effects(&mut self, effects: Vec<Event>) {
        self.pending = Pending::default();
        let told = effects.iter().find_map(|event| match event {
            Event::ResumeSent { text, .. } => Some(text.clone()),
            _ => None,
        });
        let mut packet = told.map(|text| {
            let of = self.packet.take().map_or(ToldOf::EarlierTurns, |packet| packet.of);
            Told { of, text }
        });
        for event in effects {
            self.calls.apply(&event);
            match event {
                Event::AgentStateChanged { state: AgentState::Starting, .. } => self.start_agent().await,
                Event::AgentStateChanged { state: AgentState::Failed | AgentState::Stopped, .. } => self.agent = None,
                Event::PromptSent { text, images, .. } => {
                    self.call_agent(Call::Prompt { text, images, packet: packet.take() }).await;
                }
                Event::PermissionAsked { request, .. } => {
                    self.asked.extend(self.asking.take().map(|key| (request, key)));
                }
                Event::PermissionAnswered { request, answer, .. } => {
                    if let Some(key) = self.asked.remove(&request) {
                        self.call_agent(Call::Answer { key, answer }).await;
                    }
                }
                _ => (),
            }
        }
    }

    async fn commit_only(&mut self, events: Vec<Event>, along: Along) -> Result<(), AppendError> {
        // Once the server stops there is no later: what is said now may use the last of the disk.
        let room = if self.shared.stopping.is_cancelled() { Room::Reserved } else { Room::Ordinary };
        let digest = self.digest.after(&events);
        let summaries = Summaries::of(&events);
        let mut blocks = self.blocks.clone();
        events.iter().for_each(|event| blocks.pass(event));
        let moved = events.iter().any(|event| matches!(event, Event::SessionDeleted {} | Event::SessionRestored {}));
        self.session = self.shared.commit(self.id, self.session.as_ref(), events, along, room).await?;
        if moved && let Some(work) = self.session.as_ref().and_then(|session| session.row.work) {
            self.shared.tell_of_work(work);
        }
        self.blocks = blocks;
        if let Some(digest) = digest {
            self.digest = digest;
        }
        self.follow_summaries(summaries);
        Ok(())
    }

    async fn start_agent(&mut self) {
        self.asked.clear();
        self.shared.own_calls.begin_anew(self.id);
        let Some(session) = &self.session else { return };
        let newest = newest_entries(&*self.shared.store, session).await;
        self.offers = Offers::of(&newest);
        self.shared.agent_views.keep(session, &newest);
        let row = &session.row;
        let (lent, loan) = self.shared.lend(self.id).unzip();
        let agent = self.shared.agency.agents.start(Start {
            agent: row.agent.clone(),
            session: self.id,
            cwd: row.cwd.clone().into(),
            earlier: row.agent_session.clone(),
            options: row.options.clone(),
            lent,
        });
        self.agent = Some(Hosted { agent, loan });
    }

    async fn call_agent(&mut self, call: Call) {
        let Some(Hosted { agent, .. }) = &self.agent else { return };
        if !matches!(timeout(CALL_LIMIT, agent.calls.send(call)).await, Ok(Ok(()))) {
            // Its news has ended or will not come; the loop hears that next and reports it.
            self.agent = Some(missing());
        }
    }

    /// Takes in the agent's next word, with those that wait behind it: they share an append.
    async fn hear(&mut self, mut news: Option<News>) {
        let mut write = false;
        // Words that follow something else are not shown before it: both are written with this append.
        let mut may_preview = true;
        let mut heard = 0;
        loop {
            match news {
                None => {
                    let reason = "the agent ended".to_owned();
                    self.report(Some(Command::Agent(AgentReport::Failed { reason }))).await;
                    self.agent = None;
                    return;
                }
                Some(News::Asked { key, question, own_call }) => {
                    return self.hear_question(key, question, own_call).await;
                }
                Some(News::Withdrawn { key }) => return self.hear_withdrawn(key).await,
                Some(News::Report(report)) if self.offers.hear(&report) && !self.is_unresponsive() => (),
                Some(News::Report(report)) => {
                    let last = matches!(report, AgentReport::Stopped(_) | AgentReport::Failed { .. });
                    self.look_for_own_calls(&report);
                    may_preview &= words_of(&report).is_some();
                    write |= !may_preview || self.pending.is_full();
                    if may_preview {
                        self.preview(&report);
                    }
                    self.pending.push(report);
                    if last {
                        break;
                    }
                }
            }
            heard += 1;
            if heard == NEWS_AT_ONCE || self.pending.is_enough() {
                break;
            }
            match self.agent.as_mut().map(|hosted| hosted.agent.news.try_recv()) {
                Some(Ok(next)) => news = Some(next),
                Some(Err(_)) | None => break,
            }
        }
        if write || self.pending.is_full() || self.pending.is_enough() {
            self.report(None).await;
        }
    }

    /// The agent has the session's own tools.
    fn is_lent(&self) -> bool {
        self.agent.as_ref().is_some_and(|hosted| hosted.loan.is_some())
    }

    /// Whatever the agent says next shows that it is there.
    fn is_unresponsive(&self) -> bool {
        let is_said = self.session.as_ref().is_some_and(|session| session.row.agent_state == AgentState::Unresponsive);
        is_said || self.pending.reports().contains(&AgentReport::Unresponsive)
    }

    /// Shows live words, of the turn that runs, before they are durable.
    fn preview(&self, report: &AgentReport) {
        let Some((of, number, text)) = words_of(report).filter(|(.., text)| self.pending.may_preview(text)) else {
            return;
        };
        let Some(session) = &self.session else { return };
        let Some(turn) = session.row.running.map(|running| running.turn) else { return };
        let words = Words { turn, of, number, text: text.into() };
        self.shared.feeds.publish(self.id, feeds::News::Preview { after: session.head, words });
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
            Err(SubmitError::Append(AppendError::Purged(_))) => self.session = None,
            Err(SubmitError::Append(AppendError::Damaged(damage))) => {
                tracing::error!(session = %self.id, %damage, "what the agent did can not be written down; it is stopped");
                self.session = None;
            }
            Err(err) => {
                tracing::error!(session = %self.id, error = &err as &dyn std::error::Error, "could not write what the agent did");
                // By then an answer that nobody was asked for may hold no more: the question stays with the person.
                let command = command.filter(|command| !matches!(command, Command::Answer { .. }));
                self.owed = Some(Owed { command, retry_at: Instant::now() + RETRY_AFTER });
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
        self.topics = None;
        self.marked = None;
        self.session = self.shared.store.session(self.id).await?;
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
async fn next_news(agent: &mut Option<Hosted>) -> Option<News> {
    match agent {
        Some(Hosted { agent, .. }) => agent.news.recv().await,
        None => std::future::pending().await,
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

/// What an agent that reports this has to be told.
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

fn effects_of(events: &[Event]) -> Vec<Event> {
    events.iter().filter(|event| has_effect(event) || Calls::concern(event)).cloned().collect()
}

/// Something is to be done outside once this is durable.
fn has_effect(event: &Event) -> bool {
    matches!(
        event,
        Event::AgentStateChanged { .. }
            | Event::PromptSent { .. }
            | Event::ResumeSent { .. }
            | Event::PermissionAsked { .. }
            | Event::PermissionAnswered { .. }
    )
}

#[cfg(test)]
mod tests;
