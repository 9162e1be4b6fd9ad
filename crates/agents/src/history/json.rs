//! Parses values of a record whose shape differs between versions of a tool.

use std::borrow::Cow;

use model::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A text that is not copied unless it has escapes.
#[derive(Debug, Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// The value as this type; `None` if it is something else.
pub(super) fn as_a<'a, T: Deserialize<'a>>(value: &'a RawValue) -> Option<T> {
    serde_json::from_str(value.get()).ok()
}

pub(super) fn is_list(value: &RawValue) -> bool {
    value.get().starts_with('[')
}

pub(super) fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

/// The items of a list, each parsed by itself, so that one that is not understood does not lose the others.
pub(super) fn items(value: &RawValue) -> Vec<&RawValue> {
    if is_list(value) { as_a(value).unwrap_or_default() } else { Vec::new() }
}

/// A time in RFC 3339.
pub(super) fn instant(text: &str) -> Option<Timestamp> {
    // Uses the model's own parser, which reads it from JSON.
    Timestamp::deserialize(serde::de::value::StrDeserializer::<serde::de::value::Error>::new(text)).ok()
}

/// Keeps the first non-empty value.
pub(super) fn keep_first(kept: &mut Option<String>, value: Option<&str>) {
    if kept.is_none() {
        *kept = value.filter(|value| !value.is_empty()).map(str::to_owned);
    }
}
