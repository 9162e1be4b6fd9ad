//! Answers in the shape that an agent asks for: titles, ratings, who speaks next.
//!
//! Invariant: an answer has every field that its schema requires, with the first value that the schema allows.

use serde_json::{Map, Value, json};

use super::script::TITLE;

/// The schema of the answer, if the request has one; each format has its own place for it.
pub(super) fn wanted(body: &Value) -> Option<&Value> {
    let places = [
        &body["text"]["format"]["schema"],
        &body["output_config"]["format"]["schema"],
        &body["response_format"]["json_schema"]["schema"],
        &body["generationConfig"]["responseJsonSchema"],
        &body["generationConfig"]["responseSchema"],
    ];
    places.into_iter().find(|schema| schema["properties"].is_object())
}

pub(super) fn instance(schema: &Value) -> Value {
    value("", schema)
}

fn value(name: &str, schema: &Value) -> Value {
    if let Some(allowed) = schema["enum"].as_array() {
        // Gemini CLI asks whose turn it is, and would continue by itself if it were the model's.
        let first = allowed.iter().find(|value| *value == "user").or(allowed.first());
        return first.cloned().unwrap_or_default();
    }
    match schema["type"].as_str().unwrap_or_default().to_lowercase().as_str() {
        "object" => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            Value::Object(fields.map(|(name, schema)| (name.clone(), value(name, schema))).collect::<Map<_, _>>())
        }
        "array" => json!([]),
        "integer" | "number" => json!(1),
        "boolean" => json!(false),
        _ if name == "title" => json!(TITLE),
        _ => json!("none"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_the_fields_that_are_asked_for() {
        let body = json!({ "generationConfig": { "responseJsonSchema": { "type": "OBJECT", "properties": {
            "title": { "type": "STRING" },
            "complexity_score": { "type": "INTEGER" },
            "next_speaker": { "type": "string", "enum": ["model", "user"] },
        } } } });
        let expected = json!({ "title": TITLE, "complexity_score": 1, "next_speaker": "user" });
        assert_eq!(instance(wanted(&body).unwrap()), expected);
        assert_eq!(wanted(&json!({ "messages": [] })), None);
    }
}
