//! Whether a tool would take an input, by the schema that it is listed with.
//!
//! Invariant: what the tools' schemas use is checked and nothing else is let through: an argument that no schema names, or a
//! kind of value that this file does not know, is not valid.

use serde_json::{Map, Value};

use super::all;

/// Whether there is such a tool and it takes this.
pub fn takes(tool: &str, input: &Map<String, Value>) -> bool {
    let Some(tool) = all().into_iter().find(|known| known.name == tool) else { return false };
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    let required = tool.input_schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let is_whole = required.filter_map(Value::as_str).all(|name| input.contains_key(name));
    let is_known = |(name, value): (&String, &Value)| {
        properties.and_then(|properties| properties.get(name)).is_some_and(|schema| fits(value, schema))
    };
    is_whole && input.iter().all(is_known)
}

fn fits(value: &Value, schema: &Value) -> bool {
    let is_one_of = schema.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(value));
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
    let fits = match schema.get("type").and_then(Value::as_str) {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.as_u64().is_some_and(|number| {
            bound("minimum").is_none_or(|least| least <= number) && bound("maximum").is_none_or(|most| number <= most)
        }),
        Some("array") => match (value.as_array(), schema.get("items")) {
            (Some(items), Some(schema)) => {
                let most = bound("maxItems").unwrap_or(u64::MAX);
                items.len() as u64 <= most && items.iter().all(|item| fits(item, schema))
            }
            _ => false,
        },
        Some(_) | None => false,
    };
    is_one_of && fits
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn takes_json(tool: &str, input: &Value) -> bool {
        input.as_object().is_some_and(|input| takes(tool, input))
    }

    #[test]
    fn every_tool_takes_its_example_and_no_tool_a_command() {
        for tool in all() {
            let example = super::super::example(&tool.name).unwrap();
            assert!(takes_json(&tool.name, &serde_json::from_str(&example).unwrap()), "{}: {example}", tool.name);
            for foreign in [json!({ "command": "rm -rf ~" }), json!({ "path": "/etc/passwd", "content": "x" })] {
                assert!(!takes_json(&tool.name, &foreign), "{}: {foreign}", tool.name);
            }
        }
    }

    #[test]
    fn what_a_schema_does_not_say_is_not_valid() {
        let set = "set_relevant_context";
        assert!(takes_json(set, &json!({ "setName": "files", "items": ["/a"], "mode": "merge" })));
        for wrong in [
            json!({ "setName": "files" }),
            json!({ "setName": "files", "items": "/a" }),
            json!({ "setName": "files", "items": [1] }),
            json!({ "setName": "files", "items": ["/a"], "mode": "append" }),
            json!({ "setName": "files", "items": ["/a"], "command": "ls" }),
            json!({ "setName": "files", "items": vec!["/a"; 99] }),
        ] {
            assert!(!takes_json(set, &wrong), "{wrong}");
        }
        assert!(takes_json("list_sessions", &json!({ "limit": 3 })));
        assert!(
            !takes_json("list_sessions", &json!({ "limit": 0 }))
                && !takes_json("list_sessions", &json!({ "limit": -1 }))
        );
        assert!(!takes_json("bash", &json!({})));
    }
}
