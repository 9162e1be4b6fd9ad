//! The blocks that an agent can write into its answer and that the page renders: next steps, use cases, event models, tasks.
//!
//! Invariant: what a fenced block means is found out here, once, when the words are written down; every client and
//! the API see the same. A block that says nothing sensible stays the words it is.

mod parse;
mod part;
mod scan;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{ParseIdError, SessionEvent, Turn};

pub use part::{BlockParter, SaidPart};
pub use scan::BlockScanner;
pub(crate) use scan::without_blocks;

/// Longest body of a block, in bytes; a longer one stays code.
pub const MAX_BLOCK_BYTES: usize = 64 << 10;
/// How many blocks of a turn are understood; the rest stays code.
pub const MAX_BLOCKS: u32 = 100;
/// Longest label of a next block, in characters; a longer one is cut.
pub const MAX_LABEL_CHARS: usize = 120;
/// Longest command of a next block, in bytes; with a longer one it stays code.
pub const MAX_COMMAND_BYTES: usize = 32 << 10;

/// Where a block stands in its turn's words: which text, and which characters of it, from the first to the one after the
/// last. Fences are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Span {
    /// The text's number in the turn.
    pub block: u32,
    /// Its first character.
    pub start: u32,
    /// The character after its last.
    pub end: u32,
}

/// A next block's place in its session, written `t42.n1`: the first that turn 42 offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NextId {
    /// The turn that offers it.
    pub turn: Turn,
    /// Its number there, from 1.
    pub nth: u32,
}

/// A step that an agent offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Next {
    /// What the button says.
    pub label: String,
    /// What is sent to the new session's agent.
    pub command: String,
    /// The piece of work that it belongs to, by its name; absent if the agent did not say, and then it leads nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta_context: Option<String>,
}

/// A block that is shown and leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "named after what they hold")]
pub enum Card {
    #[serde(rename_all = "camelCase")]
    UseCase {
        use_cases: Vec<UseCase>,
    },
    EventModel {
        slices: Vec<Slice>,
    },
    Tasks {
        tasks: Vec<Task>,
    },
}

/// Something that somebody wants to do, and what comes of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the block's own words")]
pub struct UseCase {
    pub id: String,
    pub name: String,
    pub actor: String,
    pub summary: String,
    pub given: Vec<String>,
    pub when: Vec<String>,
    pub then: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<CasePriority>,
    pub dependencies: Vec<String>,
    pub edge_cases: Vec<String>,
}

/// How much a use case matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the block's own words")]
pub enum CasePriority {
    High,
    Medium,
    Low,
}

/// One column of an event model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the block's own words")]
pub struct Slice {
    pub slice: String,
    pub label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screen: Option<Node>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Node>,
    pub events: Vec<Node>,
    pub projections: Vec<Node>,
    pub side_effects: Vec<Node>,
}

/// Something in an event model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default)]
#[expect(missing_docs, reason = "the block's own words")]
pub struct Node {
    pub name: String,
    pub new: bool,
    /// In the order in which they were written.
    pub fields: Vec<Field>,
    /// Names of what it leads to, in this slice or another.
    pub feeds: Vec<String>,
}

/// A field of something in an event model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[expect(missing_docs, reason = "the block's own words")]
pub struct Field {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
}

/// Something to be built.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default)]
#[expect(missing_docs, reason = "the block's own words")]
pub struct Task {
    pub id: String,
    pub name: String,
    pub ucs: Vec<String>,
    pub depends: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wave: Option<u32>,
    /// `code`, `convention` or `no-op`; other words are kept.
    pub kind: String,
    pub create: Vec<String>,
    pub modify: Vec<String>,
    pub description: String,
}

impl BlockScanner {
    /// The event, with what it completes: the blocks that its words close follow it, those that its turn's end closes
    /// come first.
    pub fn around(&mut self, event: SessionEvent) -> Vec<SessionEvent> {
        match &event {
            SessionEvent::TextPart { turn, block, text } => {
                let shown = self.read(*turn, *block, text);
                [event].into_iter().chain(shown).collect()
            }
            SessionEvent::TurnEnded { .. } => self.end().into_iter().chain([event]).collect(),
            _ => vec![event],
        }
    }
}

impl fmt::Display for NextId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.n{}", self.turn, self.nth)
    }
}

impl FromStr for NextId {
    type Err = ParseIdError;

    /// One spelling only: no sign, no leading zero.
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let parsed = text
            .strip_prefix('t')
            .and_then(|rest| rest.split_once(".n"))
            .and_then(|(turn, nth)| Some(Self { turn: Turn(turn.parse().ok()?), nth: nth.parse().ok()? }));
        parsed
            .filter(|id| id.turn > Turn(0) && id.nth > 0 && id.to_string() == text)
            .ok_or(ParseIdError { kind: "next block" })
    }
}

impl Serialize for NextId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for NextId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_next_block_has_one_spelling() {
        let id = NextId { turn: Turn(42), nth: 1 };
        assert_eq!(id.to_string(), "t42.n1");
        assert_eq!("t42.n1".parse(), Ok(id));
        for other in ["t42", "t42.1", "t042.n1", "t42.n01", "t0.n1", "t1.n0", "t+1.n1", "T1.n1", "t1.n99999999999"] {
            assert!(other.parse::<NextId>().is_err(), "{other}");
        }
    }
}
