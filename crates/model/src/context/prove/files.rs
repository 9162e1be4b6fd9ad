//! Files: which were made, edited, deleted and read.

use serde_json::Value;

use super::{Proved, arguments, arguments_of, plain_tool_name, text_argument};
use crate::{ToolCall, ToolChange, ToolContent, ToolKind};

const PATHS: [&str; 9] =
    ["file_path", "filePath", "path", "abs_path", "absolute_path", "target_file", "filename", "file", "notebook_path"];
const FROM: [&str; 5] = ["source", "from", "old_path", "oldPath", "src"];
const TO: [&str; 5] = ["destination", "to", "new_path", "newPath", "dst"];

/// How much of a text is read for the input that it may hold.
const TEXT_BYTES: usize = 64 << 10;

/// The files that a message about a call names, by their whole paths, wherever in the message. Some agents write what a
/// tool is given into the text that it shows first.
pub fn named_files(change: &ToolChange, cwd: &str) -> Vec<String> {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    let shown: Vec<Value> = change
        .content
        .iter()
        .flatten()
        .filter_map(|content| match content {
            ToolContent::Text { text } if text.starts_with('{') && text.len() <= TEXT_BYTES => read(text),
            _ => None,
        })
        .collect();
    let diffs = change.content.iter().flatten().filter_map(|content| match content {
        ToolContent::Diff { path, .. } => Some(path.as_str()),
        _ => None,
    });
    let located = change.locations.iter().flatten().map(|location| location.path.as_str());
    let mut files: Vec<String> = diffs.chain(located).filter_map(|path| absolute_path(path, cwd)).collect();
    for input in change.input.iter().chain(&shown) {
        let arguments = arguments_of(Some(input));
        let patched = arguments.get("changes").and_then(|changes| changes.as_object()).into_iter().flatten();
        let named = text_argument(&arguments, &PATHS).into_iter().chain(patched.map(|(path, _)| path.as_str()));
        files.extend(named.filter_map(|path| absolute_path(path, cwd)));
    }
    files.sort();
    files.dedup();
    files
}

/// What the call did to files.
enum Deed {
    Edit,
    Delete,
    Move,
    Read,
}

pub(super) fn prove(call: &ToolCall, cwd: &str, facts: &mut Proved) {
    let mut add = |name: &str, path: &str| {
        if let Some(path) = absolute_path(path, cwd) {
            facts.add(name, &path);
        }
    };
    let mut by_diff = false;
    for content in &call.content {
        if let ToolContent::Diff { path, old_text, .. } = content {
            by_diff = true;
            add(if old_text.is_none() { "filesCreated" } else { "filesEdited" }, path);
        }
    }
    let arguments = arguments(call);
    // One agent lists all files of a patch by path.
    if let Some(Value::Object(changes)) = arguments.get("changes")
        && matches!(deed(call), Some(Deed::Edit))
    {
        for (path, change) in changes {
            by_diff = true;
            let kind = change.get("type").or_else(|| change.get("kind")).and_then(Value::as_str);
            match kind.unwrap_or_default() {
                "add" => add("filesCreated", path),
                "delete" => add("filesDeleted", path),
                _ => add("filesEdited", path),
            }
        }
    }
    let Some(deed) = deed(call) else { return };
    let named = text_argument(&arguments, &PATHS);
    match deed {
        Deed::Edit if by_diff => (),
        Deed::Edit => paths(call, named).for_each(|path| {
            let is_new = absolute_path(path, cwd).is_some_and(|path| call.new_files.contains(&path));
            add(if is_new { "filesCreated" } else { "filesEdited" }, path);
        }),
        Deed::Delete => paths(call, named).for_each(|path| add("filesDeleted", path)),
        Deed::Move => {
            if let (Some(from), Some(to)) = (text_argument(&arguments, &FROM), text_argument(&arguments, &TO)) {
                add("filesDeleted", from);
                add("filesCreated", to);
            }
        }
        Deed::Read => paths(call, named).for_each(|path| add("filesRead", path)),
    }
}

/// Whether the call moved a file, if it succeeded.
pub(crate) fn is_move(call: &ToolCall) -> bool {
    matches!(deed(call), Some(Deed::Move))
}

fn deed(call: &ToolCall) -> Option<Deed> {
    match call.kind {
        ToolKind::Edit => Some(Deed::Edit),
        ToolKind::Delete => Some(Deed::Delete),
        ToolKind::Move => Some(Deed::Move),
        ToolKind::Read => Some(Deed::Read),
        // An agent that does not report the kind reports at least the tool.
        ToolKind::Other => match plain_tool_name(call.name.as_deref()?).as_str() {
            "edit"
            | "edit_file"
            | "multi_edit"
            | "str_replace"
            | "replace"
            | "replace_string_in_file"
            | "write"
            | "write_file"
            | "create_file"
            | "notebook_edit"
            | "apply_patch" => Some(Deed::Edit),
            "delete_file" | "remove_file" => Some(Deed::Delete),
            "move_file" | "rename_file" => Some(Deed::Move),
            "read" | "read_file" | "view" | "view_file" => Some(Deed::Read),
            _ => None,
        },
        ToolKind::Search | ToolKind::Execute | ToolKind::Think | ToolKind::Fetch | ToolKind::SwitchMode => None,
    }
}

fn paths<'a>(call: &'a ToolCall, named: Option<&'a str>) -> impl Iterator<Item = &'a str> {
    let located = call.locations.iter().map(|location| location.path.as_str());
    // The input names what was wanted; locations may be more, such as all files that were looked at.
    named.into_iter().chain(located.take(if named.is_some() { 0 } else { usize::MAX }))
}

/// The path from the root, without `.` and `..`; `None` if it is none.
pub fn absolute_path(path: &str, cwd: &str) -> Option<String> {
    let path = path.strip_prefix("file://").unwrap_or(path);
    if path.is_empty() || path.contains(['\0', '\n', '\r']) {
        return None;
    }
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{cwd}/{path}") };
    let mut parts = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => (),
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| format!("/{}", parts.join("/")))
}
