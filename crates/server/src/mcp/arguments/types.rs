//! The types that arguments are read into: what each of them looks like, and its bounds.

use std::collections::BTreeMap;

use engine::MAX_APPLET_BYTES;
use model::{
    AppletSlug, InteractionId, ListKey, MAX_APPLET_PARAM_CHARS, MAX_APPLET_PARAMS, MAX_CARD_LINE_CHARS, MAX_ITEM_BYTES,
    MAX_PATH_BYTES, MAX_SET_ITEMS, MAX_SET_NAME_CHARS, MAX_SLUG_CHARS, OutputId, SessionId, SetMode, Turn,
};
use rmcp::model::JsonObject;
use serde_json::Value;

use super::{ArgumentType, Schema, spelt};
use crate::mcp::budget::Budget;

/// Longer than any question that somebody means.
const MAX_QUERY_CHARS: usize = 1_000;
/// `t4294967295.4294967295`.
const MAX_TURN_CHARS: usize = 22;
/// Longer than a command that a person can judge.
const MAX_COMMAND_CHARS: usize = 8_000;
/// Longer than the name of any language.
const MAX_LANGUAGE_CHARS: usize = 40;
/// Longer than any address that people copy.
const MAX_ADDRESS_CHARS: usize = 2_000;
/// As long as what an applet says of itself may be.
const MAX_ABOUT_CHARS: usize = 1_000;
/// More keys than a call sets of a state.
const MAX_STATE_KEYS: usize = 1_000;
/// A slug, a dot and a secret.
const MAX_HANDLE_CHARS: usize = MAX_SLUG_CHARS + 23;
/// The largest whole number that scripts know exactly.
const MAX_VERSION: u64 = (1 << 53) - 1;
/// As ids are printed.
const ID_CHARS: usize = 36;
/// A time in milliseconds, a dot and an id.
const MAX_CURSOR_CHARS: usize = 60;

/// Words to look for.
pub(in crate::mcp) struct Words(pub(in crate::mcp) String);

impl ArgumentType for Words {
    const SCHEMA: Schema = Schema::Words { max_chars: MAX_QUERY_CHARS };

    fn parse(value: &Value) -> Option<Self> {
        value.as_str().map(|text| Self(text.to_owned()))
    }
}

/// Texts that differ in their meaning and in how long they may be.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident: $max_chars:expr;)*) => {$(
        $(#[$doc])*
        pub(in crate::mcp) struct $name(pub(in crate::mcp) String);

        impl ArgumentType for $name {
            const SCHEMA: Schema = Schema::Text { max_chars: $max_chars };

            fn parse(value: &Value) -> Option<Self> {
                value.as_str().map(|text| Self(text.to_owned()))
            }
        }
    )*};
}

texts! {
    /// A path that the tool resolves below the session's directories.
    FilePath: MAX_PATH_BYTES;
    /// A line for the shell, or several.
    CommandLine: MAX_COMMAND_CHARS;
    /// An address of the web; whether it may be used is for the engine to say.
    WebAddress: MAX_ADDRESS_CHARS;
    /// The name of a language that code is coloured as.
    Language: MAX_LANGUAGE_CHARS;
    /// HTML, script or style of an applet. A part has at most as many characters as all of them have bytes.
    AppletPart: MAX_APPLET_BYTES;
    /// What an applet is called; whether it may be called so is for the engine to say.
    AppletLine: MAX_CARD_LINE_CHARS;
    /// What an applet says of itself.
    AppletText: MAX_ABOUT_CHARS;
    /// Names an applet to a page that shows it in another host.
    Handle: MAX_HANDLE_CHARS;
    /// The name of a set; whether a set may have it is for the model to say.
    SetName: MAX_SET_NAME_CHARS;
}

impl ArgumentType for AppletSlug {
    const SCHEMA: Schema = Schema::Id {
        max_chars: MAX_SLUG_CHARS,
        what: "1 to 64 lower-case letters, digits and hyphens that begins and ends with a letter or digit, such as \"my-board\"",
    };

    fn parse(value: &Value) -> Option<Self> {
        value.as_str()?.trim().parse().ok()
    }
}

/// The version of an applet's state; 0 where nothing was ever set.
pub(in crate::mcp) struct StateVersion(pub(in crate::mcp) u64);

impl ArgumentType for StateVersion {
    const SCHEMA: Schema = Schema::Number { from: 0, to: MAX_VERSION, default: None };

    fn parse(value: &Value) -> Option<Self> {
        value.as_u64().map(Self)
    }
}

/// What an applet is given.
impl ArgumentType for BTreeMap<String, String> {
    const SCHEMA: Schema = Schema::TextsByKey { max_items: MAX_APPLET_PARAMS, max_chars: MAX_APPLET_PARAM_CHARS };

    fn parse(value: &Value) -> Option<Self> {
        let texts = value.as_object()?.iter().map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
        texts.collect()
    }
}

/// Keys of an applet's state; how long and how deep they may be is for the engine to say.
impl ArgumentType for JsonObject {
    const SCHEMA: Schema = Schema::Object { max_items: MAX_STATE_KEYS };

    fn parse(value: &Value) -> Option<Self> {
        value.as_object().cloned()
    }
}

impl ArgumentType for OutputId {
    const SCHEMA: Schema = Schema::Id {
        max_chars: ID_CHARS,
        what: "an id such as \"out_0123456789abcdef0123456789abcdef\", as the tool that showed it said",
    };

    fn parse(value: &Value) -> Option<Self> {
        value.as_str()?.parse().ok()
    }
}

/// Items of a set. Each has at most so many bytes, and so no more characters.
impl ArgumentType for Vec<String> {
    const SCHEMA: Schema = Schema::Texts { max_items: MAX_SET_ITEMS, max_chars: MAX_ITEM_BYTES };

    fn parse(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
    }
}

impl ArgumentType for SetMode {
    const SCHEMA: Schema = Schema::OneOf(&["replace", "merge"]);

    fn parse(value: &Value) -> Option<Self> {
        match value.as_str()? {
            "replace" => Some(Self::Replace),
            "merge" => Some(Self::Merge),
            _ => None,
        }
    }
}

impl ArgumentType for SessionId {
    const SCHEMA: Schema = Schema::Id {
        max_chars: ID_CHARS,
        what: "an id such as \"0190a8c0-0000-7000-8000-000000000001\", as list_sessions shows them, or left out for this session",
    };

    fn parse(value: &Value) -> Option<Self> {
        spelt(value)?.parse().ok()
    }
}

impl ArgumentType for InteractionId {
    const SCHEMA: Schema = Schema::Id {
        max_chars: ID_CHARS,
        what: "an id such as \"0190a8c0-0000-7000-8000-000000000001\", as get_turn and session_title_history show them",
    };

    fn parse(value: &Value) -> Option<Self> {
        spelt(value)?.parse().ok()
    }
}

impl ArgumentType for ListKey {
    const SCHEMA: Schema = Schema::Id {
        max_chars: MAX_CURSOR_CHARS,
        what: "what an earlier list_sessions gave, or left out to begin anew",
    };

    fn parse(value: &Value) -> Option<Self> {
        spelt(value)?.parse().ok()
    }
}

impl ArgumentType for Turn {
    const SCHEMA: Schema = Schema::Id { max_chars: MAX_TURN_CHARS, what: "a turn such as \"t42\", counted from t1" };

    fn parse(value: &Value) -> Option<Self> {
        parse_turn(&spelt(value)?)
    }
}

/// A turn, or one of its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mcp) enum Wanted {
    Turn(Turn),
    /// A call by its number in the turn.
    Call(Turn, u32),
}

impl ArgumentType for Wanted {
    const SCHEMA: Schema =
        Schema::Id { max_chars: MAX_TURN_CHARS, what: "a turn such as \"t42\" or one of its calls such as \"t42.3\"" };

    /// 42.3 as a number is no call: as such it would be the same as 42.30.
    fn parse(value: &Value) -> Option<Self> {
        let text = spelt(value)?;
        match text.split_once('.') {
            None => parse_turn(&text).map(Self::Turn),
            Some((turn, call)) => Some(Self::Call(parse_turn(turn)?, parse_number(call)?)),
        }
    }
}

fn parse_turn(text: &str) -> Option<Turn> {
    parse_number(text.strip_prefix('t').unwrap_or(text)).map(Turn)
}

/// From 1, in its one spelling.
fn parse_number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number: &u32| *number > 0 && number.to_string() == text)
}

/// From 1 to a bound.
#[derive(Debug, Clone, Copy)]
pub(in crate::mcp) struct Number<const MAX: usize>(pub(in crate::mcp) usize);

impl<const MAX: usize> ArgumentType for Number<MAX> {
    const SCHEMA: Schema = Schema::Number { from: 1, to: MAX as u64, default: None };

    fn parse(value: &Value) -> Option<Self> {
        whole(value).map(Self)
    }
}

/// How many are listed; `DEFAULT` if it is left out.
#[derive(Debug, Clone, Copy)]
pub(in crate::mcp) struct Limit<const MAX: usize, const DEFAULT: usize>(pub(in crate::mcp) usize);

impl<const MAX: usize, const DEFAULT: usize> ArgumentType for Limit<MAX, DEFAULT> {
    const SCHEMA: Schema = Schema::Number { from: 1, to: MAX as u64, default: Some(DEFAULT as u64) };

    fn parse(value: &Value) -> Option<Self> {
        whole(value).map(Self)
    }
}

impl<const MAX: usize, const DEFAULT: usize> Default for Limit<MAX, DEFAULT> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

/// How long an answer may be.
#[derive(Debug, Clone, Copy)]
pub(in crate::mcp) struct MaxTokens(pub(in crate::mcp) usize);

impl ArgumentType for MaxTokens {
    const SCHEMA: Schema = Schema::Number { from: *Budget::RANGE.start(), to: *Budget::RANGE.end(), default: None };

    fn parse(value: &Value) -> Option<Self> {
        whole(value).map(Self)
    }
}

fn whole(value: &Value) -> Option<usize> {
    value.as_u64()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_turn_and_a_call_are_taken_as_they_are_printed() {
        let wanted = |value: Value| Wanted::parse(&value);
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
