//! The built-in rules: what a call of a coding agent's tool proves, once it has succeeded.
//!
//! Invariant: pure, and run once for a call, when its result arrives. A title proves nothing, since agents write what they
//! like there: paths come from diffs, locations and inputs, commands from terminals and inputs.

mod commands;
mod files;
mod names;
mod shell;
mod success;

use std::collections::BTreeMap;

use serde_json::Value;

use super::facts::{DECLARED_FACTS, Fact, FactShape};
use crate::ToolCall;
use crate::limits::{MAX_FACT_BYTES, MAX_FACTS_OF_CALL};

pub use commands::exit_code;
pub(crate) use files::is_move;
pub use files::{absolute_path, named_files};
pub(crate) use names::plain_tool_name;
pub use shell::script_of;
pub use success::{CallEnd, call_end, succeeded};

/// These rules, by what they say: a change of theirs is a change of this.
const RULES: &str = "coding-3";

/// What a call in the directory `cwd` proves; nothing, if it failed. What ended with an exit code was run, but proves
/// nothing else.
pub fn prove(call: &ToolCall, cwd: &str) -> Vec<Fact> {
    let mut facts = Proved { facts: Vec::new() };
    match call_end(call) {
        CallEnd::Failed => return Vec::new(),
        CallEnd::Exited(_) => (),
        CallEnd::Succeeded => files::prove(call, cwd, &mut facts),
    }
    commands::prove(call, cwd, &mut facts);
    facts.facts.truncate(MAX_FACTS_OF_CALL);
    facts.facts
}

/// What the agent says it is about to do, if this is how it says so.
pub fn tool_intent(call: &ToolCall) -> Option<&str> {
    let own = call.input.as_ref().and_then(|input| input.get("tool")).and_then(Value::as_str);
    let name = plain_tool_name(own.or(call.name.as_deref())?);
    (name == "report_intent").then(|| text_argument(&arguments(call), &["intent"]))?
}

/// What was proved so far.
struct Proved {
    facts: Vec<Fact>,
}

impl Proved {
    fn add(&mut self, name: &str, value: &str) {
        self.add_command(name, value, None);
    }

    fn add_command(&mut self, name: &str, value: &str, exit_code: Option<i32>) {
        let value = value.trim();
        let known = self.facts.iter().any(|fact| fact.name == name && fact.value == value);
        if value.is_empty() || value.len() > MAX_FACT_BYTES || known {
            return;
        }
        let shape = DECLARED_FACTS.iter().find(|(declared, _)| *declared == name).map_or(FactShape::List, |(_, s)| *s);
        let (name, value, rule) = (name.to_owned(), value.to_owned(), RULES.to_owned());
        self.facts.push(Fact { name, shape, value, rule, exit_code, file: None });
    }
}

fn arguments(call: &ToolCall) -> BTreeMap<&str, &Value> {
    arguments_of(call.input.as_ref())
}

/// What the tool was given, by name. Some agents wrap the tool's own input.
fn arguments_of(input: Option<&Value>) -> BTreeMap<&str, &Value> {
    let Some(Value::Object(input)) = input else { return BTreeMap::new() };
    let inner = input.get("arguments").and_then(Value::as_object).filter(|_| input.contains_key("tool"));
    inner.unwrap_or(input).iter().map(|(name, value)| (name.as_str(), value)).collect()
}

fn text_argument<'a>(arguments: &BTreeMap<&str, &'a Value>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| arguments.get(name)?.as_str()).filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests;
