//! Turns of a session that are held until they are complete, to be written down one after the other.
//!
//! Invariant: no more is held than the newest turn, up to a bound, and the page of entries that was just applied. What a turn has
//! beyond the bound is left out, and the turn says so.

use std::mem;

use crate::transcript::{Aside, HandOver, Item, Transcript, TranscriptTurn};
use crate::{Entry, Notice, Output, SessionEvent, Severity, Turn, json_bytes};

/// How much of a turn is written: it is held until it is complete.
const MAX_TURN_BYTES: usize = 16 << 20;

/// A part of a session that is written down, in order: text, or the place of an output, whose bytes are read while it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they hold")]
pub enum WrittenPart {
    Text(String),
    Output(Box<Output>),
}

/// What is written next.
pub(crate) enum HeldPart {
    Turn(Box<TranscriptTurn>),
    Aside(Box<Aside>),
    HandOver(HandOver),
}

/// The turns that are not written yet.
#[derive(Debug, Default)]
pub(crate) struct HeldTurns {
    transcript: Transcript,
    /// Of the newest turn.
    held_bytes: usize,
}

impl HeldTurns {
    /// Applies entries, and gives what is complete now, in order.
    pub(crate) fn apply<'a>(&mut self, entries: impl IntoIterator<Item = &'a Entry>) -> Vec<HeldPart> {
        for entry in entries {
            self.hold(entry);
        }
        let complete = self.transcript.turns.len().saturating_sub(1);
        self.take_turns(complete)
    }

    /// The last turn, and questions that no turn has.
    pub(crate) fn end(mut self) -> Vec<HeldPart> {
        let mut parts = self.take_turns(self.transcript.turns.len());
        // They still wait for an answer, or got it late.
        parts.extend(mem::take(&mut self.transcript.asides).into_iter().map(Box::new).map(HeldPart::Aside));
        parts
    }

    /// Applies an entry, if what it adds is written and there is room for it.
    fn hold(&mut self, entry: &Entry) {
        if matches!(entry.event, SessionEvent::ThoughtPart { .. }) {
            return;
        }
        if matches!(entry.event, SessionEvent::TurnStarted { .. }) {
            self.held_bytes = 0;
        }
        let is_content = matches!(
            entry.event,
            SessionEvent::TextPart { .. }
                | SessionEvent::ToolStarted { .. }
                | SessionEvent::ToolChanged { .. }
                | SessionEvent::ToolEnded { .. }
                | SessionEvent::ToolPart { .. }
                | SessionEvent::PlanChanged { .. }
                | SessionEvent::AgentNoticed { .. }
        );
        if is_content {
            let had_room = self.held_bytes < MAX_TURN_BYTES;
            self.held_bytes = self.held_bytes.saturating_add(json_bytes(&entry.event));
            if !had_room {
                return;
            }
        }
        self.transcript.apply(entry);
        if is_content && self.held_bytes >= MAX_TURN_BYTES {
            let title = "This turn is longer than is written here.".to_owned();
            let notice = Notice { severity: Severity::Info, title, description: None };
            self.transcript.turns.last_mut().into_iter().for_each(|turn| turn.items.push(Item::Notice(notice.clone())));
        }
    }

    fn take_turns(&mut self, count: usize) -> Vec<HeldPart> {
        let mut parts = Vec::new();
        let turns: Vec<_> = self.transcript.turns.drain(..count).collect();
        if let Some(first) = turns.first() {
            self.take_between(&mut parts, Turn(first.turn.0.saturating_sub(1)));
        }
        for turn in turns {
            let number = turn.turn;
            parts.push(HeldPart::Turn(Box::new(turn)));
            self.take_between(&mut parts, number);
        }
        parts
    }

    /// What happened between this turn and the next.
    fn take_between(&mut self, parts: &mut Vec<HeldPart>, after: Turn) {
        let is_here = |aside: &mut Aside| aside.after <= after && aside.permission.answer.is_some();
        parts.extend(self.transcript.asides.extract_if(.., is_here).map(Box::new).map(HeldPart::Aside));
        let hand_overs = self.transcript.hand_overs.extract_if(.., |over| over.after <= after);
        parts.extend(hand_overs.map(HeldPart::HandOver));
    }
}
