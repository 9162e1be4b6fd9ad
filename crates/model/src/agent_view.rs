//! The newest state of a session's agent and what it offers, folded from the log.
//!
//! Invariant: folding entries again that are in it already changes nothing that the newest of them did not say, so
//! whoever begins to read somewhere before its end comes out with the same. The page folds the same way in
//! `web/src/state/agent.ts`; `fixtures/agent-views.json` holds both to it.

use serde::{Deserialize, Serialize};

use crate::{AgentCommand, AgentOption, AgentState, Entry, SessionEvent, SignInMethod, Usage};

/// What an agent last said of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentView {
    /// Where it is in its life.
    pub state: AgentState,
    /// Why it stands so, where there is more to say.
    pub reason: Option<String>,
    /// What it calls itself, with its version.
    pub program: Option<String>,
    /// What can be chosen about it.
    pub options: Vec<AgentOption>,
    /// What it understands.
    pub commands: Vec<AgentCommand>,
    /// How to sign in, while it wants that.
    pub methods: Vec<SignInMethod>,
    /// How full its window was at last.
    pub usage: Option<Usage>,
}

impl AgentView {
    /// An agent that has said nothing yet.
    pub fn unknown(state: AgentState) -> Self {
        Self {
            state,
            reason: None,
            program: None,
            options: Vec::new(),
            commands: Vec::new(),
            methods: Vec::new(),
            usage: None,
        }
    }

    /// Whether an event says anything about it.
    pub fn is_of(event: &SessionEvent) -> bool {
        matches!(
            event,
            SessionEvent::SessionChanged { agent: Some(_), .. }
                | SessionEvent::AgentStateChanged { .. }
                | SessionEvent::AgentOptionsChanged { .. }
                | SessionEvent::AgentCommandsChanged { .. }
                | SessionEvent::UsageReported { .. }
        )
    }

    /// Folds the next entry in.
    pub fn apply(&mut self, entry: &Entry) {
        match &entry.event {
            // Another agent has its own.
            SessionEvent::SessionChanged { agent: Some(_), .. } => *self = Self::unknown(AgentState::Starting),
            SessionEvent::AgentStateChanged { state, reason, attached, methods, remind: _ } => {
                self.state = *state;
                self.reason.clone_from(reason);
                self.methods.clone_from(methods);
                if let Some(program) = attached.as_ref().and_then(|attached| attached.program.as_ref()) {
                    self.program = Some(program.clone());
                }
            }
            SessionEvent::AgentOptionsChanged { options } => self.options.clone_from(options),
            SessionEvent::AgentCommandsChanged { commands } => self.commands.clone_from(commands),
            SessionEvent::UsageReported { usage } => self.usage = Some(usage.clone()),
            _ => (),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Fixture {
        name: String,
        entries: Vec<Entry>,
        agent: AgentView,
    }

    #[test]
    fn agree_with_the_page() {
        let text = include_str!("../../../fixtures/agent-views.json");
        let fixtures: Vec<Fixture> = serde_json::from_str(text).unwrap();
        assert!(!fixtures.is_empty());
        for Fixture { name, entries, agent } in fixtures {
            let folded = |entries: &[Entry], mut view: AgentView| {
                entries.iter().for_each(|entry| view.apply(entry));
                view
            };
            assert_eq!(folded(&entries, AgentView::unknown(AgentState::Starting)), agent, "{name}");
            let told: Vec<Entry> = entries.iter().filter(|entry| AgentView::is_of(&entry.event)).cloned().collect();
            assert_eq!(folded(&told, AgentView::unknown(AgentState::Starting)), agent, "{name}, by what is of it");
            // Whoever has the whole and reads the end of it again has the whole.
            for cut in 0..entries.len() {
                assert_eq!(folded(&entries[cut..], agent.clone()), agent, "{name}, again from {cut}");
            }
        }
    }
}
