//! A session folded from its log: all that deciding the next step needs.
//!
//! Invariant: a [`Session`] is a function of its entries. [`Session::apply`] is the only thing that changes it, live
//! and in replay alike; the tables hold it as a [`SessionRow`] and the queue's rows, so that opening a session costs
//! the same after ten entries and after a million.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    AgentState, Author, Context, Entry, Image, InteractionId, Memorable, Memory, OpenRequest, Origin, Outcome, Request,
    Seq, SessionEvent, SessionId, Tally, Timestamp, Turn, WorkId, first_line,
};

const FIRST_PROMPT_CHARS: usize = 100;

/// A session as of some entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// What the table of sessions holds.
    pub row: SessionRow,
    /// Prompts that wait, in order.
    pub queue: Vec<QueuedPrompt>,
    /// What it is about. Shared, since most steps leave it as it is.
    pub context: Arc<Context>,
    /// What its agent has said of its use so far.
    pub usage: Tally,
    /// The last entry folded in.
    pub head: Seq,
}

/// A session's row in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Which session.
    pub id: SessionId,
    /// The agent's name in the catalog.
    pub agent: String,
    /// Its working directory.
    pub cwd: String,
    /// The project it belongs to.
    pub project: String,
    /// What the person called it; may be empty.
    pub name: String,
    /// What the person noted about the environment; may be empty.
    pub env_hint: String,
    /// The first prompt's first line; may be empty.
    pub first_prompt: String,
    /// Where the agent is in its life.
    pub agent_state: AgentState,
    /// What the agent's failure was, while it lasts.
    pub failure: Option<String>,
    /// The agent's own id of the conversation, by which it can be taken up again.
    pub agent_session: Option<String>,
    /// What it is called while the person has not named it; may be empty.
    pub title: String,
    /// How many titles it has had.
    pub titles: u32,
    /// Up to which turn each has its summary.
    pub summarised: Turn,
    /// Whose record it comes from, if it was not begun here.
    pub imported: Option<Imported>,
    /// The piece of work that it began in.
    pub work: Option<WorkId>,
    /// What it was started from.
    pub from: Option<Origin>,
    /// What is chosen about its agent, and set when it starts.
    pub options: BTreeMap<String, String>,
    /// What the agent says it is about to do; may be empty.
    pub intent: String,
    /// What the packet ahead of the next prompt has to be about, if one is needed.
    pub untold: Untold,
    /// What the agent asked and nobody has answered.
    pub open_requests: Vec<OpenRequest>,
    /// The newest request's number; 0 before the first.
    pub requests: Request,
    /// The turn that runs.
    pub running: Option<Running>,
    /// The number of the newest turn; 0 before the first.
    pub turns: Turn,
    /// The newest turn was cut off by the server's end and none came after it.
    pub interrupted: bool,
    /// When it began.
    pub created_at: Timestamp,
    /// When something last began or ended in it; lists are in this order.
    pub active_at: Timestamp,
    /// When the person last looked.
    pub last_observed_at: Option<Timestamp>,
    /// When it last came to rest.
    pub last_idle_at: Option<Timestamp>,
    /// When it was put away.
    pub deleted_at: Option<Timestamp>,
    /// When the person pinned it, while it is.
    pub pinned_at: Option<Timestamp>,
    /// When it was archived, until something happens in it.
    pub archived_at: Option<Timestamp>,
    /// The person's own words for it, in the order of the alphabet.
    pub tags: Vec<String>,
}

/// Where a session comes from that was not begun here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// The tool's name in the catalog of agents.
    pub tool: String,
    /// The tool's own id of the session.
    pub source: String,
    /// How far its record was read.
    pub mark: String,
    /// An agent took it over here; the tool's record and this one are two from there on.
    #[serde(default)]
    pub continued: bool,
}

/// What an agent does not know of its session, or may have forgotten: what the packet ahead of its next prompt is about. The
/// store's column has the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Untold {
    /// Nothing is missing.
    Nothing,
    /// It was taken up again, or put together what it knew: what the session is about may be lost, and its shell is.
    Essentials,
    /// It was started anew and knows nothing of the earlier turns.
    Everything,
}

/// The turn that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Running {
    /// Its number.
    pub turn: Turn,
    /// Its prompt.
    pub interaction_id: InteractionId,
    /// The entry that started it.
    pub first_seq: Seq,
    /// When it started.
    pub started_at: Timestamp,
}

/// Where the prompt stands that a session is begun with: right behind the entry that begins the session.
pub const BEGINNING_PROMPT: Seq = Seq(2);

/// A prompt that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedPrompt {
    /// Its id, kept when it becomes a turn.
    pub interaction_id: InteractionId,
    /// The entry that queued it: the queue's order.
    pub queued_seq: Seq,
    /// When it was queued.
    pub queued_at: Timestamp,
    /// The words.
    pub text: String,
    /// Pictures that go with them.
    pub images: Vec<Image>,
    /// Who wrote the words.
    pub by: Author,
}

/// Where a session stands, in the word that people see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words are the glossary's own")]
pub enum SessionState {
    Starting,
    Idle,
    Running,
    NeedsYou,
    Unresponsive,
    Interrupted,
    Failed,
}

impl SessionRow {
    /// Where the session stands.
    pub fn state(&self) -> SessionState {
        if !self.open_requests.is_empty() {
            return SessionState::NeedsYou;
        }
        if self.running.is_some() {
            return match self.agent_state {
                AgentState::Unresponsive => SessionState::Unresponsive,
                _ => SessionState::Running,
            };
        }
        match self.agent_state {
            AgentState::SignedOut => SessionState::NeedsYou,
            AgentState::Failed => SessionState::Failed,
            AgentState::Starting => SessionState::Starting,
            AgentState::Ready | AgentState::Stopped | AgentState::Unresponsive if self.interrupted => {
                SessionState::Interrupted
            }
            AgentState::Ready | AgentState::Stopped | AgentState::Unresponsive => SessionState::Idle,
        }
    }

    /// It came to rest after the person last looked.
    pub fn unobserved(&self) -> bool {
        self.deleted_at.is_none() && self.last_idle_at > self.last_observed_at
    }

    /// It cannot go on without the person, who has it in sight.
    pub fn needs_you(&self) -> bool {
        self.deleted_at.is_none() && self.archived_at.is_none() && self.state() == SessionState::NeedsYou
    }

    /// It stands before the others in the list.
    pub fn is_foremost(&self) -> bool {
        self.deleted_at.is_none() && self.archived_at.is_none() && (self.pinned_at.is_some() || self.needs_you())
    }

    /// There is something new to look at, so it is in the list again if it was archived.
    fn come_to_rest(&mut self, at: Timestamp) {
        self.last_idle_at = Some(at);
        self.archived_at = None;
    }

    /// Where it stands if its log takes no more: whatever went on has been cut off.
    pub fn state_when_fenced(&self) -> SessionState {
        match self.state() {
            SessionState::Starting | SessionState::Running | SessionState::NeedsYou | SessionState::Unresponsive => {
                SessionState::Interrupted
            }
            state @ (SessionState::Idle | SessionState::Interrupted | SessionState::Failed) => state,
        }
    }

    /// It was imported from another tool and takes no prompts until an agent takes it over.
    pub fn is_imported(&self) -> bool {
        self.imported.as_ref().is_some_and(|imported| !imported.continued)
    }

    /// What to call it: its name, else its title, else its first prompt, else nothing yet.
    pub fn label(&self) -> Option<&str> {
        [&self.name, &self.title, &self.first_prompt].into_iter().map(String::as_str).find(|text| !text.is_empty())
    }
}

impl Session {
    /// The session that its first entry makes; `None` if that entry does not begin one.
    pub fn begin(id: SessionId, entry: Entry<&SessionEvent>) -> Option<Self> {
        let SessionEvent::SessionCreated { agent, cwd, project, name, work, from, options } = entry.event else {
            return None;
        };
        let row = SessionRow {
            id,
            agent: agent.clone(),
            cwd: cwd.clone(),
            project: project.clone(),
            name: name.clone(),
            env_hint: String::new(),
            first_prompt: String::new(),
            agent_state: AgentState::Starting,
            failure: None,
            agent_session: None,
            title: String::new(),
            titles: 0,
            summarised: Turn(0),
            imported: None,
            work: *work,
            from: *from,
            options: options.clone(),
            intent: String::new(),
            untold: Untold::Nothing,
            open_requests: Vec::new(),
            requests: Request(0),
            running: None,
            turns: Turn(0),
            interrupted: false,
            created_at: entry.at,
            active_at: entry.at,
            last_observed_at: None,
            last_idle_at: None,
            deleted_at: None,
            pinned_at: None,
            archived_at: None,
            tags: Vec::new(),
        };
        Some(Self { row, queue: Vec::new(), context: Arc::default(), usage: Tally::default(), head: entry.seq })
    }

    /// Folds in the next entry.
    pub fn apply(&mut self, entry: Entry<&SessionEvent>) {
        self.head = entry.seq;
        let row = &mut self.row;
        match entry.event {
            SessionEvent::SessionChanged { name, env_hint, agent, cwd, intent, filing } => {
                filing.apply(row, entry.at);
                if let Some(name) = name {
                    row.name.clone_from(name);
                }
                if let Some(env_hint) = env_hint {
                    row.env_hint.clone_from(env_hint);
                }
                if let Some(agent) = agent {
                    row.agent.clone_from(agent);
                    row.agent_session = None;
                    row.options.clear();
                    self.usage.begin_elsewhere();
                    if let Some(imported) = &mut row.imported {
                        imported.continued = true;
                    }
                }
                if let Some(cwd) = cwd {
                    row.cwd.clone_from(cwd);
                }
                if let Some(intent) = intent {
                    row.intent.clone_from(intent);
                }
            }
            SessionEvent::SessionObserved {} => row.last_observed_at = Some(entry.at),
            SessionEvent::SessionDeleted {} => row.deleted_at = Some(entry.at),
            SessionEvent::SessionRestored {} => row.deleted_at = None,
            SessionEvent::AgentStateChanged { state, reason, attached, methods: _, remind } => {
                row.agent_state = *state;
                row.failure = None;
                if let Some(attached) = attached {
                    self.usage.attach(attached.memory);
                    row.agent_session = Some(attached.agent_session.clone());
                    row.untold = match attached.memory {
                        Memory::New if row.turns > Turn(0) || row.from.is_some() => Untold::Everything,
                        _ if *remind => row.untold.max(Untold::Essentials),
                        _ => Untold::Nothing,
                    };
                }
                match state {
                    AgentState::Failed => {
                        row.failure.clone_from(reason);
                        row.come_to_rest(entry.at);
                    }
                    AgentState::SignedOut => row.come_to_rest(entry.at),
                    AgentState::Starting | AgentState::Ready | AgentState::Stopped | AgentState::Unresponsive => (),
                }
            }
            SessionEvent::AgentOptionChosen { option, value } => {
                row.options.insert(option.clone(), value.clone());
            }
            // What it offers while it starts is not what was chosen yet; afterwards it has left what was.
            SessionEvent::AgentOptionsChanged { options } if row.agent_state != AgentState::Starting => {
                row.options.retain(|chosen, value| {
                    let offered = options.iter().find(|option| option.is_called(chosen));
                    offered.is_none_or(|option| option.value == *value)
                });
            }
            SessionEvent::AgentOptionsChanged { .. } => (),
            SessionEvent::TurnStarted { turn, interaction_id } => {
                row.turns = *turn;
                self.usage.start_turn();
                row.interrupted = false;
                row.archived_at = None;
                row.active_at = entry.at;
                row.running = Some(Running {
                    turn: *turn,
                    interaction_id: *interaction_id,
                    first_seq: entry.seq,
                    started_at: entry.at,
                });
            }
            SessionEvent::TurnEnded { turn: _, stop } => {
                row.running = None;
                row.interrupted = stop.outcome == Outcome::Interrupted;
                row.active_at = entry.at;
                // A waiting prompt goes out next, so the session has not come to rest; after an interruption nothing
                // goes out by itself, so it has.
                if self.queue.is_empty() || row.interrupted {
                    row.come_to_rest(entry.at);
                }
            }
            SessionEvent::PermissionAsked { turn, request, question } => {
                row.archived_at = None;
                row.requests = *request;
                row.open_requests.push(OpenRequest {
                    request: *request,
                    options: question.options.clone(),
                    memorable: Memorable::of(question),
                    aside: turn.is_none().then_some(entry.seq),
                });
            }
            SessionEvent::PermissionAnswered { request, .. } => {
                row.open_requests.retain(|open| open.request != *request);
            }
            SessionEvent::ResumeSent { .. } => row.untold = Untold::Nothing,
            SessionEvent::CompactionSeen { remind: true, .. } => row.untold = row.untold.max(Untold::Essentials),
            SessionEvent::ContextSet { .. } | SessionEvent::FactProved { .. } => {
                Arc::make_mut(&mut self.context).apply(entry);
            }
            SessionEvent::TitleSet { title, .. } => {
                row.title.clone_from(title);
                row.titles += 1;
            }
            SessionEvent::SummarySet { turn, .. } => {
                if *turn == row.summarised.next() {
                    row.summarised = *turn;
                }
            }
            SessionEvent::SessionImported { tool, source, mark } => {
                let (tool, source, mark) = (tool.clone(), source.clone(), mark.clone());
                row.imported = Some(Imported { tool, source, mark, continued: false });
                self.usage.begin_elsewhere();
                row.agent_state = AgentState::Stopped;
            }
            SessionEvent::PromptQueued { interaction_id, text, images, by } => {
                remember_first_prompt(row, text);
                self.queue.push(QueuedPrompt {
                    interaction_id: *interaction_id,
                    queued_seq: entry.seq,
                    queued_at: entry.at,
                    text: text.clone(),
                    images: images.clone(),
                    by: by.clone(),
                });
            }
            SessionEvent::PromptChanged { interaction_id, text, by } => {
                if let Some(prompt) = self.queue.iter_mut().find(|prompt| prompt.interaction_id == *interaction_id) {
                    prompt.text.clone_from(text);
                    prompt.by.clone_from(by);
                }
            }
            SessionEvent::PromptRemoved { interaction_id } => {
                self.queue.retain(|prompt| prompt.interaction_id != *interaction_id);
            }
            SessionEvent::PromptSent { interaction_id, text, .. } => {
                remember_first_prompt(row, text);
                self.queue.retain(|prompt| prompt.interaction_id != *interaction_id);
            }
            SessionEvent::UsageReported { usage } => {
                let model = row.options.get("model").map(String::as_str);
                self.usage.report(usage, &row.agent, model);
            }
            // What the agent does belongs to the transcript; the rest belongs to other places in the log.
            SessionEvent::TextPart { .. }
            | SessionEvent::ThoughtPart { .. }
            | SessionEvent::ToolStarted { .. }
            | SessionEvent::ToolChanged { .. }
            | SessionEvent::ToolPart { .. }
            | SessionEvent::ToolEnded { .. }
            | SessionEvent::PlanChanged { .. }
            | SessionEvent::CompactionSeen { remind: false, .. }
            | SessionEvent::AgentCommandsChanged { .. }
            | SessionEvent::AgentRaw { .. }
            | SessionEvent::AgentNoticed { .. }
            | SessionEvent::SessionCreated { .. }
            | SessionEvent::SessionForked { .. }
            | SessionEvent::NextOffered { .. }
            | SessionEvent::NextClicked { .. }
            | SessionEvent::BlockShown { .. }
            | SessionEvent::OutputStored { .. }
            | SessionEvent::AppletShown { .. }
            | SessionEvent::AppletSaved { .. }
            | SessionEvent::OutputRemoved { .. } => (),
        }
    }

    /// The prompt that the session was begun with, while it waits.
    pub fn beginning_prompt(&self) -> Option<&QueuedPrompt> {
        self.queue.iter().find(|prompt| prompt.queued_seq == BEGINNING_PROMPT)
    }

    /// The prompt that waits under this id.
    pub fn find_queued(&self, interaction_id: InteractionId) -> Option<&QueuedPrompt> {
        self.queue.iter().find(|prompt| prompt.interaction_id == interaction_id)
    }
}

fn remember_first_prompt(row: &mut SessionRow, text: &str) {
    if row.first_prompt.is_empty() {
        row.first_prompt = first_line(text, FIRST_PROMPT_CHARS);
    }
}
