//! What has to happen outside once entries are durable: one table of events.

use model::{AgentState, Entry, Event, Image, PermissionAnswer, Request};

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
    /// What the agent is told ahead of the next prompt.
    TellFirst {
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
    pub(super) calls: Vec<Event>,
}

impl AfterCommit {
    pub(super) fn of(entries: &[Entry]) -> Self {
        let events = || entries.iter().map(|entry| &entry.event);
        let calls = events().filter(|event| Calls::concern(event)).cloned().collect();
        Self { effects: events().filter_map(effect).collect(), calls }
    }
}

/// What has to be done once this is durable.
fn effect(event: &Event) -> Option<Effect> {
    match event {
        Event::AgentStateChanged { state, .. } => match state {
            AgentState::Starting => Some(Effect::StartAgent),
            AgentState::Failed | AgentState::Stopped => Some(Effect::LetAgentGo),
            AgentState::Ready | AgentState::Unresponsive | AgentState::SignedOut => None,
        },
        Event::PromptSent { text, images, .. } => {
            Some(Effect::SendPrompt { text: text.clone(), images: images.clone() })
        }
        Event::ResumeSent { text, .. } => Some(Effect::TellFirst { text: text.clone() }),
        Event::PermissionAsked { request, .. } => Some(Effect::Await { request: *request }),
        Event::PermissionAnswered { request, answer, .. } => {
            Some(Effect::Answer { request: *request, answer: answer.clone() })
        }
        Event::SessionCreated { .. }
        | Event::SessionChanged { .. }
        | Event::SessionObserved {}
        | Event::SessionDeleted {}
        | Event::SessionRestored {}
        | Event::SessionImported { .. }
        | Event::AgentOptionsChanged { .. }
        | Event::AgentOptionChosen { .. }
        | Event::AgentCommandsChanged { .. }
        | Event::AgentRaw { .. }
        | Event::AgentNoticed { .. }
        | Event::TurnStarted { .. }
        | Event::TurnEnded { .. }
        | Event::PromptQueued { .. }
        | Event::PromptChanged { .. }
        | Event::PromptRemoved { .. }
        | Event::TextPart { .. }
        | Event::ThoughtPart { .. }
        | Event::ToolStarted { .. }
        | Event::ToolChanged { .. }
        | Event::ToolPart { .. }
        | Event::ToolEnded { .. }
        | Event::PlanChanged { .. }
        | Event::UsageReported { .. }
        | Event::CompactionSeen { .. }
        | Event::TitleSet { .. }
        | Event::SummarySet { .. }
        | Event::ContextSet { .. }
        | Event::FactProved { .. }
        | Event::NextOffered { .. }
        | Event::NextClicked { .. }
        | Event::BlockShown { .. }
        | Event::WorkCreated { .. }
        | Event::WorkRenamed { .. }
        | Event::WorkDeleted { .. }
        | Event::WorkSessionAdded { .. }
        | Event::TokenIssued { .. }
        | Event::TokenRevoked { .. }
        | Event::PermissionRemembered { .. }
        | Event::PermissionForgotten { .. } => None,
    }
}
