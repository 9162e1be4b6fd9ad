//! Maps committed events to the effects that follow them outside of the log, such as starting the agent.

use model::{AgentState, Draft, Entry, Image, PermissionAnswer, Request, SessionEvent};

use crate::calls::Calls;

/// Something to be done outside.
#[derive(Debug)]
pub(super) enum Effect {
    StartAgent,
    LetAgentGo,
    SendPrompt {
        text: String,
        images: Vec<Image>,
    },
    /// Goes to the agent ahead of the prompt of the same append. Its entry stands behind `prompt.sent`.
    SendPacket {
        text: String,
    },
    /// The agent waits for an answer to this request.
    Await {
        request: Request,
    },
    Answer {
        request: Request,
        answer: PermissionAnswer,
    },
}

/// What is to be done once entries are durable, collected before they move into the append.
#[derive(Debug)]
pub(super) struct AfterCommit {
    pub(super) effects: Vec<Effect>,
    /// The events that have to do with tool calls.
    pub(super) calls: Vec<SessionEvent>,
}

impl AfterCommit {
    pub(super) fn effects_of(entries: &[Entry]) -> Vec<Effect> {
        entries.iter().filter_map(|entry| effect(&entry.event)).collect()
    }

    /// As they came: what a call proves is looked for in all of it.
    pub(super) fn calls_of(draft: &Draft) -> Vec<SessionEvent> {
        let events = draft.entries().iter().map(|entry| &entry.event);
        events.filter(|event| Calls::concern(event)).map(|event| draft.whole(event)).collect()
    }
}

/// What has to be done once this is durable.
fn effect(event: &SessionEvent) -> Option<Effect> {
    match event {
        SessionEvent::AgentStateChanged { state, .. } => match state {
            AgentState::Starting => Some(Effect::StartAgent),
            AgentState::Failed | AgentState::Stopped => Some(Effect::LetAgentGo),
            AgentState::Ready | AgentState::Unresponsive | AgentState::SignedOut => None,
        },
        SessionEvent::PromptSent { text, images, .. } => {
            Some(Effect::SendPrompt { text: text.clone(), images: images.clone() })
        }
        SessionEvent::ResumeSent { text, .. } => Some(Effect::SendPacket { text: text.clone() }),
        SessionEvent::PermissionAsked { request, .. } => Some(Effect::Await { request: *request }),
        SessionEvent::PermissionAnswered { request, answer, .. } => {
            Some(Effect::Answer { request: *request, answer: answer.clone() })
        }
        SessionEvent::SessionCreated { .. }
        | SessionEvent::SessionChanged { .. }
        | SessionEvent::SessionObserved {}
        | SessionEvent::SessionDeleted {}
        | SessionEvent::SessionRestored {}
        | SessionEvent::SessionForked { .. }
        | SessionEvent::SessionImported { .. }
        | SessionEvent::AgentOptionsChanged { .. }
        | SessionEvent::AgentOptionChosen { .. }
        | SessionEvent::AgentCommandsChanged { .. }
        | SessionEvent::AgentRaw { .. }
        | SessionEvent::AgentNoticed { .. }
        | SessionEvent::TurnStarted { .. }
        | SessionEvent::TurnEnded { .. }
        | SessionEvent::PromptQueued { .. }
        | SessionEvent::PromptChanged { .. }
        | SessionEvent::PromptRemoved { .. }
        | SessionEvent::TextPart { .. }
        | SessionEvent::ThoughtPart { .. }
        | SessionEvent::ToolStarted { .. }
        | SessionEvent::ToolChanged { .. }
        | SessionEvent::ToolPart { .. }
        | SessionEvent::ToolEnded { .. }
        | SessionEvent::PlanChanged { .. }
        | SessionEvent::UsageReported { .. }
        | SessionEvent::CompactionSeen { .. }
        | SessionEvent::TitleSet { .. }
        | SessionEvent::SummarySet { .. }
        | SessionEvent::ContextSet { .. }
        | SessionEvent::FactProved { .. }
        | SessionEvent::NextOffered { .. }
        | SessionEvent::NextClicked { .. }
        | SessionEvent::BlockShown { .. }
        | SessionEvent::OutputStored { .. }
        | SessionEvent::AppletShown { .. }
        | SessionEvent::AppletSaved { .. }
        // Its bytes are removed by `removals.rs`, which knows where they are.
        | SessionEvent::OutputRemoved { .. } => None,
    }
}
