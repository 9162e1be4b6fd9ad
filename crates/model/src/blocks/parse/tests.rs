//! What bodies say, in each way in which agents write them.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::MAX_NAME_CHARS;

fn said(sort: Sort, body: &str) -> Option<Value> {
    parse(sort, body).map(|shown| match shown {
        Shown::Next(next) => serde_json::to_value(next).unwrap(),
        Shown::Card(Card::UseCase { use_cases }) => serde_json::to_value(use_cases).unwrap(),
        Shown::Card(Card::EventModel { slices }) => serde_json::to_value(slices).unwrap(),
        Shown::Card(Card::Tasks { tasks }) => serde_json::to_value(tasks).unwrap(),
    })
}

/// What is expected need not say what is empty.
#[track_caller]
fn check(sort: Sort, body: &Value, expected: &Value) {
    let mut said = said(sort, &body.to_string()).unwrap_or_else(|| panic!("nothing: {body}"));
    drop_empty(&mut said);
    assert_eq!(&said, expected, "{body}");
}

fn drop_empty(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(drop_empty),
        Value::Object(values) => {
            values.values_mut().for_each(drop_empty);
            values.retain(|_, value| *value != json!("") && *value != json!([]) && *value != json!(false));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => (),
    }
}

#[test]
fn a_next_block_offers_a_step() {
    let whole = json!({"label": "Write it", "command": "/write loom", "metaContext": "loom"});
    check(Sort::Next, &whole, &whole);
    let cleaned = json!({"label": " <b>Go</b>\u{202e}\n\u{200b}on\u{0} ", "command": "\n/go\u{0}\u{1b}[31m\r\n\tnow ",
        "metaContext": " lo\u{200b}om ", "more": [1]});
    let expected = json!({"label": "<b>Go</b> on", "command": "/go\n\tnow", "metaContext": "loom"});
    check(Sort::Next, &cleaned, &expected);
    let long = "x".repeat(MAX_LABEL_CHARS + 1);
    check(
        Sort::Next,
        &json!({"label": long, "command": "x".repeat(MAX_COMMAND_BYTES)}),
        &json!({"label": format!("{}…", &long[2..]), "command": "x".repeat(MAX_COMMAND_BYTES)}),
    );
}

#[test]
fn a_next_block_may_not_know_its_work() {
    let too_long = "x".repeat(MAX_NAME_CHARS + 1);
    for work in [json!(null), json!(""), json!(" \u{200b}"), json!(7), json!(["loom"]), json!(too_long)] {
        let body = json!({"label": "Go", "command": "/go", "metaContext": work});
        check(Sort::Next, &body, &json!({"label": "Go", "command": "/go"}));
    }
    check(Sort::Next, &json!({"label": "Go", "command": "/go"}), &json!({"label": "Go", "command": "/go"}));
}

#[test]
fn what_says_nothing_stays_code() {
    let deep = format!("{{\"label\":{}1{}}}", "[".repeat(20_000), "]".repeat(20_000));
    for body in [
        "",
        "go on",
        "7",
        "null",
        "[]",
        "{}",
        r#"{"label":"Go"}"#,
        r#"{"command":"/go"}"#,
        r#"{"label":"","command":"/go"}"#,
        r#"{"label":"Go","command":" \n"}"#,
        r#"{"label":"\u200b\u202e\u0000","command":"/go"}"#,
        r#"{"label":"Go","command":"\u200b\u001b[0m"}"#,
        r#"{"label":1,"command":"/go"}"#,
        r#"{"label":"Go","command":["/go"]}"#,
        r#"{"label":"Go","command":"/go",}"#,
        r#"{"label":"Go","command":"/go"} and more"#,
        r#"[{"label":"Go","command":"/go","metaContext":"loom"}]"#,
        r#"{"label":"Go","command":"/go"#,
        "{\"label\":\"Go\",\"command\":\"/go\nnow\"}",
        r#"{"label":"Go","command":"/go","metaContext":1e999}"#,
        &deep,
        &format!(r#"{{"label":"Go","command":"{}"}}"#, "x".repeat(MAX_COMMAND_BYTES + 1)),
    ] {
        assert_eq!(said(Sort::Next, body), None, "{body}");
    }
    for (sort, body) in [
        (Sort::UseCase, r#"{"actor":"Weaver"}"#),
        (Sort::UseCase, r#"{"id":"","name":" "}"#),
        (Sort::UseCase, r#"["UC-1"]"#),
        (Sort::UseCase, r#"[{"id":"UC-1"},{"actor":"Weaver"}]"#),
        (Sort::UseCase, "[]"),
        (Sort::EventModel, r#"{"label":"Weave"}"#),
        (Sort::EventModel, r#"{"slice":["weave"]}"#),
        (Sort::EventModel, r#""weave""#),
        (Sort::Tasks, r#"{"description":"weave"}"#),
        (Sort::Tasks, r#"{"tasks":[]}"#),
        (Sort::Tasks, "[[{\"id\":1}]]"),
    ] {
        assert_eq!(said(sort, body), None, "{body}");
    }
    let many = vec![json!({"id": 1}); values::MAX_ITEMS + 1];
    assert_eq!(said(Sort::Tasks, &json!(many).to_string()), None, "no task is hidden");
}

#[test]
fn use_cases() {
    let whole = json!({"id": "UC-1", "name": "Weave a row", "actor": "Weaver", "summary": "A row\nis woven.",
        "given": ["a warp", "a weft"], "when": ["the shuttle passes"], "then": ["a row is there"], "priority": "high",
        "dependencies": ["UC-0"], "edgeCases": ["the thread breaks"]});
    check(Sort::UseCase, &whole, &json!([whole]));
    check(Sort::UseCase, &json!([whole, whole]), &json!([whole, whole]));
    check(
        Sort::UseCase,
        &json!({"name": "Weave", "given": "a warp", "when": 7, "then": [null, "", true, {"a": 1}, "x"], "priority": " Medium",
            "dependencies": "UC-0", "edgeCases": null}),
        &json!([{"name": "Weave", "given": ["a warp"], "when": ["7"], "then": ["true", "x"], "priority": "medium",
            "dependencies": ["UC-0"]}]),
    );
    check(Sort::UseCase, &json!({"id": 1, "priority": "urgent"}), &json!([{"id": "1"}]));
    check(Sort::UseCase, &json!({"id": 1, "priority": "LOW"}), &json!([{"id": "1", "priority": "low"}]));
}

#[test]
fn event_models() {
    check(
        Sort::EventModel,
        &json!({"slice": "weave", "label": "Weave", "screen": "Loom",
            "command": {"name": "WeaveRow", "new": true, "fields": {"zeta": "number", "alpha": {"of": "rows"}, "mid": null}},
            "events": [{"name": "RowWoven", "new": "yes", "fields": ["row", 7, {"name": "at", "type": "time"}, {"type": "x"}],
                "feeds": "Cloth"}, "Rang", {"new": true}],
            "projections": {"name": "Cloth", "feeds": ["A", "B"]},
            "sideEffects": "the bell rings"}),
        &json!([{"slice": "weave", "label": "Weave", "screen": {"name": "Loom"},
            "command": {"name": "WeaveRow", "new": true, "fields": [{"name": "zeta", "type": "number"},
                {"name": "alpha", "type": "{\"of\":\"rows\"}"}, {"name": "mid"}]},
            "events": [{"name": "RowWoven", "fields": [{"name": "row"}, {"name": "7"}, {"name": "at", "type": "time"}],
                "feeds": ["Cloth"]}, {"name": "Rang"}],
            "projections": [{"name": "Cloth", "feeds": ["A", "B"]}],
            "sideEffects": [{"name": "the bell rings"}]}]),
    );
    check(
        Sort::EventModel,
        &json!([{"slice": 1, "screen": {"name": "Loom"}, "sideEffects": ["a", {"name": "b"}]}]),
        &json!([{"slice": "1", "screen": {"name": "Loom"}, "sideEffects": [{"name": "a"}, {"name": "b"}]}]),
    );
}

#[test]
fn tasks() {
    let told = json!([{"id": "T-1", "name": "Thread", "ucs": ["UC-1"], "depends": ["T-0"], "wave": 2, "kind": "no-op",
        "create": ["src/loom.rs"], "modify": ["a", "b"], "description": "Thread it."}]);
    let task = json!({"id": "T-1", "name": "Thread", "ucs": "UC-1", "depends": ["T-0"], "wave": "2", "kind": "no-op",
        "files": {"create": "src/loom.rs", "modify": ["a", "b"]}, "description": "Thread it."});
    for body in [json!([task]), json!({"tasks": [task]}), json!({"tasks": task}), task] {
        check(Sort::Tasks, &body, &told);
    }
    check(
        Sort::Tasks,
        &json!([{"id": 1, "wave": -1, "files": ["a"]}, {"name": "b", "wave": 3, "kind": "Odd"}]),
        &json!([{"id": "1"}, {"name": "b", "wave": 3, "kind": "Odd"}]),
    );
}

#[test]
fn a_card_is_clean_and_bounded() {
    let long = format!("\u{202e}a\u{0}{}", "ä".repeat(10_000));
    let body = json!({"id": long, "summary": long, "given": vec!["x"; 1_000]});
    let Some(Shown::Card(Card::UseCase { use_cases })) = parse(Sort::UseCase, &body.to_string()) else { panic!() };
    let case = &use_cases[0];
    assert_eq!((case.id.chars().count(), case.summary.chars().count(), case.given.len()), (200, 4_000, 200));
    assert!(case.id.starts_with("aä") && case.id.ends_with("ä…") && case.summary.ends_with("ä…"));
    let fields: serde_json::Map<String, Value> = (0..1_000).map(|at| (format!("f{at}"), json!("x"))).collect();
    let body = json!({"slice": "s", "screen": {"name": "n", "fields": fields}});
    let Some(Shown::Card(Card::EventModel { slices })) = parse(Sort::EventModel, &body.to_string()) else { panic!() };
    let fields = &slices[0].screen.as_ref().unwrap().fields;
    assert_eq!((fields.len(), fields[199].name.as_str()), (200, "f199"));
}

#[test]
fn a_key_that_is_told_twice_means_its_last() {
    let body = r#"{"label":"Go","label":"Stop","command":"/go","metaContext":"a","metaContext":"b"}"#;
    assert_eq!(said(Sort::Next, body), Some(json!({"label": "Stop", "command": "/go", "metaContext": "b"})));
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(Value::from("high")),
    ];
    let keys = [
        "id",
        "name",
        "slice",
        "label",
        "command",
        "metaContext",
        "given",
        "priority",
        "screen",
        "events",
        "fields",
        "feeds",
        "sideEffects",
        "tasks",
        "files",
        "create",
        "wave",
        "type",
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((prop::sample::select(keys.to_vec()), inner), 0..8)
                .prop_map(|told| told.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

fn strings(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::String(text) => all.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, all)),
        Value::Object(values) => values.values().for_each(|value| strings(value, all)),
        Value::Null | Value::Bool(_) | Value::Number(_) => (),
    }
}

proptest! {
    #[test]
    fn whatever_is_said_is_clean(value in any_value(), text in any::<String>()) {
        for sort in [Sort::Next, Sort::UseCase, Sort::EventModel, Sort::Tasks] {
            prop_assert_eq!(said(sort, &text).is_some(), false);
            let Some(said) = said(sort, &value.to_string()) else { continue };
            let mut told = Vec::new();
            strings(&said, &mut told);
            for text in told {
                prop_assert_eq!(&plain_text(&text), &text);
                prop_assert_eq!(text.trim(), &text);
            }
        }
    }
}
