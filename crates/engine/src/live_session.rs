//! One task per live session: the only place where its next step is decided.
//!
//! Invariant: inputs are taken one at a time, and each is durable before the next is looked at. What must happen
//! outside (starting an agent, sending it words) follows from committed events, so a crash between the two is found by
//! recovery and nothing is done that the log does not say.

mod answers;
mod clicks;
mod deciding;
mod effects;
mod forks;
mod marks;
mod removals;
mod updates;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use agents::{Agent, AgentPacket, AgentRequest, AgentStart, AgentUpdate, PacketKind};
use model::{AgentReport, AgentState, Command, Draft, Rejection, Request, Session, SessionId, Turn};
use store::{AppendError, Batch, Room};
use tokio::sync::{OwnedRwLockReadGuard, mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use self::answers::Waiter;
use self::effects::{AfterCommit, Effect};
use self::marks::{Marked, receipt_of};
use crate::agent_places::AgentPlace;
use crate::agent_views::{KnownChoices, newest_entries};
use crate::applets::LastAppletNotice;
use crate::calls::{Calls, FollowUps};
use crate::outputs::commands::ShownCommand;
use crate::pending::Pending;
use crate::requests::{Asker, InputKind, SessionInput};
use crate::tokens::Loan;
use crate::wishes::Reply;
use crate::{Packet, Shared, SubmitError};

/// A session that nobody asks anything of lets go of its task and its agent.
const IDLE_AFTER: Duration = Duration::from_secs(1_800);
/// How long an agent may take to accept a request; one that does not has failed.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);
/// How long after a failed write it is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// How much of what the agent did is written down at once.
const UPDATES_AT_ONCE: usize = 256;
/// How long a turn's end waits for what its commands printed to be stored.
const COMMANDS_LIMIT: Duration = Duration::from_secs(5);
/// How often a lost race for the stream is run again.
const CONFLICT_TRIES: u32 = 5;

/// An input in the task's queue, with the way to reply to it.
pub(crate) struct QueuedInput {
    pub(crate) input: SessionInput,
    pub(crate) reply: oneshot::Sender<InputResult>,
}

/// What becomes of an input.
#[expect(clippy::large_enum_variant, reason = "one at a time, moved once")]
pub(crate) enum InputResult {
    Answered(Result<Reply, SubmitError>),
    /// The task was ending and did not look at it; the next one will.
    HandedBack(SessionInput),
}

pub(crate) struct LiveSession {
    shared: Arc<Shared>,
    id: SessionId,
    /// The session as it is stored: a draft without entries. A command is drafted on a clone, which takes its place.
    stored: Draft,
    inputs: mpsc::Receiver<QueuedInput>,
    agent: Option<Hosted>,
    /// The agent's place among all that may run at once; taken before it is started.
    place: Option<AgentPlace>,
    /// What agents' credentials have marked since the newest prompt, once it was counted.
    marked: Option<Marked>,
    /// What the agent did and is not durable yet.
    pending: Pending,
    /// What the agent is known to offer.
    choices: KnownChoices,
    /// Who waits for an answer, by the number under which people know the request.
    open_requests: HashMap<Request, Waiter>,
    /// Who waits for the answer to the request that is being written down.
    waiter_being_written: Option<Waiter>,
    /// The resume packet that goes to the agent with the next prompt, if it needs one.
    packet: Option<Packet>,
    /// What the agent was told of the applet that is open.
    last_applet_notice: LastAppletNotice,
    /// The calls that have not ended.
    calls: Calls,
    /// What follows from the pending reports about calls.
    follow_ups: FollowUps,
    /// What could not be written down. Until it is, the agent is not listened to, so that nothing it says is lost and
    /// what it says meanwhile stays with it.
    unwritten: Option<Unwritten>,
    /// The end of a turn whose commands are being ended: what they printed is stored first, and goes into the turn.
    held_end: Option<HeldEnd>,
    /// The session is about to be purged. Its agent is kept until then, so that it can delete its own record.
    awaits_purge: bool,
    /// Bodies that no entry names were looked for.
    has_swept: bool,
}

/// An agent, with the credential that it was lent: they end together.
struct Hosted {
    agent: Agent,
    loan: Option<Loan>,
}

struct HeldEnd {
    report: AgentReport,
    until: Instant,
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
        inputs: mpsc::Receiver<QueuedInput>,
    ) -> Self {
        let cut_over = shared.outputs.settings.body_bytes;
        Self {
            shared,
            id,
            stored: Draft::new(id, session).cutting(cut_over),
            inputs,
            agent: None,
            place: None,
            marked: None,
            pending: Pending::default(),
            choices: KnownChoices::default(),
            open_requests: HashMap::new(),
            last_applet_notice: LastAppletNotice::default(),
            waiter_being_written: None,
            packet: None,
            calls: Calls::default(),
            follow_ups: FollowUps::default(),
            unwritten: None,
            held_end: None,
            awaits_purge: false,
            has_swept: false,
        }
    }

    pub(crate) async fn run(mut self) {
        let stopping = self.shared.stopping.clone();
        let mut idle_at = Instant::now() + IDLE_AFTER;
        loop {
            let write_at = match &self.unwritten {
                Some(owed) => Some(owed.retry_at),
                None => self.pending.due(),
            };
            let ending = self.held_end.as_ref().map(|held| (self.shared.commands.active(self.id), held.until));
            tokio::select! {
                biased;
                () = stopping.cancelled() => break,
                input = self.inputs.recv() => match input {
                    Some(input) => self.handle_input(input).await,
                    // The way here is taken away when the session is purged.
                    None => {
                        self.delete_record().await;
                        break;
                    }
                },
                update = next_update(&mut self.agent), if self.unwritten.is_none() && self.held_end.is_none() => {
                    self.handle_updates(update).await;
                }
                () = commands_ended(ending), if self.unwritten.is_none() && self.held_end.is_some() => {
                    self.release_end().await;
                }
                () = sleep_until(write_at.unwrap_or(idle_at)), if write_at.is_some() => self.write_due().await,
                () = sleep_until(idle_at), if !self.busy() => break,
                // Another session's agent needs the place, and this one's has nothing to do.
                () = asked_to_leave(self.place.as_ref()), if self.rests() => break,
            }
            idle_at = Instant::now() + IDLE_AFTER;
            // Those of a turn that is over.
            self.shared.commands.cancel(self.id, self.running_turn());
            match self.stored.session() {
                Some(session) if session.row.deleted_at.is_some() && !self.awaits_purge => self.agent = None,
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
        self.unwritten.is_some() || (self.agent.is_some() && self.stored.session().is_some_and(is_at_work))
    }

    /// The agent has nothing to do, and all that it did is written down.
    fn rests(&self) -> bool {
        !self.busy() && self.pending.due().is_none() && !self.awaits_purge
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
        if may_start_agent(command) && self.agent.is_none() && self.place.is_none() {
            self.place = Some(self.shared.agent_places.enter().await?);
        }
        Ok(())
    }

    /// Hands back what was not looked at and settles what runs.
    async fn end(mut self) {
        self.inputs.close();
        while let Some(QueuedInput { input, reply }) = self.inputs.recv().await {
            // The asker may be gone; then nobody asks again.
            drop(reply.send(InputResult::HandedBack(input)));
        }
        if self.unwritten.is_some() {
            self.write_due().await;
        }
        if self.shared.stopping.is_cancelled() {
            self.write_held_end().await;
            self.write_pending(Some(Command::Interrupt { reason: "server_shutdown".to_owned() })).await;
        }
        self.shared.agent_views.forget(self.id);
        self.shared.own_calls.begin_anew(self.id);
        self.shared.commands.forget(self.id);
    }

    async fn handle_input(&mut self, queued: QueuedInput) {
        let QueuedInput { input, reply } = queued;
        fail::fail_point!("session-input");
        let result = self.execute(&input).await;
        if result.is_ok() {
            self.awaits_purge = matches!(input.kind, InputKind::DeleteForPurge);
        }
        let result = InputResult::Answered(result);
        // The asker may be gone; what was done stays done.
        drop(reply.send(result));
    }

    /// Carries an input out, anew if somebody else wrote to one of its streams meanwhile.
    async fn execute(&mut self, SessionInput { kind, asker }: &SessionInput) -> Result<Reply, SubmitError> {
        let mut tries = 0;
        loop {
            let result = match kind {
                InputKind::Command(command) => self.try_command(command, asker).await,
                InputKind::DeleteForPurge => self.try_command(&Command::Delete, asker).await,
                InputKind::Click(click) => self.try_click(click, asker).await,
                InputKind::Fork(fork) => self.try_fork(fork, asker).await,
                InputKind::Ask(asked) => self.try_ask(asked).await,
                InputKind::InTurn { turn, command } => match self.running_turn() {
                    Some(running) if running == *turn => self.try_command(command, asker).await,
                    Some(_) | None => Err(Rejection::NoTurnRunning.into()),
                },
                InputKind::RemoveOutputs(removal) => self.try_remove(removal, asker).await,
            };
            match result {
                Err(SubmitError::Append(AppendError::Repeated(receipt))) => return asker.repeat(&receipt),
                Err(SubmitError::Append(AppendError::Conflict { .. })) if tries < CONFLICT_TRIES => {
                    self.reload().await?;
                }
                Err(SubmitError::Append(AppendError::Purged(_))) => return Err(SubmitError::NotFound(self.id)),
                result => return result,
            }
            tries += 1;
        }
    }

    async fn try_command(&mut self, command: &Command, asker: &Asker) -> Result<Reply, SubmitError> {
        // It is being started, or has been.
        if matches!(command, Command::Start) && self.agent.is_some() {
            return Ok(Reply::Done);
        }
        let kept = self.with_what_is_kept(command);
        let command = kept.as_ref();
        if let Command::StoreOutput(output) | Command::ShowApplet { output, .. } = command {
            self.shared.check_room_for(self.id, output.bytes).await?;
        }
        self.take_place(command).await?;
        self.prepare(Some(command)).await?;
        let at = self.shared.clock.now();
        let draft = self.decide(Some(command.clone()), at)?;
        let marked = self.room_for_marks(draft.entries()).await?;
        let reply = self.reply_to(command, draft.entries());
        let receipt = receipt_of(command, marked, asker.receipt(&reply, at));
        self.commit_command(draft, receipt, at).await?;
        self.marked = marked.or(self.marked);
        self.forward_to_agent(command).await;
        Ok(reply)
    }

    /// The session is purged. What its agent keeps of it goes too, if that can be: by the agent itself, or by another
    /// process of the same.
    async fn delete_record(&mut self) {
        if self.agent.is_some() {
            self.send_to_agent(AgentRequest::Delete).await;
        } else if let Some(session) = self.stored.session() {
            self.shared.delete_record(&session.row);
        }
    }

    /// What a command asks of the agent alone, once it is allowed.
    async fn forward_to_agent(&mut self, command: &Command) {
        let request = match command {
            Command::Cancel => {
                self.shared.commands.cancel(self.id, None);
                AgentRequest::Cancel
            }
            Command::SetOption { option, value } => {
                AgentRequest::SetOption { option: option.clone(), value: value.clone() }
            }
            Command::SignIn { method } => AgentRequest::SignIn { method: method.clone() },
            _ => return,
        };
        self.send_to_agent(request).await;
    }

    /// Appends a draft, in one batch with the receipt and the parts of other streams that `batch` has. The draft is then the
    /// session as it is stored; what follows outside is left to the caller.
    async fn commit(&mut self, mut draft: Draft, mut batch: Batch) -> Result<AfterCommit, AppendError> {
        let calls = AfterCommit::calls_of(&draft);
        // Held until the entries that name the bodies are durable.
        let _storing = Box::pin(self.keep_bodies(&mut draft)).await;
        let after_commit = AfterCommit { effects: AfterCommit::effects_of(draft.entries()), calls };
        batch.parts.insert(0, draft.take());
        // Once the server stops there is no later: what is said now may use the last of the disk.
        batch.room = if self.shared.stopping.is_cancelled() { Room::Reserved } else { Room::Ordinary };
        self.shared.journal.append(batch).await?;
        self.stored = draft;
        Ok(after_commit)
    }

    /// Stores the bodies that a draft's entries name; the entries say of those that could not be.
    async fn keep_bodies(&mut self, draft: &mut Draft) -> Option<OwnedRwLockReadGuard<()>> {
        if draft.bodies().is_empty() {
            return None;
        }
        if !std::mem::replace(&mut self.has_swept, true) {
            self.shared.sweep_bodies(self.id).await;
        }
        let storing = self.shared.keep_bodies_of(self.id, draft).await;
        fail::fail_point!("body-stored");
        storing
    }

    /// Appends a draft; what follows from it then happens.
    async fn commit_and_run_effects(&mut self, draft: Draft, batch: Batch) -> Result<(), AppendError> {
        let after_commit = self.commit(draft, batch).await?;
        self.run_effects(after_commit).await;
        Ok(())
    }

    /// Called once the append is durable: forgets what was pending, and runs the effects.
    async fn run_effects(&mut self, after_commit: AfterCommit) {
        self.pending = Pending::default();
        after_commit.calls.iter().for_each(|event| self.calls.apply(event));
        let of = self.packet.take().map_or(PacketKind::EarlierTurns, |packet| packet.of);
        let mut packet = after_commit.effects.iter().find_map(|effect| match effect {
            Effect::SendPacket { text } => Some(AgentPacket { of, text: text.clone() }),
            _ => None,
        });
        for effect in after_commit.effects {
            match effect {
                Effect::StartAgent => self.start_agent().await,
                Effect::LetAgentGo => self.agent = None,
                Effect::SendPrompt { mut text, images } => {
                    let (images, lost) = Box::pin(self.shared.whole_images(self.id, images)).await;
                    if lost > 0 {
                        text.push_str(&format!(
                            "\n\n[{lost} of the pictures that belong here are gone from the disk.]"
                        ));
                    }
                    let beside = self.notice_of_applet(&text);
                    self.send_to_agent(AgentRequest::Prompt { text, images, packet: packet.take(), beside }).await;
                }
                // It went with the prompt before it.
                Effect::SendPacket { .. } => (),
                Effect::Await { request } => {
                    self.open_requests.extend(self.waiter_being_written.take().map(|waiter| (request, waiter)));
                }
                Effect::Answer { request, answer } => {
                    match self.open_requests.remove(&request) {
                        Some(Waiter::Agent(key)) => self.send_to_agent(AgentRequest::Answer { key, answer }).await,
                        // A tool that has given up needs no answer.
                        Some(Waiter::Tool(tool)) => drop(tool.try_send(answer)),
                        None => (),
                    }
                }
            }
        }
    }

    /// The turn that runs, unless the session was deleted.
    fn running_turn(&self) -> Option<Turn> {
        let row = &self.stored.session()?.row;
        row.running.filter(|_| row.deleted_at.is_none()).map(|running| running.turn)
    }

    /// Which applet the person has open, if the agent has not been told. A command goes out alone, so it is told later.
    fn notice_of_applet(&mut self, text: &str) -> Option<String> {
        let has_tools = self.agent.as_ref().is_some_and(|hosted| hosted.loan.is_some());
        if !has_tools || model::is_slash_command(text) {
            return None;
        }
        self.shared.applets.notice_for_agent(self.id, &mut self.last_applet_notice)
    }

    async fn start_agent(&mut self) {
        self.open_requests.clear();
        self.last_applet_notice = LastAppletNotice::default();
        self.shared.own_calls.begin_anew(self.id);
        let Some(session) = self.stored.session() else { return };
        let newest = newest_entries(&*self.shared.store, session).await;
        self.choices = KnownChoices::of(&newest);
        self.shared.agent_views.keep(session, &newest);
        let row = &session.row;
        let (lent, loan) = self.shared.lend(self.id, &row.agent).unzip();
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

    async fn send_to_agent(&mut self, request: AgentRequest) {
        let Some(Hosted { agent, .. }) = &self.agent else { return };
        if !matches!(timeout(REQUEST_LIMIT, agent.requests.send(request)).await, Ok(Ok(()))) {
            // Its updates have ended or will not come; the loop notices that next and reports it.
            self.agent = Some(missing());
        }
    }

    /// Writes what is pending, and then this command. Nobody waits for an answer, so what fails is tried again later.
    async fn write_pending(&mut self, mut command: Option<Command>) {
        let mut tried = self.try_write_pending(command.clone()).await;
        if let Err(SubmitError::Rejected(refusal)) = &tried {
            // It does not hold any more, such as an answer that a person gave first. What came before it does.
            tracing::info!(session = %self.id, %refusal, "what was to follow is left out");
            command = None;
            tried = self.try_write_pending(None).await;
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
                self.unwritten = Some(Unwritten { command, retry_at: Instant::now() + RETRY_AFTER });
            }
        }
    }

    /// Tries again what could not be written, or writes what is pending.
    async fn write_due(&mut self) {
        let command = self.unwritten.take().and_then(|unwritten| unwritten.command);
        self.write_pending(command).await;
    }

    async fn try_write_pending(&mut self, command: Option<Command>) -> Result<(), SubmitError> {
        let mut tries = 0;
        loop {
            self.prepare(command.as_ref()).await?;
            let draft = self.decide(command.clone(), self.shared.clock.now())?;
            match self.commit_and_run_effects(draft, Batch::default()).await {
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

fn may_start_agent(command: &Command) -> bool {
    matches!(command, Command::Create(_) | Command::SendPrompt { .. } | Command::Resume { .. } | Command::Start)
}

/// The log says that the agent starts, works or waits for an answer.
fn is_at_work(session: &Session) -> bool {
    let row = &session.row;
    row.running.is_some() || row.agent_state == AgentState::Starting || !row.open_requests.is_empty()
}

/// One that has ended already.
fn missing() -> Hosted {
    Hosted { agent: Agent { requests: mpsc::channel(1).0, updates: mpsc::channel(1).1 }, loan: None }
}

/// Never, where there is no agent that could.
async fn asked_to_leave(place: Option<&AgentPlace>) {
    match place {
        Some(place) => place.asked_to_leave().await,
        None => std::future::pending().await,
    }
}

/// Waits until these commands have ended, or have taken too long.
async fn commands_ended(ending: Option<(Vec<Arc<ShownCommand>>, Instant)>) {
    let Some((commands, until)) = ending else { return };
    for command in commands {
        // What takes longer is abandoned.
        drop(timeout_at(until, command.ended()).await);
    }
}

/// The agent's next update; never, while there is no agent.
async fn next_update(agent: &mut Option<Hosted>) -> Option<AgentUpdate> {
    match agent {
        Some(Hosted { agent, .. }) => agent.updates.recv().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
