//! Names and positions of things, each its own type so that none can stand for another.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A text that is not the id it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a valid {kind} id")]
pub struct ParseIdError {
    /// What the text should have named.
    pub kind: &'static str,
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(value_type = String, format = "uuid"))]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps an id that an id source made.
            pub fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The id's 16 bytes, as the tables keep it.
            pub fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// Reads back what [`Self::as_bytes`] gave.
            pub fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            /// Only the one spelling we print is read, so that an id has one name everywhere.
            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                let uuid = Uuid::try_parse(text).map_err(|_| ParseIdError { kind: $kind })?;
                let id = Self(uuid);
                if id.to_string() == text { Ok(id) } else { Err(ParseIdError { kind: $kind }) }
            }
        }
    };
}

uuid_id!(
    /// A session: a conversation with one agent in one directory.
    SessionId,
    "session"
);
uuid_id!(
    /// A prompt and the turn it became; known from the moment the prompt is accepted.
    InteractionId,
    "interaction"
);
uuid_id!(
    /// A credential. It names it in lists and logs and opens nothing.
    TokenId,
    "token"
);
uuid_id!(
    /// An answer that is remembered.
    RememberedId,
    "remembered permission"
);

uuid_id!(
    /// A piece of work: sessions of one project under one name.
    WorkId,
    "meta-context"
);

/// Something that was shown and is kept; written `out_` and 128 random bits as hex, so that nobody can guess it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(value_type = String, pattern = "^out_[0-9a-f]{32}$"))]
pub struct OutputId([u8; 16]);

impl OutputId {
    const PREFIX: &'static str = "out_";
    /// How long it is as text.
    pub(crate) const TEXT_BYTES: usize = Self::PREFIX.len() + 32;

    /// The id's 16 bytes, as the tables keep it.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Wraps random bytes, or reads back what [`Self::as_bytes`] gave.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for OutputId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:032x}", Self::PREFIX, u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for OutputId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for OutputId {
    type Err = ParseIdError;

    /// Only the one spelling we print is read, so that an id has one name everywhere.
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let bad = ParseIdError { kind: "output" };
        let digits = text.strip_prefix(Self::PREFIX).filter(|digits| digits.len() == 32);
        let bits = digits.and_then(|digits| u128::from_str_radix(digits, 16).ok()).ok_or(bad.clone())?;
        let id = Self(bits.to_be_bytes());
        if id.to_string() == text { Ok(id) } else { Err(bad) }
    }
}

impl Serialize for OutputId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for OutputId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// An entry's place in its stream: 1, 2, 3 … without gaps. Zero stands before the first entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// The place before the first entry.
    pub const START: Self = Self(0);

    /// The next place.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The place before; there is none before the start.
    pub fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// How many entries come after it up to `last`, or `most` if there are more: whoever reads them reads no others.
    pub fn count_to(self, last: Self, most: usize) -> usize {
        usize::try_from(last.0.saturating_sub(self.0)).unwrap_or(most).min(most)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An entry's place among all streams, rising but not always without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(pub u64);

/// A turn's number in its session, from 1, true for ever. Written `t42` where it stands alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Turn(pub u32);

impl Turn {
    /// The number after this one.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

/// Which sequence of entries is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamId {
    /// What happened in one session.
    Session(SessionId),
    /// What belongs to the whole server: its tokens and what is remembered.
    Server,
    /// Pieces of work, of all projects.
    Work,
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(id) => write!(f, "session/{id}"),
            Self::Server => f.write_str("server"),
            Self::Work => f.write_str("work"),
        }
    }
}

impl FromStr for StreamId {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        match text.strip_prefix("session/") {
            Some(id) => id.parse().map(Self::Session),
            None if text == "server" => Ok(Self::Server),
            None if text == "work" => Ok(Self::Work),
            None => Err(ParseIdError { kind: "stream" }),
        }
    }
}

/// Names a store: made with it, and made anew when a backup is restored, so that old cursors are recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Incarnation(u64);

impl Incarnation {
    /// Wraps 64 random bits.
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The bits, as a store keeps them.
    pub fn bits(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Where a follower has got to: `incarnation.seq`. A restored store has another incarnation, so that an old cursor is
/// recognised instead of naming other entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The incarnation of the store in which the seq was given.
    pub incarnation: Incarnation,
    /// The last entry that was seen.
    pub seq: Seq,
}

/// A text that is no cursor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor: expected the text that an earlier answer gave, like 1f0c5d6b7a8e9f01.42")]
pub struct CursorError;

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.incarnation, self.seq)
    }
}

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let (incarnation, seq) = text.split_once('.').ok_or(CursorError)?;
        let cursor = Self {
            incarnation: Incarnation(u64::from_str_radix(incarnation, 16).map_err(|_| CursorError)?),
            seq: Seq(seq.parse().map_err(|_| CursorError)?),
        };
        // One spelling only: no sign, no leading zero, no capitals.
        if cursor.to_string() == text { Ok(cursor) } else { Err(CursorError) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_counted_ends_with_the_last(after in 0_u64..1_000, last in 0_u64..1_000, most in 0_usize..100) {
            let places = (after + 1..=last).take(most).count();
            prop_assert_eq!(Seq(after).count_to(Seq(last), most), places);
        }

        #[test]
        fn a_cursor_reads_back_as_itself(incarnation: u64, seq: u64) {
            let cursor = Cursor { incarnation: Incarnation(incarnation), seq: Seq(seq) };
            prop_assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }

        #[test]
        fn any_text_is_a_cursor_in_its_one_spelling_or_an_error(text in ".{0,40}") {
            if let Ok(cursor) = text.parse::<Cursor>() {
                prop_assert_eq!(cursor.to_string(), text);
            }
        }
    }

    #[test]
    fn an_id_has_one_spelling() {
        let id = "0190a8c0-0000-7000-8000-0000000000ab";
        assert_eq!(id.parse::<SessionId>().unwrap().to_string(), id);
        for other in ["0190A8C0-0000-7000-8000-0000000000AB", "0190a8c000007000800000000000 00ab", "../x", ""] {
            assert!(other.parse::<SessionId>().is_err(), "{other}");
        }
    }
}
