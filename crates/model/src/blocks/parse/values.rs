//! Values of JSON as strings and lists, whatever way they were written.
//!
//! Invariant: a string has no more characters than its bound, a list no more than [`MAX_ITEMS`] items.

use serde_json::Value;

use crate::{one_line, plain_text};

/// So many items of a list are kept; the rest is cut.
pub(super) const MAX_ITEMS: usize = 200;
/// Longest name, in characters; a longer one is cut.
const MAX_NAME_CHARS: usize = 200;
/// Longest text, in characters; a longer one is cut.
const MAX_TEXT_CHARS: usize = 4_000;

/// The things that a block is about: one, or a list of them. `None` if one of them is
/// invalid, or if there are too many.
pub(super) fn all<T>(value: &Value, thing: fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    let values = list(value);
    let is_bounded = (1..=MAX_ITEMS).contains(&values.len());
    is_bounded.then(|| values.iter().map(thing).collect())?
}

/// What a list holds of such things; one that stands alone is a list of one.
pub(super) fn some<T>(value: &Value, thing: fn(&Value) -> Option<T>) -> Vec<T> {
    list(value).iter().filter_map(thing).take(MAX_ITEMS).collect()
}

fn list(value: &Value) -> &[Value] {
    match value {
        Value::Array(values) => values,
        one => std::slice::from_ref(one),
    }
}

/// A name on one line, unless it is empty.
pub(super) fn name(value: &Value) -> Option<String> {
    one_line_of(value, MAX_NAME_CHARS)
}

/// A path on one line, unless it is empty.
pub(super) fn path(value: &Value) -> Option<String> {
    one_line_of(value, MAX_TEXT_CHARS)
}

/// A text of as many lines as it has, unless it is empty.
pub(super) fn text(value: &Value) -> Option<String> {
    let text = plain_text(&string(value)?);
    let text = text.trim();
    let cut = match text.char_indices().nth(MAX_TEXT_CHARS) {
        None => text.to_owned(),
        Some(_) => text.chars().take(MAX_TEXT_CHARS - 1).chain(['…']).collect(),
    };
    (!cut.is_empty()).then_some(cut)
}

/// What a field is, on one line: mostly a word, sometimes an object of its own.
pub(super) fn description(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Array(_) | Value::Object(_) => one_line(&plain_text(&value.to_string()), MAX_NAME_CHARS),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => name(value).unwrap_or_default(),
    }
}

fn one_line_of(value: &Value, max_chars: usize) -> Option<String> {
    let line = one_line(&plain_text(&string(value)?), max_chars);
    (!line.is_empty()).then_some(line)
}

/// Agents write `1` where `"1"` is meant.
fn string(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
