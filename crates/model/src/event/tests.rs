//! Stored events stay readable.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::{Author, SessionId};

const RELEASED: &[(u16, &str)] = &[
    (1, include_str!("../../../../fixtures/events/v1.jsonl")),
    (2, include_str!("../../../../fixtures/events/v2.jsonl")),
    (3, include_str!("../../../../fixtures/events/v3.jsonl")),
    (4, include_str!("../../../../fixtures/events/v4.jsonl")),
    (5, include_str!("../../../../fixtures/events/v5.jsonl")),
    (6, include_str!("../../../../fixtures/events/v6.jsonl")),
    (7, include_str!("../../../../fixtures/events/v7.jsonl")),
    (8, include_str!("../../../../fixtures/events/v8.jsonl")),
    (9, include_str!("../../../../fixtures/events/v9.jsonl")),
];

/// Decodes a line of a fixture as an event of the stream that its kind belongs to.
fn decode_line(version: u16, line: &str) -> Event {
    let event: serde_json::Value = serde_json::from_str(line).unwrap();
    let stream = match event["type"].as_str().unwrap() {
        kind if kind.starts_with("work.") => StreamId::Work,
        kind if kind.starts_with("token.") => StreamId::Server,
        "permission.remembered" | "permission.forgotten" | "applet.granted" | "applet.state_set" => StreamId::Server,
        _ => StreamId::Session(SessionId::from_bytes([1; 16])),
    };
    Event::decode(stream, version, line.as_bytes()).unwrap_or_else(|err| panic!("{line}: {err}"))
}

/// Every line of every released version decodes, and those of this version are written back byte for byte.
#[test]
fn stored_events_decode_for_ever() {
    for (version, lines) in RELEASED {
        for line in lines.lines() {
            let event = decode_line(*version, line);
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
        .map(|line| match decode_line(EVENT_VERSION, line) {
            Event::Session(SessionEvent::SessionCreated { .. }) => "session.created",
            Event::Session(SessionEvent::SessionChanged { .. }) => "session.changed",
            Event::Session(SessionEvent::SessionObserved {}) => "session.observed",
            Event::Session(SessionEvent::SessionDeleted {}) => "session.deleted",
            Event::Session(SessionEvent::SessionRestored {}) => "session.restored",
            Event::Session(SessionEvent::AgentStateChanged { .. }) => "agent.state_changed",
            Event::Session(SessionEvent::TurnStarted { .. }) => "turn.started",
            Event::Session(SessionEvent::TurnEnded { .. }) => "turn.ended",
            Event::Session(SessionEvent::PromptQueued { .. }) => "prompt.queued",
            Event::Session(SessionEvent::SessionForked { .. }) => "session.forked",
            Event::Session(SessionEvent::PromptChanged { .. }) => "prompt.changed",
            Event::Session(SessionEvent::PromptRemoved { .. }) => "prompt.removed",
            Event::Session(SessionEvent::PromptSent { .. }) => "prompt.sent",
            Event::Session(SessionEvent::TextPart { .. }) => "text.part",
            Event::Session(SessionEvent::AgentOptionsChanged { .. }) => "agent.options_changed",
            Event::Session(SessionEvent::AgentOptionChosen { .. }) => "agent.option_chosen",
            Event::Session(SessionEvent::AgentCommandsChanged { .. }) => "agent.commands_changed",
            Event::Session(SessionEvent::AgentRaw { .. }) => "agent.raw",
            Event::Session(SessionEvent::AgentNoticed { .. }) => "agent.noticed",
            Event::Session(SessionEvent::ResumeSent { .. }) => "resume.sent",
            Event::Session(SessionEvent::AppletShown { .. }) => "applet.shown",
            Event::Session(SessionEvent::AppletSaved { .. }) => "applet.saved",
            Event::Server(ServerEvent::AppletGranted { .. }) => "applet.granted",
            Event::Server(ServerEvent::AppletStateSet { .. }) => "applet.state_set",
            Event::Session(SessionEvent::ThoughtPart { .. }) => "thought.part",
            Event::Session(SessionEvent::ToolStarted { .. }) => "tool.started",
            Event::Session(SessionEvent::ToolChanged { .. }) => "tool.changed",
            Event::Session(SessionEvent::ToolPart { .. }) => "tool.part",
            Event::Session(SessionEvent::ToolEnded { .. }) => "tool.ended",
            Event::Session(SessionEvent::PlanChanged { .. }) => "plan.changed",
            Event::Session(SessionEvent::PermissionAsked { .. }) => "permission.asked",
            Event::Session(SessionEvent::PermissionAnswered { .. }) => "permission.answered",
            Event::Session(SessionEvent::UsageReported { .. }) => "usage.reported",
            Event::Session(SessionEvent::CompactionSeen { .. }) => "compaction.seen",
            Event::Session(SessionEvent::ContextSet { .. }) => "context.set",
            Event::Session(SessionEvent::FactProved { .. }) => "fact.proved",
            Event::Session(SessionEvent::TitleSet { .. }) => "title.set",
            Event::Session(SessionEvent::SummarySet { .. }) => "summary.set",
            Event::Session(SessionEvent::SessionImported { .. }) => "session.imported",
            Event::Session(SessionEvent::NextOffered { .. }) => "next.offered",
            Event::Session(SessionEvent::NextClicked { .. }) => "next.clicked",
            Event::Session(SessionEvent::BlockShown { .. }) => "block.shown",
            Event::Session(SessionEvent::OutputStored { .. }) => "output.stored",
            Event::Session(SessionEvent::OutputRemoved { .. }) => "output.removed",
            Event::Work(WorkEvent::WorkCreated { .. }) => "work.created",
            Event::Work(WorkEvent::WorkRenamed { .. }) => "work.renamed",
            Event::Work(WorkEvent::WorkDeleted { .. }) => "work.deleted",
            Event::Work(WorkEvent::WorkSessionAdded { .. }) => "work.session_added",
            Event::Server(ServerEvent::TokenIssued { .. }) => "token.issued",
            Event::Server(ServerEvent::TokenRevoked { .. }) => "token.revoked",
            Event::Server(ServerEvent::PermissionRemembered { .. }) => "permission.remembered",
            Event::Server(ServerEvent::PermissionForgotten { .. }) => "permission.forgotten",
        })
        .collect();
    assert_eq!(seen.len(), 52, "one for each arm above");
}

/// Before version 6 an author other than a person stood in front of the words; since then nobody is read out of them.
#[test]
fn who_wrote_an_old_prompt_is_taken_out_of_its_words() {
    let (agent, applet) = (Author::Agent { session: "a-1".to_owned() }, Author::Applet { name: "loom".to_owned() });
    for (text, by, words) in [
        ("[agent:a-1] go\non", agent, "go\non"),
        ("[applet:loom] go", applet, "go"),
        ("[agent:a 1] go", Author::default(), "[agent:a 1] go"),
        ("go", Author::default(), "go"),
    ] {
        for kind in ["prompt.queued", "prompt.changed", "prompt.sent"] {
            let interaction = "0190a8c0-0000-7000-8000-0000000000a1";
            let line = |by: Option<&Author>| {
                let mut event = json!({ "type": kind, "data": { "interactionId": interaction, "text": text } });
                by.inspect(|by| event["data"]["by"] = json!(by));
                event.to_string()
            };
            for version in 1..6 {
                assert_eq!(written(&decode_line(version, &line(None))), (words, &by), "version {version}: {text}");
            }
            let typed = decode_line(6, &line(Some(&Author::default())));
            assert_eq!(written(&typed), (text, &Author::default()));
        }
    }
    let other = decode_line(5, r#"{"type":"text.part","data":{"turn":1,"block":0,"text":"[agent:a-1] go"}}"#);
    assert!(matches!(other, Event::Session(SessionEvent::TextPart { text, .. }) if text == "[agent:a-1] go"));
}

/// The words of a prompt, and who wrote them.
fn written(event: &Event) -> (&str, &Author) {
    match event {
        Event::Session(
            SessionEvent::PromptQueued { text, by, .. }
            | SessionEvent::PromptChanged { text, by, .. }
            | SessionEvent::PromptSent { text, by, .. },
        ) => (text, by),
        other => panic!("{other:?}"),
    }
}

/// What a newer version wrote is told apart from what is broken, in each stream for itself.
#[test]
fn what_is_newer_is_not_malformed() {
    let session = StreamId::Session(SessionId::from_bytes([1; 16]));
    let decode = |stream, version, line: &str| match Event::decode(stream, version, line.as_bytes()) {
        Ok(_) => "read",
        Err(DecodeError::Newer) => "newer",
        Err(DecodeError::Malformed(_)) => "malformed",
    };
    let observed = r#"{"type":"session.observed","data":{}}"#;
    assert_eq!(decode(session, EVENT_VERSION, observed), "read");
    assert_eq!(decode(session, EVENT_VERSION + 1, observed), "newer");
    assert_eq!(decode(session, EVENT_VERSION + 1, "nothing that is known"), "newer");
    for stream in [session, StreamId::Work, StreamId::Server] {
        for version in [1, EVENT_VERSION] {
            assert_eq!(decode(stream, version, r#"{"type":"kite.flown","data":{"height":3}}"#), "newer");
            assert_eq!(decode(stream, version, r#"{"type":"kite.flown"}"#), "newer");
            assert_eq!(decode(stream, version, r#"{"kind":"kite.flown"}"#), "malformed");
            assert_eq!(decode(stream, version, r#"{"type":"kite.flown","da"#), "malformed");
        }
    }
    assert_eq!(decode(session, EVENT_VERSION, r#"{"type":"turn.started","data":{}}"#), "malformed");
    assert_eq!(decode(session, EVENT_VERSION, r#"{"type":"turn.started"}"#), "malformed");
    assert_eq!(decode(session, 0, observed), "malformed");
    // An event of another stream can not be told from a kind that is not known.
    assert_eq!(decode(StreamId::Work, EVENT_VERSION, observed), "newer");
}
