//! Stored events stay readable.

use std::collections::BTreeSet;

use super::*;

const RELEASED: &[(u16, &str)] = &[
    (1, include_str!("../../../../fixtures/events/v1.jsonl")),
    (2, include_str!("../../../../fixtures/events/v2.jsonl")),
    (3, include_str!("../../../../fixtures/events/v3.jsonl")),
    (4, include_str!("../../../../fixtures/events/v4.jsonl")),
    (5, include_str!("../../../../fixtures/events/v5.jsonl")),
];

/// Every line of every released version decodes, and those of this version are written back byte for byte.
#[test]
fn stored_events_decode_for_ever() {
    for (version, lines) in RELEASED {
        for line in lines.lines() {
            let event = Event::decode(*version, line.as_bytes()).unwrap_or_else(|err| panic!("{line}: {err}"));
            if *version == EVENT_VERSION {
                assert_eq!(String::from_utf8(event.encode()).unwrap(), line);
            }
        }
    }
}

/// Adding a variant fails to compile here; removing its line from the fixture fails the test.
#[test]
fn the_fixture_of_this_version_has_every_kind() {
    let (_, lines) = RELEASED.last().unwrap();
    let seen: BTreeSet<&str> = lines
        .lines()
        .map(|line| match Event::decode(EVENT_VERSION, line.as_bytes()).unwrap() {
            Event::SessionCreated { .. } => "session.created",
            Event::SessionChanged { .. } => "session.changed",
            Event::SessionObserved {} => "session.observed",
            Event::SessionDeleted {} => "session.deleted",
            Event::SessionRestored {} => "session.restored",
            Event::AgentStateChanged { .. } => "agent.state_changed",
            Event::TurnStarted { .. } => "turn.started",
            Event::TurnEnded { .. } => "turn.ended",
            Event::PromptQueued { .. } => "prompt.queued",
            Event::PromptChanged { .. } => "prompt.changed",
            Event::PromptRemoved { .. } => "prompt.removed",
            Event::PromptSent { .. } => "prompt.sent",
            Event::TextPart { .. } => "text.part",
            Event::AgentOptionsChanged { .. } => "agent.options_changed",
            Event::AgentOptionChosen { .. } => "agent.option_chosen",
            Event::AgentCommandsChanged { .. } => "agent.commands_changed",
            Event::AgentRaw { .. } => "agent.raw",
            Event::AgentNoticed { .. } => "agent.noticed",
            Event::ResumeSent { .. } => "resume.sent",
            Event::ThoughtPart { .. } => "thought.part",
            Event::ToolStarted { .. } => "tool.started",
            Event::ToolChanged { .. } => "tool.changed",
            Event::ToolPart { .. } => "tool.part",
            Event::ToolEnded { .. } => "tool.ended",
            Event::PlanChanged { .. } => "plan.changed",
            Event::PermissionAsked { .. } => "permission.asked",
            Event::PermissionAnswered { .. } => "permission.answered",
            Event::UsageReported { .. } => "usage.reported",
            Event::CompactionSeen { .. } => "compaction.seen",
            Event::ContextSet { .. } => "context.set",
            Event::FactProved { .. } => "fact.proved",
            Event::TitleSet { .. } => "title.set",
            Event::SummarySet { .. } => "summary.set",
            Event::SessionImported { .. } => "session.imported",
            Event::NextOffered { .. } => "next.offered",
            Event::NextClicked { .. } => "next.clicked",
            Event::BlockShown { .. } => "block.shown",
            Event::WorkCreated { .. } => "work.created",
            Event::WorkRenamed { .. } => "work.renamed",
            Event::WorkDeleted { .. } => "work.deleted",
            Event::WorkSessionAdded { .. } => "work.session_added",
            Event::TokenIssued { .. } => "token.issued",
            Event::TokenRevoked { .. } => "token.revoked",
            Event::PermissionRemembered { .. } => "permission.remembered",
            Event::PermissionForgotten { .. } => "permission.forgotten",
        })
        .collect();
    assert_eq!(seen.len(), 44);
}

#[test]
fn a_version_that_is_not_known_is_refused_by_name() {
    for version in [0, EVENT_VERSION + 1] {
        let err = Event::decode(version, br#"{"type":"session.observed","data":{}}"#).unwrap_err();
        assert!(matches!(err, DecodeError::UnknownVersion(named) if named == version), "{err}");
    }
}
