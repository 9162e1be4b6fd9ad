//! The calls of the running turn that have not ended, as they stand, and what those prove that end.
//!
//! Invariant: a call is folded like a reader folds it, and what it proves is found once, when its end arrives, before that
//! is written down; so the proof is in the same batch as the end.

use std::collections::{BTreeMap, BTreeSet};

use model::{AgentReport, Event, Fact, Request, Session, ToolCall, ToolContent, ToolStatus, prove, tool_intent};

use crate::looking::Looking;

/// How much text of a call is kept for its rules.
const TEXT_BYTES: usize = 128 << 10;

/// Calls by their numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Calls {
    open: BTreeMap<u32, ToolCall>,
    /// Which call a question is about.
    asked: BTreeMap<Request, u32>,
    /// Those to which the answer was no: whatever their end is called, they prove nothing.
    refused: BTreeSet<u32>,
}

/// What reports prove, by their places among them.
#[derive(Debug, Default)]
pub(crate) struct Proofs {
    facts: BTreeMap<usize, Vec<Fact>>,
    intents: BTreeMap<usize, String>,
}

impl Calls {
    /// Whether an event has to do with calls.
    pub(crate) fn concern(event: &Event) -> bool {
        matches!(
            event,
            Event::TurnStarted { .. }
                | Event::TurnEnded { .. }
                | Event::ToolStarted { .. }
                | Event::ToolChanged { .. }
                | Event::ToolPart { .. }
                | Event::ToolEnded { .. }
                | Event::PermissionAsked { .. }
                | Event::PermissionAnswered { .. }
        )
    }

    /// Takes in what is now durable.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::TurnStarted { .. } | Event::TurnEnded { .. } => *self = Self::default(),
            Event::ToolStarted { tool, call_id, change, .. } => {
                self.open.insert(*tool, ToolCall::begin(*tool, call_id.clone(), change));
            }
            Event::ToolChanged { tool, change, .. } => {
                if let Some(call) = self.open.get_mut(tool) {
                    call.change(change);
                }
            }
            Event::ToolPart { tool, text, .. } => {
                if let Some(call) = self.open.get_mut(tool).filter(|call| text_bytes(call) < TEXT_BYTES) {
                    call.add_text(text);
                }
            }
            Event::ToolEnded { tool, .. } => drop(self.open.remove(tool)),
            Event::PermissionAsked { turn: Some(_), request, question } => {
                self.asked.extend(question.tool.map(|tool| (*request, tool)));
            }
            Event::PermissionAnswered { request, answer, .. } => {
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

    /// What these reports prove, one after the other; looks at the files that they touched.
    pub(crate) async fn prove(&self, session: &Session, reports: &[AgentReport], looking: &Looking) -> Proofs {
        let mut proofs = Proofs::default();
        if session.row.running.is_none() || !reports.iter().any(is_of_call) {
            return proofs;
        }
        let concerned = reports.iter().filter_map(call_of).filter_map(|tool| self.open.get_key_value(&tool));
        let open = concerned.map(|(tool, call)| (*tool, call.clone())).collect();
        let mut calls = Self { open, ..Self::default() };
        for (at, report) in reports.iter().enumerate() {
            let Some(call) = calls.take(report) else { continue };
            proofs.intents.extend(tool_intent(call).map(|intent| (at, intent.to_owned())));
            let (tool, status) = (call.tool, call.status);
            if status == ToolStatus::Completed && !self.refused.contains(&tool) {
                let mut facts = prove(call, &session.row.cwd);
                looking.stamp(&mut facts).await;
                proofs.facts.insert(at, facts);
            }
            // What comes after a call's end changes nothing of what it proved, as it does once the end is durable.
            if status.is_final() {
                calls.open.remove(&tool);
            }
        }
        proofs
    }

    /// Folds a report in; the call that it is about.
    fn take(&mut self, report: &AgentReport) -> Option<&ToolCall> {
        match report {
            AgentReport::ToolStarted { tool, call_id, change } => {
                self.open.insert(*tool, ToolCall::begin(*tool, call_id.clone(), change));
                // Its end is told apart.
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

impl Proofs {
    /// What the report at this place proves.
    pub(crate) fn facts(&self, at: usize) -> Option<&Vec<Fact>> {
        self.facts.get(&at).filter(|facts| !facts.is_empty())
    }

    /// What the agent says with it that it is about to do.
    pub(crate) fn intent(&self, at: usize) -> Option<&String> {
        self.intents.get(&at)
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
