//! OpenAI's responses, as Codex asks for them.

use serde_json::{Value, json};

use super::super::http::HttpResponse;
use super::script::{ScriptInput, ScriptReply, Tool, person_words, pieces};
use super::{plain_text, property_names, unique};

pub(super) fn asked(body: &Value) -> ScriptInput {
    let mut asked = ScriptInput::default();
    for item in body["input"].as_array().into_iter().flatten() {
        match item["type"].as_str().unwrap_or("message") {
            "message" if item["role"] == "user" => {
                let parts: Vec<_> = item["content"].as_array().into_iter().flatten().map(plain_text).collect();
                if let Some(words) = parts.iter().rev().find_map(|text| person_words(text)) {
                    asked.words = words;
                    asked.results.clear();
                }
            }
            "function_call_output" | "custom_tool_call_output" => asked.results.push(plain_text(&item["output"])),
            _ => (),
        }
    }
    for tool in body["tools"].as_array().into_iter().flatten() {
        if tool["type"] == "namespace" {
            let namespace = tool["name"].as_str();
            asked.tools.extend(tool["tools"].as_array().into_iter().flatten().map(|tool| read_tool(tool, namespace)));
        } else {
            asked.tools.push(read_tool(tool, None));
        }
    }
    asked
}

fn read_tool(tool: &Value, namespace: Option<&str>) -> Tool {
    Tool {
        namespace: namespace.map(str::to_owned),
        name: tool["name"].as_str().unwrap_or_default().to_owned(),
        arguments: property_names(&tool["parameters"]),
    }
}

pub(super) fn answer(body: &Value, reply: &ScriptReply) -> HttpResponse {
    let id = unique("resp");
    let items = items(reply);
    let usage = json!({
        "input_tokens": 10, "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": 5, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 15,
    });
    let response = |status: &str, output: &Value, usage: &Value| {
        json!({
            "id": id, "object": "response", "created_at": 1, "model": body["model"], "status": status,
            "output": output, "usage": usage,
        })
    };
    let finished = response("completed", &json!(items), &usage);
    if body["stream"].as_bool() != Some(true) {
        return HttpResponse::Whole { status: 200, body: finished.to_string() };
    }
    let begun = response("in_progress", &json!([]), &Value::Null);
    let mut events = vec![event("response.created", json!({ "response": begun }))];
    for (index, item) in items.iter().enumerate() {
        events.extend(item_events(index, item));
        if matches!(reply, ScriptReply::Stall { .. }) {
            // Without the item's end.
            events.pop();
            return HttpResponse::EventsThenSilence(events);
        }
    }
    events.push(event("response.completed", json!({ "response": finished })));
    HttpResponse::Events(events)
}

fn items(reply: &ScriptReply) -> Vec<Value> {
    let message = |text: &str| {
        json!({
            "type": "message", "id": unique("msg"), "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        })
    };
    match reply {
        ScriptReply::Say { thought, text } => {
            let thought = thought.iter().map(|thought| {
                json!({
                    "type": "reasoning", "id": unique("rs"), "summary": [{ "type": "summary_text", "text": thought }],
                    "content": null, "encrypted_content": null,
                })
            });
            thought.chain([message(text)]).collect()
        }
        ScriptReply::Stall { text } => vec![message(text)],
        ScriptReply::Calls(calls) => calls
            .iter()
            .map(|call| {
                let id = unique("call");
                let mut item = json!({
                    "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": call.tool.name,
                    "arguments": call.arguments.to_string(), "status": "completed",
                });
                if let Some(namespace) = &call.tool.namespace {
                    item["namespace"] = json!(namespace);
                }
                item
            })
            .collect(),
    }
}

fn item_events(index: usize, item: &Value) -> Vec<String> {
    let part_event = |kind: &str, mut data: Value| {
        data["item_id"] = item["id"].clone();
        data["output_index"] = json!(index);
        event(kind, data)
    };
    let mut empty = item.clone();
    let mut middle = Vec::new();
    match item["type"].as_str() {
        Some("message") => {
            empty["content"] = json!([]);
            let text = plain_text(&item["content"]);
            let part = json!({ "type": "output_text", "text": "", "annotations": [] });
            middle.push(part_event("response.content_part.added", json!({ "content_index": 0, "part": part })));
            middle.extend(
                pieces(&text).map(|piece| {
                    part_event("response.output_text.delta", json!({ "content_index": 0, "delta": piece }))
                }),
            );
        }
        Some("reasoning") => {
            empty["summary"] = json!([]);
            let text = plain_text(&item["summary"]);
            let part = json!({ "type": "summary_text", "text": "" });
            middle
                .push(part_event("response.reasoning_summary_part.added", json!({ "summary_index": 0, "part": part })));
            middle.extend(pieces(&text).map(|piece| {
                part_event("response.reasoning_summary_text.delta", json!({ "summary_index": 0, "delta": piece }))
            }));
        }
        Some(_) | None => {
            empty["arguments"] = json!("");
            let delta = json!({ "delta": item["arguments"] });
            middle.push(part_event("response.function_call_arguments.delta", delta));
        }
    }
    let added = event("response.output_item.added", json!({ "output_index": index, "item": empty }));
    let done = event("response.output_item.done", json!({ "output_index": index, "item": item }));
    [added].into_iter().chain(middle).chain([done]).collect()
}

fn event(kind: &str, mut data: Value) -> String {
    data["type"] = json!(kind);
    format!("event: {kind}\ndata: {data}\n\n")
}
