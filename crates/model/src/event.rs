//! What can happen. Wire names are the serde tags; they and their contents are kept readable for ever.
//!
//! Invariant: a stored event of any released version decodes. A change of shape raises [`EVENT_VERSION`] and adds its
//! step to `event/upcast.rs`; `fixtures/events/` holds a line of every kind of every version.

mod upcast;

use serde::{Deserialize, Serialize};

use crate::{InteractionId, Seq, SessionId, Timestamp, TokenId, TokenKind, Turn};

/// The version that is written now; it counts changes of shape over all kinds.
pub const EVENT_VERSION: u16 = 1;

/// One event in its stream, at its place. Whoever holds one with a seq that a store gave may rely on it being durable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Entry {
    /// Its place in the stream.
    pub seq: Seq,
    /// When it was written down.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened, in the past tense.
// Fields are renamed once for all, and again where a name has several words: the API's description knows only the
// latter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "type", content = "data", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the variants and their fields are the glossary's own words")]
pub enum Event {
    #[serde(rename = "session.created")]
    SessionCreated { agent: String, cwd: String, project: String, name: String },
    /// Only what is present changes.
    #[serde(rename = "session.changed", rename_all = "camelCase")]
    SessionChanged {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        env_hint: Option<String>,
    },
    #[serde(rename = "session.observed")]
    SessionObserved {},
    #[serde(rename = "session.deleted")]
    SessionDeleted {},
    #[serde(rename = "session.restored")]
    SessionRestored {},
    #[serde(rename = "agent.state_changed")]
    AgentStateChanged {
        state: AgentState,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    #[serde(rename = "turn.started", rename_all = "camelCase")]
    TurnStarted { turn: Turn, interaction_id: InteractionId },
    #[serde(rename = "turn.ended")]
    TurnEnded {
        turn: Turn,
        #[serde(flatten)]
        stop: Stop,
    },
    #[serde(rename = "prompt.queued", rename_all = "camelCase")]
    PromptQueued { interaction_id: InteractionId, text: String },
    #[serde(rename = "prompt.changed", rename_all = "camelCase")]
    PromptChanged { interaction_id: InteractionId, text: String },
    #[serde(rename = "prompt.removed", rename_all = "camelCase")]
    PromptRemoved { interaction_id: InteractionId },
    /// The words as they went to the agent, also when they had waited in the queue.
    #[serde(rename = "prompt.sent", rename_all = "camelCase")]
    PromptSent { interaction_id: InteractionId, text: String },
    /// A piece of the agent's answer; the pieces of one block follow each other and are joined by readers.
    #[serde(rename = "text.part")]
    TextPart { turn: Turn, block: u32, text: String },
    #[serde(rename = "token.issued", rename_all = "camelCase")]
    TokenIssued {
        token_id: TokenId,
        kind: TokenKind,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// SHA-256 of the secret, in hex; the secret itself is never stored.
        secret_hash: String,
        /// Likewise of the second half that a browser keeps.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proof_hash: Option<String>,
    },
    #[serde(rename = "token.revoked", rename_all = "camelCase")]
    TokenRevoked { token_id: TokenId },
}

/// Where the agent's process is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// It is being started; prompts wait.
    Starting,
    /// It takes prompts.
    Ready,
    /// It has ended, or never ran in this life of the server.
    Stopped,
    /// It could not be started, or broke off.
    Failed,
}

/// How a turn came to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Stop {
    /// In one word.
    pub outcome: Outcome,
    /// Why, where there is more to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A turn's end in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The agent said that it was done.
    Completed,
    /// A person stopped it.
    Cancelled,
    /// The agent broke off.
    Failed,
    /// The server stopped under it.
    Interrupted,
}

/// Stored bytes that are no event we know.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Written by a newer version of the program, or damaged.
    #[error("entry has event version {0}, known are 1 to {EVENT_VERSION}")]
    UnknownVersion(u16),
    /// Not an event at all: damaged, or not ours.
    #[error("entry is not a known event")]
    Malformed(#[source] serde_json::Error),
}

impl Event {
    /// The bytes a store keeps: the tag and its content as JSON.
    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("events hold only strings, numbers and options")
    }

    /// Reads what [`Self::encode`] of this or any earlier version wrote.
    pub fn decode(version: u16, bytes: &[u8]) -> Result<Self, DecodeError> {
        if version == 0 || version > EVENT_VERSION {
            return Err(DecodeError::UnknownVersion(version));
        }
        if version == EVENT_VERSION {
            return serde_json::from_slice(bytes).map_err(DecodeError::Malformed);
        }
        let old = serde_json::from_slice(bytes).map_err(DecodeError::Malformed)?;
        serde_json::from_value(upcast::to_current(version, old)).map_err(DecodeError::Malformed)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const RELEASED: &[(u16, &str)] = &[(1, include_str!("../../../fixtures/events/v1.jsonl"))];

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
                Event::TokenIssued { .. } => "token.issued",
                Event::TokenRevoked { .. } => "token.revoked",
            })
            .collect();
        assert_eq!(seen.len(), 15);
    }

    #[test]
    fn a_version_that_is_not_known_is_refused_by_name() {
        for version in [0, EVENT_VERSION + 1] {
            let err = Event::decode(version, br#"{"type":"session.observed","data":{}}"#).unwrap_err();
            assert!(matches!(err, DecodeError::UnknownVersion(named) if named == version), "{err}");
        }
    }
}
