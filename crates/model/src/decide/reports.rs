//! Decides which events an agent's report becomes.
//!
//! Invariant: a report is never refused. What an agent does belongs to the turn that runs; a report that belongs to no turn is
//! kept as it came. Only a question may be asked between turns.

use serde_json::{Value, json};

use super::{agent_state, interrupt, start_next, withdraw_requests};
use crate::limits::{MAX_AGENT_TITLE_CHARS, MAX_OPEN_REQUESTS, MAX_PART_BYTES};
use crate::{
    AgentReport, AgentState, Attached, Memory, Outcome, Request, Session, SessionEvent, Stop, TitleMaker, ToolChange,
    ToolStatus, Turn, first_line, parts,
};

pub(super) fn agent_reported(session: &Session, report: AgentReport) -> Vec<SessionEvent> {
    let mut events = Vec::new();
    // Whoever speaks is there.
    if session.row.agent_state == AgentState::Unresponsive && report != AgentReport::Unresponsive {
        events.push(agent_state(AgentState::Ready, None));
    }
    events.extend(reported(session, report));
    events
}

fn reported(session: &Session, report: AgentReport) -> Vec<SessionEvent> {
    let turn = session.row.running.map(|running| running.turn);
    match report {
        AgentReport::Ready { attached } => {
            let state = AgentState::Ready;
            // One that was started from another session has something to be told from its beginning on.
            let has_begun = session.row.turns > Turn(0) || session.row.from.is_some();
            let remembers = |attached: &Attached| attached.memory != Memory::New && has_begun;
            let remind = attached.as_ref().is_some_and(remembers);
            let (reason, methods) = (None, Vec::new());
            let mut events = vec![SessionEvent::AgentStateChanged { state, reason, attached, methods, remind }];
            if turn.is_none() {
                events.extend(start_next(session));
            }
            events
        }
        AgentReport::SignedOut { methods } => {
            let mut events = break_off(session, "signed_out".to_owned());
            let state = AgentState::SignedOut;
            events.push(SessionEvent::AgentStateChanged {
                state,
                reason: None,
                attached: None,
                methods,
                remind: false,
            });
            events
        }
        AgentReport::Options(options) => vec![SessionEvent::AgentOptionsChanged { options }],
        AgentReport::Commands(commands) => vec![SessionEvent::AgentCommandsChanged { commands }],
        AgentReport::Text { block, text } => {
            words(turn, "text", text, |turn, text| SessionEvent::TextPart { turn, block, text })
        }
        AgentReport::Thought { block, text } => {
            words(turn, "thought", text, |turn, text| SessionEvent::ThoughtPart { turn, block, text })
        }
        AgentReport::ToolText { tool, text } => {
            words(turn, "tool", text, |turn, text| SessionEvent::ToolPart { turn, tool, text, body: None })
        }
        AgentReport::ToolStarted { tool, call_id, change } => match turn {
            Some(turn) => vec![SessionEvent::ToolStarted { turn, tool, call_id, change: without_nulls(change) }],
            None => late("tool", &json!(change)),
        },
        AgentReport::ToolChanged { tool, change } => match (turn, without_nulls(change)) {
            (Some(turn), change) if change.status.is_some_and(ToolStatus::is_final) => {
                vec![SessionEvent::ToolEnded { turn, tool, change }]
            }
            (Some(_), change) if change == ToolChange::default() => Vec::new(),
            (Some(turn), change) => vec![SessionEvent::ToolChanged { turn, tool, change }],
            (None, change) => late("tool", &json!(change)),
        },
        AgentReport::Plan(steps) => match turn {
            Some(turn) => vec![SessionEvent::PlanChanged { turn, steps }],
            None => late("plan", &json!(steps)),
        },
        // A question that can not be taken is answered at once: by nobody.
        AgentReport::Asked(question) => {
            if !may_ask(session) {
                return Vec::new();
            }
            let request = Request(session.row.requests.0 + 1);
            vec![SessionEvent::PermissionAsked { turn, request, question }]
        }
        AgentReport::Usage(usage) => vec![SessionEvent::UsageReported { usage }],
        AgentReport::Title(title) => {
            let title = first_line(&title, MAX_AGENT_TITLE_CHARS);
            let known = &session.row.title;
            // An agent that takes over or is resumed makes its title from the packet that it was sent.
            let is_late = session.row.turns > Turn(1) && !known.is_empty();
            if title.is_empty() || title == *known || is_late || is_of_packet(&title) {
                Vec::new()
            } else {
                let interaction_id = session.row.running.map(|running| running.interaction_id);
                vec![SessionEvent::TitleSet { title, by: TitleMaker::Agent, turn, interaction_id }]
            }
        }
        AgentReport::Noticed(notice) => vec![SessionEvent::AgentNoticed { notice }],
        AgentReport::Compacted { summary } => vec![SessionEvent::CompactionSeen { summary, remind: true }],
        AgentReport::Raw(message) => vec![SessionEvent::AgentRaw { message }],
        AgentReport::Unresponsive => match session.row.agent_state {
            AgentState::Ready if turn.is_some() => vec![agent_state(AgentState::Unresponsive, None)],
            _ => Vec::new(),
        },
        AgentReport::Stopped(stop) => {
            let mut events = end_turn(session, stop.outcome, stop.reason);
            if !events.is_empty() {
                events.extend(start_next(session));
            }
            events
        }
        AgentReport::Gone => interrupt(session, "agent_gone".to_owned()),
        AgentReport::Failed { reason } => {
            let mut events = break_off(session, reason.clone());
            events.push(agent_state(AgentState::Failed, Some(reason)));
            events
        }
    }
}

/// A title that repeats the resume packet is no title of the session.
fn is_of_packet(title: &str) -> bool {
    ["[Session resumed", "[The next step of a piece of work", "[A fork: a new session", "[Context from Throughline"]
        .iter()
        .any(|opening| title.starts_with(opening))
}

/// Between turns an agent may ask for as long as it is there to take the answer.
fn may_ask(session: &Session) -> bool {
    let row = &session.row;
    let is_there = match row.agent_state {
        AgentState::Starting | AgentState::Ready | AgentState::Unresponsive | AgentState::SignedOut => true,
        AgentState::Stopped | AgentState::Failed => false,
    };
    let takes = row.running.is_some() || (is_there && !row.is_imported());
    takes && row.open_requests.len() < MAX_OPEN_REQUESTS
}

/// The agent does not go on: nothing that it asked is waited for, be it of a turn or not.
fn break_off(session: &Session, reason: String) -> Vec<SessionEvent> {
    let mut events = withdraw_requests(session, |_| true);
    events.extend(session.row.running.map(|running| {
        let stop = Stop { outcome: Outcome::Failed, reason: Some(reason) };
        SessionEvent::TurnEnded { turn: running.turn, stop }
    }));
    events
}

fn end_turn(session: &Session, outcome: Outcome, reason: Option<String>) -> Vec<SessionEvent> {
    let Some(running) = session.row.running else { return Vec::new() };
    let mut events = withdraw_requests(session, |open| open.aside.is_none());
    events.push(SessionEvent::TurnEnded { turn: running.turn, stop: Stop { outcome, reason } });
    events
}

/// Long words are several parts.
fn words(
    turn: Option<Turn>,
    kind: &str,
    text: String,
    part: impl Fn(Turn, String) -> SessionEvent,
) -> Vec<SessionEvent> {
    match turn {
        Some(turn) if text.len() <= MAX_PART_BYTES && !text.is_empty() => vec![part(turn, text)],
        Some(turn) => parts(&text).map(|text| part(turn, text.to_owned())).collect(),
        None => parts(&text).flat_map(|text| late(kind, &json!(text))).collect(),
    }
}

/// JSON's null counts as absent: a stored entry could not keep the two apart.
fn without_nulls(mut change: ToolChange) -> ToolChange {
    change.input = change.input.filter(|input| !input.is_null());
    change.output = change.output.filter(|output| !output.is_null());
    change
}

/// What comes after a turn's end belongs to no turn.
fn late(kind: &str, what: &Value) -> Vec<SessionEvent> {
    vec![SessionEvent::AgentRaw { message: json!({ "late": { kind: what } }) }]
}
