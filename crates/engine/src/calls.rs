//! Keeps the calls of the running turn that have not ended, and finds the facts that a call proves when it ends.
//!
//! Invariant: a call is folded like a reader folds it, and what it proves is found once, when its end arrives, before that
//! is written down; so the fact is in the same batch as the end. What is held of all open calls is bounded: one for which
//! there is no room is not held, and proves nothing.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    AgentReport, Command, Request, Session, SessionEvent, ToolCall, ToolContent, ToolStatus, json_bytes, prove,
    tool_intent,
};

use crate::file_inspector::FileInspector;

/// How much text of a call is kept for its rules.
const TEXT_BYTES: usize = 128 << 10;
/// How much is held of all calls that have not ended: dozens of the largest, and any number of usual ones.
const OPEN_BYTES: usize = 32 << 20;

/// Calls by their numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Calls {
    open: BTreeMap<u32, ToolCall>,
    /// How many bytes each of them has, and all.
    bytes: BTreeMap<u32, usize>,
    all_bytes: usize,
    /// Which call a question is about.
    asked: BTreeMap<Request, u32>,
    /// Those to which the answer was no: whatever their end is called, they prove nothing.
    refused: BTreeSet<u32>,
}

/// The commands that follow from reports about calls, by the reports' places: the facts that a call proves, and what the
/// agent says that it is about to do.
#[derive(Debug, Default)]
pub(crate) struct FollowUps(BTreeMap<usize, Vec<Command>>);

impl Calls {
    /// Whether an event has to do with calls.
    pub(crate) fn concern(event: &SessionEvent) -> bool {
        matches!(
            event,
            SessionEvent::TurnStarted { .. }
                | SessionEvent::TurnEnded { .. }
                | SessionEvent::ToolStarted { .. }
                | SessionEvent::ToolChanged { .. }
                | SessionEvent::ToolPart { .. }
                | SessionEvent::ToolEnded { .. }
                | SessionEvent::PermissionAsked { .. }
                | SessionEvent::PermissionAnswered { .. }
        )
    }

    /// Takes in what is now durable.
    pub(crate) fn apply(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::TurnStarted { .. } | SessionEvent::TurnEnded { .. } => *self = Self::default(),
            SessionEvent::ToolStarted { tool, call_id, change, .. } => {
                let call = ToolCall::begin(*tool, call_id.clone(), change);
                let bytes = json_bytes(&call);
                self.open.insert(*tool, call);
                self.weigh(*tool, bytes);
            }
            SessionEvent::ToolChanged { tool, change, .. } => {
                if let Some(call) = self.open.get_mut(tool) {
                    call.change(change);
                    let bytes = json_bytes(call);
                    self.weigh(*tool, bytes);
                }
            }
            SessionEvent::ToolPart { tool, text, .. } => {
                if let Some(call) = self.open.get_mut(tool).filter(|call| text_bytes(call) < TEXT_BYTES) {
                    call.add_text(text);
                    let before = self.bytes.get(tool).copied().unwrap_or_default();
                    self.weigh(*tool, before + text.len());
                }
            }
            SessionEvent::ToolEnded { tool, .. } => self.let_go(*tool),
            SessionEvent::PermissionAsked { turn: Some(_), request, question } => {
                self.asked.extend(question.tool.map(|tool| (*request, tool)));
            }
            SessionEvent::PermissionAnswered { request, answer, .. } => {
                let Some(tool) = self.asked.remove(request) else { return };
                if answer.refuses() {
                    self.refused.insert(tool);
                } else {
                    self.refused.remove(&tool);
                }
            }
            _ => (),
        }
    }

    /// A call has so many bytes now; it is let go if that is too much with the others.
    fn weigh(&mut self, tool: u32, bytes: usize) {
        let before = self.bytes.insert(tool, bytes).unwrap_or_default();
        self.all_bytes = self.all_bytes - before + bytes;
        if self.all_bytes > OPEN_BYTES {
            tracing::warn!(tool, "open tool calls hold too much; what this one proves is not looked for");
            self.let_go(tool);
        }
    }

    fn let_go(&mut self, tool: u32) {
        self.open.remove(&tool);
        self.all_bytes -= self.bytes.remove(&tool).unwrap_or_default();
    }

    /// What follows from these reports, one after the other; looks at the files that they touched.
    pub(crate) async fn follow_ups(
        &self,
        session: &Session,
        reports: &[AgentReport],
        files: &FileInspector,
    ) -> FollowUps {
        let mut follow_ups = FollowUps::default();
        if session.row.running.is_none() || !reports.iter().any(is_of_call) {
            return follow_ups;
        }
        let concerned = reports.iter().filter_map(call_of).filter_map(|tool| self.open.get_key_value(&tool));
        let open = concerned.map(|(tool, call)| (*tool, call.clone())).collect();
        let mut calls = Self { open, ..Self::default() };
        for (at, report) in reports.iter().enumerate() {
            let Some(call) = calls.take(report) else { continue };
            let commands = follow_ups.0.entry(at).or_default();
            let (tool, status) = (call.tool, call.status);
            if status == ToolStatus::Completed && !self.refused.contains(&tool) {
                let mut facts = prove(call, &session.row.cwd);
                files.stamp(&mut facts).await;
                commands.extend((!facts.is_empty()).then_some(Command::Prove { tool, facts }));
            }
            commands.extend(tool_intent(call).map(|intent| Command::SetIntent { intent: intent.to_owned() }));
            // What comes after a call's end changes nothing of what it proved, as it does once the end is durable.
            if status.is_final() {
                calls.open.remove(&tool);
            }
        }
        follow_ups
    }

    /// Folds a report in; the call that it is about.
    fn take(&mut self, report: &AgentReport) -> Option<&ToolCall> {
        match report {
            AgentReport::ToolStarted { tool, call_id, change } => {
                self.open.insert(*tool, ToolCall::begin(*tool, call_id.clone(), change));
                // A call that begins with its end is reported as ended by itself.
                self.open.get(tool).filter(|call| !call.status.is_final())
            }
            AgentReport::ToolChanged { tool, change } => {
                let call = self.open.get_mut(tool)?;
                call.change(change);
                Some(call)
            }
            AgentReport::ToolText { tool, text } => {
                let call = self.open.get_mut(tool).filter(|call| text_bytes(call) < TEXT_BYTES)?;
                call.add_text(text);
                None
            }
            _ => None,
        }
    }
}

impl FollowUps {
    /// Those of the report at this place.
    pub(crate) fn of(&self, place: usize) -> impl Iterator<Item = &Command> {
        self.0.get(&place).into_iter().flatten()
    }
}

fn is_of_call(report: &AgentReport) -> bool {
    matches!(report, AgentReport::ToolStarted { .. } | AgentReport::ToolChanged { .. })
}

fn call_of(report: &AgentReport) -> Option<u32> {
    match report {
        AgentReport::ToolStarted { tool, .. }
        | AgentReport::ToolChanged { tool, .. }
        | AgentReport::ToolText { tool, .. } => Some(*tool),
        _ => None,
    }
}

fn text_bytes(call: &ToolCall) -> usize {
    let bytes = |content: &ToolContent| match content {
        ToolContent::Text { text } | ToolContent::Terminal { output: text, .. } => text.len(),
        _ => 0,
    };
    call.content.iter().map(bytes).sum()
}

#[cfg(test)]
mod tests {
    use model::{ToolChange, Turn};
    use serde_json::json;

    use super::*;

    fn started(tool: u32, bytes: usize) -> SessionEvent {
        let change = ToolChange { input: Some(json!("x".repeat(bytes))), ..ToolChange::default() };
        SessionEvent::ToolStarted { turn: Turn(1), tool, call_id: tool.to_string(), change }
    }

    #[test]
    fn open_calls_hold_no_more_than_they_may() {
        let mut calls = Calls::default();
        (1..=100).for_each(|tool| calls.apply(&started(tool, 1 << 20)));
        let held: Vec<u32> = calls.open.keys().copied().collect();
        assert_eq!(held, (1..=31).collect::<Vec<u32>>());
        // A change, and text, may be too much as well.
        let output = ToolChange { output: Some(json!("x".repeat(2 << 20))), ..ToolChange::default() };
        calls.apply(&SessionEvent::ToolChanged { turn: Turn(1), tool: 3, change: output });
        assert!(!calls.open.contains_key(&3) && calls.open.len() == 30);
        // What ends makes room.
        let ended = ToolChange { status: Some(ToolStatus::Completed), ..ToolChange::default() };
        calls.apply(&SessionEvent::ToolEnded { turn: Turn(1), tool: 1, change: ended });
        calls.apply(&started(101, 1 << 20));
        assert!(calls.open.contains_key(&101));
        assert_eq!(calls.all_bytes, calls.open.values().map(json_bytes).sum::<usize>());
        calls.apply(&SessionEvent::TurnStarted {
            turn: Turn(2),
            interaction_id: model::InteractionId::from_uuid(uuid::Uuid::nil()),
        });
        assert!(calls.open.is_empty() && calls.all_bytes == 0);
    }
}
