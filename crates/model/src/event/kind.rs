//! Tells an event of an unknown kind, which a newer version wrote, from a malformed one.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde::de::{self, DeserializeOwned};

/// The bytes are an event, and `E` has no kind of that name.
pub(super) fn is_unknown<E: DeserializeOwned>(bytes: &[u8]) -> bool {
    let Ok(tag) = serde_json::from_slice::<Tag>(bytes) else { return false };
    // Reading from the tag alone always fails. serde looks at the tag first, so an unknown kind fails with that error.
    let only_tag = MapDeserializer::<_, TagError>::new(std::iter::once(("type", tag.kind.as_str())));
    matches!(E::deserialize(only_tag), Err(TagError::Kind))
}

#[derive(Deserialize)]
struct Tag {
    #[serde(rename = "type")]
    kind: String,
}

/// Why a type could not be read from its tag alone.
#[derive(Debug)]
enum TagError {
    Kind,
    Other,
}

impl fmt::Display for TagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kind => "its kind is not known",
            Self::Other => "its content is missing",
        })
    }
}

impl std::error::Error for TagError {}

impl de::Error for TagError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Other
    }

    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Self::Kind
    }
}
