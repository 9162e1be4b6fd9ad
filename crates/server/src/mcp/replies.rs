//! What a tool answers, in words: the same for the same outcome, so that prompt caches hold.

use std::collections::BTreeMap;

use engine::AppletError;
use model::{MAX_SET_ITEMS, SetChange, SetOutcome, Sets};
use serde_json::{Value, json};

use super::tools::{CallError, Tool};
use crate::error::ApiError;

const NOTHING_MARKED: &str = "Nothing is marked as relevant in this session yet.";
/// How many of those that found no room are named.
const NAMED: usize = MAX_SET_ITEMS;

/// What became of the sets.
pub(super) fn changed(changes: &[SetChange]) -> String {
    let lines: Vec<String> = changes.iter().flat_map(lines).collect();
    lines.join("\n")
}

fn lines(change: &SetChange) -> Vec<String> {
    let SetChange { set, items, outcome, left_out, warnings } = change;
    let count = match items.len() {
        1 => "1 item".to_owned(),
        many => format!("{many} items"),
    };
    let mut lines = vec![match outcome {
        SetOutcome::Set => format!("Set {set}: {count}."),
        SetOutcome::Merged => format!("Merged {set}: {count}."),
        SetOutcome::Cleared => format!("Cleared {set}."),
        SetOutcome::Unchanged => format!("Nothing changed in {set}: {count}."),
    }];
    if !left_out.is_empty() {
        let named: Vec<String> = left_out.iter().take(NAMED).map(|item| format!("{item:?}")).collect();
        let more = match left_out.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        lines.push(format!("No room for {}{more}: a set has at most {MAX_SET_ITEMS} items.", named.join(", ")));
    }
    lines.extend(warnings.iter().map(|warning| format!("Note: {warning}.")));
    lines
}

/// What is marked: one set, empty if there is none of that name, or all of them.
pub(super) fn marked(sets: &Sets, one: Option<SetChange>) -> String {
    if sets.is_empty() {
        return NOTHING_MARKED.to_owned();
    }
    let shown = match one {
        Some(SetChange { set, items, .. }) => BTreeMap::from([(set, items)]),
        None => sets.to_map(),
    };
    let shown = shown.into_iter().map(|(set, items)| (set, Value::from(items))).collect();
    format!("{:#}", Value::Object(shown))
}

/// What went wrong. Our own failures are logged on the way, and the reply leaves their cause out.
pub(super) fn error(tool: &Tool, err: CallError) -> String {
    // What is wrong with arguments is easier seen beside some that are right.
    let example = match err {
        CallError::Arguments(_) => format!(" For example: {} {}.", tool.about.name, tool.example()),
        _ => String::new(),
    };
    let text = match err {
        CallError::Refused(err) => err.into_detail().message,
        // It may have run: only that nothing can be seen of it is certain.
        CallError::NotShown(err) => return format!("Nothing is shown: {err}."),
        CallError::NotACall { .. }
        | CallError::SessionNotInScope { .. }
        | CallError::NoSuchSession { .. }
        | CallError::NoSuchTurn { .. }
        | CallError::NoSuchCall { .. }
        | CallError::NoSuchPart { .. }
        | CallError::Backwards { .. }
        | CallError::TooManyTurns { .. }
        | CallError::NoSuchInteraction { .. }
        | CallError::NoSuchHandle
        | CallError::StateOrKeys
        | CallError::Arguments(_) => err.to_string(),
    };
    format!("Nothing was done: {text}.{example}")
}

/// What went wrong, as the runtime of applets knows it.
pub(super) fn code(err: &CallError) -> Value {
    match err {
        CallError::Refused(ApiError::Applet(AppletError::StateConflict { version })) => {
            json!({ "code": "conflict", "version": version })
        }
        CallError::Refused(ApiError::Applet(AppletError::StateTooLarge { .. } | AppletError::StateTooDeep { .. })) => {
            json!({ "code": "too_large" })
        }
        CallError::Refused(ApiError::Applet(
            AppletError::NotFound { .. } | AppletError::NothingShown(_) | AppletError::Deleted,
        ))
        | CallError::NoSuchHandle => json!({ "code": "not_found" }),
        CallError::Arguments(_) | CallError::StateOrKeys | CallError::NotACall { .. } => {
            json!({ "code": "bad_arguments" })
        }
        _ => json!({ "code": "failed" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(outcome: SetOutcome, items: usize, left_out: usize) -> SetChange {
        SetChange {
            set: "files".to_owned(),
            items: (0..items).map(|n| format!("/{n}")).collect(),
            outcome,
            left_out: (0..left_out).map(|n| format!("/out/{n}")).collect(),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn each_outcome_has_its_words() {
        let told = |outcome, items| changed(&[change(outcome, items, 0)]);
        assert_eq!(told(SetOutcome::Set, 3), "Set files: 3 items.");
        assert_eq!(told(SetOutcome::Set, 1), "Set files: 1 item.");
        assert_eq!(told(SetOutcome::Merged, 5), "Merged files: 5 items.");
        assert_eq!(told(SetOutcome::Cleared, 0), "Cleared files.");
        assert_eq!(told(SetOutcome::Unchanged, 2), "Nothing changed in files: 2 items.");
    }

    #[test]
    fn what_found_no_room_is_named_but_not_without_end() {
        let few = changed(&[change(SetOutcome::Merged, 10, 2)]);
        assert_eq!(few, "Merged files: 10 items.\nNo room for \"/out/0\", \"/out/1\": a set has at most 10 items.");
        let many = changed(&[change(SetOutcome::Merged, 10, 500)]);
        assert!(many.contains("\"/out/9\" and 490 more:"), "{many}");
    }
}
