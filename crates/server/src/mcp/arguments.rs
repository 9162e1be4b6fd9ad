//! A call's arguments, read with words that say what is wanted instead.
//!
//! Invariant: what is not understood is refused, never skipped: a misspelt `mode` must not replace what was to be added to.
//! Every refusal names the argument.

use std::ops::RangeInclusive;

use model::{SetMode, Turn};
use rmcp::model::JsonObject;
use serde_json::Value;

use super::budget::Budget;

/// How much of what was given is shown in a refusal.
const SHOWN_CHARS: usize = 40;
/// Longer than any question that somebody means.
pub(super) const MAX_QUERY_CHARS: usize = 1_000;

/// Why arguments are not what a tool takes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ArgumentError {
    #[error("there is no argument {name:?}; this tool takes {known}")]
    Unknown { name: String, known: String },
    #[error("{0} is missing; call again with it")]
    Missing(&'static str),
    #[error("{name} is a text such as {example:?}, and this is {found}")]
    NotText { name: &'static str, example: &'static str, found: &'static str },
    #[error("{name} is empty; call again with words to look for")]
    Empty { name: &'static str },
    #[error("{name} has {chars} characters, at most {MAX_QUERY_CHARS} are looked for; use fewer words")]
    TooLong { name: &'static str, chars: usize },
    #[error("{name} is a list of texts such as [\"/a/b.rs\"], and this is {found}")]
    NotTexts { name: &'static str, found: &'static str },
    #[error("{name} is a list of texts such as [\"/a/b.rs\"], and its item {place} is {found}")]
    ItemNotText { name: &'static str, place: usize, found: &'static str },
    #[error("mode is \"replace\" or \"merge\"")]
    Mode,
    #[error("{name} is a whole number from {from} to {to}, and this is {found}")]
    NotInRange { name: &'static str, from: u64, to: u64, found: String },
    #[error("{name} is a turn such as \"t42\", counted from t1, and this is {found}")]
    NotATurn { name: &'static str, found: String },
    #[error("{name} is a turn such as \"t42\" or one of its calls such as \"t42.3\", and this is {found}")]
    NotATurnOrCall { name: &'static str, found: String },
    #[error("part and find exclude each other: find looks in all parts")]
    PartAndFind,
}

/// What `get_turn` is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Turn(Turn),
    /// A call by its number in the turn.
    Call(Turn, u32),
}

/// Arguments of known names.
pub(super) struct Arguments<'a>(&'a JsonObject);

impl<'a> Arguments<'a> {
    pub(super) fn new(arguments: &'a JsonObject, known: &[&str]) -> Result<Self, ArgumentError> {
        match arguments.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => {
                let name = name.chars().take(100).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                Err(ArgumentError::Unknown { name, known })
            }
            None => Ok(Self(arguments)),
        }
    }

    pub(super) fn text(&self, name: &'static str) -> Result<String, ArgumentError> {
        self.optional_text(name)?.ok_or(ArgumentError::Missing(name))
    }

    pub(super) fn optional_text(&self, name: &'static str) -> Result<Option<String>, ArgumentError> {
        match self.given(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(ArgumentError::NotText { name, example: example(name), found: kind(other) }),
        }
    }

    /// A text that is as good as none when it is empty: so some models leave an argument out.
    pub(super) fn text_that_says_something(&self, name: &'static str) -> Result<Option<String>, ArgumentError> {
        Ok(self.optional_text(name)?.filter(|text| !text.trim().is_empty()))
    }

    /// Words to look for.
    pub(super) fn words(&self, name: &'static str) -> Result<String, ArgumentError> {
        bounded(name, self.text(name)?)
    }

    pub(super) fn optional_words(&self, name: &'static str) -> Result<Option<String>, ArgumentError> {
        self.text_that_says_something(name)?.map(|text| bounded(name, text)).transpose()
    }

    pub(super) fn texts(&self, name: &'static str) -> Result<Vec<String>, ArgumentError> {
        let items = match self.given(name) {
            None => return Err(ArgumentError::Missing(name)),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(ArgumentError::NotTexts { name, found: kind(other) }),
        };
        let texts = items.iter().enumerate().map(|(at, item)| match item {
            Value::String(text) => Ok(text.clone()),
            other => Err(ArgumentError::ItemNotText { name, place: at + 1, found: kind(other) }),
        });
        texts.collect()
    }

    pub(super) fn mode(&self) -> Result<SetMode, ArgumentError> {
        match self.given("mode") {
            None => Ok(SetMode::default()),
            Some(Value::String(word)) if word == "replace" => Ok(SetMode::Replace),
            Some(Value::String(word)) if word == "merge" => Ok(SetMode::Merge),
            Some(_) => Err(ArgumentError::Mode),
        }
    }

    pub(super) fn number(
        &self,
        name: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<usize>, ArgumentError> {
        let Some(value) = self.given(name) else { return Ok(None) };
        let number = value.as_u64().filter(|number| range.contains(number)).and_then(|number| number.try_into().ok());
        let (from, to) = (*range.start(), *range.end());
        number.map(Some).ok_or_else(|| ArgumentError::NotInRange { name, from, to, found: shown(value) })
    }

    pub(super) fn budget(&self) -> Result<Budget, ArgumentError> {
        Ok(Budget::of(self.number("max_tokens", Budget::RANGE)?))
    }

    pub(super) fn turn(&self, name: &'static str) -> Result<Turn, ArgumentError> {
        self.optional_turn(name)?.ok_or(ArgumentError::Missing(name))
    }

    pub(super) fn optional_turn(&self, name: &'static str) -> Result<Option<Turn>, ArgumentError> {
        let Some(value) = self.given(name) else { return Ok(None) };
        let turn = spelt(value).and_then(|text| parse_turn(&text));
        turn.map(Some).ok_or_else(|| ArgumentError::NotATurn { name, found: shown(value) })
    }

    pub(super) fn turn_or_call(&self, name: &'static str) -> Result<Wanted, ArgumentError> {
        let value = self.given(name).ok_or(ArgumentError::Missing(name))?;
        // 42.3 as a number is no call: as such it would be the same as 42.30.
        let wanted = spelt(value).and_then(|text| match text.split_once('.') {
            None => parse_turn(&text).map(Wanted::Turn),
            Some((turn, call)) => Some(Wanted::Call(parse_turn(turn)?, parse_number(call)?)),
        });
        wanted.ok_or_else(|| ArgumentError::NotATurnOrCall { name, found: shown(value) })
    }

    /// `null` is how some models leave an argument out.
    fn given(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }
}

fn bounded(name: &'static str, text: String) -> Result<String, ArgumentError> {
    let chars = text.chars().count();
    match text.trim().is_empty() {
        true => Err(ArgumentError::Empty { name }),
        false if chars > MAX_QUERY_CHARS => Err(ArgumentError::TooLong { name, chars }),
        false => Ok(text),
    }
}

/// An id as text, or a bare whole number.
fn spelt(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => number.as_u64().map(|number| number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn parse_turn(text: &str) -> Option<Turn> {
    parse_number(text.strip_prefix('t').unwrap_or(text)).map(Turn)
}

/// From 1, in its one spelling.
fn parse_number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number: &u32| *number > 0 && number.to_string() == text)
}

pub(super) fn example(name: &str) -> &'static str {
    match name {
        "setName" => "files",
        "query" | "find" => "parser error",
        _ => "0190a8c0-0000-7000-8000-000000000001",
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string().chars().take(SHOWN_CHARS).collect(),
        Value::String(text) => format!("{:?}", text.chars().take(SHOWN_CHARS).collect::<String>()),
        other => kind(other).to_owned(),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wanted(value: Value) -> Option<Wanted> {
        let arguments = JsonObject::from_iter([("turn".to_owned(), value)]);
        Arguments(&arguments).turn_or_call("turn").ok()
    }

    #[test]
    fn a_turn_and_a_call_are_taken_as_they_are_printed() {
        assert_eq!(wanted(json!("t42")), Some(Wanted::Turn(Turn(42))));
        assert_eq!((wanted(json!("42")), wanted(json!(42))), (wanted(json!("t42")), wanted(json!("t42"))));
        assert_eq!(wanted(json!("t42.3")), Some(Wanted::Call(Turn(42), 3)));
        for wrong in [
            json!(0),
            json!(-1),
            json!(1.5),
            json!(1_u64 << 63),
            json!("abc"),
            json!(""),
            json!("t0"),
            json!("t01"),
            json!("+1"),
            json!("t1.0"),
            json!("t1.x"),
            json!("t1.2.3"),
            json!(true),
            json!([1]),
        ] {
            assert_eq!(wanted(wrong.clone()), None, "{wrong}");
        }
    }
}
