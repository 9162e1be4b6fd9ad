//! What calls prove, in the shapes in which real agents tell them.

use serde_json::json;

use super::*;
use crate::{Location, ToolChange, ToolContent, ToolKind, ToolStatus};

/// `name=value` of what a call proves, in order.
fn proved(change: ToolChange) -> Vec<String> {
    let change = ToolChange { status: Some(change.status.unwrap_or(ToolStatus::Completed)), ..change };
    let call = ToolCall::begin(1, "c".to_owned(), &change);
    let show = |fact: Fact| match fact.exit_code {
        Some(code) => format!("{}={} -> {code}", fact.name, fact.value),
        None => format!("{}={}", fact.name, fact.value),
    };
    prove(&call, "/repo").into_iter().map(show).collect()
}

fn diff(path: &str, old: Option<&str>) -> ToolContent {
    ToolContent::Diff { path: path.to_owned(), old_text: old.map(str::to_owned), new_text: "n".to_owned() }
}

fn located(path: &str) -> Option<Vec<Location>> {
    Some(vec![Location { path: path.to_owned(), line: None }])
}

#[test]
fn files_come_from_diffs_inputs_and_locations() {
    let edit = ToolChange { kind: Some(ToolKind::Edit), ..ToolChange::default() };
    let by_diff = ToolChange {
        content: Some(vec![diff("src/a.rs", Some("o")), diff("/repo/src/../new.rs", None)]),
        locations: located("/repo/other.rs"),
        ..edit.clone()
    };
    assert_eq!(proved(by_diff), ["filesEdited=/repo/src/a.rs", "filesCreated=/repo/new.rs"]);
    let by_input = ToolChange { input: Some(json!({ "filePath": "b.rs", "content": "x" })), ..edit.clone() };
    assert_eq!(proved(by_input), ["filesEdited=/repo/b.rs"]);
    let by_location = ToolChange { locations: located("/repo/c.rs"), ..edit };
    assert_eq!(proved(by_location), ["filesEdited=/repo/c.rs"]);
    let patch = json!({ "changes": { "/repo/a": { "type": "add" }, "/repo/b": { "type": "update" }, "c": { "type": "delete" } } });
    let patch = ToolChange { kind: Some(ToolKind::Edit), input: Some(patch), ..ToolChange::default() };
    assert_eq!(proved(patch), ["filesCreated=/repo/a", "filesEdited=/repo/b", "filesDeleted=/repo/c"]);
}

#[test]
fn a_file_that_was_not_there_before_the_call_is_a_new_one() {
    let write = |new_files: &[&str]| ToolChange {
        kind: Some(ToolKind::Edit),
        input: Some(json!({ "path": "src/new.rs", "content": "x" })),
        new_files: Some(new_files.iter().map(|path| (*path).to_owned()).collect()),
        ..ToolChange::default()
    };
    assert_eq!(proved(write(&["/repo/src/new.rs"])), ["filesCreated=/repo/src/new.rs"]);
    assert_eq!(proved(write(&["/repo/src/other.rs"])), ["filesEdited=/repo/src/new.rs"]);
    let read = ToolChange { kind: Some(ToolKind::Read), ..write(&["/repo/src/new.rs"]) };
    assert_eq!(proved(read), ["filesRead=/repo/src/new.rs"]);
}

#[test]
fn the_files_of_a_message_are_found_wherever_it_names_them() {
    let of = |change: ToolChange| named_files(&change, "/repo");
    let shown = ToolContent::Text { text: r#"{"path":"a.rs","content":"x"}"#.to_owned() };
    let words = ToolContent::Text { text: "{ about b.rs }".to_owned() };
    let content = Some(vec![shown, words, diff("/repo/c.rs", Some(""))]);
    assert_eq!(of(ToolChange { content, ..ToolChange::default() }), ["/repo/a.rs", "/repo/c.rs"]);
    let input = Some(json!({ "tool": "write", "arguments": { "file_path": "/x/d.rs" } }));
    let change = ToolChange { input, locations: located("./e.rs"), ..ToolChange::default() };
    assert_eq!(of(change), ["/repo/e.rs", "/x/d.rs"]);
    let patch = Some(json!({ "changes": { "f.rs": { "type": "update" } } }));
    assert_eq!(of(ToolChange { input: patch, ..ToolChange::default() }), ["/repo/f.rs"]);
}

#[test]
fn reading_deleting_and_moving_are_told_apart() {
    let of = |kind, input| proved(ToolChange { kind: Some(kind), input: Some(input), ..ToolChange::default() });
    assert_eq!(of(ToolKind::Read, json!({ "file_path": "/repo/a" })), ["filesRead=/repo/a"]);
    assert_eq!(of(ToolKind::Delete, json!({ "path": "a" })), ["filesDeleted=/repo/a"]);
    assert_eq!(of(ToolKind::Move, json!({ "from": "a", "to": "b" })), ["filesDeleted=/repo/a", "filesCreated=/repo/b"]);
    assert!(of(ToolKind::Search, json!({ "path": "/repo" })).is_empty());
    let named = |name: &str| ToolChange {
        name: Some(name.to_owned()),
        input: Some(json!({ "path": "a" })),
        ..ToolChange::default()
    };
    assert_eq!(proved(named("mcp__fs__edit_file")), ["filesEdited=/repo/a"]);
    assert_eq!(proved(named("ReadFile")), ["filesRead=/repo/a"]);
    assert!(proved(named("lookup_note")).is_empty());
}

#[test]
fn a_failed_call_leaves_no_trace() {
    let edit =
        ToolChange { kind: Some(ToolKind::Edit), input: Some(json!({ "path": "/repo/a" })), ..ToolChange::default() };
    assert_eq!(proved(edit.clone()).len(), 1);
    for status in [ToolStatus::Failed, ToolStatus::Cancelled, ToolStatus::Running, ToolStatus::Pending] {
        assert!(proved(ToolChange { status: Some(status), ..edit.clone() }).is_empty(), "{status:?}");
    }
    for output in [
        json!({ "error": "no such file" }),
        json!({ "error": { "code": 1 } }),
        json!({ "isError": true }),
        json!({ "result": { "isError": true } }),
        json!("{\"error\": \"not found\"}"),
        json!({ "success": false }),
        json!({ "content": [{ "type": "text", "text": "{\"error\": \"not found\"}" }] }),
        json!([{ "type": "text", "text": "{\"success\": false}" }]),
        json!({ "content": [], "structuredContent": { "error": "not found" } }),
        json!({ "exit_code": 1 }),
    ] {
        assert!(proved(ToolChange { output: Some(output.clone()), ..edit.clone() }).is_empty(), "{output}");
    }
    for output in
        [json!({ "error": null }), json!({ "error": "" }), json!({ "error": false }), json!("error"), json!([])]
    {
        assert_eq!(proved(ToolChange { output: Some(output.clone()), ..edit.clone() }).len(), 1, "{output}");
    }
}

#[test]
fn commands_are_told_with_how_they_ended() {
    let run = |input, output| {
        proved(ToolChange { kind: Some(ToolKind::Execute), input: Some(input), output, ..ToolChange::default() })
    };
    assert_eq!(
        run(json!({ "command": "cargo test" }), Some(json!({ "metadata": { "exit": 0 } }))),
        ["commands=cargo test -> 0"]
    );
    assert_eq!(
        run(json!({ "command": ["bash", "-lc", "make all"] }), Some(json!({ "exit_code": 2 }))),
        ["commands=make all -> 2"]
    );
    assert_eq!(run(json!({ "command": "a\nb" }), None), ["commands=a …"]);
    assert_eq!(run(json!({ "command": "bash -lc \"cd /repo && make\"" }), None), ["commands=make"]);
    assert!(run(json!({ "server": "notes", "tool": "look", "arguments": { "command": "x" } }), None).is_empty());
    let terminal = ToolContent::Terminal { command: "npm start".to_owned(), output: String::new(), exit_code: Some(1) };
    assert_eq!(
        proved(ToolChange { content: Some(vec![terminal]), ..ToolChange::default() }),
        ["commands=npm start -> 1"]
    );
}

#[test]
fn a_program_that_says_where_it_listens_is_believed_and_other_addresses_are_not() {
    let said = |output: &str| {
        let terminal =
            ToolContent::Terminal { command: "serve".to_owned(), output: output.to_owned(), exit_code: None };
        let mut facts = proved(ToolChange { content: Some(vec![terminal]), ..ToolChange::default() });
        facts.remove(0);
        facts
    };
    assert_eq!(said("  ➜  Local:   http://localhost:5173/"), ["urls=http://localhost:5173/", "ports=5173"]);
    assert_eq!(said("Server listening on http://127.0.0.1:3000."), ["urls=http://127.0.0.1:3000", "ports=3000"]);
    assert_eq!(said("Listening on port 8080"), ["ports=8080"]);
    assert!(said("see http://localhost:9/").is_empty());
    let failed = ToolContent::Terminal {
        command: "serve".to_owned(),
        output: "listening on http://localhost:1/".to_owned(),
        exit_code: Some(1),
    };
    assert_eq!(proved(ToolChange { content: Some(vec![failed]), ..ToolChange::default() }), ["commands=serve -> 1"]);
    assert!(said("listening to https://music.example:443/").is_empty());
    assert!(said("listening on http://").is_empty());
}

#[test]
fn the_branch_is_the_one_git_says() {
    let branch = |command: &str, output: &str| {
        let output = output.to_owned();
        let terminal = ToolContent::Terminal { command: command.to_owned(), output, exit_code: Some(0) };
        proved(ToolChange { content: Some(vec![terminal]), ..ToolChange::default() }).get(1).cloned()
    };
    assert_eq!(branch("git checkout -b feature/x", "").as_deref(), Some("branch=feature/x"));
    assert_eq!(branch("git switch -c y", "").as_deref(), Some("branch=y"));
    assert_eq!(branch("git status", "On branch main\nnothing to commit").as_deref(), Some("branch=main"));
    assert_eq!(branch("git branch --show-current", "dev\n").as_deref(), Some("branch=dev"));
    assert_eq!(branch("git checkout -- a.rs", ""), None);
    assert_eq!(branch("git switch --detach v1", ""), None);
    assert_eq!(branch("git status | head", "On branch main"), None);
}

#[test]
fn what_is_too_much_or_no_path_proves_nothing() {
    let edit = |path: &str| {
        proved(ToolChange { kind: Some(ToolKind::Edit), input: Some(json!({ "path": path })), ..ToolChange::default() })
    };
    for path in ["/", "a\nb", "..", "/a/..", "a\0", &"x".repeat(5_000)] {
        let facts = edit(path);
        assert!(
            facts.is_empty() || facts == ["filesEdited=/repo"] || facts == ["filesEdited=/"],
            "{path:?}: {facts:?}"
        );
    }
    let many = (0..500).map(|n| diff(&format!("/f{n}"), Some("o"))).collect();
    assert_eq!(proved(ToolChange { content: Some(many), ..ToolChange::default() }).len(), MAX_FACTS_OF_CALL);
}

#[test]
fn an_intent_is_what_the_tool_was_given() {
    let intent = |name: Option<&str>, input| {
        let change = ToolChange { name: name.map(str::to_owned), input: Some(input), ..ToolChange::default() };
        tool_intent(&ToolCall::begin(1, "c".to_owned(), &change)).map(str::to_owned)
    };
    assert_eq!(intent(Some("report_intent"), json!({ "intent": "Fix it" })).as_deref(), Some("Fix it"));
    let wrapped = json!({ "server": "s", "tool": "report_intent", "arguments": { "intent": "Go" } });
    assert_eq!(intent(None, wrapped).as_deref(), Some("Go"));
    assert_eq!(intent(Some("report_intent"), json!({ "intent": 3 })), None);
    assert_eq!(intent(Some("other"), json!({ "intent": "x" })), None);
}
