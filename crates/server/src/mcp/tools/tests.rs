//! What holds for every tool, tried on the list of them.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::*;
use crate::mcp::budget::AnswerBudget;

/// What every conversation of every agent pays: 2,500 tokens, by the common measure of four characters each. All
/// endpoints together may take 4,000.
const MAX_LIST_BYTES: usize = 10_000;
const MAX_ALL_BYTES: usize = 16_000;
const MAX_DESCRIPTION_CHARS: usize = 300;

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

#[test]
fn the_list_is_small() {
    let list_of = |tools: Vec<Tool>| {
        serde_json::to_string(&tools.iter().map(Tool::listed_with_ui_meta).collect::<Vec<_>>()).unwrap()
    };
    let of_session = list_of(Tool::all(Endpoint::Session).collect());
    assert!(of_session.len() <= MAX_LIST_BYTES, "{} bytes: {of_session}", of_session.len());
    let list = list_of(TOOLS.to_vec());
    assert!(list.len() <= MAX_ALL_BYTES, "{} bytes: {list}", list.len());
    assert!(!list.contains("$schema") && !list.contains("\"format\"") && !list.contains("outputSchema"), "{list}");
    for tool in TOOLS {
        let chars = tool.about.description.chars().count();
        assert!((1..=MAX_DESCRIPTION_CHARS).contains(&chars), "{}: {chars}", tool.about.name);
    }
}

#[test]
fn every_schema_is_closed_and_says_of_each_argument_what_it_is_and_how_long() {
    for tool in TOOLS {
        let schema = tool.schema();
        assert_eq!(schema["additionalProperties"], false, "{}", tool.about.name);
        for (name, property) in schema["properties"].as_object().unwrap() {
            let place = format!("{} {name}: {property}", tool.about.name);
            let description = property["description"].as_str().unwrap();
            assert!((5..=MAX_DESCRIPTION_CHARS).contains(&description.chars().count()), "{place}");
            assert!(is_bounded(property), "{place}");
        }
    }
}

fn is_bounded(property: &Value) -> bool {
    match property["type"].as_str() {
        Some("string") => property["maxLength"].is_u64() || property["enum"].is_array(),
        Some("integer") => property["minimum"].is_u64() && property["maximum"].is_u64(),
        Some("array") => property["maxItems"].is_u64() && is_bounded(&property["items"]),
        Some("object") => {
            let values = &property["additionalProperties"];
            property["maxProperties"].is_u64() && (values.is_null() || is_bounded(values))
        }
        _ => false,
    }
}

/// Values just beyond what a property states.
fn beyond(property: &Value) -> Vec<Value> {
    let bound = |name: &str| usize::try_from(property[name].as_u64().unwrap()).unwrap();
    match property["type"].as_str() {
        Some("string") if property["enum"].is_array() => vec![json!("no-such-word")],
        Some("string") => vec![json!("1".repeat(bound("maxLength") + 1))],
        Some("integer") => {
            let below = i64::try_from(bound("minimum")).unwrap() - 1;
            vec![json!(below), json!(bound("maximum") + 1)]
        }
        Some("array") => {
            let long = beyond(&property["items"]).remove(0);
            vec![json!(vec!["/a"; bound("maxItems") + 1]), json!([long])]
        }
        Some("object") => {
            let many = (0..=bound("maxProperties")).map(|n| (n.to_string(), json!("x")));
            let mut wrong = vec![Value::Object(many.collect()), json!("{}"), json!([])];
            if property["additionalProperties"].is_object() {
                let long = beyond(&property["additionalProperties"]).remove(0);
                wrong.extend([json!({ "a": long }), json!({ "a": 1 })]);
            }
            wrong
        }
        _ => panic!("{property}"),
    }
}

#[test]
fn what_is_beyond_a_stated_bound_is_refused_and_so_is_what_is_not_stated() {
    for tool in TOOLS {
        let read = |input: Value| (tool.read)(&object(input)).map(drop);
        read(tool.example()).unwrap();
        for (name, property) in tool.schema()["properties"].as_object().unwrap() {
            for value in beyond(property) {
                let mut input = tool.example();
                input[name] = value;
                let err = read(input.clone()).unwrap_err();
                assert!(err.to_string().contains(name.as_str()), "{err}");
                assert!(!tool.takes(&object(input)), "{} {name}", tool.about.name);
            }
        }
        for foreign in [json!({ "shell": "rm -rf ~" }), json!({ "path": "/etc/passwd", "content": "x" })] {
            let mut input = object(tool.example());
            input.extend(object(foreign));
            assert!(matches!((tool.read)(&input), Err(ArgumentError::Unknown { .. })), "{}", tool.about.name);
            assert!(!tool.takes(&input), "{}", tool.about.name);
        }
    }
}

#[test]
fn every_argument_takes_its_example() {
    for tool in TOOLS {
        let all = tool.arguments.iter().map(|argument| (argument.name.to_owned(), argument.example()));
        let all: JsonObject = all.collect();
        assert_eq!((tool.read)(&all).err(), None, "{}", tool.about.name);
        assert!(tool.takes(&all) && tool.takes(&object(tool.example())), "{}", tool.about.name);
    }
    let example = |name| Tool::find(Endpoint::Session, name).unwrap().example().to_string();
    assert_eq!(example("get_turns"), r#"{"from":"t3","to":"t7"}"#);
}

#[test]
fn what_a_schema_does_not_say_is_not_taken_unasked() {
    let takes = |tool: &str, input: Value| (own_tools().takes)(tool, &object(input));
    let set = "set_relevant_context";
    assert!(takes(set, json!({ "setName": "files", "items": ["/a"], "mode": "merge" })));
    for wrong in [
        json!({ "setName": "files" }),
        json!({ "setName": "files", "items": "/a" }),
        json!({ "setName": "files", "items": [1] }),
        json!({ "setName": "files", "items": ["/a"], "mode": "append" }),
        json!({ "setName": "files", "items": ["/a"], "command": "ls" }),
        json!({ "setName": "files", "items": vec!["/a"; 99] }),
    ] {
        assert!(!takes(set, wrong.clone()), "{wrong}");
    }
    assert!(takes("list_sessions", json!({ "limit": 3 })));
    assert!(!takes("list_sessions", json!({ "limit": 0 })) && !takes("list_sessions", json!({ "limit": -1 })));
    assert!(!takes("bash", json!({})));
}

#[test]
fn tools_that_show_say_when_to_use_them() {
    for name in ["render_file_contents", "run_and_display"] {
        let description = Tool::find(Endpoint::Show, name).unwrap().about.description;
        assert!(description.contains("\"show me\"") && description.contains("use your own tools"), "{description}");
    }
    let asks: Vec<_> = own_tools().unasked.into_iter().filter(|tool| tool.asks_itself).map(|tool| tool.name).collect();
    assert_eq!(asks, ["run_and_display"]);
}

#[test]
fn names_are_given_once_and_budgets_are_what_the_arguments_say() {
    for tool in TOOLS {
        assert_eq!(TOOLS.iter().filter(|other| other.about.name == tool.about.name).count(), 1, "{}", tool.about.name);
        let is_asked_for = tool.arguments.iter().any(|argument| argument.name == "max_tokens");
        assert_eq!(tool.about.budget == AnswerBudget::AskedFor, is_asked_for, "{}", tool.about.name);
    }
    assert_eq!(own_tools().unasked.len(), TOOLS.len());
    let err = Tool::find(Endpoint::Session, &"x".repeat(1_000)).unwrap_err().to_string();
    assert!(err.contains("set_relevant_context") && err.len() < 500, "{err}");
}
