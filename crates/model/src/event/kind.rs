//! Whether an event that was not understood is of a kind that is not known here, or only malformed.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde::de::{self, DeserializeOwned};

/// The bytes are an event, and `E` has no kind of that name.
pub(super) fn is_unknown<E: DeserializeOwned>(bytes: &[u8]) -> bool {
    let Ok(tag) = serde_json::from_slice::<Tag>(bytes) else { return false };
    // Without its content no event is complete; the question is only whether its name is what is missed first.
    let only_tag = MapDeserializer::<_, Missed>::new(std::iter::once(("type", tag.kind.as_str())));
    matches!(E::deserialize(only_tag), Err(Missed::Kind))
}

#[derive(Deserialize)]
struct Tag {
    #[serde(rename = "type")]
    kind: String,
}

/// What a type missed in what it was to be read from.
#[derive(Debug)]
enum Missed {
    Kind,
    Other,
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kind => "its kind is not known",
            Self::Other => "its content is missing",
        })
    }
}

impl std::error::Error for Missed {}

impl de::Error for Missed {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Other
    }

    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Self::Kind
    }
}
