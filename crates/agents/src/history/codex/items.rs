//! Results of Codex's commands and patches, as the program showed them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::{Location, Timestamp, ToolChange, ToolKind, ToolStatus};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::acp::{cut_value, plain_line};
use crate::history::builder::TurnBuilder;
use crate::history::calls::{self, CallOutput};
use crate::history::json::as_a;

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    command: Option<Vec<Cow<'a, str>>>,
    #[serde(borrow)]
    aggregated_output: Option<Cow<'a, str>>,
    exit_code: Option<i32>,
    #[serde(borrow)]
    changes: Option<BTreeMap<Cow<'a, str>, Change<'a>>>,
}

#[derive(Deserialize)]
struct PatchEnd<'a> {
    #[serde(borrow)]
    call_id: Option<Cow<'a, str>>,
    success: Option<bool>,
    #[serde(borrow)]
    changes: Option<BTreeMap<Cow<'a, str>, Change<'a>>>,
}

/// The change of one file.
#[derive(Deserialize)]
struct Change<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    unified_diff: Option<Cow<'a, str>>,
}

pub(super) fn emit(at: Timestamp, item: &RawValue, builder: &mut TurnBuilder<'_>) {
    let Some(item) = as_a::<Item<'_>>(item) else { return builder.skip("not a record") };
    let id = item.id.as_deref().filter(|id| builder.find_call(id).is_some());
    let status = match item.status.as_deref() {
        Some("failed" | "declined") => ToolStatus::Failed,
        Some(_) | None => ToolStatus::Completed,
    };
    match (item.kind.as_ref(), id, &item.changes) {
        ("CommandExecution", Some(id), _) if item.status.as_deref() != Some("in_progress") => {
            let words: Vec<&str> = item.command.iter().flatten().map(AsRef::as_ref).collect();
            let mut shown = CallOutput::default();
            let output = item.aggregated_output.as_deref().unwrap_or_default();
            shown.terminal(&calls::plain_command(&words), output, item.exit_code);
            builder.change_call(at, id, calls::end(status, shown));
        }
        ("FileChange", Some(id), Some(changes)) => emit_changes(at, id, changes, status, builder),
        // Messages and thoughts are taken from what the model was sent, other results from what it was given.
        _ => (),
    }
}

/// The same in older versions.
pub(super) fn emit_patch(at: Timestamp, payload: &RawValue, builder: &mut TurnBuilder<'_>) {
    let Some(PatchEnd { call_id: Some(id), success, changes: Some(changes) }) = as_a::<PatchEnd<'_>>(payload) else {
        return builder.skip("not a record");
    };
    let status = if success == Some(false) { ToolStatus::Failed } else { ToolStatus::Completed };
    if builder.find_call(&id).is_some() {
        emit_changes(at, &id, &changes, status, builder);
    }
}

fn emit_changes(
    at: Timestamp,
    id: &str,
    changes: &BTreeMap<Cow<'_, str>, Change<'_>>,
    status: ToolStatus,
    builder: &mut TurnBuilder<'_>,
) {
    let mut shown = CallOutput::default();
    let mut kinds = Map::new();
    for (path, change) in changes {
        kinds.insert(path.to_string(), json!({ "type": change.kind }));
        match (&change.unified_diff, change.kind.as_ref(), &change.content) {
            (Some(diff), ..) => hunks(diff).iter().for_each(|(old, new)| shown.diff(path, Some(old), new)),
            (None, "add", Some(content)) => shown.diff(path, None, content),
            _ => (),
        }
    }
    let paths: Vec<_> = changes.keys().map(AsRef::as_ref).collect();
    let locations = paths.iter().map(|path| Location { path: (*path).to_owned(), line: None }).collect();
    builder.change_call(
        at,
        id,
        ToolChange {
            title: Some(plain_line(&format!("Edit {}", paths.join(", ")), 200)),
            kind: Some(ToolKind::Edit),
            locations: Some(locations),
            input: Some(cut_value(json!({ "changes": kinds }))),
            ..calls::end(status, shown)
        },
    );
}

/// The texts before and after each hunk of a unified diff.
fn hunks(diff: &str) -> Vec<(String, String)> {
    let mut hunks: Vec<(String, String)> = Vec::new();
    for line in diff.split_inclusive('\n') {
        if line.starts_with("@@") {
            hunks.push(Default::default());
            continue;
        }
        let Some((old, new)) = hunks.last_mut() else { continue };
        match line.split_at_checked(1) {
            Some(("-", rest)) => old.push_str(rest),
            Some(("+", rest)) => new.push_str(rest),
            Some((" ", rest)) => {
                old.push_str(rest);
                new.push_str(rest);
            }
            _ => (),
        }
    }
    hunks
}

/// The input of a patch call: the files that the patch text names.
pub(super) fn of_patch(patch: &str) -> Value {
    let mut changes = Map::new();
    for line in patch.lines() {
        for (begins, kind) in
            [("*** Add File: ", "add"), ("*** Delete File: ", "delete"), ("*** Update File: ", "update")]
        {
            if let Some(path) = line.strip_prefix(begins) {
                changes.insert(path.trim().to_owned(), json!({ "type": kind }));
            }
        }
    }
    json!({ "patch": patch, "changes": changes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunk_is_told_before_and_after() {
        let diff =
            "--- a\n+++ b\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n@@ -9 +9,0 @@\n-gone\n\\ No newline at end of file\n";
        let expected = [("one\ntwo\n", "one\nzwei\n"), ("gone\n", "")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(hunks(diff), expected);
    }

    #[test]
    fn a_patch_names_its_files() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n*** Add File: b c.rs\n+y\n*** End Patch";
        assert_eq!(of_patch(patch)["changes"], json!({ "a.rs": { "type": "update" }, "b c.rs": { "type": "add" } }));
    }
}
