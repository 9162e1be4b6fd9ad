//! What can happen in a session.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AgentCommand, AgentOption, AgentState, Answerer, AppletSlug, Attached, Author, BodyRef, Card, Extent, Fact, Filing,
    Image, InteractionId, Marker, Next, Notice, Origin, Output, OutputId, OutputRemoval, PermissionAnswer, PlanStep,
    Question, Request, Seq, SessionId, SignInMethod, Span, Stop, SummaryMaker, TitleMaker, ToolChange, Turn, Usage,
    WorkId,
};

/// What happened in a session, in the past tense.
// Fields are renamed once for all, and again where a name has several words: the API's description knows only the
// latter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Event))]
#[serde(tag = "type", content = "data", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the variants and their fields are the glossary's own words")]
pub enum SessionEvent {
    #[serde(rename = "session.created")]
    SessionCreated {
        agent: String,
        cwd: String,
        project: String,
        name: String,
        /// The piece of work that it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        work: Option<WorkId>,
        /// What it was started from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Origin>,
        /// What is to be chosen about its agent when it first starts.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        options: BTreeMap<String, String>,
    },
    /// Only what is present changes.
    #[serde(rename = "session.changed", rename_all = "camelCase")]
    SessionChanged {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        env_hint: Option<String>,
        /// Another agent took over, which knows nothing of the earlier turns.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// The directory it works in from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        /// What the agent says it is about to do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        intent: Option<String>,
        /// How the person keeps it in the list.
        #[serde(flatten)]
        filing: Filing,
    },
    #[serde(rename = "session.observed")]
    SessionObserved {},
    #[serde(rename = "session.deleted")]
    SessionDeleted {},
    #[serde(rename = "session.restored")]
    SessionRestored {},
    /// Another session goes on from one of its turns; this one stays as it is.
    #[serde(rename = "session.forked")]
    SessionForked {
        /// Which turn; 0 is the session's beginning.
        turn: Turn,
        /// The session that began.
        session: SessionId,
        by: Answerer,
    },
    #[serde(rename = "agent.state_changed")]
    AgentStateChanged {
        state: AgentState,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// With `ready`: how it took the session up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attached: Option<Attached>,
        /// With `signed_out`: how to sign in.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        methods: Vec<SignInMethod>,
        /// With `attached`: it went on with its own record, and is reminded of what the session is about.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        remind: bool,
    },
    /// All that can be chosen about the agent now.
    #[serde(rename = "agent.options_changed")]
    AgentOptionsChanged { options: Vec<AgentOption> },
    /// The person chose this about the agent; it is set again when the agent is taken up again.
    #[serde(rename = "agent.option_chosen")]
    AgentOptionChosen { option: String, value: String },
    /// All commands it understands now.
    #[serde(rename = "agent.commands_changed")]
    AgentCommandsChanged { commands: Vec<AgentCommand> },
    /// What it sent and nobody here understands, as it came.
    #[serde(rename = "agent.raw")]
    AgentRaw {
        #[cfg_attr(feature = "schema", schema(value_type = Object))]
        message: Value,
    },
    #[serde(rename = "agent.noticed")]
    AgentNoticed { notice: Notice },
    #[serde(rename = "turn.started", rename_all = "camelCase")]
    TurnStarted { turn: Turn, interaction_id: InteractionId },
    #[serde(rename = "turn.ended")]
    TurnEnded {
        turn: Turn,
        #[serde(flatten)]
        stop: Stop,
    },
    #[serde(rename = "prompt.queued", rename_all = "camelCase")]
    PromptQueued {
        interaction_id: InteractionId,
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
        by: Author,
    },
    /// Other words, and whoever wrote them; the pictures stay.
    #[serde(rename = "prompt.changed", rename_all = "camelCase")]
    PromptChanged { interaction_id: InteractionId, text: String, by: Author },
    #[serde(rename = "prompt.removed", rename_all = "camelCase")]
    PromptRemoved { interaction_id: InteractionId },
    /// The words as they went to the agent, also when they had waited in the queue.
    #[serde(rename = "prompt.sent", rename_all = "camelCase")]
    PromptSent {
        interaction_id: InteractionId,
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
        by: Author,
    },
    /// The resume packet that the agent was sent ahead of this turn's prompt.
    #[serde(rename = "resume.sent")]
    ResumeSent { turn: Turn, text: String },
    /// A piece of the agent's answer; the pieces of one block follow each other and are joined by readers.
    #[serde(rename = "text.part")]
    TextPart { turn: Turn, block: u32, text: String },
    /// A piece of what it thought, in a block of its own; texts and thoughts of a turn are numbered together.
    #[serde(rename = "thought.part")]
    ThoughtPart { turn: Turn, block: u32, text: String },
    #[serde(rename = "tool.started", rename_all = "camelCase")]
    ToolStarted {
        turn: Turn,
        tool: u32,
        call_id: String,
        #[serde(flatten)]
        change: ToolChange,
    },
    #[serde(rename = "tool.changed")]
    ToolChanged {
        turn: Turn,
        tool: u32,
        #[serde(flatten)]
        change: ToolChange,
    },
    /// A piece of what it shows; it follows the text that it shows last.
    #[serde(rename = "tool.part")]
    ToolPart {
        turn: Turn,
        tool: u32,
        text: String,
        /// The text is the head of this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<BodyRef>,
    },
    /// Its status is final.
    #[serde(rename = "tool.ended")]
    ToolEnded {
        turn: Turn,
        tool: u32,
        #[serde(flatten)]
        change: ToolChange,
    },
    /// The plan as it is now, in place of the earlier one.
    #[serde(rename = "plan.changed")]
    PlanChanged { turn: Turn, steps: Vec<PlanStep> },
    #[serde(rename = "permission.asked")]
    PermissionAsked {
        /// Absent where no turn ran.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<Turn>,
        request: Request,
        #[serde(flatten)]
        question: Question,
    },
    #[serde(rename = "permission.answered")]
    PermissionAnswered {
        /// The turn in which it was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<Turn>,
        request: Request,
        #[serde(flatten)]
        answer: PermissionAnswer,
    },
    #[serde(rename = "usage.reported")]
    UsageReported {
        #[serde(flatten)]
        usage: Usage,
    },
    /// The agent put what it knew together to make room, and forgot the rest.
    #[serde(rename = "compaction.seen")]
    CompactionSeen {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
        /// The agent is reminded of what the session is about.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        remind: bool,
    },
    /// All items of a set, in place of those it had; none removes it.
    #[serde(rename = "context.set")]
    ContextSet { set: String, items: Vec<String>, by: Marker },
    /// What a call proved, whose end is in `entry`.
    #[serde(rename = "fact.proved")]
    FactProved { turn: Turn, tool: u32, entry: Seq, facts: Vec<Fact> },
    /// What the session is called from now on, unless the person gave it a name.
    #[serde(rename = "title.set", rename_all = "camelCase")]
    TitleSet {
        title: String,
        #[serde(default)]
        by: TitleMaker,
        /// The newest turn at that time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<Turn>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interaction_id: Option<InteractionId>,
    },
    /// What a turn was about, in one line.
    #[serde(rename = "summary.set")]
    SummarySet {
        turn: Turn,
        summary: String,
        by: SummaryMaker,
        /// How long the turn is; present once, with the first summary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extent: Option<Extent>,
    },
    /// The entries up to here were imported from another tool's record.
    #[serde(rename = "session.imported")]
    SessionImported {
        /// The tool's name in the catalog of agents.
        tool: String,
        /// The tool's own id of the session.
        source: String,
        /// How far its record was read.
        mark: String,
    },
    /// The agent's words offer a step that can be taken in a session of its own.
    #[serde(rename = "next.offered")]
    NextOffered {
        turn: Turn,
        /// Its number among those of the turn, from 1.
        nth: u32,
        #[serde(flatten)]
        span: Span,
        #[serde(flatten)]
        next: Next,
    },
    /// The offer was taken, once and for all.
    #[serde(rename = "next.clicked")]
    NextClicked {
        turn: Turn,
        nth: u32,
        /// The piece of work that goes on.
        work: WorkId,
        /// The session that began.
        session: SessionId,
        by: Answerer,
    },
    /// The agent showed the person something, whose bytes are kept beside the log.
    #[serde(rename = "output.stored")]
    OutputStored { turn: Turn, output: Output },
    /// What the agent showed is not kept any more: its bytes are gone, and its card stays.
    #[serde(rename = "output.removed")]
    OutputRemoved {
        id: OutputId,
        reason: OutputRemoval,
        /// Who wanted it; absent where the session was brought back from its copy.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Answerer>,
    },
    /// The agent showed the person an applet, as the output holds it.
    #[serde(rename = "applet.shown")]
    AppletShown {
        turn: Turn,
        output: OutputId,
        /// What it is saved as; absent where nobody has saved it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slug: Option<AppletSlug>,
        title: String,
        /// What it was given.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        params: BTreeMap<String, String>,
    },
    /// The applet that the session showed was saved.
    #[serde(rename = "applet.saved")]
    AppletSaved { turn: Turn, slug: AppletSlug, name: String },
    /// The agent's words hold something that is shown as more than words.
    #[serde(rename = "block.shown")]
    BlockShown {
        turn: Turn,
        /// Its number among those of the turn, from 1; `t42.b1` where it stands alone.
        nth: u32,
        #[serde(flatten)]
        span: Span,
        #[serde(flatten)]
        card: Card,
    },
}

impl SessionEvent {
    /// The turn that it belongs to, if it belongs to one.
    pub fn turn(&self) -> Option<Turn> {
        match self {
            Self::TurnStarted { turn, .. }
            | Self::TurnEnded { turn, .. }
            | Self::ResumeSent { turn, .. }
            | Self::TextPart { turn, .. }
            | Self::ThoughtPart { turn, .. }
            | Self::ToolStarted { turn, .. }
            | Self::ToolChanged { turn, .. }
            | Self::ToolPart { turn, .. }
            | Self::ToolEnded { turn, .. }
            | Self::FactProved { turn, .. }
            | Self::SummarySet { turn, .. }
            | Self::NextOffered { turn, .. }
            | Self::NextClicked { turn, .. }
            | Self::BlockShown { turn, .. }
            | Self::OutputStored { turn, .. }
            | Self::AppletShown { turn, .. }
            | Self::AppletSaved { turn, .. }
            | Self::PlanChanged { turn, .. } => Some(*turn),
            Self::PermissionAsked { turn, .. } | Self::PermissionAnswered { turn, .. } => *turn,
            Self::SessionCreated { .. }
            | Self::SessionChanged { .. }
            | Self::SessionObserved {}
            | Self::SessionDeleted {}
            | Self::SessionRestored {}
            // It is about a turn, and stands where it was done.
            | Self::SessionForked { .. }
            | Self::AgentStateChanged { .. }
            | Self::AgentOptionsChanged { .. }
            | Self::AgentOptionChosen { .. }
            | Self::AgentCommandsChanged { .. }
            | Self::AgentRaw { .. }
            | Self::AgentNoticed { .. }
            | Self::PromptQueued { .. }
            | Self::PromptChanged { .. }
            | Self::PromptRemoved { .. }
            | Self::PromptSent { .. }
            | Self::UsageReported { .. }
            | Self::CompactionSeen { .. }
            | Self::ContextSet { .. }
            | Self::TitleSet { .. }
            // It is about one that may be long over.
            | Self::OutputRemoved { .. }
            | Self::SessionImported { .. } => None,
        }
    }

    /// The number of the call that it is about, if it changes one.
    pub fn tool(&self) -> Option<u32> {
        match self {
            Self::ToolStarted { tool, .. }
            | Self::ToolChanged { tool, .. }
            | Self::ToolPart { tool, .. }
            | Self::ToolEnded { tool, .. } => Some(*tool),
            _ => None,
        }
    }

    /// About how many bytes it has, found without writing it down.
    pub fn about_bytes(&self) -> usize {
        match self {
            Self::TextPart { text, .. } | Self::ThoughtPart { text, .. } | Self::ToolPart { text, .. } => text.len(),
            event => crate::json_bytes(event),
        }
    }
}
