//! All that a tool is given, as the mark by which the very same is known again.
//!
//! Invariant: nothing that could change what is done is left out, so two calls with one mark do the same; where not all
//! is told there is no mark. A title is never part of it.

use agent_client_protocol::v1::schema::ToolCallUpdateFields;
use model::ToolKind;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::question::COMMANDS;

/// Words beside a command that a shell never sees.
const WORDS: [&str; 3] = ["description", "explanation", "justification"];

/// What one message says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given {
    mark: [u8; 32],
    /// What the work was called when it was marked, which decides what counts.
    kind: ToolKind,
}

impl Given {
    /// The input, else the changes of files that are shown. Files that are only named do not say what becomes of them.
    pub(super) fn of(fields: &ToolCallUpdateFields, items: Option<&[Value]>, kind: ToolKind) -> Option<Self> {
        let mut all = match &fields.raw_input {
            Some(Value::Object(members)) if !members.is_empty() => {
                let mut members = members.clone();
                if kind == ToolKind::Execute && COMMANDS.iter().any(|name| members.contains_key(*name)) {
                    members.retain(|name, _| !WORDS.contains(&name.as_str()));
                }
                Value::Object(members)
            }
            Some(Value::Array(list)) if list.is_empty() => shown(items)?,
            Some(Value::String(text)) if text.is_empty() => shown(items)?,
            Some(Value::Object(_) | Value::Null) | None => shown(items)?,
            Some(input) => input.clone(),
        };
        // Agents do not keep an order.
        all.sort_all_objects();
        Some(Self { mark: Sha256::digest(all.to_string()).into(), kind })
    }

    /// In hex, with the tool that it is given to. What kind of work is done says enough of the tool, unless it is of no
    /// kind.
    pub(super) fn digest(&self, tool: Option<&str>, kind: ToolKind) -> Option<String> {
        if self.kind != kind || (kind == ToolKind::Other && tool.is_none_or(str::is_empty)) {
            return None;
        }
        let mut hash = Sha256::new();
        hash.update(self.mark);
        if let Some(tool) = tool {
            hash.update(tool);
        }
        Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

fn shown(items: Option<&[Value]>) -> Option<Value> {
    let is_diff = |item: &&Value| item.get("type").and_then(Value::as_str) == Some("diff");
    let diffs: Vec<&Value> = items.into_iter().flatten().filter(is_diff).collect();
    (!diffs.is_empty()).then(|| json!({ "diffs": diffs }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(tool: Option<&str>, kind: ToolKind, input: Value) -> Option<String> {
        Given::of(&ToolCallUpdateFields::new().raw_input(input), None, kind)?.digest(tool, kind)
    }

    #[test]
    fn the_same_is_the_same_whatever_is_said_of_it() {
        let execute = |input: Value| digest(None, ToolKind::Execute, input).unwrap();
        let plain = execute(json!({ "command": "make", "cwd": "/p" }));
        assert_eq!(plain, execute(json!({ "description": "Build it", "cwd": "/p", "command": "make" })));
        assert_eq!(plain.len(), 64);
        for other in [
            json!({ "command": "make ", "cwd": "/p" }),
            json!({ "command": "make", "cwd": "/q" }),
            json!({ "command": "make" }),
            json!({ "command": ["make"], "cwd": "/p" }),
            json!({ "command": "make", "cwd": "/p", "sandbox": false }),
        ] {
            assert_ne!(plain, execute(other.clone()), "{other}");
        }
    }

    #[test]
    fn what_is_written_counts_and_not_only_where() {
        let edit = |text: &str| digest(None, ToolKind::Edit, json!({ "file_path": "/p/a", "content": text })).unwrap();
        assert_eq!(edit("one"), edit("one"));
        assert_ne!(edit("one"), edit("two"));
        // Only a shell's words are left out: elsewhere they may be what is done.
        let described = |words: &str| digest(None, ToolKind::Edit, json!({ "command": "set", "description": words }));
        assert_ne!(described("one"), described("two"));
    }

    #[test]
    fn of_a_tool_of_no_kind_the_name_counts() {
        let input = || json!({ "path": "/p/a" });
        assert_eq!(digest(None, ToolKind::Other, input()), None);
        assert!(digest(Some("read"), ToolKind::Other, input()).is_some());
        assert_ne!(digest(Some("read"), ToolKind::Other, input()), digest(Some("delete"), ToolKind::Other, input()));
        let given = Given::of(&ToolCallUpdateFields::new().raw_input(input()), None, ToolKind::Execute).unwrap();
        assert_eq!(given.digest(None, ToolKind::Read), None);
    }

    #[test]
    fn without_an_input_only_changes_that_are_shown_count() {
        let nothing = ToolCallUpdateFields::new().raw_input(json!({}));
        let of = |items: &[Value]| Given::of(&nothing, Some(items), ToolKind::Edit);
        let diff = |text: &str| json!({ "type": "diff", "path": "/p/a", "newText": text });
        assert_eq!(of(&[diff("one"), json!({ "type": "content" })]), of(&[diff("one")]));
        assert_ne!(of(&[diff("one")]), of(&[diff("two")]));
        assert_eq!(of(&[json!({ "type": "content" })]), None);
    }
}
