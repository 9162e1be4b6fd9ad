//! Results of Claude Code's tools.
//!
//! A result is a block of a user message. Beside it, the record holds what the program itself knows of the result,
//! which differs from tool to tool.

use std::borrow::Cow;

use model::{Timestamp, ToolKind, ToolStatus};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Block, Blocks};
use crate::history::calls::{self, CallOutput};
use crate::history::json::{as_a, is_object};
use crate::history::{blobs, builder::TurnBuilder};

/// What the program knows of a file that it wrote.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WrittenFile<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    original_file: Option<Cow<'a, str>>,
}

pub(super) fn emit(at: Timestamp, block: &Block<'_>, known: Option<&RawValue>, builder: &mut TurnBuilder<'_>) {
    let Some(id) = block.tool_use_id.as_deref() else { return builder.skip("a result without its call") };
    let Some(call) = builder.find_call(id) else {
        // A plan is emitted as such, and its result says nothing.
        return builder.skip("a result without its call");
    };
    let has_failed = block.is_error == Some(true);
    let blocks = block.content.map(Blocks::of).unwrap_or_default();
    let mut shown = CallOutput::default();
    match (call.kind.unwrap_or_default(), &call.input) {
        (ToolKind::Execute, Some(input)) => {
            let output = blocks.text();
            let (exit_code, output) = if has_failed { split_exit_code(&output) } else { (None, output.as_str()) };
            shown.terminal(&calls::command(input).unwrap_or_default(), output, exit_code);
        }
        (ToolKind::Edit, Some(input)) if !has_failed => show_edit(input, known, &mut shown),
        _ => (),
    }
    if shown.is_empty() {
        for block in &blocks.0 {
            match (block.kind.as_ref(), &block.source) {
                ("image", Some(source)) => {
                    let (of, data) = (source.media_type.as_deref(), source.data.as_deref());
                    let image = blobs::of_call(of.unwrap_or_default(), data.unwrap_or_default(), builder.limits());
                    shown.image(image);
                }
                _ => shown.text(block.text.as_deref().unwrap_or_default()),
            }
        }
    }
    let status = if has_failed { ToolStatus::Failed } else { ToolStatus::Completed };
    builder.change_call(at, id, calls::end(status, shown));
}

fn show_edit(input: &Value, known: Option<&RawValue>, shown: &mut CallOutput) {
    let Some(path) = calls::argument(input, &["file_path", "notebook_path"]) else { return };
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let edits = match input.get("edits").and_then(Value::as_array) {
        Some(edits) => edits.iter().collect(),
        None => vec![input],
    };
    for edit in edits {
        if let (Some(old), Some(new)) = (text(edit, "old_string"), text(edit, "new_string")) {
            shown.diff(path, Some(&old), &new);
        }
    }
    if let Some(content) = text(input, "content") {
        let written: WrittenFile<'_> = known.filter(|known| is_object(known)).and_then(as_a).unwrap_or_default();
        let is_new = written.kind.as_deref() == Some("create") && written.original_file.is_none();
        shown.diff(path, (!is_new).then(|| written.original_file.as_deref().unwrap_or_default()), &content);
    }
}

/// Splits off the first line `Exit code 1`, which the output of a failed command begins with.
fn split_exit_code(output: &str) -> (Option<i32>, &str) {
    let (first, rest) = output.split_once('\n').unwrap_or((output, ""));
    match first.strip_prefix("Exit code ").and_then(|code| code.trim().parse().ok()) {
        Some(code) => (Some(code), rest),
        None => (None, output),
    }
}
