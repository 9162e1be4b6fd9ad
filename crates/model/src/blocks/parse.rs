//! Parses the body of a block.
//!
//! Invariant: every value of a parsed block is clean and bounded. What an agent may write in several ways is taken in each of
//! them; a body without what must be there is nothing, so that it stays the code it is and no word of it is lost.

mod card;
mod values;

use serde_json::Value;

use crate::{Card, Next, Shown, one_line, plain_text, work_name};

use super::scan::Sort;
use super::{MAX_COMMAND_BYTES, MAX_LABEL_CHARS};
use values::all;

/// What the body of a block of that sort says.
pub(super) fn parse(sort: Sort, body: &str) -> Option<Shown> {
    let value: Value = serde_json::from_str(body).ok()?;
    Some(match sort {
        Sort::Next => Shown::Next(next(&value)?),
        Sort::UseCase => Shown::Card(Card::UseCase { use_cases: all(&value, card::use_case)? }),
        Sort::EventModel => Shown::Card(Card::EventModel { slices: all(&value, card::slice)? }),
        Sort::Tasks => {
            let tasks = value.get("tasks").filter(|tasks| tasks.is_array() || tasks.is_object()).unwrap_or(&value);
            Shown::Card(Card::Tasks { tasks: all(tasks, card::task)? })
        }
    })
}

fn next(value: &Value) -> Option<Next> {
    let label = one_line(&plain_text(value.get("label")?.as_str()?), MAX_LABEL_CHARS);
    let command = plain_text(value.get("command")?.as_str()?).trim().to_owned();
    let meta_context = value.get("metaContext").and_then(Value::as_str).and_then(work_name);
    let is_whole = !label.is_empty() && !command.is_empty() && command.len() <= MAX_COMMAND_BYTES;
    is_whole.then_some(Next { label, command, meta_context })
}

#[cfg(test)]
mod tests;
