//! The digest of everything that a tool is given, by which an identical call is recognised.
//!
//! Invariant: nothing that could change the call's effect is left out, so two calls with the same digest do the same.
//! If part of the input is unknown there is no digest. A title is never part of it.

use agent_client_protocol::v1::schema::ToolCallUpdateFields;
use model::ToolKind;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::question::is_only_a_command;

/// Members of an input that describe a command and never reach the shell.
const DESCRIPTIONS: [&str; 3] = ["description", "explanation", "justification"];

type Hash = [u8; 32];

/// What the messages about one call have said of its input so far. Each part stays until a newer one replaces it.
#[derive(Debug, Default)]
pub(super) struct InputDigest {
    input: Option<Input>,
    /// The file changes that are shown. Files that are only named do not say what becomes of them.
    diffs: Option<Hash>,
    is_incomplete: bool,
}

#[derive(Debug)]
struct Input {
    hash: Hash,
    /// The kind of the call when the input was hashed; it decides which members count.
    kind: ToolKind,
}

impl InputDigest {
    /// Takes in what a message says of the input.
    pub(super) fn update(&mut self, fields: &ToolCallUpdateFields, items: Option<&[Value]>, kind: ToolKind) {
        if let Some(input) = input_of(fields) {
            self.input = Some(Input { hash: hash(effective_input(input, kind)), kind });
        }
        if let Some(diffs) = shown_diffs(items) {
            self.diffs = Some(hash(diffs));
        }
    }

    /// Part of the input is unknown, for good.
    pub(super) fn set_incomplete(&mut self) {
        *self = Self { is_incomplete: true, ..Self::default() };
    }

    pub(super) fn has_input(&self) -> bool {
        self.input.is_some()
    }

    /// The digest in hex, of the input and the tool. The tool's name may be missing if the call has a kind, which
    /// says enough of the tool.
    pub(super) fn digest(&self, tool: Option<&str>, kind: ToolKind) -> Option<String> {
        let is_nothing = self.input.is_none() && self.diffs.is_none();
        let is_other_work = self.input.as_ref().is_some_and(|input| input.kind != kind);
        let is_any_tool = kind == ToolKind::Other && tool.is_none_or(str::is_empty);
        if self.is_incomplete || is_nothing || is_other_work || is_any_tool {
            return None;
        }
        let mut hash = Sha256::new();
        for part in [self.input.as_ref().map(|input| input.hash), self.diffs] {
            hash.update([u8::from(part.is_some())]);
            hash.update(part.unwrap_or_default());
        }
        if let Some(tool) = tool {
            hash.update(tool);
        }
        Some(format!("{:x}", hash.finalize()))
    }
}

/// The input, if the message has one.
pub(super) fn input_of(fields: &ToolCallUpdateFields) -> Option<&Value> {
    fields.raw_input.as_ref().filter(|input| match input {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    })
}

fn effective_input(input: &Value, kind: ToolKind) -> Value {
    let mut input = input.clone();
    if let Value::Object(members) = &mut input
        && kind == ToolKind::Execute
        && is_only_a_command(members)
    {
        members.retain(|name, _| !DESCRIPTIONS.contains(&name.as_str()));
    }
    input
}

fn hash(mut value: Value) -> Hash {
    // Agents do not keep the order of members.
    value.sort_all_objects();
    Sha256::digest(value.to_string()).into()
}

fn shown_diffs(items: Option<&[Value]>) -> Option<Value> {
    let is_diff = |item: &&Value| item.get("type").and_then(Value::as_str) == Some("diff");
    let diffs: Vec<&Value> = items.into_iter().flatten().filter(is_diff).collect();
    (!diffs.is_empty()).then(|| json!(diffs))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(input: Value, items: Option<&[Value]>, kind: ToolKind) -> InputDigest {
        let mut given = InputDigest::default();
        given.update(&ToolCallUpdateFields::new().raw_input(input), items, kind);
        given
    }

    fn digest(tool: Option<&str>, kind: ToolKind, input: Value) -> Option<String> {
        given(input, None, kind).digest(tool, kind)
    }

    fn diff(text: &str) -> Value {
        json!({ "type": "diff", "path": "/p/a", "newText": text })
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
    fn words_count_unless_all_there_is_besides_is_a_command() {
        let described = |mut input: Value, words: &str| {
            input["description"] = words.into();
            digest(None, ToolKind::Execute, input).unwrap()
        };
        for input in [json!({ "command": null }), json!({ "command": "sh", "script": "x" }), json!({ "task": "x" })] {
            assert_ne!(described(input.clone(), "one"), described(input.clone(), "two"), "{input}");
        }
        let command = json!({ "command": "sh", "timeout": 9 });
        assert_eq!(described(command.clone(), "one"), described(command, "two"));
    }

    #[test]
    fn what_is_written_counts_and_not_only_where() {
        let edit = |text: &str| digest(None, ToolKind::Edit, json!({ "file_path": "/p/a", "content": text })).unwrap();
        assert_eq!(edit("one"), edit("one"));
        assert_ne!(edit("one"), edit("two"));
        // Descriptions are left out for shell commands only: elsewhere they may be what is done.
        let described = |words: &str| digest(None, ToolKind::Edit, json!({ "command": "set", "description": words }));
        assert_ne!(described("one"), described("two"));
    }

    #[test]
    fn of_a_tool_of_no_kind_the_name_counts() {
        let input = || json!({ "path": "/p/a" });
        assert_eq!(digest(None, ToolKind::Other, input()), None);
        assert!(digest(Some("read"), ToolKind::Other, input()).is_some());
        assert_ne!(digest(Some("read"), ToolKind::Other, input()), digest(Some("delete"), ToolKind::Other, input()));
        assert_eq!(given(input(), None, ToolKind::Execute).digest(None, ToolKind::Read), None);
    }

    #[test]
    fn without_an_input_only_changes_that_are_shown_count() {
        let of = |items: &[Value]| given(json!({}), Some(items), ToolKind::Edit).digest(None, ToolKind::Edit);
        assert_eq!(of(&[diff("one"), json!({ "type": "content" })]), of(&[diff("one")]));
        assert_ne!(of(&[diff("one")]), of(&[diff("two")]));
        assert_eq!(of(&[json!({ "type": "content" })]), None);
    }

    #[test]
    fn changes_count_beside_an_input_whenever_either_is_told() {
        let path = || json!({ "file_path": "/p/a" });
        let digest_of = |given: &InputDigest| given.digest(None, ToolKind::Edit).unwrap();
        let together = |text: &str| given(path(), Some(&[diff(text)]), ToolKind::Edit);
        assert_ne!(digest_of(&together("one")), digest_of(&together("two")));
        assert_ne!(digest_of(&together("one")), digest_of(&given(path(), None, ToolKind::Edit)));

        let mut later = given(path(), None, ToolKind::Edit);
        later.update(&ToolCallUpdateFields::new(), Some(&[diff("one")]), ToolKind::Edit);
        assert_eq!(digest_of(&later), digest_of(&together("one")));
        later.update(&ToolCallUpdateFields::new().raw_input(json!({ "file_path": "/p/b" })), None, ToolKind::Edit);
        assert_ne!(digest_of(&later), digest_of(&together("one")));
        let moved = given(json!({ "file_path": "/p/b" }), Some(&[diff("one")]), ToolKind::Edit);
        assert_eq!(digest_of(&later), digest_of(&moved));
    }

    #[test]
    fn what_was_lost_is_not_made_up_for() {
        let mut given = given(json!({ "command": "ls" }), None, ToolKind::Execute);
        given.set_incomplete();
        given.update(&ToolCallUpdateFields::new().raw_input(json!({ "command": "ls" })), None, ToolKind::Execute);
        assert_eq!(given.digest(None, ToolKind::Execute), None);
    }
}
