//! What a tool takes: one declaration gives the schema that is listed, the check of a call and the values that it is read into.
//!
//! Invariant: what is not understood is refused, never skipped: a misspelt `mode` must not replace what was to be added to.
//! Nothing is read that the schema's bounds do not allow, and every refusal names the argument.

mod types;

use rmcp::model::JsonObject;
use serde_json::{Value, json};

pub(super) use types::{
    AppletLine, AppletPart, AppletText, CommandLine, FilePath, Handle, Language, Limit, MaxTokens, Number, SetName,
    StateVersion, Wanted, WebAddress, Words,
};

/// How much of what was given is shown in a refusal.
const SHOWN_CHARS: usize = 40;

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
    #[error("{name} has {chars} characters, at most {max} are taken; make it shorter")]
    TooLong { name: &'static str, chars: usize, max: usize },
    #[error("{name} is a list of texts such as [{example:?}], and this is {found}")]
    NotTexts { name: &'static str, example: &'static str, found: &'static str },
    #[error("{name} has {items} items, at most {max} are taken; leave some out")]
    TooMany { name: &'static str, items: usize, max: usize },
    #[error("{name} is a list of texts such as [{example:?}], and its item {place} is {found}")]
    ItemNotText { name: &'static str, example: &'static str, place: usize, found: &'static str },
    #[error("item {place} of {name} has {chars} characters, at most {max} are taken; make it shorter")]
    ItemTooLong { name: &'static str, place: usize, chars: usize, max: usize },
    #[error("{name} is an object such as {example}, and this is {found}")]
    NotObject { name: &'static str, example: &'static str, found: &'static str },
    #[error("{name} is an object of texts such as {example}, and its {key:?} is {found}")]
    ValueNotText { name: &'static str, example: &'static str, key: String, found: &'static str },
    #[error("{key:?} of {name} has {chars} characters, at most {max} are taken; make it shorter")]
    ValueTooLong { name: &'static str, key: String, chars: usize, max: usize },
    #[error("{name} is {known}")]
    NotOneOf { name: &'static str, known: String },
    #[error("{name} is a whole number from {from} to {to}, and this is {found}")]
    NotInRange { name: &'static str, from: u64, to: u64, found: String },
    #[error("{name} is {what}, and this is {found}")]
    NotAnId { name: &'static str, what: &'static str, found: String },
    #[error("part and find exclude each other: find looks in all parts")]
    PartAndFind,
}

/// What values an argument may have, as far as a JSON schema says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Schema {
    Text {
        max_chars: usize,
    },
    /// A text that is looked for, so it is not blank.
    Words {
        max_chars: usize,
    },
    /// A text that names something. A bare whole number is taken for its digits.
    Id {
        max_chars: usize,
        what: &'static str,
    },
    Texts {
        max_items: usize,
        max_chars: usize,
    },
    Object {
        max_items: usize,
    },
    /// An object whose values are texts; `max_chars` bounds each of them.
    TextsByKey {
        max_items: usize,
        max_chars: usize,
    },
    /// The first is the default.
    OneOf(&'static [&'static str]),
    Number {
        from: u64,
        to: u64,
        default: Option<u64>,
    },
}

/// A type that an argument is read into.
pub(super) trait ArgumentType: Sized {
    const SCHEMA: Schema;
    const IS_REQUIRED: bool = true;

    /// The value, which keeps to the bounds of the schema; none if it still is no such thing.
    fn parse(value: &Value) -> Option<Self>;

    /// What it is for a call that leaves it out, if one may.
    fn left_out() -> Option<Self> {
        None
    }
}

impl<T: ArgumentType> ArgumentType for Option<T> {
    const SCHEMA: Schema = T::SCHEMA;
    const IS_REQUIRED: bool = false;

    fn parse(value: &Value) -> Option<Self> {
        T::parse(value).map(Some)
    }

    fn left_out() -> Option<Self> {
        Some(None)
    }
}

/// One argument of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Argument {
    pub(super) name: &'static str,
    description: &'static str,
    /// A value that it may have, as text.
    example: &'static str,
    schema: Schema,
    pub(super) is_required: bool,
}

/// A struct of arguments; made by [`arguments!`](arguments).
pub(super) trait Arguments: Sized + Send + 'static {
    const ALL: &'static [Argument];

    fn read(given: &JsonObject) -> Result<Self, ArgumentError>;
}

/// Declares a struct of arguments: `field("name"): Type = "description", "example"`. Those of type `Option` may be left out.
macro_rules! arguments {
    ($(#[$about:meta])* struct $type:ident {
        $($field:ident($name:literal): $kind:ty = $description:expr, $example:literal;)*
    }) => {
        $(#[$about])*
        pub(super) struct $type {
            $($field: $kind,)*
        }

        impl $crate::mcp::arguments::Arguments for $type {
            const ALL: &'static [$crate::mcp::arguments::Argument] =
                &[$($crate::mcp::arguments::Argument::of::<$kind>($name, $description, $example)),*];

            fn read(
                given: &rmcp::model::JsonObject,
            ) -> Result<Self, $crate::mcp::arguments::ArgumentError> {
                $crate::mcp::arguments::refuse_unknown(given, Self::ALL)?;
                Ok(Self {
                    $($field: $crate::mcp::arguments::Argument::of::<$kind>($name, $description, $example).read(given)?,)*
                })
            }
        }
    };
}
pub(super) use arguments;

impl Argument {
    pub(super) const fn of<T: ArgumentType>(
        name: &'static str,
        description: &'static str,
        example: &'static str,
    ) -> Self {
        Self { name, description, example, schema: T::SCHEMA, is_required: T::IS_REQUIRED }
    }

    /// As it stands among the properties of the tool's schema.
    pub(super) fn property(&self) -> Value {
        let mut property = match self.schema {
            Schema::Text { max_chars } | Schema::Id { max_chars, .. } => {
                json!({ "type": "string", "maxLength": max_chars })
            }
            Schema::Words { max_chars } => json!({ "type": "string", "minLength": 1, "maxLength": max_chars }),
            Schema::Texts { max_items, max_chars } => {
                json!({ "type": "array", "items": { "type": "string", "maxLength": max_chars }, "maxItems": max_items })
            }
            Schema::Object { max_items } => json!({ "type": "object", "maxProperties": max_items }),
            Schema::TextsByKey { max_items, max_chars } => json!({
                "type": "object",
                "additionalProperties": { "type": "string", "maxLength": max_chars },
                "maxProperties": max_items,
            }),
            Schema::OneOf(words) => json!({ "type": "string", "enum": words, "default": words.first() }),
            Schema::Number { from, to, default: None } => json!({ "type": "integer", "minimum": from, "maximum": to }),
            Schema::Number { from, to, default: Some(default) } => {
                json!({ "type": "integer", "minimum": from, "maximum": to, "default": default })
            }
        };
        property["description"] = json!(self.description);
        property
    }

    /// The example as a call has it.
    pub(super) fn example(&self) -> Value {
        match self.schema {
            Schema::Text { .. } | Schema::Words { .. } | Schema::Id { .. } | Schema::OneOf(_) => json!(self.example),
            Schema::Texts { .. } => json!([self.example]),
            Schema::Object { .. } | Schema::TextsByKey { .. } => {
                serde_json::from_str(self.example).expect("a test reads each example")
            }
            Schema::Number { .. } => json!(self.example.parse::<u64>().ok()),
        }
    }

    /// The value in a call.
    pub(super) fn read<T: ArgumentType>(&self, given: &JsonObject) -> Result<T, ArgumentError> {
        match self.given(given) {
            None => T::left_out().ok_or(ArgumentError::Missing(self.name)),
            Some(value) => {
                self.check(value)?;
                T::parse(value).ok_or_else(|| self.wrong(value))
            }
        }
    }

    /// Whether a call has it, unless it may be left out, within the bounds of its schema.
    pub(super) fn fits(&self, given: &JsonObject) -> bool {
        self.given(given).map_or(!self.is_required, |value| self.check(value).is_ok())
    }

    /// `null` is how some models leave an argument out; others give an empty text.
    fn given<'a>(&self, given: &'a JsonObject) -> Option<&'a Value> {
        let value = given.get(self.name).filter(|value| !value.is_null())?;
        let is_blank = value.as_str().is_some_and(|text| text.trim().is_empty());
        let says_nothing = match self.schema {
            Schema::Words { .. } | Schema::Id { .. } => is_blank && !self.is_required,
            Schema::Text { .. }
            | Schema::Texts { .. }
            | Schema::Object { .. }
            | Schema::TextsByKey { .. }
            | Schema::OneOf(_)
            | Schema::Number { .. } => false,
        };
        (!says_nothing).then_some(value)
    }

    /// Whether a value is of the kind that the schema says and within its bounds.
    fn check(&self, value: &Value) -> Result<(), ArgumentError> {
        let Self { name, example, .. } = *self;
        match self.schema {
            Schema::Text { max_chars: max } | Schema::Words { max_chars: max } => {
                let text = value.as_str().ok_or_else(|| self.wrong(value))?;
                let must_say_something = matches!(self.schema, Schema::Words { .. });
                match text.chars().count() {
                    _ if must_say_something && text.trim().is_empty() => Err(ArgumentError::Empty { name }),
                    chars if chars > max => Err(ArgumentError::TooLong { name, chars, max }),
                    _ => Ok(()),
                }
            }
            Schema::Id { max_chars, .. } => {
                let fits = spelt(value).is_some_and(|text| text.chars().count() <= max_chars);
                fits.then_some(()).ok_or_else(|| self.wrong(value))
            }
            Schema::Texts { max_items, max_chars: max } => {
                let items = value.as_array().ok_or_else(|| self.wrong(value))?;
                if items.len() > max_items {
                    return Err(ArgumentError::TooMany { name, items: items.len(), max: max_items });
                }
                for (place, item) in (1..).zip(items) {
                    let not_text = || ArgumentError::ItemNotText { name, example, place, found: kind(item) };
                    let chars = item.as_str().ok_or_else(not_text)?.chars().count();
                    if chars > max {
                        return Err(ArgumentError::ItemTooLong { name, place, chars, max });
                    }
                }
                Ok(())
            }
            Schema::Object { max_items } => self.object(value, max_items).map(drop),
            Schema::TextsByKey { max_items, max_chars: max } => {
                for (key, value) in self.object(value, max_items)? {
                    let key = || key.chars().take(SHOWN_CHARS).collect();
                    let not_text = || ArgumentError::ValueNotText { name, example, key: key(), found: kind(value) };
                    let chars = value.as_str().ok_or_else(not_text)?.chars().count();
                    if chars > max {
                        return Err(ArgumentError::ValueTooLong { name, key: key(), chars, max });
                    }
                }
                Ok(())
            }
            Schema::OneOf(words) => {
                let is_one = value.as_str().is_some_and(|word| words.contains(&word));
                is_one.then_some(()).ok_or_else(|| self.wrong(value))
            }
            Schema::Number { from, to, .. } => {
                let is_within = value.as_u64().is_some_and(|number| (from..=to).contains(&number));
                is_within.then_some(()).ok_or_else(|| self.wrong(value))
            }
        }
    }

    /// The keys and values of an object that has not too many.
    fn object<'a>(&self, value: &'a Value, max: usize) -> Result<&'a JsonObject, ArgumentError> {
        let object = value.as_object().ok_or_else(|| self.wrong(value))?;
        match object.len() {
            items if items > max => Err(ArgumentError::TooMany { name: self.name, items, max }),
            _ => Ok(object),
        }
    }

    /// Says of a value that it is no such thing.
    fn wrong(&self, value: &Value) -> ArgumentError {
        let Self { name, example, .. } = *self;
        match self.schema {
            Schema::Text { .. } | Schema::Words { .. } => ArgumentError::NotText { name, example, found: kind(value) },
            Schema::Id { what, .. } => ArgumentError::NotAnId { name, what, found: shown(value) },
            Schema::Texts { .. } => ArgumentError::NotTexts { name, example, found: kind(value) },
            Schema::Object { .. } | Schema::TextsByKey { .. } => {
                ArgumentError::NotObject { name, example, found: kind(value) }
            }
            Schema::OneOf(words) => {
                let known: Vec<_> = words.iter().map(|word| format!("{word:?}")).collect();
                ArgumentError::NotOneOf { name, known: known.join(" or ") }
            }
            Schema::Number { from, to, .. } => ArgumentError::NotInRange { name, from, to, found: shown(value) },
        }
    }
}

pub(super) fn refuse_unknown(given: &JsonObject, known: &[Argument]) -> Result<(), ArgumentError> {
    let Some(name) = given.keys().find(|name| known.iter().all(|known| known.name != **name)) else { return Ok(()) };
    let names: Vec<_> = known.iter().map(|known| known.name).collect();
    let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Err(ArgumentError::Unknown { name: name.chars().take(100).collect(), known })
}

/// An id as text, or a bare whole number.
fn spelt(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => number.as_u64().map(|number| number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
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
