//! Tests what is taken from calls as edits of files, and how edits become the history of a file.

use serde_json::json;

use super::*;
use crate::{FactShape, ToolChange, ToolKind};

fn fact(name: &str, value: &str) -> Fact {
    let (name, value, rule) = (name.to_owned(), value.to_owned(), "r".to_owned());
    Fact { name, shape: FactShape::List, value, rule, exit_code: None, file: None }
}

fn call(change: &ToolChange) -> ToolCall {
    ToolCall::begin(1, "1".to_owned(), change)
}

fn edited(change: &ToolChange) -> Vec<FileEdit> {
    file_edits(Turn(2), Some(&call(change)), &[fact("filesEdited", "/w/a.txt")], "/w")
}

#[test]
fn texts_come_from_the_diffs_of_this_file() {
    let diff = |path: &str, new: &str| ToolContent::Diff {
        path: path.to_owned(),
        old_text: Some("old".to_owned()),
        new_text: new.to_owned(),
    };
    let content = Some(vec![diff("a.txt", "one"), diff("/w/b.txt", "other"), diff("/w/./a.txt", "two")]);
    let edits = edited(&ToolChange { content, ..ToolChange::default() });
    let news: Vec<&str> = edits[0].texts.iter().map(|text| text.new.as_str()).collect();
    assert_eq!((edits.len(), news), (1, vec!["one", "two"]));
}

#[test]
fn without_diffs_they_come_from_the_input_and_what_is_not_shown_is_not_known() {
    let of = |input| edited(&ToolChange { input: Some(input), ..ToolChange::default() }).remove(0).texts;
    let part = Replacement { old: Some("x".to_owned()), new: "y".to_owned(), is_whole: false };
    assert_eq!(of(json!({ "file_path": "a.txt", "old_string": "x", "new_string": "y" })), std::slice::from_ref(&part));
    assert_eq!(of(json!({ "edits": [{ "oldText": "x", "newText": "y" }] })), std::slice::from_ref(&part));
    assert_eq!(of(json!({ "tool": "e", "arguments": { "old_str": "x", "new_str": "y" } })), [part]);
    assert_eq!(of(json!({ "edits": [{ "oldText": "x", "newText": "y" }, { "line": 3 }] })), []);
    assert!(of(json!({ "content": "all" }))[0].is_whole);
    assert_eq!(of(json!({ "patch": "…" })), []);
}

#[test]
fn a_move_says_where_the_file_was_and_that_it_is_gone_there() {
    let facts = [fact("filesDeleted", "/w/a"), fact("filesCreated", "/w/b"), fact("commands", "mv a b")];
    let by_kind = ToolChange { kind: Some(ToolKind::Move), ..ToolChange::default() };
    let by_name = ToolChange { name: Some("move_file".to_owned()), ..ToolChange::default() };
    for change in [by_kind, by_name] {
        let edits = file_edits(Turn(1), Some(&call(&change)), &facts, "/w");
        assert_eq!(shown(&edits), "moved /w/b from /w/a, deleted /w/a");
    }
    // A patch that adds one file and deletes another is none, and without the call nobody knows.
    let patch = call(&ToolChange { kind: Some(ToolKind::Edit), ..ToolChange::default() });
    for call in [Some(&patch), None] {
        assert_eq!(shown(&file_edits(Turn(1), call, &facts, "/w")), "deleted /w/a, created /w/b");
    }
}

fn edit(status: FileStatus, path: &str, from: Option<&str>) -> FileEdit {
    let (path, from) = (path.to_owned(), from.map(str::to_owned));
    FileEdit { turn: Turn(1), path, status, from, texts: Vec::new(), stamp: None }
}

fn moved(from: &str, to: &str) -> [FileEdit; 2] {
    [edit(FileStatus::Moved, to, Some(from)), edit(FileStatus::Deleted, from, None)]
}

fn shown(edits: &[FileEdit]) -> String {
    let edits = edits.iter().map(|FileEdit { path, status, from, .. }| {
        let from = from.as_ref().map_or_else(String::new, |from| format!(" from {from}"));
        let status = serde_json::to_value(status).unwrap();
        format!("{} {path}{from}", status.as_str().unwrap())
    });
    edits.collect::<Vec<_>>().join(", ")
}

fn histories(edits: impl IntoIterator<Item = FileEdit>) -> Vec<String> {
    let all = file_histories(edits.into_iter().collect());
    all.into_iter().map(|(path, edits)| format!("{path}: {}", shown(&edits))).collect()
}

#[test]
fn a_moved_file_keeps_its_edits_and_leaves_nothing_behind() {
    let made = edit(FileStatus::Created, "a", None);
    let changed = |path| edit(FileStatus::Changed, path, None);
    let [to_b, gone_a] = moved("a", "b");
    let [to_c, gone_b] = moved("b", "c");
    let edits = [made.clone(), to_b.clone(), gone_a.clone(), changed("b"), to_c, gone_b, changed("c")];
    assert_eq!(histories(edits), ["c: created a, moved b from a, changed b, moved c from b, changed c"]);
    // A new file where the moved one was has a history of its own, and so has one that was deleted there before.
    let again = [changed("a"), to_b.clone(), gone_a.clone(), made.clone()];
    assert_eq!(histories(again), ["a: created a", "b: changed a, moved b from a"]);
    let before = [edit(FileStatus::Deleted, "a", None), made, to_b, gone_a];
    assert_eq!(histories(before), ["a: deleted a, deleted a", "b: created a, moved b from a"]);
}
