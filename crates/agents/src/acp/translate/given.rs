//! All that a tool is given, as the mark by which the very same is known again.
//!
//! Invariant: nothing that could change what is done is left out, so two calls with one mark do the same; where not all
//! is told there is no mark. A title is never part of it.

use agent_client_protocol::v1::schema::ToolCallUpdateFields;
use model::ToolKind;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::question::is_only_a_command;

/// Words beside a command that a shell never sees.
const WORDS: [&str; 3] = ["description", "explanation", "justification"];

type Mark = [u8; 32];

/// What the messages about one call have said of it so far. Each part stays until another takes its place.
#[derive(Debug, Default)]
pub(super) struct Given {
    input: Option<Input>,
    /// The changes of files that are shown. Files that are only named do not say what becomes of them.
    diffs: Option<Mark>,
    is_incomplete: bool,
}

#[derive(Debug)]
struct Input {
    mark: Mark,
    /// What the work was called when it was marked, which decides what counts.
    kind: ToolKind,
}

impl Given {
    /// Takes in what a message says of it.
    pub(super) fn hear(&mut self, fields: &ToolCallUpdateFields, items: Option<&[Value]>, kind: ToolKind) {
        if let Some(input) = input_of(fields) {
            self.input = Some(Input { mark: mark(counted(input, kind)), kind });
        }
        if let Some(diffs) = shown(items) {
            self.diffs = Some(mark(diffs));
        }
    }

    /// Something of it is not known, and never will be.
    pub(super) fn lose(&mut self) {
        *self = Self { is_incomplete: true, ..Self::default() };
    }

    pub(super) fn has_input(&self) -> bool {
        self.input.is_some()
    }

    /// In hex, with the tool that it is given to. What kind of work is done says enough of the tool, unless it is of no
    /// kind.
    pub(super) fn digest(&self, tool: Option<&str>, kind: ToolKind) -> Option<String> {
        let is_nothing = self.input.is_none() && self.diffs.is_none();
        let is_other_work = self.input.as_ref().is_some_and(|input| input.kind != kind);
        let is_any_tool = kind == ToolKind::Other && tool.is_none_or(str::is_empty);
        if self.is_incomplete || is_nothing || is_other_work || is_any_tool {
            return None;
        }
        let mut hash = Sha256::new();
        for part in [self.input.as_ref().map(|input| input.mark), self.diffs] {
            hash.update([u8::from(part.is_some())]);
            hash.update(part.unwrap_or_default());
        }
        if let Some(tool) = tool {
            hash.update(tool);
        }
        Some(format!("{:x}", hash.finalize()))
    }
}

/// What the tool is given, if the message says anything of it.
pub(super) fn input_of(fields: &ToolCallUpdateFields) -> Option<&Value> {
    fields.raw_input.as_ref().filter(|input| match input {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    })
}

fn counted(input: &Value, kind: ToolKind) -> Value {
    let mut input = input.clone();
    if let Value::Object(members) = &mut input
        && kind == ToolKind::Execute
        && is_only_a_command(members)
    {
        members.retain(|name, _| !WORDS.contains(&name.as_str()));
    }
    input
}

fn mark(mut value: Value) -> Mark {
    // Agents do not keep an order.
    value.sort_all_objects();
    Sha256::digest(value.to_string()).into()
}

fn shown(items: Option<&[Value]>) -> Option<Value> {
    let is_diff = |item: &&Value| item.get("type").and_then(Value::as_str) == Some("diff");
    let diffs: Vec<&Value> = items.into_iter().flatten().filter(is_diff).collect();
    (!diffs.is_empty()).then(|| json!(diffs))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(input: Value, items: Option<&[Value]>, kind: ToolKind) -> Given {
        let mut given = Given::default();
        given.hear(&ToolCallUpdateFields::new().raw_input(input), items, kind);
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
        let digest_of = |given: &Given| given.digest(None, ToolKind::Edit).unwrap();
        let together = |text: &str| given(path(), Some(&[diff(text)]), ToolKind::Edit);
        assert_ne!(digest_of(&together("one")), digest_of(&together("two")));
        assert_ne!(digest_of(&together("one")), digest_of(&given(path(), None, ToolKind::Edit)));

        let mut later = given(path(), None, ToolKind::Edit);
        later.hear(&ToolCallUpdateFields::new(), Some(&[diff("one")]), ToolKind::Edit);
        assert_eq!(digest_of(&later), digest_of(&together("one")));
        later.hear(&ToolCallUpdateFields::new().raw_input(json!({ "file_path": "/p/b" })), None, ToolKind::Edit);
        assert_ne!(digest_of(&later), digest_of(&together("one")));
        let moved = given(json!({ "file_path": "/p/b" }), Some(&[diff("one")]), ToolKind::Edit);
        assert_eq!(digest_of(&later), digest_of(&moved));
    }

    #[test]
    fn what_was_lost_is_not_made_up_for() {
        let mut given = given(json!({ "command": "ls" }), None, ToolKind::Execute);
        given.lose();
        given.hear(&ToolCallUpdateFields::new().raw_input(json!({ "command": "ls" })), None, ToolKind::Execute);
        assert_eq!(given.digest(None, ToolKind::Execute), None);
    }
}
