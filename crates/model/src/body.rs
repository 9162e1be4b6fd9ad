//! Bodies: texts and pictures that are too long for an entry. They are kept beside the log, and the entry holds a head and a
//! reference.
//!
//! Invariant: pure. [`SessionEvent::cut`] and [`SessionEvent::restore`] are each other's reverse: an event that is cut and then
//! given its bodies again is what it was. Folds see events that are cut, live and in replay alike, and never need a body. An entry
//! from before there were bodies has no reference, and means what it always did.

mod cut;
mod restore;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{Image, ParseIdError, Seq, SessionEvent, SessionId};

pub use restore::{BodyLoss, FoundBody};

/// Texts and pictures that are longer leave the log.
pub const BODY_BYTES: usize = 32 << 10;
/// No body is longer, whatever an entry says: so much of one entry is never sent by an agent.
pub const MAX_BODY_BYTES: u64 = 64 << 20;
/// So much of the beginning of a text stays in the entry.
const HEAD_BYTES: usize = 4 << 10;

/// Which body of a session: the SHA-256 of its bytes, written as hex.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(value_type = String, pattern = "^[0-9a-f]{64}$"))]
pub struct BodyHash([u8; 32]);

/// What an entry says of a body that it has only the head of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct BodyRef {
    /// What of the call it is.
    #[serde(default, skip_serializing_if = "BodyOf::is_shown")]
    pub of: BodyOf,
    /// Which of the things that the call shows, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub item: u32,
    /// Where its head begins in the text, counted in UTF-16 code units: parts may stand before it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub start: u32,
    /// How long the head is, counted like `start`; what follows it in the text comes after the body.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub head: u32,
    /// How many bytes the body has, head included.
    pub bytes: u64,
    /// Which body it is; absent if it could not be kept, and the head is all there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<BodyHash>,
}

/// What of a call a body is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum BodyOf {
    /// A text that it shows, what a command printed, a picture's bytes, or the JSON of what was not understood.
    #[default]
    Shown,
    /// The file before.
    OldText,
    /// The file after.
    NewText,
    /// The JSON of what the tool was given.
    Input,
    /// The JSON of what the tool gave.
    Output,
}

/// A body that was cut out of an event and has to be stored before the event is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBody {
    /// Which.
    pub hash: BodyHash,
    /// All of it.
    pub bytes: Arc<[u8]>,
}

/// A body as a session's table has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyRow {
    /// Whose it is.
    pub session: SessionId,
    /// Which.
    pub hash: BodyHash,
    /// The newest entry that names it.
    pub named_seq: Seq,
    /// How many bytes it has.
    pub bytes: u64,
}

impl BodyHash {
    /// The hash of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The 32 bytes, as the tables keep it.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads back what [`Self::as_bytes`] gave.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl NewBody {
    /// A body of these bytes.
    pub fn of(bytes: Vec<u8>) -> Self {
        Self { hash: BodyHash::of(&bytes), bytes: bytes.into() }
    }
}

impl BodyOf {
    fn is_shown(&self) -> bool {
        *self == Self::Shown
    }
}

impl SessionEvent {
    /// The bodies that it refers to.
    pub fn bodies(&self) -> Vec<&BodyRef> {
        match self {
            Self::PromptQueued { images, .. } | Self::PromptSent { images, .. } => {
                images.iter().filter_map(|image| image.body.as_ref()).collect()
            }
            Self::ToolStarted { change, .. } | Self::ToolChanged { change, .. } | Self::ToolEnded { change, .. } => {
                change.bodies.iter().collect()
            }
            Self::ToolPart { body, .. } => body.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Which bodies have to be there for it to be whole.
    pub fn body_hashes(&self) -> impl Iterator<Item = BodyHash> {
        self.bodies().into_iter().filter_map(|body| body.sha256)
    }
}

impl Image {
    /// How long its Base64 is, wherever it is kept.
    pub(crate) fn base64_bytes(&self) -> usize {
        let kept = self.body.as_ref().map_or(0, |body| body.bytes.div_ceil(3).saturating_mul(4));
        self.data.len().saturating_add(usize::try_from(kept).unwrap_or(usize::MAX))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// How long a text is for a reader that counts UTF-16 code units, as browsers do.
pub(crate) fn utf16_len(text: &str) -> u32 {
    u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX)
}

impl fmt::Display for BodyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BodyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for BodyHash {
    type Err = ParseIdError;

    /// Only the one spelling we print is read: a body's file is named after it.
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let bad = ParseIdError { kind: "body" };
        let is_hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if text.len() != 64 || !is_hex {
            return Err(bad);
        }
        let mut bytes = [0; 32];
        for (to, from) in bytes.iter_mut().zip(0..) {
            *to = u8::from_str_radix(&text[2 * from..2 * from + 2], 16).map_err(|_| bad.clone())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for BodyHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BodyHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
