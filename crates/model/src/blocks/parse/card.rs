//! Use cases, slices of event models and tasks, each from an object.
//!
//! Invariant: an object without what names it is none of these.

use serde_json::Value;

use crate::{CasePriority, Field, Node, Slice, Task, UseCase};

use super::values::{MAX_ITEMS, description, name, path, some, text};

pub(super) fn use_case(value: &Value) -> Option<UseCase> {
    let case = UseCase {
        id: name(&value["id"]).unwrap_or_default(),
        name: name(&value["name"]).unwrap_or_default(),
        actor: name(&value["actor"]).unwrap_or_default(),
        summary: text(&value["summary"]).unwrap_or_default(),
        given: some(&value["given"], text),
        when: some(&value["when"], text),
        then: some(&value["then"], text),
        priority: value["priority"].as_str().and_then(priority),
        dependencies: some(&value["dependencies"], name),
        edge_cases: some(&value["edgeCases"], text),
    };
    (!case.id.is_empty() || !case.name.is_empty()).then_some(case)
}

fn priority(word: &str) -> Option<CasePriority> {
    match word.trim().to_ascii_lowercase().as_str() {
        "high" => Some(CasePriority::High),
        "medium" => Some(CasePriority::Medium),
        "low" => Some(CasePriority::Low),
        _ => None,
    }
}

pub(super) fn slice(value: &Value) -> Option<Slice> {
    Some(Slice {
        slice: name(&value["slice"])?,
        label: name(&value["label"]).unwrap_or_default(),
        screen: node(&value["screen"]),
        command: node(&value["command"]),
        events: some(&value["events"], node),
        projections: some(&value["projections"], node),
        side_effects: some(&value["sideEffects"], node),
    })
}

/// A name alone is one, too.
fn node(value: &Value) -> Option<Node> {
    if !value.is_object() {
        return Some(Node { name: name(value)?, ..Node::default() });
    }
    Some(Node {
        name: name(&value["name"])?,
        new: value["new"].as_bool().unwrap_or_default(),
        fields: fields(&value["fields"]),
        feeds: some(&value["feeds"], name),
    })
}

fn fields(value: &Value) -> Vec<Field> {
    let Value::Object(fields) = value else { return some(value, field) };
    let values = fields.iter().filter_map(|(key, kind)| {
        let name = name(&Value::from(key.as_str()))?;
        Some(Field { name, kind: description(kind) })
    });
    values.take(MAX_ITEMS).collect()
}

fn field(value: &Value) -> Option<Field> {
    let (named, kind) = if value.is_object() { (&value["name"], &value["type"]) } else { (value, &Value::Null) };
    Some(Field { name: name(named)?, kind: description(kind) })
}

pub(super) fn task(value: &Value) -> Option<Task> {
    let files = &value["files"];
    let task = Task {
        id: name(&value["id"]).unwrap_or_default(),
        name: name(&value["name"]).unwrap_or_default(),
        ucs: some(&value["ucs"], name),
        depends: some(&value["depends"], name),
        wave: wave(&value["wave"]),
        kind: name(&value["kind"]).unwrap_or_default(),
        create: some(&files["create"], path),
        modify: some(&files["modify"], path),
        description: text(&value["description"]).unwrap_or_default(),
    };
    (!task.id.is_empty() || !task.name.is_empty()).then_some(task)
}

fn wave(value: &Value) -> Option<u32> {
    match value {
        Value::String(digits) => digits.trim().parse().ok(),
        Value::Number(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
