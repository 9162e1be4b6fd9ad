//! What can be asked of a session, by a person or by its agent. `decide.rs` answers.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    AgentCommand, AgentOption, Answerer, AppletSlug, AppletToShow, Attached, Author, ContextWish, Extent, Fact,
    FilingWish, Image, InteractionId, Marker, Notice, Offer, Origin, Output, OutputId, OutputRemoval, PermissionAnswer,
    PlanStep, Question, Request, SessionId, SignInMethod, Stop, SummaryMaker, TitleMaker, ToolChange, Turn, Usage,
    WorkId, json_bytes,
};

/// A wish, in the imperative. It becomes events or a rejection; it changes nothing by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Begins the session.
    Create(NewSession),
    /// Sets what is present.
    Change {
        /// The name; empty takes it away.
        name: Option<String>,
        /// The environment hint; empty takes it away.
        env_hint: Option<String>,
        /// What is marked.
        context: Option<ContextWish>,
        /// How it is kept in the list.
        filing: FilingWish,
    },
    /// Starts the agent of a session that was begun for it, unless that has been tried.
    Start,
    /// Notes that a step was taken that its agent offered.
    Click {
        /// The step, as it stands now.
        offer: Box<Offer>,
        /// The piece of work that goes on.
        work: WorkId,
        /// The session that begins.
        session: SessionId,
        /// Whose click it was.
        by: Answerer,
    },
    /// Notes that another session goes on from one of its turns.
    Fork {
        /// Which turn; 0 is the session's beginning.
        turn: Turn,
        /// The session that begins.
        session: SessionId,
        /// Who wants it.
        by: Answerer,
    },
    /// Sends words to the agent, now or in turn.
    SendPrompt {
        /// The prompt's id from now on.
        interaction_id: InteractionId,
        /// The words.
        text: String,
        /// Pictures that go with them.
        images: Vec<Image>,
        /// What to do while a turn runs.
        when_busy: WhenBusy,
        /// Who wrote them.
        by: Author,
    },
    /// Rewrites a prompt that still waits.
    ChangePrompt {
        /// Which.
        interaction_id: InteractionId,
        /// The new words.
        text: String,
        /// Who wrote them.
        by: Author,
    },
    /// Takes a waiting prompt out of the queue.
    RemovePrompt {
        /// Which.
        interaction_id: InteractionId,
    },
    /// Stops the running turn; its end comes from the agent.
    Cancel,
    /// Answers what the agent asked.
    Answer {
        /// Which request.
        request: Request,
        /// With what, and by whom.
        answer: PermissionAnswer,
    },
    /// Notes that the agent does not wait for an answer any more.
    Withdraw {
        /// Which request.
        request: Request,
    },
    /// Makes sure that the agent is there, or that another takes over.
    Resume {
        /// The other agent's name in the catalog.
        agent: Option<String>,
    },
    /// Sends the agent a resume packet, ahead of the prompt that has just been sent.
    SendPacket {
        /// The words.
        text: String,
    },
    /// Chooses one of the agent's options; the agent reports whether it was changed.
    SetOption {
        /// Which of its options.
        option: String,
        /// Which of the option's values.
        value: String,
    },
    /// Signs in to the agent, which reports whether that worked.
    SignIn {
        /// Which of its methods.
        method: String,
    },
    /// Changes what is marked.
    SetContext {
        /// How.
        wish: ContextWish,
        /// Who wants it.
        by: Marker,
    },
    /// Notes what a call proved that has just ended.
    Prove {
        /// Which call of the running turn.
        tool: u32,
        /// What it proved.
        facts: Vec<Fact>,
    },
    /// Notes something that the agent showed the person; its bytes are stored.
    StoreOutput(Box<Output>),
    /// The same for an applet, whose bytes are the output.
    ShowApplet {
        /// Its bytes.
        output: Box<Output>,
        /// Which it is.
        applet: AppletToShow,
    },
    /// Notes that the applet that the session showed was saved.
    SaveApplet {
        /// As what.
        slug: AppletSlug,
        /// What people call it.
        name: String,
    },
    /// Notes that outputs are not kept any more; whoever asks has seen that the session has them.
    RemoveOutputs {
        /// Which.
        ids: Vec<OutputId>,
        /// Why.
        reason: OutputRemoval,
        /// Who wants it.
        by: Option<Answerer>,
    },
    /// Notes what the agent says it is about to do.
    SetIntent {
        /// In its words.
        intent: String,
    },
    /// Notes what turns were about that have ended.
    Summarise(Vec<TurnSummary>),
    /// Calls the session something, while the person has not named it.
    SetTitle {
        /// One line.
        title: String,
        /// Who thought of it.
        by: TitleMaker,
        /// The newest turn that it was thought of after.
        turn: Option<Turn>,
        /// That turn's prompt.
        interaction_id: Option<InteractionId>,
    },
    /// Begins a turn that is imported from another tool's record; what its agent did follows as reports.
    ImportPrompt {
        /// The prompt's id from now on.
        interaction_id: InteractionId,
        /// The words.
        text: String,
        /// Pictures that went with them.
        images: Vec<Image>,
        /// Who wrote them.
        by: Author,
    },
    /// Notes how far another tool's record has been imported.
    Import {
        /// The tool's name in the catalog of agents.
        tool: String,
        /// The tool's own id of the session.
        source: String,
        /// How far its record was read.
        mark: String,
    },
    /// Works elsewhere from now on, since the old directory is gone.
    MoveTo {
        /// An absolute path.
        cwd: String,
    },
    /// Notes that the person has seen where the session stands.
    Observe,
    /// Puts the session away; it can be brought back for a while.
    Delete,
    /// Brings it back.
    Restore,
    /// What the agent did.
    Agent(AgentReport),
    /// The server stops, or has come back after it was stopped.
    Interrupt {
        /// `server_shutdown` or `server_restart`.
        reason: String,
    },
}

/// What a new session is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewSession {
    /// The agent's name in the catalog.
    pub agent: String,
    /// Its working directory, absolute.
    pub cwd: String,
    /// The git root of that directory, else the directory.
    pub project: String,
    /// A name, or empty.
    pub name: String,
    /// The piece of work that it belongs to.
    pub work: Option<WorkId>,
    /// What it is started from.
    pub from: Option<Origin>,
    /// What is sent first, once its agent is there.
    pub first: Option<FirstPrompt>,
    /// What is to be chosen about its agent when it first starts.
    pub options: BTreeMap<String, String>,
}

/// What a session is begun for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstPrompt {
    /// The prompt's id from now on.
    pub interaction_id: InteractionId,
    /// The words.
    pub text: String,
    /// Pictures that go with them.
    pub images: Vec<Image>,
    /// Who wrote them.
    pub by: Author,
}

/// What a turn was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnSummary {
    /// Which turn.
    pub turn: Turn,
    /// One line.
    pub summary: String,
    /// Who wrote it.
    pub by: SummaryMaker,
    /// How long the turn is; present with its first summary.
    pub extent: Option<Extent>,
}

/// What a prompt does that meets a running turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenBusy {
    /// It waits its turn.
    Queue,
    /// It is refused.
    Reject,
}

/// What the agent's side reports. Blocks and calls are numbered by the reporter, from 0 and 1, within the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentReport {
    /// It takes prompts.
    Ready {
        /// How it took the session up.
        attached: Option<Attached>,
    },
    /// It wants the person to sign in first.
    SignedOut {
        /// How.
        methods: Vec<SignInMethod>,
    },
    /// All that can be chosen about it now.
    Options(Vec<AgentOption>),
    /// All commands it understands now.
    Commands(Vec<AgentCommand>),
    /// It said something; the words follow the block's earlier ones.
    Text {
        /// The block's number in its turn.
        block: u32,
        /// The words.
        text: String,
    },
    /// It thought something.
    Thought {
        /// The block's number in its turn.
        block: u32,
        /// The words.
        text: String,
    },
    /// It began a call.
    ToolStarted {
        /// The call's number in its turn.
        tool: u32,
        /// Its own id of it.
        call_id: String,
        /// What is known of the call.
        change: ToolChange,
    },
    /// Something about a call changed; a final status ends the call.
    ToolChanged {
        /// Which call.
        tool: u32,
        /// What changed.
        change: ToolChange,
    },
    /// A call shows more of the text that it shows last.
    ToolText {
        /// Which call.
        tool: u32,
        /// What came.
        text: String,
    },
    /// Its plan as it is now.
    Plan(Vec<PlanStep>),
    /// It asks something and waits.
    Asked(Question),
    /// How full its window is.
    Usage(Usage),
    /// It calls the session this.
    Title(String),
    /// It shows a message beside its answer.
    Noticed(Notice),
    /// It made room in its window.
    Compacted {
        /// What it kept, if it said.
        summary: Option<String>,
    },
    /// It sent what nobody understands.
    Raw(Value),
    /// It is at work and has said nothing for long, or does not stop.
    Unresponsive,
    /// The turn is over.
    Stopped(Stop),
    /// Its process is not there any more, as after a restart of the server; a prompt starts it again.
    Gone,
    /// The agent ended without being asked to, or could not be started.
    Failed {
        /// What is known of it.
        reason: String,
    },
}

impl AgentReport {
    /// About how many bytes it has; nothing, if it is always short.
    pub fn about_bytes(&self) -> usize {
        match self {
            Self::Text { text, .. } | Self::Thought { text, .. } | Self::ToolText { text, .. } => text.len(),
            Self::ToolStarted { change, .. } | Self::ToolChanged { change, .. } => change.about_bytes(),
            Self::Plan(steps) => steps.iter().map(|step| step.text.len()).sum(),
            Self::Commands(commands) => json_bytes(commands),
            Self::Options(options) => json_bytes(options),
            Self::Asked(question) => json_bytes(question),
            Self::Raw(message) => json_bytes(message),
            Self::Compacted { summary } => summary.as_ref().map_or(0, String::len),
            Self::Ready { .. }
            | Self::SignedOut { .. }
            | Self::Usage(_)
            | Self::Title(_)
            | Self::Noticed(_)
            | Self::Unresponsive
            | Self::Stopped(_)
            | Self::Gone
            | Self::Failed { .. } => 0,
        }
    }
}
