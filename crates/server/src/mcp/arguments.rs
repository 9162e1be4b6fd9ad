//! A call's arguments, read with words that say what is wanted instead.
//!
//! Invariant: what is not understood is refused, never skipped: a misspelt `mode` must not replace what was to be added to.

use model::SetMode;
use rmcp::model::JsonObject;
use serde_json::Value;

/// Why arguments are not what a tool takes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ArgumentError {
    #[error("there is no argument {name:?}; this tool takes {known}")]
    Unknown { name: String, known: String },
    #[error("{0} is missing; call again with it")]
    Missing(&'static str),
    #[error("{name} is a text such as \"files\", and this is {found}")]
    NotText { name: &'static str, found: &'static str },
    #[error("{name} is a list of texts such as [\"/a/b.rs\"], and this is {found}")]
    NotTexts { name: &'static str, found: &'static str },
    #[error("{name} is a list of texts such as [\"/a/b.rs\"], and its item {place} is {found}")]
    ItemNotText { name: &'static str, place: usize, found: &'static str },
    #[error("mode is \"replace\" or \"merge\"")]
    Mode,
}

/// Arguments of known names.
pub(super) struct Arguments<'a>(&'a JsonObject);

impl<'a> Arguments<'a> {
    pub(super) fn new(arguments: &'a JsonObject, known: &[&str]) -> Result<Self, ArgumentError> {
        match arguments.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => {
                let name = name.chars().take(100).collect();
                Err(ArgumentError::Unknown { name, known: known.join(", ") })
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
            Some(other) => Err(ArgumentError::NotText { name, found: kind(other) }),
        }
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

    /// `null` is how some models leave an argument out.
    fn given(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
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
